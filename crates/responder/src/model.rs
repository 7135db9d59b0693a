//! A modelled device, so that every effect of size and depth can be seen without hardware: how long
//! it computes, and how a USB bus carries its packets. Virtual time only; nothing here waits.

use crate::bus::{BusTiming, Calendar, Pickup, UsbModel};
use wiregauge_link::limits::Bus;

/// So much of the past can still be made use of by a stream: its responder may have been woken late,
/// or the host may have been held up, while a device would have gone on.
pub(super) const LATE_NS: u64 = 20_000_000;

/// What is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Time that the device computes for each exchange, one after the other.
    pub service_ns: u64,
    /// Added to it at random, evenly from 0 to this.
    pub jitter_ns: u64,
    /// The bus that it hangs on.
    pub bus: Option<Bus>,
    /// The same with the times of a device and of a host; on byte streams only.
    pub usb: Option<UsbModel>,
}

impl Model {
    /// The bus that byte streams pass over, with its device and host.
    pub fn usb(&self) -> Option<UsbModel> {
        self.usb.or(self.bus.map(UsbModel::of))
    }
}

/// When the stations of one exchange are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The whole request is in the device.
    pub arrived_ns: u64,
    /// The device begins with it: those before are computed, and it is not held up.
    pub taken_ns: u64,
    /// The device has computed its answer.
    pub ready_ns: u64,
    /// The host has the whole answer.
    pub delivered_ns: u64,
}

/// A model at work.
pub struct ModelledDevice {
    model: Model,
    bus: Option<BusTime>,
    free_ns: u64,
    random: fastrand::Rng,
}

impl ModelledDevice {
    /// A device at rest.
    pub fn new(model: Model, seed: u64) -> ModelledDevice {
        ModelledDevice {
            model,
            bus: model.bus.map(BusTime::new),
            free_ns: 0,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Lets one exchange pass: its request was handed to the bus at `now_ns`, and the device is
    /// held up for `stall_ns` on top.
    pub fn pass(&mut self, now_ns: u64, out_bytes: u64, in_bytes: u64, stall_ns: u64) -> Passage {
        let arrived_ns = match &mut self.bus {
            Some(bus) => bus.carry_out(now_ns, out_bytes),
            None => now_ns,
        };
        let taken_ns = arrived_ns.max(self.free_ns) + stall_ns;
        let ready_ns = self.compute(arrived_ns, stall_ns);
        let delivered_ns = match &mut self.bus {
            Some(bus) => bus.carry_in(ready_ns, in_bytes),
            None => ready_ns,
        };
        Passage {
            arrived_ns,
            taken_ns,
            ready_ns,
            delivered_ns,
        }
    }

    /// Lets it compute once, not before `from_ns`; returns when it is done.
    pub fn compute(&mut self, from_ns: u64, stall_ns: u64) -> u64 {
        let jitter = match self.model.jitter_ns {
            0 => 0,
            most => self.random.u64(0..=most),
        };
        let begin = from_ns.max(self.free_ns);
        self.free_ns = begin + stall_ns + self.model.service_ns + jitter;
        self.free_ns
    }

    /// Lets an answer pass that needs no computing; returns when the host has it.
    pub fn answer(&mut self, ready_ns: u64, bytes: u64) -> u64 {
        match &mut self.bus {
            Some(bus) => bus.carry_in(ready_ns, bytes),
            None => ready_ns,
        }
    }

    /// The wire, for data that needs no computing before it is carried.
    pub(super) fn bus(&mut self) -> Option<&mut BusTime> {
        self.bus.as_mut()
    }

    /// How far ahead of the clock a stream is planned: far enough that none of the bus is left
    /// unused, near enough that both directions get their share of it.
    pub(super) fn lead_ns(&self) -> u64 {
        match &self.bus {
            Some(bus) => 2 * bus.frame_ns(),
            None => self.model.service_ns,
        }
    }
}

/// The bus between one device and one host, whose transfers pass one after the other.
///
/// Simplified as a host controller behaves: a device that has its answer ready is asked for it
/// again and again, so the answer takes the next free times; the host learns of it at the end of the
/// frame. When a request is carried, its answer is promised its place ahead; what is carried later
/// finds the gaps.
pub(super) struct BusTime {
    calendar: Calendar,
    out_free_ns: u64,
    in_free_ns: u64,
    /// Nothing is carried before; what was, is forgotten.
    forgotten_ns: u64,
}

impl BusTime {
    fn new(bus: Bus) -> BusTime {
        BusTime {
            calendar: Calendar::new(BusTiming::of(bus)),
            out_free_ns: 0,
            in_free_ns: 0,
            forgotten_ns: 0,
        }
    }

    fn forget_before(&mut self, now_ns: u64) {
        self.calendar.forget_before(now_ns);
        self.forgotten_ns = self.forgotten_ns.max(now_ns);
    }

    /// When the host controller sees what the host hands over now, if it was idle.
    pub(super) fn seen_ns(&self, now_ns: u64) -> u64 {
        match self.calendar.timing().pickup {
            Pickup::AtOnce => now_ns,
            Pickup::NextFrame => self.calendar.timing().next_frame(now_ns),
        }
    }

    /// Bytes of one packet at most.
    pub(super) fn packet_bytes(&self) -> u64 {
        self.calendar.timing().packet_bytes
    }

    /// Time on the wire of a packet with so many bytes.
    pub(super) fn wire_ns(&self, bytes: u64) -> u64 {
        self.calendar.timing().wire_ns(bytes)
    }

    /// Length of a frame or microframe.
    pub(super) fn frame_ns(&self) -> u64 {
        self.calendar.timing().frame_ns
    }

    /// Bytes of one frame at most.
    pub(super) fn frame_bytes(&self) -> u64 {
        self.calendar.timing().quota_bytes
    }

    /// When the host learns of a transfer that ended at `end_ns`.
    pub(super) fn told_ns(&self, end_ns: u64) -> u64 {
        self.calendar.timing().told_ns(end_ns)
    }

    /// Carries one packet of a stream, not before `from_ns`; returns its end. `from_ns` may lie a
    /// little before `now_ns`: a responder that was woken late makes up for it.
    pub(super) fn carry_packet(&mut self, now_ns: u64, from_ns: u64, bytes: u64) -> u64 {
        self.forget_before(now_ns.saturating_sub(LATE_NS));
        let begin_ns = self.calendar.find(from_ns.max(self.forgotten_ns), bytes);
        self.calendar.take(begin_ns, bytes)
    }

    /// Carries a transfer that the host hands over now; returns when the device has it.
    fn carry_out(&mut self, now_ns: u64, bytes: u64) -> u64 {
        self.forget_before(now_ns);
        let seen_ns = self.seen_ns(now_ns);
        self.out_free_ns = self.carry(seen_ns.max(self.out_free_ns), bytes);
        self.out_free_ns
    }

    /// Carries a transfer that the device has ready; returns when the host learns of it.
    fn carry_in(&mut self, ready_ns: u64, bytes: u64) -> u64 {
        self.in_free_ns = self.carry(ready_ns.max(self.in_free_ns), bytes);
        self.calendar.timing().told_ns(self.in_free_ns)
    }

    /// A transfer that is a multiple of the packet size is closed by a packet of length zero
    /// (USB 2.0, 5.8.3), which takes its time too.
    fn carry(&mut self, from_ns: u64, bytes: u64) -> u64 {
        let most = self.calendar.timing().packet_bytes;
        let (mut at_ns, mut left) = (from_ns, bytes);
        loop {
            let packet = left.min(most);
            let begin_ns = self.calendar.find(at_ns, packet);
            at_ns = self.calendar.take(begin_ns, packet);
            left -= packet;
            if packet < most {
                return at_ns;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    const MS: u64 = 1_000_000;

    /// Exchanges with `depth` outstanding against the model alone; returns the mean TRT.
    fn mean_trt(model: Model, out_bytes: u64, in_bytes: u64, depth: usize) -> f64 {
        let mut device = ModelledDevice::new(model, 1);
        let mut outstanding = VecDeque::new();
        let (mut now, mut first, count) = (0, 0, 2_000);
        for exchange in 0..count {
            if outstanding.len() == depth {
                now = outstanding.pop_front().unwrap();
            }
            if exchange == 100 {
                first = now;
            }
            outstanding.push_back(device.pass(now, out_bytes, in_bytes, 0).delivered_ns);
        }
        (now - first) as f64 / f64::from(count - 1 - 100)
    }

    fn full_speed(service_ns: u64) -> Model {
        Model {
            service_ns,
            jitter_ns: 0,
            bus: Some(Bus::FullSpeed),
            usb: None,
        }
    }

    #[test]
    fn a_small_exchange_on_full_speed_takes_two_frames() {
        assert_eq!(mean_trt(full_speed(0), 16, 48, 1), 2.0 * MS as f64);
    }

    #[test]
    fn depth_two_and_four_cut_the_repetition_time_of_small_packages_two_to_three_times() {
        let model = full_speed(700_000);
        let alone = mean_trt(model, 16, 48, 1);
        let two = alone / mean_trt(model, 16, 48, 2);
        let four = alone / mean_trt(model, 16, 48, 4);
        assert!((1.9..=2.1).contains(&two), "{two}");
        assert!((2.5..=3.5).contains(&four), "{four}");
    }

    #[test]
    fn large_packages_saturate_the_bus_but_never_exceed_it() {
        for bus in [Bus::FullSpeed, Bus::HighSpeed] {
            let model = Model {
                bus: Some(bus),
                ..Model::default()
            };
            for in_bytes in [2_000, 8_000, 60_000] {
                let trt = mean_trt(model, 16, in_bytes, 16);
                let used = (16 + in_bytes) as f64 / trt * 1e9 / bus.bytes_per_second() as f64;
                // The ends of the counted time are no whole frames.
                assert!(used <= 1.001, "{bus:?} {in_bytes} B: {used}");
                assert!(used > 0.95, "{bus:?} {in_bytes} B: {used}");
            }
        }
    }

    #[test]
    fn a_stall_holds_up_everything_behind_it() {
        let mut device = ModelledDevice::new(Model::default(), 1);
        assert_eq!(device.pass(0, 16, 48, 400 * MS).delivered_ns, 400 * MS);
        assert_eq!(device.pass(1, 16, 48, 0).delivered_ns, 400 * MS);
    }
}
