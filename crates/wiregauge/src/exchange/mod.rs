//! Measures a plan: one thread measures, the caller's thread takes the samples away, point by
//! point, and between points nothing measures.

mod buffers;
mod calibrate;
mod check;
mod codec;
mod failures;
pub(crate) mod hello;
#[cfg(test)]
mod loop_tests;
mod measure;
mod samples;
mod window;

pub use check::check;
pub use samples::RING_SAMPLES;

use crate::crew::{self, Measurer, Signs, Watcher};
use crate::error::LinkError;
use crate::host::{self, Heeding, Sleeper, Watch};
use crate::limits::{self, Bus};
use crate::link::{Address, Kind, Link};
use crate::sink::{Opened, Progress, RunError, Sink};
use codec::{Codec, EchoDatagram, EchoStream, Framed};
use measure::{Ears, Loop, LoopEnd, Sights};
use samples::{SampleDrain, SampleLog};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wiregauge_record::{
    BusLimit, Calibration, Connect, Disturbance, Ending, Limit, Plan, Point, PointSummary,
    Protocol, ResourceUse, Sample, Summariser,
};

/// What takes the samples of a run.
pub type Taker<'a> = dyn Sink<Point = Point, Row = Sample, Summary = PointSummary> + 'a;

/// What one point's loop leaves behind.
pub struct PointEnd {
    /// How it ended.
    pub ending: Ending,
    /// The failure, if it failed.
    pub error: Option<LinkError>,
    /// Bytes that belong to no answer.
    pub stray_bytes: u64,
    /// What the measuring thread used.
    pub resources: ResourceUse,
    /// What disturbed it.
    pub disturbances: Vec<Disturbance>,
}

/// Words from the measuring thread, sent only between points.
enum Word {
    Opened(Box<Opened>, Option<BusLimit>, u64),
    PointEnded(Box<PointEnd>),
}

/// Measures the plan. Returns whether it ran to its end (true) or was stopped by the flag (false).
/// A failure after the link was open has first delivered every sample taken.
pub fn run(plan: &Plan, stop: &AtomicBool, sink: &mut Taker<'_>) -> Result<bool, RunError> {
    let address = check(plan)?;
    let (halt, sleeper, _heeding) = (AtomicBool::new(false), Sleeper::default(), Heeding::begin());
    let signs = Signs {
        stop,
        halt: &halt,
        sleeper: Some(&sleeper),
    };
    let longest = match plan.limit {
        Limit::Count(_) => plan.exchanges_per_point().unwrap_or(u64::MAX),
        Limit::DurationNs(_) => u64::MAX,
    };
    let widest = plan.points.iter().map(|point| point.in_bytes).max();
    // Further rows (late, duplicated) need a little room too.
    let room = longest.saturating_add(longest / 8).saturating_add(64);
    let (log, drain) = samples::ring(room, plan.keep_data.then_some(widest.unwrap_or(0)));
    crew::run(
        "measure",
        &plan.host,
        signs,
        |measurer| measuring_thread(plan, &address, log, (&halt, &sleeper), measurer),
        |watcher| {
            let caller = Caller {
                plan,
                sleeper: &sleeper,
                watcher,
            };
            caller.take(address.kind(), drain, sink)
        },
    )
}

/// The caller's side: takes the samples of the measuring thread, summarises them.
struct Caller<'a> {
    plan: &'a Plan,
    sleeper: &'a Sleeper,
    watcher: &'a Watcher<'a, Word, Point>,
}

impl Caller<'_> {
    /// A stopped run measures no floor.
    fn floor(&self, kind: &'static Kind) -> Option<Calibration> {
        let wanted = self.plan.calibrate && !self.watcher.is_stopped();
        wanted.then(|| calibrate::calibrate(kind, self.plan.wait, &self.plan.host))?
    }

    fn take(
        &self,
        kind: &'static Kind,
        mut drain: SampleDrain,
        sink: &mut Taker<'_>,
    ) -> io::Result<()> {
        let (mut opened, limit, open_ns) = loop {
            match self.watcher.listen() {
                Ok(Some(Word::Opened(opened, limit, open_ns))) => break (opened, limit, open_ns),
                Ok(_) => {}
                Err(crew::Gone) => return Ok(()),
            }
        };
        opened.calibration = self.floor(kind);
        sink.opened(&opened)?;
        let responder = opened.responder;
        for &point in &self.plan.points {
            if self.watcher.is_stopped() {
                return Ok(());
            }
            sink.begin_point(point)?;
            let mut summariser = Summariser::new(self.plan, point, responder.as_ref());
            self.watcher.go(point);
            let Some(end) = self.take_point(&mut drain, &mut summariser, sink)? else {
                return Ok(());
            };
            let opening = (point.index == 0).then_some(open_ns);
            let mut summary =
                summariser.finish(end.ending, end.stray_bytes, opening, end.resources);
            summary.disturbances = end.disturbances;
            summary.limit = limit.clone().map(|limit| used(limit, &summary));
            sink.end_point(summary)?;
            if end.error.is_some() {
                return Ok(());
            }
        }
        match self.floor(kind) {
            Some(calibration) => sink.calibrated_after(calibration),
            None => Ok(()),
        }
    }

    /// Takes the samples of one point until it ends; `None` if the measuring thread is gone.
    fn take_point(
        &self,
        drain: &mut SampleDrain,
        summariser: &mut Summariser,
        sink: &mut Taker<'_>,
    ) -> io::Result<Option<PointEnd>> {
        let begun = Instant::now();
        let (mut taken, mut moved_to) = (0, 0);
        let mut take = |drain: &mut SampleDrain, sink: &mut Taker<'_>| {
            drain.take_all(|sample, data| {
                summariser.push(sample);
                sink.row(sample, data)
            })
        };
        loop {
            match self.watcher.listen() {
                Ok(Some(Word::PointEnded(end))) => {
                    take(drain, sink)?;
                    return Ok(Some(*end));
                }
                Ok(_) => {}
                Err(crew::Gone) => return Ok(None),
            }
            if drain.is_pressing() {
                taken += take(drain, sink)?;
            }
            let ended = taken + drain.waiting() as u64;
            if ended == moved_to {
                self.sleeper.wake_from_receive();
            }
            moved_to = ended;
            let elapsed = begun.elapsed();
            sink.progress(Progress { ended, elapsed });
        }
    }
}

fn used(limit: BusLimit, summary: &PointSummary) -> BusLimit {
    let rate = &summary.throughput;
    let carried = if limit.shared {
        rate.out_bytes_s + rate.in_bytes_s
    } else {
        rate.out_bytes_s.max(rate.in_bytes_s)
    };
    BusLimit {
        used: carried / limit.bytes_s,
        ..limit
    }
}

/// The measuring thread: opens, introduces itself, and measures a point at each `may_go`.
fn measuring_thread(
    plan: &Plan,
    address: &Address,
    mut log: SampleLog,
    (halt, sleeper): (&AtomicBool, &Sleeper),
    measurer: &Measurer<Word, Point>,
) -> Result<(), LinkError> {
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let datagram = address.kind().datagram;
    if !address.kind().helped {
        host::own_descriptors();
    }
    host::apply(&plan.host)?;
    let clock = host::Clock::start();
    let mut link = address.open(&plan.link, timeout)?;
    let open_ns = clock.now();
    let responder = match plan.protocol {
        Protocol::Echo => None,
        Protocol::Wiregauge => {
            let responder =
                hello::hello(link.as_mut(), &plan.address, datagram, timeout, &mut || {
                    halt.load(Ordering::Relaxed)
                })?;
            check::check_limits(plan, &responder)?;
            Some(responder)
        }
    };
    let said = responder
        .as_ref()
        .and_then(|r| Bus::from_name(r.bus.as_deref()?));
    let limit = limits::narrower(link.limit(), said.map(Bus::limit));
    let opened = Opened {
        host: host::host_state(plan.host.lock_memory),
        link: link.detail(),
        responder,
        usb: link.usb_place(),
        warnings: Vec::new(),
        calibration: None,
    };
    if plan.connect == Connect::Each {
        link.close();
    }
    measurer.say(Word::Opened(Box::new(opened), limit, open_ns));
    let ears = Ears {
        stop: halt,
        sleeper: Some(sleeper),
    };
    let mut base = 0;
    while let Some(point) = measurer.next() {
        let (end, started) =
            measure_point(link.as_mut(), datagram, plan, point, base, ears, &mut log);
        // Far enough that no number of this point is near one of the next.
        base += started + (1 << 16);
        let error = end.error.clone();
        let interrupted = end.ending == Ending::Interrupted;
        measurer.say(Word::PointEnded(Box::new(end)));
        if let Some(error) = error {
            return Err(error);
        }
        if interrupted {
            return Ok(());
        }
    }
    Ok(())
}

/// Measures one point; returns its end and how many numbers it used.
fn measure_point(
    link: &mut dyn Link,
    datagram: bool,
    plan: &Plan,
    point: Point,
    base: u64,
    ears: Ears<'_>,
    log: &mut SampleLog,
) -> (PointEnd, u64) {
    let stalls_before = log.stalls();
    let halts_before = link.stalls();
    let out = point.out_bytes;
    let (end, sights, resources, mut disturbances) = match (plan.protocol, datagram) {
        (Protocol::Wiregauge, _) => {
            let codec = Framed::new(base, point.in_bytes, datagram);
            watched(Loop::new(link, datagram, codec, plan, point, ears, log))
        }
        (Protocol::Echo, false) => {
            let codec = EchoStream::new(base, out);
            watched(Loop::new(link, datagram, codec, plan, point, ears, log))
        }
        (Protocol::Echo, true) => {
            let codec = EchoDatagram::new(base, out);
            watched(Loop::new(link, datagram, codec, plan, point, ears, log))
        }
    };
    let stalls = log.stalls() - stalls_before;
    if stalls > 0 {
        disturbances.push(Disturbance::StorageTooSlow { times: stalls });
    }
    let halts = link.stalls() - halts_before;
    if halts > 0 {
        disturbances.push(Disturbance::EndpointStalled { times: halts });
    }
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
    let stray_bytes = sights.stray_bytes;
    (
        PointEnd {
            ending,
            error,
            stray_bytes,
            resources,
            disturbances,
        },
        sights.exchanges,
    )
}

/// Runs a loop that is laid out, and keeps the kernel's accounts of just that.
fn watched<C: Codec>(ready: Loop<'_, C>) -> (LoopEnd, Sights, ResourceUse, Vec<Disturbance>) {
    let watch = Watch::start(ready.pinned(), None);
    let begun = host::Clock::start();
    let (end, sights) = ready.run();
    let (resources, disturbances) = watch.finish(begun.now(), sights.exchanges, sights.gaps);
    (end, sights, resources, disturbances)
}

/// Measures one point on an open link in the calling thread, and hands over its samples at the end.
pub(crate) fn measure_here(
    link: &mut dyn Link,
    datagram: bool,
    plan: &Plan,
    point: Point,
    mut take: impl FnMut(&Sample),
) -> PointEnd {
    let exchanges = plan.exchanges_per_point().unwrap_or(0);
    let (mut log, mut drain) = samples::ring(2 * exchanges + 64, None);
    let stop = AtomicBool::new(false);
    let ears = Ears {
        stop: &stop,
        sleeper: None,
    };
    let (end, _) = measure_point(link, datagram, plan, point, 0, ears, &mut log);
    let _ = drain.take_all(|sample, _| {
        take(sample);
        Ok::<(), ()>(())
    });
    end
}
