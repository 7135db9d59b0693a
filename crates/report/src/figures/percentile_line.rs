//! The percentile curve of a histogram as a line on a percentile axis: the same vertices in drawn figures and in
//! interactive ones.

use hdrhistogram::Histogram;

/// Up to so many different values are steps, each as wide as its share of the samples. Of more, a line through
/// percentiles cannot be told from the steps.
const MOST_STEPS: usize = 100;

/// Vertices of a line for each nine.
const A_NINE: f64 = 20.0;

/// Places count nines: at place p, a part 10^-p of the samples is longer.
pub(crate) struct PercentileLine {
    /// A value holds from the place of the vertex before it to its own.
    pub(crate) is_stepped: bool,
    /// Place and value, both ascending, from the shortest at place 0 to the longest at the share of all samples but
    /// one.
    pub(crate) vertices: Vec<(f64, u64)>,
}

impl PercentileLine {
    /// Empty if there are no samples.
    pub(crate) fn of(values: &Histogram<u64>) -> PercentileLine {
        let recorded = values.iter_recorded().take(MOST_STEPS + 1).count();
        let is_stepped = recorded <= MOST_STEPS;
        let vertices = match recorded {
            0 => Vec::new(),
            _ if is_stepped => steps(values),
            _ => places(values),
        };
        PercentileLine {
            is_stepped,
            vertices,
        }
    }

    /// The corners of the line, as it is drawn.
    pub(crate) fn corners(&self) -> Vec<(f64, f64)> {
        let corner = |&(place, value): &(f64, u64)| (place, value as f64);
        if !self.is_stepped {
            return self.vertices.iter().map(corner).collect();
        }
        let first = self.vertices.first().map(corner);
        let steps = self.vertices.windows(2).flat_map(|two| {
            let (before, (place, value)) = (two[0].0, two[1]);
            [(before, value as f64), (place, value as f64)]
        });
        first.into_iter().chain(steps).collect()
    }
}

/// The place that leaves so many of the samples beyond it.
fn place(n: f64, beyond: f64) -> f64 {
    (n / beyond).log10()
}

/// The longest sample stands where all but one are shorter; of a single one at the median.
fn end(n: f64) -> f64 {
    place(n.max(2.0), 1.0)
}

fn steps(values: &Histogram<u64>) -> Vec<(f64, u64)> {
    let n = values.len() as f64;
    let mut vertices = vec![(0.0, values.min())];
    let mut done = 0;
    for step in values.iter_recorded() {
        done += step.count_at_value();
        let (value, beyond) = (step.value_iterated_to(), (values.len() - done) as f64);
        vertices.push(match beyond > 0.0 {
            true => (place(n, beyond), value.min(values.max())),
            false => (end(n), values.max()),
        });
    }
    vertices
}

fn places(values: &Histogram<u64>) -> Vec<(f64, u64)> {
    let end = end(values.len() as f64);
    let at = |place: f64| {
        let share = 1.0 - 10_f64.powf(-place);
        // A hair below: a rank that is a whole number must not be rounded up to the next.
        let value = values.value_at_quantile((share - 1e-12).max(1e-15));
        (place, value.min(values.max()))
    };
    let count = (end * A_NINE).ceil() as u32;
    let mut all = vec![(0.0, values.min())];
    all.extend((1..count).map(|n| at(f64::from(n) / A_NINE)));
    all.push(at(end));
    // Only the ends of a flat stretch are needed.
    let is_needed = |n: &usize| {
        let value = |n: usize| all.get(n).map(|vertex| vertex.1);
        *n == 0 || value(n - 1) != value(*n) || value(*n) != value(n + 1)
    };
    let kept = (0..all.len()).filter(is_needed);
    let mut kept: Vec<(f64, u64)> = kept.map(|n| all[n]).collect();
    kept.push((end, values.max()));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).expect("three digits");
        values.into_iter().for_each(|value| histogram += value);
        histogram
    }

    #[test]
    fn a_line_climbs_from_the_shortest_to_the_longest() {
        let line = PercentileLine::of(&histogram(1..=1000));
        assert!(!line.is_stepped);
        let vertices = &line.vertices;
        assert_eq!(vertices.first(), Some(&(0.0, 1)));
        assert_eq!(vertices[vertices.len() - 2].1, 999);
        assert_eq!(vertices.last().map(|at| at.1), Some(1000));
        assert!(vertices.is_sorted(), "{vertices:?}");
        for (place, value) in &vertices[..vertices.len() - 1] {
            let expected = 1000.0 * (1.0 - 10_f64.powf(-place));
            assert!((*value as f64 - expected).abs() <= 1.0, "{place}: {value}");
        }
        assert!(PercentileLine::of(&histogram([])).vertices.is_empty());
    }

    #[test]
    fn few_samples_are_steps_at_their_shares() {
        let line = PercentileLine::of(&histogram([10, 20, 30, 40]));
        assert!(line.is_stepped);
        let shares = line.vertices.iter().map(|(place, value)| {
            let share = 100.0 * (1.0 - 10_f64.powf(-place));
            (share.round() as u64, *value)
        });
        let shares: Vec<(u64, u64)> = shares.collect();
        assert_eq!(shares, [(0, 10), (25, 10), (50, 20), (75, 30), (75, 40)]);
        let values: Vec<f64> = line.corners().iter().map(|at| at.1).collect();
        assert_eq!(values, [10., 10., 10., 20., 20., 30., 30., 40., 40.]);
        // At the median the value is the second, as in the tables.
        let before = line.corners().into_iter().rfind(|at| at.0 < 0.301);
        assert_eq!(before.map(|at| at.1), Some(20.0));
    }

    #[test]
    fn a_flat_line_needs_few_vertices_and_one_sample_is_a_line() {
        let mut values = histogram([7]);
        assert_eq!(PercentileLine::of(&values).corners().len(), 3);
        values.record_n(7, 999_999).expect("it is in range");
        assert_eq!(PercentileLine::of(&values).corners().len(), 3);
        // 200 values of which half of the samples have the shortest.
        let values = histogram((0..200).chain([0; 200]).map(|value| 1000 + value));
        let line = PercentileLine::of(&values);
        let flat = line.vertices.iter().filter(|at| at.1 == 1000).count();
        assert!(flat <= 2, "{:?}", line.vertices);
    }
}
