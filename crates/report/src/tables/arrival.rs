//! The rate at which a stream arrived. OUT, the host counts what it sends: bytes that were lost, or that buffers on the
//! way still hold, have not come to the device.

use super::flow_rows::Row;
use super::limit_share::{LimitShare, rounded};
use super::stream::lost;
use wiregauge_explain::ahead_of_device;
use wiregauge_quantity::is_above_all;
use wiregauge_record::{StreamPlan, Way};
use wiregauge_stats::Estimate;

/// Bytes a second of a row.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    /// What arrived.
    pub(super) rate: Estimate,
    /// What the host sent, if less arrived.
    pub(super) sent: Option<f64>,
}

impl Arrival {
    /// Of a row; `None` if its rate is unknown.
    pub(super) fn of(plan: &StreamPlan, row: &Row<'_>) -> Option<Arrival> {
        let rate = row.1.rate?;
        let arrived = match row.1.way {
            Way::In => None,
            Way::Out => arrived(plan, row, rate.value),
        };
        Some(match arrived {
            None => Arrival { rate, sent: None },
            Some(value) => Arrival {
                rate: Estimate {
                    value,
                    low: None,
                    high: None,
                },
                sent: Some(rate.value),
            },
        })
    }

    /// The share of the limit that this rate is, with the other direction where both share the limit; `None` if the
    /// limit is unknown, or if no count is below it.
    pub(super) fn share_of_limit(&self, row: &Row<'_>) -> Option<f64> {
        let limit = row.1.limit.as_ref()?;
        let share = LimitShare::of(row)?;
        let arrived = match self.sent {
            Some(_) if is_shared(row) => share.device,
            Some(_) => Some(self.rate.value / limit.bytes_s),
            None => None,
        };
        let arrived = arrived.filter(|share| !is_above_all(*share));
        arrived.map(rounded).or(share.shown())
    }
}

/// True if the limit is for both directions, and both flowed at once.
pub(super) fn is_shared((point, flow): &Row<'_>) -> bool {
    point.flows.len() > 1 && flow.limit.as_ref().is_some_and(|limit| limit.shared)
}

/// What arrived of what the host sent at this rate; `None` if all did.
fn arrived(plan: &StreamPlan, row: &Row<'_>, sent_s: f64) -> Option<f64> {
    let (point, flow) = row;
    // Then the count of the device is within the limit.
    let is_over = |share: &LimitShare| share.is_host_proven_above() && share.shown().is_some();
    let over = LimitShare::of(row).filter(is_over);
    let lost = lost(flow).filter(|lost| *lost > 0).zip(flow.counts.sent);
    match (ahead_of_device(plan, point, flow), lost) {
        (Some(times), _) => Some(sent_s / times),
        (None, Some((lost, sent))) => Some(sent_s * (1.0 - lost as f64 / sent.max(1) as f64)),
        (None, None) => {
            over?;
            flow.device?.bytes_s().filter(|bytes_s| *bytes_s < sent_s)
        }
    }
}
