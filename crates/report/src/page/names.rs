//! What a point is called in a sentence, in a list and in a legend: the same everywhere, so that the
//! same point of two runs is found by its name.

use crate::Subject;
use crate::figures::point_key;
use wiregauge_compare::{Setting, Settings};
use wiregauge_record::{Direction, LoopPoint, Plan, Point, StreamPlan, StreamPoint, Way};

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
    /// All of its name.
    pub(super) name: String,
    /// By which the page shows and hides it.
    pub(super) key: String,
    /// The same for both directions at once, which are one point of the plan.
    pub(super) setting: String,
}

/// Every point of a run in the order of the plan, whatever the order in which they ended.
pub(super) fn places(subject: &Subject) -> Vec<Named> {
    let mut found: Vec<(u32, Named)> = Vec::new();
    let mut add = |index: u32, name: Name, key: String, setting: Option<String>| {
        let named = Named {
            name: name.whole(),
            setting: setting.unwrap_or_else(|| key.clone()),
            key,
        };
        found.push((index, named));
    };
    if let Some((run, _)) = subject.exchange_run() {
        for point in run.file.points.iter().map(|summary| summary.point) {
            let name = exchange(&run.file.plan, &point);
            add(point.index, name, point_key::exchange(point), None);
        }
    } else if let Some((run, _)) = subject.stream_run() {
        for summary in &run.file.points {
            let point = summary.point;
            let is_both = point.direction == Direction::Both;
            for flow in &summary.flows {
                let name = self::flow(&run.file.plan, &point, flow.way);
                let setting = is_both.then(|| point_key::flow(point, Way::In));
                add(point.index, name, point_key::flow(point, flow.way), setting);
            }
        }
    } else if let Some((run, _)) = subject.loop_run() {
        for point in run.file.points.iter().map(|summary| summary.point) {
            let name = closed_loop(&point);
            add(point.index, name, point_key::closed_loop(&point), None);
        }
    }
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, named)| named).collect()
}

/// A point of an exchange run.
pub(super) fn exchange(plan: &Plan, point: &Point) -> Name {
    let links = !plan.more_links.is_empty();
    Name::new(Settings::of_exchange(point).only(|setting| links || setting != Setting::Link))
}

/// One way of a point of a stream run.
pub(super) fn flow(plan: &StreamPlan, point: &StreamPoint, way: Way) -> Name {
    let links = !plan.more_links.is_empty();
    Name::new(Settings::of_flow(point, way).only(|setting| links || setting != Setting::Link))
}

/// A point of a loop run.
pub(super) fn closed_loop(point: &LoopPoint) -> Name {
    let by_gpu = point.path.is_gpu();
    Name::new(Settings::of_loop(point).only(|setting| by_gpu || setting != Setting::Path))
}
