//! The buffer that a device needs against the constant rate at which it makes or uses data.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Key, Limit};
use super::cells::listed;
use super::flows;
use super::look::{Marker, SERIES, Series};
use crate::Subject;
use crate::load::Flow;
use std::collections::BTreeSet;
use wiregauge_record::{BufferNeed, FlowSummary};

/// More curves in a panel cannot be distinguished.
const MOST_CURVES: usize = 6;

/// More rates of `--rate` in a panel cannot be named.
const MOST_ASKED: usize = 6;

/// The axis goes on to a rate of `--rate` that is up to so many times the fastest one.
const NEAR: f64 = 1.5;

/// A bound of an estimate further than this from its value is not drawn: it says of the tail only
/// that it is heavy.
const REACH: f64 = 30.0;

pub(crate) fn draw(subjects: &[Subject]) -> Option<Figure> {
    let has_curve = |summary: &FlowSummary, loaded: &Flow| !curve(summary, loaded).is_empty();
    let drawn = flows::chosen(subjects, has_curve, MOST_CURVES)?;
    let mut legend = drawn.legend();
    let needs = drawn.curves();
    let mut needs = needs.flat_map(|curve| &curve.point.summary.buffers);
    let loss = needs.find(|need| estimate(need).is_some());
    let loss = loss.map(|need| need.loss);
    if let Some(loss) = loss {
        if legend.is_empty() {
            legend.push(Key::Points(Series::of(0)).named("worst of this run"));
        }
        let name = format!(
            "for a loss probability of {} (rates of --rate)",
            loss_name(loss)
        );
        legend.push(Key::Mark(for_loss(SERIES[0])).named(name));
    }
    let (canvas, places) = drawn.sheet(&legend);
    let mut beyond = BTreeSet::new();
    for ((way, curves), place) in drawn.panels.iter().zip(places) {
        let points = || {
            let flows = curves.iter().map(|one| &one.point);
            flows.flat_map(|flow| curve(flow.summary, flow.loaded))
        };
        let needs = || curves.iter().flat_map(|one| &one.point.summary.buffers);
        let value = |need: &BufferNeed| Some((need.rate_bytes_s as f64, estimate(need)?));
        let estimates = || needs().filter_map(value);
        let rates = points().map(|(rate, _)| rate);
        let rates = rates.chain(estimates().map(|(rate, _)| rate));
        let (slow, fast) = bounds(rates).unwrap_or((1.0, 1.0));
        let asked: BTreeSet<u64> = needs().map(|need| need.rate_bytes_s).collect();
        // A rate of --rate that no curve reaches is still seen.
        let near = asked.iter().map(|rate| *rate as f64);
        let fast = near.filter(|rate| *rate < NEAR * fast).fold(fast, f64::max);
        let bytes = points().map(|(_, bytes)| bytes);
        let bounds_of = estimates().flat_map(|(_, (value, low, high))| [value, low, high]);
        let positive = bytes.chain(bounds_of).filter(|bytes| *bytes > 0.0);
        let (least, most) = bounds(positive).unwrap_or((1.0, 1.0));
        let x = match fast > 20.0 * slow.max(1.0) {
            true => Axis::log_rate("Constant rate of the device", slow, fast),
            false => Axis::rate("Constant rate of the device", fast),
        };
        // Room for the names of the rates above the curves.
        let y = Axis::log_bytes("Buffer", least, most * (most / least).powf(0.15));
        beyond.extend(asked.iter().filter(|rate| !x.holds(**rate as f64)));
        let named = |rate: u64| Limit {
            at: rate as f64,
            name: format!("--rate {}", rate_name(rate)),
        };
        let asked: Vec<_> = asked.into_iter().take(MOST_ASKED).map(named).collect();
        let frame = canvas.frame(place, flows::title(*way), x, y);
        frame.limits_x(&asked);
        for one in curves {
            let (flow, series) = (&one.point, one.look);
            frame.curve(&curve(flow.summary, flow.loaded), series);
            frame.open("for-loss");
            for need in &flow.summary.buffers {
                if let Some((value, low, high)) = estimate(need) {
                    let rate = need.rate_bytes_s as f64;
                    frame.intervals(&[(rate, low, high)], series.colour);
                    frame.markers(&[(rate, value)], for_loss(series.colour));
                }
            }
            frame.close();
        }
    }
    let caption = caption(&drawn, loss, &beyond);
    Some(canvas.finish("buffer-rate", "Buffer needed against rate", &caption))
}

/// The rates that were loaded and those of `--rate` that the link sustained: rate and bytes, ascending.
fn curve(summary: &FlowSummary, loaded: &Flow) -> Vec<(f64, f64)> {
    let loaded = loaded.buffer.iter();
    let loaded = loaded.map(|buffer| (buffer.rate_bytes_s, buffer.worst_bytes));
    let asked = summary.buffers.iter().filter(|need| need.sustained);
    let asked = asked.map(|need| (need.rate_bytes_s as f64, need.worst_bytes as f64));
    let mut curve: Vec<(f64, f64)> = loaded.chain(asked).collect();
    curve.sort_by(|a, b| a.0.total_cmp(&b.0));
    // A higher rate needs no smaller buffer. The samples end with the last transfer, while the rates of --rate were
    // followed until the measurement ended.
    let mut most: f64 = 0.0;
    for (_, bytes) in &mut curve {
        most = most.max(*bytes);
        *bytes = most;
    }
    curve
}

/// A rate as it is asked for.
fn rate_name(bytes_s: u64) -> String {
    match bytes_s {
        rate if rate >= 1_000_000 => format!("{} MB/s", rate as f64 / 1e6),
        rate if rate >= 1000 => format!("{} kB/s", rate as f64 / 1e3),
        rate => format!("{rate} B/s"),
    }
}

/// A loss probability as it was asked for.
fn loss_name(loss: f64) -> String {
    format!("{} %", (loss * 1e8).round() / 1e6)
}

/// The mark of an estimate for a loss probability.
fn for_loss(colour: &'static str) -> Series {
    Series::mark(colour, Marker::Diamond, true)
}

/// Value and bounds of the buffer for a loss probability, where the run can tell.
fn estimate(need: &BufferNeed) -> Option<(f64, f64, f64)> {
    let found = need.for_loss_bytes.filter(|_| need.sustained)?;
    let (value, low, high) = (found.value, found.low?, found.high?);
    (high <= REACH * value.max(1.0)).then_some((value, low.max(value / REACH), high))
}

fn caption(drawn: &flows::Drawn<'_>, loss: Option<f64>, beyond: &BTreeSet<u64>) -> String {
    let mut text = String::from(
        "Largest backlog in this run if the device produced (IN) or consumed (OUT) data at a constant rate. \
         Each curve ends at the rate that the link sustained; beyond it no buffer is large enough. Of 100 transfers \
         or fewer, only the rates of --rate are shown. A longer run can find a larger backlog.",
    );
    if let Some(loss) = loss {
        text.push_str(&format!(
            " Hollow diamonds: the buffer that only {} of the transfers find full, with its 95 % \
             interval, at the rates of --rate.",
            loss_name(loss)
        ));
    }
    let beyond: Vec<String> = beyond.iter().map(|rate| rate_name(*rate)).collect();
    if !beyond.is_empty() {
        let rates = listed(&beyond);
        text.push_str(&format!(" Faster than the axis: --rate {rates}."));
    }
    text.push_str(&drawn.left_out);
    text
}
