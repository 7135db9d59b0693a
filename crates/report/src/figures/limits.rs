//! Physical limits of links as lines in a figure, or in words where they lie far above it.

use super::axes::number;
use super::canvas::{Frame, Key};
use super::look::Series;
use wiregauge_record::BusLimit;

/// The limits that concern a figure.
pub(super) struct Limits {
    drawn: Vec<BusLimit>,
    beyond: Vec<BusLimit>,
}

impl Limits {
    /// Those of some points, each once; drawn if they are at most `reach` times what was measured.
    pub(super) fn of<'a>(
        known: impl IntoIterator<Item = &'a BusLimit>,
        measured: f64,
        reach: f64,
    ) -> Limits {
        let mut all: Vec<BusLimit> = Vec::new();
        for limit in known {
            let same =
                |other: &BusLimit| other.bytes_s == limit.bytes_s && other.source == limit.source;
            if limit.bytes_s.is_finite() && limit.bytes_s > 0.0 && !all.iter().any(same) {
                all.push(limit.clone());
            }
        }
        let (drawn, beyond) = all
            .into_iter()
            .partition(|limit| limit.bytes_s <= measured * reach);
        Limits { drawn, beyond }
    }

    /// The highest that is drawn; 0 if none is.
    pub(super) fn highest(&self) -> f64 {
        self.drawn
            .iter()
            .map(|limit| limit.bytes_s)
            .fold(0.0, f64::max)
    }

    /// As lines with their names.
    pub(super) fn draw(&self, frame: &Frame) {
        for limit in &self.drawn {
            frame.limit(limit.bytes_s, &name(limit));
        }
    }

    /// As lines whose names stand in the legend, where data would run through them.
    pub(super) fn draw_bare(&self, frame: &Frame) {
        for limit in &self.drawn {
            frame.limit(limit.bytes_s, "");
        }
    }

    /// For the legend.
    pub(super) fn legend(&self) -> impl Iterator<Item = (Key, String)> {
        let entry = |limit| (Key::Line(Series::limit()), name(limit));
        self.drawn.iter().map(entry)
    }

    /// What a reader must know of them.
    pub(super) fn caption(&self) -> String {
        let mut caption = String::new();
        for limit in self.drawn.iter().take(4) {
            let shared = if limit.shared {
                ", shared by both directions"
            } else {
                ""
            };
            caption.push_str(&format!(" The limit: {}{shared}.", limit.source));
        }
        for limit in self.beyond.iter().take(4) {
            caption.push_str(&format!(
                " Not shown, because it is far above: {}, {}.",
                rate(limit.bytes_s),
                limit.source
            ));
        }
        caption
    }
}

fn name(limit: &BusLimit) -> String {
    format!("limit {}: {}", rate(limit.bytes_s), short(&limit.source))
}

/// What comes before the place where it is written.
fn short(source: &str) -> &str {
    source.split([',', ';']).next().unwrap_or(source)
}

/// A rate with its unit.
pub(super) fn rate(bytes_s: f64) -> String {
    let (unit, name) = if bytes_s >= 1e6 {
        (1e6, "MB/s")
    } else {
        (1e3, "kB/s")
    };
    let value = bytes_s / unit;
    let decimals = if value >= 100.0 { 1.0 } else { 0.01 };
    let rounded = (value / decimals).round() * decimals;
    format!(
        "{} {name}",
        number(
            rounded,
            if rounded.fract() == 0.0 {
                1.0
            } else {
                decimals
            }
        )
    )
}
