//! How long a confirmation must be to decide the constraints that a shorter one left open.

use super::taken::Taken;
use super::task::Task;
use std::time::Duration;
use wiregauge_quantity::rounded_up;
use wiregauge_record::{Figure, Part};
use wiregauge_stats::samples_to_bound;
use wiregauge_tune::{Verdict, times_as_long};

/// How many longer runs may follow a confirmation.
pub const REPEATS: usize = 2;

/// Confirmations that longer ones may follow.
pub const CONFIRMATIONS: usize = 3;

/// How long a longer run may take without --budget; as long as everything before it in any case.
pub const TIME: Duration = Duration::from_secs(60);

/// Where nothing says how many samples a bound requires.
const UNKNOWN: f64 = 4.0;

/// Exchanges (milliseconds of a stream) that decide what a run of `length` left open; `None` if nothing
/// is open, or if more of them are not expected to decide it.
pub fn required(task: &Task, length: u64, taken: &Taken) -> Option<u64> {
    let bounds = task.bounds();
    let verdicts = task.constraints.iter().zip(bounds);
    let verdicts: Vec<Verdict> = verdicts
        .map(|(constraint, bound)| Verdict::of(bound, task.value(constraint, taken)))
        .collect();
    let to_bound = |index: usize| to_bound(task.constraints[index].figure, taken);
    let times = times_as_long(&verdicts, to_bound)?;
    Some(rounded_up(length as f64 * times))
}

/// How many times as many samples give a figure its missing bound, with the dependence found.
fn to_bound(figure: Figure, taken: &Taken) -> f64 {
    let (Figure::Time(times, part), Taken::Exchanges { point, .. }) = (figure, taken) else {
        return UNKNOWN;
    };
    let p = match part {
        Part::P50 => 0.5,
        Part::P90 => 0.9,
        Part::P99 => 0.99,
        Part::P999 => 0.999,
        _ => return UNKNOWN,
    };
    times.of(point).map_or(UNKNOWN, |times| {
        let n = times.n as f64;
        let independent = times
            .p99_effective_n
            .map_or(times.effective_n, |at_p99| at_p99.min(times.effective_n));
        samples_to_bound(p, n / independent.max(1.0)) as f64 / n.max(1.0)
    })
}
