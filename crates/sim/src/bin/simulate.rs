//! `make simulate`: random scenarios, as many as wanted, or one again with everything that happens in it.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Instant;
use wiregauge_sim::{Case, MATRIX, PROGRAM_MATRIX, Report, first_fault, many};

const USAGE: &str = "usage: simulate COUNT [SEED]     random scenarios from SEED (0) on
       simulate matrix           the whole matrix
       simulate program-matrix   the whole matrix of programs
       simulate first-fault KIND COUNT  so many random scenarios and both matrices, until one fails;
                                 first those of a KIND: all, stream, queries
       simulate repeat SEED      repeat the scenario of SEED, made smaller if it fails
       simulate repeat matrix:N  repeat scenario N of the matrix
       simulate repeat program:N repeat the program of seed N
       simulate repeat program-matrix:N  repeat scenario N of the matrix of programs
       simulate repeat stream:N  repeat the stream of seed N
       simulate repeat queries:N repeat the queries of seed N";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.replace('_', "").parse::<u64>().ok();
    match words[..] {
        ["matrix"] => all(0, MATRIX, Case::Matrix),
        ["program-matrix"] => all(0, PROGRAM_MATRIX, Case::ProgramMatrix),
        ["first-fault", kind, count] => {
            let likely: fn(Case) -> bool = match kind {
                "all" => |_| true,
                "stream" => |case| matches!(case, Case::Stream(_)),
                "queries" => |case| matches!(case, Case::Queries(_)),
                _ => return usage(),
            };
            number(count).map_or_else(usage, |count| {
                let all = count + MATRIX + PROGRAM_MATRIX;
                judge(all, "mixed", |progress| {
                    first_fault(count, likely, progress)
                })
            })
        }
        ["repeat", which] => {
            let (kind, which) = which.split_once(':').unwrap_or(("", which));
            match (kind, number(which)) {
                ("", Some(seed)) => repeat(Case::Seed(seed)),
                ("matrix", Some(index)) => repeat(Case::Matrix(index)),
                ("program", Some(seed)) => repeat(Case::Program(seed)),
                ("program-matrix", Some(index)) => repeat(Case::ProgramMatrix(index)),
                ("stream", Some(seed)) => repeat(Case::Stream(seed)),
                ("queries", Some(seed)) => repeat(Case::Queries(seed)),
                _ => usage(),
            }
        }
        [count] => number(count).map_or_else(usage, |count| all(0, count, Case::random)),
        [count, seed] => match (number(count), number(seed)) {
            (Some(count), Some(seed)) => all(seed, count, Case::random),
            _ => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn repeat(case: Case) -> ExitCode {
    match case.explain() {
        Some(_) => ExitCode::FAILURE,
        None => {
            println!("this scenario passes");
            ExitCode::SUCCESS
        }
    }
}

fn all(from: u64, count: u64, case: fn(u64) -> Case) -> ExitCode {
    let numbers = from..from.saturating_add(count);
    judge(count, &format!("from seed {from}"), |progress| {
        many(numbers, case, progress)
    })
}

/// Runs, with progress on a terminal, and says what came of it.
fn judge(count: u64, which: &str, run: impl FnOnce(&(dyn Fn(u64) + Sync)) -> Report) -> ExitCode {
    let begin = Instant::now();
    let shows = std::io::stderr().is_terminal();
    let report = run(&|done| {
        if shows && done > 0 {
            let passed = begin.elapsed().as_secs_f64();
            let left = passed / done as f64 * (count - done) as f64;
            eprint!("\r{done} of {count} scenarios, {left:.0} s left \x1b[K");
        }
    });
    if shows {
        eprintln!();
    }
    let passed = begin.elapsed().as_secs_f64();
    println!(
        "{} scenarios {which}: {} failed; {} rows and {} calls compared; {passed:.1} s, {:.0} scenarios/s",
        report.cases,
        report.failed.len(),
        report.rows,
        report.calls,
        report.cases as f64 / passed
    );
    for (case, fault) in &report.failed {
        println!(
            "{}\n    at {} ns: {}",
            case.command(),
            fault.at_ns,
            fault.what
        );
    }
    match report.failed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
