//! What disturbed a point: the kernel's own accounts of the measuring thread, of its processor and
//! of the hypervisor, read right before and right after. A disturbed point is flagged, not dropped.

use super::helper::Helper;
use super::platform::{Machine, Thread, tick_ns};
use wiregauge_record::{Disturbance, ResourceUse};

/// A clock that stood still longer than this while nothing but the loop ran was disturbed.
const CLOCK_GAP_NS: u64 = 100_000;

/// Shares and counts below which the ordinary life of an operating system is not called a
/// disturbance.
const STEAL_SHARE: f64 = 0.005;
const SHARED_SHARE: f64 = 0.05;
const PREEMPTIONS_PER_SECOND: f64 = 20.0;
const WAITED_SHARE: f64 = 0.01;

/// Watches one point.
pub struct Watch {
    pinned: Option<u32>,
    machine: Machine,
    cost_ns: u64,
    /// A thread that works for the measuring one.
    other: Option<Helper>,
    thread: Thread,
}

impl Watch {
    /// Starts watching; called by the measuring thread. Its accounts are taken together with those of
    /// `other`, if that works for it.
    pub fn start(pinned: Option<u32>, other: Option<Helper>) -> Watch {
        Watch {
            pinned,
            machine: Machine::read(pinned),
            cost_ns: Thread::cost_ns(),
            other,
            thread: Thread::read().and(other),
        }
    }

    /// What was used and what disturbed since the start, over `elapsed_ns` and so many exchanges.
    pub fn finish(
        &self,
        elapsed_ns: u64,
        exchanges: u64,
        gaps: ClockGaps,
    ) -> (ResourceUse, Vec<Disturbance>) {
        let (after, before) = (Thread::read().and(self.other), &self.thread);
        let machine = Machine::read(self.pinned);
        let cpu_ns = after.cpu_ns.saturating_sub(before.cpu_ns + self.cost_ns);
        let resources = ResourceUse {
            cpu_ns_per_exchange: cpu_ns as f64 / exchanges.max(1) as f64,
            voluntary_switches: after.voluntary.saturating_sub(before.voluntary),
            involuntary_switches: after.involuntary.saturating_sub(before.involuntary),
            run_delay_ns: after.run_delay_ns.saturating_sub(before.run_delay_ns),
            steal_ns: machine.steal_ns.saturating_sub(self.machine.steal_ns),
            minor_faults: after.faults.saturating_sub(before.faults),
        };
        let mut disturbances = Vec::new();
        let elapsed = elapsed_ns.max(1) as f64;
        let steal = machine.steal_share_since(&self.machine, elapsed_ns);
        if steal > STEAL_SHARE {
            disturbances.push(Disturbance::Steal { share: steal });
        }
        let per_second = resources.involuntary_switches as f64 * 1e9 / elapsed;
        let waited = resources.run_delay_ns as f64 / elapsed;
        let often = resources.involuntary_switches > 4 && per_second > PREEMPTIONS_PER_SECOND;
        if often && waited > WAITED_SHARE {
            disturbances.push(Disturbance::Preempted {
                times: resources.involuntary_switches,
                waited_ns: resources.run_delay_ns,
            });
        }
        if self.pinned.is_some() {
            let busy = machine.busy_ns - self.machine.busy_ns;
            let foreign = busy.saturating_sub(cpu_ns) as f64 / elapsed;
            if foreign > SHARED_SHARE && busy > 3 * tick_ns() {
                disturbances.push(Disturbance::SharedProcessor {
                    share: foreign.min(1.0),
                });
            }
        }
        if gaps.times > 0 {
            disturbances.push(Disturbance::ClockGap {
                longest_ns: gaps.longest_ns,
                times: gaps.times,
            });
        }
        (resources, disturbances)
    }
}

/// Gaps in the clock seen by a spinning wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockGaps {
    /// The longest.
    pub longest_ns: u64,
    /// How many of over 100 us.
    pub times: u64,
}

impl ClockGaps {
    /// Takes the time between two reads of the clock.
    #[inline]
    pub fn take(&mut self, gap_ns: u64) {
        if gap_ns > CLOCK_GAP_NS {
            self.times += 1;
            self.longest_ns = self.longest_ns.max(gap_ns);
        }
    }
}
