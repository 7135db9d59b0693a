//! What all adapters have: a serial port with a FIFO in each direction, and the lines of a null-modem cable. Behind
//! it CTS is always active; DSR and DCD are wired to the adapter's own DTR.

use super::packets::Packets;
use super::uart::{Format, Lane};
use crate::usb_virtual::control::{Answer, Effect};

/// The longest time that bytes from the host wait to be handed on in a group while others follow; the last of them is
/// always handed on when it arrives.
const GROUP_NS: u64 = 200_000;

/// A serial port.
#[derive(Debug)]
pub struct Port {
    /// Baud rate and framing.
    pub format: Format,
    /// The device behind it stops sending when the FIFO is full.
    pub has_flow_control: bool,
    /// Bytes were lost because the FIFO was full.
    pub is_overrun: bool,
    /// What it received.
    pub packets: Packets,
    /// Bytes from the host.
    sending: Lane,
    /// Bytes that the device behind it sends.
    receiving: Lane,
    /// Bytes that the FIFO of the transmitter holds.
    capacity: usize,
    /// The largest packet from the host.
    packet: usize,
    dtr: bool,
    /// The packet that waits for the host is dropped.
    is_purged: bool,
}

/// What happens at a port next.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The device behind it received this byte.
    Heard(u8),
    /// A packet for the host is due.
    Packet,
}

impl Port {
    /// A closed port; the transmitter's FIFO holds `capacity` bytes, and packets from the host have up to `packet`.
    pub fn new(format: Format, capacity: usize, packet: usize, packets: Packets) -> Port {
        Port {
            format,
            has_flow_control: false,
            is_overrun: false,
            packets,
            sending: Lane::default(),
            receiving: Lane::default(),
            capacity,
            packet,
            dtr: false,
            is_purged: false,
        }
    }

    /// True if a program has it open.
    pub fn is_dtr(&self) -> bool {
        self.dtr
    }

    /// Sets DTR. A program that opens the port raises it, and is a new peer.
    pub fn set_dtr(&mut self, dtr: bool, now_ns: u64) -> Answer {
        let was = std::mem::replace(&mut self.dtr, dtr);
        if was != dtr {
            self.packets.line_changed(now_ns);
        }
        Answer::Done(match dtr && !was {
            // An adapter is the only function of its device.
            true => Effect::Reset(0),
            false => Effect::None,
        })
    }

    /// True if bytes from the host are being sent.
    pub fn is_sending(&self) -> bool {
        !self.sending.is_empty()
    }

    /// Bytes from the host that have not been sent.
    pub fn sent_left(&self) -> usize {
        self.sending.len()
    }

    /// Takes a packet from the host.
    pub fn send(&mut self, bytes: &[u8], now_ns: u64) {
        self.sending.push(bytes, now_ns);
    }

    /// The device behind it sends bytes.
    pub fn receive(&mut self, bytes: &[u8], now_ns: u64) {
        self.receiving.push(bytes, now_ns);
    }

    /// Bytes that the device behind it sent and the host has not received.
    pub fn queued(&self) -> usize {
        self.receiving.len() + self.packets.len()
    }

    /// True if the transmitter's FIFO has room for a packet.
    pub fn has_room(&self) -> bool {
        self.sending.len() + self.packet <= self.capacity
    }

    /// Drops what the host sent and has not left yet.
    pub fn purge_sent(&mut self) {
        self.sending.clear();
    }

    /// Drops what was received and the host has not taken yet.
    pub fn purge_received(&mut self, now_ns: u64) {
        self.packets.clear(now_ns);
        self.is_purged = true;
    }

    /// True once after [`Port::purge_received`].
    pub fn take_purged(&mut self) -> bool {
        std::mem::take(&mut self.is_purged)
    }

    /// The device behind it begins anew: nothing is on the line.
    pub fn restart(&mut self, now_ns: u64) {
        self.sending.clear();
        self.receiving.clear();
        self.packets.clear(now_ns);
    }

    /// The next thing that happens not after `now_ns`, with its time.
    pub fn step(&mut self, now_ns: u64) -> Option<(u64, Event)> {
        let byte_ns = self.format.byte_ns();
        loop {
            let due = self.packets.due_ns(byte_ns);
            let sent = self.sending.end_ns(0, byte_ns);
            let received = self.arrival_ns(0);
            let next = [due, sent, received].into_iter().flatten().min();
            let at_ns = next.filter(|at| *at <= now_ns)?;
            // A byte that arrives when a packet is due is in it.
            if received == Some(at_ns) {
                if let Some(byte) = self.receiving.pop(byte_ns) {
                    self.is_overrun |= !self.packets.push(byte, at_ns);
                }
            } else if sent == Some(at_ns) {
                let byte = self.sending.pop(byte_ns)?;
                return Some((at_ns, Event::Heard(byte)));
            } else {
                return Some((at_ns, Event::Packet));
            }
        }
    }

    /// The host has taken the packet that was due; what happened before must have been stepped through.
    pub fn packet_sent(&mut self, at_ns: u64) {
        let was_stopped = self.is_stopped();
        self.packets.sent(at_ns);
        if was_stopped && !self.is_stopped() {
            self.receiving.pause_until(at_ns);
        }
    }

    /// When [`Port::step`] is to be called next.
    pub fn next_ns(&self) -> Option<u64> {
        let byte_ns = self.format.byte_ns();
        let grouped = (GROUP_NS / byte_ns.max(1)) as usize;
        let sent = self.sending.len().min(grouped.max(1)).checked_sub(1);
        let sent = sent.and_then(|before| self.sending.end_ns(before, byte_ns));
        // When a packet is full, at the event character, or when the line becomes idle.
        let wanted = self.packets.missing().map(|missing| {
            let event = self.packets.event();
            let event = event.and_then(|event| self.receiving.position(event));
            missing.min(event.map_or(usize::MAX, |before| before + 1))
        });
        let before = wanted.and_then(|wanted| wanted.min(self.receiving.len()).checked_sub(1));
        let received = before.and_then(|before| self.arrival_ns(before));
        let due = match received {
            Some(_) => self.packets.due_at_latest_ns(byte_ns),
            None => self.packets.due_ns(byte_ns),
        };
        [sent, received, due].into_iter().flatten().min()
    }

    /// When the byte after `before` others arrives, unless flow control keeps it back.
    fn arrival_ns(&self, before: usize) -> Option<u64> {
        let end = self.receiving.end_ns(before, self.format.byte_ns());
        end.filter(|_| !self.is_stopped())
    }

    fn is_stopped(&self) -> bool {
        self.has_flow_control && self.packets.is_full()
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets::Rule;
    use super::*;

    const MS: u64 = 1_000_000;

    fn port() -> Port {
        let rule = Rule::Timer {
            latency_ns: 16 * MS,
            event: None,
        };
        Port::new(Format::new(115_200), 128, 64, Packets::new(rule, 256, 62))
    }

    #[test]
    fn the_transmitter_holds_two_packets_and_takes_the_next_when_one_has_left() {
        let mut port = port();
        port.send(&[0; 64], 0);
        assert!(port.has_room());
        port.send(&[0; 64], 0);
        assert!(!port.has_room());
        let mut left = 0;
        while !port.has_room() {
            let (_, event) = port.step(6 * MS).unwrap();
            left += usize::from(event == Event::Heard(0));
        }
        assert_eq!(left, 64);
    }

    #[test]
    fn a_full_fifo_loses_bytes_unless_flow_control_stops_the_device() {
        for has_flow_control in [false, true] {
            let mut port = port();
            port.has_flow_control = has_flow_control;
            port.receive(&[7; 300], 0);
            let (_, event) = port.step(100 * MS).unwrap();
            assert_eq!(event, Event::Packet);
            let first = port.packets.take(port.format.byte_ns()).unwrap();
            assert_eq!(first.len(), 62);
            // The host does not ask for a while.
            assert_eq!(port.step(100 * MS), None);
            port.packet_sent(100 * MS);
            let mut bytes = first.len();
            while let Some((at, Event::Packet)) = port.step(1_000 * MS) {
                let data = port.packets.take(port.format.byte_ns()).unwrap();
                bytes += data.len();
                port.packet_sent(at);
                if data.is_empty() {
                    break;
                }
            }
            assert_eq!(port.is_overrun, !has_flow_control);
            assert_eq!(bytes, if has_flow_control { 300 } else { 256 });
        }
    }
}
