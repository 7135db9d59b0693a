//! What a point is called in a sentence, in a list and in a legend: the same everywhere, so that the
//! same point of two runs is found by its name.

use crate::link_names;
use wiregauge_model::response_size;
use wiregauge_quantity::{grouped, megasamples};
use wiregauge_record::{Aim, LoopPath, LoopPoint, Plan, Point, StreamPlan, StreamPoint, Way};

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
