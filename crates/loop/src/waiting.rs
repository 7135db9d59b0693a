//! Waiting for a moment of the monotonic clock: asleep, spinning, or first the one and then the other.

use std::sync::atomic::{AtomicBool, Ordering};
use wiregauge_link::host::Time;
use wiregauge_record::LoopWait;

/// A sleep is no longer than this, so that a raised flag is seen in time even where no signal comes.
const LONGEST_SLEEP_NS: u64 = 100_000_000;

/// Waits until `clock` reads `at_ns`; returns what it reads then, or `None` if `halt` was raised.
/// A moment that is past is not waited for: one look at the clock, no system call.
#[inline]
pub(super) fn wait_until(
    clock: &impl Time,
    how: LoopWait,
    at_ns: u64,
    halt: &AtomicBool,
) -> Option<u64> {
    let margin_ns = match how {
        LoopWait::Sleep => 0,
        LoopWait::Spin => u64::MAX,
        LoopWait::Hybrid { margin_ns } => margin_ns,
    };
    let wake_ns = at_ns.saturating_sub(margin_ns);
    let mut now_ns = clock.now();
    while now_ns < at_ns {
        if halt.load(Ordering::Relaxed) {
            return None;
        }
        if now_ns < wake_ns {
            clock.sleep_until(wake_ns.min(now_ns + LONGEST_SLEEP_NS));
        } else {
            std::hint::spin_loop();
        }
        now_ns = clock.now();
    }
    (!halt.load(Ordering::Relaxed)).then_some(now_ns)
}
