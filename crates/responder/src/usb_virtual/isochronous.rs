//! The isochronous endpoints of a virtual device, in virtual time: one packet in each interval, whether or not the host
//! has a transfer there. USB/IP has no schedule of its own, so the intervals are those of the server's clock. No socket
//! and no clock here.
//!
//! IN is a source: it fills each packet with the pattern `counter`, which goes on in the intervals without a transfer. OUT
//! takes every packet. Packets that the faults drop end with a bus error, and are not sent again.

use super::usbip::{self, IsochronousPacket, Submit};
use crate::bus::Direction;
use crate::faults::{FaultInjector, Faults};
use std::collections::VecDeque;

/// `-EILSEQ`: a packet with a wrong checksum.
const BUS_ERROR: i32 = -84;

/// The isochronous endpoints of one device.
pub struct Isochronous {
    number: u8,
    packet_bytes: u32,
    in_: Schedule,
    out: Schedule,
    injector: FaultInjector,
    /// Byte of the pattern that the next packet IN begins with.
    position: u64,
}

/// What is planned for one endpoint.
struct Schedule {
    interval_ns: u64,
    /// The first interval that no transfer has.
    next: u64,
    pending: VecDeque<Pending>,
}

struct Pending {
    sequence: u32,
    /// The interval of its first packet, and how many were left out before it.
    first: u64,
    skipped: u64,
    /// Of each packet, where it lies in the transfer and how long it is.
    packets: Vec<(u32, u32)>,
}

impl Schedule {
    fn new(interval_ns: u64) -> Schedule {
        Schedule {
            interval_ns,
            next: 0,
            pending: VecDeque::new(),
        }
    }

    /// The interval after the present one is the first that a transfer can have.
    fn submit(&mut self, submit: &Submit<'_>, now_ns: u64) {
        let first = self.next.max(now_ns / self.interval_ns + 1);
        let packets: Vec<_> = submit.packets().collect();
        let skipped = match self.next {
            0 => 0,
            next => first - next,
        };
        self.next = first + packets.len() as u64;
        self.pending.push_back(Pending {
            sequence: submit.sequence,
            first,
            skipped,
            packets,
        });
    }

    /// When the oldest transfer is over: at the end of the interval of its last packet.
    fn end_ns(&self) -> Option<u64> {
        let oldest = self.pending.front()?;
        Some((oldest.first + oldest.packets.len() as u64) * self.interval_ns)
    }

    fn take_over(&mut self, now_ns: u64) -> Option<Pending> {
        self.end_ns().filter(|&end_ns| end_ns <= now_ns)?;
        self.pending.pop_front()
    }

    /// Forgets what it had, as after SET_INTERFACE.
    fn reset(&mut self) {
        self.next = 0;
        self.pending.clear();
    }
}

impl Isochronous {
    /// Endpoints of this number in both directions, with packets of up to so many bytes once in each interval.
    pub fn new(
        number: u8,
        packet_bytes: u16,
        interval_ns: u64,
        faults: Faults,
        seed: u64,
    ) -> Isochronous {
        Isochronous {
            number,
            packet_bytes: packet_bytes.into(),
            in_: Schedule::new(interval_ns.max(1)),
            out: Schedule::new(interval_ns.max(1)),
            injector: FaultInjector::new(faults, seed),
            position: 0,
        }
    }

    /// Takes a transfer; false if it is for no endpoint of these.
    pub fn submit(&mut self, submit: &Submit<'_>, now_ns: u64) -> bool {
        if submit.endpoint != self.number || submit.isochronous.is_empty() {
            return false;
        }
        let schedule = match submit.direction {
            Direction::In => &mut self.in_,
            Direction::Out => &mut self.out,
        };
        schedule.submit(submit, now_ns);
        true
    }

    /// Takes a transfer back; false if it is not pending.
    pub fn cancel(&mut self, sequence: u32) -> bool {
        let mut found = false;
        for schedule in [&mut self.in_, &mut self.out] {
            schedule.pending.retain(|pending| {
                let is_this = pending.sequence == sequence;
                found |= is_this;
                !is_this
            });
        }
        found
    }

    /// The stream begins anew.
    pub fn reset(&mut self) {
        self.position = 0;
        self.in_.reset();
        self.out.reset();
    }

    /// When [`Isochronous::advance`] has something to do.
    pub fn next_ns(&self) -> Option<u64> {
        [self.in_.end_ns(), self.out.end_ns()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Answers the transfers that are over by this time.
    pub fn advance(&mut self, now_ns: u64, answers: &mut Vec<u8>) {
        while let Some(over) = self.in_.take_over(now_ns) {
            self.send(&over, answers);
        }
        while let Some(over) = self.out.take_over(now_ns) {
            let packets: Vec<_> = over.packets.iter().map(|&of| self.carried(of)).collect();
            usbip::put_isochronous(answers, over.sequence, over.first as u32, &packets, &[]);
        }
    }

    fn send(&mut self, over: &Pending, answers: &mut Vec<u8>) {
        let bytes_of = |at: usize| over.packets.get(at).map_or(0, |&(_, length)| length);
        self.position += over.skipped * u64::from(bytes_of(0).min(self.packet_bytes));
        let mut data = Vec::with_capacity(over.packets.iter().map(|p| p.1 as usize).sum());
        let mut packets = Vec::with_capacity(over.packets.len());
        for &(offset, length) in &over.packets {
            let packet = self.carried((offset, length));
            let begin = self.position;
            self.position += u64::from(length.min(self.packet_bytes));
            let end = begin + u64::from(packet.bytes);
            data.extend((begin..end).map(|at| at as u8));
            packets.push(packet);
        }
        usbip::put_isochronous(answers, over.sequence, over.first as u32, &packets, &data);
    }

    /// What becomes of a packet.
    fn carried(&mut self, (offset, length): (u32, u32)) -> IsochronousPacket {
        let dropped = self.injector.next().drop;
        IsochronousPacket {
            offset,
            length,
            bytes: if dropped {
                0
            } else {
                length.min(self.packet_bytes)
            },
            status: if dropped { BUS_ERROR } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultRate;
    use crate::usb_virtual::usbip::HEADER;

    const FRAME: u64 = 1_000_000;

    fn device(faults: Faults) -> Isochronous {
        Isochronous::new(1, 1023, FRAME, faults, 1)
    }

    /// The descriptors of packets of this size, one behind the other.
    fn descriptors(packets: u32, bytes: u32) -> Vec<u8> {
        let words = (0..packets).flat_map(|at| [at * bytes, bytes, 0, 0]);
        words.flat_map(u32::to_be_bytes).collect()
    }

    fn submit(device: &mut Isochronous, sequence: u32, packets: &[u8], now_ns: u64) {
        let submit = Submit {
            sequence,
            endpoint: 1,
            direction: Direction::In,
            close: false,
            length: 1 << 16,
            setup: [0; 8],
            data: &[],
            isochronous: packets,
        };
        assert!(device.submit(&submit, now_ns));
    }

    /// Sequence, start frame and data of the only answer by this time.
    fn answer(device: &mut Isochronous, now_ns: u64) -> Option<(u32, u32, Vec<u8>)> {
        let mut answers = Vec::new();
        device.advance(now_ns, &mut answers);
        let word = |at: usize| u32::from_be_bytes(answers[at..at + 4].try_into().unwrap());
        (!answers.is_empty()).then(|| {
            let data = answers[HEADER..HEADER + word(24) as usize].to_vec();
            assert_eq!(answers.len(), HEADER + data.len() + 16 * word(32) as usize);
            (word(4), word(28), data)
        })
    }

    fn counter(from: u64, bytes: u64) -> Vec<u8> {
        (from..from + bytes).map(|at| at as u8).collect()
    }

    #[test]
    fn a_transfer_is_over_when_the_interval_of_its_last_packet_is() {
        let mut device = device(Faults::default());
        let packets = descriptors(4, 100);
        submit(&mut device, 7, &packets, 2 * FRAME + 10);
        submit(&mut device, 8, &packets, 2 * FRAME + 20);
        assert_eq!(device.next_ns(), Some(7 * FRAME));
        assert_eq!(answer(&mut device, 7 * FRAME - 1), None);
        let first = answer(&mut device, 7 * FRAME);
        assert_eq!(first, Some((7, 3, counter(0, 400))));
        let next_ns = device.next_ns();
        assert_eq!(next_ns, Some(11 * FRAME), "they follow one another");
        let second = answer(&mut device, 11 * FRAME);
        assert_eq!(second, Some((8, 7, counter(400, 400))));
        assert_eq!(device.next_ns(), None);
    }

    #[test]
    fn the_source_goes_on_in_intervals_without_a_transfer() {
        let mut device = device(Faults::default());
        let packets = descriptors(2, 100);
        submit(&mut device, 1, &packets, 0);
        let first = answer(&mut device, 3 * FRAME);
        assert_eq!(first, Some((1, 1, counter(0, 200))));
        // Submitted in frame 6: frames 3 to 6 had no packet.
        submit(&mut device, 2, &packets, 6 * FRAME + 1);
        let second = answer(&mut device, 9 * FRAME);
        assert_eq!(second, Some((2, 7, counter(600, 200))));
    }

    #[test]
    fn a_dropped_packet_has_an_error_and_no_data_and_its_bytes_never_come() {
        let mut device = device(Faults {
            drop: Some(FaultRate::Every(3)),
            ..Faults::default()
        });
        submit(&mut device, 1, &descriptors(4, 10), 0);
        let mut answers = Vec::new();
        device.advance(5 * FRAME, &mut answers);
        let word = |at: usize| u32::from_be_bytes(answers[at..at + 4].try_into().unwrap());
        let found = (word(24), word(32), word(36));
        assert_eq!(found, (30, 4, 1), "bytes, packets, errors");
        let data = [counter(0, 20), counter(30, 10)].concat();
        assert_eq!(answers[HEADER..HEADER + 30], data);
        let third = HEADER + 30 + 2 * 16;
        assert_eq!((word(third), word(third + 8)), (20, 0));
        assert_eq!(word(third + 12) as i32, BUS_ERROR);
    }

    #[test]
    fn a_packet_has_no_more_than_the_endpoint_sends() {
        let mut device = device(Faults::default());
        submit(&mut device, 1, &descriptors(1, 3000), 0);
        let answer = answer(&mut device, 2 * FRAME);
        assert_eq!(answer, Some((1, 1, counter(0, 1023))));
    }

    #[test]
    fn a_transfer_that_was_taken_back_is_not_answered() {
        let mut device = device(Faults::default());
        submit(&mut device, 1, &descriptors(1, 8), 0);
        assert!(device.cancel(1) && !device.cancel(1));
        assert_eq!(answer(&mut device, FRAME << 10), None);
    }
}
