//! Figures of a run or of several, as SVG: one file a figure, one look for all.

mod against;
mod axes;
mod bars;
mod buffer;
mod bus;
mod canvas;
mod cells;
mod control;
mod deadline;
mod figure;
mod flows;
mod histogram;
mod legend;
#[cfg(feature = "png")]
mod lettering;
mod limits;
pub(crate) mod look;
mod percentile_axis;
pub(crate) mod percentile_line;
mod png;
mod selection;
mod series;
mod signals;
mod stalls;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;

pub(crate) use bus::BUS_KINDS;
pub use bus::of_bus;
pub use control::of_control;
pub use deadline::of_deadlines;
pub use figure::Figure;
pub(crate) use look::corners;
pub(crate) use percentile_axis::FEW;
pub use png::NoPng;
pub(crate) use selection::has_turnarounds;
pub(crate) use series::bad_mark;

use crate::Subject;

/// All figures that there are of these runs, in the order in which a reader wants them.
pub fn of(subjects: &[Subject]) -> Vec<Figure> {
    let one = |figure: Option<Figure>| Vec::from_iter(figure);
    let drawn: [Vec<Figure>; 14] = [
        one(series::draw(subjects)),
        one(histogram::draw(subjects)),
        one(percentile_axis::draw(subjects)),
        deadline::draw(subjects),
        one(series::draw_turnarounds(subjects)),
        one(histogram::draw_turnarounds(subjects)),
        against::draw(subjects),
        one(flows::draw_rates(subjects)),
        one(flows::draw_gaps(subjects)),
        one(buffer::draw(subjects)),
        one(stalls::draw(subjects)),
        one(series::draw_services(subjects)),
        one(percentile_axis::draw_services(subjects)),
        signals::draw(subjects),
    ];
    drawn.into_iter().flatten().collect()
}
