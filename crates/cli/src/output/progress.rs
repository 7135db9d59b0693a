//! The progress bar of long work, on standard error, drawn only on a terminal and never by the
//! measuring thread.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

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
        let target = if hidden {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let points = points.max(1);
        let bar = ProgressBar::with_draw_target(Some(PARTS * points as u64), target);
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
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
