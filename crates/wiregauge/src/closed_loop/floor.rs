//! The floor of a loop's latency on this host, measured while it runs: one block, and the longest
//! time by which a plain timer thread of the same priority wakes late.

use crate::host::{self, Clock};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_record::{HostPlan, LoopFloor, LoopPoint};
use wiregauge_stats::Series;

/// A timer more often than this would load the host that it measures.
const SHORTEST_NS: f64 = 100_000.0;

/// Runs the timer thread until `over`; called in a thread of its own, made before any priority was
/// raised. `None` if the priority was refused (the loop's own thread tells) or nothing was measured.
pub(super) fn measure(point: &LoopPoint, plan: &HostPlan, over: &AtomicBool) -> Option<LoopFloor> {
    let plan = HostPlan {
        // Beside the loop, not in its way.
        pin: None,
        lock_memory: false,
        ..plan.clone()
    };
    host::apply(&plan).ok()?;
    let period_ns = point.period_ns().max(SHORTEST_NS);
    let clock = Clock::start();
    let mut late = Series::new();
    // Half a block away from the moments at which the loop itself is due.
    let mut tick = 0.5;
    while !over.load(Ordering::Relaxed) {
        let due_ns = (tick * period_ns) as u64;
        clock.sleep_until(due_ns);
        let now_ns = clock.now();
        if now_ns < due_ns {
            // A signal.
            continue;
        }
        late.push(now_ns - due_ns);
        tick += 1.0;
        // After a long gap it goes on from here: what it slept through were not wake-ups.
        tick = tick.max((now_ns as f64 / period_ns).floor() + 0.5);
    }
    let wake_up = late.distribution()?;
    Some(LoopFloor {
        floor_ns: point.period_ns() + wake_up.max,
        wake_up,
    })
}

/// True where a timer thread finds a processor beside the loop.
pub(super) fn has_room(spins: bool) -> bool {
    !spins || host::allowed().len() > 1
}

/// How long after a point begins its floor is measured: the start-up is left out there as well.
pub(super) fn pause(settle_ns: u64, over: &AtomicBool) {
    let until = Clock::start();
    while until.now() < settle_ns && !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
