//! Answers that fill their last USB packet and are not closed by a packet of length zero.

use super::check::Check;
use crate::pattern::{UsbBus, exchanges, named, series};
use crate::{Finding, HostContext, Level};
use wiregauge_quantity::time;
use wiregauge_record::PointSummary;

pub(super) const CHECK: Check = Check {
    name: "zero-length",
    about: "in a run over USB: sizes that fill their packets and hang without a zero-length packet",
    look,
};

/// So many exchanges must be missed, and this share of all, to be more than an accident.
const MISSED: u64 = 3;
const SHARE: f64 = 0.1;

/// A step of this factor and of this time against both neighbours is no matter of the size.
const STEP: f64 = 3.0;
const STEP_NS: f64 = 1e6;

fn look(context: &HostContext) -> Vec<Finding> {
    let Some(run) = exchanges(context) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for points in series(run) {
        let Some(bus) = UsbBus::of(run, points[0].point.link) else {
            continue;
        };
        found.extend(of(&named(run), bus.packet, &points));
    }
    found
}

fn of(run: &str, packet: u32, points: &[&PointSummary]) -> Option<Finding> {
    let new = |level, title: String| Finding::new(CHECK.name, level, title);
    let full = |bytes: u32| bytes > 0 && bytes.is_multiple_of(packet);
    let is_full = |p: &PointSummary| full(p.point.in_bytes) || full(p.point.out_bytes);
    let (filled, others): (Vec<&PointSummary>, Vec<&PointSummary>) =
        points.iter().partition(|point| is_full(point));
    let depth = points.first()?.point.depth;
    let hang: Vec<&PointSummary> = filled
        .iter()
        .copied()
        .filter(|point| hangs(point, &others))
        .collect();
    if filled.is_empty() {
        return None;
    }
    if hang.is_empty() {
        let title = format!("sizes of n x {packet} B work as well as others (depth {depth})");
        let sizes = format!(
            "{run}: {} of {} points have such a size",
            filled.len(),
            points.len()
        );
        return Some(new(Level::Good, title).seen(sizes));
    }
    let lines = hang.iter().map(|point| format!("{run}: {}", line(point)));
    // The nearest size that does not fill its packet, for comparison.
    let beside = others
        .iter()
        .min_by_key(|other| other.point.in_bytes.abs_diff(hang[0].point.in_bytes))
        .map(|other| format!("{run}: {} for comparison", line(other)));
    let (level, title) = match beside {
        Some(_) => (
            Level::Hurts,
            format!("messages of n x {packet} B hang, others do not (depth {depth})"),
        ),
        None => (
            Level::Note,
            format!("messages of n x {packet} B hang; no other size was measured (depth {depth})"),
        ),
    };
    Some(
        new(level, title)
            .all_seen(lines)
            .all_seen(beside)
            .seen(
                "the likely cause is a missing zero-length packet; other possible causes: a device buffer that \
                 is too small, or a device that loses such packets",
            )
            .costs(
                "a transfer ends with a short packet. After a full packet the host keeps waiting for more: \
                 until its timeout, or until the next answer. cdc_acm of Linux requests two packets at once, \
                 so with it an odd number of full packets hangs",
                "this run; USB 2.0, 5.8.3; Linux, drivers/usb/class/cdc-acm.c (acm_probe, readsize)",
            )
            .remedy(format!(
                "in the firmware: send a zero-length packet after a message of n x {packet} B"
            ))
            .remedy("or make each message a byte longer or shorter; then measure both sizes again")
            .remedy("if the request hangs over usb://: use #zlp=on, the default"),
    )
}

/// True if exchanges are missed at this size, or take much longer, and not at others.
fn hangs(point: &PointSummary, others: &[&PointSummary]) -> bool {
    let missed = |points: &[&PointSummary]| {
        let sum = |of: fn(&PointSummary) -> u64| points.iter().map(|p| of(p)).sum::<u64>();
        let missed = sum(|p| p.counts.lost + p.counts.late);
        (
            missed,
            missed as f64 / sum(|p| p.counts.exchanges).max(1) as f64,
        )
    };
    let (count, share) = missed(&[point]);
    let (_, elsewhere) = missed(others);
    // Without another size to compare with, most of all must be missed.
    let enough = match others.is_empty() {
        true => 0.5,
        false => SHARE.max(10.0 * elsewhere),
    };
    if count >= MISSED && share >= enough {
        return true;
    }
    let median = |p: &PointSummary| p.rtt.as_ref().map(|rtt| rtt.p50.value);
    let bytes = |p: &PointSummary| u64::from(p.point.in_bytes) + u64::from(p.point.out_bytes);
    let nearest = |side: &dyn Fn(u64) -> bool| {
        let there = others.iter().filter(|other| side(bytes(other)));
        let nearest = there.min_by_key(|other| bytes(other).abs_diff(bytes(point)))?;
        // Sizes far away say nothing of this one.
        let near = bytes(nearest) * 2 >= bytes(point) && bytes(nearest) <= bytes(point) * 2;
        near.then(|| median(nearest)).flatten()
    };
    let here = bytes(point);
    let beside = [
        nearest(&|other| other < here),
        nearest(&|other| other > here),
    ];
    match (median(point), beside) {
        (Some(rtt), [Some(below), Some(above)]) => {
            let usual = below.max(above);
            rtt > STEP * usual && rtt > usual + STEP_NS
        }
        _ => false,
    }
}

fn line(point: &PointSummary) -> String {
    let counts = &point.counts;
    let rtt = match &point.rtt {
        Some(rtt) => format!("RTT p50 {}", time(rtt.p50.value)),
        None => "no RTT".into(),
    };
    format!(
        "{}: {} of {} exchanges without an answer in time, {rtt}",
        point.point,
        counts.lost + counts.late,
        counts.exchanges
    )
}
