//! The service delay of a loop's blocks, from the last sample in to the output handed over: over time,
//! and on a percentile axis.

use super::Figure;
use super::canvas::{Canvas, Entry};
use super::cells::{joined, label};
use super::look::HEIGHT;
use super::loops::{self, LoopChoice};
use super::percentile_axis;
use super::series::{self, Panel, Quantity};
use crate::Subject;

/// More curves cannot be distinguished.
const MOST_CURVES: usize = 8;

const DELAY: Quantity = Quantity {
    name: "service-series",
    title: "Service delay over time",
    axis: "Service delay",
    one: "block",
    many: "blocks",
};

fn chosen(subjects: &[Subject], most: usize) -> Option<LoopChoice<'_>> {
    let mut points = loops::all(subjects);
    points.retain(|point| point.loaded.series.of > 0);
    (!points.is_empty()).then(|| LoopChoice::of(points, most, most))
}

/// Over time.
pub(crate) fn draw_series(subjects: &[Subject]) -> Vec<Figure> {
    let Some(choice) = chosen(subjects, series::MOST_PANELS) else {
        return Vec::new();
    };
    let mut panels = Vec::new();
    for (row, cell) in choice.cells.iter().enumerate() {
        for &run in &choice.runs {
            let Some(point) = choice.at(run, cell) else {
                continue;
            };
            let run = label(subjects, run, choice.runs.len());
            panels.push(Panel {
                title: joined([run, choice.name(cell)], ": "),
                row,
                series: &point.loaded.series,
                first: None,
            });
        }
    }
    let rule = format!(
        " The service delay is the time from the last input sample of a block to the delivery of its output; \
         the latency needed is one block plus the longest service delay.{}",
        choice.rule
    );
    vec![series::figure(&DELAY, &panels, choice.runs.len(), &rule)]
}

/// On a percentile axis.
pub(crate) fn draw_percentiles(subjects: &[Subject]) -> Vec<Figure> {
    let Some(choice) = chosen(subjects, MOST_CURVES) else {
        return Vec::new();
    };
    let curves: Vec<percentile_axis::Curve<'_>> = choice
        .curves(subjects, DELAY.axis)
        .into_iter()
        .map(|curve| percentile_axis::Curve {
            name: curve.name,
            series: curve.series,
            values: &curve.point.loaded.service,
        })
        .collect();
    let legend: Vec<Entry> = curves.iter().map(percentile_axis::Curve::entry).collect();
    let canvas = Canvas::new(HEIGHT, &legend);
    percentile_axis::panel(&canvas, canvas.place(), "", DELAY.axis, DELAY.many, &curves);
    let caption = format!(
        "Time from the last input sample of a block to the delivery of its output. {}{}",
        percentile_axis::CAPTION,
        choice.rule
    );
    vec![canvas.finish("service-percentiles", "Service delay percentiles", &caption)]
}
