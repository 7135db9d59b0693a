//! The cycles that a control loop with a period would have missed: responses in the order in which
//! they were measured, put onto the ticks of a clock.

use crate::blocks::per_sample;
use crate::dependence::Dependence;
use crate::interval::of_rare_share;
use crate::replay::Replay;
use crate::types::{Confidence, Estimate};
use serde::Serialize;

/// Blocks held before neighbours are joined in pairs.
const MOST_BLOCKS: usize = 1024;

/// Runs of misses required for a mean length.
const ENOUGH_RUNS: u64 = 10;

/// Runs of misses that tell enough of their own dependence.
const TELLING_RUNS: u64 = 30;

/// When a cycle is kept, and how the loop asks. All times in one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleRule {
    /// From one tick to the next.
    pub period: u64,
    /// A response that takes longer misses its cycle.
    pub deadline: u64,
    /// So does one outside these bounds, where there are any.
    pub between: Option<(u64, u64)>,
    /// How many requests may be outstanding. A loop that has so many under way cannot ask: the
    /// tick is missed.
    pub outstanding: u32,
}

impl CycleRule {
    /// Whether a right answer after this time keeps its cycle.
    pub fn is_kept(&self, response: u64) -> bool {
        let bounds = self.between.unwrap_or((0, u64::MAX));
        response <= self.deadline && (bounds.0..=bounds.1).contains(&response)
    }
}

/// Takes responses in the order of their requests and counts the cycles that miss; under 10 KiB
/// whatever the number.
#[derive(Clone, Debug)]
pub struct Cycles {
    rule: CycleRule,
    replay: Replay,
    count: Count,
}

/// What the cycles of a run amount to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Missed {
    /// Cycles.
    pub cycles: u64,
    /// Those that missed.
    pub missed: u64,
    /// Their share, 0 to 1, with its interval.
    pub share: Estimate,
    /// How many independent cycles these are worth.
    pub effective_cycles: f64,
    /// Runs of consecutive misses.
    pub runs: u64,
    /// The longest, in cycles.
    pub longest_run: u64,
    /// Their mean length; `None` of fewer than ten.
    pub mean_run: Option<f64>,
}

impl Cycles {
    /// None yet.
    pub fn new(rule: CycleRule) -> Cycles {
        Cycles {
            rule,
            replay: Replay::new(rule.period, rule.outstanding),
            count: Count::default(),
        }
    }

    /// The next response, measured without regard to the loop's ticks: it is asked for at the first
    /// tick at which the loop can ask. Those before it, at which as many requests as may be were
    /// still under way, are missed. `is_right` is false where no right answer came in that time.
    pub fn replay(&mut self, response: u64, is_right: bool) {
        let skipped = self.replay.request(response);
        self.count.add(true, skipped);
        self.take(response, is_right);
    }

    /// The next response, measured with the loop's own period and counted from its tick: it is that
    /// cycle's and no other's.
    pub fn take(&mut self, response: u64, is_right: bool) {
        self.count
            .add(!(is_right && self.rule.is_kept(response)), 1);
    }

    /// What they amount to; `together` cycles are worth one at best as far as the responses tell, which
    /// are asked where there are few misses. The ticks that a last long response holds up are its own.
    pub fn finish(mut self, together: f64, sure: Confidence) -> Missed {
        let skipped = self.replay.wait();
        self.count.add(true, skipped);
        self.count.missed(together, sure)
    }
}

/// Hits and misses in time order, as sums over blocks.
#[derive(Clone, Debug)]
struct Count {
    cycles: u64,
    missed: u64,
    runs: u64,
    run: u64,
    longest: u64,
    /// Sum of the squares of the runs of misses that are over.
    squares: f64,
    kept_run: u64,
    /// The same of the runs of kept cycles.
    kept_squares: f64,
    /// Cycles a block.
    length: u64,
    blocks: Vec<u64>,
    begun: u64,
    filled: u64,
}

impl Default for Count {
    fn default() -> Count {
        Count {
            cycles: 0,
            missed: 0,
            runs: 0,
            run: 0,
            longest: 0,
            squares: 0.0,
            kept_run: 0,
            kept_squares: 0.0,
            length: 1,
            blocks: Vec::new(),
            begun: 0,
            filled: 0,
        }
    }
}

impl Count {
    fn add(&mut self, is_missed: bool, mut cycles: u64) {
        // More than a damaged file can make sense of.
        cycles = cycles.min(u64::MAX / 2 - self.cycles.min(u64::MAX / 2));
        if cycles == 0 {
            return;
        }
        self.cycles += cycles;
        if is_missed {
            self.missed += cycles;
            self.runs += u64::from(self.run == 0);
            self.run += cycles;
            self.longest = self.longest.max(self.run);
            self.kept_squares += (self.kept_run as f64).powi(2);
            self.kept_run = 0;
        } else {
            self.squares += (self.run as f64).powi(2);
            self.run = 0;
            self.kept_run += cycles;
        }
        while cycles > 0 {
            let part = cycles.min(self.length - self.filled);
            self.begun += if is_missed { part } else { 0 };
            self.filled += part;
            cycles -= part;
            if self.filled == self.length {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        if self.blocks.len() == MOST_BLOCKS {
            for i in 0..MOST_BLOCKS / 2 {
                self.blocks[i] = self.blocks[2 * i] + self.blocks[2 * i + 1];
            }
            self.blocks.truncate(MOST_BLOCKS / 2);
            self.length *= 2;
            // The block just filled is now half a block.
            return;
        }
        self.blocks.push(std::mem::take(&mut self.begun));
        self.filled = 0;
    }

    fn missed(&self, together: f64, sure: Confidence) -> Missed {
        let n = self.cycles;
        let share = if n == 0 {
            0.0
        } else {
            self.missed as f64 / n as f64
        };
        let mut dependence = self.dependence(share);
        // A run of what is rarer, misses or kept cycles, is one event, however long (Kish 1965, as for clusters of a
        // tail).
        let kept = n - self.missed;
        let (rarer, squares, run) = match self.missed <= kept {
            true => (self.missed, self.squares, self.run),
            false => (kept, self.kept_squares, self.kept_run),
        };
        let squares = squares + (run as f64).powi(2);
        let run = squares / rarer.max(1) as f64;
        let together = match self.runs < TELLING_RUNS {
            true => together,
            false => 1.0,
        };
        dependence.tau = dependence
            .tau
            .max(run)
            .max(together)
            .clamp(1.0, (n.max(2) as f64) / 2.0);
        let (low, high) = of_rare_share(n, share, dependence, sure);
        Missed {
            cycles: n,
            missed: self.missed,
            share: Estimate {
                value: share,
                low: Some(low),
                high: Some(high),
            },
            effective_cycles: n as f64 / dependence.tau,
            runs: self.runs,
            longest_run: self.longest,
            mean_run: (self.runs >= ENOUGH_RUNS).then(|| self.missed as f64 / self.runs as f64),
        }
    }

    fn dependence(&self, share: f64) -> Dependence {
        let total = |block: usize| self.blocks[block] as f64;
        per_sample(self.length, self.blocks.len(), total, share * (1.0 - share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn rule(period: u64) -> CycleRule {
        CycleRule {
            period,
            deadline: period,
            between: None,
            outstanding: 1,
        }
    }

    fn replayed(rule: CycleRule, responses: &[u64]) -> Missed {
        let mut cycles = Cycles::new(rule);
        for &response in responses {
            cycles.replay(response, true);
        }
        cycles.finish(1.0, Confidence::NINETY_FIVE)
    }

    #[test]
    fn a_stall_of_thirty_periods_is_thirty_missed_cycles() {
        let found = replayed(rule(MS), &[MS / 2, 30 * MS, MS / 2, MS / 2]);
        assert_eq!((found.cycles, found.missed), (33, 30));
        assert_eq!((found.runs, found.longest_run), (1, 30));
        // A hair more, and the tick at which it comes is lost too; at the end of a run as well.
        let found = replayed(rule(MS), &[MS / 2, 30 * MS + 1]);
        assert_eq!((found.cycles, found.missed), (32, 31));
    }

    #[test]
    fn an_answer_on_the_tick_is_in_time_and_one_behind_it_is_not() {
        assert_eq!(replayed(rule(MS), &[MS; 10]).missed, 0);
        let late = replayed(rule(MS), &[MS + 1; 10]);
        assert_eq!((late.cycles, late.missed, late.longest_run), (20, 20, 20));
    }

    #[test]
    fn a_deadline_shorter_than_the_period_leaves_the_next_tick_alone() {
        let rule = CycleRule {
            deadline: MS / 4,
            ..rule(MS)
        };
        let found = replayed(rule, &[MS / 5, MS / 2, MS / 5, MS / 2]);
        assert_eq!((found.cycles, found.missed, found.longest_run), (4, 2, 1));
    }

    #[test]
    fn an_early_answer_misses_where_the_command_must_not_wander() {
        let rule = CycleRule {
            between: Some((400, 600)),
            ..rule(1000)
        };
        let found = replayed(rule, &[500, 399, 601, 400, 600]);
        assert_eq!((found.cycles, found.missed, found.longest_run), (5, 2, 2));
    }

    #[test]
    fn with_several_outstanding_an_answer_may_be_under_way_for_several_ticks() {
        let rule = |outstanding| CycleRule {
            deadline: 3 * MS,
            outstanding,
            ..rule(MS)
        };
        let responses = [5 * MS / 2; 6];
        assert_eq!(replayed(rule(3), &responses).missed, 0);
        // With two, every third tick finds both under way.
        let two = replayed(rule(2), &responses);
        assert_eq!((two.cycles, two.missed), (9, 3));
        let one = replayed(rule(1), &responses);
        assert_eq!((one.cycles, one.missed), (18, 12));
    }

    #[test]
    fn what_was_lost_misses_for_as_long_as_it_was_waited_for() {
        let mut cycles = Cycles::new(rule(MS));
        cycles.replay(MS / 2, true);
        cycles.replay(100 * MS, false);
        cycles.replay(MS / 2, false);
        cycles.replay(MS / 2, true);
        let found = cycles.finish(1.0, Confidence::NINETY_FIVE);
        assert_eq!((found.cycles, found.missed), (103, 101));
        assert_eq!((found.runs, found.longest_run), (1, 101));
    }

    #[test]
    fn a_kept_schedule_is_counted_as_it_is() {
        let mut cycles = Cycles::new(rule(MS));
        for response in [MS / 2, 5 * MS, 4 * MS, MS / 2] {
            cycles.take(response, true);
        }
        let found = cycles.finish(1.0, Confidence::NINETY_FIVE);
        assert_eq!((found.cycles, found.missed, found.longest_run), (4, 2, 2));
    }

    #[test]
    fn all_missed_is_as_sure_as_none_missed() {
        let rule = CycleRule {
            deadline: MS / 4,
            ..rule(MS)
        };
        let share = |response| replayed(rule, &[response; 4_000]).share;
        let (all, none) = (share(MS / 2), share(MS / 8));
        assert_eq!((all.value, all.high), (1.0, Some(1.0)));
        let (low, high) = (all.low.expect("a bound"), none.high.expect("a bound"));
        let same = (1.0 - low - high).abs() < 1e-9;
        assert!(same && low > 0.999, "{low}, {high}");
        // A thousand missed, a thousand kept, and again: a few events.
        let mut changes = Cycles::new(rule);
        for at in 0..4_000_u64 {
            changes.take(if at / 1_000 % 2 == 0 { MS / 2 } else { MS / 8 }, true);
        }
        let found = changes.finish(1.0, Confidence::NINETY_FIVE);
        assert!(found.effective_cycles < 10.0, "{found:?}");
    }

    #[test]
    fn none_missed_leaves_the_rule_of_three_on_what_is_independent() {
        let found = replayed(rule(MS), &[MS / 2; 10_000]);
        let high = found.share.high.expect("a bound");
        // Both sides at 95 %: 3.69 / n above.
        assert!((high * 10_000.0 - 3.69).abs() < 0.05, "{high}");
        let mut cycles = Cycles::new(rule(MS));
        (0..10_000).for_each(|_| cycles.replay(MS / 2, true));
        let few = cycles.finish(20.0, Confidence::NINETY_FIVE);
        assert_eq!(few.effective_cycles, 500.0);
        assert!((few.share.high.expect("a bound") / high - 20.0).abs() < 0.5);
    }

    #[test]
    fn long_runs_of_misses_widen_the_interval() {
        let with = |stall: u64, every: usize| {
            let mut responses = vec![MS / 2; 100_000];
            responses.iter_mut().step_by(every).for_each(|r| *r = stall);
            replayed(rule(MS), &responses)
        };
        // The same share of misses, in runs of one and of fifty.
        let (single, fifty) = (with(3 * MS / 2, 2000), with(50 * MS, 50_000));
        assert_eq!((single.missed, fifty.missed), (100, 100));
        let width = |m: Missed| m.share.high.expect("high") - m.share.low.expect("low");
        assert!(width(fifty) > 3.0 * width(single));
        assert_eq!(single.mean_run, Some(2.0));
        assert_eq!(fifty.mean_run, None);
    }

    #[test]
    fn blocks_join_and_lose_nothing() {
        let mut count = Count::default();
        for i in 0..5000_u64 {
            count.add(i % 7 == 0, 1 + i % 13);
        }
        count.add(true, 1 << 50);
        assert!(count.blocks.len() <= MOST_BLOCKS);
        let held = count.blocks.iter().sum::<u64>() + count.begun;
        assert_eq!(held, count.missed);
        let cycles = count.length * count.blocks.len() as u64 + count.filled;
        assert_eq!(cycles, count.cycles);
    }

    #[test]
    fn nothing_measured_is_nothing_known() {
        let found = Cycles::new(rule(MS)).finish(1.0, Confidence::NINETY_FIVE);
        assert_eq!((found.cycles, found.missed), (0, 0));
        assert_eq!((found.share.low, found.share.high), (Some(0.0), Some(1.0)));
    }
}
