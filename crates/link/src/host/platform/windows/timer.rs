//! Sleeping by the performance counter with a waitable timer. The high-resolution kind, since Windows 10 version 1803,
//! ends within about half a millisecond; the ordinary one with the next timer interrupt.

use super::clock::monotonic_ns;
use std::ptr::{null, null_mut};
use std::time::Duration;
use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CreateWaitableTimerExW, INFINITE, SetWaitableTimer,
    TIMER_ALL_ACCESS, WaitForSingleObjectEx,
};

/// A timer of one thread.
struct Timer(HANDLE);

impl Timer {
    fn new() -> Option<Timer> {
        [CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, 0]
            .into_iter()
            // SAFETY: without attributes and a name, it takes two numbers; the handle is closed when the timer is dropped.
            .map(|flags| unsafe { CreateWaitableTimerExW(null(), null(), flags, TIMER_ALL_ACCESS) })
            .find(|timer| !timer.is_null())
            .map(Timer)
    }

    /// Sleeps for so long. Returns false if the thread was woken before, or the timer cannot be set.
    fn sleep(&self, ns: u64) -> bool {
        // Negative: from now on, in units of 100 ns.
        let due = -i64::try_from(ns.div_ceil(100)).unwrap_or(i64::MAX);
        // SAFETY: the handle is that of a timer which lives; the pointer to the due time is valid for the call, and
        // there is no routine.
        unsafe {
            SetWaitableTimer(self.0, &due, 0, None, null_mut(), 0) != 0
                && WaitForSingleObjectEx(self.0, INFINITE, 1) == WAIT_OBJECT_0
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the handle was made by `new` and is used by nobody any more.
        unsafe { CloseHandle(self.0) };
    }
}

thread_local! {
    static TIMER: Option<Timer> = Timer::new();
}

/// Sleeps until the performance counter reads `at_ns`; returns early when the thread is woken.
pub fn sleep_until(at_ns: u64) {
    loop {
        let left = at_ns.saturating_sub(monotonic_ns());
        if left == 0 {
            return;
        }
        // None: a thread that ends has no timer any more, and a system short of handles makes none.
        let slept = TIMER.try_with(|timer| timer.as_ref().map(|timer| timer.sleep(left)));
        match slept.ok().flatten() {
            // The timer's clock and the counter may differ a little: what is left is slept too.
            Some(true) => {}
            Some(false) => return,
            None => std::thread::sleep(Duration::from_nanos(left)),
        }
    }
}
