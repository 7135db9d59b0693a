//! Many cases on a few threads, each of which has scenarios of its own.

use crate::case::Case;
use crate::oracle::Fault;
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

/// Failures after which nothing more is run.
const ENOUGH: usize = 10;

/// Runs all of `numbers` on two threads. `progress` hears how many are done.
pub fn many(numbers: Range<u64>, case: fn(u64) -> Case, progress: impl Fn(u64) + Sync) -> Report {
    let next = AtomicU64::new(numbers.start);
    let report = Mutex::new(Report::default());
    let add = |part: &mut Report| {
        let mut whole = report.lock().expect("no thread panics while it adds");
        whole.cases += std::mem::take(&mut part.cases);
        whole.rows += std::mem::take(&mut part.rows);
        whole.calls += std::mem::take(&mut part.calls);
        whole.failed.append(&mut part.failed);
        progress(whole.cases);
        whole.failed.len() < ENOUGH
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
