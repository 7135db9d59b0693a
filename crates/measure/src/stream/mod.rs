//! Streams: data that flows without waiting for answers. One thread opens the link and sends, one
//! receives; the caller's thread takes the rows away, point by point.

mod accounting;
mod check;
mod coordination;
mod plausible;
mod point;
mod receiver;
pub mod recording;
mod rows;
mod sender;
mod urbs;

pub use check::check;

use crate::hand_over::HandOver;
use crate::hello::hello;
use crate::ring::{self, Drain};
use crate::runner::{self, Measurer, StopFlags, Watcher};
use crate::sink::{Opened, Progress, RunError, Sink};
use crate::slices::{Seen, Slice, Slices};
use point::{Logs, PointEnd, Setting, stream_point};
use recording::{RecordFile, Recorder};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use urbs::Urbs;
use wiregauge_link::Address;
use wiregauge_link::host;
use wiregauge_link::limits::{self, Bus};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{
    Ending, StreamPlan, StreamPoint, StreamProtocol, StreamSummariser, StreamSummary, Transfer, Way,
};
use wiregauge_session::stream::ORDERS;

/// Rows of one way held in memory at most: 29 MB. A longer point is emptied to the sink while it
/// runs; half of this lasts for [`LOOK`] at five million transfers a second.
const RING_ROWS: usize = 1 << 19;

/// Words from the measuring thread, sent only between points.
enum Report {
    Opened(Box<Opened>),
    PointEnded(Box<PointEnd>),
}

/// The other ends of [`Logs`].
struct Drains {
    in_: Drain<Transfer>,
    out: Drain<Transfer>,
}

/// What takes the transfers of a run.
pub type Taker<'a> = dyn Sink<Point = StreamPoint, Row = Transfer, Summary = StreamSummary> + 'a;

/// Streams the points of a plan over its first link. Returns whether it ran to its end (true) or was
/// stopped by the flag (false). A failure after the link was open has first delivered every row.
pub fn run(plan: &StreamPlan, stop: &AtomicBool, sink: &mut Taker<'_>) -> Result<bool, RunError> {
    run_recording(plan, None, stop, sink)
}

/// As [`run`]; what the first point that receives receives is also written to a file, if there is one. Where the
/// storage fails, the run ends with its error after the rows are delivered.
pub fn run_recording(
    plan: &StreamPlan,
    file: Option<RecordFile>,
    stop: &AtomicBool,
    sink: &mut Taker<'_>,
) -> Result<bool, RunError> {
    let address = check(plan)?.swap_remove(0);
    let (halt, begun_ns) = (AtomicBool::new(false), AtomicU64::new(0));
    let flags = StopFlags {
        stop,
        halt: &halt,
        sleeper: None,
    };
    let rows = |way: Way| {
        let mut points = plan.points.iter();
        match points.any(|point| point.direction.ways().contains(&way)) {
            true => RING_ROWS,
            false => 1,
        }
    };
    let (in_log, in_drain) = ring::ring(rows(Way::In));
    let (out_log, out_drain) = ring::ring(rows(Way::Out));
    let recording = file.map(|file| Recorder::start(file, &plan.host));
    let (mut recorder, input) = recording.transpose()?.unzip();
    let logs = Logs {
        in_: in_log,
        out: out_log,
        record: input,
    };
    let drains = Drains {
        in_: in_drain,
        out: out_drain,
    };
    runner::run(
        "send",
        &plan.host,
        flags,
        |measurer| measuring_thread(plan, &address, logs, (&halt, &begun_ns), measurer),
        |watcher| {
            let caller = Caller {
                plan,
                begun_ns: &begun_ns,
                watcher,
                recorder: recorder.take(),
            };
            caller.take(drains, sink)
        },
    )
}

/// The caller's side: takes the rows of the measuring threads, summarises them.
struct Caller<'a> {
    plan: &'a StreamPlan,
    begun_ns: &'a AtomicU64,
    watcher: &'a Watcher<'a, Report, StreamPoint>,
    recorder: Option<Recorder>,
}

impl Caller<'_> {
    fn take(mut self, mut drains: Drains, sink: &mut Taker<'_>) -> io::Result<()> {
        let mut opened = loop {
            match self.watcher.receive() {
                Ok(Some(Report::Opened(opened))) => break opened,
                Ok(_) => {}
                Err(runner::Gone) => return Ok(()),
            }
        };
        let mut urbs = self.urbs(&mut opened);
        sink.opened(&opened)?;
        for &point in &self.plan.points {
            if self.watcher.is_stopped() {
                return Ok(());
            }
            sink.begin_point(point)?;
            let mut summariser = StreamSummariser::new(self.plan, point);
            if let Some(urbs) = &mut urbs {
                urbs.begin_point();
            }
            if let Some(recorder) = self.recorder.as_ref().filter(|_| receives(&point)) {
                recorder.begin();
            }
            self.watcher.go(point);
            let taken =
                self.take_point(&point, &mut drains, (&mut summariser, urbs.as_mut()), sink)?;
            let Some(mut end) = taken else {
                return Ok(());
            };
            let recorded = self.recorded(&mut end, sink);
            let mut summary = summariser.finish(end.ending, end.end_ns, &end.ways, end.resources);
            summary.disturbances = end.disturbances;
            summary
                .disturbances
                .extend(urbs.as_mut().and_then(Urbs::end_point));
            sink.end_point(summary)?;
            recorded?;
            if end.error.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Waits until what a point received is written. Its failure is returned.
    fn recorded(&mut self, end: &mut PointEnd, sink: &mut Taker<'_>) -> io::Result<()> {
        let Some(tapped) = end.tapped else {
            return Ok(());
        };
        let Some(recorder) = self.recorder.take() else {
            return Ok(());
        };
        let begun = Instant::now();
        let elapsed = Duration::from_nanos(self.plan.settle_ns + self.plan.duration_ns);
        let wait = || {
            sink.progress(Progress {
                ended: 0,
                elapsed: elapsed + begun.elapsed(),
            });
        };
        let (recording, written) = recorder.finish(tapped, || self.watcher.is_stopped(), wait);
        if let Some(flow) = end.ways.iter_mut().find(|flow| flow.way == Way::In) {
            flow.recording = Some(recording);
        }
        if let Err(error) = &written
            && end.error.is_none()
        {
            end.ending = Ending::LinkFailed {
                error: error.to_string(),
            };
        }
        written
    }

    /// Watches the URBs if that was asked for, and notes in what was opened how that went.
    fn urbs(&self, opened: &mut Opened) -> Option<Urbs> {
        if !self.plan.link.usbmon {
            return None;
        }
        let urbs = Urbs::watch(opened.usb);
        opened.link.settings.push(Urbs::setting(&urbs));
        urbs.map_err(|why| opened.warnings.push(why)).ok()
    }

    /// Takes the rows of one point until it ends; `None` if the measuring thread is gone.
    fn take_point(
        &self,
        point: &StreamPoint,
        drains: &mut Drains,
        (summariser, mut urbs): (&mut StreamSummariser, Option<&mut Urbs>),
        sink: &mut Taker<'_>,
    ) -> io::Result<Option<PointEnd>> {
        let begun = Instant::now();
        let mut taken = 0;
        let mut hand_over = HandOver::default();
        let mut slices = Slices::new(sink.slice_time());
        let (mut seen, mut bytes) = ([Seen::default(); 2], [0; 2]);
        let mut take = |drain: &mut Drain<Transfer>,
                        rows: usize,
                        urbs: &mut Option<&mut Urbs>,
                        sink: &mut Taker<'_>| {
            let begun_ns = self.begun_ns.load(Ordering::Acquire);
            drain.take_oldest(rows, |transfer| {
                let filled = urbs.as_mut().map(|urbs| urbs.fill(transfer, begun_ns));
                let transfer = filled.as_ref().unwrap_or(transfer);
                summariser.push(transfer);
                sink.row(transfer, &[])
            })
        };
        loop {
            match self.watcher.receive() {
                Ok(Some(Report::PointEnded(end))) => {
                    for drain in [&mut drains.in_, &mut drains.out] {
                        take(drain, drain.waiting(), &mut urbs, sink)?;
                    }
                    return Ok(Some(*end));
                }
                Ok(_) => {}
                Err(runner::Gone) => return Ok(None),
            }
            if let Some(urbs) = &mut urbs {
                urbs.look();
            }
            let mut both = [&mut drains.in_, &mut drains.out];
            let elapsed = begun.elapsed();
            let is_pressing = both.iter().any(|drain| drain.is_pressing());
            let is_due = hand_over.is_due(elapsed, is_pressing);
            // Those that come from now on stay in the rings until a slice has them.
            let waiting = both.each_ref().map(|drain| drain.waiting());
            let slice = slices.end(elapsed);
            if slices.are_shown() && (is_due || slice.is_some()) {
                for ((drain, seen), bytes) in both.iter_mut().zip(&mut seen).zip(&mut bytes) {
                    seen.rest(drain, |transfer| *bytes += u64::from(transfer.bytes));
                }
            }
            if let Some(length) = slice {
                let bytes = std::mem::take(&mut bytes);
                let rate = |bytes: u64| bytes as f64 / length.as_secs_f64();
                let rates = [(Way::In, "in", bytes[0]), (Way::Out, "out", bytes[1])];
                let measured = |&(way, ..): &(Way, _, _)| point.direction.ways().contains(&way);
                let figures = rates.into_iter().filter(measured);
                let figures = figures.map(|(_, name, bytes)| (name, rate(bytes)));
                sink.slice(Slice {
                    end: elapsed,
                    figures: figures.collect(),
                });
            }
            if is_due {
                for ((drain, seen), rows) in both.iter_mut().zip(&mut seen).zip(waiting) {
                    let left = take(drain, rows, &mut urbs, sink)?;
                    seen.left(left);
                    taken += left;
                }
            }
            let waiting = drains.in_.waiting() + drains.out.waiting();
            sink.progress(Progress {
                ended: taken + waiting as u64,
                elapsed: begun.elapsed(),
            });
        }
    }
}

fn receives(point: &StreamPoint) -> bool {
    point.direction.ways().contains(&Way::In)
}

/// A device that does not answer HELLO may still send or take data.
fn hint_raw(error: LinkError) -> LinkError {
    match error.kind() {
        LinkErrorKind::Timeout | LinkErrorKind::Protocol => error.hint(
            "a device without a responder: use --protocol raw; an echo server: measure it with wiregauge \
             exchange --protocol echo; slow start: use a longer --timeout; serial line: check --baud",
        ),
        _ => error,
    }
}

/// The measuring thread: opens, introduces itself, and streams a point at each `may_go`.
///
/// It shares its table of descriptors: both threads of a point use the link, and so does a helper
/// that a link's library may have.
fn measuring_thread(
    plan: &StreamPlan,
    address: &Address,
    mut logs: Logs,
    (halt, begun_ns): (&AtomicBool, &AtomicU64),
    measurer: &Measurer<Report, StreamPoint>,
) -> Result<(), LinkError> {
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let datagram = address.kind().datagram;
    host::apply(&plan.host)?;
    let mut is_halted = || halt.load(Ordering::Relaxed);
    let mut link = address.open_for_stream(&plan.link, timeout, &mut is_halted)?;
    check::check_ways(plan, link.only_way())?;
    let raw = plan.protocol == StreamProtocol::Raw;
    let responder = if link.has_device() && !raw {
        let (link, address) = (link.as_mut(), &plan.address);
        let responder =
            hello(link, address, datagram, timeout, &mut is_halted).map_err(hint_raw)?;
        check::check_abilities(plan, &responder)?;
        Some(responder)
    } else {
        None
    };
    check::check_shapes(link.as_mut(), plan)?;
    let said = responder
        .as_ref()
        .and_then(|r| Bus::from_name(r.bus.as_deref()?));
    let limit = limits::narrower(link.limit(), said.map(Bus::limit));
    let opened = Opened {
        host: host::host_state(plan.host.lock_memory),
        link: link.detail(),
        responder: responder.clone(),
        usb: link.usb_place(),
        warnings: Vec::new(),
        calibration: None,
    };
    measurer.send(Report::Opened(Box::new(opened)));
    let setting = Setting {
        plan,
        datagram,
        responder: responder.as_ref(),
        limit: limit.as_ref(),
        halt,
        begun_ns,
    };
    // Where it begins is left to chance: a device may still hold the numbers of an earlier run.
    let mut sequence = fastrand::u32(..);
    while let Some(point) = measurer.next() {
        let end = stream_point(link.as_mut(), &setting, point, sequence, &mut logs);
        sequence = sequence.wrapping_add(ORDERS as u32);
        let (error, ended) = (end.error.clone(), halt.load(Ordering::Relaxed));
        measurer.send(Report::PointEnded(Box::new(end)));
        if let Some(error) = error {
            return Err(error);
        }
        if ended {
            return Ok(());
        }
    }
    Ok(())
}
