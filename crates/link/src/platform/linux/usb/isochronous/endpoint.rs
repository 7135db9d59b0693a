//! Which isochronous endpoint of a device to use, and how often it is served.

use crate::usb::address::Settings;
use crate::usb::choose::{self, InterfaceFact, IsochronousFact};
use wiregauge_record::{IsochronousOptions, Way};

/// What was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// bInterfaceNumber.
    pub interface: u8,
    /// bAlternateSetting.
    pub setting: u8,
    /// bInterfaceClass.
    pub class: u8,
    /// The endpoint.
    pub endpoint: IsochronousFact,
}

/// Why there is no such endpoint, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong, and what there is.
    pub said: String,
    /// What to try.
    pub hint: String,
}

/// Chooses an endpoint: of those that the address allows, the smallest that holds the packets, because its alternate
/// setting reserves the least of the bus. The error says what there is instead.
pub fn choose(
    facts: &[InterfaceFact],
    settings: &Settings,
    wanted: IsochronousOptions,
) -> Result<Chosen, Refused> {
    let (own, other, name, turned) = match wanted.way {
        Way::In => (settings.in_, settings.out, "IN", "out"),
        Way::Out => (settings.out, settings.in_, "OUT", "in"),
    };
    let is_of_way = |e: &IsochronousFact| (e.address & 0x80 != 0) == (wanted.way == Way::In);
    if let Some(other) = other {
        return Err(Refused {
            said: format!(
                "the address names endpoint 0x{other:02x}, which is not {name}, the direction of the stream"
            ),
            hint: format!("use --direction {turned}"),
        });
    }
    let allowed = |fact: &&InterfaceFact| {
        settings.interface.is_none_or(|it| it == fact.number)
            && settings.setting.is_none_or(|it| it == fact.setting)
    };
    let mut found: Vec<Chosen> = Vec::new();
    for fact in facts.iter().filter(allowed) {
        let fits = |e: &&IsochronousFact| {
            is_of_way(e) && own.is_none_or(|own| own == e.address) && e.bytes > 0
        };
        found.extend(
            fact.isochronous
                .iter()
                .filter(fits)
                .map(|&endpoint| Chosen {
                    interface: fact.number,
                    setting: fact.setting,
                    class: fact.class,
                    endpoint,
                }),
        );
    }
    let all = choose::list(facts);
    let Some(largest) = found.iter().map(|chosen| chosen.endpoint.bytes).max() else {
        let mut others = facts.iter().flat_map(|fact| &fact.isochronous);
        return Err(Refused {
            said: format!("it has no such isochronous {name} endpoint; it has: {all}"),
            hint: match others.any(|other| !is_of_way(other)) {
                true => format!("use --direction {turned}"),
                false => "stream without --type and --packet, or use another device".into(),
            },
        });
    };
    let bytes = wanted.packet_bytes as usize;
    let holding = found.iter().filter(|chosen| chosen.endpoint.bytes >= bytes);
    // Of equals the first: the lowest interface and setting.
    let smallest = holding.min_by_key(|chosen| chosen.endpoint.bytes);
    smallest.copied().ok_or_else(|| Refused {
        said: format!(
            "packets of {bytes} B are too large: its isochronous {name} endpoints carry at most {largest} B in one \
             interval (wMaxPacketSize); it has: {all}"
        ),
        hint: format!("use --packet {largest} or less"),
    })
}

/// Time between two packets of an isochronous endpoint (USB 2.0, table 9-13): 2^(bInterval - 1) frames at full speed,
/// microframes above it. `megabits` is the speed as sysfs gives it.
pub fn interval_ns(megabits: &str, interval: u8) -> u64 {
    let frame_ns = match megabits {
        "1.5" | "12" => 1_000_000,
        _ => 125_000,
    };
    frame_ns << (u32::from(interval.clamp(1, 16)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(number: u8, setting: u8, endpoints: &[(u8, usize)]) -> InterfaceFact {
        let isochronous = endpoints.iter().map(|&(address, bytes)| IsochronousFact {
            address,
            bytes,
            packets: 1,
            interval: 1,
        });
        InterfaceFact {
            number,
            setting,
            class: 1,
            endpoints: Vec::new(),
            isochronous: isochronous.collect(),
            controlled_by: None,
        }
    }

    /// A sound card: control, playback of stereo and of six channels, recording.
    fn sound_card() -> Vec<InterfaceFact> {
        vec![
            fact(0, 0, &[]),
            fact(1, 0, &[]),
            fact(1, 1, &[(0x01, 192)]),
            fact(1, 2, &[(0x01, 576)]),
            fact(2, 0, &[]),
            fact(2, 1, &[(0x82, 96)]),
        ]
    }

    fn chosen(text: &str, way: Way, packet_bytes: u32) -> Result<(u8, u8, u8), Refused> {
        let address = crate::usb::address::UsbAddress::parse(&format!("1-1{text}")).unwrap();
        let wanted = IsochronousOptions { packet_bytes, way };
        let chosen = choose(&sound_card(), &address.settings, wanted)?;
        Ok((chosen.interface, chosen.setting, chosen.endpoint.address))
    }

    #[test]
    fn the_smallest_endpoint_that_holds_the_packets_is_used() {
        assert_eq!(chosen("", Way::Out, 192), Ok((1, 1, 0x01)));
        assert_eq!(chosen("", Way::Out, 193), Ok((1, 2, 0x01)));
        assert_eq!(chosen("", Way::In, 1), Ok((2, 1, 0x82)));
        assert_eq!(chosen("#setting=2", Way::Out, 100), Ok((1, 2, 0x01)));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_there_is() {
        let Refused { said, hint } = chosen("", Way::In, 97).unwrap_err();
        assert_eq!(hint, "use --packet 96 or less");
        for part in [
            "97 B",
            "at most 96 B",
            "setting 2 (audio): OUT 0x01 isochronous 576 B",
        ] {
            assert!(said.contains(part), "{said}");
        }
        let Refused { said, hint } = chosen("#interface=1", Way::In, 1).unwrap_err();
        assert_eq!(hint, "use --direction out");
        assert!(said.contains("no such isochronous IN endpoint"), "{said}");
        let said = chosen("#out=0x01", Way::In, 1).unwrap_err().said;
        assert!(said.contains("0x01"), "{said}");
    }

    #[test]
    fn an_interval_is_a_power_of_two_of_frames_or_microframes() {
        assert_eq!(interval_ns("12", 1), 1_000_000);
        assert_eq!(interval_ns("12", 4), 8_000_000);
        assert_eq!(interval_ns("480", 1), 125_000);
        assert_eq!(interval_ns("5000", 4), 1_000_000);
        assert_eq!(interval_ns("480", 0), 125_000);
    }
}
