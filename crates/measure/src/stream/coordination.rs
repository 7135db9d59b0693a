//! What the two threads of a point share: answers that came in, when the stream began, when it is over, and the
//! first failure.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_session::stream::{self, Answer, Heard};

/// Answers kept at most; there are as many as orders, a handful.
const ANSWERS: usize = 64;

/// Shared by the two threads of a point. While data flows only atomics are read.
pub struct Coordination<'a> {
    /// The clock of both; zero before the first order.
    pub clock: Clock,
    halt: &'a AtomicBool,
    begun_ns: &'a AtomicU64,
    stream_ns: AtomicU64,
    ending: AtomicBool,
    done: AtomicBool,
    failed: AtomicBool,
    heard_ns: AtomicU64,
    failure: Mutex<Option<LinkError>>,
    answers: Mutex<Vec<Answer>>,
    came: Condvar,
}

impl<'a> Coordination<'a> {
    /// For one point. What CLOCK_MONOTONIC reads as its stream begins goes to `begun_ns`.
    pub fn new(halt: &'a AtomicBool, begun_ns: &'a AtomicU64) -> Coordination<'a> {
        Coordination {
            clock: Clock::start(),
            halt,
            begun_ns,
            stream_ns: AtomicU64::new(0),
            ending: AtomicBool::new(false),
            done: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            heard_ns: AtomicU64::new(0),
            failure: Mutex::new(None),
            answers: Mutex::new(Vec::with_capacity(ANSWERS)),
            came: Condvar::new(),
        }
    }

    /// The stream begins now.
    pub fn begin(&self) {
        let now = self.clock.now().max(1);
        let first = self
            .stream_ns
            .compare_exchange(0, now, Ordering::AcqRel, Ordering::Acquire);
        if first.is_ok() {
            let begun_ns = self.clock.zero_ns() + now;
            self.begun_ns.store(begun_ns, Ordering::Release);
        }
    }

    /// When the stream began.
    #[inline]
    pub fn began_ns(&self) -> Option<u64> {
        match self.stream_ns.load(Ordering::Acquire) {
            0 => None,
            ns => Some(ns),
        }
    }

    /// The user wants an end.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// One of the two has failed.
    #[inline]
    pub fn is_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// From here on answers to END may stand in the stream.
    pub fn end(&self) {
        self.ending.store(true, Ordering::Release);
    }

    /// True once END is on its way.
    #[inline]
    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Nothing more is expected.
    pub fn finish(&self) {
        self.done.store(true, Ordering::Release);
    }

    /// True once nothing more is expected.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Notes a failure; the first one counts.
    pub fn fail(&self, error: LinkError) {
        locked(&self.failure).get_or_insert(error);
        self.failed.store(true, Ordering::Release);
        self.came.notify_all();
    }

    /// The first failure.
    pub fn failure(&self) -> Option<LinkError> {
        locked(&self.failure).clone()
    }

    /// Something was received.
    #[inline]
    pub fn received(&self, now_ns: u64) {
        self.heard_ns.store(now_ns, Ordering::Relaxed);
    }

    /// When something was last received.
    pub fn heard_ns(&self) -> u64 {
        self.heard_ns.load(Ordering::Relaxed)
    }

    /// Takes an answer; the one that begins the stream does so.
    pub fn deliver(&self, heard: Heard) {
        if heard.begins {
            self.begin();
        }
        if heard.is_last {
            self.finish();
        }
        let answer = heard.answer;
        let mut answers = locked(&self.answers);
        if answers.len() < ANSWERS {
            answers.push(answer);
        }
        drop(answers);
        self.came.notify_all();
    }

    /// Waits for the answer to an order, at most so long; returns early when something failed.
    pub fn answer(&self, sequence: u32, at_most: Duration) -> Option<Answer> {
        let answers = locked(&self.answers);
        let (mut answers, _) = self
            .came
            .wait_timeout_while(answers, at_most, |answers| {
                !self.is_failed() && !answers.iter().any(|a| a.header.sequence == sequence)
            })
            .unwrap_or_else(PoisonError::into_inner);
        let at = answers.iter().position(|a| a.header.sequence == sequence)?;
        Some(answers.swap_remove(at))
    }

    /// Sleeps until something failed or came, at most so long.
    pub fn sleep(&self, at_most: Duration) {
        if !self.is_failed() {
            let answers = locked(&self.answers);
            let _ = self.came.wait_timeout(answers, at_most);
        }
    }
}

impl stream::Coordination for Coordination<'_> {
    #[inline]
    fn is_stopped(&self) -> bool {
        self.is_stopped()
    }

    #[inline]
    fn is_failed(&self) -> bool {
        self.is_failed()
    }

    fn is_link_lost(&self) -> bool {
        let failure = self.failure();
        failure.is_some_and(|error| error.kind() != LinkErrorKind::Timeout)
    }

    fn began_ns(&self) -> Option<u64> {
        self.began_ns()
    }

    fn heard_ns(&self) -> u64 {
        self.heard_ns()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
