//! Linux and macOS.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

/// Error of a device that failed, such as a terminal that was closed: EIO.
pub const DEVICE_FAILED: i32 = libc::EIO;

/// Signals that come together are one: `timeout` sends its own twice, and a shell that loses its terminal sends SIGHUP
/// after the system did.
const TOGETHER_MS: u64 = 250;

/// When the first signal came, in milliseconds of the monotonic clock; 0: none did.
static FIRST_MS: AtomicU64 = AtomicU64::new(0);

/// Which one it was.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// Lets Ctrl-C, SIGTERM and SIGHUP (the terminal is closed) raise the flag; a second Ctrl-C or SIGTERM ends the program at
/// once. A program that was started with `nohup` goes on.
pub fn raise_on_ctrl_c(flag: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        let flag = Arc::clone(flag);
        // SAFETY: the action uses atomics, clock_gettime and signal-hook's own actions, which are all async-signal-safe.
        unsafe { low_level::register(signal, move || on_signal(signal, &flag))? };
    }
    Ok(())
}

/// Called in a signal handler.
fn on_signal(signal: i32, flag: &AtomicBool) {
    let now = now_ms();
    match FIRST_MS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {
            FIRST.store(signal, Ordering::Relaxed);
            flag.store(true, Ordering::Relaxed);
        }
        Err(first) if signal != SIGHUP && now.saturating_sub(first) >= TOGETHER_MS => {
            // Fails only for a signal without a default.
            let _ = low_level::emulate_default_handler(signal);
        }
        Err(_) => {}
    }
}

/// Name of the signal that raised the flag.
pub fn ended_by() -> Option<&'static str> {
    low_level::signal_name(FIRST.load(Ordering::Relaxed))
}

/// Milliseconds of the monotonic clock, at least 1.
fn now_ms() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000).max(1)
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: all bytes zero are a valid `sigaction`, and the call only writes the present one to it.
    let present = unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut present);
        present
    };
    present.sa_sigaction == libc::SIG_IGN
}

/// Does to this process what Ctrl-C does: the first time it ends with what it has, the second time at once.
pub fn end_as_ctrl_c_does() {
    // Fails only for an invalid signal number.
    let _ = low_level::raise(SIGTERM);
}
