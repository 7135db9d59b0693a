//! The modes of a loop under random delays: the state of the chain and the answers under way.

use crate::chain::DelayChain;
use crate::pattern::{Pattern, Source};
use crate::register;
use crate::schedule::{OnMiss, Order, Rules};
use crate::system::Matrix;
use std::collections::HashMap;

/// An answer, or a command zero, that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct UnderWay {
    /// Ticks until it comes into force, from the start of the period.
    left: u32,
    /// Periods since its sample.
    age: u16,
    is_zero: bool,
}

/// What decides when answers come into force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Ticks a period.
    pub(crate) ticks: u32,
    pub(crate) rules: Rules,
    /// The tick at which a miss sets the command to zero.
    pub(crate) zero: Option<u32>,
    /// Answers that take more periods never come into force.
    pub(crate) oldest: u32,
}

/// One period from a mode, by one pattern.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) from: usize,
    /// Index of [`Modes::patterns`].
    pub(crate) pattern: usize,
    /// The modes after it, and the probability of this step to them, given the mode before it.
    pub(crate) to: Vec<(usize, f64)>,
}

/// All modes that a loop gets into.
#[derive(Debug)]
pub(crate) struct Modes {
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) steps: Vec<Step>,
    /// Probability of each mode in the long run.
    pub(crate) share: Vec<f64>,
    /// Commands that are kept, the one of the current period included.
    pub(crate) places: usize,
}

/// More modes or steps than were allowed.
#[derive(Debug)]
pub(crate) struct TooMany;

type Switches = Vec<(u32, Option<u16>)>;

impl Modes {
    /// Of a chain; at most `most` modes and `most` steps.
    pub(crate) fn of(chain: &DelayChain, grid: Grid, most: usize) -> Result<Modes, TooMany> {
        let of_states = chain_shares(chain);
        let mut known: HashMap<(usize, Vec<UnderWay>), usize> = HashMap::new();
        let mut order: Vec<(usize, Vec<UnderWay>)> = Vec::new();
        let mut share = Vec::new();
        for (state, &of_state) in of_states.iter().enumerate() {
            if of_state > 0.0 {
                known.insert((state, Vec::new()), order.len());
                order.push((state, Vec::new()));
                share.push(of_state);
            }
        }
        let mut kinds: HashMap<(bool, Switches), usize> = HashMap::new();
        let mut steps = Vec::new();
        let mut done = 0;
        while done < order.len() {
            let (state, under_way) = order[done].clone();
            let mut outcomes: HashMap<(usize, Vec<UnderWay>), f64> = HashMap::new();
            for &(tick, probability) in &chain.states[state].delays {
                let (switches, after) = period(&under_way, tick, grid);
                let ran = tick.is_some() || grid.rules.on_miss != OnMiss::Skip;
                let new = kinds.len();
                let kind = *kinds.entry((ran, switches)).or_insert(new);
                *outcomes.entry((kind, after)).or_default() += probability;
            }
            let mut outcomes: Vec<_> = outcomes.into_iter().collect();
            outcomes.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            for ((pattern, after), probability) in outcomes {
                let mut to = Vec::new();
                for (next, &chance) in chain.states[state].next.iter().enumerate() {
                    if chance > 0.0 {
                        let key = (next, after.clone());
                        let mode = *known.entry(key).or_insert_with_key(|key| {
                            order.push(key.clone());
                            share.push(0.0);
                            order.len() - 1
                        });
                        to.push((mode, probability * chance));
                    }
                }
                steps.push(Step {
                    from: done,
                    pattern,
                    to,
                });
            }
            done += 1;
            if steps.len() > most || order.len() > most {
                return Err(TooMany);
            }
        }
        let ages = kinds.keys().flat_map(|(_, switches)| switches);
        let oldest = ages.filter_map(|(_, age)| *age).max().unwrap_or(0);
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_unstable_by_key(|(_, index)| *index);
        let places = usize::from(oldest) + 1;
        let patterns = kinds.into_iter().map(|((ran, switches), _)| {
            let sources = switches.into_iter().map(|(tick, age)| {
                let source = age.map_or(Source::Zero, Source::Stored);
                (tick, source)
            });
            register::pattern(ran, sources.collect(), places)
        });
        let mut modes = Modes {
            patterns: patterns.collect(),
            steps,
            share,
            places,
        };
        modes.settle(chain, grid.ticks);
        // What happens at the start only does not matter.
        let Modes { steps, share, .. } = &mut modes;
        steps.retain(|step| share[step.from] > 0.0);
        Ok(modes)
    }

    /// Lets the shares reach the long run. What is under way depends on the last few delays only, as many as the
    /// longest one lasts periods, so this ends exactly. It forgets earlier ones, if no mode repeats before, within as
    /// many steps as there are modes.
    fn settle(&mut self, chain: &DelayChain, ticks: u32) {
        let delays = chain.states.iter().flat_map(|state| &state.delays);
        let longest = delays.filter_map(|(tick, _)| *tick).max().unwrap_or(0);
        let periods = ((longest / ticks) as usize).min(self.share.len());
        for _ in 0..periods + self.places + 1 {
            let mut after = vec![0.0; self.share.len()];
            for step in &self.steps {
                for &(to, probability) in &step.to {
                    after[to] += probability * self.share[step.from];
                }
            }
            self.share = after;
        }
    }
}

/// What comes into force in a period (tick and age, `None`: zero), and what is under way after it.
fn period(under_way: &[UnderWay], delay: Option<u32>, grid: Grid) -> (Switches, Vec<UnderWay>) {
    let Grid { ticks, rules, .. } = grid;
    let mut all = under_way.to_vec();
    if let Some(left) = delay.or(grid.zero)
        && left / ticks <= grid.oldest
    {
        all.push(UnderWay {
            left,
            age: 0,
            is_zero: delay.is_none(),
        });
    }
    // In the same tick the older one comes first.
    all.sort_unstable_by_key(|one| (one.left, std::cmp::Reverse(one.age)));
    if rules.order == Order::Newest {
        let mut newest = u16::MAX;
        all.retain(|one| {
            let is_newest = one.age < newest;
            newest = newest.min(one.age);
            is_newest
        });
    }
    let (now, later): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.left < ticks);
    let switches = now
        .into_iter()
        .map(|one| (one.left, (!one.is_zero).then_some(one.age)));
    let later = later.into_iter().map(|one| UnderWay {
        left: one.left - ticks,
        age: one.age.saturating_add(1),
        ..one
    });
    (switches.collect(), later.collect())
}

/// Share of each state of the chain in the long run.
fn chain_shares(chain: &DelayChain) -> Vec<f64> {
    let n = chain.states.len();
    let mut system = Matrix::from_fn(n + 1, n, |row, column| match row {
        row if row == n => 1.0,
        row => chain.states[column].next[row] - f64::from(u8::from(row == column)),
    });
    // The rows sum to zero: one of them says nothing.
    system = system.remove_row(0);
    let mut right = nalgebra::DVector::zeros(n);
    right[n - 1] = 1.0;
    let shares = system.lu().solve(&right);
    shares.map_or_else(
        || vec![1.0 / n as f64; n],
        |shares| {
            let shares = shares.iter();
            shares
                .map(|&share| if share > 1e-14 { share } else { 0.0 })
                .collect()
        },
    )
}
