//! The delays of a point in parts: host to device, in the device, device to host. From the timestamps of the device.

use super::cycle_answers::each_measured;
use serde::Serialize;
use wiregauge_record::{Connect, Sample};
use wiregauge_run::{Exchange, Run, RunError};
use wiregauge_stats::{Directions, Stamps};

/// The parts of the round trips of a point. In a loop whose sampling clock is on the device, the last part is the way from
/// the sensor to the host and the first that from the host to the actuator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelayParts {
    /// From the start of the request until the device has received it.
    pub to_device: PartNs,
    /// Until the device hands the response over.
    pub in_device: PartNs,
    /// Until the response has been received.
    pub from_device: PartNs,
    /// Minimum of the sum of both directions, in nanoseconds. It is divided evenly between them: one may be too large, and the
    /// other too small, by up to half of it.
    pub fixed_ns: f64,
    /// By what part of 1 the device's clock is faster than the host's; corrected.
    pub clock_rate_error: f64,
}

/// A part, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PartNs {
    /// Median.
    pub median_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// Largest.
    pub max_ns: f64,
}

impl PartNs {
    fn of(mut times: Vec<f64>) -> Option<PartNs> {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * times.len() as f64).ceil() as usize;
            times.get(rank.max(1) - 1).copied()
        };
        Some(PartNs {
            median_ns: at(0.5)?,
            p99_ns: at(0.99)?,
            max_ns: *times.last()?,
        })
    }
}

/// Reads the parts of a point (by its place in `run.file.points`); nothing where the device has no clock, the link is opened
/// for each exchange, or fewer than 20 responses were right.
///
/// # Errors
/// The samples cannot be read.
pub fn delay_parts(run: &Run<Exchange>, at: usize) -> Result<Option<DelayParts>, RunError> {
    let responder = run.file.conditions.responder.as_ref();
    let Some(clock) = responder.filter(|responder| responder.tick_hz > 0) else {
        return Ok(None);
    };
    if run.file.plan.connect == Connect::Each {
        return Ok(None);
    }
    let ticks = ["device_rx_ticks", "device_tx_ticks"];
    let mut directions = Directions::new(clock.tick_hz, clock.tick_bits);
    each_measured(run, at, &ticks, |sample| {
        if sample.status.is_timed() {
            directions.push(stamps_of(sample));
        }
    })?;
    Ok(directions.parts().and_then(|parts| {
        Some(DelayParts {
            to_device: PartNs::of(parts.to_device_ns)?,
            in_device: PartNs::of(parts.in_device_ns)?,
            from_device: PartNs::of(parts.from_device_ns)?,
            fixed_ns: parts.fixed_ns,
            clock_rate_error: parts.rate_error,
        })
    }))
}

fn stamps_of(sample: &Sample) -> Stamps {
    Stamps {
        start_ns: sample.start_ns,
        rx_ticks: sample.device_rx_ticks,
        tx_ticks: sample.device_tx_ticks,
        end_ns: sample.start_ns.saturating_add(sample.rtt_ns),
    }
}
