//! Sleeping on a word of memory (WaitOnAddress). Nothing but a wake-up ends such a wait, so one without a bound ends
//! now and then for its caller to look up. The bound counts in milliseconds.

use super::clock::monotonic_ns;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use windows_sys::Win32::System::Threading::{WaitOnAddress, WakeByAddressSingle};

/// How long a wait without a bound lasts: the time after which a link looks whether it is to stop.
const LONGEST_MS: u32 = 100;

/// Sleeps while the word is `expected`, at most this long. False if the time ended it.
pub fn wait(word: &AtomicU32, expected: u32, at_most: Option<Duration>) -> bool {
    let ms = at_most.map_or(LONGEST_MS, |time| {
        let ms = time.as_nanos().div_ceil(1_000_000);
        // All bits set would be a wait without end.
        u32::try_from(ms).unwrap_or(u32::MAX).min(u32::MAX - 1)
    });
    // SAFETY: both pointers are valid for the call and point to four bytes.
    unsafe {
        WaitOnAddress(
            word.as_ptr().cast(),
            (&raw const expected).cast(),
            size_of::<u32>(),
            ms,
        ) != 0
    }
}

/// Wakes one thread of this process that waits.
pub fn wake(word: &AtomicU32) {
    // SAFETY: the address is only looked up among those that threads wait for.
    unsafe { WakeByAddressSingle(word.as_ptr().cast()) };
}

/// Sleeps while the word is `expected`, until the performance counter reads `at_ns`. A thread of another process
/// cannot end it.
pub fn wait_shared_until(word: &AtomicU32, expected: u32, at_ns: u64) {
    let left = at_ns.saturating_sub(monotonic_ns());
    if left > 0 {
        wait(word, expected, Some(Duration::from_nanos(left)));
    }
}

/// Wakes one thread of this process that waits.
pub fn wake_shared(word: &AtomicU32) {
    wake(word);
}
