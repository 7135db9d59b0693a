//! A modelled device, so that every effect of size and depth can be seen without hardware: how long
//! it computes, and how a USB bus carries its packets. Virtual time only; nothing here waits.

use crate::limits::Bus;
use std::collections::VecDeque;

/// What is modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Time that the device computes for each exchange, one after the other.
    pub service_ns: u64,
    /// Added to it at random, evenly from 0 to this.
    pub jitter_ns: u64,
    /// The bus that it hangs on.
    pub bus: Option<Bus>,
}

/// When the stations of one exchange are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The whole request is in the device.
    pub arrived_ns: u64,
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
        let jitter = match self.model.jitter_ns {
            0 => 0,
            most => self.random.u64(0..=most),
        };
        let begin = arrived_ns.max(self.free_ns);
        let ready_ns = begin + stall_ns + self.model.service_ns + jitter;
        self.free_ns = ready_ns;
        let delivered_ns = match &mut self.bus {
            Some(bus) => bus.carry_in(ready_ns, in_bytes),
            None => ready_ns,
        };
        Passage {
            arrived_ns,
            ready_ns,
            delivered_ns,
        }
    }
}

/// The time of a USB bus in frames (full speed) or microframes (high speed), each with as many
/// slots as the specification lets it carry bulk packets.
///
/// Simplified as a host controller behaves: what is handed over during one frame is carried from
/// the next one on; a device that has its answer ready is asked for it again and again, so the
/// answer takes the next free slots; the host is told at the end of the frame.
struct BusTime {
    bus: Bus,
    first_frame: u64,
    /// A bit for each taken slot, from `first_frame` on.
    taken: VecDeque<u32>,
}

impl BusTime {
    fn new(bus: Bus) -> BusTime {
        BusTime {
            bus,
            first_frame: 0,
            taken: VecDeque::new(),
        }
    }

    fn carry_out(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let frame = now_ns / self.bus.frame_ns();
        // Frames gone by are never asked for again.
        while self.first_frame < frame {
            self.taken.pop_front();
            self.first_frame += 1;
            if self.taken.is_empty() {
                self.first_frame = frame;
            }
        }
        let (frame, slot) = self.take((frame + 1) * self.bus.frame_ns(), self.packets(bytes));
        frame * self.bus.frame_ns() + (slot + 1) * self.slot_ns()
    }

    fn carry_in(&mut self, ready_ns: u64, bytes: u64) -> u64 {
        let (frame, _) = self.take(ready_ns, self.packets(bytes));
        (frame + 1) * self.bus.frame_ns()
    }

    /// A transfer that is a multiple of the packet size is closed by a packet of length zero
    /// (USB 2.0, 5.8.3), which takes a slot too.
    fn packets(&self, bytes: u64) -> u64 {
        bytes / self.bus.packet_bytes() + 1
    }

    fn slot_ns(&self) -> u64 {
        self.bus.frame_ns() / self.bus.packets_per_frame()
    }

    /// Takes so many free slots that begin at `from_ns` or later; returns the last one.
    fn take(&mut self, from_ns: u64, packets: u64) -> (u64, u64) {
        let slots = self.bus.packets_per_frame();
        let mut frame = (from_ns / self.bus.frame_ns()).max(self.first_frame);
        let mut slot = if frame * self.bus.frame_ns() >= from_ns {
            0
        } else {
            (from_ns % self.bus.frame_ns()).div_ceil(self.slot_ns())
        };
        let mut left = packets;
        loop {
            if slot >= slots {
                frame += 1;
                slot = 0;
            }
            let index = (frame - self.first_frame) as usize;
            if index >= self.taken.len() {
                self.taken.resize(index + 1, 0);
            }
            let mask = 1 << slot;
            if self.taken[index] & mask == 0 {
                self.taken[index] |= mask;
                left -= 1;
                if left == 0 {
                    return (frame, slot);
                }
            }
            slot += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                // One packet of the request, and those of the answer, the last one short.
                let packets = 1.0 + (in_bytes / bus.packet_bytes() + 1) as f64;
                let most = bus.packets_per_frame() as f64 / bus.frame_ns() as f64;
                let used = packets / trt / most;
                // The ends of the counted time are no whole frames.
                assert!(used <= 1.001, "{bus:?} {in_bytes} B: {used}");
                assert!(used > 0.95, "{bus:?} {in_bytes} B: {used}");
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_passages_to_the_bit() {
        let model = Model {
            jitter_ns: 300_000,
            ..full_speed(100_000)
        };
        let run = |seed| {
            let mut device = ModelledDevice::new(model, seed);
            (0..500)
                .map(|n| device.pass(n * 400_000, 16, 100, 0))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }

    #[test]
    fn a_stall_holds_up_everything_behind_it() {
        let mut device = ModelledDevice::new(Model::default(), 1);
        assert_eq!(device.pass(0, 16, 48, 400 * MS).delivered_ns, 400 * MS);
        assert_eq!(device.pass(1, 16, 48, 0).delivered_ns, 400 * MS);
    }
}
