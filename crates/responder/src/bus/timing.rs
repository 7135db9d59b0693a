//! The few numbers that a modelled bus, a device on it and the host in front of it consist of.

use super::host::HostTiming;
use wiregauge_link::limits::Bus;

/// When a device that was not ready is asked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NakRetry {
    /// Again and again, so that it is served as soon as it is ready.
    #[default]
    AtOnce,
    /// In the next frame or microframe only.
    NextFrame,
}

/// When the host controller sees a transfer handed to an endpoint that was idle. One that is added
/// to a queue at work follows on in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pickup {
    /// At once: EHCI and xHCI go round their asynchronous schedule all the time.
    #[default]
    AtOnce,
    /// When it begins its next frame, as UHCI's frame list is read (UHCI Design Guide 1.1, 1.2).
    NextFrame,
}

/// A bus and its host controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusTiming {
    /// Length of a frame (full speed) or microframe (high speed).
    pub frame_ns: u64,
    /// Bytes of payload carried in a frame at most, both directions together.
    pub quota_bytes: u64,
    /// Packets carried in a frame at most.
    pub packets: u32,
    /// Bytes that the wire has time for in a frame, protocol overhead included.
    pub wire_bytes: u64,
    /// Protocol overhead of a transaction, in bytes of the wire's time.
    pub overhead_bytes: u64,
    /// Largest bulk packet.
    pub packet_bytes: u64,
    /// Time between two packets of the same endpoint, on top of the overhead.
    pub turnaround_ns: u64,
    /// A full-speed device behind a high-speed hub: what each packet takes longer, because its
    /// transaction is split; 0 without.
    pub split_ns: u64,
    /// When a transfer to an idle endpoint is seen.
    pub pickup: Pickup,
    /// Finished transfers are reported to the host at multiples of this; 0: at once.
    pub completion_ns: u64,
    /// The program and the system in front of it.
    pub host: HostTiming,
}

/// What a start and a complete split add to a packet of 64 B (USB 2.0, 11.14 to 11.18): each is a
/// transaction at high speed with 55 bytes of overhead (table 5-10), one of the two with the data,
/// at 60 bytes a microsecond: (55 + 55 + 64) / 60 = 2.9 us.
const SPLIT_NS: u64 = 2_900;

impl BusTiming {
    /// A bus of this speed as USB 2.0 has it.
    ///
    /// Full speed: 1500 bytes a frame, 13 of overhead a transaction (table 5-9), behind a host
    /// controller that works by frames, such as UHCI. High speed: 7500 bytes a microframe, 55 of
    /// overhead (table 5-10), behind one that goes round its schedule all the time and tells at the
    /// end of the microframe, such as EHCI with Linux's interrupt threshold of one microframe.
    pub const fn of(bus: Bus) -> BusTiming {
        let pickup = match bus {
            Bus::FullSpeed => Pickup::NextFrame,
            Bus::HighSpeed => Pickup::AtOnce,
        };
        BusTiming {
            frame_ns: bus.frame_ns(),
            quota_bytes: bus.packets_per_frame() * bus.packet_bytes(),
            packets: u32::MAX,
            wire_bytes: bus.wire_bytes(),
            overhead_bytes: bus.overhead_bytes(),
            packet_bytes: bus.packet_bytes(),
            turnaround_ns: 0,
            split_ns: 0,
            pickup,
            completion_ns: bus.frame_ns(),
            host: HostTiming::NONE,
        }
    }

    /// The same bus behind a high-speed hub, whose transaction translator carries the packets at
    /// full speed. The host controller is then a high-speed one: it sees transfers at once and
    /// tells of them at the end of a microframe.
    pub const fn behind_hub(self) -> BusTiming {
        BusTiming {
            split_ns: SPLIT_NS,
            pickup: Pickup::AtOnce,
            completion_ns: Bus::HighSpeed.frame_ns(),
            ..self
        }
    }

    /// Time on the wire of a packet with so many bytes of payload.
    pub fn wire_ns(&self, bytes: u64) -> u64 {
        ((bytes + self.overhead_bytes) * self.frame_ns).div_ceil(self.wire_bytes)
    }

    /// When the host learns of a transfer that ended at `end_ns`.
    pub fn told_ns(&self, end_ns: u64) -> u64 {
        round_up(end_ns, self.completion_ns)
    }

    /// The first beginning of a frame that is not before `at_ns`.
    pub fn frame_from(&self, at_ns: u64) -> u64 {
        round_up(at_ns, self.frame_ns)
    }

    /// The first beginning of a frame after `at_ns`.
    pub fn next_frame(&self, at_ns: u64) -> u64 {
        (at_ns / self.frame_ns + 1) * self.frame_ns
    }
}

/// One direction of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeTiming {
    /// Time to put one packet into the FIFO (IN) or to take it out (OUT); the device NAKs meanwhile
    /// unless another buffer is free.
    pub packet_ns: u64,
    /// Added to it for each byte, in picoseconds.
    pub byte_ps: u64,
    /// Packets that the FIFO holds: 1, or 2 if it is double-buffered.
    pub buffers: u8,
    /// When the host asks again after a NAK.
    pub nak_retry: NakRetry,
}

impl PipeTiming {
    /// Time to move one packet between memory and FIFO.
    pub fn move_ns(&self, bytes: u64) -> u64 {
        self.packet_ns + (bytes * self.byte_ps).div_ceil(1000)
    }
}

impl Default for PipeTiming {
    /// A device that is always ready.
    fn default() -> PipeTiming {
        PipeTiming {
            packet_ns: 0,
            byte_ps: 0,
            buffers: 1,
            nak_retry: NakRetry::AtOnce,
        }
    }
}

/// A device on the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTiming {
    /// Time from the end of a transfer (or from when there is something to send, if later) until
    /// the device begins with the next one of the same endpoint.
    pub transfer_ns: u64,
    /// Its IN endpoints.
    pub to_host: PipeTiming,
    /// Its OUT endpoints.
    pub from_host: PipeTiming,
}

/// A bus, a device on it and the host in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsbModel {
    /// Its speed.
    pub speed: Bus,
    /// The bus and the host.
    pub bus: BusTiming,
    /// The device.
    pub device: DeviceTiming,
}

impl UsbModel {
    /// A bus of this speed; neither device nor host add anything.
    pub fn of(speed: Bus) -> UsbModel {
        UsbModel {
            speed,
            bus: BusTiming::of(speed),
            device: DeviceTiming::default(),
        }
    }
}

/// The first multiple of `step` that is not before `at`; `at` itself if `step` is zero.
fn round_up(at: u64, step: u64) -> u64 {
    if step == 0 {
        at
    } else {
        at.div_ceil(step) * step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of USB 2.0, tables 5-9 and 5-10: payload and most transactions a (micro)frame.
    #[test]
    fn a_frame_has_time_for_as_many_packets_as_the_tables_of_usb_2_say() {
        let full = [
            (1, 107),
            (2, 100),
            (4, 88),
            (8, 71),
            (16, 51),
            (32, 33),
            (64, 19),
        ];
        let high = [
            (1, 133),
            (8, 119),
            (32, 86),
            (64, 63),
            (128, 40),
            (256, 24),
            (512, 13),
        ];
        for (bus, rows) in [(Bus::FullSpeed, full), (Bus::HighSpeed, high)] {
            let timing = BusTiming::of(bus);
            for (bytes, most) in rows {
                let fits = timing.frame_ns / timing.wire_ns(bytes);
                assert_eq!(fits, most, "{} {bytes} B", bus.name());
            }
        }
    }
}
