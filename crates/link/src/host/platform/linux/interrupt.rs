//! Sending a thread the signal that wakes it, and a table of descriptors of its own.

use super::super::unix::SIGNAL;

/// Sends the signal to a thread of this process.
pub fn interrupt_thread(thread: i32) {
    let process = rustix::process::getpid().as_raw_nonzero().get();
    // SAFETY: tgkill takes three integers; a thread that has ended is an error, no harm.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, SIGNAL) };
}

/// Gives the calling thread a table of descriptors of its own, and an empty one. A descriptor in a
/// table that threads share costs a counted reference in every system call.
///
/// Descriptors opened by other threads cannot be used by this one afterwards, nor the other way
/// round; the caller opens what it needs later. Where the system refuses, nothing changes.
///
/// Signals of the process are blocked in this thread from then on: their handlers often write to a descriptor,
/// which the thread no longer has.
pub fn own_descriptors() {
    block_signals();
    // SAFETY: after it, this thread uses only descriptors that it opens itself (and the standard
    // three, which stay); the copies closed here are the thread's own, not those of the others.
    unsafe {
        if libc::unshare(libc::CLONE_FILES) == 0 {
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
        }
    }
}

/// Blocks every signal but the one that wakes the thread, and those that report its own faults.
fn block_signals() {
    let faults = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
    ];
    // SAFETY: sigfillset fills the set before anything reads it; the mask is that of this thread alone.
    unsafe {
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut blocked);
        for signal in faults.into_iter().chain([SIGNAL]) {
            libc::sigdelset(&mut blocked, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &blocked, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    static HANDLED: AtomicBool = AtomicBool::new(false);

    extern "C" fn handled(_signal: libc::c_int) {
        HANDLED.store(true, Ordering::Relaxed);
    }

    #[test]
    fn a_thread_with_descriptors_of_its_own_runs_no_signal_handler_of_the_process() {
        // SAFETY: the handler only stores to an atomic; raise sends the signal to the calling thread.
        let raise = || unsafe {
            libc::signal(libc::SIGUSR2, handled as *const () as libc::sighandler_t);
            libc::raise(libc::SIGUSR2);
            HANDLED.swap(false, Ordering::Relaxed)
        };
        let [before, after] = std::thread::spawn(move || {
            let before = raise();
            own_descriptors();
            [before, raise()]
        })
        .join()
        .expect("the thread ends");
        assert!(before, "a thread that shares its descriptors runs it");
        assert!(!after);
    }
}
