//! How a HID device is named: by its ids, by ids and serial number, or by its file; behind a `#`, which of its reports
//! are meant.

use std::path::PathBuf;

/// What stands behind `hid://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HidAddress {
    /// Which device.
    pub which: Which,
    /// Which of its reports, and how.
    pub settings: Settings,
}

/// Which device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// By its ids, and its serial number where several have the same.
    Ids {
        /// Vendor.
        vendor: u16,
        /// Product.
        product: u16,
        /// Serial number.
        serial: Option<String>,
    },
    /// By its file, such as /dev/hidraw0.
    File(PathBuf),
}

/// What may follow the `#`. What is not given is found from the report descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Number of the report that carries requests.
    pub out: Option<u8>,
    /// Number of the report that carries replies.
    pub in_: Option<u8>,
    /// bInterfaceNumber of a USB device.
    pub interface: Option<u8>,
    /// Requests and replies are feature reports.
    pub feature: bool,
}

/// What can be set, for error texts.
const KNOWN: &str =
    "out=N in=N (report numbers) interface=N type=feature|interrupt, separated by commas";

const DEVICE: &str = "use VID:PID in hexadecimal, VID:PID/SERIAL, or a file such as /dev/hidraw0";

impl HidAddress {
    /// Reads what stands behind `hid://`.
    pub fn parse(rest: &str) -> Result<HidAddress, String> {
        // A serial number may contain a `#`; settings always contain a `=`.
        let (device, settings) = match rest.rsplit_once('#') {
            Some((device, tail)) if tail.contains('=') => (device, Settings::parse(tail)?),
            Some((_, "")) => return Err("settings are missing after `#`".into()),
            _ => (rest, Settings::default()),
        };
        let which = Which::parse(device)?;
        Ok(HidAddress { which, settings })
    }
}

impl Which {
    fn parse(text: &str) -> Result<Which, String> {
        if text.starts_with('/') {
            return Ok(Which::File(text.into()));
        }
        let Some((vendor, tail)) = text.split_once(':') else {
            return Err(match text {
                "" => format!("the device is missing; {DEVICE}"),
                _ => format!("`{text}` is not a device; {DEVICE}"),
            });
        };
        let (product, serial) = match tail.split_once('/') {
            Some((_, "")) => return Err("the serial number is missing after `/`".into()),
            Some((product, serial)) => (product, Some(serial.to_string())),
            None => (tail, None),
        };
        let id = |digits: &str| {
            let fits = (1..=4).contains(&digits.len());
            let fits = fits && digits.bytes().all(|b| b.is_ascii_hexdigit());
            let number = fits.then(|| u16::from_str_radix(digits, 16).ok()).flatten();
            number.ok_or_else(|| {
                format!("`{digits}` is not an ID of up to four hexadecimal digits; {DEVICE}")
            })
        };
        Ok(Which::Ids {
            vendor: id(vendor)?,
            product: id(product)?,
            serial,
        })
    }
}

impl Settings {
    fn parse(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        for part in text.split(',') {
            let Some((name, value)) = part.split_once('=') else {
                return Err(format!("`{part}` is not a setting; use {KNOWN}"));
            };
            let number = || {
                value
                    .parse::<u8>()
                    .map_err(|_| format!("`{value}` is not a valid {name} (0 to 255)"))
            };
            match (name, value) {
                ("out", _) => settings.out = Some(number()?),
                ("in", _) => settings.in_ = Some(number()?),
                ("interface", _) => settings.interface = Some(number()?),
                ("type", "feature") => settings.feature = true,
                ("type", "interrupt") => settings.feature = false,
                ("type", _) => {
                    return Err(format!(
                        "`{value}` is not a type of report; use type=feature or type=interrupt"
                    ));
                }
                _ => return Err(format!("unknown setting `{name}`; use {KNOWN}")),
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_by_ids_serial_number_or_file() {
        let ids = HidAddress::parse("1209:1/A#1#out=2,in=3,type=feature,interface=1").unwrap();
        assert_eq!(
            ids.which,
            Which::Ids {
                vendor: 0x1209,
                product: 1,
                serial: Some("A#1".into())
            }
        );
        let expected = Settings {
            out: Some(2),
            in_: Some(3),
            interface: Some(1),
            feature: true,
        };
        assert_eq!(ids.settings, expected);
        let file = HidAddress::parse("/dev/hidraw0").unwrap();
        assert_eq!(file.which, Which::File("/dev/hidraw0".into()));
        assert_eq!(file.settings, Settings::default());
    }

    #[test]
    fn what_names_no_device_or_no_setting_is_answered_with_what_does() {
        for (text, said) in [
            ("", "device is missing"),
            ("hidraw0", "not a device"),
            ("12345:1", "four hexadecimal digits"),
            ("1209:", "four hexadecimal digits"),
            ("1209:1/", "serial number is missing"),
            ("1209:1#", "settings are missing"),
            ("1209:1#out=300", "not a valid out"),
            ("1209:1#id=1", "unknown setting"),
            ("1209:1#type=bulk", "not a type of report"),
            ("1209:1#out=1,x", "not a setting"),
        ] {
            let error = HidAddress::parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
