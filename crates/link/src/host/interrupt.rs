//! Waking a thread that sleeps in a receive. A receive without a timeout spares the kernel a timer,
//! which would be in every RTT; so the thread that looks after the measuring one sends it a signal
//! when nothing has moved for a while. While exchanges flow no signal is sent.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Ignored by default, and used by nobody else for anything that a handler would lose (signal(7)).
const SIGNAL: libc::c_int = libc::SIGURG;

/// The thread that may be woken.
#[derive(Default)]
pub struct Interrupter {
    thread: AtomicI32,
    asleep: AtomicBool,
}

/// The signal is heeded while one of these lives; after the last of them, what was there before is put
/// back. Several runs may go on at once, and end in any order.
pub struct SignalGuard(());

/// How many runs heed the signal, and what it did before the first of them.
static HEEDED: Mutex<(usize, Option<libc::sigaction>)> = Mutex::new((0, None));

extern "C" fn nothing(_signal: libc::c_int) {}

impl SignalGuard {
    /// Lets the signal interrupt system calls of this process, which it does not by default.
    pub fn begin() -> SignalGuard {
        let mut heeded = HEEDED.lock().unwrap_or_else(PoisonError::into_inner);
        heeded.0 += 1;
        if heeded.0 == 1 {
            // SAFETY: all-zero is a valid sigaction: no flags, an empty mask. Without SA_RESTART the
            // interrupted call returns. The handler does nothing, so it may run at any time.
            let before = unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut before: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
                libc::sigaction(SIGNAL, &action, &mut before);
                before
            };
            heeded.1 = Some(before);
        }
        SignalGuard(())
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        let mut heeded = HEEDED.lock().unwrap_or_else(PoisonError::into_inner);
        heeded.0 -= 1;
        if heeded.0 == 0
            && let Some(before) = heeded.1.take()
        {
            // SAFETY: `before` was filled by sigaction.
            unsafe { libc::sigaction(SIGNAL, &before, std::ptr::null_mut()) };
        }
    }
}

impl Interrupter {
    /// Called by the thread itself: it may be woken from now on.
    pub fn here(&self) {
        self.thread.store(
            rustix::thread::gettid().as_raw_nonzero().get(),
            Ordering::Release,
        );
    }

    /// Called by the thread itself before it ends: it may not be woken any more.
    pub fn gone(&self) {
        self.thread.store(0, Ordering::Release);
    }

    /// Called by the thread itself around a receive or a connect without a timeout.
    #[inline]
    pub fn sleeps<T>(&self, receive: impl FnOnce() -> T) -> T {
        self.asleep.store(true, Ordering::Relaxed);
        let received = receive();
        self.asleep.store(false, Ordering::Relaxed);
        received
    }

    /// Wakes it if it sleeps in a receive or a connect. A signal that comes just before it falls asleep is lost,
    /// so this is called again and again until something moves.
    pub fn wake_from_receive(&self) {
        if self.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Wakes it from whatever it waits for.
    pub fn wake(&self) {
        let thread = self.thread.load(Ordering::Acquire);
        if thread != 0 {
            let process = rustix::process::getpid().as_raw_nonzero().get();
            // SAFETY: tgkill takes three integers; a thread that has ended is an error, no harm.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, SIGNAL) };
        }
    }
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

    fn handler() -> libc::sighandler_t {
        // SAFETY: with no new action, sigaction only fills the other.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(SIGNAL, std::ptr::null(), &mut now);
            now.sa_sigaction
        }
    }

    #[test]
    fn the_signal_is_heeded_until_the_last_of_several_runs_ends() {
        let heeded = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
        let first = SignalGuard::begin();
        let second = SignalGuard::begin();
        drop(first);
        assert_eq!(handler(), heeded);
        drop(second);
        // Another test may be in a run just now; what is left must be one or the other.
        assert!([libc::SIG_DFL, heeded].contains(&handler()));
    }
}
