//! Where the time of a small packet goes: most of a transaction with one byte is not that byte.

use crate::endpoint::Endpoint;
use crate::packet::Speed;
use crate::verdict::ENOUGH;
use serde::Serialize;
use wiregauge_quantity::{time, times};

/// Packets are small on average up to this part of the largest.
const SMALL: f64 = 1.0 / 8.0;

/// Means of an endpoint whose data packets are small, for one packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SmallPackets {
    /// Payload of a packet.
    pub bytes: f64,
    /// From one packet to the next, in nanoseconds; the times below add up to it.
    pub packet_ns: f64,
    /// The bits of its payload.
    pub bytes_ns: f64,
    /// All else of its transaction, and transactions that failed: token, checks, handshake, and the pauses between them.
    pub overhead_ns: f64,
    /// The device had answered NAK, and was to respond.
    pub nak_ns: f64,
    /// The device had answered NAK, and no request was outstanding.
    pub unrequested_ns: f64,
    /// Nothing passed, and the host sent no token.
    pub idle_ns: f64,
    /// A hub had the transaction.
    pub hub_ns: f64,
    /// Other traffic.
    pub other_ns: f64,
    /// How many times as many bytes full packets would carry, with the same time besides the bits of their payload.
    pub full_packets: f64,
}

impl SmallPackets {
    /// Of an endpoint; `None` if it has few packets or larger ones.
    pub(crate) fn of(endpoint: &Endpoint, speed: Speed) -> Option<SmallPackets> {
        let (counts, parts) = (&endpoint.counts, &endpoint.parts);
        let with_data = counts.packets - counts.empty;
        if endpoint.endpoint == 0 || with_data < ENOUGH || parts.total_ns <= 0.0 {
            return None;
        }
        let bytes = counts.bytes as f64 / with_data as f64;
        let largest = f64::from(endpoint.max_packet);
        if bytes > SMALL * largest {
            return None;
        }
        let a_packet = |ns: f64| ns / with_data as f64;
        let byte_ns = 8.0 * speed.bit_ps() as f64 / 1e3;
        let (packet_ns, bytes_ns) = (a_packet(parts.total_ns), bytes * byte_ns);
        Some(SmallPackets {
            bytes,
            packet_ns,
            bytes_ns,
            overhead_ns: (a_packet(parts.data_ns) - bytes_ns).max(0.0),
            nak_ns: a_packet(parts.nak_ns),
            unrequested_ns: a_packet(parts.unrequested_ns),
            idle_ns: a_packet(parts.idle_ns),
            hub_ns: a_packet(parts.hub_ns),
            other_ns: a_packet(parts.other_ns),
            full_packets: largest / bytes * packet_ns / (packet_ns - bytes_ns + largest * byte_ns),
        })
    }

    /// In a sentence; `largest` is the payload of a full packet.
    pub fn words(&self, largest: u32) -> String {
        let all = [
            (self.bytes_ns, "its bytes"),
            (
                self.overhead_ns,
                "the rest of its transaction (token, check, handshake)",
            ),
            (self.nak_ns, "the device had answered NAK"),
            (self.unrequested_ns, "no request was outstanding"),
            (self.idle_ns, "the host sent no token"),
            (self.hub_ns, "a hub had the transaction"),
            (self.other_ns, "other traffic"),
        ];
        let shown = all.iter().filter(|(ns, _)| *ns >= 0.5);
        let parts: Vec<String> = shown
            .map(|(ns, meaning)| format!("{} {meaning}", time(*ns)))
            .collect();
        let bytes = match self.bytes {
            bytes if bytes.fract() < 0.05 => format!("{bytes:.0}"),
            bytes => format!("{bytes:.1}"),
        };
        format!(
            "small packets: {bytes} B of {largest} on average, one each {}: {}; full packets with the same pauses would \
             carry {} as much",
            time(self.packet_ns),
            parts.join(", "),
            times(self.full_packets)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{Counts, Parts};

    fn endpoint(packets: u64, bytes: u64, parts: Parts) -> Endpoint {
        Endpoint {
            device: 1,
            endpoint: 1,
            transfer: None,
            max_packet: 64,
            max_packet_described: false,
            counts: Counts {
                packets,
                bytes,
                ..Counts::default()
            },
            bytes_s: 0.0,
            turn_around: None,
            next_token: None,
            transfer_gap: None,
            pause: None,
            responses: 0,
            request_pause: None,
            frame_share: 0.0,
            frame_share_max: 0.0,
            parts,
        }
    }

    /// 100 packets, each with 9.3 us on the wire and 9.6 us until the next.
    fn parts(idle_ns: f64) -> Parts {
        Parts {
            total_ns: 930_000.0 + 960_000.0,
            data_ns: 930_000.0,
            nak_ns: 960_000.0 - idle_ns,
            idle_ns,
            ..Parts::default()
        }
    }

    #[test]
    fn the_time_of_a_packet_of_one_byte_adds_up() {
        let one = endpoint(100, 100, parts(200_000.0));
        let small = SmallPackets::of(&one, Speed::Full).unwrap();
        let sum = small.bytes_ns + small.overhead_ns + small.nak_ns + small.idle_ns;
        assert!((sum - 18_900.0).abs() < 1e-6 && small.packet_ns == 18_900.0);
        // 8 bits of 83.333 ns.
        assert!((small.bytes_ns - 666.7).abs() < 0.1, "{small:?}");
        // 64 B in 18.9 us - 0.67 us + 42.7 us.
        assert!((small.full_packets - 64.0 * 18.9 / 60.9).abs() < 0.01);
        assert_eq!(
            small.words(64),
            "small packets: 1 B of 64 on average, one each 18.90 us: 667 ns its bytes, 8.633 us the rest of its \
             transaction (token, check, handshake), 7.600 us the device had answered NAK, 2.000 us the host sent no \
             token; full packets with the same pauses would carry 19.9 times as much"
        );
    }

    #[test]
    fn larger_packets_few_packets_and_endpoint_0_have_no_such_sentence() {
        let of =
            |packets, bytes| SmallPackets::of(&endpoint(packets, bytes, parts(0.0)), Speed::Full);
        assert!(of(100, 800).is_some() && of(100, 801).is_none());
        assert!(of(ENOUGH, ENOUGH).is_some() && of(ENOUGH - 1, ENOUGH - 1).is_none());
        let mut control = endpoint(100, 100, parts(0.0));
        control.endpoint = 0;
        assert!(SmallPackets::of(&control, Speed::Full).is_none());
    }
}
