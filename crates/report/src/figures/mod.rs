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
mod loops;
mod percentile_axis;
pub(crate) mod percentile_line;
mod png;
mod rtt;
mod series;
mod service;
mod signals;
mod stalls;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;
mod which;

pub(crate) use bus::BUS_KINDS;
pub use bus::of_bus;
pub use control::of_control;
pub use deadline::of_deadlines;
pub use figure::Figure;
pub(crate) use look::corners;
pub(crate) use percentile_axis::FEW;
pub use png::NoPng;
pub(crate) use rtt::has_turnarounds;
pub(crate) use series::bad_mark;

use crate::Subject;

/// All figures that there are of these runs, in the order in which a reader wants them.
pub fn of(subjects: &[Subject]) -> Vec<Figure> {
    let drawn = [
        series::draw(subjects),
        histogram::draw(subjects),
        percentile_axis::draw(subjects),
        deadline::draw(subjects),
        series::draw_turnarounds(subjects),
        histogram::draw_turnarounds(subjects),
        against::draw(subjects),
        flows::draw(subjects),
        buffer::draw(subjects),
        stalls::draw(subjects),
        service::draw_series(subjects),
        service::draw_percentiles(subjects),
        signals::draw(subjects),
    ];
    drawn.into_iter().flatten().collect()
}
