//! From the blocks of one loop point to its summary.

use crate::block::Block;
use crate::loop_plan::{Aim, LoopPoint};
use crate::loop_summary::{LoopSummary, Stall, StallRate};
use crate::point_summary::{Ending, ResourceUse};
use crate::sample::Phase;
use wiregauge_stats::{ExceedanceRuns, Series, poisson_high};

/// What is known of a point beside its blocks.
#[derive(Clone, Debug, Default)]
pub struct LoopFacts {
    /// Blocks whose input was lost, as the device counted them.
    pub overruns: u64,
    /// Blocks that the output had to do without, as the device counted them.
    pub underruns: u64,
    /// When; the first thousand.
    pub stalls: Vec<Stall>,
    /// What the loop's thread used.
    pub resources: ResourceUse,
}

/// Takes the blocks of one point, in order.
pub struct LoopSummariser {
    point: LoopPoint,
    wake: Series,
    host: Series,
    work: Series,
    service: Series,
    late: ExceedanceRuns,
    work_ns: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    done_ns: u64,
}

impl LoopSummariser {
    /// Of this point.
    pub fn new(point: LoopPoint) -> LoopSummariser {
        LoopSummariser {
            point,
            wake: Series::new(),
            host: Series::new(),
            work: Series::new(),
            service: Series::new(),
            late: ExceedanceRuns::default(),
            work_ns: 0,
            first_ns: None,
            last_ns: 0,
            done_ns: 0,
        }
    }

    /// Takes the next block; only measured ones count.
    pub fn push(&mut self, block: &Block) {
        let before_ns = std::mem::replace(&mut self.done_ns, block.done_ns);
        if block.phase != Phase::Measured {
            return;
        }
        let ready_ns = block.due_ns.max(before_ns);
        self.host.push(block.begun_ns.saturating_sub(ready_ns));
        self.wake.push(block.wake_ns());
        self.work.push(block.work_ns());
        self.service.push(block.service_ns());
        let period_ns = self.point.period_ns().round() as u64;
        self.late.push(period_ns + block.service_ns());
        self.work_ns += block.work_ns();
        self.first_ns
            .get_or_insert(block.due_ns.saturating_sub(period_ns));
        self.last_ns = block.due_ns;
    }

    /// The summary. Verification, the timer thread and speeds are the engine's to add.
    pub fn finish(&self, ending: Ending, facts: LoopFacts) -> LoopSummary {
        let elapsed_ns = self.last_ns.saturating_sub(self.first_ns.unwrap_or(0));
        let stalled = facts.overruns + facts.underruns > 0;
        // A preload that did not hold shows that more is needed, not how much.
        let needed_ns = self
            .late
            .largest()
            .filter(|_| self.point.aim == Aim::Curve || !stalled);
        let host_delay = self.host.distribution();
        let floor_ns = host_delay
            .as_ref()
            .map(|delay| self.point.period_ns().round() + delay.max);
        LoopSummary {
            point: self.point,
            ending,
            elapsed_ns,
            blocks: self.service.len(),
            wake: self.wake.distribution(),
            work: self.work.distribution(),
            service: self.service.distribution(),
            needed_ns: needed_ns.map(|ns| ns as f64),
            needed_bytes: needed_ns.map(|ns| self.whole_blocks(ns as f64)),
            curve: self.curve(elapsed_ns),
            overruns: facts.overruns,
            underruns: facts.underruns,
            stalls: facts.stalls,
            verified: None,
            duty: self.work_ns as f64 / self.looped_ns().max(1) as f64,
            host_delay,
            floor_ns,
            timer: None,
            stages: Vec::new(),
            memory_bytes_s: None,
            resources: facts.resources,
            disturbances: Vec::new(),
        }
    }

    /// The time in which the measured blocks were worked on: a loop that falls behind is still at it
    /// when the last of them has long come in.
    fn looped_ns(&self) -> u64 {
        self.last_ns
            .max(self.done_ns)
            .saturating_sub(self.first_ns.unwrap_or(0))
    }

    /// A latency as a preload: bytes, rounded up to whole blocks.
    fn whole_blocks(&self, latency_ns: f64) -> u64 {
        let bytes = latency_ns * 1e-9 * self.point.bytes_s();
        let notify = u64::from(self.point.notify_bytes);
        // A latency of exactly so many blocks is not one more for a rounding in its last digits.
        ((bytes / notify as f64 - 1e-6).ceil().max(1.0) as u64) * notify
    }

    /// A point that holds one preload tells of that one alone: where it stalled, the blocks behind
    /// say nothing of others.
    fn curve(&self, elapsed_ns: u64) -> Vec<StallRate> {
        if self.point.aim != Aim::Curve || elapsed_ns == 0 {
            return Vec::new();
        }
        let minutes = elapsed_ns as f64 / 60e9;
        let frame = f64::from(self.point.frame_bytes());
        // Going down, stretches grow together, in the end into one that lasts the whole run. A shorter
        // latency is not a better one for that: they go on counting as what they were.
        let mut ladder = self.late.curve();
        let mut most = 0;
        for at in ladder.iter_mut().rev() {
            most = at.stretches.max(most);
            at.stretches = most;
        }
        ladder
            .into_iter()
            .map(|at| StallRate {
                latency_ns: at.limit,
                preload_bytes: ((at.limit * 1e-9 * self.point.bytes_s() / frame).ceil() * frame)
                    as u64,
                stalls: at.stretches,
                per_minute: at.stretches as f64 / minutes,
                per_minute_high: poisson_high(at.stretches) / minutes,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_path::LoopPath;

    fn point() -> LoopPoint {
        LoopPoint {
            index: 0,
            rate_hz: 1_000_000,
            channels: 1,
            notify_bytes: 2_000,
            ring_bytes: 2_000_000,
            preload_bytes: 2_000_000,
            aim: Aim::Curve,
            path: LoopPath::Cpu,
        }
    }

    /// Blocks that were due, begun and done at these times.
    fn summary_of_blocks(blocks: impl IntoIterator<Item = (u64, u64, u64)>) -> LoopSummary {
        let mut summariser = LoopSummariser::new(point());
        for (sequence, (due_ns, begun_ns, done_ns)) in (0..).zip(blocks) {
            summariser.push(&Block {
                sequence,
                due_ns,
                begun_ns,
                done_ns,
                phase: Phase::Measured,
                ..Block::default()
            });
        }
        summariser.finish(Ending::Complete, LoopFacts::default())
    }

    /// Blocks of 1 ms, each served so many nanoseconds after its last sample.
    fn summary_of(service_ns: impl IntoIterator<Item = u64>) -> LoopSummary {
        summary_of_blocks((1..).zip(service_ns).map(|(number, service)| {
            let due_ns = number * 1_000_000;
            (due_ns, due_ns + service / 2, due_ns + service)
        }))
    }

    #[test]
    fn the_latency_needed_is_one_block_and_the_longest_service() {
        let summary = summary_of([10_000, 50_000, 20_000]);
        assert_eq!(summary.needed_ns, Some(1_050_000.0));
        assert_eq!(summary.needed_bytes, Some(4_000));
        assert_eq!(summary.elapsed_ns, 3_000_000);
        assert!((summary.duty - 0.04 / 3.02).abs() < 1e-9);
    }

    #[test]
    fn the_floor_is_one_block_and_the_longest_delay_by_the_host() {
        // The second block waits for the first, then 40 us for the host.
        let summary = summary_of_blocks([
            (1_000_000, 1_010_000, 2_300_000),
            (2_000_000, 2_340_000, 2_400_000),
            (3_000_000, 3_025_000, 3_030_000),
        ]);
        assert_eq!(summary.floor_ns, Some(1_040_000.0));
        assert_eq!(summary.needed_ns, Some(2_300_000.0));
    }

    #[test]
    fn a_preload_that_stalled_does_not_say_what_is_needed() {
        let mut summariser = LoopSummariser::new(LoopPoint {
            aim: Aim::Hold,
            ..point()
        });
        summariser.push(&Block {
            due_ns: 1_000_000,
            begun_ns: 1_000_000,
            done_ns: 1_365_000,
            phase: Phase::Measured,
            ..Block::default()
        });
        let of = |underruns| {
            let facts = LoopFacts {
                underruns,
                ..LoopFacts::default()
            };
            summariser.finish(Ending::Complete, facts).needed_ns
        };
        assert_eq!((of(0), of(263)), (Some(1_365_000.0), None));
    }

    #[test]
    fn the_curve_ends_without_stalls_yet_with_a_bound() {
        // A minute of blocks, three of them 5 ms late.
        let services = (0..60_000).map(|i| if i % 20_000 == 100 { 5_000_000 } else { 10_000 });
        let summary = summary_of(services);
        let last = summary.curve.last().expect("a curve");
        assert_eq!((last.latency_ns, last.stalls), (6_000_000.0, 0));
        assert!((last.per_minute_high - 3.0).abs() < 0.01);
        let between = summary
            .curve
            .iter()
            .find(|at| at.latency_ns > 2e6)
            .expect("a limit between");
        assert_eq!(between.stalls, 3);
        assert!((between.per_minute - 3.0).abs() < 0.01);
        assert!((7.0..9.0).contains(&between.per_minute_high));
    }

    #[test]
    fn a_shorter_latency_never_stalls_less_often() {
        // Every other block 2 ms late, the rest 1 ms: below that they are all in one stretch.
        let summary = summary_of((0..1_000).map(|i| 1_000_000 * (1 + i % 2)));
        let stalls: Vec<u64> = summary.curve.iter().map(|at| at.stalls).collect();
        assert!(stalls.is_sorted_by(|a, b| a >= b), "{stalls:?}");
        assert_eq!((stalls.first(), stalls.last()), (Some(&500), Some(&0)));
    }

    #[test]
    fn a_loop_that_falls_behind_works_all_the_time_not_more() {
        let ms = |count: u64| count * 1_000_000;
        let blocks = (0..10).map(|at| (ms(at + 1), ms(2 * at + 1), ms(2 * at + 3)));
        let summary = summary_of_blocks(blocks);
        assert!((0.9..=1.0).contains(&summary.duty), "{}", summary.duty);
    }

    #[test]
    fn blocks_of_the_start_up_do_not_count() {
        let mut summariser = LoopSummariser::new(point());
        summariser.push(&Block {
            due_ns: 1_000_000,
            done_ns: 90_000_000,
            phase: Phase::WarmUp,
            ..Block::default()
        });
        let summary = summariser.finish(Ending::Interrupted, LoopFacts::default());
        assert_eq!((summary.blocks, summary.needed_ns), (0, None));
        assert!(summary.curve.is_empty());
    }
}
