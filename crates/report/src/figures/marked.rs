//! Curves through values of several points, drawn so that a page can leave out points: a marker and an interval in a
//! group of its own for each, and a line that knows whose its vertices are.

use super::canvas::Frame;
use super::look::{LINE, Series};
use wiregauge_stats::Estimate;

/// A value of a point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Marked {
    /// Of the point.
    pub(super) key: String,
    pub(super) x: f64,
    pub(super) y: Estimate,
}

/// A line with markers, and the intervals that are known.
pub(super) fn curve(frame: &Frame, values: &[Marked], series: Series) {
    for value in values {
        if let (Some(low), Some(high)) = (value.y.low, value.y.high) {
            let bounds = [(value.x, low, high)];
            frame.of_points(&value.key, || frame.intervals(&bounds, series.colour));
        }
    }
    frame.open("curve");
    line(frame, values, series, LINE);
    for value in values {
        let at = [(value.x, value.y.value)];
        frame.of_points(&value.key, || frame.markers(&at, series));
    }
    frame.close();
}

/// A line without markers.
pub(super) fn line(frame: &Frame, values: &[Marked], series: Series, width: f64) {
    let places: Vec<(&str, f64, f64)> = values
        .iter()
        .map(|value| (value.key.as_str(), value.x, value.y.value))
        .collect();
    frame.line_through(&places, series, width);
}
