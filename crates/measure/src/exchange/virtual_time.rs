//! For tests: a clock that only sleeps, the calls of a link and, where it says so, its own reads advance.

use super::driver::{Control, Counters, Driver, LoopEnd};
use super::samples::{self, Kept};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wiregauge_link::Link;
use wiregauge_link::host::Time;
use wiregauge_record::{Plan, Sample};
use wiregauge_session::{BatchTrial, Generator, Measurement};

/// A clock that only sleeps, the calls of a link and its own reads advance.
#[derive(Clone, Default)]
pub struct VirtualClock {
    ns: Arc<AtomicU64>,
    /// What a read of it takes; usually nothing.
    read_ns: u64,
}

impl VirtualClock {
    /// A clock that takes so long to read: a loop that only reads it comes to an end.
    pub fn with_reads_of(read_ns: u64) -> VirtualClock {
        VirtualClock {
            read_ns,
            ..VirtualClock::default()
        }
    }

    /// Lets time pass; returns the time afterwards.
    pub fn advance(&self, ns: u64) -> u64 {
        self.ns.fetch_add(ns, Ordering::Relaxed) + ns
    }
}

impl Time for VirtualClock {
    fn now(&self) -> u64 {
        self.advance(self.read_ns)
    }

    fn sleep_until(&self, at_ns: u64) {
        self.ns.fetch_max(at_ns, Ordering::Relaxed);
    }
}

/// Measures the only point of a plan over this link, which carries datagrams or a stream; returns the end, what was
/// counted, and the rows.
pub fn measure<C: Generator>(
    (link, datagram): (&mut dyn Link, bool),
    plan: &Plan,
    (codec, batch, trial): (C, usize, Option<BatchTrial>),
    clock: VirtualClock,
) -> (LoopEnd, Counters, Vec<Sample>) {
    let point = plan.points[0];
    let (mut log, mut drain) = samples::ring(1 << 16, Kept::None);
    let stop = AtomicBool::new(false);
    let control = Control {
        stop: &stop,
        sleeper: None,
    };
    let session = Measurement::new(plan, point, datagram, batch, codec).with_trial(trial);
    let context = (plan, point);
    let driver = Driver::new(link, datagram, session, context, control, &mut log, clock);
    let (end, counters) = driver.run();
    let mut rows = Vec::new();
    let _ = drain.take_all(|sample, _| {
        rows.push(*sample);
        Ok::<(), ()>(())
    });
    (end, counters, rows)
}
