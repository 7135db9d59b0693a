//! What a point is called in a sentence, in a list and in a legend: the same everywhere, so that the
//! same point of two runs is found by its name.

use crate::Subject;
use crate::figures::point_key;
use crate::tables::flow_number;
use wiregauge_compare::{Setting, Settings};
use wiregauge_record::{Direction, Way};

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

    /// All of it.
    pub(super) fn whole(&self) -> String {
        format!("{}, {}", self.size, self.depth)
    }
}

/// A point of a run, or one way of it.
pub(super) struct Named {
    /// Its place in the order of the plan.
    pub(super) index: u32,
    pub(super) name: Name,
    /// By which the page shows and hides it.
    pub(super) key: String,
    /// The same for both directions at once, which are one point of the plan.
    pub(super) setting: String,
}

impl Named {
    /// `is_apart`: the run has several links, or a path other than the CPU, which are part of the name then.
    fn new(index: u32, settings: Settings, is_apart: bool, key: String) -> Named {
        let is_said = |setting| is_apart || !matches!(setting, Setting::Link | Setting::Path);
        Named {
            index,
            name: Name::new(settings.only(is_said)),
            setting: key.clone(),
            key,
        }
    }
}

/// Every point of a run in the order of the plan, whatever the order in which they ended.
pub(super) fn places(subject: &Subject) -> Vec<Named> {
    let mut found = all(subject);
    found.sort_by_key(|named| named.index);
    found
}

/// The same in the order of the run's file, as the loaded values are.
pub(super) fn all(subject: &Subject) -> Vec<Named> {
    let mut all = Vec::new();
    if let Some((run, _)) = subject.exchange_run() {
        let links = !run.file.plan.more_links.is_empty();
        for point in run.file.points.iter().map(|summary| summary.point) {
            let (settings, key) = (Settings::of_exchange(&point), point_key::exchange(point));
            all.push(Named::new(point.index, settings, links, key));
        }
    } else if let Some((run, _)) = subject.stream_run() {
        let links = !run.file.plan.more_links.is_empty();
        for summary in &run.file.points {
            let point = summary.point;
            for way in summary.flows.iter().map(|flow| flow.way) {
                let (index, key) = (flow_number(&point, way), point_key::flow(point, way));
                let mut named = Named::new(index, Settings::of_flow(&point, way), links, key);
                if point.direction == Direction::Both {
                    named.setting = point_key::flow(point, Way::In);
                }
                all.push(named);
            }
        }
    } else if let Some((run, _)) = subject.loop_run() {
        for point in run.file.points.iter().map(|summary| summary.point) {
            let (settings, key) = (Settings::of_loop(&point), point_key::closed_loop(&point));
            all.push(Named::new(point.index, settings, point.path.is_gpu(), key));
        }
    }
    all
}
