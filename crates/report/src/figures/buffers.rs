//! The buffer that a device must have so that none of a constant rate is lost, for the rates that
//! were asked for.

use super::Figure;
use super::axes::{Axis, bounds, size_label};
use super::canvas::{Canvas, Key};
use super::cells::{distinct, links, spread, wide};
use super::limits::rate;
use super::look::{HEIGHT, INK, SERIES};
use super::stream_cells::{FlowCell, FlowPanel, stream};
use super::svg::Anchor;
use crate::Subject;

const MOST_PANELS: usize = 4;
const MOST_RATES: usize = 6;
/// Bars of one rate.
const MOST_BARS: usize = 6;

/// What the bars of one colour are of.
type Bars = (usize, u32, u32);

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let mut cells = stream(subjects);
    cells.retain(|cell| !cell.flow.buffers.is_empty());
    let needs = |cell: &FlowCell<'_>| cell.flow.buffers.clone();
    if !cells.iter().flat_map(needs).any(|need| need.sustained) {
        return Vec::new();
    }
    let all_panels = distinct(cells.iter().map(FlowCell::panel));
    let panels: Vec<FlowPanel> = all_panels.iter().take(MOST_PANELS).copied().collect();
    cells.retain(|cell| panels.contains(&cell.panel()));
    let of = |cell: &FlowCell<'_>| -> Bars {
        (cell.subject, cell.point.transfer_bytes, cell.point.queue)
    };
    let all_bars = distinct(cells.iter().map(of));
    let bars = spread(&all_bars, MOST_BARS);
    cells.retain(|cell| bars.contains(&of(cell)));
    let all_rates = distinct(cells.iter().flat_map(needs).map(|need| need.rate_bytes_s));
    let rates = spread(&all_rates, MOST_RATES);

    let runs = distinct(bars.iter().map(|bar| bar.0)).len();
    let queues = distinct(bars.iter().map(|bar| bar.2)).len();
    let name = |bar: &Bars| {
        let mut parts = Vec::new();
        if runs > 1 {
            parts.push(subjects[bar.0].label.clone());
        }
        parts.push(format!("{} B", size_label(bar.1)));
        if queues > 1 {
            parts.push(format!("queue {}", bar.2));
        }
        parts.join(", ")
    };
    let legend: Vec<(Key, String)> = bars
        .iter()
        .enumerate()
        .map(|(n, bar)| (Key::Area(SERIES[n], 1.0), name(bar)))
        .collect();

    let held = cells
        .iter()
        .flat_map(needs)
        .filter(|need| need.sustained)
        .flat_map(|need| {
            let estimate = need.for_loss_bytes;
            [
                Some(need.worst_bytes as f64),
                estimate.map(|bytes| bytes.value),
                estimate.and_then(|bytes| bytes.high),
            ]
        });
    let mut range = bounds(held.flatten().filter(|bytes| *bytes > 0.0)).unwrap_or((1.0, 1.0));
    // Bounds of an extrapolation have no end of their own; they must not press the rest flat.
    let worst = cells.iter().flat_map(needs).filter(|need| need.sustained);
    let worst = worst.map(|need| need.worst_bytes).max().unwrap_or(1).max(1);
    range.1 = range.1.min(worst as f64 * 30.0);
    range.0 = range.0.min(range.1);
    let logarithmic = wide(range, 60.0);
    let columns = if rates.len() * bars.len() > 16 { 1 } else { 2 };
    let rows = panels.len().div_ceil(columns) as u32;
    let canvas = Canvas::new(if rows == 1 { HEIGHT - 40 } else { 260 * rows }, &legend);
    let slots: Vec<String> = rates.iter().map(|bytes_s| rate(*bytes_s as f64)).collect();
    for (panel, place) in panels.iter().zip(canvas.panels(panels.len(), columns)) {
        let y = match logarithmic {
            true => Axis::log_bytes("Buffer", range.0 * 0.5, range.1),
            false => Axis::bytes("Buffer", range.1),
        };
        let floor = y.range().0;
        let x = Axis::slots("Constant rate of the device", &slots);
        let frame = canvas.frame(place, &panel.name(&panels), x, y);
        let width = frame.bar_width(bars.len());
        let (mut estimates, mut intervals, mut too_fast) = (Vec::new(), Vec::new(), Vec::new());
        frame.open("bars");
        for (n, bar) in bars.iter().enumerate() {
            let of_bar = cells
                .iter()
                .filter(|cell| cell.panel() == *panel && of(cell) == *bar);
            for need in of_bar.flat_map(needs) {
                let Some(slot) = rates.iter().position(|rate| *rate == need.rate_bytes_s) else {
                    continue;
                };
                let left = slot as f64 + 0.5 + width * (n as f64 - bars.len() as f64 / 2.0);
                let middle = left + width / 2.0;
                if !need.sustained {
                    too_fast.push(middle);
                    continue;
                }
                let (from, to) = (left + width * 0.06, left + width * 0.94);
                frame.bar((from, to), (floor, need.worst_bytes as f64), SERIES[n], 1.0);
                if let Some(bytes) = need.for_loss_bytes {
                    if bytes.value <= range.1 {
                        estimates.push([(from, bytes.value), (to, bytes.value)]);
                    }
                    if let (Some(low), Some(high)) = (bytes.low, bytes.high) {
                        intervals.push((middle, low, high));
                    }
                }
            }
        }
        frame.close();
        for ends in estimates {
            frame.line_of(&ends, super::look::Series::edge(), 2.0);
        }
        frame.intervals(&intervals, INK);
        for x in too_fast {
            frame.label((x, floor), (0.0, -4.0), Anchor::Middle, "×");
        }
    }
    let losses: Vec<f64> = cells.iter().flat_map(needs).map(|need| need.loss).collect();
    let loss = losses.first().copied().unwrap_or(0.0);
    let mut caption = format!(
        "Bars: the most that had to be held in this run. Lines across: for a loss probability of \
         {loss:e}, with 95 % confidence interval; one \
         without an end reaches beyond the figure. ×: the link was slower than the rate, and no buffer \
         is large enough."
    );
    if logarithmic {
        caption
            .push_str(" The axis is logarithmic: compare the tops of the bars, not their lengths.");
    }
    caption.push_str(&super::cells::only(&legend));
    for (drawn, of, what) in [
        (bars.len(), all_bars.len(), "transfer sizes and queues"),
        (rates.len(), all_rates.len(), "rates"),
        (
            panels.len(),
            all_panels.len(),
            "combinations of way and link",
        ),
    ] {
        if drawn < of {
            caption.push_str(&format!(" {drawn} of {of} {what} are drawn."));
        }
    }
    caption.push_str(&links(subjects));
    vec![canvas.finish(
        "buffer-for-rate",
        "Buffer needed for a constant rate",
        &caption,
    )]
}
