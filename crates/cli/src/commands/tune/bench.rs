//! Measures one setting: a run of the engine with one point. A quick one for a probe, of which the
//! summary is kept; a whole one for the confirmation, stored as any other run.

use super::taken::Taken;
use super::task::{Kind, Task};
use crate::caller::Session;
use crate::commands::measure::{remove, state_of};
use crate::commands::recorder::Recorder;
use crate::failure::StorageFailed;
use crate::output::progress::{Extent, Meter, Progress};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use wiregauge_link::LinkErrorKind;
use wiregauge_measure::multi_link::Turn;
use wiregauge_measure::sink::{self, Opened, RunError, Sink};
use wiregauge_measure::{exchange, stream};
use wiregauge_record::{Plan, Responder, StreamPlan};
use wiregauge_run::{Exchange, Files, RunKind, Stream};
use wiregauge_tune::Candidate;

/// How a try ended.
pub enum Tried {
    /// Measured to its end.
    Done(Taken),
    /// The link failed there.
    Failed(wiregauge_link::LinkError),
    /// The user stopped it.
    Stopped,
}

/// Takes the summary of the only point, and what the device said of itself.
struct Listener<'a, K: Files> {
    responder: Option<Responder>,
    summary: Option<K::Summary>,
    extent: Extent,
    meter: &'a mut dyn FnMut(f64),
}

impl<K: Files> Sink for Listener<'_, K> {
    type Point = K::Point;
    type Row = K::Row;
    type Summary = K::Summary;

    fn opened(&mut self, opened: &Opened) -> io::Result<()> {
        self.responder = opened.responder.clone();
        Ok(())
    }

    fn progress(&mut self, progress: sink::Progress) {
        (self.meter)(self.extent.part(progress.ended, progress.elapsed));
    }

    fn row(&mut self, _row: &K::Row, _data: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn end_point(&mut self, summary: K::Summary) -> io::Result<()> {
        self.summary = Some(summary);
        Ok(())
    }
}

/// Takes what a run of this kind yields.
type Taker<'a, K> = dyn Sink<
        Point = <K as RunKind>::Point,
        Row = <K as RunKind>::Row,
        Summary = <K as RunKind>::Summary,
    > + 'a;

/// Measures a plan; true if it came to its end.
type Engine<K> =
    fn(&<K as RunKind>::Plan, &AtomicBool, &mut Taker<'_, K>) -> Result<bool, RunError>;

/// A run of one point, ready to be measured.
struct OnePoint<K: Files> {
    plan: K::Plan,
    extent: Extent,
    engine: Engine<K>,
    /// What its summary amounts to; of a run that is stored, if true.
    taken: fn(K::Summary, bool) -> Taken,
}

fn exchanges(plan: Plan) -> OnePoint<Exchange> {
    OnePoint {
        extent: Extent::Rows(plan.exchanges_per_point().unwrap_or(1)),
        plan,
        engine: exchange::run,
        taken: |point, stored| Taken::Exchanges {
            point: Box::new(point),
            stored,
        },
    }
}

fn transfers(plan: StreamPlan) -> OnePoint<Stream> {
    OnePoint {
        extent: Extent::Time(Duration::from_nanos(plan.settle_ns + plan.duration_ns)),
        plan,
        engine: stream::run,
        taken: |point, _| Taken::Stream(Box::new(point)),
    }
}

impl<K: Files> OnePoint<K> {
    fn probe(
        self,
        stop: &AtomicBool,
        meter: &mut dyn FnMut(f64),
    ) -> anyhow::Result<(Tried, Option<Responder>)> {
        let mut listener = Listener::<K> {
            responder: None,
            summary: None,
            extent: self.extent,
            meter,
        };
        let ended = (self.engine)(&self.plan, stop, &mut listener);
        let Listener {
            responder, summary, ..
        } = listener;
        let taken = summary.map(|point| (self.taken)(point, false));
        Ok((tried(ended, taken)?, responder))
    }

    fn confirm(
        self,
        bench: &Bench<'_>,
        dir: &Path,
        meter: Box<dyn Meter>,
        session: &Session<'_>,
    ) -> anyhow::Result<Tried> {
        let progress = Progress::new(1, self.extent, meter);
        let (command, note) = (session.command(), bench.task.note.clone());
        let recorder = Recorder::<K>::new(dir, &self.plan, 1, command, note, progress)
            .map_err(StorageFailed)?
            .stopping(session.caller.stop()?, bench.task.keep_going);
        let turn = Turn {
            link: 0,
            gate: None,
        };
        let ended = (self.engine)(&self.plan, bench.stop, &mut recorder.link(turn));
        let (file, finished) = recorder.finish(state_of(&ended), session.caller.ended_by());
        if file.points.is_empty() {
            // Nothing was measured: an empty run among the stored ones is in the way.
            remove(dir);
        }
        let point = file.points.into_iter().next();
        let tried = tried(ended, point.map(|point| (self.taken)(point, true)))?;
        finished.map_err(StorageFailed)?;
        Ok(tried)
    }
}

/// The bench of one task.
pub struct Bench<'a> {
    /// What is asked for.
    pub task: &'a Task,
    /// Raised when the user wants an end.
    pub stop: &'a AtomicBool,
}

impl Bench<'_> {
    /// A quick try: `effort` exchanges, or milliseconds of a stream. Gives what the device said of
    /// itself, too.
    pub fn probe(
        &self,
        at: &Candidate,
        effort: u64,
        meter: &mut dyn FnMut(f64),
    ) -> anyhow::Result<(Tried, Option<Responder>)> {
        match &self.task.kind {
            Kind::Exchanges(of) => {
                exchanges(of.plan(self.task, at, effort, false)).probe(self.stop, meter)
            }
            Kind::Stream(of) => transfers(of.plan(self.task, at, effort)).probe(self.stop, meter),
        }
    }

    /// A whole run, stored in `dir`.
    pub fn confirm(
        &self,
        at: &Candidate,
        effort: u64,
        dir: &Path,
        meter: Box<dyn Meter>,
        session: &Session<'_>,
    ) -> anyhow::Result<Tried> {
        match &self.task.kind {
            Kind::Exchanges(of) => {
                exchanges(of.plan(self.task, at, effort, true)).confirm(self, dir, meter, session)
            }
            Kind::Stream(of) => {
                transfers(of.plan(self.task, at, effort)).confirm(self, dir, meter, session)
            }
        }
    }
}

/// A run without a place to store it fails for the link alone.
fn tried(ended: Result<bool, RunError>, taken: Option<Taken>) -> anyhow::Result<Tried> {
    match (ended, taken) {
        (Ok(true), Some(taken)) => Ok(Tried::Done(taken)),
        (Ok(_), _) => Ok(Tried::Stopped),
        (Err(RunError::Link(error)), _) if error.kind() == LinkErrorKind::Interrupted => {
            Ok(Tried::Stopped)
        }
        (Err(RunError::Link(error)), _) => Ok(Tried::Failed(error)),
        (Err(RunError::Sink(error)), _) => Err(StorageFailed(error).into()),
    }
}
