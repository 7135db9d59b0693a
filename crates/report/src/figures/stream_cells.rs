//! The flows of stream runs, sorted into panels: each way by itself, and each way while the other
//! flows too.

use super::cells::{distinct, points, shown};
use super::point_key;
use crate::Subject;
use wiregauge_compare::link_name;
use wiregauge_record::{Direction, FlowSummary, StreamPoint, Way};

const MOST_PANELS: usize = 4;

/// One way of one point of a stream run.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowCell<'a> {
    /// Which of the subjects.
    pub(super) subject: usize,
    pub(super) point: StreamPoint,
    pub(super) flow: &'a FlowSummary,
}

impl FlowCell<'_> {
    /// By which a page finds what is drawn of it.
    pub(super) fn key(&self) -> String {
        point_key::flow(self.point, self.flow.way)
    }

    pub(super) fn panel(&self) -> FlowPanel {
        FlowPanel {
            together: self.point.together,
            link: self.point.link,
            direction: self.point.direction,
            way: self.flow.way,
        }
    }
}

/// All flows of all stream runs.
pub(super) fn stream(subjects: &[Subject]) -> Vec<FlowCell<'_>> {
    let all = points(subjects, Subject::stream_run).into_iter();
    let flows = all.flat_map(|(subject, summary, _)| {
        summary.flows.iter().map(move |flow| FlowCell {
            subject,
            point: summary.point,
            flow,
        })
    });
    flows.collect()
}

/// The panels that are drawn, and for a caption how many: only their cells stay.
pub(super) fn panels(cells: &mut Vec<FlowCell<'_>>) -> (Vec<FlowPanel>, String) {
    let all = distinct(cells.iter().map(FlowCell::panel));
    let panels: Vec<FlowPanel> = all.iter().take(MOST_PANELS).copied().collect();
    cells.retain(|cell| panels.contains(&cell.panel()));
    let what = "combinations of direction and link";
    let left_out = shown(panels.len(), all.len(), what);
    (panels, left_out)
}

/// What a panel shows: IN beside OUT, one way alone above both at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FlowPanel {
    pub(super) together: bool,
    pub(super) link: u32,
    pub(super) direction: Direction,
    pub(super) way: Way,
}

impl FlowPanel {
    pub(super) fn name(&self, all: &[FlowPanel]) -> String {
        let way = self.direction.words_of(self.way);
        match all.iter().any(|other| other.link != self.link) {
            true => format!("{}, {way}", link_name(self.link, self.together)),
            false => way.to_owned(),
        }
    }
}
