//! Takes what the engines yield and puts it into a run directory, point by point, with the progress
//! bar beside it. Links that run at once write the rows of their points side by side, and meet only
//! between points.

use crate::output::progress::Progress;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wiregauge_measure::multi_link::{Gate, Turn};
use wiregauge_measure::sink::{self, Opened, Sink};
use wiregauge_measure::slices::Slice;
use wiregauge_record::{Calibration, Conditions, LinkConditions};
use wiregauge_run::{CsvWriter, Files, PointWriter, Run, RunFile, RunWriter, State};

/// A run that is being written.
pub struct Recorder<K: Files> {
    shared: Mutex<Shared<K>>,
    on_full: OnFull,
}

/// What the first row that can't be stored does.
enum OnFull {
    /// The engine stops at once.
    Fail,
    /// The run is told to end, so that its last point has a summary of all rows.
    End(Arc<AtomicBool>),
    /// It goes on; what can't be stored is counted.
    GoOn,
}

struct Shared<K: Files> {
    writer: RunWriter<K>,
    conditions: Conditions,
    progress: Progress,
    /// The CSV file asked for, until it cannot be written.
    csv: Option<CsvWriter<File>>,
    csv_failed: Option<io::Error>,
    /// The first error of the storage of samples.
    storage_failed: Option<io::Error>,
}

/// The part of a run that comes from one link.
pub struct LinkRecorder<'a, K: Files> {
    recorder: &'a Recorder<K>,
    link: usize,
    gate: Option<&'a Gate>,
    point: Option<PointWriter<K>>,
}

impl<K: Files> Recorder<K> {
    /// A run in `dir` over so many links, with the note of the user.
    pub fn new(
        dir: &Path,
        plan: &K::Plan,
        links: usize,
        command: Vec<String>,
        note: Option<String>,
        progress: Progress,
    ) -> io::Result<Recorder<K>> {
        let conditions = Conditions {
            started: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            command,
            version: env!("CARGO_PKG_VERSION").to_string(),
            worker: std::env::var("WIREGAUGE_WORKER").ok(),
            note,
            more_links: vec![LinkConditions::default(); links.saturating_sub(1)],
            ..Conditions::default()
        };
        let writer = RunWriter::create(dir, plan, &conditions)?;
        Ok(Recorder {
            shared: Mutex::new(Shared {
                writer,
                conditions,
                progress,
                csv: None,
                csv_failed: None,
                storage_failed: None,
            }),
            on_full: OnFull::Fail,
        })
    }

    /// Sets `stop` when rows can't be stored, so that the run ends in order; with `keep_going` it is measured to its
    /// end, and the rows are counted.
    pub fn stopping(mut self, stop: Arc<AtomicBool>, keep_going: bool) -> Recorder<K> {
        self.on_full = match keep_going {
            true => OnFull::GoOn,
            false => OnFull::End(stop),
        };
        self
    }

    /// Writes the rows of each point to this file as well, as soon as the point is finished. Every
    /// row has the bytes of the answer if `with_data` is set.
    pub fn with_csv(self, file: File, with_data: bool) -> io::Result<Recorder<K>> {
        let mut shared = self.locked();
        let csv = CsvWriter::new(&shared.run(), file, with_data)?;
        shared.csv = Some(csv);
        drop(shared);
        Ok(self)
    }

    /// The sink for one turn of one link.
    pub fn link<'a>(&'a self, turn: Turn<'a>) -> LinkRecorder<'a, K> {
        LinkRecorder {
            recorder: self,
            link: turn.link,
            gate: turn.gate,
            point: None,
        }
    }

    /// Closes the run, which `ended_by` ended if it was interrupted; returns what was written, and whether all of it could be.
    pub fn finish(&self, state: State, ended_by: Option<String>) -> (RunFile<K>, io::Result<()>) {
        let mut shared = self.locked();
        shared.progress.clear();
        let stored = shared.storage_failed.take().map_or(Ok(()), Err);
        let state = match &stored {
            // That it was told to end is not the user's doing.
            Err(error) if state == State::Interrupted => State::Failed {
                error: error.to_string(),
            },
            _ => state,
        };
        if let (State::Interrupted, Some(ended_by)) = (&state, ended_by) {
            shared.writer.set_ended_by(&ended_by);
        }
        let finished = shared.writer.finish(state).map_err(io::Error::from);
        let csv = shared.csv_failed.take().map_or(Ok(()), Err);
        (shared.writer.file().clone(), stored.and(finished).and(csv))
    }

    /// What was not stored ends the run, or is noted.
    fn stored(&self, result: Result<(), wiregauge_run::RunError>) -> io::Result<()> {
        let Err(error) = result else {
            return Ok(());
        };
        match &self.on_full {
            OnFull::Fail => return Err(error.into()),
            OnFull::End(stop) => stop.store(true, Ordering::Relaxed),
            OnFull::GoOn => {}
        }
        let mut shared = self.locked();
        if shared.storage_failed.is_none() {
            if matches!(self.on_full, OnFull::GoOn) {
                shared.progress.warn(&format!(
                    "{error}; the run goes on, and what is not stored is counted"
                ));
            }
            shared.storage_failed = Some(error.into());
        }
        Ok(())
    }

    fn locked(&self) -> MutexGuard<'_, Shared<K>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Files> Shared<K> {
    /// What is on disk.
    fn run(&self) -> Run<K> {
        Run::new(self.writer.dir().to_owned(), self.writer.file().clone())
    }

    /// Copies the last point to the CSV file.
    fn copy_point(&mut self) {
        if self.csv.is_none() || self.writer.file().points.is_empty() {
            return;
        }
        let run = self.run();
        let last = run.file.points.len() - 1;
        // The run is measured to its end even if there is no room for a copy of it.
        if let Some(csv) = &mut self.csv
            && let Err(error) = csv.point(&run, last)
        {
            self.csv = None;
            self.csv_failed = Some(error.into());
        }
    }
}

impl<K: Files> LinkRecorder<'_, K> {
    fn open(&mut self, opened: &Opened) -> io::Result<()> {
        let mut guard = self.recorder.locked();
        let shared = &mut *guard;
        let conditions = &mut shared.conditions;
        let (link, responder) = (opened.link.clone(), opened.responder.clone());
        match self.link.checked_sub(1) {
            Some(at) => {
                if let Some(further) = conditions.more_links.get_mut(at) {
                    *further = LinkConditions { link, responder };
                }
            }
            None => {
                conditions.host = opened.host.clone();
                conditions.link = link;
                conditions.responder = responder;
                if opened.calibration.is_some() {
                    conditions.before = opened.calibration.clone();
                }
            }
        }
        for warning in &opened.warnings {
            shared.writer.add_warning(warning.clone());
        }
        let stored = shared.writer.set_conditions(conditions);
        drop(guard);
        self.recorder.stored(stored)
    }

    fn begin(&mut self, point: K::Point, what: String) -> io::Result<()> {
        let mut shared = self.recorder.locked();
        if self.shows() {
            shared.progress.begin(K::index(&point), what);
        }
        let mut writer = shared.writer.begin_point(point)?;
        drop(shared);
        let begun = writer.tick();
        self.point = Some(writer);
        self.recorder.stored(begun)?;
        if let Some(gate) = self.gate {
            gate.wait();
        }
        Ok(())
    }

    /// Of links that run at once the first is shown.
    fn shows(&self) -> bool {
        self.gate.is_none() || self.link == 0
    }

    /// Which link it is, where there are several.
    fn name(&self) -> String {
        match (
            self.gate,
            self.recorder.locked().conditions.more_links.len(),
        ) {
            (Some(_), _) => ", all links".into(),
            (None, 0) => String::new(),
            (None, _) => format!(", link {}", self.link),
        }
    }
}

impl<K: Files> Sink for LinkRecorder<'_, K> {
    type Point = K::Point;
    type Row = K::Row;
    type Summary = K::Summary;

    fn opened(&mut self, opened: &Opened) -> io::Result<()> {
        self.open(opened)
    }

    fn begin_point(&mut self, point: K::Point) -> io::Result<()> {
        self.begin(point, format!("{point}{}", self.name()))
    }

    fn progress(&mut self, progress: sink::Progress) {
        if self.shows() {
            let mut shared = self.recorder.locked();
            shared.progress.update(progress.ended, progress.elapsed);
        }
        if let Some(point) = &mut self.point {
            // Where that fails, the next row does as well.
            let ticked = point.tick();
            let _ = self.recorder.stored(ticked);
        }
    }

    fn slice_time(&self) -> Option<Duration> {
        match self.shows() {
            true => self.recorder.locked().progress.slice_time(),
            false => None,
        }
    }

    fn slice(&mut self, slice: Slice) {
        self.recorder.locked().progress.slice(slice);
    }

    fn row(&mut self, row: &K::Row, data: &[u8]) -> io::Result<()> {
        match &mut self.point {
            Some(point) => {
                let pushed = point.push(row, data);
                self.recorder.stored(pushed)
            }
            None => Ok(()),
        }
    }

    fn end_point(&mut self, summary: K::Summary) -> io::Result<()> {
        match self.point.take() {
            Some(point) => {
                let shows = self.shows();
                let mut guard = self.recorder.locked();
                let shared = &mut *guard;
                let progress = &mut shared.progress;
                let mut left = |left| {
                    if shows {
                        progress.storing(left);
                    }
                };
                let ended = shared.writer.end_point_watched(point, summary, &mut left);
                if ended.is_ok() {
                    shared.copy_point();
                }
                drop(guard);
                self.recorder.stored(ended)
            }
            None => Ok(()),
        }
    }

    fn calibrated_after(&mut self, calibration: Calibration) -> io::Result<()> {
        let mut guard = self.recorder.locked();
        let shared = &mut *guard;
        shared.conditions.after = Some(calibration);
        let stored = shared.writer.set_conditions(&shared.conditions);
        drop(guard);
        self.recorder.stored(stored)
    }
}
