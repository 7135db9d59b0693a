//! When commands come into force: delays and rules in, for each period the changes of the command in it out. Whole
//! ticks, never fractions of seconds: which of two answers comes first must not depend on rounding.

use crate::pattern::{Pattern, Source};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Which answer counts when several are under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The newest: an answer that a newer one has overtaken is ignored.
    #[default]
    Newest,
    /// The one that arrived last, even if it is older.
    Arrival,
}

/// What happens in a cycle whose answer is lost or too late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnMiss {
    /// The last command stays in force.
    #[default]
    Hold,
    /// The command becomes zero at the deadline.
    ZeroAtDeadline,
    /// The command is zero from the start of the cycle.
    ZeroAtOnce,
    /// The last command stays, and the controller has not run: the request was lost, not the answer.
    Skip,
}

/// How answers become commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Which answer counts.
    pub order: Order,
    /// What a miss does.
    pub on_miss: OnMiss,
    /// Answers that take longer count as lost; `None`: any answer is applied, a lost one is missed at its period's end.
    pub deadline_ns: Option<u64>,
}

/// The periods of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// For each cycle its pattern, as an index of `patterns`.
    pub cycles: Vec<u32>,
    /// The different patterns.
    pub patterns: Vec<Pattern>,
    /// Commands that are stored beyond their own period at most.
    pub slots: usize,
    /// Ticks a period.
    pub ticks: u32,
}

/// A command that comes into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    /// On the grid, from the first sample.
    pub(crate) tick: u64,
    /// The cycle whose answer it is.
    pub(crate) cycle: u64,
    pub(crate) is_zero: bool,
}

/// Puts delays (`None`: lost), in nanoseconds from the tick of their cycle, on a grid of `ticks` a period.
pub fn schedule(delays: &[Option<u64>], period_ns: u64, ticks: u32, rules: Rules) -> Schedule {
    let (ran, events) = events(delays, period_ns, ticks, rules);
    placed(&ran, &events, ticks)
}

/// The nearest tick of a time.
pub(crate) fn on_grid(ns: u64, period_ns: u64, ticks: u32) -> u64 {
    let scaled = u128::from(ns) * u128::from(ticks) + u128::from(period_ns / 2);
    u64::try_from(scaled / u128::from(period_ns)).unwrap_or(u64::MAX / 2)
}

impl Rules {
    /// An answer that counts; one that takes longer than the deadline is lost.
    pub(crate) fn in_time(self, delay: Option<u64>) -> Option<u64> {
        delay.filter(|&delay| delay <= self.deadline_ns.unwrap_or(u64::MAX))
    }

    /// Tick, from the start of its cycle, at which a miss sets the command to zero.
    pub(crate) fn zero_tick(self, period_ns: u64, ticks: u32) -> Option<u64> {
        match self.on_miss {
            OnMiss::Hold | OnMiss::Skip => None,
            OnMiss::ZeroAtOnce => Some(0),
            OnMiss::ZeroAtDeadline => Some(
                self.deadline_ns
                    .map_or(u64::from(ticks), |ns| on_grid(ns, period_ns, ticks)),
            ),
        }
    }
}

/// For each cycle whether the controller ran, and the commands that come into force, in order.
pub(crate) fn events(
    delays: &[Option<u64>],
    period_ns: u64,
    ticks: u32,
    rules: Rules,
) -> (Vec<bool>, Vec<Event>) {
    let zero = rules.zero_tick(period_ns, ticks);
    let mut events = Vec::with_capacity(delays.len());
    let mut ran = Vec::with_capacity(delays.len());
    for (cycle, &delay) in (0u64..).zip(delays) {
        let delay = rules.in_time(delay);
        ran.push(delay.is_some() || rules.on_miss != OnMiss::Skip);
        if let Some(after) = delay.map(|ns| on_grid(ns, period_ns, ticks)).or(zero) {
            events.push(Event {
                tick: (cycle * u64::from(ticks)).saturating_add(after),
                cycle,
                is_zero: delay.is_none(),
            });
        }
    }
    events.sort_unstable();
    if rules.order == Order::Newest {
        let mut newest = None;
        events.retain(|event| {
            let is_newest = newest.is_none_or(|newest| event.cycle > newest);
            if is_newest {
                newest = Some(event.cycle);
            }
            is_newest
        });
    }
    (ran, events)
}

/// Gives each command that outlives its period a place to wait in.
fn placed(ran: &[bool], events: &[Event], ticks: u32) -> Schedule {
    let per = u64::from(ticks);
    let cycles = ran.len() as u64;
    // The period in which the command of a cycle comes into force.
    let mut due: Vec<Option<u64>> = vec![None; ran.len()];
    for event in events.iter().filter(|event| !event.is_zero) {
        due[event.cycle as usize] = Some(event.tick / per).filter(|period| *period < cycles);
    }
    let mut known: HashMap<Pattern, u32> = HashMap::new();
    let mut made = Schedule {
        cycles: Vec::with_capacity(ran.len()),
        patterns: Vec::new(),
        slots: 0,
        ticks,
    };
    let mut waiting: Vec<Option<u64>> = Vec::new();
    let mut next = events.iter().peekable();
    for (period, &ran) in (0u64..).zip(ran) {
        let mut moves = Vec::new();
        if period > 0 && due[period as usize - 1].is_some_and(|due| due >= period) {
            let free = waiting.iter().position(Option::is_none);
            let slot = free.unwrap_or_else(|| {
                waiting.push(None);
                waiting.len() - 1
            });
            waiting[slot] = Some(period - 1);
            moves.push((0, slot as u16 + 1));
        }
        let mut switches = Vec::new();
        while let Some(event) = next.next_if(|event| event.tick / per == period) {
            let source = match event {
                Event { is_zero: true, .. } => Source::Zero,
                Event { cycle, .. } if *cycle == period => Source::Stored(0),
                Event { cycle, .. } => {
                    let slot = waiting.iter().position(|waiting| *waiting == Some(*cycle));
                    let slot = slot.expect("a command that is due later was given a place");
                    waiting[slot] = None;
                    Source::Stored(slot as u16 + 1)
                }
            };
            switches.push(((event.tick % per) as u32, source));
        }
        let pattern = Pattern {
            ran,
            moves,
            switches,
        };
        let index = *known.entry(pattern).or_insert_with_key(|pattern| {
            made.patterns.push(pattern.clone());
            made.patterns.len() as u32 - 1
        });
        made.cycles.push(index);
    }
    made.slots = waiting.len();
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_within_its_period_needs_no_place() {
        let made = schedule(&[Some(0), Some(52), None], 100, 10, Rules::default());
        assert_eq!(made.slots, 0);
        let switches: Vec<_> = made.patterns.iter().map(|p| p.switches.clone()).collect();
        let own = Source::Stored(0);
        assert_eq!(switches, [vec![(0, own)], vec![(5, own)], vec![]]);
    }

    #[test]
    fn places_are_used_again() {
        let late = schedule(&[Some(250); 50], 100, 10, Rules::default());
        assert_eq!(late.slots, 2);
        assert!(late.patterns.len() < 8);
    }
}
