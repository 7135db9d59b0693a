//! What a point is called where it is selected and in a legend: the same everywhere, so that the
//! same point of two runs is found by its name.

use crate::Subject;
use crate::tables::flow_number;
use wiregauge_compare::{Setting, Settings};

/// A name in two parts: points that share the first differ in how many are outstanding, points that
/// share the second differ in link and size. Of a loop the first is the rate, the second the block.
pub(super) struct Name {
    /// Link, sizes, way.
    pub(super) size: String,
    /// Depth or queue.
    pub(super) depth: String,
}

impl Name {
    fn new(settings: Settings) -> Name {
        let is_second = |setting: Setting| {
            use Setting::{Block, Depth, Preload, Queue};
            matches!(setting, Depth | Queue | Block | Preload)
        };
        let first = settings.clone().only(|setting| !is_second(setting));
        Name {
            size: first.name(),
            depth: settings.only(is_second).name(),
        }
    }
}

/// A point of a run, or one way of it.
pub(super) struct Named {
    /// Its place in the order of the plan.
    pub(super) index: u32,
    pub(super) name: Name,
}

impl Named {
    /// `is_apart`: the run has several links, or a path other than the CPU, which are part of the name then.
    fn new(index: u32, settings: Settings, is_apart: bool) -> Named {
        let is_said = |setting| is_apart || !matches!(setting, Setting::Link | Setting::Path);
        Named {
            index,
            name: Name::new(settings.only(is_said)),
        }
    }
}

/// Every point of a run in the order of its file, as the loaded values are.
pub(super) fn all(subject: &Subject) -> Vec<Named> {
    let mut all = Vec::new();
    if let Some((run, _)) = subject.exchange_run() {
        let links = !run.file.plan.more_links.is_empty();
        for point in run.file.points.iter().map(|summary| summary.point) {
            all.push(Named::new(
                point.index,
                Settings::of_exchange(&point),
                links,
            ));
        }
    } else if let Some((run, _)) = subject.stream_run() {
        let links = !run.file.plan.more_links.is_empty();
        for summary in &run.file.points {
            let point = summary.point;
            for way in summary.flows.iter().map(|flow| flow.way) {
                let settings = Settings::of_flow(&point, way);
                all.push(Named::new(flow_number(&point, way), settings, links));
            }
        }
    } else if let Some((run, _)) = subject.loop_run() {
        for point in run.file.points.iter().map(|summary| summary.point) {
            let settings = Settings::of_loop(&point);
            all.push(Named::new(point.index, settings, point.path.is_gpu()));
        }
    }
    all
}
