//! The signal that ends a system call of a thread.

use std::sync::{Mutex, PoisonError};

/// Ignored by default, and used by nobody else for anything that a handler would lose (signal(7)).
pub const SIGNAL: libc::c_int = libc::SIGURG;

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

#[cfg(test)]
mod tests {
    use super::*;

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
