//! What a point is called in a sentence, in a list and in a legend: the same everywhere, so that the
//! same point of two runs is found by its name.

use crate::units::grouped;
use wiregauge_record::{Direction, Plan, Point, StreamPlan, StreamPoint, Way};

/// A point of an exchange run.
pub(super) fn exchange(plan: &Plan, point: &Point) -> String {
    format!(
        "{} B OUT, {} B IN, depth {}{}",
        grouped(point.out_bytes.into()),
        grouped(point.in_bytes.into()),
        point.depth,
        link(!plan.more_links.is_empty(), point.link, point.together)
    )
}

/// One way of a point of a stream run.
pub(super) fn flow(plan: &StreamPlan, point: &StreamPoint, way: Way) -> String {
    let both = match point.direction {
        Direction::Both => " (both ways at once)",
        _ => "",
    };
    format!(
        "{}{both}, {} B a transfer, queue {}{}",
        way.name().to_uppercase(),
        grouped(point.transfer_bytes.into()),
        point.queue,
        link(!plan.more_links.is_empty(), point.link, point.together)
    )
}

fn link(several: bool, link: u32, together: bool) -> String {
    match (several, together) {
        (false, _) => String::new(),
        (true, false) => format!(", link {link} alone"),
        (true, true) => format!(", link {link} together"),
    }
}
