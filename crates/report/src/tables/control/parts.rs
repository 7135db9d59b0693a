//! The delays in parts, where the device has a clock.

use super::shown::{Assessed, Shown};
use crate::load::{DelayParts, PartNs};
use crate::tables::columns::Columns;
use crate::tables::table::Table;

/// One row a point that has parts; nothing if none has.
pub(super) fn table(shown: &Shown<'_>) -> Option<Table> {
    let title = format!(
        "Parts of the round trip in {}: p50 and p99, by the device's timestamps",
        shown.unit.name()
    );
    type Of = fn(&DelayParts) -> PartNs;
    let ways: [(&str, Of); 3] = [
        ("to device", |parts| parts.to_device),
        ("in device", |parts| parts.in_device),
        ("from device", |parts| parts.from_device),
    ];
    let mut columns = Columns::<Assessed<'_>>::new();
    for (head, of) in ways {
        columns.some(head, move |(point, _)| {
            Some(shown.unit.show(of(point.parts.as_ref()?).median_ns))
        });
        columns.some("p99", move |(point, _)| {
            Some(shown.unit.show(of(point.parts.as_ref()?).p99_ns))
        });
    }
    columns.some("uncertainty", |(point, _)| {
        Some(shown.unit.show(point.parts.as_ref()?.fixed_ns / 2.0))
    });
    let mut assessed = shown.assessed();
    let has_any = assessed.any(|(point, _)| point.parts.is_some());
    has_any.then(|| shown.table(title, &columns))
}
