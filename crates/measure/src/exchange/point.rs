//! One point on an open link: the protocol's codec, the loop, and the kernel's accounts of just that.

use super::driver::{Control, Counters, Driver, LoopEnd};
use super::instrument;
use super::samples::{self, Kept, SampleLog};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use wiregauge_link::host::{self, Watch};
use wiregauge_link::{Link, LinkError};
use wiregauge_record::{
    BatchTrial, CanCounts, Connect, Disturbance, Ending, Plan, Point, Protocol, ResourceUse,
    Sample, Surplus,
};
use wiregauge_session::{Echo, Exchange, Generator, Lines, Measurement, Modbus, Query};

/// What one point's loop leaves behind.
pub struct PointEnd {
    /// How it ended.
    pub ending: Ending,
    /// The failure, if it failed.
    pub error: Option<LinkError>,
    /// Bytes that belong to no answer.
    pub stray_bytes: u64,
    /// What the trial of batches has found.
    pub batch: Option<BatchTrial>,
    /// What the device sent behind each answer.
    pub surplus: Option<Surplus>,
    /// What the error queue of an instrument holds.
    pub instrument_errors: Vec<String>,
    /// What a CAN link counted.
    pub can: Option<CanCounts>,
    /// What the measuring thread used.
    pub resources: ResourceUse,
    /// What disturbed it.
    pub disturbances: Vec<Disturbance>,
}

/// What of a link the engine must know.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Each send is one message.
    pub datagram: bool,
    /// Requests handed over in one call at most; `None`: all, or what a trial finds to be faster.
    pub batch: Option<usize>,
}

/// Measures one point, whose exchange 0 has the number `base`; returns its end and how many numbers it used.
pub fn measure_point(
    link: &mut dyn Link,
    shape: Shape,
    plan: &Plan,
    (point, base): (Point, u64),
    control: Control<'_>,
    log: &mut SampleLog,
) -> (PointEnd, u64) {
    let stalls_before = log.stalls();
    let halts_before = link.stalls();
    let Shape { datagram, batch } = shape;
    let trial = match batch {
        // A trial would shift which query is whose.
        None if !datagram && plan.queries.is_none() => {
            wiregauge_session::BatchTrial::of(plan, point.depth)
        }
        _ => None,
    };
    let batch = batch.unwrap_or(usize::MAX);
    let (out, in_) = (point.out_bytes, point.in_bytes);
    let ready = Ready {
        link: &mut *link,
        datagram,
        batch,
        trial,
        context: (plan, point),
        control,
        log: &mut *log,
    };
    let queries = || plan.queries.as_ref().expect(CHECKED);
    let (end, counters, resources, mut disturbances) = match plan.protocol {
        Protocol::Wiregauge => ready.run(Exchange::new(base, out, in_, datagram)),
        Protocol::Echo => ready.run(Echo::new(base, out, datagram)),
        Protocol::Lines => ready.run(Lines::new(base, out, in_, datagram)),
        Protocol::Text | Protocol::Scpi | Protocol::GetStatus => {
            ready.run(Query::new(queries(), datagram).expect(CHECKED))
        }
        Protocol::Modbus => ready.run(Modbus::new(base, queries(), datagram).expect(CHECKED)),
    };
    let stalls = log.stalls() - stalls_before;
    if stalls > 0 {
        disturbances.push(Disturbance::StorageTooSlow { times: stalls });
    }
    let halts = link.stalls() - halts_before;
    if halts > 0 {
        disturbances.push(Disturbance::EndpointStalled { times: halts });
    }
    let can = link.can_counts();
    let (ending, error) = match end {
        LoopEnd::Complete => (Ending::Complete, None),
        LoopEnd::Stopped => (Ending::Interrupted, None),
        LoopEnd::Failed(error) => (
            Ending::LinkFailed {
                error: error.to_string(),
            },
            Some(error),
        ),
    };
    let reads_errors = plan.protocol == Protocol::Scpi && plan.connect == Connect::Once;
    let instrument_errors = match reads_errors && error.is_none() {
        true => {
            let timeout = Duration::from_nanos(plan.timeout_ns);
            instrument::error_queue(link, datagram, timeout)
        }
        false => Vec::new(),
    };
    let stray_bytes = counters.stray_bytes;
    let batch = counters.batch;
    let surplus = counters.surplus;
    (
        PointEnd {
            ending,
            error,
            stray_bytes,
            batch,
            surplus,
            instrument_errors,
            can,
            resources,
            disturbances,
        },
        counters.exchanges,
    )
}

/// Why the queries of a plan cannot be wrong here.
const CHECKED: &str = "the queries were checked before the link was opened";

/// All that a loop needs but its protocol.
struct Ready<'a> {
    link: &'a mut dyn Link,
    datagram: bool,
    batch: usize,
    trial: Option<wiregauge_session::BatchTrial>,
    context: (&'a Plan, Point),
    control: Control<'a>,
    log: &'a mut SampleLog,
}

impl Ready<'_> {
    /// Runs the loop, and keeps the kernel's accounts of just that.
    fn run<C: Generator>(self, codec: C) -> (LoopEnd, Counters, ResourceUse, Vec<Disturbance>) {
        let (plan, point) = self.context;
        let session = Measurement::new(plan, point, self.datagram, self.batch, codec);
        let session = session.with_trial(self.trial);
        let clock = host::Clock::start();
        self.log.set_zero(clock.zero_ns());
        let ready = Driver::new(
            self.link,
            self.datagram,
            session,
            self.context,
            self.control,
            self.log,
            clock,
        );
        let watch = Watch::start(ready.pinned(), None);
        let begun = host::Clock::start();
        let (end, counters) = ready.run();
        let (resources, disturbances) =
            watch.finish(begun.now(), counters.exchanges, counters.gaps);
        (end, counters, resources, disturbances)
    }
}

/// Measures one point on an open link in the calling thread, and hands over its samples at the end.
pub fn measure_here(
    link: &mut dyn Link,
    datagram: bool,
    plan: &Plan,
    point: Point,
    mut take: impl FnMut(&Sample),
) -> PointEnd {
    let exchanges = plan.exchanges_per_point().unwrap_or(0);
    let (mut log, mut drain) = samples::ring(2 * exchanges + 64, Kept::None);
    let stop = AtomicBool::new(false);
    let control = Control {
        stop: &stop,
        sleeper: None,
    };
    let shape = Shape {
        datagram,
        batch: None,
    };
    let (end, _) = measure_point(link, shape, plan, (point, 0), control, &mut log);
    let _ = drain.take_all(|sample, _| {
        take(sample);
        Ok::<(), ()>(())
    });
    end
}
