//! What a device has to send, cut into IN transfers.
//!
//! One answer is one transfer (docs/protocol.md, "USB bulk"): a host sees its end by a packet that
//! is not full, so an answer that fills its last packet is followed by a packet of length zero, and
//! a host that asked for more does not wait. Answers are not put together into one transfer: a host
//! may ask for exactly one, and what comes with it would not fit its buffer. Transfers of a stream
//! have no such end; their size is the order's.

use crate::device::Device;
use crate::streams::Pull;
use wiregauge_record::Protocol;
use wiregauge_wire as wire;

/// The most bytes handed to the kernel at once, which needs them in one piece of its memory. A
/// multiple of every packet size, so that a host does not see where a longer answer is cut.
pub const PIECE: usize = 64 << 10;

/// Answers on their way out.
pub struct Answers {
    packet: usize,
    framed: bool,
    /// Whole answers that the device has just given. They are apart from those that leave, because
    /// the device counts what stands here as held, and what is gone must not count.
    given: Vec<u8>,
    /// Whole answers that leave; those before `sent` are gone.
    ready: Vec<u8>,
    sent: usize,
    /// Bytes of the answer at `sent` that are not gone.
    left: usize,
    /// The answer at `sent` is one, and no transfer of a stream.
    ends: bool,
    /// The last one filled its last packet.
    owes_end: bool,
    /// When the stream has its next transfer, if it is not due.
    stream_due_ns: Option<u64>,
}

impl Answers {
    /// None yet. `packet` is the packet size of the endpoint.
    pub fn new(packet: usize, protocol: Protocol) -> Answers {
        Answers {
            packet,
            framed: protocol == Protocol::Wiregauge,
            given: Vec::new(),
            ready: Vec::new(),
            sent: 0,
            left: 0,
            ends: true,
            owes_end: false,
            stream_due_ns: None,
        }
    }

    /// Where the device puts answers that are due at once.
    pub fn ready(&mut self) -> &mut Vec<u8> {
        &mut self.given
    }

    /// Bytes that wait.
    pub fn waiting(&self) -> usize {
        self.ready.len() - self.sent + self.given.len()
    }

    /// When the device has something to send next, once it has nothing now.
    pub fn next_due_ns(&self, device: &Device) -> Option<u64> {
        let due = [device.next_due_ns(), self.stream_due_ns];
        due.into_iter().flatten().min()
    }

    /// True if the last answer is not ended yet.
    pub fn owes_end(&self) -> bool {
        self.owes_end
    }

    /// Puts the next transfer into `to`; false if there is none now. An empty one is the packet of
    /// length zero.
    pub fn next(&mut self, device: &mut Device, now_ns: u64, to: &mut Vec<u8>) -> bool {
        if std::mem::take(&mut self.owes_end) {
            return true;
        }
        if self.sent == self.ready.len() {
            self.ready.clear();
            self.sent = 0;
            std::mem::swap(&mut self.ready, &mut self.given);
        }
        if self.ready.is_empty() {
            match device.pop_due(now_ns) {
                Some(answer) if !answer.is_empty() => {
                    // Faults may have cut or lengthened it: it is one answer, whatever it says.
                    self.left = answer.len();
                    self.ends = true;
                    self.ready = answer;
                }
                _ => match device.source_bytes() {
                    // Made where it leaves from.
                    Some(bytes) if bytes <= PIECE => return self.pull(device, now_ns, bytes, to),
                    Some(bytes) => {
                        let mut transfer = std::mem::take(&mut self.ready);
                        let due = self.pull(device, now_ns, bytes, &mut transfer);
                        self.ready = transfer;
                        if !due {
                            return false;
                        }
                        self.left = self.ready.len();
                        self.ends = false;
                    }
                    None => {
                        self.stream_due_ns = None;
                        return false;
                    }
                },
            }
        }
        if self.left == 0 {
            self.left = self.first_answer();
            self.ends = true;
        }
        if self.sent == 0 && self.left == self.ready.len() && self.left <= PIECE {
            std::mem::swap(to, &mut self.ready);
            self.left = 0;
        } else {
            let piece = self.left.min(PIECE);
            to.extend_from_slice(&self.ready[self.sent..self.sent + piece]);
            self.sent += piece;
            self.left -= piece;
        }
        self.owes_end = self.ends && self.left == 0 && to.len().is_multiple_of(self.packet);
        true
    }

    /// One transfer of the device's stream, if one is due.
    fn pull(&mut self, device: &mut Device, now_ns: u64, bytes: usize, to: &mut Vec<u8>) -> bool {
        self.stream_due_ns = match device.pull(now_ns, bytes, to) {
            Pull::NextAt(at) => Some(at),
            Pull::Idle => None,
        };
        !to.is_empty()
    }

    fn first_answer(&self) -> usize {
        let waiting = &self.ready[self.sent..];
        if !self.framed {
            return waiting.len();
        }
        wire::Response::decode(waiting).map_or(waiting.len(), |response| {
            (wire::RESPONSE_HEADER + response.in_payload as usize).min(waiting.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams_tests::start;
    use crate::{DeviceConfig, FaultRate, Faults};
    use wiregauge_link::host::Clock;

    const PACKET: usize = 512;

    fn device(faults: Faults) -> Device {
        let config = DeviceConfig {
            faults,
            ..DeviceConfig::default()
        };
        Device::new(config, Clock::start())
    }

    fn request(sequence: u32, in_bytes: u32) -> [u8; wire::REQUEST_HEADER] {
        let mut header = [0; wire::REQUEST_HEADER];
        wire::Request {
            kind: wire::Kind::Exchange,
            sequence,
            out_payload: 0,
            in_bytes,
        }
        .encode(&mut header);
        header
    }

    /// What goes out for requests of these sizes, as the lengths of transfers.
    fn transfers(faults: Faults, in_bytes: &[u32]) -> Vec<usize> {
        let mut device = device(faults);
        let mut answers = Answers::new(PACKET, Protocol::Wiregauge);
        for (sequence, &in_bytes) in (0..).zip(in_bytes) {
            device.take_stream(&request(sequence, in_bytes), 0, answers.ready());
        }
        let mut lengths = Vec::new();
        let mut transfer = Vec::new();
        while answers.next(&mut device, u64::MAX, &mut transfer) {
            lengths.push(transfer.len());
            transfer.clear();
        }
        assert_eq!(answers.waiting(), 0);
        lengths
    }

    #[test]
    fn an_answer_is_one_transfer_that_ends_with_a_short_packet_and_a_long_one_several() {
        let pieces = [PIECE, PIECE, 150_000 - 2 * PIECE, PIECE, PIECE, 0];
        for (name, in_bytes, expected) in [
            ("several wait", &[48, 100, 32][..], &[48, 100, 32][..]),
            ("packets full", &[512, 48, 1024], &[512, 0, 48, 1024, 0]),
            ("cut where no host sees it", &[150_000, 131_072], &pieces),
        ] {
            assert_eq!(transfers(Faults::default(), in_bytes), expected, "{name}");
        }
    }

    #[test]
    fn transfers_of_a_stream_have_the_size_of_its_order_and_no_end() {
        for (bytes, expected) in [
            (512, &[32, 512, 512, 512][..]),
            (100, &[32, 100, 100, 100]),
            (2 * PIECE, &[32, PIECE, PIECE, PIECE]),
        ] {
            let mut device = device(Faults::default());
            let mut answers = Answers::new(PACKET, Protocol::Wiregauge);
            let order = start(wire::Kind::Source, 1, bytes as u32);
            device.take_stream(&order, 0, answers.ready());
            let mut transfers: Vec<Vec<u8>> = Vec::new();
            for now in 0..4 {
                let mut transfer = Vec::new();
                assert!(answers.next(&mut device, now, &mut transfer));
                transfers.push(transfer);
            }
            let lengths: Vec<usize> = transfers.iter().map(Vec::len).collect();
            assert_eq!(lengths, expected);
            let mut pattern = vec![0; lengths[1..].iter().sum()];
            wire::fill_stream(0, &mut pattern);
            assert!(transfers[1..].concat() == pattern);
        }
    }

    #[test]
    fn what_is_gone_does_not_count_as_held_while_more_always_waits() {
        let mut device = device(Faults::default());
        let mut answers = Answers::new(PACKET, Protocol::Wiregauge);
        let mut transfer = Vec::new();
        for sequence in 0..1000 {
            let request = request(sequence, 16 << 10);
            assert!(device.has_room(answers.waiting()));
            let used = device.take_stream(&request, 0, answers.ready());
            assert_eq!(used, request.len(), "request {sequence} was left unread");
            // Two answers stay behind: one answer and its end leave for each request.
            let leave = if sequence < 2 { 0 } else { 2 };
            for _ in 0..leave {
                transfer.clear();
                assert!(answers.next(&mut device, 0, &mut transfer));
            }
        }
        assert_eq!(answers.waiting(), 2 * (16 << 10));
    }

    #[test]
    fn an_answer_with_a_fault_is_one_transfer_of_what_is_left_of_it() {
        let faults = Faults {
            lose_byte: Some(FaultRate::Every(1)),
            duplicate: Some(FaultRate::Every(1)),
            ..Faults::default()
        };
        assert_eq!(transfers(faults, &[513, 48]), [512, 0, 512, 0, 47, 47]);
    }
}
