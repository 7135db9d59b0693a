//! Finds the one device that an address names among those that are there, and says what is there
//! when it is none or several.

use super::address::Which;
use crate::error::{LinkError, LinkErrorKind};
use crate::platform;
pub use crate::platform::usb::path_of;
use nusb::{DeviceInfo, MaybeFuture, Speed};

/// Devices named in an error at most.
const MOST_NAMED: usize = 12;

/// A device that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// Where it hangs, as sysfs names it.
    pub path: String,
    /// idVendor.
    pub vendor: u16,
    /// idProduct.
    pub product: u16,
    /// Serial number string.
    pub serial: Option<String>,
    /// Manufacturer string.
    pub manufacturer: Option<String>,
    /// Product string.
    pub name: Option<String>,
}

impl Present {
    /// What the library knows of it.
    pub fn of(info: &DeviceInfo) -> Present {
        let owned = |text: Option<&str>| {
            text.map(|text| text.trim().to_string())
                .filter(|text| !text.is_empty())
        };
        Present {
            path: path_of(info),
            vendor: info.vendor_id(),
            product: info.product_id(),
            serial: owned(info.serial_number()),
            manufacturer: owned(info.manufacturer_string()),
            name: owned(info.product_string()),
        }
    }

    fn is(&self, which: &Which) -> bool {
        match which {
            Which::Path(path) => *path == self.path,
            Which::Ids {
                vendor,
                product,
                serial,
            } => {
                (*vendor, *product) == (self.vendor, self.product)
                    && serial
                        .as_ref()
                        .is_none_or(|serial| Some(serial) == self.serial.as_ref())
            }
        }
    }

    fn in_words(&self) -> String {
        let name = match (&self.manufacturer, &self.name) {
            (Some(maker), Some(name)) => format!(" {maker} {name}"),
            (Some(name), None) | (None, Some(name)) => format!(" {name}"),
            (None, None) => String::new(),
        };
        let serial = match &self.serial {
            Some(serial) => format!(", serial {serial}"),
            None => String::new(),
        };
        format!(
            "{:04x}:{:04x}{name}{serial} (usb://{})",
            self.vendor, self.product, self.path
        )
    }
}

/// The speed's name, as addresses and reports have it.
pub fn speed_name(speed: Speed) -> &'static str {
    match speed {
        Speed::Low => "low-speed",
        Speed::Full => "full-speed",
        Speed::High => "high-speed",
        Speed::Super => "super-speed",
        Speed::SuperPlus => "super-speed-plus",
        _ => "unknown",
    }
}

/// All devices but root hubs, in the order of their paths.
pub fn devices(doing: &str) -> Result<Vec<DeviceInfo>, LinkError> {
    platform::usb::check_usb(doing)?;
    let mut devices: Vec<DeviceInfo> = nusb::list_devices()
        .wait()
        .map_err(|error| {
            LinkError::new(
                LinkErrorKind::Io,
                doing,
                format!("cannot list USB devices: {error}"),
            )
        })?
        .collect();
    devices.sort_by_key(|device| (device.bus_id().to_string(), device.port_chain().to_vec()));
    Ok(devices)
}

/// The one device that is meant.
pub fn find(which: &Which, doing: &str) -> Result<DeviceInfo, LinkError> {
    let mut devices = devices(doing)?;
    let present: Vec<Present> = devices.iter().map(Present::of).collect();
    let at = one_of(&present, which, doing)?;
    Ok(devices.swap_remove(at))
}

/// The index of the one that is meant.
fn one_of(present: &[Present], which: &Which, doing: &str) -> Result<usize, LinkError> {
    let fitting: Vec<usize> = (0..present.len())
        .filter(|&at| present[at].is(which))
        .collect();
    match fitting[..] {
        [one] => Ok(one),
        [] => Err(none_fits(present, which, doing)),
        _ => {
            let several: Vec<&Present> = fitting.iter().map(|&at| &present[at]).collect();
            Err(several_fit(&several, doing))
        }
    }
}

fn none_fits(present: &[Present], which: &Which, doing: &str) -> LinkError {
    // Right ids with another serial number are the likeliest to be meant.
    let same_ids = |device: &&Present| match which {
        Which::Ids {
            vendor, product, ..
        } => (*vendor, *product) == (device.vendor, device.product),
        Which::Path(_) => false,
    };
    let near: Vec<&Present> = present.iter().filter(same_ids).collect();
    let said = match present.len() {
        0 => "no USB device is attached, only the hubs of this computer".to_string(),
        _ if !near.is_empty() => format!(
            "no device with that serial number; devices with these IDs: {}",
            listed(&near)
        ),
        _ => format!(
            "no such device; attached devices: {}",
            listed(&present.iter().collect::<Vec<_>>())
        ),
    };
    LinkError::new(LinkErrorKind::NotFound, doing, said).hint(
        "is it plugged in, and its program running? wiregauge devices lists the attached devices",
    )
}

fn several_fit(several: &[&Present], doing: &str) -> LinkError {
    let mut serials: Vec<&String> = several.iter().filter_map(|d| d.serial.as_ref()).collect();
    serials.sort();
    serials.dedup();
    let first = several[0];
    let hint = if serials.len() == several.len() {
        format!(
            "select one by its serial number, usb://{:04x}:{:04x}/{}, or by its port, usb://{}",
            first.vendor,
            first.product,
            first.serial.as_deref().unwrap_or_default(),
            first.path
        )
    } else {
        format!("select one by its port, usb://{}", first.path)
    };
    LinkError::new(
        LinkErrorKind::Usage,
        doing,
        format!("{} devices match: {}", several.len(), listed(several)),
    )
    .hint(hint)
}

fn listed(devices: &[&Present]) -> String {
    let mut words: Vec<String> = devices
        .iter()
        .take(MOST_NAMED)
        .map(|device| device.in_words())
        .collect();
    if devices.len() > MOST_NAMED {
        words.push(format!("and {} more", devices.len() - MOST_NAMED));
    }
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usb::address::UsbAddress;

    fn board(path: &str, serial: Option<&str>) -> Present {
        Present {
            path: path.into(),
            vendor: 0x1d6b,
            product: 0x0104,
            serial: serial.map(str::to_string),
            manufacturer: Some("wiregauge".into()),
            name: Some("responder".into()),
        }
    }

    fn which(text: &str) -> Which {
        UsbAddress::parse(text).unwrap().which
    }

    fn refused(present: &[Present], text: &str) -> LinkError {
        one_of(present, &which(text), "cannot open it").unwrap_err()
    }

    #[test]
    fn one_that_fits_is_found_by_any_of_its_names() {
        let present = [board("3-1", Some("A")), board("3-1.4", Some("B"))];
        let found = one_of(&present, &which("1d6b:0104/B"), "cannot open it").unwrap();
        assert_eq!(found, 1);
        let found = one_of(&present, &which("3-1"), "cannot open it").unwrap();
        assert_eq!(found, 0);
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        let text = refused(&[board("3-1", Some("A"))], "0403:6001").to_string();
        let holds = text.contains("1d6b:0104 wiregauge responder, serial A (usb://3-1)");
        assert!(holds, "{text}");
        let error = refused(&[], "0403:6001");
        assert_eq!(error.kind(), LinkErrorKind::NotFound);
        assert!(error.to_string().contains("no USB device is attached"));
    }

    #[test]
    fn a_wrong_serial_number_is_told_the_right_ones() {
        let other = Present {
            vendor: 0x0403,
            path: "1-1".into(),
            ..Present::default()
        };
        let text = refused(&[board("3-1", Some("A")), other], "1d6b:0104/B").to_string();
        let holds = text.contains("serial A") && !text.contains("0403");
        assert!(holds, "{text}");
    }

    #[test]
    fn several_that_fit_are_listed_with_how_to_name_one() {
        let error = refused(
            &[board("3-1", Some("A")), board("3-2", Some("B"))],
            "1d6b:0104",
        );
        assert_eq!(error.kind(), LinkErrorKind::Usage);
        let text = error.to_string();
        assert!(text.contains("usb://1d6b:0104/A"), "{text}");
        assert!(text.contains("usb://3-2"), "{text}");
        // Without serial numbers that tell them apart, the port does.
        let text = refused(
            &[board("3-1", Some("A")), board("3-2", Some("A"))],
            "1d6b:0104",
        )
        .to_string();
        assert!(text.contains("select one by its port"), "{text}");
    }

    #[test]
    fn a_long_list_is_cut() {
        let many: Vec<Present> = (1..30).map(|n| board(&format!("1-{n}"), None)).collect();
        let text = refused(&many, "0403:6001").to_string();
        assert!(text.contains("and 17 more"), "{text}");
    }
}
