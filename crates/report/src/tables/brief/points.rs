//! What table and sentence of an exchange run say alike of its points.

use wiregauge_quantity::{exact_time, is_above_all, percent};
use wiregauge_record::{Figure, Point, PointSummary, Problem};

/// The head of a column, and what it counts.
type Trouble = (&'static str, fn(&PointSummary) -> u64);

/// Columns of what went wrong, that are there if it did. What is corrupted or unexpected is also lost.
pub(super) const TROUBLES: [Trouble; 4] = [
    ("corrupted", |point| point.counts.corrupted),
    ("unexpected", |point| point.counts.unexpected),
    ("duplicated", |point| point.counts.duplicated),
    ("out of order", |point| point.counts.reordered),
];

/// Exchanges without a correct response in time: the figure `lost` of limits and comparisons.
pub(super) fn lost(point: &PointSummary) -> u64 {
    let lost = Figure::Count(Problem::Lost).of_point(point);
    lost.map_or(0, |lost| lost.value as u64)
}

/// Sums of what went wrong besides losses, with the heads of their columns.
pub(super) fn troubles(points: &[PointSummary]) -> impl Iterator<Item = (&'static str, u64)> {
    let sums = TROUBLES.map(|(head, of)| (head, points.iter().map(of).sum()));
    sums.into_iter().filter(|(_, sum)| *sum > 0)
}

/// Bytes a second of both directions.
pub(super) fn carried(point: &PointSummary) -> f64 {
    point.throughput.out_bytes_s + point.throughput.in_bytes_s
}

/// The part of the limit that a point uses; `None` if its limit is not known.
pub(super) fn of_limit(point: &PointSummary) -> Option<String> {
    point.limit.as_ref().map(|limit| share_of_limit(limit.used))
}

fn share_of_limit(used: f64) -> String {
    match is_above_all(used) {
        false => format!("{} of the limit", percent(used)),
        true => "above the limit, see the warnings".into(),
    }
}

/// True if the points differ in this.
pub(super) fn varies<T: PartialEq>(points: &[PointSummary], of: impl Fn(&Point) -> T) -> bool {
    let mut all = points.iter().map(|point| of(&point.point));
    let first = all.next();
    all.any(|other| Some(other) != first)
}

/// `1 kHz`, `one exchange every 6 ms`: a whole number of exchanges a second, as `--rate` takes it, else the period.
pub(super) fn pace(period_ns: u64) -> String {
    let hz = (1e9 / period_ns.max(1) as f64).round();
    match (1e9 / hz).round() == period_ns as f64 {
        true if hz >= 1e6 => format!("{} MHz", hz / 1e6),
        true if hz >= 1e3 => format!("{} kHz", hz / 1e3),
        true => format!("{hz} Hz"),
        false => format!("one exchange every {}", exact_time(period_ns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_limit_is_no_share_of_it() {
        assert_eq!(share_of_limit(0.2), "20 % of the limit");
        assert_eq!(share_of_limit(1.000_01), "100 % of the limit");
        for used in [1.001, 2.6018] {
            assert_eq!(share_of_limit(used), "above the limit, see the warnings");
        }
    }

    #[test]
    fn a_pace_is_a_frequency_where_that_is_a_whole_number() {
        let shown = [1_000_000, 400_000, 333_333, 6_000_000, 1_000].map(pace);
        let frequencies = [
            "1 kHz",
            "2.5 kHz",
            "3 kHz",
            "one exchange every 6 ms",
            "1 MHz",
        ];
        assert_eq!(shown, frequencies);
    }
}
