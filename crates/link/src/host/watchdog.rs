//! Ends a real-time thread that no longer comes round. A thread at a real-time priority that spins
//! can keep everything else from its processor, the user's Ctrl-C included; this one, two priorities
//! above, looks after it.

use super::platform::{ordinary, real_time, thread_number};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(100);

/// What the watched thread tells of itself.
#[derive(Default)]
pub struct Heartbeat {
    thread: AtomicI32,
    beats: AtomicU64,
}

impl Heartbeat {
    /// Called by the thread itself: it is to be watched from now on.
    pub fn here(&self) {
        self.thread.store(thread_number(), Ordering::Release);
    }

    /// Called by the thread itself: it waits for nobody and may rest.
    pub fn pause(&self) {
        self.thread.store(0, Ordering::Release);
    }

    /// Called by the thread itself each time it comes round: one store.
    #[inline]
    pub fn beat(&self, count: u64) {
        self.beats.store(count, Ordering::Relaxed);
    }
}

/// Watches until `over`. A thread that has not come round for `timeout` loses its real-time
/// priority, and `halt` is raised. Returns whether that was needed.
pub fn watch(
    heartbeat: &Heartbeat,
    priority: u8,
    timeout: Duration,
    halt: &AtomicBool,
    over: &AtomicBool,
) -> bool {
    // Above the watched one, and above a thread that plays its device a priority above it: a device
    // that is asked for more than it can move would keep the watchdog from ever looking. Where even
    // that is refused, it watches as well as it can.
    let _ = real_time(priority.saturating_add(2).min(99))
        .or_else(|_| real_time(priority.saturating_add(1).min(99)));
    let (mut seen, mut since) = (0, Instant::now());
    let mut needed = false;
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
        let thread = heartbeat.thread.load(Ordering::Acquire);
        let beats = heartbeat.beats.load(Ordering::Relaxed);
        if thread == 0 || beats != seen {
            (seen, since) = (beats, Instant::now());
        } else if since.elapsed() > timeout {
            halt.store(true, Ordering::Relaxed);
            ordinary(thread);
            needed = true;
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(timeout: Duration, work: impl FnOnce(&Heartbeat, &AtomicBool) + Send) -> bool {
        let (heartbeat, halt, over) = (
            Heartbeat::default(),
            AtomicBool::new(false),
            AtomicBool::new(false),
        );
        std::thread::scope(|scope| {
            let dog = scope.spawn(|| watch(&heartbeat, 1, timeout, &halt, &over));
            let worker = scope.spawn(|| {
                heartbeat.here();
                work(&heartbeat, &halt);
                heartbeat.pause();
            });
            worker.join().expect("works");
            over.store(true, Ordering::Relaxed);
            dog.join().expect("watches")
        })
    }

    #[test]
    fn a_thread_that_comes_round_is_left_alone() {
        let needed = watched(Duration::from_secs(5), |heartbeat, halt| {
            for beat in 0..50 {
                heartbeat.beat(beat);
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(!halt.load(Ordering::Relaxed));
        });
        assert!(!needed);
    }

    #[test]
    fn a_thread_that_hangs_is_halted() {
        let needed = watched(Duration::from_millis(200), |_, halt| {
            let begun = Instant::now();
            while !halt.load(Ordering::Relaxed) {
                assert!(begun.elapsed() < Duration::from_secs(60), "nobody halts it");
                std::hint::spin_loop();
            }
        });
        assert!(needed);
    }
}
