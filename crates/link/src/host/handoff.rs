//! Work that is handed to the thread which uses a waker. While the owner sleeps, that thread does the
//! work itself instead of waking the owner for it: a switch of threads less each time.

use super::platform::futex;
use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

/// Not handed over: the owner has its work.
const HOME: u32 = 0;
/// Handed over; no thread is working on it.
const LENT: u32 = 1;
/// A thread is working on it.
const BUSY: u32 = 2;
/// A thread is working on it, and the waker was used meanwhile.
const BUSY_WOKEN: u32 = 3;
/// A thread is working on it, and the owner wants it back.
const BUSY_RECALLED: u32 = 4;

/// Returns true if it wants to be called again when the waker is used.
type Work<'a> = dyn FnMut() -> bool + Send + 'a;

/// A panic, which goes on in the owner's thread.
type Panic = Box<dyn Any + Send>;

/// What is lent, one piece of work at a time, by one thread.
pub struct Handoff {
    state: AtomicU32,
    /// 1 once the borrower has given the work back.
    returned: AtomicU32,
    place: UnsafeCell<Place>,
}

struct Place {
    /// Valid unless the state is HOME.
    work: Option<*mut Work<'static>>,
    panic: Option<Panic>,
}

// SAFETY: the place is reached only by the thread that took the state from HOME or LENT to BUSY, and by
// the owner while the state is HOME; the orderings make each see what the other wrote. The work is Send.
unsafe impl Send for Handoff {}
// SAFETY: as above.
unsafe impl Sync for Handoff {}

/// Who has the work when a thread stops working.
#[derive(PartialEq, Eq)]
enum Left {
    Lent,
    Home,
}

impl Handoff {
    /// A handoff, and the waker: the thread that uses it does the work.
    pub fn new() -> (Arc<Handoff>, Waker) {
        let handoff = Arc::new(Handoff {
            state: AtomicU32::new(HOME),
            returned: AtomicU32::new(0),
            place: UnsafeCell::new(Place {
                work: None,
                panic: None,
            }),
        });
        let waker = Waker::from(Arc::clone(&handoff));
        (handoff, waker)
    }

    /// Does the work here once, then sleeps while it is done by the thread that uses the waker, until it
    /// returns false, a signal comes or the time is over. A wake-up is never lost: if one comes during
    /// the work, it is done once more. It must not wait for that thread.
    pub fn lend(&self, at_most: Duration, work: &mut Work<'_>) {
        assert_eq!(
            self.state.load(Ordering::Acquire),
            HOME,
            "one piece of work at a time"
        );
        let work: *mut Work<'_> = work;
        // SAFETY: only the lifetime changes. This function does not return before the state is HOME
        // again, after which no other thread reaches the work; it cannot unwind in between.
        let work = unsafe { std::mem::transmute::<*mut Work<'_>, *mut Work<'static>>(work) };
        // SAFETY: the state is HOME, and only the owner takes it from there.
        unsafe { (*self.place.get()).work = Some(work) };
        self.returned.store(0, Ordering::Relaxed);
        self.state.store(BUSY, Ordering::Release);
        if self.attend() == Left::Lent {
            self.wait_for_return(at_most);
        }
        // SAFETY: the state is HOME again.
        let place = unsafe { &mut *self.place.get() };
        place.work = None;
        if let Some(panic) = place.panic.take() {
            resume_unwind(panic);
        }
    }

    fn wait_for_return(&self, at_most: Duration) {
        self.sleep(Some(at_most));
        if self.returned.load(Ordering::Acquire) == 1 {
            return;
        }
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let next = match state {
                LENT => HOME,
                BUSY | BUSY_WOKEN => BUSY_RECALLED,
                // Already on its way back.
                _ => break,
            };
            let order = (Ordering::AcqRel, Ordering::Acquire);
            match self.state.compare_exchange(state, next, order.0, order.1) {
                Ok(_) if next == HOME => return,
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        while self.returned.load(Ordering::Acquire) == 0 {
            self.sleep(None);
        }
    }

    fn sleep(&self, at_most: Option<Duration>) {
        futex::wait(&self.returned, 0, at_most);
    }

    /// Works. The caller has taken the state to BUSY.
    fn attend(&self) -> Left {
        loop {
            // SAFETY: whoever took the state to BUSY has the place for itself, and the owner, which
            // keeps what the pointer points to, waits.
            let place = unsafe { &mut *self.place.get() };
            let done = catch_unwind(AssertUnwindSafe(|| {
                // SAFETY: see above; it was set before the state left HOME.
                place.work.is_some_and(|work| unsafe { (*work)() })
            }));
            let goes_on = done.unwrap_or_else(|panic| {
                place.panic = Some(panic);
                false
            });
            let order = (Ordering::AcqRel, Ordering::Acquire);
            if goes_on {
                match self.state.compare_exchange(BUSY, LENT, order.0, order.1) {
                    Ok(_) => return Left::Lent,
                    Err(BUSY_WOKEN) => {
                        let again = self
                            .state
                            .compare_exchange(BUSY_WOKEN, BUSY, order.0, order.1);
                        if again.is_ok() {
                            continue;
                        }
                    }
                    Err(_) => {}
                }
            }
            self.state.store(HOME, Ordering::Release);
            return Left::Home;
        }
    }
}

impl Wake for Handoff {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let next = match state {
                LENT => BUSY,
                BUSY => BUSY_WOKEN,
                // The owner looks for itself, or the work is done once more anyway.
                _ => return,
            };
            let order = (Ordering::AcqRel, Ordering::Acquire);
            match self.state.compare_exchange(state, next, order.0, order.1) {
                Ok(_) if next == BUSY => break,
                Ok(_) => return,
                Err(now) => state = now,
            }
        }
        if self.attend() == Left::Home {
            self.returned.store(1, Ordering::Release);
            futex::wake(&self.returned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::thread::{self, ThreadId};

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn the_ringer_does_the_work_until_it_is_done() {
        let (handoff, waker) = Handoff::new();
        let stop = AtomicBool::new(false);
        let mut workers: Vec<ThreadId> = Vec::new();
        thread::scope(|scope| {
            let ringer = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    waker.wake_by_ref();
                }
            });
            let ringer = ringer.thread().id();
            handoff.lend(LONG, &mut || {
                workers.push(thread::current().id());
                workers.iter().filter(|&&id| id == ringer).count() < 1000
            });
            stop.store(true, Ordering::Relaxed);
            assert_eq!(workers[0], thread::current().id());
            assert_eq!(*workers.last().unwrap(), ringer);
        });
    }

    #[test]
    fn work_that_nobody_does_comes_back_when_the_time_is_over() {
        let (handoff, waker) = Handoff::new();
        let mut times = 0;
        for _ in 0..3 {
            handoff.lend(Duration::from_millis(2), &mut || {
                times += 1;
                true
            });
            // Not lent: nothing is done.
            waker.wake_by_ref();
        }
        assert_eq!(times, 3);
    }

    #[test]
    fn a_ringing_during_the_work_has_it_done_once_more() {
        let (handoff, waker) = Handoff::new();
        let mut times = 0;
        handoff.lend(LONG, &mut || {
            times += 1;
            waker.wake_by_ref();
            times < 5
        });
        assert_eq!(times, 5);
    }

    #[test]
    fn what_is_lent_is_back_when_lend_returns() {
        // The time runs out while another thread is at the work, again and again.
        let (handoff, waker) = Handoff::new();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        waker.wake_by_ref();
                    }
                });
            }
            let mut sum = 0_u64;
            for _ in 0..300 {
                let mut inside = 0_u64;
                handoff.lend(Duration::from_micros(200), &mut || {
                    inside += 1;
                    true
                });
                let seen = inside;
                thread::yield_now();
                assert_eq!(seen, inside);
                assert!(inside > 0);
                sum += inside;
            }
            stop.store(true, Ordering::Relaxed);
            assert!(sum > 300, "the other threads did nothing");
        });
    }

    #[test]
    fn a_panic_in_the_work_is_the_lenders() {
        let (handoff, waker) = Handoff::new();
        let shared = Arc::clone(&handoff);
        let ringer = thread::spawn(move || {
            while shared.returned.load(Ordering::Acquire) == 0 {
                waker.wake_by_ref();
                thread::yield_now();
            }
        });
        let owner = thread::current().id();
        let lent = catch_unwind(AssertUnwindSafe(|| {
            handoff.lend(LONG, &mut || {
                assert!(thread::current().id() == owner, "another thread works");
                true
            });
        }));
        assert!(lent.is_err());
        ringer.join().unwrap();
    }
}
