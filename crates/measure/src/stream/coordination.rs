//! What the two threads of a point share beyond [`Shared`]: answers that came in, waiting for them, the clock, and the
//! first failure.

use crate::runner::DISCONNECTED;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_session::stream::{Answer, Answers, Heard, Shared};

/// Shared by the two threads of a point. While data flows only atomics are read.
pub struct Coordination<'a> {
    /// The clock of both; zero before the first order.
    pub clock: Clock,
    shared: Shared<'a>,
    begun_ns: &'a AtomicU64,
    failure: Mutex<Option<LinkError>>,
    answers: Mutex<Answers>,
    came: Condvar,
}

impl<'a> Deref for Coordination<'a> {
    type Target = Shared<'a>;

    #[inline]
    fn deref(&self) -> &Shared<'a> {
        &self.shared
    }
}

impl<'a> Coordination<'a> {
    /// For one point. What CLOCK_MONOTONIC reads as its stream begins goes to `begun_ns`.
    pub fn new(halt: &'a AtomicBool, begun_ns: &'a AtomicU64) -> Coordination<'a> {
        Coordination {
            clock: Clock::start(),
            shared: Shared::new(halt),
            begun_ns,
            failure: Mutex::new(None),
            answers: Mutex::new(Answers::default()),
            came: Condvar::new(),
        }
    }

    /// The stream begins now: there is no device whose answer begins it.
    pub fn begin(&self) {
        let now = self.clock.now();
        if self.shared.begin(now) {
            self.note_begun(now);
        }
    }

    fn note_begun(&self, now: u64) {
        let begun_ns = self.clock.zero_ns() + now;
        self.begun_ns.store(begun_ns, Ordering::Release);
    }

    /// Notes a failure; the first one counts.
    pub fn fail(&self, error: LinkError) {
        let link_lost = error.kind() != LinkErrorKind::Timeout;
        locked(&self.failure).get_or_insert(error);
        self.shared.fail(link_lost);
        self.came.notify_all();
    }

    /// Notes that the system reported an error; the first failure counts.
    pub fn fail_io(&self, doing: String, error: &io::Error) {
        let error = LinkError::from_io(doing, error);
        self.fail(match error.kind() {
            LinkErrorKind::Disconnected => error.hint(DISCONNECTED),
            _ => error,
        });
    }

    /// Notes that a recording failed: the device is still there, so its stream is to be ended.
    pub fn fail_storage(&self, error: LinkError) {
        locked(&self.failure).get_or_insert(error);
        self.shared.fail(false);
        self.came.notify_all();
    }

    /// The first failure.
    pub fn failure(&self) -> Option<LinkError> {
        locked(&self.failure).clone()
    }

    /// Takes an answer; the one that begins the stream does so.
    pub fn deliver(&self, heard: Heard) {
        let now = self.clock.now();
        if self.shared.heard(&heard, now) {
            self.note_begun(now);
        }
        locked(&self.answers).put(heard.answer);
        self.came.notify_all();
    }

    /// Waits for the answer to an order, at most so long; returns early when something failed.
    pub fn answer(&self, sequence: u32, at_most: Duration) -> Option<Answer> {
        let mut answer = None;
        let answers = locked(&self.answers);
        let _answers = self
            .came
            .wait_timeout_while(answers, at_most, |answers| {
                answer = answers.take(sequence);
                answer.is_none() && !self.is_failed()
            })
            .unwrap_or_else(PoisonError::into_inner);
        answer
    }

    /// The device has ended the stream.
    pub fn enough(&self) {
        self.shared.enough();
        self.came.notify_all();
    }

    /// Sleeps until something failed or came, at most so long.
    pub fn sleep(&self, at_most: Duration) {
        if !self.is_failed() {
            let answers = locked(&self.answers);
            let _ = self.came.wait_timeout(answers, at_most);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
