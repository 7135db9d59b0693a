//! A timer thread beside the loop, as a control: how late this host wakes up a thread that outranks the
//! loop by one priority, while the loop runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use wiregauge_link::host::{self, Clock};
use wiregauge_record::{HostPlan, LoopPlan, LoopPoint, LoopWait, TimerThread};
use wiregauge_stats::Series;

/// A timer more often than this would load the host that it measures.
const SHORTEST_NS: f64 = 100_000.0;

/// Runs the timer thread until `over`; called in a thread of its own, made before any priority was
/// raised. `clock` reads zero at the point's first sample; it ends too when `zero_ns` is no longer the clock's,
/// because the loop has ended: what its thread does then, to verify, is not to be measured. `None` if the priority was refused (the loop's own thread
/// tells) or nothing was measured.
pub(super) fn measure(
    plan: &LoopPlan,
    point: &LoopPoint,
    clock: &Clock,
    zero_ns: &AtomicU64,
    over: &AtomicBool,
) -> Option<TimerThread> {
    let loops = || zero_ns.load(Ordering::Relaxed) == clock.zero_ns();
    let pin = plan.host.pin.filter(|_| shares(plan.wait, point));
    let host = HostPlan {
        pin,
        lock_memory: false,
        priority: None,
        ..plan.host.clone()
    };
    host::apply(&host).ok()?;
    // Above the loop, so that what it waits for is the host, not the loop.
    if let Some(priority) = plan.host.priority {
        host::outrank(priority)?;
    }
    // Whole blocks, and half a one: away from the moments at which the loop itself is due.
    let block_ns = point.period_ns();
    let period_ns = (SHORTEST_NS / block_ns).ceil() * block_ns;
    let next = |now_ns: u64| (now_ns as f64 / period_ns).floor() + 1.0;
    let mut tick = next(clock.now());
    let mut late = Series::new();
    while loops() && !over.load(Ordering::Relaxed) {
        let due_ns = (tick * period_ns + 0.5 * block_ns) as u64;
        clock.sleep_until(due_ns);
        let now_ns = clock.now();
        if now_ns < due_ns || !loops() {
            // A signal; or the end.
            continue;
        }
        late.push(now_ns - due_ns);
        // After a long gap it goes on from here: what it slept through were not wake-ups.
        tick = next(now_ns).max(tick + 1.0);
    }
    Some(TimerThread {
        wake_up: late.distribution()?,
        cpu: pin,
    })
}

/// True if the timer thread can sit on the loop's own processor without meeting the loop: it is due in
/// the middle between two blocks, and the loop does not spin there. What stops that processor
/// then stops both.
fn shares(wait: LoopWait, point: &LoopPoint) -> bool {
    match wait {
        LoopWait::Sleep => true,
        LoopWait::Hybrid { margin_ns } => (4 * margin_ns) as f64 <= point.period_ns(),
        LoopWait::Spin => false,
    }
}

/// True where a timer thread finds a processor, beside the loop or on its own.
pub(super) fn has_room(wait: LoopWait, point: &LoopPoint) -> bool {
    shares(wait, point) || host::allowed().len() > 1
}

/// Waits until the point's start-up is over, which is left out here as well. The clock of the point, or
/// `None` if that was over before.
pub(super) fn settled(settle_ns: u64, zero_ns: &AtomicU64, over: &AtomicBool) -> Option<Clock> {
    while !over.load(Ordering::Relaxed) {
        let clock = Clock::from(zero_ns.load(Ordering::Relaxed));
        if clock.zero_ns() > 0 && clock.now() >= settle_ns {
            return Some(clock);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}
