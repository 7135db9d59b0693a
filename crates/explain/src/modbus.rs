//! Where the time of a Modbus exchange on a serial line goes: bits on the wire, silence, device and host.

use serde::Serialize;
use std::fmt;
use wiregauge_limits::{Framing, ModbusTime};
use wiregauge_quantity::{percent, time};
use wiregauge_record::{Conditions, ModbusLine, Plan, Point, PointSummary, ReplyEnd};

/// Means of one point, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ModbusSplit {
    /// Which point.
    pub point: Point,
    /// The RTT.
    pub rtt_ns: f64,
    /// Bits of the request.
    pub request_ns: f64,
    /// Silence of 3.5 characters by which the device knows that the request has ended.
    pub silence_ns: f64,
    /// Bits of the reply.
    pub reply_ns: f64,
    /// The rest: the device, the adapter and the host. Less than 0 if the line is not as slow as its baud rate.
    pub rest_ns: f64,
}

/// The parts of each point of a Modbus run on a serial line whose baud rate is known.
pub fn of_modbus(
    plan: &Plan,
    conditions: &Conditions,
    points: &[PointSummary],
) -> Vec<ModbusSplit> {
    let reply = plan.queries.as_ref().map(|queries| &queries.reply);
    let Some(ReplyEnd::Modbus(ModbusLine::Rtu { .. })) = reply else {
        return Vec::new();
    };
    let setting = |name: &str| {
        let found = conditions.link.settings.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    };
    let baud = setting("baud").and_then(|baud| baud.parse().ok());
    let framing: Option<Framing> = setting("framing").and_then(|framing| framing.parse().ok());
    let (Some(baud), Some(framing)) = (baud, framing) else {
        return Vec::new();
    };
    points
        .iter()
        .filter_map(|point| split(baud, framing, point))
        .collect()
}

fn split(baud: u32, framing: Framing, point: &PointSummary) -> Option<ModbusSplit> {
    let rtt_ns = point.rtt.as_ref()?.mean.value;
    let rate = &point.throughput;
    let bytes = |bytes_s: f64| (bytes_s / rate.exchanges_s).round() as u64;
    let (request, reply) = (bytes(rate.out_bytes_s), bytes(rate.in_bytes_s));
    let time = ModbusTime::new(baud, framing, request, reply);
    // The silence behind the reply is not part of the RTT.
    let silence_ns = time.silence_ns / 2.0;
    Some(ModbusSplit {
        point: point.point,
        rtt_ns,
        request_ns: time.request_ns,
        silence_ns,
        reply_ns: time.reply_ns,
        rest_ns: rtt_ns - time.request_ns - time.reply_ns - silence_ns,
    })
}

impl fmt::Display for ModbusSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |ns: f64| format!("{} ({})", time(ns), percent(ns / self.rtt_ns));
        if self.rest_ns < 0.0 {
            let least_ns = self.rtt_ns - self.rest_ns;
            return write!(
                f,
                "the mean RTT of {} is below the {} that the line needs: it is not a real line of this baud rate",
                time(self.rtt_ns),
                time(least_ns)
            );
        }
        write!(
            f,
            "of the mean RTT of {}: request {}, silence {}, reply {}; device, adapter and host {}",
            time(self.rtt_ns),
            of(self.request_ns),
            of(self.silence_ns),
            of(self.reply_ns),
            of(self.rest_ns)
        )
    }
}
