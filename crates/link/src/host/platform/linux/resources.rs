//! The kernel's accounts of a thread and of the machine.

use crate::host::Helper;
use rustix::param::clock_ticks_per_second;
use std::fs;

/// The accounts of the machine: slow to read, so they are read outside those of the thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine {
    /// Time that the hypervisor took.
    pub steal_ns: u64,
    /// Processors that it was stolen from.
    processors: usize,
    /// Time that the processors worked.
    pub busy_ns: u64,
}

impl Machine {
    pub fn read(pinned: Option<u32>) -> Machine {
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
    pub fn steal_share_since(&self, before: &Machine, elapsed_ns: u64) -> f64 {
        let stolen = self.steal_ns.saturating_sub(before.steal_ns);
        stolen as f64 / (elapsed_ns.max(1) as f64 * self.processors as f64)
    }
}

/// The accounts of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thread {
    /// Processor time.
    pub cpu_ns: u64,
    /// Times that it began to wait.
    pub voluntary: u64,
    /// Times that another one was given its processor.
    pub involuntary: u64,
    /// Page faults without I/O.
    pub faults: u64,
    /// Time that it was ready but waited for a processor.
    pub run_delay_ns: u64,
}

impl Thread {
    pub fn read() -> Thread {
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
    pub fn and(self, other: Option<Helper>) -> Thread {
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
    pub fn cost_ns() -> u64 {
        let first = Thread::read();
        Thread::read().cpu_ns - first.cpu_ns
    }
}

pub fn tick_ns() -> u64 {
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
        // A processor that the kernel does not list.
        assert_eq!(share(Some(7)), 0.0);
    }
}
