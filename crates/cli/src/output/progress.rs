//! The progress bar of long work, on standard error, drawn only on a terminal and never by the
//! measuring thread.

use super::style::{CAUTION, RESET};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::time::{Duration, Instant};
use wiregauge_measure::slices::Slice;

/// What shows, or tells, how far work is.
pub trait Meter: Send {
    /// What is being done.
    fn says(&mut self, what: String);
    /// This part of the whole is done, 0 to 1.
    fn update(&mut self, part: f64);
    /// How often figures of the running point are shown; `None`: never.
    fn slice_time(&self) -> Option<Duration> {
        None
    }
    /// Figures of the running point, whose index is `point`.
    fn slice(&mut self, _point: u32, _slice: Slice) {}
    /// Something that must not wait for the end of the work.
    fn warn(&mut self, text: &str);
    /// The work is over.
    fn clear(&mut self);
}

/// How far one run is. Points counted in exchanges and points counted in seconds are shown alike: each
/// is the same part of the whole.
pub struct Progress {
    meter: Box<dyn Meter>,
    points: usize,
    at: usize,
    per_point: Extent,
}

/// How long a point is.
pub enum Extent {
    /// So many rows.
    Rows(u64),
    /// So long.
    Time(Duration),
}

impl Extent {
    /// What is done of it, 0 to 1.
    pub fn part(&self, rows: u64, elapsed: Duration) -> f64 {
        let part = match self {
            Extent::Rows(count) => rows as f64 / *count as f64,
            Extent::Time(time) => elapsed.as_secs_f64() / time.as_secs_f64(),
        };
        part.min(1.0)
    }
}

impl Progress {
    /// Of so many points.
    pub fn new(points: usize, per_point: Extent, meter: Box<dyn Meter>) -> Progress {
        Progress {
            meter,
            points: points.max(1),
            at: 0,
            per_point,
        }
    }

    /// A point begins.
    pub fn begin(&mut self, index: u32, what: String) {
        self.at = index as usize;
        let (at, points) = (self.at + 1, self.points);
        self.meter.says(format!("point {at} of {points}: {what}"));
        self.show(0.0);
    }

    /// The point goes on.
    pub fn update(&mut self, rows: u64, elapsed: Duration) {
        self.show(self.per_point.part(rows, elapsed));
    }

    /// The point is over; so many parts of the samples are not Parquet yet.
    pub fn storing(&mut self, left: usize) {
        // A single one takes a second at most.
        if left > 1 {
            let (at, points) = (self.at + 1, self.points);
            self.meter.says(format!(
                "point {at} of {points}: storing samples, {left} parts left"
            ));
        }
    }

    /// How often figures of the running point are shown.
    pub fn slice_time(&self) -> Option<Duration> {
        self.meter.slice_time()
    }

    /// Figures of the running point.
    pub fn slice(&mut self, slice: Slice) {
        self.meter.slice(self.at as u32, slice);
    }

    /// Something that must not wait for the end of the run.
    pub fn warn(&mut self, text: &str) {
        self.meter.warn(text);
    }

    fn show(&mut self, within: f64) {
        let part = (self.at as f64 + within) / self.points as f64;
        self.meter.update(part.min(1.0));
    }

    /// The run is over.
    pub fn clear(&mut self) {
        self.meter.clear();
    }
}

/// A bar on a terminal.
pub struct Bar {
    bar: ProgressBar,
    begun: Instant,
}

const PARTS: u64 = 1000;

/// What is done sooner needs no bar.
const SOON: Duration = Duration::from_millis(300);

impl Bar {
    /// A bar; hidden if asked to, and where standard error is no terminal.
    pub fn new(hidden: bool) -> Bar {
        Bar {
            bar: bar(PARTS, hidden),
            begun: Instant::now(),
        }
    }
}

impl Meter for Bar {
    fn says(&mut self, what: String) {
        self.bar.set_message(what);
    }

    fn update(&mut self, part: f64) {
        if self.begun.elapsed() > SOON {
            self.bar.set_position((part * PARTS as f64) as u64);
        }
    }

    fn warn(&mut self, text: &str) {
        self.bar.suspend(|| {
            // Nobody may be there to read it.
            let _ = writeln!(anstream::stderr(), "{CAUTION}warning:{RESET} {text}");
        });
    }

    fn clear(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn bar(length: u64, hidden: bool) -> ProgressBar {
    let target = if hidden {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}
