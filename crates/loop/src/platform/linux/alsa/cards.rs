//! Addresses of sound cards, and which cards there are.

use std::fmt;
use std::fs;
use std::path::Path;
use wiregauge_link::{LinkError, LinkErrorKind};

/// Where the kernel tells of its cards.
const SYSFS: &str = "/sys/class/sound";

/// One direction's device, as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number or name.
    pub card: String,
    /// Device of the card.
    pub device: u32,
    /// Subdevice; whichever is free if not given.
    pub subdevice: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hw:{},{}", self.card, self.device)?;
        match self.subdevice {
            Some(subdevice) => write!(f, ",{subdevice}"),
            None => Ok(()),
        }
    }
}

/// A whole address: `alsa:hw:CARD[,DEVICE[,SUBDEVICE]]`, or two of them with a slash between where
/// capture and playback are not the same device, and `#marker=off` at the end for an output that must
/// play nothing but what came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Where samples come in.
    pub capture: Place,
    /// Where they go out.
    pub playback: Place,
    /// Whether a marker is sent round to verify the latency.
    pub marker: bool,
}

impl Address {
    /// Reads an address, with or without `alsa:` before it.
    pub fn parse(address: &str) -> Result<Address, LinkError> {
        let rest = address.strip_prefix("alsa:").unwrap_or(address);
        let wrong = |said: String| {
            let doing = format!("cannot parse the address alsa:{rest}");
            LinkError::new(LinkErrorKind::Usage, doing, said).hint(
                "use alsa:hw:CARD[,DEVICE[,SUBDEVICE]], such as alsa:hw:0 or alsa:hw:PCH,0, or separate \
                 capture and playback devices: alsa:hw:Loopback,1/hw:Loopback,0",
            )
        };
        let (devices, options) = rest.split_once('#').unwrap_or((rest, ""));
        let marker = match options {
            "" | "marker=on" => true,
            "marker=off" => false,
            other => {
                return Err(wrong(format!(
                    "unknown option `{other}` of a sound card: use marker=on or marker=off"
                )));
            }
        };
        let devices = if devices.is_empty() { "hw:0" } else { devices };
        let (capture, playback) = devices.split_once('/').unwrap_or((devices, devices));
        Ok(Address {
            capture: place(capture).map_err(&wrong)?,
            playback: place(playback).map_err(&wrong)?,
            marker,
        })
    }
}

fn place(text: &str) -> Result<Place, String> {
    let Some(words) = text.strip_prefix("hw:") else {
        return Err(format!(
            "`{text}` does not begin with hw:; other ALSA devices add their own buffer and clock between \
             program and card, so they cannot be measured"
        ));
    };
    let mut words = words.split(',');
    let card = words.next().unwrap_or_default();
    // It becomes part of a path.
    if card.is_empty() || card.contains(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c)) {
        return Err(format!("`{card}` is not a card"));
    }
    let mut number = |what: &str| match words.next() {
        None => Ok(None),
        Some(word) => match word.parse::<u16>() {
            Ok(number) => Ok(Some(u32::from(number))),
            Err(_) => Err(format!("`{word}` is not a valid {what} number")),
        },
    };
    let device = number("device")?.unwrap_or(0);
    let subdevice = number("subdevice")?;
    match words.next() {
        Some(word) => Err(format!("`{word}` is unexpected")),
        None => Ok(Place {
            card: card.to_owned(),
            device,
            subdevice,
        }),
    }
}

/// A card that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub id: String,
    /// Its devices in order, with whether they capture and play.
    pub devices: Vec<(u32, bool, bool)>,
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hw:{} (card {}", self.id, self.number)?;
        if self.devices.is_empty() {
            write!(f, ", no device")?;
        }
        for (device, capture, playback) in &self.devices {
            let ways = match (capture, playback) {
                (true, true) => "capture and playback",
                (true, false) => "capture only",
                _ => "playback only",
            };
            write!(f, "; device {device}: {ways}")?;
        }
        write!(f, ")")
    }
}

/// The cards that are there, by number; `None` if the kernel has no sound at all.
pub fn all() -> Option<Vec<Card>> {
    all_below(Path::new(SYSFS))
}

fn all_below(sysfs: &Path) -> Option<Vec<Card>> {
    let entries = fs::read_dir(sysfs).ok()?;
    let names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let mut cards: Vec<Card> = names
        .iter()
        .filter_map(|name| {
            let number = name.strip_prefix("card")?.parse().ok()?;
            let id = fs::read_to_string(sysfs.join(name).join("id")).ok()?;
            Some(Card {
                number,
                id: id.trim().to_owned(),
                devices: devices(&names, number),
            })
        })
        .collect();
    cards.sort_by_key(|card| card.number);
    Some(cards)
}

fn devices(names: &[String], card: u32) -> Vec<(u32, bool, bool)> {
    let head = format!("pcmC{card}D");
    let ways = |way: char| {
        let of = |name: &String| name.strip_prefix(&head)?.strip_suffix(way)?.parse().ok();
        names.iter().filter_map(of).collect::<Vec<u32>>()
    };
    let (capture, playback) = (ways('c'), ways('p'));
    let mut numbers = [capture.clone(), playback.clone()].concat();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
        .into_iter()
        .map(|number| {
            (
                number,
                capture.contains(&number),
                playback.contains(&number),
            )
        })
        .collect()
}

/// Finds a card by number or name, with what to try if it is not there or lacks a way.
pub fn find(place: &Place, capture: bool, cards: Option<&[Card]>) -> Result<Card, LinkError> {
    let way = if capture { "capture" } else { "playback" };
    let doing = format!("cannot open {place} for {way}");
    let missing = |said: &str| LinkError::new(LinkErrorKind::NotFound, &doing, said);
    let Some(cards) = cards else {
        return Err(missing("this kernel has no sound (no /sys/class/sound)").hint(
            "load the driver of the card, or `sudo modprobe snd-aloop` for a loopback without hardware; in a \
             container, pass /dev/snd into it",
        ));
    };
    let there = || {
        let printed: Vec<String> = cards.iter().map(Card::to_string).collect();
        printed.join(", ")
    };
    let named = |card: &&Card| match place.card.parse::<u32>() {
        Ok(number) => card.number == number,
        Err(_) => card.id == place.card,
    };
    let Some(card) = cards.iter().find(named) else {
        let printed = missing("no such card");
        return Err(if cards.is_empty() {
            printed.hint(
                "there is no card: plug one in, load its driver, or `sudo modprobe snd-aloop` for a \
            loopback without hardware",
            )
        } else {
            printed.hint(format!("use one of: {}", there()))
        });
    };
    let device = card.devices.iter().find(|device| device.0 == place.device);
    match device {
        None => {
            Err(missing("the card has no such device").hint(format!("use one of: {}", there())))
        }
        Some((_, can, _)) if capture && !can => {
            Err(missing("the device cannot capture").hint(format!(
                "use a device that can, before the slash: alsa:hw:CARD,DEVICE/{place}; devices: {}",
                there()
            )))
        }
        Some((_, _, can)) if !capture && !can => {
            Err(missing("the device cannot play").hint(format!(
                "use a device that can, after a slash: alsa:{place}/hw:CARD,DEVICE; devices: {}",
                there()
            )))
        }
        Some(_) => Ok(card.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(entries: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for entry in entries {
            let (name, id) = entry.split_once('=').unwrap_or((entry, ""));
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            if !id.is_empty() {
                fs::write(path.join("id"), format!("{id}\n")).unwrap();
            }
        }
        folder
    }

    fn two() -> Vec<Card> {
        let folder = sound(&[
            "card0=PCH",
            "card1=Loopback",
            "pcmC0D0c",
            "pcmC0D0p",
            "pcmC0D3p",
            "pcmC0D2c",
            "pcmC1D0p",
            "controlC0",
            "timer",
            "pcmC10D0p",
        ]);
        all_below(folder.path()).unwrap()
    }

    fn printed(address: &str, capture: bool) -> String {
        let address = Address::parse(address).unwrap();
        let place = if capture {
            address.capture
        } else {
            address.playback
        };
        find(&place, capture, Some(&two())).unwrap_err().to_string()
    }

    #[test]
    fn an_address_names_one_device_or_two() {
        let one = Address::parse("alsa:hw:0").unwrap();
        assert_eq!(one.capture.to_string(), "hw:0,0");
        assert_eq!(one.capture, one.playback);
        assert!(one.marker);
        let two = Address::parse("alsa:hw:Loopback,1,3/hw:PCH#marker=off").unwrap();
        assert_eq!(two.capture.to_string(), "hw:Loopback,1,3");
        assert_eq!(two.playback.to_string(), "hw:PCH,0");
        assert!(!two.marker);
        assert_eq!(Address::parse("alsa:").unwrap(), one);
    }

    #[test]
    fn what_is_no_address_is_refused_with_an_example() {
        for bad in [
            "alsa:default",
            "alsa:plughw:0",
            "alsa:hw:",
            "alsa:hw:0,x",
            "alsa:hw:0,1,2,3",
            "alsa:hw:../../x",
            "alsa:hw:0#loud",
            "alsa:hw:0/",
        ] {
            let error = Address::parse(bad).unwrap_err();
            assert_eq!(error.kind(), LinkErrorKind::Usage, "{bad}");
            let printed = error.to_string();
            let holds = printed.contains("alsa:hw:PCH,0") && printed.contains(bad);
            assert!(holds, "{printed}");
        }
    }

    #[test]
    fn cards_and_the_ways_of_their_devices_come_from_sysfs() {
        let cards = two();
        assert_eq!(cards.len(), 2);
        assert_eq!(
            cards[0].devices,
            [(0, true, true), (2, true, false), (3, false, true)]
        );
        assert_eq!(cards[1].devices, [(0, false, true)]);
        assert_eq!(all_below(Path::new("/nonexistent")), None);
    }

    #[test]
    fn a_card_is_found_by_number_and_by_name() {
        for name in ["alsa:hw:0", "alsa:hw:PCH"] {
            let address = Address::parse(name).unwrap();
            let card = find(&address.capture, true, Some(&two())).unwrap();
            assert_eq!(card.number, 0);
        }
    }

    #[test]
    fn a_card_or_device_that_is_not_there_is_reported_with_those_that_are() {
        let unknown = printed("alsa:hw:Nope", true);
        let holds = unknown.contains("hw:PCH (card 0; device 0: capture and playback; device 2");
        assert!(holds, "{unknown}");
        assert!(unknown.contains("hw:Loopback (card 1"), "{unknown}");
        assert!(printed("alsa:hw:0,7", true).contains("no such device"));
        assert!(printed("alsa:hw:0,3", true).contains("cannot capture"));
        assert!(printed("alsa:hw:0,2", false).contains("cannot play"));
    }

    #[test]
    fn a_kernel_without_sound_says_what_to_load() {
        let place = Address::parse("alsa:hw:0").unwrap().capture;
        for cards in [None, Some(&[][..])] {
            let printed = find(&place, true, cards).unwrap_err().to_string();
            assert!(printed.contains("modprobe snd-aloop"), "{printed}");
        }
    }
}
