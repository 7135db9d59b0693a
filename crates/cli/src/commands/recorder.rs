//! Takes what the engines yield and puts it into a run directory, point by point, with the progress
//! bar beside it. Links that run at once write the rows of their points side by side, and meet only
//! between points.

use crate::output::progress::Progress;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wiregauge::exchange::{self, Opened, Sink};
use wiregauge::nodes::{Gate, Turn};
use wiregauge::stream::{StreamProgress, StreamSink};
use wiregauge_record::{
    Calibration, Conditions, LinkConditions, Point, PointSummary, Sample, StreamPoint,
    StreamSummary, Transfer,
};
use wiregauge_run::{Exchange, PointWriter, RunFile, RunKind, RunWriter, State, Stream};

/// A run that is being written.
pub struct Recorder<K: RunKind> {
    shared: Mutex<Shared<K>>,
}

struct Shared<K: RunKind> {
    writer: RunWriter<K>,
    conditions: Conditions,
    progress: Progress,
}

/// The part of a run that comes from one link.
pub struct LinkRecorder<'a, K: RunKind> {
    recorder: &'a Recorder<K>,
    link: usize,
    gate: Option<&'a Gate>,
    point: Option<PointWriter<K>>,
}

impl<K: RunKind> Recorder<K> {
    /// A run in `dir` over so many links.
    pub fn new(
        dir: &Path,
        plan: &K::Plan,
        links: usize,
        progress: Progress,
    ) -> io::Result<Recorder<K>> {
        let conditions = Conditions {
            started: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            more_links: vec![LinkConditions::default(); links.saturating_sub(1)],
            ..Conditions::default()
        };
        let writer = RunWriter::create(dir, plan, &conditions)?;
        Ok(Recorder {
            shared: Mutex::new(Shared {
                writer,
                conditions,
                progress,
            }),
        })
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

    /// Closes the run; gives what was written, and whether its end could be.
    pub fn finish(&self, state: State) -> (RunFile<K>, io::Result<()>) {
        let mut shared = self.locked();
        shared.progress.clear();
        let finished = shared.writer.finish(state);
        (
            shared.writer.file().clone(),
            finished.map_err(io::Error::from),
        )
    }

    fn locked(&self) -> MutexGuard<'_, Shared<K>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: RunKind> LinkRecorder<'_, K> {
    fn open(&mut self, opened: &Opened) -> io::Result<()> {
        let shared = &mut *self.recorder.locked();
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
        Ok(shared.writer.set_conditions(conditions)?)
    }

    fn begin(&mut self, point: K::Point, what: String) -> io::Result<()> {
        let mut shared = self.recorder.locked();
        if self.shows() {
            shared.progress.begin(K::index(&point), what);
        }
        self.point = Some(shared.writer.begin_point(point)?);
        drop(shared);
        if let Some(gate) = self.gate {
            gate.wait();
        }
        Ok(())
    }

    fn take(&mut self, row: &K::Row, data: &[u8]) -> io::Result<()> {
        match &mut self.point {
            Some(point) => Ok(point.push(row, data)?),
            None => Ok(()),
        }
    }

    fn end(&mut self, summary: K::Summary) -> io::Result<()> {
        match self.point.take() {
            Some(point) => Ok(self.recorder.locked().writer.end_point(point, summary)?),
            None => Ok(()),
        }
    }

    /// Of links that run at once the first is shown.
    fn shows(&self) -> bool {
        self.gate.is_none() || self.link == 0
    }

    fn progressed(&self, ended: u64, elapsed: Duration) {
        if self.shows() {
            self.recorder.locked().progress.update(ended, elapsed);
        }
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

impl Sink for LinkRecorder<'_, Exchange> {
    fn opened(&mut self, opened: &Opened) -> io::Result<()> {
        self.open(opened)
    }

    fn begin_point(&mut self, point: Point) -> io::Result<()> {
        let (out, in_, depth) = (point.out_bytes, point.in_bytes, point.depth);
        let what = format!("OUT {out} B, IN {in_} B, depth {depth}{}", self.name());
        self.begin(point, what)
    }

    fn progress(&mut self, progress: exchange::Progress) {
        self.progressed(progress.ended, progress.elapsed);
    }

    fn sample(&mut self, sample: &Sample, data: &[u8]) -> io::Result<()> {
        self.take(sample, data)
    }

    fn end_point(&mut self, summary: PointSummary) -> io::Result<()> {
        self.end(summary)
    }

    fn calibrated_after(&mut self, calibration: Calibration) -> io::Result<()> {
        let shared = &mut *self.recorder.locked();
        shared.conditions.after = Some(calibration);
        Ok(shared.writer.set_conditions(&shared.conditions)?)
    }
}

impl StreamSink for LinkRecorder<'_, Stream> {
    fn opened(&mut self, opened: &Opened) -> io::Result<()> {
        self.open(opened)
    }

    fn begin_point(&mut self, point: StreamPoint) -> io::Result<()> {
        let (way, bytes, queue) = (point.direction.name(), point.transfer_bytes, point.queue);
        let what = format!("{way}, {bytes} B a transfer, queue {queue}{}", self.name());
        self.begin(point, what)
    }

    fn progress(&mut self, progress: StreamProgress) {
        self.progressed(progress.transfers, progress.elapsed);
    }

    fn transfer(&mut self, transfer: &Transfer) -> io::Result<()> {
        self.take(transfer, &[])
    }

    fn end_point(&mut self, summary: StreamSummary) -> io::Result<()> {
        self.end(summary)
    }
}
