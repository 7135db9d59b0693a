//! What a point is called in a sentence, in a list and in a legend: the same everywhere, so that the
//! same point of two runs is found by its name.

use crate::figures::point_key;
use crate::link_names;
use wiregauge_model::response_size;
use wiregauge_quantity::{grouped, megasamples};
use wiregauge_record::{
    Aim, Direction, LoopPath, LoopPoint, Plan, Point, StreamPlan, StreamPoint, Way,
};
use wiregauge_run::AnyRun;

/// A name in two parts: points that share the first differ in how many are outstanding, points that
/// share the second differ in size. Of a loop the first is the rate, the second the block.
pub(super) struct Name {
    /// Sizes, way.
    pub(super) size: String,
    /// Depth or queue, link.
    pub(super) depth: String,
}

impl Name {
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
pub(super) fn places(run: &AnyRun) -> Vec<Named> {
    let mut found: Vec<(u32, Named)> = Vec::new();
    let mut add = |index: u32, name: Name, key: String, setting: Option<String>| {
        let named = Named {
            name: name.whole(),
            setting: setting.unwrap_or_else(|| key.clone()),
            key,
        };
        found.push((index, named));
    };
    match run {
        AnyRun::Exchange(run) => {
            for point in run.file.points.iter().map(|summary| summary.point) {
                let name = exchange(&run.file.plan, &point);
                add(point.index, name, point_key::exchange(point), None);
            }
        }
        AnyRun::Stream(run) => {
            for summary in &run.file.points {
                let point = summary.point;
                let is_both = point.direction == Direction::Both;
                for flow in &summary.flows {
                    let name = self::flow(&run.file.plan, &point, flow.way);
                    let setting = is_both.then(|| point_key::flow(point, Way::In));
                    add(point.index, name, point_key::flow(point, flow.way), setting);
                }
            }
        }
        AnyRun::Loop(run) => {
            for point in run.file.points.iter().map(|summary| summary.point) {
                let name = closed_loop(&point);
                add(point.index, name, point_key::closed_loop(&point), None);
            }
        }
        // It has no page.
        AnyRun::Control(_) => {}
    }
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, named)| named).collect()
}

/// A point of an exchange run.
pub(super) fn exchange(plan: &Plan, point: &Point) -> Name {
    let out = grouped(point.out_bytes.into());
    let back = response_size(point.in_bytes);
    let link = link(!plan.more_links.is_empty(), point.link, point.together);
    Name {
        size: format!("OUT {out} B, {back}"),
        depth: format!("depth {}{link}", point.depth),
    }
}

/// One way of a point of a stream run.
pub(super) fn flow(plan: &StreamPlan, point: &StreamPoint, way: Way) -> Name {
    let link = link(!plan.more_links.is_empty(), point.link, point.together);
    Name {
        size: format!(
            "{}, transfers of {} B",
            point.direction.words_of(way),
            grouped(point.transfer_bytes.into())
        ),
        depth: format!("queue {}{link}", point.queue),
    }
}

/// A point of a loop run.
pub(super) fn closed_loop(point: &LoopPoint) -> Name {
    let channels = match point.channels {
        1 => "1 channel".to_owned(),
        n => format!("{n} channels"),
    };
    let tested = match point.aim {
        Aim::Curve => String::new(),
        Aim::Hold => format!(", preload {} B", grouped(point.preload_bytes)),
    };
    let path = match point.path {
        LoopPath::Cpu => String::new(),
        path => format!(", {path}"),
    };
    Name {
        size: format!("{} MS/s, {channels}{path}", megasamples(point.rate_hz)),
        depth: format!("blocks of {} B{tested}", grouped(point.notify_bytes.into())),
    }
}

fn link(several: bool, link: u32, together: bool) -> String {
    match several {
        false => String::new(),
        true => format!(", {}", link_names::link(link, together)),
    }
}
