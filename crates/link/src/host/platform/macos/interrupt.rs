//! Sending a thread the signal that wakes it; never run on macOS.

use super::super::unix::SIGNAL;
use super::thread::by_number;

/// Sends the signal to a thread of this process.
pub fn interrupt_thread(thread: i32) {
    if let Some(thread) = by_number(thread) {
        // SAFETY: the thread was found a moment ago; one that has ended is an error, no harm.
        unsafe { libc::pthread_kill(thread, SIGNAL) };
    }
}
