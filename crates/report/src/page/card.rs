//! A figure that matters, large on the page, and the words that the summaries of all kinds of run share.

use super::measure::{Measure, Named, Place};
use wiregauge_quantity::{grouped, is_above_all, percent};
use wiregauge_record::{BusLimit, PointSummary};
use wiregauge_stats::Estimate;

/// A figure that matters, large on the page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Card {
    /// What it is.
    pub(super) title: String,
    /// Its value with unit.
    pub(super) value: String,
    /// How sure it is.
    pub(super) interval: String,
    /// In which point it was reached.
    pub(super) place: String,
    /// What to compare it with.
    pub(super) notes: Vec<String>,
}

/// A value that somebody has chosen: as round as it was.
pub(super) fn given(measure: Measure, value: u64) -> String {
    let shown = measure.show(value as f64);
    match shown.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => shown,
    }
}

pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", grouped(number)),
    }
}

/// An exchange point of a list of places.
pub(super) fn points<'a>(
    places: &'a [Named<'a>],
) -> impl Iterator<Item = (&'a Named<'a>, &'a PointSummary)> {
    places.iter().filter_map(|named| match named.place {
        Place::Exchange(point) => Some((named, point)),
        _ => None,
    })
}

/// The point whose RTT tells most of the link: the fewest outstanding, the fewest bytes.
pub(super) fn smallest<'a>(places: &'a [Named<'a>]) -> Option<&'a Named<'a>> {
    points(places)
        .filter_map(|(named, point)| {
            let p50 = named.place.measure(Measure::RttMedian)?.value;
            let bytes = u64::from(point.point.out_bytes) + u64::from(point.point.in_bytes);
            Some((named, (point.point.depth, bytes, p50)))
        })
        .min_by(|(_, a), (_, b)| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)))
        .map(|(named, _)| named)
}

/// The place where a figure is best.
pub(super) fn best<'a>(
    places: &'a [Named<'a>],
    measure: Measure,
    keep: impl Fn(&Named<'_>) -> bool,
) -> Option<(&'a Named<'a>, Estimate)> {
    let sign = match measure {
        Measure::Throughput | Measure::Rate => -1.0,
        _ => 1.0,
    };
    places
        .iter()
        .filter(|named| keep(named))
        .filter_map(|named| Some((named, named.place.measure(measure)?)))
        .min_by(|(_, a), (_, b)| (sign * a.value).total_cmp(&(sign * b.value)))
}

/// Of a figure at a place.
pub(super) fn card(title: &str, measure: Measure, estimate: &Estimate, place: &Named<'_>) -> Card {
    Card {
        title: title.into(),
        value: measure.value(estimate),
        interval: measure.interval(estimate, place.place.missing()),
        place: place.name.clone(),
        notes: Vec::new(),
    }
}

/// How much of its limit a point used: all of it at most.
pub(super) fn of_limit(limit: &BusLimit) -> String {
    let limit_rate = Measure::Rate.show(limit.bytes_s);
    match limit.used {
        used if is_above_all(used) => format!(
            "above the limit of {limit_rate} ({}): buffers were filling, or the limit is not that of what carried \
             the data",
            limit.source
        ),
        used => format!(
            "{} of the limit of {limit_rate} ({})",
            percent(used),
            limit.source
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_share_of_a_limit_is_above_all_of_it() {
        let of = |used| {
            of_limit(&BusLimit {
                bytes_s: 1.216e6,
                shared: true,
                source: "USB full-speed bulk".into(),
                used,
            })
        };
        assert!(of(0.97).starts_with("97 % of the limit of 1.216 MB/s"));
        let above = of(1.03);
        assert!(
            above.starts_with("above the limit of 1.216 MB/s (USB full-speed bulk): "),
            "{above}"
        );
    }
}
