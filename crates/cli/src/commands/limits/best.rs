//! One medium that `wiregauge limits` was asked about, and what it carries.

use crate::args::MediumArg;
use serde_json::json;
use wiregauge_limits::{Can, Endpoint, Ethernet, Limit, Transport, Uart};
use wiregauge_quantity::grouped;

/// What was asked about.
pub enum Kind {
    /// An endpoint.
    Usb(Endpoint),
    /// A serial line.
    Uart(Uart),
    /// Frames on a CAN bus.
    Can(Can),
    /// A way over Ethernet, and the size of a message, if one was given.
    Ethernet(Ethernet, Option<u32>),
}

/// Something asked about, and its limit.
pub struct Best {
    /// What it is.
    pub kind: Kind,
    /// What it carries.
    pub limit: Limit,
    /// Least time of the exchange that was asked about.
    pub exchange_ns: Option<f64>,
    /// What that time consists of, if not only of request and response.
    pub exchange_parts: Option<String>,
}

impl Kind {
    /// Which table it stands in: that of `usb`, of `uart`, or of `tcp` for both over Ethernet.
    pub fn family(&self) -> MediumArg {
        match self {
            Kind::Usb(_) => MediumArg::Usb,
            Kind::Uart(_) => MediumArg::Uart,
            Kind::Can(_) => MediumArg::Can,
            Kind::Ethernet(..) => MediumArg::Tcp,
        }
    }

    /// What says what it is, each under the head of its column.
    pub fn cells(&self) -> Vec<(&'static str, String)> {
        match self {
            Kind::Usb(e) => {
                let periodic = |value: String| match e.transfer.is_periodic() {
                    true => value,
                    false => "-".into(),
                };
                vec![
                    ("speed", speed(e).into()),
                    ("type", e.transfer.name().into()),
                    ("packet B", e.packet_bytes.to_string()),
                    ("packets", periodic(e.packets.to_string())),
                    ("interval us", periodic(grouped(e.served_ns() / 1000))),
                ]
            }
            Kind::Uart(line) => vec![
                ("baud", grouped(line.baud.into())),
                ("framing", line.framing.to_string()),
            ],
            Kind::Can(can) => {
                let frames = if can.is_fd() { "FD" } else { "classic" };
                let identifier = if can.extended { "29 bit" } else { "11 bit" };
                vec![
                    ("frames", frames.into()),
                    ("kbit/s", can_rates(can)),
                    ("identifier", identifier.into()),
                    ("data B", can.bytes.to_string()),
                ]
            }
            Kind::Ethernet(way, payload) => vec![
                ("protocol", transport(way).into()),
                ("rate Mbit/s", (way.bits_s as f64 / 1e6).to_string()),
                ("MTU B", way.mtu.to_string()),
                (
                    "message B",
                    payload.map_or_else(
                        || format!("{} (full)", way.full_segment()),
                        |bytes| bytes.to_string(),
                    ),
                ),
            ],
        }
    }

    /// What is counted a second besides bytes.
    pub fn messages(&self) -> Option<&'static str> {
        match self {
            Kind::Usb(_) => Some("packets/s"),
            Kind::Uart(_) => None,
            Kind::Can(_) => Some("frames/s"),
            Kind::Ethernet(..) => Some("messages/s"),
        }
    }

    /// Heading of the time on the wire of one of them.
    pub fn time(&self) -> &'static str {
        match self {
            Kind::Usb(_) => "us per packet",
            Kind::Uart(_) => "us per byte",
            Kind::Can(_) => "us per frame",
            Kind::Ethernet(..) => "us per message",
        }
    }

    /// Bytes a second of all such endpoints of a bus together, where USB 2.0 has a table.
    pub fn bus_bytes_s(&self) -> Option<u64> {
        match self {
            Kind::Usb(endpoint) => Some(endpoint.frame()?.bytes_s),
            _ => None,
        }
    }

    /// The longest time of one of them, where it depends on the content.
    pub fn worst_ns(&self) -> Option<f64> {
        match self {
            Kind::Can(can) => Some(can.rates.ns(can.most())),
            _ => None,
        }
    }

    /// It in few words.
    pub fn name(&self) -> String {
        match self {
            Kind::Usb(e) => {
                let unit = if speed(e) == e.speed.name() {
                    " speed"
                } else {
                    ""
                };
                let transfer = e.transfer.name();
                format!("{}{unit}, {transfer}, {} B", speed(e), e.packet_bytes)
            }
            Kind::Uart(line) => format!("{} baud, {}", grouped(line.baud.into()), line.framing),
            Kind::Can(can) => format!(
                "{}, {} kbit/s, {}-bit identifiers, {} B",
                if can.is_fd() { "CAN FD" } else { "CAN" },
                can_rates(can),
                if can.extended { 29 } else { 11 },
                can.bytes
            ),
            Kind::Ethernet(way, payload) => format!(
                "{}, {} Mbit/s, {}",
                transport(way),
                way.bits_s as f64 / 1e6,
                payload.map_or("full frames".into(), |bytes| format!("{bytes} B"))
            ),
        }
    }

    /// What was asked about, for machines.
    pub fn as_json(&self) -> serde_json::Value {
        match self {
            Kind::Usb(e) => json!({
                "medium": "usb",
                "speed": speed(e),
                "bits_s": e.speed.bits_s(),
                "type": e.transfer.name(),
                "packet_bytes": e.packet_bytes,
                "packets": e.transfer.is_periodic().then_some(e.packets),
                "interval_ns": e.transfer.is_periodic().then_some(e.interval_ns),
                "served_ns": e.transfer.is_periodic().then_some(e.served_ns()),
            }),
            Kind::Uart(line) => json!({
                "medium": "uart",
                "baud": line.baud,
                "framing": line.framing.to_string(),
            }),
            Kind::Can(can) => json!({
                "medium": "can",
                "fd": can.is_fd(),
                "bitrate": can.rates.nominal,
                "data_bitrate": can.rates.data,
                "extended": can.extended,
                "bytes": can.bytes,
                "bits": can.least().sum(),
                "worst_bits": can.most().sum(),
            }),
            Kind::Ethernet(way, payload) => json!({
                "medium": transport(way).to_lowercase(),
                "bits_s": way.bits_s,
                "mtu": way.mtu,
                "payload": payload.unwrap_or(way.full_segment()),
                "full_frames": payload.is_none(),
                "ipv6": way.ipv6,
                "vlan": way.vlan,
                "timestamps": way.transport == (Transport::Tcp { timestamps: true }),
            }),
        }
    }
}

/// As --speed has it.
fn speed(endpoint: &Endpoint) -> &'static str {
    endpoint.speed.name().trim_end_matches(" super")
}

fn transport(way: &Ethernet) -> &'static str {
    match way.transport {
        Transport::Tcp { .. } => "TCP",
        Transport::Udp => "UDP",
    }
}

/// Bit rates in kbit/s.
fn can_rates(can: &Can) -> String {
    let k = |rate: u32| (f64::from(rate) / 1e3).to_string();
    match can.rates.data {
        Some(data) => format!("{}/{}", k(can.rates.nominal), k(data)),
        None => k(can.rates.nominal),
    }
}
