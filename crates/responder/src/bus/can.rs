//! A CAN bus in virtual time: whose frame wins arbitration, and how long its bits take, stuff bits included. Nothing here
//! waits or reads a clock.

use std::collections::VecDeque;
use wiregauge_limits::{CAN_FD_SIZES, CanBits, CanFrame, CanRates};
use wiregauge_record::{CanId, CanOptions, IsoTp};

/// Messages of one node that wait at most; more are lost, as in a full queue of a controller.
const QUEUE: usize = 1024;

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The host sends requests.
    Host,
    /// The device sends responses.
    Device,
}

/// A message that was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedMessage {
    /// Who sent it.
    pub from: Node,
    /// When its last bit was received.
    pub seen_ns: u64,
}

/// Time of one message on the bus.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Time {
    /// Until it is received.
    seen_ns: f64,
    /// Until the next frame may begin.
    all_ns: f64,
}

struct Waiting {
    ready_ns: u64,
    time: Time,
}

/// One bus with two nodes on it.
pub struct CanBus {
    options: CanOptions,
    rates: CanRates,
    free_ns: u64,
    host: VecDeque<Waiting>,
    device: VecDeque<Waiting>,
}

impl CanBus {
    /// An idle bus with these bit rates.
    pub fn new(options: CanOptions, rates: CanRates) -> CanBus {
        CanBus {
            options,
            rates,
            free_ns: 0,
            host: VecDeque::new(),
            device: VecDeque::new(),
        }
    }

    /// Queues a message that a node has ready at a time. Returns false if its queue is full.
    pub fn offer(&mut self, from: Node, ready_ns: u64, data: &[u8]) -> bool {
        let time = self.time_of(from, data);
        let queue = match from {
            Node::Host => &mut self.host,
            Node::Device => &mut self.device,
        };
        if queue.len() >= QUEUE {
            return false;
        }
        queue.push_back(Waiting { ready_ns, time });
        true
    }

    /// When the next message begins, if one waits.
    pub fn next_begin_ns(&self) -> Option<u64> {
        let heads = [self.host.front(), self.device.front()]
            .into_iter()
            .flatten();
        let ready_ns = heads.map(|waiting| waiting.ready_ns).min()?;
        Some(ready_ns.max(self.free_ns))
    }

    /// Carries the message that begins next; of two that begin together, the one with the lower identifier.
    pub fn carry(&mut self) -> Option<CarriedMessage> {
        let begin_ns = self.next_begin_ns()?;
        let is_ready =
            |queue: &VecDeque<Waiting>| queue.front().is_some_and(|head| head.ready_ns <= begin_ns);
        let from = match (is_ready(&self.host), is_ready(&self.device)) {
            (true, true)
                if arbitration(self.options.request_id) < arbitration(self.options.response_id) =>
            {
                Node::Host
            }
            (_, true) => Node::Device,
            _ => Node::Host,
        };
        let queue = match from {
            Node::Host => &mut self.host,
            Node::Device => &mut self.device,
        };
        let time = queue.pop_front()?.time;
        self.free_ns = begin_ns + time.all_ns.round() as u64;
        Some(CarriedMessage {
            from,
            seen_ns: begin_ns + time.seen_ns.round() as u64,
        })
    }

    /// A frame, or all of those that ISO-TP makes of a message.
    fn time_of(&self, from: Node, data: &[u8]) -> Time {
        let Some(isotp) = self.options.isotp else {
            let bits = self.bits(from, data);
            return Time {
                seen_ns: self.rates.ns(bits.seen()),
                all_ns: self.rates.ns(bits),
            };
        };
        let mut time = Time {
            seen_ns: 0.0,
            all_ns: 0.0,
        };
        segments(
            data,
            isotp,
            self.options.fd,
            &mut |sender, frame, gap_ns| {
                let from = match (sender, from) {
                    (Sender::Same, from) => from,
                    (Sender::Peer, Node::Host) => Node::Device,
                    (Sender::Peer, Node::Device) => Node::Host,
                };
                let bits = self.bits(from, frame);
                time.seen_ns = time.all_ns + gap_ns as f64 + self.rates.ns(bits.seen());
                time.all_ns += gap_ns as f64 + self.rates.ns(bits);
            },
        );
        time
    }

    fn bits(&self, from: Node, data: &[u8]) -> CanBits {
        let id = match from {
            Node::Host => self.options.request_id,
            Node::Device => self.options.response_id,
        };
        let (id, extended) = (id.number(), id.is_extended());
        CanFrame {
            id,
            extended,
            fd: self.options.fd,
            data,
        }
        .bits()
    }
}

/// What decides arbitration: the first 11 bits, then whether there are more, then those.
fn arbitration(id: CanId) -> (u32, bool, u32) {
    match id.is_extended() {
        false => (id.number(), false, 0),
        true => (id.number() >> 18, true, id.number() & 0x3_ffff),
    }
}

/// Who sends a frame of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    /// The sender of the message.
    Same,
    /// Its receiver: flow control.
    Peer,
}

/// The frames of a message (ISO 15765-2, 9): each with its sender and the silence before it. Both ends are
/// assumed to have the same options.
fn segments(data: &[u8], isotp: IsoTp, fd: bool, frame: &mut dyn FnMut(Sender, &[u8], u64)) {
    let most: usize = if fd { 64 } else { 8 };
    let mut room = [0; 64];
    let mut put = |sender: Sender, head: &[u8], data: &[u8], gap_ns: u64| {
        let used = head.len() + data.len();
        room[..head.len()].copy_from_slice(head);
        room[head.len()..used].copy_from_slice(data);
        let filled = match isotp.padding {
            Some(_) => used.max(8),
            None => used,
        };
        let sizes = CAN_FD_SIZES.iter().map(|&size| size as usize);
        let size = sizes.clone().find(|&size| size >= filled).unwrap_or(most);
        room[used..size].fill(isotp.padding.unwrap_or(0xcc));
        frame(sender, &room[..size], gap_ns);
    };
    let length = data.len().min(4095);
    let data = &data[..length];
    match length {
        0..=7 => return put(Sender::Same, &[length as u8], data, 0),
        // With CAN FD the length has a byte of its own.
        _ if fd && length <= most - 2 => return put(Sender::Same, &[0, length as u8], data, 0),
        _ => {}
    }
    let (first, rest) = data.split_at(most - 2);
    put(
        Sender::Same,
        &[0x10 | (length >> 8) as u8, length as u8],
        first,
        0,
    );
    let control = [0x30, isotp.block_size, 0];
    let mut left_in_block = 0_usize;
    for (number, part) in (1_u8..=15).chain(0..=15).cycle().zip(rest.chunks(most - 1)) {
        let begins_block = left_in_block == 0;
        if begins_block {
            put(Sender::Peer, &control, &[], 0);
            left_in_block = match isotp.block_size {
                0 => usize::MAX,
                size => size.into(),
            };
        }
        left_in_block -= 1;
        let gap_ns = if begins_block { 0 } else { isotp.st_min_ns };
        put(Sender::Same, &[0x20 | number & 0xf], part, gap_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(request: &str, response: &str) -> CanOptions {
        CanOptions {
            request_id: request.parse().unwrap(),
            response_id: response.parse().unwrap(),
            fd: false,
            isotp: None,
            bitrate: None,
            data_bitrate: None,
            timestamps: false,
        }
    }

    fn bus(options: CanOptions) -> CanBus {
        CanBus::new(
            options,
            CanRates {
                nominal: 500_000,
                data: None,
            },
        )
    }

    #[test]
    fn a_frame_takes_the_time_of_its_bits() {
        let mut bus = bus(options("000", "001"));
        // 47 bits and 6 stuff bits: nothing but zeros. The last three are intermission.
        assert!(bus.offer(Node::Host, 1_000, &[]));
        let carried = bus.carry().unwrap();
        assert_eq!(
            carried,
            CarriedMessage {
                from: Node::Host,
                seen_ns: 1_000 + 50 * 2_000
            }
        );
        bus.offer(Node::Host, 1_000, &[]);
        assert_eq!(bus.next_begin_ns(), Some(1_000 + 53 * 2_000));
    }

    #[test]
    fn of_two_frames_that_wait_the_lower_identifier_goes_first() {
        for (request, response, first) in [
            ("100", "200", Node::Host),
            ("200", "100", Node::Device),
            // The first 11 bits are equal: the standard frame wins.
            ("100", "04000000", Node::Host),
            ("04000000", "100", Node::Device),
            ("04000001", "04000000", Node::Device),
        ] {
            let mut bus = bus(options(request, response));
            // A frame is under way when both become ready.
            bus.offer(Node::Host, 0, &[1]);
            bus.carry();
            bus.offer(Node::Host, 10, &[1]);
            bus.offer(Node::Device, 20, &[1]);
            assert_eq!(bus.carry().unwrap().from, first, "{request} {response}");
        }
    }

    #[test]
    fn a_frame_that_begins_first_is_not_interrupted() {
        let mut bus = bus(options("200", "100"));
        bus.offer(Node::Host, 0, &[1]);
        bus.offer(Node::Device, 1, &[1]);
        assert_eq!(bus.carry().unwrap().from, Node::Host);
        let second = bus.carry().unwrap();
        assert_eq!(second.from, Node::Device);
        assert_eq!(bus.carry(), None);
    }

    /// Sizes of the frames of a message; those of the receiver are negative.
    fn sizes(bytes: usize, isotp: IsoTp, fd: bool) -> Vec<i32> {
        let mut sizes = Vec::new();
        segments(&vec![0x55; bytes], isotp, fd, &mut |sender, frame, _| {
            let size = frame.len() as i32;
            sizes.push(if sender == Sender::Same { size } else { -size });
        });
        sizes
    }

    #[test]
    fn iso_tp_cuts_a_message_into_frames_as_the_standard_says() {
        let plain = IsoTp::default();
        assert_eq!(sizes(7, plain, false), [8]);
        assert_eq!(sizes(8, plain, false), [8, -3, 3]);
        assert_eq!(sizes(20, plain, false), [8, -3, 8, 8]);
        let blocks = IsoTp {
            block_size: 2,
            padding: Some(0xcc),
            ..plain
        };
        assert_eq!(sizes(27, blocks, false), [8, -8, 8, 8, -8, 8]);
        assert_eq!(sizes(62, plain, true), [64]);
        assert_eq!(sizes(9, plain, true), [12]);
        assert_eq!(sizes(64, plain, true), [64, -3, 3]);
        let found = sizes(4095, plain, false).len();
        assert_eq!(found, 2 + (4095 - 6_usize).div_ceil(7));
    }

    #[test]
    fn a_long_message_takes_the_time_of_its_frames_and_of_the_silence_between_them() {
        let with = |st_min_ns| {
            let isotp = Some(IsoTp {
                st_min_ns,
                ..IsoTp::default()
            });
            let mut bus = bus(CanOptions {
                isotp,
                ..options("7e0", "7e8")
            });
            bus.offer(Node::Host, 0, &[0x55; 27]);
            bus.carry().unwrap().seen_ns
        };
        // 6 + 7 + 7 + 7 bytes: two of the silences are between consecutive frames.
        assert_eq!(with(1_000_000) - with(0), 2_000_000);
    }
}
