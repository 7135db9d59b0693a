//! The delays in parts, where the device has a clock.

use super::shown::Shown;
use crate::load::{DelayParts, PartNs};
use crate::tables::table::Table;

/// One row a point that has parts; nothing if none has.
pub(super) fn table(shown: &Shown<'_>) -> Option<Table> {
    let heads = [
        "to device",
        "p99",
        "in device",
        "p99",
        "from device",
        "p99",
        "uncertainty",
    ];
    let title = format!(
        "Parts of the round trip in {}: p50 and p99, by the device's timestamps",
        shown.unit.name()
    );
    has_any(shown).then(|| {
        shown.table(title, &heads, |point, _| match &point.parts {
            Some(parts) => cells(shown, parts),
            None => vec!["-".to_owned(); heads.len()],
        })
    })
}

/// What the parts mean for a loop, and why they are uncertain.
pub(super) fn note(shown: &Shown<'_>) -> Option<String> {
    let text = "Parts of the round trip: from the device is the way from the sensor to the host, to the device that from the \
                host to the actuator. The clocks have different zeros, so the minimum of the sum of both is divided evenly: \
                one may be longer, and the other shorter, by the uncertainty.";
    has_any(shown).then(|| text.to_owned())
}

fn has_any(shown: &Shown<'_>) -> bool {
    shown.assessed().any(|(point, _)| point.parts.is_some())
}

fn cells(shown: &Shown<'_>, parts: &DelayParts) -> Vec<String> {
    let show = |ns: f64| shown.unit.show(ns);
    let both = |part: PartNs| [show(part.median_ns), show(part.p99_ns)];
    let ways = [parts.to_device, parts.in_device, parts.from_device];
    let mut cells: Vec<String> = ways.into_iter().flat_map(both).collect();
    cells.push(show(parts.fixed_ns / 2.0));
    cells
}
