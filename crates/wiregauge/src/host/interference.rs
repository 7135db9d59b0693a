//! What disturbed a point: the kernel's own accounts of the measuring thread, of its processor and
//! of the hypervisor, read right before and right after. A disturbed point is flagged, not dropped.

use rustix::param::clock_ticks_per_second;
use std::fs;
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
    thread: Thread,
}

impl Watch {
    /// Starts watching; called by the measuring thread.
    pub fn start(pinned: Option<u32>) -> Watch {
        Watch {
            pinned,
            machine: Machine::read(pinned),
            cost_ns: Thread::cost_ns(),
            thread: Thread::read(),
        }
    }

    /// What was used and what disturbed since the start, over `elapsed_ns` and so many exchanges.
    pub fn finish(
        &self,
        elapsed_ns: u64,
        exchanges: u64,
        gaps: ClockGaps,
    ) -> (ResourceUse, Vec<Disturbance>) {
        let (after, before) = (Thread::read(), &self.thread);
        let machine = Machine::read(self.pinned);
        let cpu_ns = (after.cpu_ns - before.cpu_ns).saturating_sub(self.cost_ns);
        let resources = ResourceUse {
            cpu_ns_per_exchange: cpu_ns as f64 / exchanges.max(1) as f64,
            voluntary_switches: after.voluntary - before.voluntary,
            involuntary_switches: after.involuntary - before.involuntary,
            run_delay_ns: after.run_delay_ns.saturating_sub(before.run_delay_ns),
            steal_ns: machine.steal_ns.saturating_sub(self.machine.steal_ns),
            minor_faults: after.faults - before.faults,
        };
        let mut disturbances = Vec::new();
        let elapsed = elapsed_ns.max(1) as f64;
        let processors = f64::from(super::state::processors());
        let steal = resources.steal_ns as f64 / (elapsed * processors);
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
            let busy = machine.pinned_busy_ns - self.machine.pinned_busy_ns;
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

/// The accounts of the machine: slow to read, so they are read outside those of the thread.
#[derive(Clone, Copy, Debug, Default)]
struct Machine {
    steal_ns: u64,
    pinned_busy_ns: u64,
}

impl Machine {
    fn read(pinned: Option<u32>) -> Machine {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        // Fields of a cpu line: user nice system idle iowait irq softirq steal (proc(5)), in ticks.
        let fields = |name: &str| -> Vec<u64> {
            let mut lines = stat.lines().map(str::split_whitespace);
            let line = lines.find_map(|mut line| (line.next() == Some(name)).then_some(line));
            line.map_or(Vec::new(), |line| {
                line.filter_map(|f| f.parse().ok()).collect()
            })
        };
        let busy = pinned.map(|cpu| fields(&format!("cpu{cpu}")));
        Machine {
            steal_ns: fields("cpu").get(7).copied().unwrap_or(0) * tick_ns(),
            // Interrupts are left out: on a pinned processor they are the measured link's own.
            pinned_busy_ns: busy.map_or(0, |f| f.iter().take(3).sum::<u64>() * tick_ns()),
        }
    }
}

/// The accounts of the calling thread.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    cpu_ns: u64,
    voluntary: u64,
    involuntary: u64,
    faults: u64,
    run_delay_ns: u64,
}

impl Thread {
    fn read() -> Thread {
        // Unlike getrusage, which counts in ticks on some kernels, this clock counts nanoseconds.
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: getrusage fills the rusage at the pointer; all-zero is valid should it fail.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        // Fields: time on the processor, time ready but waiting for it, slices (proc(5)).
        let run_delay_ns = fs::read_to_string("/proc/thread-self/schedstat")
            .ok()
            .and_then(|text| text.split_whitespace().nth(1)?.parse().ok())
            .unwrap_or(0);
        Thread {
            cpu_ns: cpu.tv_sec as u64 * 1_000_000_000 + cpu.tv_nsec as u64,
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            faults: usage.ru_minflt as u64,
            run_delay_ns,
        }
    }

    /// What it costs to read them, so that it is not charged to what is watched.
    fn cost_ns() -> u64 {
        let first = Thread::read();
        Thread::read().cpu_ns - first.cpu_ns
    }
}

fn tick_ns() -> u64 {
    1_000_000_000 / clock_ticks_per_second().max(1)
}
