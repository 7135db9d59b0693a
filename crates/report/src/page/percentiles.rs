//! Percentile curves for the page's script, with the vertices of the drawn ones.

use crate::figures::percentile_line::PercentileLine;
use hdrhistogram::Histogram;
use serde::Serialize;

/// Places on the percentile axis are in such parts of a nine.
pub(super) const PARTS_OF_A_NINE: f64 = 1000.0;

/// The vertices of a percentile curve.
#[derive(Serialize)]
pub(super) struct Percentiles {
    /// A value holds from the place of the one before it to its own.
    stepped: bool,
    /// Place of each, less the place of the one before.
    at: Vec<u64>,
    /// Value of each.
    values: Vec<u64>,
}

impl Percentiles {
    /// The curve from the shortest to the longest, as in the drawn figures.
    pub(super) fn of(histogram: &Histogram<u64>, unit: u64) -> Percentiles {
        let line = PercentileLine::of(histogram);
        let mut last = None;
        let places = line.vertices.iter().map(|(place, _)| {
            let rounded = (place * PARTS_OF_A_NINE).round() as u64;
            // No two of them are at one place: the longest stands just behind the one before it.
            let place = last.map_or(rounded, |before| rounded.max(before + 1));
            last = Some(place);
            place
        });
        Percentiles {
            stepped: line.is_stepped,
            at: steps(places),
            values: (line.vertices.iter())
                .map(|(_, ns)| ns.saturating_add(unit / 2) / unit)
                .collect(),
        }
    }
}

/// Each number less the one before.
pub(super) fn steps(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut before = 0;
    numbers
        .map(|number| number.saturating_sub(std::mem::replace(&mut before, number)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_reach_from_the_shortest_to_the_longest() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..=1000_u64).for_each(|value| histogram += value);
        let found = Percentiles::of(&histogram, 1);
        let places = found.at.iter().scan(0, |place, step| {
            *place += step;
            Some(*place)
        });
        let at: Vec<(u64, u64)> = places.zip(found.values).collect();
        assert!(at.is_sorted_by(|a, b| a.0 < b.0), "{at:?}");
        for vertex in [(0, 1), (1000, 900), (2000, 990), (3000, 999), (3001, 1000)] {
            assert!(at.contains(&vertex), "{vertex:?} {at:?}");
        }
        let none = Percentiles::of(&Histogram::<u64>::new(3).unwrap(), 1);
        assert!(none.values.is_empty());
    }
}
