//! The parts of an exchange's time, by the clocks that divide it: the schedule, the device's clock, the kernel's
//! records. Of each exchange they add up to the time that is compared.

use std::fmt;
use wiregauge_record::{Connect, Responder, Sample, Schedule};
use wiregauge_run::{Exchange, Run};

/// A part of the time of an exchange; its median is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Portion {
    /// Intended start to start.
    Waiting,
    /// The whole RTT, where no clock divides it.
    Rtt,
    /// In the device, by its clock: request complete to response handed over.
    Device,
    /// In this host, by the kernel's records: sending and receiving.
    Host,
    /// The rest, where device and host are known.
    Wire,
    /// The rest, where only the device is known.
    HostAndWire,
    /// The rest, where only the host is known.
    DeviceAndWire,
}

/// Name in figures, name in a sentence.
const PORTIONS: &[(Portion, &str, &str)] = &[
    (Portion::Waiting, "waiting.p50", "waiting"),
    (Portion::Rtt, "rtt.p50", "RTT"),
    (Portion::Device, "device.p50", "device"),
    (Portion::Host, "host.p50", "host"),
    (Portion::Wire, "wire.p50", "wire"),
    (Portion::HostAndWire, "host+wire.p50", "host and wire"),
    (Portion::DeviceAndWire, "device+wire.p50", "device and wire"),
];

impl Portion {
    /// The part of which this is the name in figures.
    pub fn parse(name: &str) -> Option<Portion> {
        let mut known = PORTIONS.iter();
        known.find(|known| known.1 == name).map(|known| known.0)
    }

    /// Its name in a sentence.
    pub fn words(self) -> &'static str {
        self.named().2
    }

    fn named(self) -> &'static (Portion, &'static str, &'static str) {
        let mut known = PORTIONS.iter();
        let found = known.find(|known| known.0 == self);
        found.expect("every portion has a name")
    }
}

impl fmt::Display for Portion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.named().1)
    }
}

/// The parts that all of these runs measured of every correct response; none where each exchange opens its link.
pub(crate) fn of_all<'a>(runs: impl Iterator<Item = &'a Run<Exchange>> + Clone) -> Vec<Portion> {
    let every = |run: &Run<Exchange>| matches!(run.file.plan.schedule, Schedule::EveryNs(_));
    let scheduled = runs.clone().all(every);
    let opens_each = |run: &Run<Exchange>| run.file.plan.connect == Connect::Each;
    if runs.clone().any(opens_each) {
        return Vec::new();
    }
    let points = runs.flat_map(|run| &run.file.points);
    let points: Vec<_> = points.filter(|point| point.counts.answered > 0).collect();
    if points.is_empty() {
        return Vec::new();
    }
    // A clock that stands still all the time is none.
    let device = points.iter().all(|point| {
        let device = point.device.as_ref();
        device.is_some_and(|times| times.max > 0.0 && times.n == point.counts.answered)
    });
    let host = points.iter().all(|point| {
        let stages = point.stages.as_ref();
        stages.is_some_and(|stages| stages.rtt.n == point.counts.answered)
    });
    let of_rtt: &[Portion] = match (device, host) {
        (true, true) => &[Portion::Device, Portion::Host, Portion::Wire],
        (true, false) => &[Portion::Device, Portion::HostAndWire],
        (false, true) => &[Portion::Host, Portion::DeviceAndWire],
        (false, false) if scheduled => &[Portion::Rtt],
        (false, false) => &[],
    };
    let waiting = scheduled.then_some(Portion::Waiting);
    waiting.into_iter().chain(of_rtt.iter().copied()).collect()
}

/// Divides the time of an exchange.
pub(crate) struct Clocks {
    /// Width of the device's tick counter, nanoseconds a tick.
    device: Option<(u32, f64)>,
}

impl Clocks {
    pub(crate) fn new(responder: Option<&Responder>) -> Clocks {
        let device = responder.filter(|responder| responder.tick_hz > 0);
        Clocks {
            device: device.map(|device| (device.tick_bits, 1e9 / device.tick_hz as f64)),
        }
    }

    /// This part of an exchange, in nanoseconds.
    pub(crate) fn part(&self, portion: Portion, sample: &Sample) -> u64 {
        let rtt_ns = sample.rtt_ns;
        let device_ns = || {
            self.device.map_or(0, |(bits, ns_per_tick)| {
                (sample.device_ticks(bits) as f64 * ns_per_tick).round() as u64
            })
        };
        let host_ns = || sample.kernel_tx_ns + rtt_ns.saturating_sub(sample.kernel_rx_ns);
        match portion {
            Portion::Waiting => sample.start_ns.saturating_sub(sample.intended_ns),
            Portion::Rtt => rtt_ns,
            Portion::Device => device_ns(),
            Portion::Host => host_ns(),
            Portion::Wire => rtt_ns.saturating_sub(device_ns() + host_ns()),
            Portion::HostAndWire => rtt_ns.saturating_sub(device_ns()),
            Portion::DeviceAndWire => rtt_ns.saturating_sub(host_ns()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portion_is_named_as_it_is_parsed() {
        for &(portion, name, _) in PORTIONS {
            assert_eq!(Portion::parse(name), Some(portion));
            assert_eq!(portion.to_string(), name);
        }
        assert_eq!(Portion::parse("device"), None);
    }

    #[test]
    fn the_parts_of_an_exchange_add_up_to_its_time_from_the_intended_start() {
        let clocks = Clocks::new(Some(&Responder {
            tick_hz: 1_000_000,
            tick_bits: 32,
            ..Responder::default()
        }));
        let sample = Sample {
            intended_ns: 1_000,
            start_ns: 1_400,
            rtt_ns: 100_000,
            device_rx_ticks: u64::from(u32::MAX),
            device_tx_ticks: 59,
            kernel_tx_ns: 5_000,
            kernel_rx_ns: 90_000,
            ..Sample::default()
        };
        let part = |portion| clocks.part(portion, &sample);
        assert_eq!(part(Portion::Device), 60_000);
        assert_eq!(part(Portion::Host), 15_000);
        assert_eq!(part(Portion::Wire), 25_000);
        let all = [
            &[Portion::Device, Portion::Host, Portion::Wire][..],
            &[Portion::Device, Portion::HostAndWire],
            &[Portion::Host, Portion::DeviceAndWire],
            &[Portion::Rtt],
        ];
        for parts in all {
            let sum: u64 = parts.iter().map(|of| part(*of)).sum();
            assert_eq!(part(Portion::Waiting) + sum, sample.from_intended_ns());
        }
    }
}
