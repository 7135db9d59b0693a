//! The progress bar of long work, on standard error, drawn only on a terminal and never by the
//! measuring thread.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;
use wiregauge_record::{Limit, Plan, Point};

/// The bar of one run. Its unit is a thousandth of the whole, so that points counted in exchanges
/// and points counted in seconds are shown alike.
pub struct Progress {
    bar: ProgressBar,
    points: usize,
    at: usize,
    per_point: Extent,
}

enum Extent {
    Exchanges(u64),
    Time(Duration),
}

const PARTS: u64 = 1000;

impl Progress {
    /// A bar for a plan; hidden if asked to, and where standard error is no terminal.
    pub fn new(plan: &Plan, hidden: bool) -> Progress {
        let target = if hidden {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let points = plan.points.len().max(1);
        let bar = ProgressBar::with_draw_target(Some(PARTS * points as u64), target);
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        let per_point = match plan.limit {
            Limit::Count(_) => Extent::Exchanges(plan.exchanges_per_point().unwrap_or(1)),
            Limit::DurationNs(ns) => Extent::Time(Duration::from_nanos(ns)),
        };
        Progress {
            bar,
            points,
            at: 0,
            per_point,
        }
    }

    /// A point begins.
    pub fn begin(&mut self, point: Point) {
        self.at = point.index as usize;
        self.bar.set_message(format!(
            "point {} of {}: OUT {} B, IN {} B, depth {}",
            self.at + 1,
            self.points,
            point.out_bytes,
            point.in_bytes,
            point.depth
        ));
        self.bar.set_position(PARTS * self.at as u64);
    }

    /// The point goes on.
    pub fn update(&self, progress: wiregauge::exchange::Progress) {
        let part = match self.per_point {
            Extent::Exchanges(count) => progress.ended as f64 / count as f64,
            Extent::Time(time) => progress.elapsed.as_secs_f64() / time.as_secs_f64(),
        };
        let within = (part.min(1.0) * PARTS as f64) as u64;
        self.bar.set_position(PARTS * self.at as u64 + within);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
