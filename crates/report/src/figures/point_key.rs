//! Keys of points: the same setting has the same key in all figures, in the data of the page and in its list of points,
//! also in several runs. A key has no spaces, because elements of several points have a list of them.

use std::collections::BTreeSet;
use std::fmt::Display;
use wiregauge_compare::Key;
use wiregauge_record::{Aim, Direction, LoopPoint, Point, StreamPoint, Way};

/// Of a point of an exchange run.
pub(crate) fn exchange(point: Point) -> String {
    let link = of_link(point.link, point.together);
    of_exchange(point.out_bytes, point.in_bytes, point.depth, &link)
}

/// Of one direction of a point of a stream run.
pub(crate) fn flow(point: StreamPoint, way: Way) -> String {
    let link = of_link(point.link, point.together);
    let is_both = point.direction == Direction::Both;
    of_flow(
        is_both,
        way.name(),
        point.transfer_bytes,
        point.queue,
        &link,
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
        let link = of_link(value("link")?.parse().ok()?, value("together")? == "yes");
        match value("way") {
            Some(way) => {
                let is_both = value("direction")? == Direction::Both.name();
                let (transfer, queue) = (value("transfer")?, value("queue")?);
                Some(of_flow(is_both, way, transfer, queue, &link))
            }
            None => Some(of_exchange(
                value("out")?,
                value("in")?,
                value("depth")?,
                &link,
            )),
        }
    };
    of().unwrap_or_default()
}

/// Keys as an element of several points has them, each once.
pub(super) fn list(keys: impl IntoIterator<Item = String>) -> String {
    let all: BTreeSet<String> = keys.into_iter().collect();
    all.into_iter().collect::<Vec<_>>().join(" ")
}

/// Empty for the first link alone, as most points have it: keys occur often in a figure.
fn of_link(link: u32, together: bool) -> String {
    match (link, together) {
        (0, false) => String::new(),
        (link, false) => format!("-link-{link}"),
        (link, true) => format!("-link-{link}-together"),
    }
}

fn of_exchange(out: impl Display, back: impl Display, depth: impl Display, link: &str) -> String {
    format!("{out}-{back}-{depth}{link}")
}

fn of_flow(
    is_both: bool,
    way: &str,
    transfer: impl Display,
    queue: impl Display,
    link: &str,
) -> String {
    let both = if is_both { "both-" } else { "" };
    format!("{both}{way}-{transfer}-{queue}{link}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_link_alone_and_together_has_a_key_of_its_own() {
        let point = |link, together| Point {
            index: 7,
            out_bytes: 16,
            in_bytes: 48,
            depth: 2,
            link,
            together,
        };
        let keys =
            [(0, false), (1, false), (0, true), (1, true)].map(|(l, t)| exchange(point(l, t)));
        let expected = [
            "16-48-2",
            "16-48-2-link-1",
            "16-48-2-link-0-together",
            "16-48-2-link-1-together",
        ];
        assert_eq!(keys, expected);
        assert_eq!(list(["b", "a", "b"].map(str::to_owned)), "a b");
    }
}
