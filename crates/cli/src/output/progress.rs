//! The progress bar of long work, on standard error, drawn only on a terminal and never by the
//! measuring thread.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// The bar of one run. Its unit is a thousandth of the whole, so that points counted in exchanges
/// and points counted in seconds are shown alike.
pub struct Progress {
    bar: ProgressBar,
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

const PARTS: u64 = 1000;

impl Progress {
    /// A bar for so many points; hidden if asked to, and where standard error is no terminal.
    pub fn new(points: usize, per_point: Extent, hidden: bool) -> Progress {
        let points = points.max(1);
        let bar = bar(PARTS * points as u64, hidden);
        Progress {
            bar,
            points,
            at: 0,
            per_point,
        }
    }

    /// A point begins.
    pub fn begin(&mut self, index: u32, what: String) {
        self.at = index as usize;
        let (at, points) = (self.at + 1, self.points);
        self.bar
            .set_message(format!("point {at} of {points}: {what}"));
        self.bar.set_position(PARTS * self.at as u64);
    }

    /// The point goes on.
    pub fn update(&self, rows: u64, elapsed: Duration) {
        let part = match self.per_point {
            Extent::Rows(count) => rows as f64 / count as f64,
            Extent::Time(time) => elapsed.as_secs_f64() / time.as_secs_f64(),
        };
        let within = (part.min(1.0) * PARTS as f64) as u64;
        self.bar.set_position(PARTS * self.at as u64 + within);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The bar of work that knows which part of it is done.
pub struct Bar {
    bar: ProgressBar,
    begun: Instant,
}

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

    /// What is being done.
    pub fn says(&self, what: String) {
        self.bar.set_message(what);
    }

    /// This part of the whole is done, 0 to 1.
    pub fn update(&self, part: f64) {
        if self.begun.elapsed() > SOON {
            self.bar.set_position((part * PARTS as f64) as u64);
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
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
