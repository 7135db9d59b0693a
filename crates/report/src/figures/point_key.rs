//! Keys of points: the same setting has the same key in all figures, in the data of the page and in its list of points,
//! also in several runs. A key has no spaces, because elements of several points have a list of them.

use std::fmt::Display;
use wiregauge_compare::Key;
use wiregauge_record::{Aim, Direction, LoopPoint, Point, StreamPoint, Way};

/// Of a point of an exchange run.
pub(crate) fn exchange(point: Point) -> String {
    let how = together(point.together);
    of_exchange(
        point.out_bytes,
        point.in_bytes,
        point.depth,
        point.link,
        how,
    )
}

/// Of one direction of a point of a stream run.
pub(crate) fn flow(point: StreamPoint, way: Way) -> String {
    let how = together(point.together);
    let is_both = point.direction == Direction::Both;
    of_flow(
        is_both,
        way.name(),
        point.transfer_bytes,
        point.queue,
        point.link,
        how,
    )
}

/// Of a point of a loop run.
pub(crate) fn closed_loop(point: &LoopPoint) -> String {
    let tested = match point.aim {
        Aim::Curve => String::new(),
        Aim::Hold => format!("-{}", point.preload_bytes),
    };
    format!(
        "{}-{}-{}-{}{tested}",
        point.rate_hz, point.channels, point.notify_bytes, point.path
    )
}

/// Of a point of a comparison; empty if it has no such names.
pub(crate) fn compared(point: &Key) -> String {
    let value = |name| point.value(name);
    let of = || {
        let link = value("link")?;
        let how = together(value("together")? == "yes");
        match value("way") {
            Some(way) => {
                let is_both = value("direction")? == Direction::Both.name();
                Some(of_flow(
                    is_both,
                    way,
                    value("transfer")?,
                    value("queue")?,
                    link,
                    how,
                ))
            }
            None => Some(of_exchange(
                value("out")?,
                value("in")?,
                value("depth")?,
                link,
                how,
            )),
        }
    };
    of().unwrap_or_default()
}

/// Keys as an element of several points has them, each once.
pub(super) fn list(keys: impl IntoIterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for key in keys {
        if !all.contains(&key) {
            all.push(key);
        }
    }
    all.join(" ")
}

fn together(together: bool) -> &'static str {
    if together { "together" } else { "alone" }
}

fn of_exchange(
    out: impl Display,
    back: impl Display,
    depth: impl Display,
    link: impl Display,
    how: &str,
) -> String {
    format!("{out}-{back}-{depth}-{link}-{how}")
}

fn of_flow(
    is_both: bool,
    way: &str,
    transfer: impl Display,
    queue: impl Display,
    link: impl Display,
    how: &str,
) -> String {
    let both = if is_both { "both-" } else { "" };
    format!("{both}{way}-{transfer}-{queue}-{link}-{how}")
}
