//! Depths: which the device allows, and when a larger one gains nothing.

use wiregauge_record::Conditions;

/// Rates within this factor count as equal: the scatter of short runs.
pub(crate) const EQUAL: f64 = 0.95;

/// The number of outstanding requests that the device allows.
pub(crate) fn most_outstanding(conditions: &Conditions, link: u32) -> u32 {
    let responder = match link.checked_sub(1) {
        None => conditions.responder.as_ref(),
        Some(further) => (conditions.more_links.get(further as usize))
            .and_then(|conditions| conditions.responder.as_ref()),
    };
    match responder.map_or(0, |responder| responder.max_outstanding) {
        0 => u32::MAX,
        most => most,
    }
}
