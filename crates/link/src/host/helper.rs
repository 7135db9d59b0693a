//! A thread that a library keeps for itself: found by its name, so that its processor time can be
//! read and a real-time measuring thread is never left waiting for it.

use super::platform;

/// Such a thread.
#[derive(Clone, Copy, Debug)]
pub struct Helper {
    thread: i32,
}

impl Helper {
    /// The thread of this process with this name. A thread gives itself its name when it first runs,
    /// so one that was only just made is waited for; while this thread sleeps, it can run. None where the system
    /// does not list the threads of a process by name.
    pub fn named(name: &str) -> Option<Helper> {
        platform::find_thread(name).map(|thread| Helper { thread })
    }

    /// The calling thread, so that another one can tell its processor time.
    pub fn caller() -> Helper {
        Helper {
            thread: platform::thread_number(),
        }
    }

    /// Its number.
    pub fn thread(&self) -> i32 {
        self.thread
    }

    /// Processor time that it has used, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        platform::thread_cpu_ns_of(self.thread)
    }

    /// If the calling thread has a real-time priority, gives the helper the next higher one: on the
    /// same processor it could otherwise never run while the caller spins. At the highest priority
    /// it is moved to the other processors instead. False if there are none either: then a caller
    /// that spins must yield. What the system refuses is left.
    pub fn outrank_caller(&self) -> bool {
        platform::outrank_caller(self.thread)
    }

    /// True if it and the calling thread may both run on one processor only, the same.
    pub fn shares_callers_only_processor(&self) -> bool {
        platform::shares_callers_only_processor(self.thread)
    }
}
