//! Waking a thread: an asynchronous procedure call ends its timed sleep, and a file operation that it waits for is
//! cancelled. A socket's receive is not ended by either; those have a timeout here.

use super::thread::Opened;
use windows_sys::Win32::System::IO::CancelSynchronousIo;
use windows_sys::Win32::System::Threading::{QueueUserAPC, THREAD_SET_CONTEXT, THREAD_TERMINATE};

/// Windows has no signals to prepare for.
pub struct SignalGuard(());

impl SignalGuard {
    /// Does nothing.
    pub fn begin() -> SignalGuard {
        SignalGuard(())
    }
}

extern "system" fn nothing(_: usize) {}

/// Wakes a thread of this process.
pub fn interrupt_thread(thread: i32) {
    // The right that cancelling needs has this name.
    let Some(opened) = Opened::new(thread, THREAD_SET_CONTEXT | THREAD_TERMINATE) else {
        return;
    };
    // SAFETY: the handle is valid; the procedure does nothing, so it may run whenever its thread waits. That nothing
    // was there to cancel is an error without harm.
    unsafe {
        QueueUserAPC(Some(nothing), opened.handle(), 0);
        CancelSynchronousIo(opened.handle());
    }
}
