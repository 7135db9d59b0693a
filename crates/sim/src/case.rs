//! A scenario by its number: one of the matrix, or a random one.

use crate::driver::{Outcome, run};
use crate::matrix::matrix;
use crate::oracle::Fault;
use crate::program::Program;
use crate::scenario::Scenario;
use crate::shrink::shrink;
use crate::stream::{self, Streaming};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The random one of this seed.
    Seed(u64),
    /// The one at this place of the matrix.
    Matrix(u64),
    /// The program of this seed.
    Program(u64),
    /// The one at this place of the matrix of programs.
    ProgramMatrix(u64),
    /// The stream of this seed.
    Stream(u64),
    /// The one with queries of this seed.
    Queries(u64),
}

impl Case {
    /// The random one of a number: three of eight measure exchanges, one sends queries, two are programs, two
    /// streams.
    pub fn random(number: u64) -> Case {
        match number % 8 {
            1 | 5 => Case::Stream(number),
            3 | 7 => Case::Program(number),
            4 => Case::Queries(number),
            _ => Case::Seed(number),
        }
    }

    /// Runs it; a panic is a fault, too.
    ///
    /// # Errors
    /// What the engine did wrong.
    pub fn run(self) -> Result<Outcome, Fault> {
        match self {
            Case::Seed(seed) => guarded(|| run(&Scenario::random(seed), false)),
            Case::Queries(seed) => guarded(|| run(&Scenario::queries(seed), false)),
            Case::Matrix(index) => guarded(|| run(&matrix(index), false)),
            Case::Program(seed) => guarded(|| Program::random(seed).run(false)),
            Case::ProgramMatrix(index) => guarded(|| Program::of_matrix(index).run(false)),
            Case::Stream(seed) => guarded(|| Streaming::random(seed).run(false)),
        }
    }

    /// The command that repeats it.
    pub fn command(self) -> String {
        match self {
            Case::Seed(seed) => format!("make simulate REPEAT={seed}"),
            Case::Matrix(index) => format!("make simulate REPEAT=matrix:{index}"),
            Case::Program(seed) => format!("make simulate REPEAT=program:{seed}"),
            Case::ProgramMatrix(index) => format!("make simulate REPEAT=program-matrix:{index}"),
            Case::Stream(seed) => format!("make simulate REPEAT=stream:{seed}"),
            Case::Queries(seed) => format!("make simulate REPEAT=queries:{seed}"),
        }
    }

    /// Makes a case that fails as small as it can be, prints it and everything that happens in it, and returns
    /// the fault.
    pub fn explain(self) -> Option<Fault> {
        let fault = match self {
            Case::Seed(seed) => explain(&Scenario::random(seed)),
            Case::Queries(seed) => explain(&Scenario::queries(seed)),
            Case::Matrix(index) => explain(&matrix(index)),
            Case::Program(seed) => explain_program(&Program::random(seed)),
            Case::ProgramMatrix(index) => explain_program(&Program::of_matrix(index)),
            Case::Stream(seed) => {
                let fails = |streaming: &Streaming| guarded(|| streaming.run(false)).is_err();
                let streaming = Streaming::random(seed);
                let smallest = match fails(&streaming) {
                    true => stream::shrink(&streaming, fails),
                    false => streaming,
                };
                println!("{smallest:#?}");
                guarded(|| smallest.run(true)).err()
            }
        }?;
        println!("fails at {} ns: {}", fault.at_ns, fault.what);
        Some(fault)
    }
}

fn explain(scenario: &Scenario) -> Option<Fault> {
    let fails = |scenario: &Scenario| guarded(|| run(scenario, false)).err();
    let fault = fails(scenario)?;
    println!("fails at {} ns: {}", fault.at_ns, fault.what);
    let smallest = shrink(scenario, |smaller| fails(smaller).is_some());
    println!("made smaller: {smallest:#?}");
    guarded(|| run(&smallest, true)).err()
}

fn explain_program(program: &Program) -> Option<Fault> {
    println!("{program:#?}");
    guarded(|| program.run(true)).err()
}

fn guarded(run: impl FnOnce() -> Result<Outcome, Fault>) -> Result<Outcome, Fault> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).into()));
        Err(Fault::new(
            0,
            format!("panic: {}", said.unwrap_or_default()),
        ))
    })
}
