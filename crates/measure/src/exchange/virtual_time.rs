//! For tests: a point measured in virtual time.

use super::driver::{Control, Counters, Driver, LoopEnd};
use super::samples::{self, Kept};
use std::sync::atomic::AtomicBool;
use wiregauge_link::Link;
use wiregauge_link::host::TestClock;
use wiregauge_record::{Plan, Sample};
use wiregauge_session::{BatchTrial, Generator, Measurement};

/// Measures the only point of a plan over this link, which carries datagrams or a stream; returns the end, what was
/// counted, and the rows.
pub fn measure<C: Generator>(
    (link, datagram): (&mut dyn Link, bool),
    plan: &Plan,
    (codec, batch, trial): (C, usize, Option<BatchTrial>),
    clock: TestClock,
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
