//! Measures a plan: one thread measures, the caller's thread takes the samples away, point by
//! point, and between points nothing measures.

mod buffers;
mod check;
mod codec;
mod failures;
mod hello;
#[cfg(test)]
mod loop_tests;
mod measure;
mod samples;
mod sink;
mod window;

pub use check::check;
pub use samples::RING_SAMPLES;
pub use sink::{Opened, Progress, RunError, Sink};

use crate::error::{LinkError, LinkErrorKind};
use crate::host::{self, Calibrator, Load, Watch};
use crate::limits::Bus;
use crate::link::{Address, Link};
use codec::{EchoDatagram, EchoStream, Framed};
use measure::{Loop, LoopEnd, Sights};
use samples::{SampleDrain, SampleLog};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use wiregauge_record::{
    BusLimit, Calibration, Connect, Disturbance, Ending, Limit, Plan, Point, PointSummary,
    Protocol, ResourceUse, Sample, Summariser,
};

/// How often the caller's thread looks after a point that runs.
const LOOK: Duration = Duration::from_millis(50);

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
    Calibrated(Option<Calibration>),
}

/// Measures the plan. Returns whether it ran to its end (true) or was stopped by the flag (false).
/// A failure after the link was open has first delivered every sample taken.
pub fn run(plan: &Plan, stop: &AtomicBool, sink: &mut dyn Sink) -> Result<bool, RunError> {
    let address = check(plan)?;
    let halt = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The load's threads are made before any priority is raised.
        let load = Load::start(plan.host.load);
        let longest = match plan.limit {
            Limit::Count(_) => plan.exchanges_per_point().unwrap_or(u64::MAX),
            Limit::DurationNs(_) => u64::MAX,
        };
        let widest = plan
            .points
            .iter()
            .map(|point| point.in_bytes)
            .max()
            .unwrap_or(0);
        // Further rows (late, duplicated) need a little room too.
        let room = longest.saturating_add(longest / 8).saturating_add(64);
        let (log, drain) = samples::ring(room, plan.keep_data.then_some(widest));
        let (say, words) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        let (address, halt) = (&address, &halt);
        let measuring = std::thread::Builder::new()
            .name("measure".into())
            .spawn_scoped(scope, move || {
                measuring_thread(plan, address, log, halt, &say, &may_go)
            })
            .map_err(|error| LinkError::from_io("starting the measuring thread", &error))?;
        if let Some(cpu) = plan.host.pin {
            host::keep_off(cpu);
        }
        let outcome = take(plan, stop, halt, &words, &go, drain, sink);
        halt.store(true, Ordering::Relaxed);
        drop((go, words));
        let measured = measuring.join().unwrap_or_else(|_| {
            Err(LinkError::new(
                LinkErrorKind::Io,
                "measuring",
                "the measuring thread panicked",
            ))
        });
        drop(load);
        match (outcome, measured) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Err(error)) => Err(error.into()),
            (Ok(()), Ok(())) => Ok(!stop.load(Ordering::Relaxed)),
        }
    })
}

/// The caller's side: samples, progress, summaries.
fn take(
    plan: &Plan,
    stop: &AtomicBool,
    halt: &AtomicBool,
    words: &mpsc::Receiver<Word>,
    go: &mpsc::Sender<()>,
    mut drain: SampleDrain,
    sink: &mut dyn Sink,
) -> io::Result<()> {
    let heed = || {
        if stop.load(Ordering::Relaxed) {
            halt.store(true, Ordering::Relaxed);
        }
    };
    let word = |words: &mpsc::Receiver<Word>| loop {
        heed();
        match words.recv_timeout(LOOK) {
            Ok(word) => return Some(word),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
        }
    };
    let Some(Word::Opened(opened, limit, open_ns)) = word(words) else {
        return Ok(());
    };
    sink.opened(&opened)?;
    let responder = opened.responder;
    for &point in &plan.points {
        heed();
        if halt.load(Ordering::Relaxed) {
            break;
        }
        sink.begin_point(point)?;
        let mut summariser = Summariser::new(plan, point, responder.as_ref());
        let begun = std::time::Instant::now();
        let mut ended = 0;
        let _ = go.send(());
        let end = loop {
            heed();
            match words.recv_timeout(LOOK) {
                Ok(Word::PointEnded(end)) => break end,
                Ok(_) | Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if drain.is_pressing() {
                ended += drain.take_all(|sample, data| {
                    summariser.push(sample);
                    sink.sample(sample, data)
                })?;
            }
            let waiting = drain.waiting() as u64;
            sink.progress(Progress {
                ended: ended + waiting,
                elapsed: begun.elapsed(),
            });
        };
        drain.take_all(|sample, data| {
            summariser.push(sample);
            sink.sample(sample, data)
        })?;
        let PointEnd {
            ending,
            stray_bytes,
            resources,
            disturbances,
            error,
        } = *end;
        let opening = (point.index == 0).then_some(open_ns);
        let mut summary = summariser.finish(ending, stray_bytes, opening, resources);
        summary.disturbances = disturbances;
        summary.limit = limit.clone().map(|limit| used(limit, &summary));
        sink.end_point(summary)?;
        if error.is_some() {
            return Ok(());
        }
    }
    let _ = go.send(());
    if let Some(Word::Calibrated(Some(calibration))) = word(words) {
        sink.calibrated_after(calibration)?;
    }
    Ok(())
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
    halt: &AtomicBool,
    say: &mpsc::Sender<Word>,
    may_go: &mpsc::Receiver<()>,
) -> Result<(), LinkError> {
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let datagram = address.kind().datagram;
    // Its echo threads must not inherit what is asked of this one.
    let calibrator = plan.calibrate.then(|| Calibrator::new(address.kind()));
    let mut calibrator = calibrator;
    host::apply(&plan.host)?;
    let clock = host::Clock::start();
    let mut link = address.open(&plan.link, timeout)?;
    let open_ns = clock.now();
    let responder = match plan.protocol {
        Protocol::Echo => None,
        Protocol::Wiregauge => {
            let responder = hello::hello(link.as_mut(), &plan.address, datagram, timeout)?;
            check::check_sizes(plan, &responder)?;
            Some(responder)
        }
    };
    let said = responder
        .as_ref()
        .and_then(|r| Bus::from_name(r.bus.as_deref()?));
    let limit = link.limit().or(said.map(Bus::limit));
    let opened = Opened {
        host: host::host_state(plan.host.lock_memory),
        link: link.detail(),
        responder,
        calibration: calibrator
            .as_mut()
            .map(|calibrator| calibrator.measure(plan.wait)),
    };
    if plan.connect == Connect::Each {
        link.close();
    }
    let _ = say.send(Word::Opened(Box::new(opened), limit, open_ns));
    let mut base = 0;
    for &point in &plan.points {
        if may_go.recv().is_err() {
            return Ok(());
        }
        let (end, started) =
            measure_point(link.as_mut(), datagram, plan, point, base, halt, &mut log);
        // Far enough that no number of this point is near one of the next.
        base += started + (1 << 16);
        let error = end.error.clone();
        let interrupted = end.ending == Ending::Interrupted;
        let _ = say.send(Word::PointEnded(Box::new(end)));
        if let Some(error) = error {
            return Err(error);
        }
        if interrupted {
            return Ok(());
        }
    }
    if may_go.recv().is_ok() && !halt.load(Ordering::Relaxed) {
        let after = calibrator
            .as_mut()
            .map(|calibrator| calibrator.measure(plan.wait));
        let _ = say.send(Word::Calibrated(after));
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
    stop: &AtomicBool,
    log: &mut SampleLog,
) -> (PointEnd, u64) {
    let stalls_before = log.stalls;
    let watch = Watch::start(plan.host.pin);
    let begun = host::Clock::start();
    let out = point.out_bytes;
    let (end, sights): (LoopEnd, Sights) = match (plan.protocol, datagram) {
        (Protocol::Wiregauge, _) => {
            let codec = Framed::new(base, point.in_bytes, datagram);
            Loop::new(link, datagram, codec, plan, point, stop, log).run()
        }
        (Protocol::Echo, false) => {
            let codec = EchoStream::new(base, out);
            Loop::new(link, datagram, codec, plan, point, stop, log).run()
        }
        (Protocol::Echo, true) => {
            let codec = EchoDatagram::new(base, out);
            Loop::new(link, datagram, codec, plan, point, stop, log).run()
        }
    };
    let (resources, mut disturbances) = watch.finish(begun.now(), sights.exchanges, sights.gaps);
    let stalls = log.stalls - stalls_before;
    if stalls > 0 {
        disturbances.push(Disturbance::StorageTooSlow { times: stalls });
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

/// Measures one point on an open link in the calling thread, and hands over its samples at the end.
pub(crate) fn measure_here(
    link: &mut dyn Link,
    datagram: bool,
    plan: &Plan,
    point: Point,
    base: u64,
    mut take: impl FnMut(&Sample),
) -> PointEnd {
    let exchanges = plan.exchanges_per_point().unwrap_or(0);
    let (mut log, mut drain) = samples::ring(2 * exchanges + 64, None);
    let stop = AtomicBool::new(false);
    let (end, _) = measure_point(link, datagram, plan, point, base, &stop, &mut log);
    let _ = drain.take_all(|sample, _| {
        take(sample);
        Ok::<(), ()>(())
    });
    end
}
