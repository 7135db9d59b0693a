//! Delays as a random process: independent ones, or a Markov chain of two states that is fitted to the bursts.

use crate::schedule::{Rules, on_grid};
use serde::Serialize;
use std::collections::BTreeMap;

/// Fewest starts of bursts that a chain is fitted to.
const FEWEST_BURSTS: usize = 30;

/// A Markov chain whose states have their own distributions of delays. One state: independent delays.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelayChain {
    /// Its states.
    pub states: Vec<DelayState>,
}

/// One state of a [`DelayChain`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelayState {
    /// Probability of each state in the next cycle.
    pub next: Vec<f64>,
    /// Delays in ticks (`None`: lost) and their probabilities.
    pub delays: Vec<(Option<u32>, f64)>,
}

/// Where a delay counts as bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    /// Above the median of the answers, or lost.
    P50,
    /// Above the 90th percentile of the answers, or lost.
    P90,
    /// Above the 99th percentile of the answers, or lost.
    P99,
    /// Lost.
    Lost,
}

/// The bursts of a trace as a chain of two states, good and bad.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BurstChain {
    /// What is bad.
    pub edge: Edge,
    /// The delay of the edge in nanoseconds; `None` for lost.
    pub edge_ns: Option<u64>,
    /// Correlation of the states of neighbouring cycles.
    pub correlation: f64,
    /// Share of cycles in the bad state.
    pub bad_share: f64,
    /// Cycles that a stay in the bad state lasts in the mean.
    pub mean_burst: f64,
    /// Stays in the bad state that were counted.
    pub bursts: usize,
    /// Good, then bad; not in JSON.
    #[serde(skip)]
    pub chain: DelayChain,
}

impl DelayChain {
    /// Independent delays with the distribution of a trace, on a grid of `ticks` a period.
    pub fn independent(
        delays: &[Option<u64>],
        period_ns: u64,
        ticks: u32,
        rules: Rules,
    ) -> DelayChain {
        DelayChain {
            states: vec![DelayState {
                next: vec![1.0],
                delays: distribution(delays.iter().copied(), period_ns, ticks, rules),
            }],
        }
    }
}

/// Share of each delay on the grid.
fn distribution(
    delays: impl Iterator<Item = Option<u64>>,
    period_ns: u64,
    ticks: u32,
    rules: Rules,
) -> Vec<(Option<u32>, f64)> {
    let mut counts: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for delay in delays {
        let tick = rules.in_time(delay).map(|ns| {
            let tick = on_grid(ns, period_ns, ticks);
            u32::try_from(tick).unwrap_or(u32::MAX)
        });
        *counts.entry(tick).or_default() += 1;
    }
    let all = counts.values().sum::<usize>() as f64;
    let shares = counts.into_iter();
    shares
        .map(|(tick, count)| (tick, count as f64 / all))
        .collect()
}

/// The chain of two states whose states are correlated most, if the correlation is significant and the bad state was
/// entered at least 30 times.
pub fn fit_bursts(
    delays: &[Option<u64>],
    period_ns: u64,
    ticks: u32,
    rules: Rules,
) -> Option<BurstChain> {
    let in_time: Vec<Option<u64>> = delays.iter().map(|&delay| rules.in_time(delay)).collect();
    let mut answers: Vec<u64> = in_time.iter().flatten().copied().collect();
    answers.sort_unstable();
    let percentile = |share: f64| {
        let rank = (share * answers.len() as f64).ceil() as usize;
        answers.get(rank.saturating_sub(1)).copied()
    };
    // Lost first: a percentile that no answer is above separates the same cycles.
    let edges = [
        (Edge::Lost, None),
        (Edge::P99, percentile(0.99)),
        (Edge::P90, percentile(0.9)),
        (Edge::P50, percentile(0.5)),
    ];
    let mut best: Option<(Edge, Option<u64>, States)> = None;
    for (edge, edge_ns) in edges {
        let limit = match (edge, edge_ns) {
            (Edge::Lost, _) => u64::MAX,
            (_, Some(limit)) => limit,
            (_, None) => continue,
        };
        let bad = in_time
            .iter()
            .map(|delay| delay.is_none_or(|ns| ns > limit));
        let Some(states) = States::of(bad.collect()) else {
            continue;
        };
        let is_better = |(_, _, known): &(_, _, States)| {
            states.correlation().abs() > known.correlation().abs() + 1e-12
        };
        if states.count[0][1] >= FEWEST_BURSTS && best.as_ref().is_none_or(is_better) {
            best = Some((edge, edge_ns, states));
        }
    }
    let (edge, edge_ns, states) = best?;
    let correlation = states.correlation();
    // Independent states stay below this in 99 of 100 traces, whichever of the edges is best.
    if correlation.abs() < 3.0 / (in_time.len() as f64).sqrt() {
        return None;
    }
    let chain = [false, true].map(|bad| {
        let members = in_time.iter().zip(&states.bad);
        let members = members.filter(|(_, is_bad)| **is_bad == bad);
        DelayState {
            next: states.next(bad).to_vec(),
            delays: distribution(members.map(|(delay, _)| *delay), period_ns, ticks, rules),
        }
    });
    let [to_bad, stays] = [false, true].map(|bad| states.next(bad)[1]);
    Some(BurstChain {
        edge,
        edge_ns,
        correlation,
        bad_share: to_bad / (to_bad + 1.0 - stays),
        mean_burst: 1.0 / (1.0 - stays),
        bursts: states.count[0][1],
        chain: DelayChain {
            states: chain.to_vec(),
        },
    })
}

/// Which cycles are bad, and how often each state follows each.
struct States {
    bad: Vec<bool>,
    count: [[usize; 2]; 2],
}

impl States {
    /// `None` unless both states are left at least once.
    fn of(bad: Vec<bool>) -> Option<States> {
        let mut count = [[0; 2]; 2];
        for pair in bad.windows(2) {
            count[usize::from(pair[0])][usize::from(pair[1])] += 1;
        }
        (count[0][1] > 0 && count[1][0] > 0).then_some(States { bad, count })
    }

    /// Probability of good and of bad after this state.
    fn next(&self, bad: bool) -> [f64; 2] {
        let row = self.count[usize::from(bad)];
        row.map(|count| count as f64 / (row[0] + row[1]) as f64)
    }

    /// Of neighbours, for a chain of two states: its second eigenvalue.
    fn correlation(&self) -> f64 {
        self.next(true)[1] - self.next(false)[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_of_losses_are_found_as_they_were_made() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut bad = false;
        let delays: Vec<Option<u64>> = (0..50_000)
            .map(|_| {
                bad = random.f64() < if bad { 0.8 } else { 0.02 };
                (!bad).then(|| random.u64(10..50))
            })
            .collect();
        let found = fit_bursts(&delays, 100, 16, Rules::default()).expect("there are bursts");
        assert_eq!((found.edge, found.edge_ns), (Edge::Lost, None));
        assert!((found.mean_burst - 5.0).abs() < 0.3 && (found.correlation - 0.78).abs() < 0.02);
        assert!((found.bad_share - 0.0909).abs() < 0.01);
        assert_eq!(found.chain.states[1].delays, [(None, 1.0)]);
    }

    #[test]
    fn independent_delays_and_rare_bursts_give_no_chain() {
        let mut random = fastrand::Rng::with_seed(3);
        let independent: Vec<_> = (0..20_000).map(|_| Some(random.u64(0..90))).collect();
        let found = fit_bursts(&independent, 100, 16, Rules::default());
        assert!(found.is_none(), "{found:?}");
        let rare: Vec<_> = (0..2_000).map(|k| (k % 100 > 4).then_some(50)).collect();
        assert!(fit_bursts(&rare, 100, 16, Rules::default()).is_none());
        assert!(fit_bursts(&[None; 300], 100, 16, Rules::default()).is_none());
    }
}
