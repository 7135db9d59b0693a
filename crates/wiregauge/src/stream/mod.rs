//! Streams: data that flows without waiting for answers. One thread opens the link and sends, one
//! receives; the caller's thread takes the rows away, point by point.

mod check;
mod orders;
mod point;
mod receiver;
mod rows;
mod sender;
mod sink;
mod talk;
mod tally;

pub use check::check;
pub use sink::{StreamProgress, StreamSink};

use crate::error::{LinkError, LinkErrorKind};
use crate::exchange::hello::hello;
use crate::exchange::{Opened, RunError};
use crate::host::{self, Load};
use crate::limits::Bus;
use crate::link::Address;
use crate::ring::{self, Drain};
use point::{Logs, PointEnd, Setting, stream_point};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wiregauge_record::{StreamPlan, StreamSummariser, Transfer, Way};

/// How often the caller's thread looks after a point that runs.
const LOOK: Duration = Duration::from_millis(50);

/// Rows of one way held in memory at most: 29 MB. A longer point is emptied to the sink while it
/// runs; half of this lasts for [`LOOK`] at five million transfers a second.
const RING_ROWS: usize = 1 << 19;

/// Numbers that the orders of one point take; more than they need.
const ORDERS_A_POINT: u32 = 16;

/// Words from the measuring thread, sent only between points.
enum Word {
    Opened(Box<Opened>),
    PointEnded(Box<PointEnd>),
}

/// The other ends of [`Logs`].
struct Drains {
    in_: Drain<Transfer>,
    out: Drain<Transfer>,
}

/// Streams the points of a plan over its first link. Returns whether it ran to its end (true) or was
/// stopped by the flag (false). A failure after the link was open has first delivered every row.
pub fn run(
    plan: &StreamPlan,
    stop: &AtomicBool,
    sink: &mut dyn StreamSink,
) -> Result<bool, RunError> {
    let address = check(plan)?.swap_remove(0);
    let halt = AtomicBool::new(false);
    let watch = Watcher {
        plan,
        stop,
        halt: &halt,
    };
    std::thread::scope(|scope| {
        // The load's threads are made before any priority is raised.
        let load = Load::start(plan.host.load);
        let rows = |way: Way| {
            let mut points = plan.points.iter();
            match points.any(|point| point.direction.ways().contains(&way)) {
                true => RING_ROWS,
                false => 1,
            }
        };
        let (in_log, in_drain) = ring::ring(rows(Way::In));
        let (out_log, out_drain) = ring::ring(rows(Way::Out));
        let logs = Logs {
            in_: in_log,
            out: out_log,
        };
        let drains = Drains {
            in_: in_drain,
            out: out_drain,
        };
        let (say, words) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        let halt = &halt;
        let measuring = std::thread::Builder::new()
            .name("send".into())
            .spawn_scoped(scope, move || {
                measuring_thread(plan, &address, logs, halt, &say, &may_go)
            })
            .map_err(|error| LinkError::from_io("starting the measuring thread", &error))?;
        if let Some(cpu) = plan.host.pin {
            host::keep_off(cpu);
        }
        let outcome = watch.take(&words, &go, drains, sink);
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

/// The caller's side: looks after the measuring threads, takes their rows, summarises them.
struct Watcher<'a> {
    plan: &'a StreamPlan,
    stop: &'a AtomicBool,
    halt: &'a AtomicBool,
}

impl Watcher<'_> {
    /// Waits a moment for a word. `Ok(None)` if none came, `Err` if none will ever come.
    fn listen(&self, words: &mpsc::Receiver<Word>) -> Result<Option<Word>, ()> {
        if self.stop.load(Ordering::Relaxed) {
            self.halt.store(true, Ordering::Relaxed);
        }
        match words.recv_timeout(LOOK) {
            Ok(word) => Ok(Some(word)),
            Err(mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(()),
        }
    }

    fn take(
        &self,
        words: &mpsc::Receiver<Word>,
        go: &mpsc::Sender<()>,
        mut drains: Drains,
        sink: &mut dyn StreamSink,
    ) -> io::Result<()> {
        let opened = loop {
            match self.listen(words) {
                Ok(Some(Word::Opened(opened))) => break opened,
                Ok(_) => {}
                Err(()) => return Ok(()),
            }
        };
        sink.opened(&opened)?;
        for &point in &self.plan.points {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            sink.begin_point(point)?;
            let mut summariser = StreamSummariser::new(self.plan, point);
            let _ = go.send(());
            let Some(end) = self.take_point(words, &mut drains, &mut summariser, sink)? else {
                return Ok(());
            };
            let mut summary = summariser.finish(end.ending, end.end_ns, &end.ways, end.resources);
            summary.disturbances = end.disturbances;
            sink.end_point(summary)?;
            if end.error.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes the rows of one point until it ends; `None` if the measuring thread is gone.
    fn take_point(
        &self,
        words: &mpsc::Receiver<Word>,
        drains: &mut Drains,
        summariser: &mut StreamSummariser,
        sink: &mut dyn StreamSink,
    ) -> io::Result<Option<PointEnd>> {
        let begun = Instant::now();
        let mut taken = 0;
        let mut take = |drain: &mut Drain<Transfer>, sink: &mut dyn StreamSink| {
            drain.take_all(|transfer| {
                summariser.push(transfer);
                sink.transfer(transfer)
            })
        };
        loop {
            match self.listen(words) {
                Ok(Some(Word::PointEnded(end))) => {
                    take(&mut drains.in_, sink)?;
                    take(&mut drains.out, sink)?;
                    return Ok(Some(*end));
                }
                Ok(_) => {}
                Err(()) => return Ok(None),
            }
            for drain in [&mut drains.in_, &mut drains.out] {
                if drain.is_pressing() {
                    taken += take(drain, sink)?;
                }
            }
            let waiting = drains.in_.waiting() + drains.out.waiting();
            sink.progress(StreamProgress {
                transfers: taken + waiting as u64,
                elapsed: begun.elapsed(),
            });
        }
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
    halt: &AtomicBool,
    say: &mpsc::Sender<Word>,
    may_go: &mpsc::Receiver<()>,
) -> Result<(), LinkError> {
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let datagram = address.kind().datagram;
    host::apply(&plan.host)?;
    let mut link = address.open(&plan.link, timeout)?;
    let responder = if link.has_device() {
        let responder = hello(link.as_mut(), &plan.address, datagram, timeout)?;
        check::check_abilities(plan, &responder)?;
        Some(responder)
    } else {
        None
    };
    check::check_shapes(link.as_mut(), plan)?;
    let said = responder
        .as_ref()
        .and_then(|r| Bus::from_name(r.bus.as_deref()?));
    let limit = link.limit().or(said.map(Bus::limit));
    let opened = Opened {
        host: host::host_state(plan.host.lock_memory),
        link: link.detail(),
        responder: responder.clone(),
        calibration: None,
    };
    let _ = say.send(Word::Opened(Box::new(opened)));
    let setting = Setting {
        plan,
        datagram,
        responder: responder.as_ref(),
        limit: limit.as_ref(),
        halt,
    };
    // Where it begins is left to chance: a device may still hold the numbers of an earlier run.
    let mut sequence = fastrand::u32(..);
    for &point in &plan.points {
        if may_go.recv().is_err() {
            return Ok(());
        }
        let end = stream_point(link.as_mut(), &setting, point, sequence, &mut logs);
        sequence = sequence.wrapping_add(ORDERS_A_POINT);
        let (error, ended) = (end.error.clone(), halt.load(Ordering::Relaxed));
        let _ = say.send(Word::PointEnded(Box::new(end)));
        if let Some(error) = error {
            return Err(error);
        }
        if ended {
            return Ok(());
        }
    }
    Ok(())
}
