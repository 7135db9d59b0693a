//! Threads of this process that other threads look after (proc(5)).

use super::scheduling::allowed;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::fs;
use std::time::Duration;

/// A new thread has run by then, even on a busy host.
const STARTED_MS: u32 = 100;

/// The thread of this process with this name, waited for if it was only just made.
pub fn find_thread(name: &str) -> Option<i32> {
    for _ in 0..STARTED_MS {
        if let Some(thread) = look(name) {
            return Some(thread);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

fn look(name: &str) -> Option<i32> {
    fs::read_dir("/proc/self/task")
        .ok()?
        .flatten()
        .find_map(|entry| {
            let comm = fs::read_to_string(entry.path().join("comm")).ok()?;
            let thread = entry.file_name().to_string_lossy().parse().ok()?;
            (comm.trim_end() == name).then_some(thread)
        })
}

/// Processor time in nanoseconds that a thread of this process has used; 0 if it has ended.
pub fn thread_cpu_ns_of(thread: i32) -> u64 {
    // The clock of a thread's processor time: include/linux/posix-timers_types.h, the thread's
    // number complemented, CPUCLOCK_PERTHREAD_MASK (4) and CPUCLOCK_SCHED (2).
    let clock = (!thread << 3) | 4 | 2;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for the call; a clock that does not exist is an error.
    match unsafe { libc::clock_gettime(clock, &mut time) } {
        0 => time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64,
        _ => 0,
    }
}

/// Gives a thread the priority above that of the calling one, if that has a real-time one; at the highest, moves it
/// to other processors. False if neither was possible.
pub fn outrank_caller(thread: i32) -> bool {
    let mut parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 is the calling thread; the pointer is valid for the call.
    let policy = unsafe {
        libc::sched_getparam(0, &mut parameter);
        libc::sched_getscheduler(0)
    };
    if policy != libc::SCHED_FIFO && policy != libc::SCHED_RR {
        return true;
    }
    // SAFETY: it takes an integer and returns one.
    let highest = unsafe { libc::sched_get_priority_max(libc::SCHED_FIFO) };
    let is_apart = parameter.sched_priority >= highest && leave_callers_processors(thread);
    let is_higher = parameter.sched_priority < highest;
    parameter.sched_priority = (parameter.sched_priority + 1).min(highest);
    // SAFETY: the pointer is valid for the call; a thread that has ended is an error.
    let set = unsafe { libc::sched_setscheduler(thread, libc::SCHED_FIFO, &parameter) };
    is_apart || (is_higher && set == 0)
}

/// True if a thread and the calling one may both run on one processor only, the same.
pub fn shares_callers_only_processor(thread: i32) -> bool {
    let own = sched_getaffinity(Pid::from_raw(thread));
    match (allowed().as_slice(), own) {
        (&[cpu], Ok(own)) => own.count() == 1 && own.is_set(cpu as usize),
        _ => false,
    }
}

fn leave_callers_processors(thread: i32) -> bool {
    let taken = allowed();
    let mut set = CpuSet::new();
    for cpu in (0..processors()).filter(|&cpu| !taken.contains(&(cpu as u32))) {
        set.set(cpu);
    }
    set.count() > 0 && sched_setaffinity(Pid::from_raw(thread), &set).is_ok()
}

/// Processors that are there, whoever may run on them.
fn processors() -> usize {
    fs::read_dir("/sys/devices/system/cpu").map_or(1, |entries| {
        entries
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                name.strip_prefix("cpu")
                    .is_some_and(|number| number.parse::<usize>().is_ok())
            })
            .count()
            .min(CpuSet::MAX_CPU)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Helper;
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    #[test]
    fn a_helper_is_found_by_name_and_its_processor_time_grows() {
        let (work, orders) = mpsc::channel::<()>();
        let (said, done) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("wg-test-helper".into())
            .spawn(move || {
                while orders.recv().is_ok() {
                    let sum = (0..3_000_000_u64).fold(0_u64, |a, b| a.rotate_left(1) ^ b);
                    said.send(sum).unwrap();
                }
            })
            .unwrap();
        work.send(()).unwrap();
        done.recv().unwrap();
        let helper = Helper::named("wg-test-helper").unwrap();
        let before = helper.cpu_ns();
        work.send(()).unwrap();
        done.recv().unwrap();
        assert!(helper.cpu_ns() > before && before > 0);
        drop(work);
        thread.join().unwrap();
        // The kernel wakes who joins before it takes the thread off its list.
        let until = Instant::now() + Duration::from_secs(10);
        while look("wg-test-helper").is_some() {
            assert!(Instant::now() < until, "a thread that has ended is found");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_helper_on_the_callers_only_processor_is_seen() {
        let everywhere = allowed();
        let (work, orders) = mpsc::channel::<()>();
        let pinned = std::thread::spawn(move || {
            let mut one = CpuSet::new();
            one.set(allowed()[0] as usize);
            sched_setaffinity(None, &one).unwrap();
            // A thread may run where the one may that made it.
            let thread = std::thread::Builder::new()
                .name("wg-test-shared".into())
                .spawn(move || orders.recv().is_err())
                .unwrap();
            let helper = Helper::named("wg-test-shared").unwrap();
            (helper, helper.shares_callers_only_processor(), thread)
        });
        let (helper, shares, thread) = pinned.join().unwrap();
        assert!(shares);
        // Seen from a thread that may run elsewhere it is not so.
        assert_eq!(
            helper.shares_callers_only_processor(),
            everywhere.len() == 1
        );
        drop(work);
        thread.join().unwrap();
    }
}
