//! What differs between runs: a dot with its interval for each point, and the line of no difference.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Key};
use super::look::{INK, MUTED, Marker, SERIES, Series};
use wiregauge_compare::{Compared, ComparedPoint, Comparison, Verdict};
use wiregauge_record::Unit;
use wiregauge_stats::Estimate;

/// Height of a point, and of what stands around the points of a panel, in pixels.
const ROW: u32 = 22;
const AROUND: u32 = 78;

/// Panels and points that one figure can hold and still be read.
const PANELS: usize = 4;
const POINTS: usize = 24;

/// Farther than any axis reaches.
const FAR: f64 = 1e9;

/// Draws a comparison; nothing if there is nothing to draw.
pub fn of_comparison(comparison: &Comparison) -> Vec<Figure> {
    let Some(first) = comparison.points.first() else {
        return Vec::new();
    };
    let is_drawn = |compared: &&Compared| compared.figure.unit() != Unit::Share;
    let mut chosen: Vec<String> = first
        .figures
        .iter()
        .filter(is_drawn)
        .map(|c| c.figure.to_string())
        .collect();
    // The figures that are read first, if not all have room.
    let favoured = [
        "p50",
        "p99",
        "mean",
        "exchanges",
        "throughput",
        "gap.p50",
        "gap.p99",
        "transfer.p99",
    ];
    if chosen.len() > PANELS {
        chosen.retain(|name| favoured.contains(&name.as_str()));
        chosen.truncate(PANELS);
    }
    if chosen.is_empty() {
        return Vec::new();
    }
    vec![draw(comparison, &chosen)]
}

fn draw(comparison: &Comparison, figures: &[String]) -> Figure {
    let shown = comparison.points.len().min(POINTS);
    let points = &comparison.points[..shown];
    let names = labels(points);
    let columns = if figures.len() == 1 { 1 } else { 2 };
    let row = AROUND + ROW * shown as u32;
    let verdicts = [
        (Verdict::Worse, "worse"),
        (Verdict::Better, "better"),
        (Verdict::NoDifferenceShown, "no significant difference"),
        (Verdict::CannotTell, "inconclusive"),
    ];
    let legend = verdicts.map(|(verdict, name)| Key::Mark(look(verdict)).named(name));
    let (canvas, places) = Canvas::with_panels((figures.len(), columns), (row, row), &legend);
    for (figure, place) in figures.iter().zip(places) {
        let found: Vec<Option<(Estimate, Verdict)>> = points
            .iter()
            .map(|point| {
                let mut all = point.figures.iter();
                let compared = all.find(|compared| compared.figure.to_string() == *figure)?;
                Some((compared.judged()?, compared.verdict))
            })
            .collect();
        panel(&canvas, place, figure, &names, &found);
    }
    let left_out = match comparison.points.len() - shown {
        0 => String::new(),
        more => format!(" {more} more points are in the table."),
    };
    let caption = format!(
        "After against before, in percent of before. The {:.0} % intervals of all {} compared figures hold \
         jointly; an interval that reaches the edge continues beyond it or is unbounded. Where an interval \
         contains 0, there is no significant difference.{left_out}",
        comparison.confidence * 100.0,
        comparison.compared
    );
    canvas.finish("compare", "Differences", &caption)
}

/// Names of the points, without what is the same in all of them.
fn labels(points: &[ComparedPoint]) -> Vec<String> {
    let differs = |name: &str| {
        let mut values = points.iter().map(|point| point.point.value(name));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let label = |point: &ComparedPoint| {
        let varying = point.point.only(differs).to_string();
        match varying.is_empty() {
            true => point.point.to_string(),
            false => varying,
        }
    };
    points.iter().map(label).collect()
}

fn look(verdict: Verdict) -> Series {
    let (colour, marker, hollow) = match verdict {
        Verdict::Worse => (SERIES[4], Marker::Triangle, false),
        Verdict::Better => (SERIES[0], Marker::Circle, false),
        Verdict::NoDifferenceShown => (MUTED, Marker::Circle, true),
        Verdict::CannotTell => (MUTED, Marker::Square, true),
    };
    Series::mark(colour, marker, hollow)
}

fn panel(
    canvas: &Canvas,
    place: super::canvas::Place,
    name: &str,
    names: &[String],
    found: &[Option<(Estimate, Verdict)>],
) {
    let tables = |estimate: &Estimate| [estimate.low, Some(estimate.value), estimate.high];
    let drawn = found.iter().flatten();
    let values = drawn.clone().map(|(estimate, _)| estimate.value);
    let (least, most) = bounds(values.chain([0.0])).unwrap_or((0.0, 0.0));
    // A wide interval must not press all others together: three times the spread of the values.
    let room = (most - least).max(0.005) * 1.5;
    let ends = drawn.flat_map(|(estimate, _)| tables(estimate)).flatten();
    let held = ends.map(|end| end.clamp(least - room, most + room));
    let (low, high) = bounds(held.chain([0.0])).unwrap_or((-0.01, 0.01));
    let margin = 0.06 * (high - low).max(0.002);
    let x = Axis::percent("change", low - margin, high + margin);
    let rows = names.len() as f64;
    canvas.open("panel");
    let frame = canvas.frame(place, name, x, Axis::points(names));
    frame.open("limit");
    frame.line(&[(0.0, 0.0), (0.0, rows)], Series::limit().solid());
    frame.close();
    for (at, of) in found.iter().enumerate() {
        let Some((estimate, verdict)) = of else {
            continue;
        };
        let y = rows - at as f64 - 0.5;
        let series = look(*verdict);
        // A side without a bound goes beyond every edge.
        let ends = [estimate.low.unwrap_or(-FAR), estimate.high.unwrap_or(FAR)];
        let colour = if series.hollow { INK } else { series.colour };
        if estimate.low.is_some() || estimate.high.is_some() {
            frame.intervals_across(&[(ends[0], ends[1], y)], colour);
        }
        frame.markers(&[(estimate.value, y)], series);
    }
    canvas.close();
}
