//! What the two threads of a point say to each other: orders that went out and answers that came in,
//! when the stream began, when it is over, and the first failure.

use crate::error::LinkError;
use crate::host::Clock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wiregauge_wire::{Response, StreamReport};

/// Answers kept at most; there are as many as orders, a handful.
const ANSWERS: usize = 64;

/// An answer to an order.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Its header.
    pub header: Response,
    /// What the device counted, where the order was END.
    pub report: Option<StreamReport>,
}

/// Shared by the two threads of a point. While data flows only atomics are read.
pub struct Talk<'a> {
    /// The clock of both; zero before the first order.
    pub clock: Clock,
    halt: &'a AtomicBool,
    /// Number of the order whose answer begins the stream.
    go_sequence: u32,
    /// Number of the order whose answer is the last thing that the device says.
    last_sequence: Option<u32>,
    go_ns: AtomicU64,
    ending: AtomicBool,
    done: AtomicBool,
    broken: AtomicBool,
    heard_ns: AtomicU64,
    failure: Mutex<Option<LinkError>>,
    answers: Mutex<Vec<Answer>>,
    came: Condvar,
}

impl<'a> Talk<'a> {
    /// For a point that begins with the answer to the order `go_sequence`, and after whose answer to
    /// the order `last_sequence` nothing more can come.
    pub fn new(halt: &'a AtomicBool, go_sequence: u32, last_sequence: Option<u32>) -> Talk<'a> {
        Talk {
            clock: Clock::start(),
            halt,
            go_sequence,
            last_sequence,
            go_ns: AtomicU64::new(0),
            ending: AtomicBool::new(false),
            done: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            heard_ns: AtomicU64::new(0),
            failure: Mutex::new(None),
            answers: Mutex::new(Vec::with_capacity(ANSWERS)),
            came: Condvar::new(),
        }
    }

    /// The stream begins now.
    pub fn go(&self) {
        let now = self.clock.now().max(1);
        let _ = self
            .go_ns
            .compare_exchange(0, now, Ordering::AcqRel, Ordering::Acquire);
    }

    /// When the stream began.
    #[inline]
    pub fn gone_ns(&self) -> Option<u64> {
        match self.go_ns.load(Ordering::Acquire) {
            0 => None,
            ns => Some(ns),
        }
    }

    /// The user wants an end.
    #[inline]
    pub fn halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// One of the two has failed.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
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
        self.broken.store(true, Ordering::Release);
        self.came.notify_all();
    }

    /// The first failure.
    pub fn failure(&self) -> Option<LinkError> {
        locked(&self.failure).clone()
    }

    /// Something was received.
    #[inline]
    pub fn heard(&self, now_ns: u64) {
        self.heard_ns.store(now_ns, Ordering::Relaxed);
    }

    /// When something was last received.
    pub fn last_heard_ns(&self) -> u64 {
        self.heard_ns.load(Ordering::Relaxed)
    }

    /// Takes an answer; the one that begins the stream does so.
    pub fn deliver(&self, answer: Answer) {
        if answer.header.sequence == self.go_sequence
            && answer.header.status == wiregauge_wire::Status::Ok
        {
            self.go();
        }
        if Some(answer.header.sequence) == self.last_sequence {
            self.finish();
        }
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
                !self.is_broken() && !answers.iter().any(|a| a.header.sequence == sequence)
            })
            .unwrap_or_else(PoisonError::into_inner);
        let at = answers.iter().position(|a| a.header.sequence == sequence)?;
        Some(answers.swap_remove(at))
    }

    /// Sleeps until something failed or came, at most so long.
    pub fn sleep(&self, at_most: Duration) {
        if !self.is_broken() {
            let answers = locked(&self.answers);
            let _ = self.came.wait_timeout(answers, at_most);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
