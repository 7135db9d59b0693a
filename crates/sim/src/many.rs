//! Many cases on a few threads, each of which has scenarios of its own.

use crate::case::Case;
use crate::matrix::MATRIX;
use crate::oracle::Fault;
use crate::program::PROGRAM_MATRIX;
use crate::random::Random;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What came of many cases.
#[derive(Debug, Default)]
pub struct Report {
    /// Cases that were run.
    pub cases: u64,
    /// Rows of samples that were compared.
    pub rows: u64,
    /// Calls of the engine that were judged.
    pub calls: u64,
    /// Those that failed, the first ones.
    pub failed: Vec<(Case, Fault)>,
}

/// Failures after which [`many`] runs nothing more.
const ENOUGH: usize = 10;

/// Runs all of `numbers` on two threads. `progress` hears how many are done.
pub fn many(numbers: Range<u64>, case: fn(u64) -> Case, progress: impl Fn(u64) + Sync) -> Report {
    until(ENOUGH, numbers, case, progress)
}

/// Runs the first `random` random cases and both matrices until one fails, those that are `likely` to fail first. Beside
/// six random cases one of a matrix is run, for those are larger.
pub fn first_fault(
    random: u64,
    likely: impl Fn(Case) -> bool,
    progress: impl Fn(u64) + Sync,
) -> Report {
    let mut of_matrices: Vec<Case> = (0..MATRIX).map(Case::Matrix).collect();
    of_matrices.extend((0..PROGRAM_MATRIX).map(Case::ProgramMatrix));
    // Neighbours in a matrix are alike.
    let mut order = Random::new(0);
    for last in (1..of_matrices.len()).rev() {
        of_matrices.swap(last, order.below(last as u64 + 1) as usize);
    }
    let mut of_matrices = of_matrices.into_iter();
    let mut cases = Vec::new();
    for number in 0..random {
        cases.push(Case::random(number));
        if number % 6 == 0 {
            cases.extend(of_matrices.next());
        }
    }
    cases.extend(of_matrices);
    cases.sort_by_key(|&case| !likely(case));
    until(
        1,
        0..cases.len() as u64,
        |number| cases[number as usize],
        progress,
    )
}

fn until(
    enough: usize,
    numbers: Range<u64>,
    case: impl Fn(u64) -> Case + Sync,
    progress: impl Fn(u64) + Sync,
) -> Report {
    let next = AtomicU64::new(numbers.start);
    let report = Mutex::new(Report::default());
    let add = |part: &mut Report| {
        let mut whole = report.lock().expect("no thread panics while it adds");
        whole.cases += std::mem::take(&mut part.cases);
        whole.rows += std::mem::take(&mut part.rows);
        whole.calls += std::mem::take(&mut part.calls);
        whole.failed.append(&mut part.failed);
        progress(whole.cases);
        whole.failed.len() < enough
    };
    let work = || {
        let mut part = Report::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                break;
            }
            let case = case(number);
            part.cases += 1;
            match case.run() {
                Ok(outcome) => {
                    part.rows += outcome.rows;
                    part.calls += outcome.calls;
                }
                Err(fault) => part.failed.push((case, fault)),
            }
            if (part.cases == 100 || !part.failed.is_empty()) && !add(&mut part) {
                // Nothing is left for the other thread, either.
                next.store(numbers.end, Ordering::Relaxed);
                return;
            }
        }
        add(&mut part);
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    report.into_inner().expect("no thread panics while it adds")
}
