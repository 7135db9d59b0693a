//! What disturbed a point: the kernel's own accounts of the measuring thread, of its processor and
//! of the hypervisor, read right before and right after. A disturbed point is flagged, not dropped.

use super::helper::Helper;
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

/// The accounts of the machine: slow to read, so they are read outside those of the thread.
#[derive(Clone, Copy, Debug, Default)]
struct Machine {
    steal_ns: u64,
    /// Processors that it was stolen from.
    processors: usize,
    busy_ns: u64,
}

impl Machine {
    fn read(pinned: Option<u32>) -> Machine {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        Machine::of(&stat, pinned)
    }

    fn of(stat: &str, pinned: Option<u32>) -> Machine {
        // Fields of a cpu line: user nice system idle iowait irq softirq steal (proc(5)), in ticks.
        let fields = |name: &str| -> Vec<u64> {
            let mut lines = stat.lines().map(str::split_whitespace);
            let line = lines.find_map(|mut line| (line.next() == Some(name)).then_some(line));
            line.map_or(Vec::new(), |line| {
                line.filter_map(|f| f.parse().ok()).collect()
            })
        };
        // A thread that may move is charged what every processor lost, on average.
        let (times, processors) = match pinned {
            Some(cpu) => (fields(&format!("cpu{cpu}")), 1),
            None => {
                let lines = stat.lines().filter(|line| line.starts_with("cpu"));
                (fields("cpu"), lines.count().saturating_sub(1).max(1))
            }
        };
        Machine {
            steal_ns: times.get(7).copied().unwrap_or(0) * tick_ns(),
            processors,
            // Interrupts are left out: on a pinned processor they are the measured link's own.
            busy_ns: times.iter().take(3).sum::<u64>() * tick_ns(),
        }
    }

    /// Part of the time since then that the hypervisor took.
    fn steal_share_since(&self, before: &Machine, elapsed_ns: u64) -> f64 {
        let stolen = self.steal_ns.saturating_sub(before.steal_ns);
        stolen as f64 / (elapsed_ns.max(1) as f64 * self.processors as f64)
    }
}

/// The accounts of a thread.
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

    /// Those of another thread of this process. A thread that has ended has none.
    fn of(helper: Helper) -> Thread {
        let file = |name: &str| {
            let path = format!("/proc/self/task/{}/{name}", helper.thread());
            fs::read_to_string(path).unwrap_or_default()
        };
        let status = file("status");
        let switches = |name: &str| {
            let mut lines = status.lines().filter_map(|line| line.split_once(':'));
            let found = lines.find_map(|(key, value)| (key == name).then(|| value.trim().parse()));
            found.and_then(Result::ok).unwrap_or(0)
        };
        // What stands behind the name, which may contain spaces, begins with field 3; minor faults
        // are field 10 (proc(5)).
        let stat = file("stat");
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let schedstat = file("schedstat");
        let number = |text: &str, at: usize| {
            let field = text.split_whitespace().nth(at);
            field.and_then(|field| field.parse().ok()).unwrap_or(0)
        };
        Thread {
            cpu_ns: helper.cpu_ns(),
            voluntary: switches("voluntary_ctxt_switches"),
            involuntary: switches("nonvoluntary_ctxt_switches"),
            faults: number(fields, 7),
            run_delay_ns: number(&schedstat, 1),
        }
    }

    /// Together with another one.
    fn and(self, other: Option<Helper>) -> Thread {
        let other = other.map_or(Thread::default(), Thread::of);
        Thread {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
            faults: self.faults + other.faults,
            run_delay_ns: self.run_delay_ns + other.run_delay_ns,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn another_thread_is_charged_what_it_would_be_by_itself() {
        let (before, seen, after) = thread::spawn(|| {
            thread::sleep(Duration::from_millis(2));
            let helper = Helper::caller();
            let before = Thread::read();
            let seen = thread::spawn(move || Thread::of(helper)).join().unwrap();
            (before, seen, Thread::read())
        })
        .join()
        .unwrap();
        assert!(seen.voluntary > 0 && seen.cpu_ns > 0);
        let between =
            |field: fn(&Thread) -> u64| (field(&before)..=field(&after)).contains(&field(&seen));
        assert!(between(|t| t.cpu_ns), "{before:?} {seen:?} {after:?}");
        assert!(between(|t| t.voluntary), "{before:?} {seen:?} {after:?}");
        assert!(between(|t| t.involuntary), "{before:?} {seen:?} {after:?}");
        assert!(between(|t| t.faults), "{before:?} {seen:?} {after:?}");
        assert!(between(|t| t.run_delay_ns), "{before:?} {seen:?} {after:?}");
        let both = before.and(Some(Helper::caller()));
        assert!(both.cpu_ns > before.cpu_ns);
    }

    /// /proc/stat of two processors, of which so many ticks were stolen.
    fn stat(stolen: [u64; 2]) -> String {
        let [first, second] = stolen;
        let all = first + second;
        let rest = "10 20 30 400 5 6 7";
        format!("cpu {rest} {all} 0 0\ncpu0 {rest} {first} 0 0\ncpu1 {rest} {second} 0 0\n")
    }

    #[test]
    fn steal_is_that_of_the_processor_that_the_thread_is_pinned_to() {
        let share = |pinned| {
            let before = Machine::of(&stat([100, 200]), pinned);
            let after = Machine::of(&stat([110, 240]), pinned);
            after.steal_share_since(&before, 100 * tick_ns())
        };
        assert_eq!(share(Some(0)), 0.1);
        assert_eq!(share(Some(1)), 0.4);
        // Not pinned, it may have run on either.
        assert_eq!(share(None), 0.25);
        assert_eq!(
            share(Some(7)),
            0.0,
            "a processor that the kernel does not list"
        );
    }
}
