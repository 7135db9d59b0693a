//! Which endpoints of a device to use, from its descriptors: what the address names, and for the
//! rest the interface that looks most as if it were made to be talked to.

use super::address::{Settings, TransferKind};
use nusb::descriptors::{ConfigurationDescriptor, TransferType};
use nusb::transfer::Direction;
use std::fmt;
use wiregauge_record::Way;

const CLASS_COMM: u8 = 0x02;
const CLASS_HID: u8 = 0x03;
const CLASS_CDC_DATA: u8 = 0x0a;
const CLASS_VENDOR: u8 = 0xff;

/// CS_INTERFACE and Union Functional Descriptor, CDC 1.2, tables 12 and 13.
const CS_INTERFACE: u8 = 0x24;
const CDC_UNION: u8 = 0x06;

/// SuperSpeed Endpoint Companion, USB 3.2, table 9-29.
const SS_COMPANION: u8 = 0x30;

/// An endpoint that the link could use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointFact {
    /// bEndpointAddress.
    pub address: u8,
    /// Its kind.
    pub kind: TransferKind,
    /// Bytes of a full packet.
    pub packet_bytes: usize,
    /// bInterval.
    pub interval: u8,
    /// Packets in one service interval: high-bandwidth interrupt endpoints and bursts.
    pub packets: u32,
}

impl EndpointFact {
    fn is_in(&self) -> bool {
        self.address & 0x80 != 0
    }
}

/// An isochronous endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsochronousFact {
    /// bEndpointAddress.
    pub address: u8,
    /// Bytes that it carries in one interval at most.
    pub bytes: usize,
    /// Packets on the bus that carry them: those of high-bandwidth endpoints and of bursts.
    pub packets: u32,
    /// bInterval.
    pub interval: u8,
}

impl fmt::Display for IsochronousFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.address & 0x80 != 0 {
            "IN"
        } else {
            "OUT"
        };
        write!(
            f,
            "{way} 0x{:02x} isochronous {} B",
            self.address, self.bytes
        )
    }
}

/// An alternate setting of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceFact {
    /// bInterfaceNumber.
    pub number: u8,
    /// bAlternateSetting.
    pub setting: u8,
    /// bInterfaceClass.
    pub class: u8,
    /// Its bulk and interrupt endpoints.
    pub endpoints: Vec<EndpointFact>,
    /// Its isochronous endpoints.
    pub isochronous: Vec<IsochronousFact>,
    /// The interface that it is the data of, by the CDC union descriptor.
    pub controlled_by: Option<u8>,
}

/// What was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// bInterfaceNumber.
    pub interface: u8,
    /// bAlternateSetting.
    pub setting: u8,
    /// bInterfaceClass.
    pub class: u8,
    /// Its control interface, which the same kernel driver holds.
    pub controlled_by: Option<u8>,
    /// IN.
    pub in_: EndpointFact,
    /// OUT.
    pub out: EndpointFact,
}

/// What was chosen of a device that has no pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneWayChoice {
    /// bInterfaceNumber.
    pub interface: u8,
    /// bAlternateSetting.
    pub setting: u8,
    /// bInterfaceClass.
    pub class: u8,
    /// The endpoint.
    pub endpoint: EndpointFact,
}

impl OneWayChoice {
    /// The direction of its data.
    pub fn way(&self) -> Way {
        match self.endpoint.is_in() {
            true => Way::In,
            false => Way::Out,
        }
    }
}

/// The interfaces of a configuration.
pub fn facts(configuration: &ConfigurationDescriptor<'_>) -> Vec<InterfaceFact> {
    let unions: Vec<(u8, Vec<u8>)> = configuration
        .interface_alt_settings()
        .filter(|interface| interface.class() == CLASS_COMM)
        .flat_map(|interface| {
            interface
                .descriptors()
                .filter_map(|descriptor| match *descriptor.as_bytes() {
                    [_, CS_INTERFACE, CDC_UNION, master, ref slaves @ ..] => {
                        Some((master, slaves.to_vec()))
                    }
                    _ => None,
                })
                .collect::<Vec<_>>()
        })
        .collect();
    configuration
        .interface_alt_settings()
        .map(|interface| {
            let number = interface.interface_number();
            InterfaceFact {
                number,
                setting: interface.alternate_setting(),
                class: interface.class(),
                endpoints: interface.endpoints().filter_map(endpoint_fact).collect(),
                isochronous: interface.endpoints().filter_map(isochronous_fact).collect(),
                controlled_by: unions
                    .iter()
                    .find(|(master, slaves)| *master != number && slaves.contains(&number))
                    .map(|&(master, _)| master),
            }
        })
        .collect()
}

fn endpoint_fact(endpoint: nusb::descriptors::EndpointDescriptor<'_>) -> Option<EndpointFact> {
    let kind = match endpoint.transfer_type() {
        TransferType::Bulk => TransferKind::Bulk,
        TransferType::Interrupt => TransferKind::Interrupt,
        _ => return None,
    };
    // A packet of no bytes carries nothing, and nothing can be rounded up to it.
    let packet_bytes = Some(endpoint.max_packet_size()).filter(|&bytes| bytes > 0)?;
    let burst = endpoint
        .descriptors()
        .find(|descriptor| descriptor.descriptor_type() == SS_COMPANION)
        .and_then(|descriptor| descriptor.as_bytes().get(2).copied());
    Some(EndpointFact {
        address: endpoint.address() & (Direction::In as u8 | 0x0f),
        kind,
        packet_bytes,
        interval: endpoint.interval(),
        packets: match burst {
            Some(burst) => u32::from(burst) + 1,
            None => u32::from(endpoint.packets_per_microframe()),
        },
    })
}

fn isochronous_fact(
    endpoint: nusb::descriptors::EndpointDescriptor<'_>,
) -> Option<IsochronousFact> {
    if endpoint.transfer_type() != TransferType::Isochronous {
        return None;
    }
    let companion = endpoint.descriptors().find_map(|companion| {
        // bMaxBurst, bmAttributes (bits 1 and 0: Mult), wBytesPerInterval.
        match *companion.as_bytes() {
            [_, SS_COMPANION, burst, attributes, low, high, ..] => {
                let packets = (u32::from(burst) + 1) * (u32::from(attributes & 3) + 1);
                Some((usize::from(u16::from_le_bytes([low, high])), packets))
            }
            _ => None,
        }
    });
    let (bytes, packets) = companion.unwrap_or_else(|| {
        let packets = u32::from(endpoint.packets_per_microframe());
        (endpoint.max_packet_size() * packets as usize, packets)
    });
    Some(IsochronousFact {
        address: endpoint.address() & (Direction::In as u8 | 0x0f),
        bytes,
        packets,
        interval: endpoint.interval(),
    })
}

/// Chooses a pair of endpoints. The error says what there is instead.
pub fn choose(facts: &[InterfaceFact], settings: &Settings) -> Result<Choice, String> {
    let mut best: Option<(u8, Choice)> = None;
    for fact in facts {
        if settings
            .interface
            .is_some_and(|wanted| wanted != fact.number)
            || settings
                .setting
                .is_some_and(|wanted| wanted != fact.setting)
        {
            continue;
        }
        let Some(choice) = pair(fact, settings) else {
            continue;
        };
        let named =
            settings.interface.is_some() || settings.in_.is_some() || settings.out.is_some();
        let Some(rank) = rank(fact.class, choice.in_.kind, named) else {
            continue;
        };
        // Of equals the first: the lowest interface in its default setting.
        if best.is_none_or(|(so_far, _)| rank < so_far) {
            best = Some((rank, choice));
        }
    }
    best.map(|(_, choice)| choice)
        .ok_or_else(|| match needs_name(facts, settings) {
            Some(fact) => must_be_named(fact),
            None => nothing_fits(facts, settings),
        })
}

/// The first interface that fits but is taken only if it is named.
fn needs_name<'a>(facts: &'a [InterfaceFact], settings: &Settings) -> Option<&'a InterfaceFact> {
    let mut fitting = facts.iter().filter(|fact| {
        let interface = settings.interface.is_none_or(|it| it == fact.number);
        interface && settings.setting.is_none_or(|it| it == fact.setting)
    });
    fitting.find(|fact| pair(fact, settings).is_some())
}

fn must_be_named(fact: &InterfaceFact) -> String {
    format!(
        "its interface {0} ({1}) has a pair of endpoints, but interfaces of this class usually have a kernel driver, which \
         would be detached: append #interface={0} to the address to use it (it has: {2})",
        fact.number,
        class_name(fact.class),
        list(std::slice::from_ref(fact))
    )
}

/// Chooses one endpoint of a device that has no pair: the IN endpoint, unless only an OUT endpoint is there or named.
pub fn choose_one(facts: &[InterfaceFact], settings: &Settings) -> Option<OneWayChoice> {
    let fits = |fact: &&InterfaceFact| {
        let interface = settings.interface.is_none_or(|it| it == fact.number);
        interface && settings.setting.is_none_or(|it| it == fact.setting)
    };
    let named = settings.interface.is_some() || settings.in_.is_some() || settings.out.is_some();
    let mut best: Option<(u8, OneWayChoice)> = None;
    for fact in facts.iter().filter(fits) {
        for endpoint in &fact.endpoints {
            let (own, other) = match endpoint.is_in() {
                true => (settings.in_, settings.out),
                false => (settings.out, settings.in_),
            };
            let is_wanted = own.is_none_or(|wanted| wanted == endpoint.address)
                && other.is_none()
                && settings.kind.is_none_or(|kind| kind == endpoint.kind);
            // A keyboard or a mouse: its driver would be detached.
            let is_wanted = is_wanted && (named || fact.class != CLASS_HID);
            let Some(rank) = rank(fact.class, endpoint.kind, named).filter(|_| is_wanted) else {
                continue;
            };
            let rank = 2 * rank + u8::from(!endpoint.is_in());
            if best.is_none_or(|(so_far, _)| rank < so_far) {
                let choice = OneWayChoice {
                    interface: fact.number,
                    setting: fact.setting,
                    class: fact.class,
                    endpoint: *endpoint,
                };
                best = Some((rank, choice));
            }
        }
    }
    best.map(|(_, choice)| choice)
}

/// The lower the better. A class that some kernel driver owns (a disk, a keyboard, a sound card) is
/// taken only if it is named, because its driver would be detached.
fn rank(class: u8, kind: TransferKind, named: bool) -> Option<u8> {
    match (kind, class) {
        (TransferKind::Bulk, CLASS_VENDOR) => Some(0),
        (TransferKind::Bulk, CLASS_CDC_DATA) => Some(1),
        (TransferKind::Interrupt, CLASS_VENDOR) => Some(2),
        (TransferKind::Interrupt, CLASS_HID) => Some(3),
        _ if named => Some(4),
        _ => None,
    }
}

fn pair(fact: &InterfaceFact, settings: &Settings) -> Option<Choice> {
    let fits = |endpoint: &&EndpointFact, wanted: Option<u8>, kind: TransferKind| {
        endpoint.kind == kind && wanted.is_none_or(|wanted| wanted == endpoint.address)
    };
    [TransferKind::Bulk, TransferKind::Interrupt]
        .into_iter()
        .filter(|&kind| settings.kind.is_none_or(|wanted| wanted == kind))
        .find_map(|kind| {
            let mut ins = fact.endpoints.iter().filter(|e| e.is_in());
            let mut outs = fact.endpoints.iter().filter(|e| !e.is_in());
            Some(Choice {
                interface: fact.number,
                setting: fact.setting,
                class: fact.class,
                controlled_by: fact.controlled_by,
                in_: *ins.find(|e| fits(e, settings.in_, kind))?,
                out: *outs.find(|e| fits(e, settings.out, kind))?,
            })
        })
}

fn nothing_fits(facts: &[InterfaceFact], settings: &Settings) -> String {
    let mut wanted = Vec::new();
    if let Some(interface) = settings.interface {
        wanted.push(format!("interface {interface}"));
    }
    if let Some(setting) = settings.setting {
        wanted.push(format!("setting {setting}"));
    }
    let kind = settings
        .kind
        .map_or("bulk or interrupt", TransferKind::name);
    let endpoint = |address: Option<u8>| address.map_or("any".into(), |a| format!("0x{a:02x}"));
    wanted.push(format!(
        "a pair of {kind} endpoints, IN {} and OUT {}",
        endpoint(settings.in_),
        endpoint(settings.out)
    ));
    format!(
        "it has no such endpoints ({}); it has: {}",
        wanted.join(", "),
        list(facts)
    )
}

/// All interfaces and their endpoints, in words.
pub fn list(facts: &[InterfaceFact]) -> String {
    if facts.is_empty() {
        return "no interface".into();
    }
    let interfaces: Vec<String> = facts
        .iter()
        .map(|fact| {
            let mut endpoints: Vec<String> = fact
                .endpoints
                .iter()
                .map(|e| {
                    format!(
                        "{} 0x{:02x} {} {} B",
                        if e.is_in() { "IN" } else { "OUT" },
                        e.address,
                        e.kind.name(),
                        e.packet_bytes
                    )
                })
                .collect();
            endpoints.extend(fact.isochronous.iter().map(IsochronousFact::to_string));
            if endpoints.is_empty() {
                endpoints.push("no endpoint".into());
            }
            let setting = match fact.setting {
                0 => String::new(),
                setting => format!(" setting {setting}"),
            };
            format!(
                "interface {}{setting} ({}): {}",
                fact.number,
                class_name(fact.class),
                endpoints.join(", ")
            )
        })
        .collect();
    interfaces.join("; ")
}

/// Names of the classes that are met on a desk (usb.org, defined class codes).
pub fn class_name(class: u8) -> String {
    match class {
        0x01 => "audio",
        CLASS_COMM => "CDC control",
        CLASS_HID => "HID",
        0x06 => "still image",
        0x07 => "printer",
        0x08 => "mass storage",
        0x09 => "hub",
        CLASS_CDC_DATA => "CDC data",
        0x0b => "smart card",
        0x0e => "video",
        0xe0 => "wireless",
        0xef => "miscellaneous",
        0xfe => "application",
        CLASS_VENDOR => "vendor",
        other => return format!("class 0x{other:02x}"),
    }
    .into()
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
