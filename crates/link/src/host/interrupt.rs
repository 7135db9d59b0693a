//! Waking a thread that sleeps in a receive. A receive without a timeout spares the kernel a timer,
//! which would be in every RTT; so the thread that looks after the measuring one sends it a signal
//! when nothing has moved for a while. While exchanges flow no signal is sent.

use super::platform;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

pub use super::platform::{SignalGuard, own_descriptors};

/// The thread that may be woken.
#[derive(Default)]
pub struct Interrupter {
    thread: AtomicI32,
    asleep: AtomicBool,
}

impl Interrupter {
    /// Called by the thread itself: it may be woken from now on.
    pub fn here(&self) {
        self.thread
            .store(platform::thread_number(), Ordering::Release);
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
            platform::interrupt_thread(thread);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Clock;
    use std::sync::mpsc;

    #[test]
    fn a_timed_sleep_ends_when_its_thread_is_woken() {
        let _guard = SignalGuard::begin();
        let interrupter = Interrupter::default();
        let (said, started) = mpsc::channel();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                let clock = Clock::start();
                interrupter.here();
                said.send(()).unwrap();
                clock.sleep_until(30_000_000_000);
                interrupter.gone();
                clock.now()
            });
            started.recv().unwrap();
            while !sleeper.is_finished() {
                interrupter.wake();
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            assert!(sleeper.join().unwrap() < 20_000_000_000);
        });
    }
}
