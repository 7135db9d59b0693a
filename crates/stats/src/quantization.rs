//! The step of a clock seen in its readings. Where a clock ticks in whole microseconds or a driver
//! in whole milliseconds, the levels that samples sit on are not modes; knowing the step lets each
//! level be spread over the interval that it stands for.

/// A level must hold at least this many samples, and this share of all, to tell of a step.
const LEVEL_SAMPLES: u64 = 5;
const LEVEL_SHARE: f64 = 0.005;

/// Samples that are equal.
const EQUAL: u64 = 2;

/// Samples that are equal within the resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) value: u64,
    pub(crate) count: u64,
    /// Width of the interval around `value` that the samples may come from.
    pub(crate) width: u64,
}

/// Distance between neighbouring levels, at least 1 (samples are integers). `cells` ascend.
/// A few passes.
///
/// The step is the smallest distance between populated levels, which must hold at least half of all
/// samples. Two such distances within a tenth of the smallest make it a comb; a single one may be
/// chance, so the step is then at most half of the lowest level: values of 1 ms and 4 ms alone are
/// two levels, not a clock of 3 ms.
///
/// Where samples scatter over many levels, none holds many; that several samples are equal again and
/// again tells of a clock all the same, if the distances make a comb.
pub(crate) fn step(cells: impl Iterator<Item = Cell> + Clone, n: u64) -> f64 {
    let enough = LEVEL_SAMPLES.max((n as f64 * LEVEL_SHARE).ceil() as u64);
    if let Some(smallest) = smallest_distance(cells.clone(), n, enough) {
        if is_comb(cells.clone(), enough, smallest) {
            return smallest as f64;
        }
        let lowest = cells
            .filter(|cell| cell.count >= enough)
            .map(|cell| cell.value)
            .find(|&value| value > 0)
            .unwrap_or(1);
        return (smallest as f64).min(lowest as f64 / 2.0).max(1.0);
    }
    match smallest_distance(cells.clone(), n, EQUAL) {
        Some(smallest) if is_comb(cells, EQUAL, smallest) => smallest as f64,
        _ => 1.0,
    }
}

/// Distances between neighbouring levels of at least so many samples.
fn distances(
    cells: impl Iterator<Item = Cell> + Clone,
    enough: u64,
) -> impl Iterator<Item = u64> + Clone {
    let levels = cells.filter(move |cell| cell.count >= enough);
    let next = levels.clone().skip(1);
    levels.zip(next).map(|(a, b)| b.value - a.value)
}

/// The smallest of them; `None` where these levels hold less than half of the samples.
fn smallest_distance(
    cells: impl Iterator<Item = Cell> + Clone,
    n: u64,
    enough: u64,
) -> Option<u64> {
    let levels = cells.clone().filter(|cell| cell.count >= enough);
    let held: u64 = levels.map(|cell| cell.count).sum();
    distances(cells, enough).min().filter(|_| held * 2 >= n)
}

/// Whether more than one distance is the smallest, or nearly.
fn is_comb(cells: impl Iterator<Item = Cell> + Clone, enough: u64, smallest: u64) -> bool {
    let alike = |gap: &u64| *gap as f64 <= 1.1 * smallest as f64;
    distances(cells, enough).filter(alike).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step_of(cells: &[(u64, u64)]) -> f64 {
        let cell = |&(value, count): &(u64, u64)| Cell {
            value,
            count,
            width: 1,
        };
        step(cells.iter().map(cell), cells.iter().map(|c| c.1).sum())
    }

    #[test]
    fn distinct_values_have_no_step() {
        let cells: Vec<(u64, u64)> = (0..100).map(|i| (1000 + 7 * i, 1)).collect();
        assert_eq!(step_of(&cells), 1.0);
    }

    #[test]
    fn whole_milliseconds_step_by_a_million() {
        let cells_ms = [(7, 100), (8, 300), (9, 80), (33, 1)];
        let cells = cells_ms.map(|(ms, count)| (ms * 1_000_000, count));
        assert_eq!(step_of(&cells), 1e6);
    }

    #[test]
    fn a_clock_of_24_mhz_steps_by_41_ns() {
        let cells: Vec<(u64, u64)> = (100..130).map(|i| (i * 1000 / 24, 50)).collect();
        assert_eq!(step_of(&cells), 41.0);
    }

    #[test]
    fn a_clock_whose_levels_hold_few_samples_each_has_its_step() {
        let cells: Vec<(u64, u64)> = (100..1_100).map(|i| (i * 8_000, 1 + i % 5)).collect();
        assert_eq!(step_of(&cells), 8_000.0);
    }

    #[test]
    fn two_levels_far_apart_are_no_comb() {
        assert_eq!(step_of(&[(1000, 900), (4000, 100)]), 500.0);
    }
}
