//! Bars of a histogram: how many values lie in each, and their outlines.

use hdrhistogram::Histogram;

/// Bars with the edges in nanoseconds and the number of exchanges in each.
pub(super) struct Bars {
    pub(super) edges: Vec<f64>,
    pub(super) counts: Vec<u64>,
}

impl Bars {
    /// What lies beyond the edges is in the first and the last bar.
    pub(super) fn of(histogram: &Histogram<u64>, edges: Vec<f64>) -> Bars {
        let mut counts = vec![0; edges.len().saturating_sub(1).max(1)];
        for step in histogram.iter_recorded() {
            let value = step.value_iterated_to();
            // The middle of what the histogram cannot tell apart.
            let width = histogram.equivalent_range(value).max(1) as f64;
            let value = value as f64 - (width - 1.0) / 2.0;
            let place = edges.partition_point(|edge| *edge <= value);
            let place = place.clamp(1, counts.len());
            counts[place - 1] += step.count_at_value();
        }
        Bars { edges, counts }
    }

    /// The outlines of the bars between empty ones, in the unit in which bars are high: nothing is drawn
    /// where there is no exchange.
    pub(super) fn outlines(&self, height: impl Fn(u64) -> f64) -> Vec<Vec<(f64, f64)>> {
        let floor = height(0);
        let mut lines: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut before = 0;
        for (edge, n) in self.edges.windows(2).zip(&self.counts) {
            if *n > 0 {
                let high = height(*n);
                match lines.last_mut().filter(|_| before > 0) {
                    Some(line) => {
                        match before == *n {
                            // Bars of one height are one step.
                            true => drop(line.pop()),
                            false => line.push((edge[0], high)),
                        }
                        line.push((edge[1], high));
                    }
                    None => {
                        lines.push(vec![(edge[0], floor), (edge[0], high), (edge[1], high)]);
                    }
                }
            } else if before > 0
                && let Some(line) = lines.last_mut()
            {
                line.push((edge[0], floor));
            }
            before = *n;
        }
        if before > 0
            && let Some(line) = lines.last_mut()
        {
            line.push((self.edges[self.edges.len() - 1], floor));
        }
        lines
    }

    /// The highest bar at or beside a value: its middle and how many it holds.
    pub(super) fn top(&self, value: f64) -> (f64, u64) {
        let place = self.edges.partition_point(|edge| *edge <= value).max(1) - 1;
        let beside = place.saturating_sub(1)..(place + 2).min(self.counts.len());
        let highest = beside.max_by_key(|bar| self.counts[*bar]);
        highest.map_or((value, 0), |bar| {
            (
                self.edges[bar].midpoint(self.edges[bar + 1]),
                self.counts[bar],
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_exchange_is_in_a_bar(
            values in prop::collection::vec(0..1_000_000_000_u64, 1..200),
            first in 0..1000_u32,
            width in 1..10_000_000_u32,
        ) {
            let mut histogram = Histogram::new(3).expect("three digits");
            values.iter().for_each(|value| histogram += *value);
            let edge = |n: u32| f64::from(first) + f64::from(n) * f64::from(width);
            let bars = Bars::of(&histogram, (0..=60).map(edge).collect());
            let n: u64 = bars.counts.iter().sum();
            prop_assert_eq!(n, values.len() as u64);
            // The outlines hold as many: their area in bars.
            let outlines = bars.outlines(|n| n as f64);
            let area = |line: &Vec<(f64, f64)>| -> f64 {
                line.windows(2).map(|w| (w[1].0 - w[0].0) * w[1].1).sum()
            };
            let area: f64 = outlines.iter().map(area).sum();
            prop_assert!((area / f64::from(width) - n as f64).abs() < 1e-3, "{} {}", area, n);
            // They cover the bars that hold something and no other.
            for (edge, n) in bars.edges.windows(2).zip(&bars.counts) {
                let middle = edge[0].midpoint(edge[1]);
                let covers = |line: &Vec<(f64, f64)>| {
                    line[0].0 <= middle && middle <= line[line.len() - 1].0
                };
                prop_assert_eq!(outlines.iter().any(covers), *n > 0);
            }
        }
    }

    #[test]
    fn empty_bars_are_gaps_also_on_a_logarithmic_axis() {
        let bars = Bars {
            edges: (0..7).map(f64::from).collect(),
            counts: vec![2, 2, 0, 1, 0, 0],
        };
        let log = bars.outlines(|n| (n as f64).max(0.5));
        let first = vec![(0.0, 0.5), (0.0, 2.0), (2.0, 2.0), (2.0, 0.5)];
        let second = vec![(3.0, 0.5), (3.0, 1.0), (4.0, 1.0), (4.0, 0.5)];
        assert_eq!(log, [first, second]);
    }
}
