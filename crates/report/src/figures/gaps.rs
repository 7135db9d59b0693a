//! The gaps between the completions of a stream on this host, on a percentile axis.

use super::Figure;
use super::canvas::Canvas;
use super::flows;
use super::look::HEIGHT;
use super::percentile_axis::{self, Curve};
use crate::Subject;

/// More curves in a panel cannot be distinguished.
const MOST_CURVES: usize = 6;

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let some = flows::chosen(subjects, |flow| !flow.loaded.gap.is_empty(), MOST_CURVES);
    let Some(drawn) = some else {
        return Vec::new();
    };
    let panels = (drawn.panels.len(), 1);
    let (canvas, places) = Canvas::with_panels(panels, (HEIGHT, 290), &drawn.legend());
    for (panel, place) in drawn.panels.iter().zip(places) {
        let curves: Vec<Curve<'_>> = panel
            .curves
            .iter()
            .map(|(name, series, flow)| Curve {
                name: name.clone(),
                key: flow.key(),
                series: *series,
                values: &flow.loaded.gap,
            })
            .collect();
        percentile_axis::panel(
            &canvas,
            place,
            flows::title(panel.way),
            "Gap",
            "gaps",
            &curves,
        );
    }
    let caption = format!(
        "Time from one completion on this host to the next. {}{}",
        percentile_axis::CAPTION,
        drawn.left_out
    );
    vec![canvas.finish("gap-percentiles", "Gaps between completions", &caption)]
}
