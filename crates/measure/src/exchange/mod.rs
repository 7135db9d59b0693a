//! Measures a plan: one thread measures, the caller's thread takes the samples away, point by
//! point, and between points nothing measures.

mod calibrate;
#[cfg(test)]
mod chatter_tests;
mod check;
mod driver;
mod errors;
#[cfg(test)]
mod gap_tests;
mod instrument;
mod kernel_times;
#[cfg(test)]
mod loop_tests;
mod point;
#[cfg(test)]
mod refusal_tests;
mod samples;
mod stage_matcher;
#[cfg(test)]
mod timed_link;
#[cfg(test)]
mod times_tests;
mod unexpected;
#[cfg(test)]
mod virtual_time;

pub use check::check;
pub use samples::RING_SAMPLES;

use crate::hand_over::HandOver;
use crate::hello::hello;
use crate::runner::{self, Measurer, StopFlags, Watcher};
use crate::sink::{Opened, Progress, RunError, Sink};
use crate::slices::{Seen, Slice, Slices, Times};
use driver::Control;
use kernel_times::KernelTimes;
use point::{PointEnd, Shape, measure_point};
use samples::{Kept, SampleDrain, SampleLog};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wiregauge_link::LinkError;
use wiregauge_link::host::{self, Interrupter, SignalGuard};
use wiregauge_link::limits::{self, Bus};
use wiregauge_link::{Address, Kind, Stamps};
use wiregauge_record::{
    BusLimit, Calibration, Connect, Ending, Limit, Plan, Point, PointSummary, Protocol, Sample,
    Status, Summariser,
};
use wiregauge_session::Numbers;

/// What takes the samples of a run.
pub type Taker<'a> = dyn Sink<Point = Point, Row = Sample, Summary = PointSummary> + 'a;

/// Words from the measuring thread, sent only between points.
enum Report {
    Opened(Box<Opened>, Option<BusLimit>, u64, Option<Stamps>),
    PointEnded(Box<PointEnd>),
}

/// Measures the plan. Returns whether it ran to its end (true) or was stopped by the flag (false).
/// A failure after the link was open has first delivered every sample taken.
pub fn run(plan: &Plan, stop: &AtomicBool, sink: &mut Taker<'_>) -> Result<bool, RunError> {
    let address = check(plan)?;
    let (halt, sleeper, _heeding) = (
        AtomicBool::new(false),
        Interrupter::default(),
        SignalGuard::begin(),
    );
    let flags = StopFlags {
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
    let (log, drain) = samples::ring(
        room,
        match (plan.keep_data, plan.keeps_data()) {
            (true, _) => Kept::All(widest.unwrap_or(0)),
            (false, true) => Kept::Unexpected,
            (false, false) => Kept::None,
        },
    );
    runner::run(
        "measure",
        &plan.host,
        flags,
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
    sleeper: &'a Interrupter,
    watcher: &'a Watcher<'a, Report, Point>,
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
        let (mut opened, limit, open_ns, stamps) = loop {
            match self.watcher.receive() {
                Ok(Some(Report::Opened(opened, limit, open_ns, stamps))) => {
                    break (opened, limit, open_ns, stamps);
                }
                Ok(_) => {}
                Err(runner::Gone) => return Ok(()),
            }
        };
        let mut times = self.kernel_times(&mut opened, stamps);
        opened.calibration = self.floor(kind);
        sink.opened(&opened)?;
        let responder = opened.responder;
        for &point in &self.plan.points {
            if self.watcher.is_stopped() {
                return Ok(());
            }
            sink.begin_point(point)?;
            let mut summariser = Summariser::new(self.plan, point, responder.as_ref());
            if let Some(times) = &mut times {
                times.begin_point();
            }
            self.watcher.go(point);
            let taken = self.take_point(&mut drain, (&mut summariser, times.as_mut()), sink)?;
            let Some(end) = taken else {
                return Ok(());
            };
            let opening = (point.index == 0).then_some(open_ns);
            let mut summary =
                summariser.finish(end.ending, end.stray_bytes, opening, end.resources);
            summary.batch = end.batch;
            summary.surplus = end.surplus;
            summary.instrument_errors = end.instrument_errors;
            summary.can = end.can;
            summary.disturbances = end.disturbances;
            let missed = times.as_mut().and_then(KernelTimes::end_point);
            summary.disturbances.extend(missed);
            summary.limit = limit
                .clone()
                .map(|limit| limit.used_by(&summary.throughput));
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

    /// The kernel's records if those were requested; notes in what was opened how that went.
    fn kernel_times(&self, opened: &mut Opened, stamps: Option<Stamps>) -> Option<KernelTimes> {
        if let Some(stamps) = stamps {
            let times = KernelTimes::of_socket(stamps);
            opened.link.settings.push(times.setting());
            return Some(times);
        }
        if !self.plan.link.usbmon {
            return None;
        }
        match KernelTimes::of_usb(opened.usb) {
            Ok(times) => {
                opened.link.settings.push(times.setting());
                Some(times)
            }
            Err(why) => {
                let kept = why.replace('\n', " ");
                opened.link.settings.push(("usbmon".into(), kept));
                opened.warnings.push(why);
                None
            }
        }
    }

    /// Takes the samples of one point until it ends; `None` if the measuring thread is gone.
    fn take_point(
        &self,
        drain: &mut SampleDrain,
        (summariser, mut times): (&mut Summariser, Option<&mut KernelTimes>),
        sink: &mut Taker<'_>,
    ) -> io::Result<Option<PointEnd>> {
        let begun = Instant::now();
        let (mut taken, mut moved_to) = (0, 0);
        let mut hand_over = HandOver::default();
        let mut slices = Slices::new(sink.slice_time());
        let (mut seen, mut rtts) = (Seen::default(), Times::default());
        let mut take = |drain: &mut SampleDrain,
                        samples: usize,
                        times: &mut Option<&mut KernelTimes>,
                        sink: &mut Taker<'_>| {
            let zero_ns = drain.zero_ns();
            drain.take_oldest(samples, |sample, data| {
                let filled = times.as_mut().map(|times| times.fill(sample, zero_ns));
                let sample = filled.as_ref().unwrap_or(sample);
                summariser.push(sample);
                if sample.status == Status::Unexpected {
                    summariser.unexpected(sample, unexpected::describe(self.plan, sample, data));
                }
                sink.row(sample, data)
            })
        };
        loop {
            match self.watcher.receive() {
                Ok(Some(Report::PointEnded(end))) => {
                    take(drain, drain.waiting(), &mut times, sink)?;
                    return Ok(Some(*end));
                }
                Ok(_) => {}
                Err(runner::Gone) => return Ok(None),
            }
            if let Some(times) = &mut times {
                times.look();
            }
            let elapsed = begun.elapsed();
            let is_due = hand_over.is_due(elapsed, drain.is_pressing());
            // Those that come from now on stay in the ring until a slice has them.
            let waiting = drain.waiting();
            let slice = slices.end(elapsed);
            if slices.are_shown() && (is_due || slice.is_some()) {
                seen.rest(drain.samples(), |sample| {
                    if sample.status.is_timed() {
                        rtts.push(sample.rtt_ns);
                    } else if sample.status.is_first_row() {
                        rtts.fail();
                    }
                });
            }
            if slice.is_some()
                && let Some(figures) = rtts.take()
            {
                sink.slice(Slice {
                    end: elapsed,
                    figures,
                });
            }
            if is_due {
                let left = take(drain, waiting, &mut times, sink)?;
                seen.left(left);
                taken += left;
            }
            let ended = taken + drain.waiting() as u64;
            if ended == moved_to {
                self.sleeper.wake_from_receive();
            }
            moved_to = ended;
            sink.progress(Progress { ended, elapsed });
        }
    }
}

/// The measuring thread: opens, introduces itself, and measures a point at each `may_go`.
fn measuring_thread(
    plan: &Plan,
    address: &Address,
    mut log: SampleLog,
    (halt, sleeper): (&AtomicBool, &Interrupter),
    measurer: &Measurer<Report, Point>,
) -> Result<(), LinkError> {
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let datagram = address.kind().datagram;
    if !address.kind().helped {
        host::own_descriptors();
    }
    host::apply(&plan.host)?;
    let clock = host::Clock::start();
    let mut is_halted = || halt.load(Ordering::Relaxed);
    let mut link = address.open_unless(&plan.link, timeout, &mut is_halted)?;
    let open_ns = clock.now();
    let stamps = match plan.link.kernel_timestamps {
        true => Some(check::stamp(link.as_mut(), address)?),
        false => None,
    };
    if let Some(most) = link.most() {
        check::check_most(plan, &most)?;
    }
    let responder = match plan.protocol {
        Protocol::Echo
        | Protocol::Lines
        | Protocol::Text
        | Protocol::Scpi
        | Protocol::Modbus
        | Protocol::GetStatus => None,
        Protocol::Wiregauge => {
            let (link, address) = (link.as_mut(), &plan.address);
            let responder = hello(link, address, datagram, timeout, &mut is_halted)?;
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
    measurer.send(Report::Opened(Box::new(opened), limit, open_ns, stamps));
    let control = Control {
        stop: halt,
        sleeper: Some(sleeper),
    };
    let shape = Shape {
        datagram,
        batch: match plan.batch {
            Some(batch) => Some(batch as usize),
            None => address.kind().separate.then_some(1),
        },
    };
    let mut numbers = Numbers::default();
    while let Some(point) = measurer.next() {
        let base = numbers.base();
        let (end, started) =
            measure_point(link.as_mut(), shape, plan, (point, base), control, &mut log);
        numbers.end_point(started);
        let error = end.error.clone();
        let interrupted = end.ending == Ending::Interrupted;
        measurer.send(Report::PointEnded(Box::new(end)));
        if let Some(error) = error {
            return Err(error);
        }
        if interrupted {
            return Ok(());
        }
    }
    Ok(())
}
