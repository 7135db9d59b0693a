//! What the two ends of a stream share. Atomics only, so that each end may have a thread of its own.

use super::Heard;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What the two ends of a stream share.
#[derive(Debug)]
pub struct Shared<'a> {
    stop: &'a AtomicBool,
    /// 0: not yet.
    began_ns: AtomicU64,
    heard_ns: AtomicU64,
    held_ns: AtomicU64,
    enough: AtomicBool,
    ending: AtomicBool,
    done: AtomicBool,
    failed: AtomicBool,
    link_lost: AtomicBool,
}

impl<'a> Shared<'a> {
    /// For a stream that is to end early once `stop` is true.
    pub fn new(stop: &'a AtomicBool) -> Shared<'a> {
        Shared {
            stop,
            began_ns: AtomicU64::new(0),
            heard_ns: AtomicU64::new(0),
            held_ns: AtomicU64::new(0),
            enough: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            done: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            link_lost: AtomicBool::new(false),
        }
    }

    /// The user wants an end.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The stream begins now, unless it has begun; returns whether it does.
    pub fn begin(&self, now_ns: u64) -> bool {
        let began = &self.began_ns;
        let first = began.compare_exchange(0, now_ns.max(1), Ordering::AcqRel, Ordering::Acquire);
        first.is_ok()
    }

    /// When the stream began.
    #[inline]
    pub fn began_ns(&self) -> Option<u64> {
        match self.began_ns.load(Ordering::Acquire) {
            0 => None,
            ns => Some(ns),
        }
    }

    /// An answer came: it may begin the stream, or be the last thing that comes. Returns whether the stream begins.
    pub fn heard(&self, heard: &Heard, now_ns: u64) -> bool {
        if heard.is_last {
            self.finish();
        }
        heard.begins && self.begin(now_ns)
    }

    /// Something was received.
    #[inline]
    pub fn received(&self, now_ns: u64) {
        self.heard_ns.store(now_ns, Ordering::Relaxed);
    }

    /// When something was last received.
    #[inline]
    pub fn heard_ns(&self) -> u64 {
        self.heard_ns.load(Ordering::Relaxed)
    }

    /// This end cannot receive now: what it received has yet to be stored. The device is not silent meanwhile, and its
    /// answers wait.
    pub fn hold(&self, now_ns: u64) {
        self.received(now_ns);
        self.held_ns.store(now_ns, Ordering::Relaxed);
    }

    /// When this end last could not receive.
    pub(super) fn held_ns(&self) -> u64 {
        self.held_ns.load(Ordering::Relaxed)
    }

    /// As much was received as is wanted.
    pub fn enough(&self) {
        self.enough.store(true, Ordering::Release);
    }

    #[inline]
    pub(super) fn has_enough(&self) -> bool {
        self.enough.load(Ordering::Acquire)
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

    /// One of the two ends failed. `link_lost`: no order reaches the device any more.
    pub fn fail(&self, link_lost: bool) {
        self.link_lost.fetch_or(link_lost, Ordering::Release);
        self.failed.store(true, Ordering::Release);
    }

    /// True once one of the two ends failed.
    #[inline]
    pub fn is_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// True once the link failed.
    pub fn is_link_lost(&self) -> bool {
        self.link_lost.load(Ordering::Acquire)
    }
}
