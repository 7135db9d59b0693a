//! When the bytes that an adapter received become a packet to the host.

use std::collections::VecDeque;

/// When a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// FTDI: when a packet is full, when the timer has run since the last packet (even if there is nothing but the
    /// status), at the event character, and when a modem line changed (AN232B-04).
    Timer {
        /// The latency timer.
        latency_ns: u64,
        /// The event character, if there is one.
        event: Option<u8>,
    },
    /// When a packet is full, when the line has been idle for one and a half bytes, or when a byte has waited for a
    /// frame. The data sheets of CP2102 and CH341 do not say; this is a simple model.
    Idle,
    /// Only when a packet is full.
    Full,
}

/// What an adapter received and has not sent to the host yet.
#[derive(Debug)]
pub struct Packets {
    /// When a packet goes.
    pub rule: Rule,
    /// Bytes with the time of their arrival.
    fifo: VecDeque<(u64, u8)>,
    /// Bytes that the FIFO holds.
    capacity: usize,
    /// Bytes of data in a packet.
    most: usize,
    /// A packet waits for the host.
    is_pending: bool,
    /// Bytes of the FIFO that are in this packet.
    pending: usize,
    /// When the last packet had gone.
    sent_ns: u64,
    /// A modem line changed at this time.
    changed_ns: Option<u64>,
    /// The last packet was full, and nothing has ended the host's transfer since.
    is_open: bool,
}

/// A full-speed frame.
const FRAME_NS: u64 = 1_000_000;

impl Packets {
    /// An empty FIFO of so many bytes; packets have up to `most` bytes of data.
    pub fn new(rule: Rule, capacity: usize, most: usize) -> Packets {
        Packets {
            rule,
            fifo: VecDeque::with_capacity(capacity),
            capacity,
            most,
            is_pending: false,
            pending: 0,
            sent_ns: 0,
            changed_ns: None,
            is_open: false,
        }
    }

    /// Bytes in the FIFO.
    pub fn len(&self) -> usize {
        self.fifo.len()
    }

    /// True if the FIFO has no room.
    pub fn is_full(&self) -> bool {
        self.fifo.len() >= self.capacity
    }

    /// A byte arrived; false if it was lost because the FIFO is full.
    pub fn push(&mut self, byte: u8, at_ns: u64) -> bool {
        let has_room = !self.is_full();
        if has_room {
            self.fifo.push_back((at_ns, byte));
        }
        has_room
    }

    /// A modem line changed.
    pub fn line_changed(&mut self, at_ns: u64) {
        self.changed_ns.get_or_insert(at_ns);
    }

    /// The event character, if there is one.
    pub fn event(&self) -> Option<u8> {
        match self.rule {
            Rule::Timer { event, .. } => event,
            Rule::Idle | Rule::Full => None,
        }
    }

    /// How many bytes must arrive before it is to be decided again whether a packet goes; nothing while one waits.
    pub fn missing(&self) -> Option<usize> {
        if self.is_pending {
            return None;
        }
        // The first byte may start a time of its own.
        Some(match self.fifo.len() {
            0 => 1,
            held => self.most.saturating_sub(held).max(1),
        })
    }

    /// When the next packet goes and how many bytes of the FIFO are in it. `byte_ns` is the time of a byte; nothing
    /// that arrives later is taken into account, but that the line is idle.
    fn due(&self, byte_ns: u64, is_idle: bool) -> Option<(u64, usize)> {
        if self.is_pending {
            return None;
        }
        let count = self.fifo.len().min(self.most);
        let full_ns = self.fifo.get(self.most - 1).map(|(at, _)| *at);
        let full = full_ns.map(|at| (at, self.most));
        let others = match self.rule {
            Rule::Timer { latency_ns, event } => {
                let first = self.fifo.iter().take(self.most);
                let event = first
                    .zip(1..)
                    .find(|((_, byte), _)| Some(*byte) == event)
                    .map(|((at, _), count)| (*at, count));
                let changed = self.changed_ns.map(|at| (at, count));
                let timer = Some((self.sent_ns + latency_ns, count));
                [event, changed, timer]
            }
            Rule::Idle => {
                let oldest = self.fifo.front().map(|(at, _)| (at + FRAME_NS, count));
                let last = self.fifo.back().map(|(at, _)| *at);
                let last = last.filter(|_| is_idle);
                let idle = last.map(|at| (at + byte_ns * 3 / 2, count));
                let end = self.is_open && self.fifo.is_empty();
                let end = end.then_some((self.sent_ns + byte_ns * 3 / 2, 0));
                [oldest, idle, end]
            }
            Rule::Full => [None; 3],
        };
        let due = [full].into_iter().chain(others).flatten().min()?;
        Some((due.0.max(self.sent_ns), due.1))
    }

    /// When the next packet goes unless more bytes arrive before.
    pub fn due_ns(&self, byte_ns: u64) -> Option<u64> {
        self.due(byte_ns, true).map(|(at, _)| at)
    }

    /// The same while bytes arrive one after the other.
    pub fn due_at_latest_ns(&self, byte_ns: u64) -> Option<u64> {
        self.due(byte_ns, false).map(|(at, _)| at)
    }

    /// The data of the packet that goes at [`Packets::due_ns`], without status bytes.
    pub fn take(&mut self, byte_ns: u64) -> Option<Vec<u8>> {
        let (_, count) = self.due(byte_ns, true)?;
        self.is_pending = true;
        self.pending = count;
        self.changed_ns = None;
        Some(
            self.fifo
                .iter()
                .take(count)
                .map(|(_, byte)| *byte)
                .collect(),
        )
    }

    /// The host has the packet; the timer begins anew.
    pub fn sent(&mut self, at_ns: u64) {
        self.fifo.drain(..self.pending);
        self.is_open = self.pending == self.most;
        self.is_pending = false;
        self.pending = 0;
        self.sent_ns = at_ns;
    }

    /// Drops what has not been sent, with the packet that waits.
    pub fn clear(&mut self, now_ns: u64) {
        self.fifo.clear();
        self.is_pending = false;
        self.pending = 0;
        self.sent_ns = now_ns;
        self.is_open = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const BYTE: u64 = 86_805;

    fn ftdi(latency_ms: u64, event: Option<u8>) -> Packets {
        let rule = Rule::Timer {
            latency_ns: latency_ms * MS,
            event,
        };
        Packets::new(rule, 256, 62)
    }

    #[test]
    fn a_change_of_a_modem_line_sends_a_packet_at_once() {
        let mut packets = ftdi(16, None);
        packets.line_changed(3 * MS);
        assert_eq!(packets.due_ns(BYTE), Some(3 * MS));
        assert_eq!(packets.take(BYTE), Some(Vec::new()));
        packets.sent(4 * MS);
        assert_eq!(packets.due_ns(BYTE), Some(20 * MS));
    }

    #[test]
    fn bytes_beyond_the_fifo_are_lost_also_while_a_packet_waits_for_the_host() {
        let mut packets = ftdi(16, None);
        let kept = (0..300).filter(|at| packets.push(0, at * BYTE)).count();
        assert_eq!(kept, 256);
        packets.take(BYTE).unwrap();
        assert!(!packets.push(0, 400 * BYTE));
        packets.sent(400 * BYTE);
        assert!(packets.push(0, 400 * BYTE));
    }

    #[test]
    fn without_a_timer_an_idle_line_or_a_frame_sends_and_a_full_last_packet_is_ended() {
        let mut packets = Packets::new(Rule::Idle, 576, 64);
        assert_eq!(packets.due_ns(BYTE), None);
        packets.push(1, BYTE);
        packets.push(2, 2 * BYTE);
        assert_eq!(packets.due_ns(BYTE), Some(2 * BYTE + BYTE * 3 / 2));
        // At 9600 baud a byte takes longer than a frame.
        assert_eq!(packets.due_ns(1_041_666), Some(BYTE + FRAME_NS));
        packets.clear(0);
        for at in 0..64 {
            packets.push(0, at * BYTE);
        }
        assert_eq!(packets.take(BYTE).unwrap().len(), 64);
        packets.sent(64 * BYTE);
        assert_eq!(packets.due_ns(BYTE), Some(64 * BYTE + BYTE * 3 / 2));
        assert_eq!(packets.take(BYTE), Some(Vec::new()));
        packets.sent(70 * BYTE);
        assert_eq!(packets.due_ns(BYTE), None);
    }

    #[test]
    fn a_chip_that_waits_for_full_packets_keeps_the_rest() {
        let mut packets = Packets::new(Rule::Full, 64, 32);
        for at in 0..40 {
            packets.push(0, at * BYTE);
        }
        assert_eq!(packets.take(BYTE).unwrap().len(), 32);
        packets.sent(40 * BYTE);
        assert_eq!(packets.due_ns(BYTE), None);
    }
}
