//! TCP and UDP over Ethernet: what stands around a payload on the wire, frame by frame.

use crate::limit::Limit;
use crate::refused::Refused;
use wiregauge_quantity::{bit_rate, grouped};

/// Preamble and start of frame delimiter, IEEE 802.3, 3.2.1 and 3.2.2.
const PREAMBLE: u64 = 8;
/// Two addresses and the type, IEEE 802.3, 3.2.3 to 3.2.6.
const HEADER: u64 = 14;
/// A VLAN's tag, IEEE 802.1Q, 9.3.
const TAG: u64 = 4;
/// Frame check sequence, IEEE 802.3, 3.2.9.
const CHECK: u64 = 4;
/// minFrameSize, header and check included, IEEE 802.3, 4.4.2; shorter ones are padded (3.2.8).
const LEAST_FRAME: u64 = 64;
/// interPacketGap of 96 bit times, IEEE 802.3, 4.4.2.
const GAP: u64 = 12;
/// RFC 791, 3.1, without options.
const IPV4: u64 = 20;
/// RFC 8200, 3.
const IPV6: u64 = 40;
/// The header of each fragment, RFC 8200, 4.5. With IPv4 the header itself has the fields.
const IPV6_FRAGMENT: u64 = 8;
/// RFC 9293, 3.1, without options.
const TCP: u64 = 20;
/// The timestamps option, padded, RFC 7323, 3.2 and appendix A.
const TIMESTAMPS: u64 = 12;
/// RFC 768.
const UDP: u64 = 8;
/// The largest total length (IPv4) or payload length (IPv6).
const LONGEST: u64 = 65_535;

/// What carries the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp {
        /// Each segment has the timestamps option, as Linux has by default.
        timestamps: bool,
    },
    /// UDP, one datagram a message.
    Udp,
}

/// A way over Ethernet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ethernet {
    /// Bits a second.
    pub bits_s: u64,
    /// Largest IP packet in a frame.
    pub mtu: u32,
    /// What carries the payload.
    pub transport: Transport,
    /// IPv6 rather than IPv4.
    pub ipv6: bool,
    /// Frames have a VLAN's tag.
    pub vlan: bool,
    /// Both directions share the wire.
    pub half_duplex: bool,
}

impl Ethernet {
    /// Full duplex, IPv4, MTU 1500 (IEEE 802.3, 3.2.7), no VLAN.
    pub fn new(bits_s: u64, transport: Transport) -> Ethernet {
        Ethernet {
            bits_s,
            mtu: 1500,
            transport,
            ipv6: false,
            vlan: false,
            half_duplex: false,
        }
    }

    fn ip_header(&self) -> u64 {
        if self.ipv6 { IPV6 } else { IPV4 }
    }

    /// Bytes of the transport's header in a segment or datagram.
    fn transport_header(&self) -> u64 {
        match self.transport {
            Transport::Tcp { timestamps: true } => TCP + TIMESTAMPS,
            Transport::Tcp { timestamps: false } => TCP,
            Transport::Udp => UDP,
        }
    }

    /// The largest payload in one frame.
    pub fn full_segment(&self) -> u32 {
        let headers = self.ip_header() + self.transport_header();
        u64::from(self.mtu).saturating_sub(headers) as u32
    }

    /// The message of which most payload passes a second. Over UDP and IPv4 it is a large datagram, of
    /// which only the first fragment has UDP's header: of full fragments, or the largest there is. With IPv6 the header
    /// of fragments is as long.
    pub fn best_message(&self) -> u32 {
        let most = u64::from(self.mtu).saturating_sub(IPV4);
        let full = most / 8 * 8;
        if self.transport != Transport::Udp || self.ipv6 || full == 0 {
            return self.full_segment();
        }
        let others = (LONGEST - IPV4 - most) / full;
        let in_full_fragments = (others * full + most - UDP) as u32;
        let largest = (LONGEST - IPV4 - UDP) as u32;
        let rate = |payload: u32| {
            let (frames, gap) = self.wire_bytes(payload);
            f64::from(payload) / (frames + gap) as f64
        };
        if rate(largest) > rate(in_full_fragments) {
            largest
        } else {
            in_full_fragments
        }
    }

    fn name(&self) -> &'static str {
        match self.transport {
            Transport::Tcp { .. } => "TCP",
            Transport::Udp => "UDP",
        }
    }

    /// Refuses what the Internet protocol does not work with.
    pub fn check(&self, payload: Option<u32>) -> Result<(), Refused> {
        let (least, section) = match self.ipv6 {
            true => (1280, "RFC 8200, 5"),
            false => (68, "RFC 791, 3.2"),
        };
        if self.bits_s == 0 {
            return Err(Refused::Rate);
        }
        if !(least..=65_535).contains(&self.mtu) {
            return Err(Refused::Mtu {
                asked: self.mtu,
                is_ipv6: self.ipv6,
                least,
                section,
            });
        }
        let (most, section) = match (self.transport, self.ipv6) {
            (Transport::Tcp { .. }, _) => (u32::MAX, ""),
            (Transport::Udp, false) => ((LONGEST - IPV4 - UDP) as u32, "RFC 768 and RFC 791, 3.1"),
            (Transport::Udp, true) => ((LONGEST - UDP) as u32, "RFC 768 and RFC 8200, 3"),
        };
        match payload {
            Some(0) => Err(Refused::Empty),
            Some(asked) if asked > most => Err(Refused::Payload {
                transport: self.name(),
                asked,
                most,
                section,
            }),
            _ => Ok(()),
        }
    }

    /// A frame with an IP packet of so many bytes, from preamble to check.
    fn frame(&self, packet: u64) -> u64 {
        let tag = if self.vlan { TAG } else { 0 };
        PREAMBLE + (HEADER + tag + packet + CHECK).max(LEAST_FRAME)
    }

    /// The IP packets of a message that travels alone: so many full ones, of how many bytes, and the
    /// last.
    fn packets(&self, payload: u32) -> Packets {
        let (ip, mtu) = (self.ip_header(), u64::from(self.mtu));
        let payload = u64::from(payload);
        let (carried, header, multiple) = match self.transport {
            Transport::Tcp { .. } => (payload, ip + self.transport_header(), 1),
            Transport::Udp if ip + UDP + payload <= mtu => (payload, ip + UDP, 1),
            // All fragments but the last carry a multiple of 8 bytes: RFC 791, 3.2, RFC 8200, 4.5.
            Transport::Udp => {
                let header = ip + if self.ipv6 { IPV6_FRAGMENT } else { 0 };
                (UDP + payload, header, 8)
            }
        };
        let most = mtu.saturating_sub(header).max(multiple);
        let full = most / multiple * multiple;
        let whole = carried.saturating_sub(most).div_ceil(full);
        Packets {
            whole,
            whole_bytes: header + full,
            last_bytes: header + carried - whole * full,
        }
    }

    /// Bytes of the wire's time of a message that travels alone: from its first preamble to its last
    /// check, and the gap that must follow.
    fn wire_bytes(&self, payload: u32) -> (u64, u64) {
        let packets = self.packets(payload);
        let whole = packets.whole * (self.frame(packets.whole_bytes) + GAP);
        (whole + self.frame(packets.last_bytes), GAP)
    }

    /// Least time of a message that travels alone, from its first bit on the wire to its last.
    pub fn message_ns(&self, payload: u32) -> f64 {
        self.wire_bytes(payload).0 as f64 * 8e9 / self.bits_s as f64
    }

    /// Least time of an exchange on one wire: the request, then the answer. Each switch on the way
    /// that receives a frame before it sends it adds the frame's time once more.
    pub fn exchange_ns(&self, out: u32, in_: u32) -> f64 {
        self.message_ns(out) + self.message_ns(in_)
    }

    /// What one direction carries of messages of this payload, each travelling alone; without one, of
    /// a flow in full frames.
    pub fn limit(&self, payload: Option<u32>) -> Limit {
        let message = payload.unwrap_or_else(|| self.full_segment()).max(1);
        let (frames, gap) = self.wire_bytes(message);
        let raw_bytes_s = self.bits_s as f64 / 8.0;
        let messages_s = raw_bytes_s / (frames + gap) as f64;
        let bytes_s = messages_s * f64::from(message);
        Limit {
            bytes_s,
            messages_s,
            message_ns: self.message_ns(message),
            raw_bytes_s,
            shared: self.half_duplex,
            formula: format!(
                "{} B/s x {message} / {} = {} B/s",
                grouped(raw_bytes_s.round() as u64),
                self.wire_formula(message),
                grouped(bytes_s.round() as u64)
            ),
            source: format!(
                "{} over {} Ethernet, MTU {}, upper bound: {}, IEEE 802.3",
                self.name(),
                bit_rate(self.bits_s as f64),
                self.mtu,
                match payload {
                    None => "full frames back to back".to_owned(),
                    Some(bytes) => format!("messages of {bytes} B back to back"),
                }
            ),
            notes: self.notes(message),
        }
    }

    /// `(8 + 14 + 20 + 32 + 1448 + 4 + 12)`, several frames one behind the other.
    fn wire_formula(&self, message: u32) -> String {
        let packets = self.packets(message);
        let one = |bytes: u64| {
            let tag = if self.vlan { TAG } else { 0 };
            let frame = HEADER + tag + bytes + CHECK;
            let header = match tag {
                0 => format!("{HEADER}"),
                tag => format!("{HEADER} + {tag}"),
            };
            let padding = match LEAST_FRAME.saturating_sub(frame) {
                0 => String::new(),
                padding => format!(" + {padding} of padding"),
            };
            format!("({PREAMBLE} + {header} + {bytes}{padding} + {CHECK} + {GAP})")
        };
        match packets.whole {
            0 => one(packets.last_bytes),
            1 => format!(
                "({} + {})",
                one(packets.whole_bytes),
                one(packets.last_bytes)
            ),
            n => format!(
                "({n} x {} + {})",
                one(packets.whole_bytes),
                one(packets.last_bytes)
            ),
        }
    }

    fn notes(&self, message: u32) -> Vec<String> {
        let packets = self.packets(message);
        let mut headers = format!(
            "Preamble {PREAMBLE}, addresses and type {HEADER}, {}FCS {CHECK}, gap {GAP} (IEEE 802.3, 3.2 \
             and 4.4.2); in the IP packet: {} {}, {} {}",
            if self.vlan {
                format!("tag {TAG} (IEEE 802.1Q), ")
            } else {
                String::new()
            },
            if self.ipv6 { "IPv6" } else { "IPv4" },
            self.ip_header(),
            self.name(),
            self.transport_header(),
        );
        if self.transport == (Transport::Tcp { timestamps: true }) {
            headers += &format!(", {TIMESTAMPS} of them for timestamps (RFC 7323)");
        }
        headers.push('.');
        let mut notes = vec![headers];
        match self.transport {
            Transport::Tcp { .. } => notes.push(
                "Acknowledgements use the other direction, which is not counted.".to_owned(),
            ),
            Transport::Udp if packets.whole > 0 => notes.push(format!(
                "A message of {message} B is sent as {} fragments; if one is lost, the message is lost.",
                packets.whole + 1
            )),
            Transport::Udp => {}
        }
        if self.half_duplex {
            notes.push("Half duplex: both directions share the wire, and collide.".to_owned());
        }
        notes
    }
}

/// The IP packets of a message.
struct Packets {
    whole: u64,
    whole_bytes: u64,
    last_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP_TS: Transport = Transport::Tcp { timestamps: true };

    #[test]
    fn a_frame_is_padded_to_64_bytes() {
        let way = Ethernet::new(100_000_000, Transport::Udp);
        // 14 + 28 + 18 + 4 = 64: up to 18 bytes cost the same.
        assert_eq!(way.message_ns(1), way.message_ns(18));
        assert!(way.message_ns(19) > way.message_ns(18));
        // 72 bytes at 100 Mbit/s.
        assert_eq!(way.message_ns(1), 5760.0);
    }

    #[test]
    fn a_datagram_over_the_mtu_travels_in_fragments_of_multiples_of_8() {
        let way = Ethernet::new(1_000_000_000, Transport::Udp);
        let sizes = |way: Ethernet, payload| {
            let p = way.packets(payload);
            (p.whole, p.whole_bytes, p.last_bytes)
        };
        assert_eq!(sizes(way, 1472), (0, 1500, 1500));
        assert_eq!(sizes(way, 1473), (1, 1500, 21));
        // 65,507 + 8 = 44 x 1480 + 395.
        assert_eq!(sizes(way, 65_507), (44, 1500, 415));
        let six = Ethernet { ipv6: true, ..way };
        assert_eq!(sizes(six, 1453), (1, 1496, 61));
        // The last one need not be a multiple: 20 + 1470 of 1492, then 20 + 1472.
        let short = Ethernet { mtu: 1493, ..way };
        assert_eq!(sizes(short, 1472 + 1473 - 8), (1, 1492, 1493));
    }

    #[test]
    fn a_message_of_two_segments_has_a_gap_between_them() {
        let way = Ethernet::new(1_000_000_000, TCP_TS);
        assert_eq!(way.full_segment(), 1448);
        let (frames, gap) = way.wire_bytes(1449);
        assert_eq!((frames, gap), (8 + 1518 + 12 + 8 + 14 + 53 + 4, 12));
    }
}
