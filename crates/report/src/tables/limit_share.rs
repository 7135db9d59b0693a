//! The share of its limit that a stream used, by the count of the host and by that of the device.
//! Buffers on the host's side make the host's count exceed the limit; the device's does not.

use super::flow_rows::Row;
use wiregauge_quantity::is_above_all;
use wiregauge_record::{DeviceCount, FlowSummary, IsochronousCounts};

/// Of the length of a frame (USB 2.0, 7.1.12).
const FRAME_TOLERANCE: f64 = 500e-6;

/// The device's clock, and that of a UART, may be faster than the host's by this part.
const CLOCKS_DIFFER: f64 = 0.05;

/// Shares of the limit, 1 for all of it. Where both directions share the limit, both are counted.
pub(super) struct LimitShare {
    /// By the host's count.
    pub(super) host: f64,
    /// Lower 95 % bound of that.
    host_low: Option<f64>,
    /// By the device's count; `None` if the device has no clock.
    pub(super) device: Option<f64>,
    /// The least that the device's count proves: some transfers may lie outside the time that it measured.
    device_least: f64,
}

impl LimitShare {
    /// Of a row; `None` if its limit is unknown.
    pub(super) fn of((point, flow): &Row<'_>) -> Option<LimitShare> {
        let limit = flow.limit.as_ref()?;
        let flows: Vec<&FlowSummary> = match limit.shared {
            true => point.flows.iter().collect(),
            false => vec![flow],
        };
        let sum = |rates: Option<Vec<f64>>| rates.map(|r| r.iter().sum::<f64>() / limit.bytes_s);
        let certain = certain_share(flow.isochronous.as_ref(), point.elapsed_ns);
        let devices = flows.iter().filter_map(|flow| flow.device.as_ref());
        Some(LimitShare {
            host: certain(limit.used),
            host_low: sum(flows.iter().map(|flow| flow.rate?.low).collect()).map(certain),
            device: sum(flows.iter().map(|flow| flow.device?.bytes_s()).collect()),
            device_least: devices.filter_map(least_bytes_s).sum::<f64>() / limit.bytes_s,
        })
    }

    /// The share to print; `None` if both counts exceed the limit, or only the host's is known.
    pub(super) fn shown(&self) -> Option<f64> {
        let share = match is_above_all(self.host) {
            false => Some(self.host),
            true => self.device.filter(|device| !is_above_all(*device)),
        };
        share.map(rounded)
    }

    /// True if the host counted more than the limit.
    pub(super) fn is_host_above(&self) -> bool {
        is_above_all(self.host)
    }

    /// True if the host's rate exceeds the limit by more than its interval.
    pub(super) fn is_host_proven_above(&self) -> bool {
        is_above_all(self.host_low.unwrap_or(self.host))
    }

    /// True if the device reports more than the limit, by more than its clock may differ.
    pub(super) fn is_device_above(&self) -> bool {
        is_above_all(self.device_least / (1.0 + CLOCKS_DIFFER))
    }
}

/// A share near all of the limit: a rate is known to 0.01 % at most.
pub(super) fn rounded(share: f64) -> f64 {
    match share > 0.99 {
        true => (share * 1e4).round() / 1e4,
        false => share,
    }
}

/// An isochronous endpoint never carries more than its limit. What is over it within the jitter of the first and the last
/// completion, and within the tolerance of the bus' frames, is all of it.
fn certain_share(counts: Option<&IsochronousCounts>, elapsed_ns: u64) -> impl Fn(f64) -> f64 {
    let jitter = counts.map(|counts| {
        let jitter_ns = counts.jitter.as_ref().map_or(0.0, |jitter| jitter.max);
        jitter_ns / elapsed_ns.max(1) as f64
    });
    let most = jitter.map_or(1.0, |jitter| 1.0 + jitter + FRAME_TOLERANCE);
    move |share| match share > 1.0 && share <= most {
        true => 1.0,
        false => share,
    }
}

/// Transfers that a device may have counted while they still wait in its queue.
const QUEUED: f64 = 4.0;

fn least_bytes_s(device: &DeviceCount) -> Option<f64> {
    let queued = match device.transfers {
        0 => 0.0,
        transfers => QUEUED / transfers as f64,
    };
    Some(device.bytes_s()? * (1.0 - queued))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(host: f64, host_low: Option<f64>, device: Option<f64>) -> LimitShare {
        LimitShare {
            host,
            host_low,
            device,
            device_least: device.unwrap_or(0.0),
        }
    }

    #[test]
    fn no_share_above_all_of_the_limit_is_shown() {
        assert_eq!(share(0.9, Some(0.8), Some(0.7)).shown(), Some(0.9));
        // A rate is not known to so many digits.
        assert_eq!(share(1.000_04, None, None).shown(), Some(1.0));
        assert_eq!(share(0.999_964, None, None).shown(), Some(1.0));
        assert_eq!(share(0.999_949, None, None).shown(), Some(0.9999));
        assert_eq!(share(1.3, Some(1.2), Some(0.98)).shown(), Some(0.98));
        assert_eq!(share(1.3, Some(1.2), Some(1.1)).shown(), None);
        assert_eq!(share(1.3, Some(1.2), None).shown(), None);
    }

    #[test]
    fn an_isochronous_stream_is_all_of_its_limit_within_the_jitter_of_its_ends() {
        let share = |jitter_ns: Option<u64>, share: f64| {
            let counts = jitter_ns.map(|jitter_ns| {
                let mut jitter = wiregauge_stats::Series::new();
                jitter.push(jitter_ns);
                IsochronousCounts {
                    jitter: jitter.distribution(),
                    ..IsochronousCounts::default()
                }
            });
            certain_share(counts.as_ref(), 100_000_000)(share)
        };
        assert_eq!(share(Some(1_000_000), 1.01), 1.0);
        assert_eq!(share(Some(1_000_000), 1.011), 1.011);
        assert_eq!(share(Some(0), 1.0004), 1.0);
        assert_eq!(share(Some(0), 0.5), 0.5);
        assert_eq!(share(None, 1.0004), 1.0004);
    }
}
