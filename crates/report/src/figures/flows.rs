//! The flows of streams that are drawn, and two figures of them: the rate over time, and the gaps between completions.

use super::Figure;
use super::axes::{Axis, bounds};
use super::canvas::{Canvas, Entry, Place};
use super::cells::links;
use super::look::HEIGHT;
use super::percentile_axis::{self, counted};
use super::selection::{self, Curve, Selection};
use crate::Subject;
use crate::load::Flow;
use wiregauge_record::{FlowSummary, Way};

/// More curves in a panel cannot be distinguished.
const MOST_CURVES: usize = 6;

/// More markers of a curve hide its line.
const MOST_MARKERS: usize = 25;

/// One way of a stream as a line.
pub(super) type FlowCurve<'a> = Curve<'a, FlowSummary, Flow>;

/// What is drawn.
pub(super) struct Drawn<'a> {
    /// A panel for each way.
    pub(super) panels: Vec<(Way, Vec<FlowCurve<'a>>)>,
    /// What is not drawn, in words; begins with a space if it is not empty.
    pub(super) left_out: String,
}

/// Chooses among the flows that have something to show: at most so many curves in each way's panel.
pub(super) fn chosen(
    subjects: &[Subject],
    shows: impl Fn(&FlowSummary, &Flow) -> bool,
    most: usize,
) -> Option<Drawn<'_>> {
    let mut flows = selection::flows(subjects);
    flows.retain(|flow| shows(flow.summary, flow.loaded));
    let selection = Selection::of(flows, most, |runs| most / runs)?;
    let panel = |way: Way| {
        let curves = selection.curves(subjects, |flow| flow.way == way);
        (!curves.is_empty()).then_some((way, curves))
    };
    let panels = [Way::In, Way::Out].into_iter().filter_map(panel);
    Some(Drawn {
        panels: panels.collect(),
        left_out: selection.rule,
    })
}

impl<'a> Drawn<'a> {
    pub(super) fn curves(&self) -> impl Iterator<Item = &FlowCurve<'a>> {
        self.panels.iter().flat_map(|(_, curves)| curves)
    }

    /// A sheet with a panel for each way, one above the other.
    pub(super) fn sheet(&self, legend: &[Entry]) -> (Canvas, Vec<Place>) {
        Canvas::with_panels((self.panels.len(), 1), (HEIGHT, 290), legend)
    }

    /// The names of the curves, each once.
    pub(super) fn legend(&self) -> Vec<Entry> {
        selection::legend(self.curves())
    }
}

/// A way as the title of a panel.
pub(super) fn title(way: Way) -> &'static str {
    match way {
        Way::In => "IN: device to host",
        Way::Out => "OUT: host to device",
    }
}

/// The rate second by second, which says whether the mean is one of a steady flow.
pub(crate) fn draw_rates(subjects: &[Subject]) -> Option<Figure> {
    let has_rates =
        |flow: &FlowSummary, _: &Flow| flow.rate_bytes_s.len() > 1 && flow.rate_step_ns > 0;
    let drawn = chosen(subjects, has_rates, MOST_CURVES)?;
    let rates = drawn.curves();
    let rates = rates.flat_map(|curve| &curve.point.summary.rate_bytes_s);
    let (_, high) = bounds(rates.copied()).unwrap_or((0.0, 1.0));
    let length = |flow: &FlowSummary| flow.rate_bytes_s.len() as f64 * flow.rate_step_ns as f64;
    let longest = drawn.curves().map(|curve| length(curve.point.summary));
    let longest = longest.fold(1.0, f64::max);
    let (canvas, places) = drawn.sheet(&drawn.legend());
    for ((way, curves), place) in drawn.panels.iter().zip(places) {
        let x = Axis::elapsed("Measured time", longest);
        let frame = canvas.frame(place, title(*way), x, Axis::rate("Rate", high));
        for curve in curves {
            let flow = curve.point.summary;
            let step = flow.rate_step_ns as f64;
            let rates = flow.rate_bytes_s.iter().enumerate();
            let points = rates.map(|(n, rate)| ((n as f64 + 0.5) * step, *rate));
            let points: Vec<(f64, f64)> = points.collect();
            frame.curve_marked(&points, MOST_MARKERS, curve.look);
        }
    }
    let caption = format!(
        "Each point is the mean over one second, or over 0.1 s if the run is shorter than 3 s. Start-up is \
         excluded.{}{}",
        drawn.left_out,
        links(subjects)
    );
    Some(canvas.finish("rate-time", "Rate over time", &caption))
}

/// The gaps between completions on a percentile axis, which say how long the host did not look.
pub(crate) fn draw_gaps(subjects: &[Subject]) -> Option<Figure> {
    let has_gaps = |_: &FlowSummary, flow: &Flow| !flow.gap.is_empty();
    let drawn = chosen(subjects, has_gaps, MOST_CURVES)?;
    let (canvas, places) = drawn.sheet(&drawn.legend());
    for ((way, curves), place) in drawn.panels.iter().zip(places) {
        let (title, counted) = (title(*way), counted(curves));
        percentile_axis::panel(&canvas, place, title, "Gap", "gaps", &counted);
    }
    let caption = format!(
        "Time from one completion to the next; the device must buffer its data for that long. {}{}",
        percentile_axis::CAPTION,
        drawn.left_out
    );
    Some(canvas.finish("gap-percentiles", "Gaps between completions", &caption))
}
