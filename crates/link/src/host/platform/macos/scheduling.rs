//! Priorities of threads; never run on macOS, which has no call to pin a thread to a processor or to lock all memory of
//! a process.

use super::processors::processors;
use super::thread::by_number;
use crate::error::{LinkError, LinkErrorKind};
use std::io;

/// Policy and priority of a thread.
pub struct ThreadSettings {
    policy: libc::c_int,
    parameter: libc::sched_param,
}

impl ThreadSettings {
    /// Those of the calling thread.
    pub fn of_caller(_with_processors: bool) -> ThreadSettings {
        // SAFETY: it holds numbers only, for which all bytes zero are valid.
        let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
        let mut policy = libc::SCHED_OTHER;
        // SAFETY: both pointers are valid for the call; the thread is the calling one.
        unsafe { libc::pthread_getschedparam(libc::pthread_self(), &mut policy, &mut parameter) };
        ThreadSettings { policy, parameter }
    }

    /// Gives them to the calling thread.
    pub fn restore(&self) {
        // SAFETY: the pointer is valid for the call; the thread is the calling one.
        unsafe { libc::pthread_setschedparam(libc::pthread_self(), self.policy, &self.parameter) };
    }
}

/// Does nothing: macOS groups the timers of threads with an ordinary priority only.
pub fn use_precise_timers() {}

/// An error: macOS cannot.
pub fn lock_memory() -> Result<(), LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        "cannot lock memory (--lock-memory)",
        "macOS has no call that locks all memory of a process",
    )
    .hint("run without --lock-memory"))
}

/// An error: macOS cannot.
pub fn pin(cpu: u32) -> Result<(), LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        format!("cannot pin the measuring thread to CPU {cpu} (--pin)"),
        "macOS has no call that pins a thread to a processor",
    )
    .hint("run without --pin"))
}

/// Processors that the calling thread may run on: all.
pub fn allowed() -> Vec<u32> {
    (0..processors()).collect()
}

/// Does nothing: macOS chooses the processors of a thread itself.
pub fn set_allowed(_cpus: &[u32]) {}

/// True if there is one processor only.
pub fn shares_callers_only_processor(_thread: i32) -> bool {
    processors() == 1
}

/// Gives the calling thread a SCHED_FIFO priority: macOS has fewer, so those of 1 to 99 are spread over them.
pub fn real_time(priority: u8) -> Result<(), LinkError> {
    // SAFETY: both take a number and return one.
    let (lowest, highest) = unsafe {
        (
            libc::sched_get_priority_min(libc::SCHED_FIFO),
            libc::sched_get_priority_max(libc::SCHED_FIFO),
        )
    };
    let part = libc::c_int::from(priority.clamp(1, 99) - 1);
    let wanted = lowest + (highest - lowest) * part / 98;
    // SAFETY: the thread is the calling one.
    match set(unsafe { libc::pthread_self() }, libc::SCHED_FIFO, wanted) {
        0 => Ok(()),
        code => Err(LinkError::from_io(
            format!("cannot set real-time priority {priority} (--priority, SCHED_FIFO)"),
            &io::Error::from_raw_os_error(code),
        )
        .hint("run as root, or without --priority")),
    }
}

/// Takes its real-time priority from a thread of this process.
pub fn ordinary(thread: i32) {
    if let Some(thread) = by_number(thread) {
        set(thread, libc::SCHED_OTHER, 31);
    }
}

/// Gives a thread the highest priority, if the calling one has a real-time one. False if it could still keep the thread
/// from running.
pub fn outrank_caller(thread: i32) -> bool {
    let own = ThreadSettings::of_caller(false);
    if own.policy == libc::SCHED_OTHER {
        return true;
    }
    // SAFETY: it takes a number and returns one.
    let highest = unsafe { libc::sched_get_priority_max(libc::SCHED_FIFO) };
    let set = by_number(thread).is_some_and(|thread| set(thread, libc::SCHED_FIFO, highest) == 0);
    set && (own.parameter.sched_priority < highest || processors() > 1)
}

/// Returns 0 or the system's error number.
fn set(thread: libc::pthread_t, policy: libc::c_int, priority: libc::c_int) -> libc::c_int {
    // SAFETY: it holds numbers only, for which all bytes zero are valid.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = priority;
    // SAFETY: the pointer is valid for the call; a thread that has ended is an error, no harm.
    unsafe { libc::pthread_setschedparam(thread, policy, &parameter) }
}

/// Policy and priority of the calling thread, in words.
pub fn policy() -> String {
    let settings = ThreadSettings::of_caller(false);
    let priority = settings.parameter.sched_priority;
    match settings.policy {
        libc::SCHED_FIFO => format!("SCHED_FIFO {priority}"),
        libc::SCHED_RR => format!("SCHED_RR {priority}"),
        _ => "SCHED_OTHER".into(),
    }
}
