//! Takes what the engine yields and puts it into a run directory, point by point, with the progress
//! bar beside it.

use crate::output::progress::Progress;
use std::io;
use std::path::Path;
use wiregauge::exchange::{self, Opened, Sink};
use wiregauge_record::{Calibration, Conditions, Plan, Point, PointSummary, Sample};
use wiregauge_run::{PointWriter, RunFile, RunWriter, State};

/// A run that is being written.
pub struct Recorder {
    writer: RunWriter,
    point: Option<PointWriter>,
    conditions: Conditions,
    progress: Progress,
}

impl Recorder {
    /// A run in `dir`.
    pub fn new(dir: &Path, plan: &Plan, progress: Progress) -> io::Result<Recorder> {
        let conditions = Conditions {
            started: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            ..Conditions::default()
        };
        let writer = RunWriter::create(dir, plan, &conditions)?;
        Ok(Recorder {
            writer,
            point: None,
            conditions,
            progress,
        })
    }

    /// Closes the run.
    pub fn finish(&mut self, state: State) -> io::Result<()> {
        self.progress.clear();
        self.point = None;
        Ok(self.writer.finish(state)?)
    }

    /// What has been written.
    pub fn file(&self) -> &RunFile {
        self.writer.file()
    }

    /// Where.
    pub fn dir(&self) -> &Path {
        self.writer.dir()
    }
}

impl Sink for Recorder {
    fn opened(&mut self, opened: &Opened) -> io::Result<()> {
        self.conditions.host = opened.host.clone();
        self.conditions.link = opened.link.clone();
        self.conditions.responder = opened.responder.clone();
        self.conditions.before = opened.calibration.clone();
        Ok(self.writer.set_conditions(&self.conditions)?)
    }

    fn begin_point(&mut self, point: Point) -> io::Result<()> {
        self.progress.begin(point);
        self.point = Some(self.writer.begin_point(point)?);
        Ok(())
    }

    fn progress(&mut self, progress: exchange::Progress) {
        self.progress.update(progress);
    }

    fn sample(&mut self, sample: &Sample, data: &[u8]) -> io::Result<()> {
        match &mut self.point {
            Some(point) => Ok(point.push(sample, data)?),
            None => Ok(()),
        }
    }

    fn end_point(&mut self, summary: PointSummary) -> io::Result<()> {
        match self.point.take() {
            Some(point) => Ok(self.writer.end_point(point, summary)?),
            None => Ok(()),
        }
    }

    fn calibrated_after(&mut self, calibration: Calibration) -> io::Result<()> {
        self.conditions.after = Some(calibration);
        Ok(self.writer.set_conditions(&self.conditions)?)
    }
}
