//! The patterns of raw streams: their bytes, and the check of those received.

use wiregauge_record::Pattern;

/// So many bytes in a row that fit another place of the pattern move the check there.
const RESYNC: usize = 4;

/// Bytes that are made or compared at once.
const CHUNK: usize = 4096;

/// The bytes of a pattern.
#[derive(Clone, Debug)]
pub struct PatternBytes {
    /// Values that repeat.
    period: usize,
    /// Of a pattern that begins anew with each transfer, and there with each packet: bytes of a packet.
    packet_bytes: Option<usize>,
    /// A period more than is compared at once, so that it can begin at any value.
    table: Vec<u8>,
}

impl PatternBytes {
    /// `packet_bytes`: what a packet of the link holds, where transfers consist of packets.
    pub fn new(pattern: Pattern, packet_bytes: Option<usize>) -> PatternBytes {
        let period = match pattern {
            Pattern::Zeros => 1,
            Pattern::Mod63 => 63,
            Pattern::Counter => 256,
        };
        PatternBytes {
            period,
            packet_bytes: packet_bytes.filter(|_| pattern == Pattern::Mod63),
            table: (0..period + CHUNK).map(|i| (i % period) as u8).collect(),
        }
    }

    /// Fills a transfer that begins at byte `position` of the stream.
    pub fn fill(&self, position: u64, to: &mut [u8]) {
        match self.packet_bytes {
            Some(bytes) => to.chunks_mut(bytes).for_each(|to| self.fill_from(0, to)),
            None => self.fill_from((position % self.period as u64) as usize, to),
        }
    }

    fn fill_from(&self, mut phase: usize, to: &mut [u8]) {
        for to in to.chunks_mut(CHUNK) {
            to.copy_from_slice(&self.table[phase..phase + to.len()]);
            phase = (phase + to.len()) % self.period;
        }
    }
}

/// What a check of a pattern found. How many bytes are missing cannot be known: the pattern repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternCounts {
    /// Bytes that are not what the pattern has at their place.
    pub corrupted: u64,
    /// Places where the pattern goes on elsewhere.
    pub jumps: u64,
}

/// Compares what is received with a pattern.
#[derive(Clone, Debug)]
pub struct PatternChecker {
    pattern: PatternBytes,
    /// Where in the period the next byte belongs; `None` before the first, which may be any.
    phase: Option<usize>,
    /// Another place that the last bytes fit, and how many of them.
    other: (usize, usize),
    counts: PatternCounts,
}

impl PatternChecker {
    /// For a stream that begins anywhere in the pattern.
    pub fn new(pattern: PatternBytes) -> PatternChecker {
        PatternChecker {
            pattern,
            phase: None,
            other: (0, 0),
            counts: PatternCounts::default(),
        }
    }

    /// Compares a transfer that was received.
    pub fn take(&mut self, bytes: &[u8]) {
        let Some(packet_bytes) = self.pattern.packet_bytes else {
            return self.compare(bytes);
        };
        for packet in bytes.chunks(packet_bytes) {
            (self.phase, self.other) = (Some(0), (0, 0));
            self.compare(packet);
        }
    }

    fn compare(&mut self, bytes: &[u8]) {
        let period = self.pattern.period;
        for chunk in bytes.chunks(CHUNK) {
            let first = usize::from(chunk[0]);
            let phase = *self
                .phase
                .get_or_insert(if first < period { first } else { 0 });
            if self.pattern.table[phase..phase + chunk.len()] == *chunk {
                self.phase = Some((phase + chunk.len()) % period);
                self.other.1 = 0;
            } else {
                chunk.iter().for_each(|&byte| self.step(byte));
            }
        }
    }

    fn step(&mut self, byte: u8) {
        let period = self.pattern.period;
        let next = |phase: usize| (phase + 1) % period;
        let (value, phase) = (usize::from(byte), self.phase.unwrap_or(0));
        self.phase = Some(next(phase));
        if value == phase {
            self.other.1 = 0;
            return;
        }
        self.counts.corrupted += 1;
        let (other, fit) = self.other;
        self.other = match value {
            _ if fit > 0 && value == other => (next(other), fit + 1),
            _ if value < period => (next(value), 1),
            _ => (0, 0),
        };
        if self.other.1 == RESYNC {
            self.counts.jumps += 1;
            self.counts.corrupted -= RESYNC as u64;
            self.phase = Some(self.other.0);
            self.other.1 = 0;
        }
    }

    /// What was found so far.
    pub fn counts(&self) -> PatternCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Pattern; 3] = [Pattern::Zeros, Pattern::Mod63, Pattern::Counter];

    fn bytes_of(pattern: Pattern, count: usize) -> Vec<u8> {
        let mut bytes = vec![0xff; count];
        PatternBytes::new(pattern, None).fill(0, &mut bytes);
        bytes
    }

    /// What a check finds in bytes that come in such pieces.
    fn found(pattern: Pattern, bytes: &[u8], piece: usize) -> (u64, u64) {
        let mut checker = PatternChecker::new(PatternBytes::new(pattern, None));
        bytes.chunks(piece).for_each(|piece| checker.take(piece));
        let PatternCounts { corrupted, jumps } = checker.counts();
        (corrupted, jumps)
    }

    #[test]
    fn what_is_filled_passes_however_it_is_cut_and_wherever_it_begins() {
        for pattern in ALL {
            let bytes = bytes_of(pattern, 20_000);
            for piece in [1, 2, 63, 64, 1000, 4096, 4097, 20_000] {
                for begin in [0, 1, 62, 300] {
                    assert_eq!(found(pattern, &bytes[begin..], piece), (0, 0), "{piece}");
                }
            }
        }
    }

    #[test]
    fn pieces_filled_one_after_another_are_one_pattern() {
        for pattern in ALL {
            let maker = PatternBytes::new(pattern, None);
            let mut bytes = vec![0xff; 20_000];
            let mut position = 0;
            for piece in bytes.chunks_mut(777) {
                maker.fill(position, piece);
                position += piece.len() as u64;
            }
            assert_eq!(bytes, bytes_of(pattern, 20_000));
        }
    }

    #[test]
    fn a_changed_byte_is_one_corrupted_byte() {
        for pattern in ALL {
            for at in [1, 5, 4095, 4096, 9999] {
                let mut bytes = bytes_of(pattern, 10_000);
                bytes[at] = 0xee;
                for piece in [1, 4096, 10_000] {
                    // Of `counter` it may be the right one.
                    let expected = u64::from(bytes[at] != bytes_of(pattern, 10_000)[at]);
                    assert_eq!(found(pattern, &bytes, piece), (expected, 0), "{at}");
                }
            }
        }
    }

    #[test]
    fn missing_bytes_are_one_jump_and_no_corrupted_ones() {
        for pattern in [Pattern::Mod63, Pattern::Counter] {
            for missing in [1, 5, 62] {
                let mut bytes = bytes_of(pattern, 10_000);
                bytes.drain(5000..5000 + missing);
                for piece in [1, 100, 4096] {
                    assert_eq!(found(pattern, &bytes, piece), (0, 1), "{missing}");
                }
            }
        }
    }

    #[test]
    fn text_is_no_pattern() {
        let text: Vec<u8> = b"temperature 21.5 C\r\n".repeat(100);
        let (corrupted, _) = found(Pattern::Counter, &text, 64);
        assert!(corrupted > 1500, "{corrupted} of 2000");
        assert_eq!(found(Pattern::Zeros, &text, 64).0, 2000);
    }

    #[test]
    fn mod63_begins_anew_with_each_packet_of_usb() {
        // As Linux's usbtest makes it: (i % maxpacket) % 63.
        let maker = PatternBytes::new(Pattern::Mod63, Some(64));
        let mut bytes = vec![0xff; 200];
        maker.fill(4711, &mut bytes);
        let usbtest: Vec<u8> = (0..200).map(|i| (i % 64 % 63) as u8).collect();
        assert_eq!(bytes, usbtest);
        let mut checker = PatternChecker::new(maker);
        checker.take(&bytes);
        checker.take(&bytes[..100]);
        assert_eq!(checker.counts(), PatternCounts::default());
        checker.take(&bytes[1..65]);
        assert!(checker.counts().corrupted + checker.counts().jumps > 0);
    }
}
