//! Measures one setting: a run of the engine with one point. A quick one for a probe, of which the
//! summary is kept; a whole one for the confirmation, stored as any other run.

use super::taken::Taken;
use super::task::{Kind, Task};
use crate::caller::Session;
use crate::commands::measure::remove;
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
use wiregauge_record::{Plan, Responder, Sample, StreamPlan};
use wiregauge_run::{Exchange, Files, State, Stream};
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
    on_row: &'a mut dyn FnMut(&K::Row),
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

    fn row(&mut self, row: &K::Row, _data: &[u8]) -> io::Result<()> {
        (self.on_row)(row);
        Ok(())
    }

    fn end_point(&mut self, summary: K::Summary) -> io::Result<()> {
        self.summary = Some(summary);
        Ok(())
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
                let plan = of.plan(self.task, at, effort, false);
                let control = self.task.control.as_ref();
                let mut recorder = control.map(|control| control.recorder(&plan));
                let mut on_row = |sample: &Sample| {
                    if let Some(recorder) = &mut recorder {
                        recorder.push(sample);
                    }
                };
                let mut listener = Listener::<Exchange> {
                    responder: None,
                    summary: None,
                    extent: extent_of(&plan),
                    meter,
                    on_row: &mut on_row,
                };
                let ended = exchange::run(&plan, self.stop, &mut listener);
                let Listener {
                    responder, summary, ..
                } = listener;
                let control = control.zip(recorder);
                let control = control.map(|(control, recorder)| control.result(&recorder.finish()));
                let control = control.transpose()?;
                let taken = summary.map(|point| Taken::Exchanges {
                    point: Box::new(point),
                    control,
                    stored: false,
                });
                Ok((link(tried(ended, taken))?, responder))
            }
            Kind::Stream(of) => {
                let plan = of.plan(self.task, at, effort);
                let mut listener = Listener::<Stream> {
                    responder: None,
                    summary: None,
                    extent: extent_of_stream(&plan),
                    meter,
                    on_row: &mut |_| {},
                };
                let ended = stream::run(&plan, self.stop, &mut listener);
                let taken = listener.summary.map(|s| Taken::Stream(Box::new(s)));
                Ok((link(tried(ended, taken))?, listener.responder))
            }
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
        let turn = Turn {
            link: 0,
            gate: None,
        };
        match &self.task.kind {
            Kind::Exchanges(of) => {
                let plan = of.plan(self.task, at, effort, true);
                let progress = Progress::new(1, extent_of(&plan), meter);
                let (command, note) = (session.command(), self.task.note.clone());
                let recorder = Recorder::<Exchange>::new(dir, &plan, 1, command, note, progress)
                    .map_err(StorageFailed)?
                    .stopping(session.caller.stop()?, self.task.keep_going);
                let ended = exchange::run(&plan, self.stop, &mut recorder.link(turn));
                let (file, finished) = recorder.finish(state_of(&ended), session.caller.ended_by());
                if file.points.is_empty() {
                    // Nothing was measured: an empty run among the stored ones is in the way.
                    remove(dir);
                }
                let point = file.points.into_iter().next();
                let taken = point.map(|point| Taken::Exchanges {
                    point: Box::new(point),
                    control: None,
                    stored: true,
                });
                let tried = stored(tried(ended, taken), finished)?;
                match (tried, &self.task.control) {
                    (Tried::Done(Taken::Exchanges { point, .. }), Some(control)) => {
                        Ok(Tried::Done(Taken::Exchanges {
                            point,
                            control: Some(control.of_run(dir)?),
                            stored: true,
                        }))
                    }
                    (tried, _) => Ok(tried),
                }
            }
            Kind::Stream(of) => {
                let plan = of.plan(self.task, at, effort);
                let progress = Progress::new(1, extent_of_stream(&plan), meter);
                let (command, note) = (session.command(), self.task.note.clone());
                let recorder = Recorder::<Stream>::new(dir, &plan, 1, command, note, progress)
                    .map_err(StorageFailed)?
                    .stopping(session.caller.stop()?, self.task.keep_going);
                let ended = stream::run(&plan, self.stop, &mut recorder.link(turn));
                let (file, finished) = recorder.finish(state_of(&ended), session.caller.ended_by());
                if file.points.is_empty() {
                    // Nothing was measured: an empty run among the stored ones is in the way.
                    remove(dir);
                }
                let point = file.points.into_iter().next();
                let tried = tried(ended, point.map(|p| Taken::Stream(Box::new(p))));
                stored(tried, finished)
            }
        }
    }
}

fn extent_of(plan: &Plan) -> Extent {
    Extent::Rows(plan.exchanges_per_point().unwrap_or(1))
}

fn extent_of_stream(plan: &StreamPlan) -> Extent {
    Extent::Time(Duration::from_nanos(plan.settle_ns + plan.duration_ns))
}

/// A run without a place to store it fails for the link alone.
fn link<T>(tried: Result<T, RunError>) -> anyhow::Result<T> {
    match tried {
        Ok(tried) => Ok(tried),
        Err(RunError::Link(error)) => Err(error.into()),
        Err(RunError::Sink(error)) => Err(StorageFailed(error).into()),
    }
}

fn stored(tried: Result<Tried, RunError>, finished: io::Result<()>) -> anyhow::Result<Tried> {
    match tried {
        Ok(tried) => {
            finished.map_err(StorageFailed)?;
            Ok(tried)
        }
        Err(RunError::Sink(error)) => Err(StorageFailed(error).into()),
        Err(RunError::Link(error)) => Err(error.into()),
    }
}

fn state_of(ended: &Result<bool, RunError>) -> State {
    match ended {
        Ok(true) => State::Complete,
        Ok(false) => State::Interrupted,
        Err(RunError::Link(error)) if error.kind() == LinkErrorKind::Interrupted => {
            State::Interrupted
        }
        Err(RunError::Link(error)) => State::Failed {
            error: error.to_string(),
        },
        Err(RunError::Sink(error)) => State::Failed {
            error: error.to_string(),
        },
    }
}

fn tried(ended: Result<bool, RunError>, taken: Option<Taken>) -> Result<Tried, RunError> {
    match (ended, taken) {
        (Ok(true), Some(taken)) => Ok(Tried::Done(taken)),
        (Ok(_), _) => Ok(Tried::Stopped),
        (Err(RunError::Link(error)), _) if error.kind() == LinkErrorKind::Interrupted => {
            Ok(Tried::Stopped)
        }
        (Err(RunError::Link(error)), _) => Ok(Tried::Failed(error)),
        (Err(error), _) => Err(error),
    }
}
