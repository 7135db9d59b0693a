//! The delays themselves, in figures.

use serde::Serialize;

/// The delays of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delays {
    /// Cycles.
    pub cycles: usize,
    /// Shortest, in nanoseconds, of the answers that count.
    pub min_ns: u64,
    /// Median.
    pub median_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Share of the cycles whose answer came later than a period, 0 to 1.
    pub late: f64,
    /// Share without an answer that counts, 0 to 1.
    pub lost: f64,
    /// Most of those in a row.
    pub longest_loss: usize,
}

impl Delays {
    /// Of a trace; `None` if no answer counts. `latest_ns`: answers that take longer count as lost.
    pub fn of(delays: &[Option<u64>], period_ns: u64, latest_ns: Option<u64>) -> Option<Delays> {
        let latest = latest_ns.unwrap_or(u64::MAX);
        let counts = |delay: &Option<u64>| delay.filter(|delay| *delay <= latest);
        let mut sorted: Vec<u64> = delays.iter().filter_map(counts).collect();
        sorted.sort_unstable();
        let share = |part: usize| part as f64 / delays.len() as f64;
        let rank =
            |p: f64| sorted[((sorted.len() as f64 * p).ceil() as usize).clamp(1, sorted.len()) - 1];
        let lost = delays.iter().map(|delay| counts(delay).is_none());
        let runs = lost.scan(0, |run, is_lost| {
            *run = if is_lost { *run + 1 } else { 0 };
            Some(*run)
        });
        Some(Delays {
            cycles: delays.len(),
            min_ns: *sorted.first()?,
            median_ns: rank(0.5),
            p99_ns: rank(0.99),
            max_ns: *sorted.last()?,
            late: share(sorted.iter().filter(|delay| **delay > period_ns).count()),
            lost: share(delays.len() - sorted.len()),
            longest_loss: runs.max().unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_and_lost_answers_are_counted_apart() {
        let trace = [Some(5), None, Some(12), Some(30), None, Some(7)];
        let found = Delays::of(&trace, 10, None).expect("answers");
        assert_eq!((found.min_ns, found.median_ns, found.max_ns), (5, 7, 30));
        let told = (found.late, found.lost, found.longest_loss);
        assert_eq!(told, (2.0 / 6.0, 2.0 / 6.0, 1));
        let strict = Delays::of(&trace, 10, Some(12)).expect("answers");
        assert_eq!((strict.max_ns, strict.longest_loss), (12, 2));
        assert_eq!(Delays::of(&[None; 3], 10, None), None);
    }
}
