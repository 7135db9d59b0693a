//! The flows of a stream: the rate over time, second by second, which says whether the mean is one of a steady flow, and
//! the gaps between completions, on a percentile axis, which say how long the host did not look.

use super::Figure;
use super::axes::{Axis, bounds};
use super::cells::links;
use super::flows::{self, Sampled};
use super::percentile_axis::{self, Curve};
use crate::Subject;
use wiregauge_record::FlowSummary;

/// More curves in a panel cannot be distinguished.
const MOST_CURVES: usize = 6;

/// More markers of a curve hide its line.
const MOST_MARKERS: usize = 25;

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let both = [rates(subjects), gaps(subjects)];
    both.into_iter().flatten().collect()
}

fn rates(subjects: &[Subject]) -> Option<Figure> {
    let has_rates = |flow: &Sampled<'_>| {
        flow.summary.rate_bytes_s.len() > 1 && flow.summary.rate_step_ns > 0
    };
    let drawn = flows::chosen(subjects, has_rates, MOST_CURVES)?;
    let all = drawn.flows().flat_map(|flow| &flow.summary.rate_bytes_s);
    let (_, high) = bounds(all.copied()).unwrap_or((0.0, 1.0));
    let length = |flow: &FlowSummary| flow.rate_bytes_s.len() as f64 * flow.rate_step_ns as f64;
    let longest = drawn.flows().map(|flow| length(flow.summary));
    let longest = longest.fold(1.0, f64::max);
    let (canvas, places) = drawn.sheet(&drawn.legend());
    for (panel, place) in drawn.panels.iter().zip(places) {
        let x = Axis::elapsed("Measured time", longest);
        canvas.open("panel");
        let frame = canvas.frame(place, flows::title(panel.way), x, Axis::rate("Rate", high));
        for (_, series, flow) in &panel.curves {
            let step = flow.summary.rate_step_ns as f64;
            let rates = flow.summary.rate_bytes_s.iter().enumerate();
            let points = rates.map(|(n, rate)| ((n as f64 + 0.5) * step, *rate));
            let points: Vec<(f64, f64)> = points.collect();
            let every = points.len().div_ceil(MOST_MARKERS);
            let marked: Vec<_> = points.iter().step_by(every).copied().collect();
            frame.open_point("curve", &flow.key());
            frame.line(&points, *series);
            frame.markers(&marked, *series);
            frame.close();
        }
        canvas.close();
    }
    let caption = format!(
        "Each point is the mean over one second, or over 0.1 s if the run is shorter than 3 s. Start-up is \
         excluded.{}{}",
        drawn.left_out,
        links(subjects)
    );
    Some(canvas.finish("rate-time", "Rate over time", &caption))
}

fn gaps(subjects: &[Subject]) -> Option<Figure> {
    let drawn = flows::chosen(subjects, |flow| !flow.loaded.gap.is_empty(), MOST_CURVES)?;
    let (canvas, places) = drawn.sheet(&drawn.legend());
    for (panel, place) in drawn.panels.iter().zip(places) {
        let curves = panel.curves.iter().map(|(name, series, flow)| Curve {
            name: name.clone(),
            key: flow.key(),
            series: *series,
            values: &flow.loaded.gap,
        });
        let (title, curves) = (flows::title(panel.way), curves.collect::<Vec<_>>());
        percentile_axis::panel(&canvas, place, title, "Gap", "gaps", &curves);
    }
    let caption = format!(
        "Time from one completion to the next; the device must buffer its data for that long. {}{}",
        percentile_axis::CAPTION,
        drawn.left_out
    );
    Some(canvas.finish("gap-percentiles", "Gaps between completions", &caption))
}
