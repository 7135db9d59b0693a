//! From packets to transactions: a token, the data, the handshake (USB 2.0, 8.5).

use crate::packet::{self, Pid, Speed};
use crate::read::WirePacket;
use crate::timing::{gap_ns, wire_ns};

/// Which part of a split transaction (USB 2.0, 8.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The host hands it to the hub.
    Start,
    /// The host asks the hub for the result.
    Complete,
}

/// The data of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Which of the data packets.
    pub pid: Pid,
    /// Bytes of the payload.
    pub bytes: u32,
    /// When it began.
    pub begin_ns: u64,
    /// False if its check is wrong.
    pub good: bool,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The data was taken.
    Taken,
    /// The device has nothing to send, or no room.
    Nak,
    /// The endpoint is halted.
    Stall,
    /// There is room (the answer to `PING`).
    Room,
    /// Data without a handshake: it was lost, or the endpoint is isochronous.
    NoHandshake,
    /// Nothing followed the token.
    NoResponse,
    /// Data with a wrong check.
    BadData,
    /// Given to a hub, or not finished there.
    AtHub,
}

/// A transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// `OUT`, `IN`, `SETUP` or `PING`.
    pub token: Pid,
    /// Address of the device.
    pub address: u8,
    /// Endpoint; the highest bit is set for IN, and never for endpoint 0.
    pub endpoint: u8,
    /// Part of a split transaction.
    pub split: Option<Split>,
    /// When its first packet began.
    pub begin_ns: u64,
    /// When its last packet ended.
    pub end_ns: u64,
    /// The silence that must follow before the host may send again.
    pub gap_ns: u64,
    /// When the packet ended to which the device was to respond.
    asked_ns: u64,
    /// Data, if there was some.
    pub data: Option<Data>,
    /// Handshake, and when it began.
    pub handshake: Option<(Pid, u64)>,
}

impl Transaction {
    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        use Outcome::{AtHub, BadData, Nak, NoHandshake, NoResponse, Room, Stall, Taken};
        match (self.split, self.handshake.map(|(pid, _)| pid), self.data) {
            (Some(Split::Start), ..) | (Some(Split::Complete), Some(Pid::Nyet), _) => AtHub,
            (_, Some(Pid::Nak), _) => Nak,
            (_, Some(Pid::Stall), _) => Stall,
            (_, Some(Pid::PreOrErr), _) => NoResponse,
            (_, _, Some(data)) if !data.good => BadData,
            // The hub has the data of IN, and acknowledges that of OUT.
            (Some(Split::Complete), _, Some(_)) => Taken,
            (Some(Split::Complete), Some(_), None) => Taken,
            (None, Some(_), Some(_)) => Taken,
            (None, Some(_), None) if self.token == Pid::Ping => Room,
            (None, Some(_), None) | (_, None, None) => NoResponse,
            (None, None, Some(_)) => NoHandshake,
        }
    }

    /// From the end of the packet to which the device was to respond to its response.
    pub fn turn_around_ns(&self) -> Option<u64> {
        let responded = match (self.token, self.data, self.handshake) {
            (Pid::In, Some(data), _) => data.begin_ns,
            (_, _, Some((_, begin_ns))) => begin_ns,
            _ => return None,
        };
        (self.split.is_none()).then(|| responded.saturating_sub(self.asked_ns))
    }

    /// True if the data goes to the host.
    pub fn is_in(&self) -> bool {
        self.token == Pid::In
    }
}

/// What the packets of a bus are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A transaction, and the payload of its data if it is of endpoint 0.
    Transaction(&'a Transaction, &'a [u8]),
    /// A start of frame.
    Frame {
        /// When it began.
        at_ns: u64,
        /// When it ended.
        end_ns: u64,
    },
    /// A packet that belongs to no transaction.
    Stray {
        /// When it began.
        at_ns: u64,
        /// When it ended.
        end_ns: u64,
        /// True if its first byte or its check is wrong.
        damaged: bool,
    },
}

/// Puts the packets of a bus together.
#[derive(Debug, Default)]
pub struct Assembler {
    open: Option<Transaction>,
    /// Which part of a split transaction the next token begins, and when.
    split: Option<(Split, u64)>,
    payload: Vec<u8>,
}

/// Of the payload of endpoint 0; descriptors come in packets of at most 64 bytes.
const KEPT: usize = 1024;

impl Assembler {
    /// Takes the next packet; what it ends and what it is goes to `sink`.
    pub fn packet(
        &mut self,
        packet: &WirePacket<'_>,
        speed: Speed,
        sink: &mut dyn FnMut(Event<'_>),
    ) {
        let at_ns = packet.at_ns;
        let end_ns = at_ns.saturating_add(wire_ns(packet.bytes, packet.length, speed));
        let pid = packet.bytes.first().and_then(|&byte| Pid::of(byte));
        match pid {
            Some(pid) if pid.is_token() => {
                self.finish(sink);
                let Some((address, endpoint)) = packet::endpoint_of(packet.bytes) else {
                    return sink(stray(at_ns, end_ns, true));
                };
                self.payload.clear();
                let split = self.split.take();
                self.open = Some(Transaction {
                    token: pid,
                    address,
                    endpoint: match pid {
                        Pid::In if endpoint != 0 => endpoint | 0x80,
                        _ => endpoint,
                    },
                    split: split.map(|(split, _)| split),
                    begin_ns: split.map_or(at_ns, |(_, began)| began),
                    end_ns,
                    gap_ns: gap_ns(speed, true),
                    asked_ns: end_ns,
                    data: None,
                    handshake: None,
                });
            }
            Some(Pid::Sof) => {
                self.finish(sink);
                match packet::frame_of(packet.bytes) {
                    Some(_) => sink(Event::Frame { at_ns, end_ns }),
                    None => sink(stray(at_ns, end_ns, true)),
                }
            }
            Some(Pid::Split) => {
                self.finish(sink);
                // The eighth bit of the fields: start or complete. The check is not needed for that.
                match packet.bytes.get(1) {
                    Some(fields) if fields & 0x80 == 0 => self.split = Some((Split::Start, at_ns)),
                    Some(_) => self.split = Some((Split::Complete, at_ns)),
                    None => sink(stray(at_ns, end_ns, true)),
                }
            }
            Some(pid) if pid.is_data() => self.data(pid, packet, end_ns, speed, sink),
            Some(pid) if pid.is_handshake() => match &mut self.open {
                // Not `PRE`, which begins low-speed traffic.
                Some(open)
                    if open.handshake.is_none()
                        && (pid != Pid::PreOrErr || open.split.is_some()) =>
                {
                    open.handshake = Some((pid, at_ns));
                    open.end_ns = end_ns;
                    open.gap_ns = gap_ns(speed, open.token == Pid::In && open.data.is_some());
                    self.finish(sink);
                }
                _ => {
                    self.finish(sink);
                    sink(stray(at_ns, end_ns, false));
                }
            },
            _ => {
                self.finish(sink);
                sink(stray(at_ns, end_ns, pid.is_none()));
            }
        }
    }

    fn data(
        &mut self,
        pid: Pid,
        packet: &WirePacket<'_>,
        end_ns: u64,
        speed: Speed,
        sink: &mut dyn FnMut(Event<'_>),
    ) {
        let at_ns = packet.at_ns;
        let Some(open) = self.open.as_mut().filter(|open| open.data.is_none()) else {
            return sink(stray(at_ns, end_ns, false));
        };
        // Of a packet that was captured in part, the check is not known.
        let whole = packet.bytes.len() as u32 == packet.length;
        let payload = match whole {
            true => packet::payload_of(packet.bytes),
            false => packet.bytes.get(1..),
        };
        if open.endpoint == 0 {
            let payload = payload.unwrap_or(&[]);
            self.payload.clear();
            self.payload.extend(&payload[..payload.len().min(KEPT)]);
        }
        open.data = Some(Data {
            pid,
            bytes: packet.length.saturating_sub(3),
            begin_ns: at_ns,
            good: payload.is_some(),
        });
        open.end_ns = end_ns;
        let is_in = open.token == Pid::In;
        open.gap_ns = gap_ns(speed, !is_in);
        if !is_in {
            open.asked_ns = end_ns;
        }
    }

    /// Ends the last transaction; for the end of the file.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        if let Some(open) = self.open.take() {
            sink(Event::Transaction(&open, &self.payload));
        }
    }
}

fn stray(at_ns: u64, end_ns: u64, damaged: bool) -> Event<'static> {
    Event::Stray {
        at_ns,
        end_ns,
        damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{data, handshake, sof, token};

    /// Packets, and the endpoint and the outcome of the transaction that they are.
    type Row<'a> = (&'a [&'a Vec<u8>], u8, Outcome);

    /// Observes the packets of all rows, which begin 10 us after each other.
    fn hold(rows: &[Row<'_>]) {
        let mut found = Vec::new();
        let mut assembler = Assembler::default();
        let mut sink = |event: Event<'_>| {
            if let Event::Transaction(transaction, _) = event {
                found.push((transaction.endpoint, transaction.outcome()));
            }
        };
        let packets = rows.iter().flat_map(|(packets, ..)| packets.iter());
        for (number, bytes) in packets.enumerate() {
            let packet = WirePacket {
                at_ns: number as u64 * 10_000,
                bytes,
                length: bytes.len() as u32,
                speed: None,
            };
            assembler.packet(&packet, Speed::High, &mut sink);
        }
        assembler.finish(&mut sink);
        let expected: Vec<_> = rows.iter().map(|row| (row.1, row.2)).collect();
        assert_eq!(found, expected);
    }

    fn tok(pid: Pid) -> Vec<u8> {
        token(pid, 5, 2).to_vec()
    }

    fn hand(pid: Pid) -> Vec<u8> {
        handshake(pid).to_vec()
    }

    #[test]
    fn a_transaction_ends_as_its_last_packet_says() {
        let good = data(Pid::Data0, &[1, 2, 3]);
        let mut bad = good.clone();
        bad[1] ^= 4;
        let [get, put, ping] = [Pid::In, Pid::Out, Pid::Ping].map(tok);
        let [nak, ack, nyet, stall] = [Pid::Nak, Pid::Ack, Pid::Nyet, Pid::Stall].map(hand);
        hold(&[]);
        hold(&[
            (&[&get, &nak], 0x82, Outcome::Nak),
            (&[&get, &good, &ack], 0x82, Outcome::Taken),
            (&[&get, &good], 0x82, Outcome::NoHandshake),
            (&[&get, &bad], 0x82, Outcome::BadData),
            (&[&get], 0x82, Outcome::NoResponse),
            (&[&ping, &nak], 0x02, Outcome::Nak),
            (&[&ping, &ack], 0x02, Outcome::Room),
            (&[&put, &good, &nyet], 0x02, Outcome::Taken),
            (&[&put, &good, &nak], 0x02, Outcome::Nak),
            (&[&get, &stall], 0x82, Outcome::Stall),
        ]);
    }

    #[test]
    fn the_data_of_a_split_transaction_counts_once() {
        let [start, complete] = [1, 0x81].map(|which| vec![Pid::Split.byte(), which, 0, 0]);
        let good = data(Pid::Data0, &[1, 2, 3]);
        let [get, put, ack, nyet] = [tok(Pid::In), tok(Pid::Out), hand(Pid::Ack), hand(Pid::Nyet)];
        let frame = sof(1).to_vec();
        hold(&[
            (&[&start, &get, &ack], 0x82, Outcome::AtHub),
            (&[&complete, &get, &nyet], 0x82, Outcome::AtHub),
            (&[&complete, &get, &good], 0x82, Outcome::Taken),
            (&[&start, &put, &good, &ack], 0x02, Outcome::AtHub),
            (&[&complete, &put, &ack, &frame], 0x02, Outcome::Taken),
        ]);
    }
}
