//! Rates of a stream as bars: transfer size by queue, IN and OUT side by side, under the limit.

use super::Figure;
use super::axes::{Axis, bounds, size_label};
use super::canvas::{Canvas, Entry, Key};
use super::cells::{distinct, few, links, listed, only, spread, wide};
use super::limits::Limits;
use super::look::{HEIGHT, SERIES};
use super::point_key;
use super::stream_cells::{FlowCell, FlowPanel, panels, stream};
use crate::Subject;

const MOST_SIZES: usize = 10;
/// Bars of one size: queues of all runs.
const MOST_BARS: usize = 8;
/// Bars in half the width of a figure; with more of them every panel takes the whole width.
const BARS_SIDE_BY_SIDE: usize = 20;

/// What the bars of one colour are of.
type Bars = (usize, u32);

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let mut cells = stream(subjects);
    let rate = |cell: &FlowCell<'_>| cell.flow.rate.map(|rate| rate.value);
    cells.retain(|cell| rate(cell).is_some_and(f64::is_finite));
    if cells.len() < 2 {
        return Vec::new();
    }
    let (panels, mut left_out) = panels(&mut cells);
    let all_sizes = distinct(cells.iter().map(|cell| cell.point.transfer_bytes));
    let sizes = spread(&all_sizes, MOST_SIZES);
    if sizes.len() < all_sizes.len() {
        let labels: Vec<String> = sizes.iter().map(|size| size_label(*size)).collect();
        left_out.push_str(&format!(
            " Shown sizes, of {}: {} B.",
            all_sizes.len(),
            listed(&labels)
        ));
    }
    let runs = distinct(cells.iter().map(|cell| cell.subject));
    let queues = distinct(cells.iter().map(|cell| cell.point.queue));
    let most = (MOST_BARS / runs.len()).max(1);
    let (queues, queues_left_out) = few(&queues, most, "queues", u32::to_string);
    left_out += &queues_left_out;
    cells.retain(|cell| sizes.contains(&cell.point.transfer_bytes));
    cells.retain(|cell| queues.contains(&cell.point.queue));
    let bars = distinct(cells.iter().map(|cell| (cell.subject, cell.point.queue)));
    vec![figure(subjects, &cells, &panels, &sizes, &bars, &left_out)]
}

fn figure(
    subjects: &[Subject],
    cells: &[FlowCell<'_>],
    panels: &[FlowPanel],
    sizes: &[u32],
    bars: &[Bars],
    left_out: &str,
) -> Figure {
    let runs = distinct(bars.iter().map(|bar| bar.0));
    let queues = distinct(bars.iter().map(|bar| bar.1));
    // One run: a colour for each queue. Several: a colour for each run, paler for longer queues.
    let look = |(run, queue): Bars| {
        let queue = queues.iter().position(|other| *other == queue).unwrap_or(0);
        match runs.iter().position(|other| *other == run).unwrap_or(0) {
            _ if runs.len() == 1 => (SERIES[queue % SERIES.len()], 1.0),
            run => (
                SERIES[run % SERIES.len()],
                1.0 - 0.65 * queue as f64 / queues.len() as f64,
            ),
        }
    };
    let name = |(run, queue): Bars| match (runs.len(), queues.len()) {
        (1, _) => format!("queue {queue}"),
        (_, 1) => subjects[run].label.clone(),
        _ => format!("{}: queue {queue}", subjects[run].label),
    };
    let entry = |bar: &Bars| {
        let (colour, opacity) = look(*bar);
        let is_of_it = |cell: &&FlowCell<'_>| (cell.subject, cell.point.queue) == *bar;
        let keys = cells.iter().filter(is_of_it).map(FlowCell::key);
        let entry = Key::Area(colour, opacity).named(name(*bar));
        entry.of(point_key::list(keys))
    };
    let legend: Vec<Entry> = bars.iter().map(entry).collect();

    let value = |cell: &FlowCell<'_>| cell.flow.rate.map(|rate| rate.value);
    let range = bounds(cells.iter().filter_map(value)).unwrap_or((0.0, 1.0));
    let logarithmic = wide(range, 60.0);
    let known = cells
        .iter()
        .map(|cell| ((cell.subject, cell.point.link), cell.flow.limit.as_ref()));
    let limits = Limits::of(
        subjects,
        known,
        range.1,
        if logarithmic { 30.0 } else { 2.5 },
    );
    let only = only(&legend);
    let upper = cells.iter().filter_map(|cell| cell.flow.rate?.high);
    let high = upper.fold(range.1.max(limits.highest()), f64::max);

    let is_wide = sizes.len() * bars.len() > BARS_SIDE_BY_SIDE;
    let columns = if is_wide { 1 } else { 2 };
    let count = (panels.len(), columns);
    let (canvas, places) = Canvas::with_panels(count, (HEIGHT - 40, 260), &legend);
    for (panel, place) in panels.iter().zip(places) {
        let x = Axis::size_slots("Transfer size", sizes);
        let y = match logarithmic {
            true => Axis::log_rate("Rate", range.0, high),
            false => Axis::rate("Rate", high),
        };
        let floor = y.range().0;
        canvas.open("panel");
        let frame = canvas.frame(place, &panel.name(panels), x, y);
        let width = frame.bar_width(bars.len());
        frame.open("bars");
        let mut intervals = Vec::new();
        for (at, bar) in bars.iter().enumerate() {
            for (slot, size) in sizes.iter().enumerate() {
                let of_it = cells.iter().filter(|cell| {
                    cell.panel() == *panel
                        && (cell.subject, cell.point.queue) == *bar
                        && cell.point.transfer_bytes == *size
                });
                for (key, rate) in of_it.filter_map(|cell| Some((cell.key(), cell.flow.rate?))) {
                    let left = slot as f64 + 0.5 + width * (at as f64 - bars.len() as f64 / 2.0);
                    let (colour, opacity) = look(*bar);
                    let gap = width * 0.06;
                    frame.of_points(&key, || {
                        frame.bar(
                            (left + gap, left + width - gap),
                            (floor, rate.value),
                            colour,
                            opacity,
                        );
                    });
                    if let (Some(low), Some(high)) = (rate.low, rate.high) {
                        intervals.push((key, (left + width / 2.0, low, high)));
                    }
                }
            }
        }
        frame.close();
        for (key, interval) in intervals {
            frame.of_points(&key, || {
                frame.intervals(&[interval], super::look::INK);
            });
        }
        limits.draw(&frame, &[panel.link]);
        canvas.close();
    }
    let caption = format!(
        "Thin bars: 95 % confidence interval.{only}{}{}{left_out}{}",
        match logarithmic {
            true => " The axis is logarithmic: compare the tops of the bars, not their lengths.",
            false => "",
        },
        limits.caption(),
        links(subjects)
    );
    canvas.finish(
        "rate-transfer-queue",
        "Rate by transfer size and queue",
        &caption,
    )
}
