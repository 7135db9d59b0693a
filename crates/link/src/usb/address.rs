//! How a USB device is named: by its ids, by ids and serial number, or by the port it hangs on;
//! behind a `#`, which of its endpoints are meant.

use std::fmt;

/// What stands behind `usb://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsbAddress {
    /// Which device.
    pub which: Which,
    /// Which part of it, and how.
    pub settings: Settings,
}

/// Which device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// By its ids, and its serial number where several have the same.
    Ids {
        /// idVendor.
        vendor: u16,
        /// idProduct.
        product: u16,
        /// Serial number, as the device's string has it.
        serial: Option<String>,
    },
    /// By where it hangs, as sysfs writes it: bus, root port, ports of hubs (`3-1.4`).
    Path(String),
}

/// A kind of transfer that the link can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferKind {
    /// Bulk.
    Bulk,
    /// Interrupt.
    Interrupt,
}

/// What endpoint 0 carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Vendor requests with the bytes of a responder.
    Stream,
    /// The standard request GET_STATUS, which any device answers.
    GetStatus,
}

/// What may follow the `#`. What is not given is found from the descriptors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// bInterfaceNumber.
    pub interface: Option<u8>,
    /// bAlternateSetting.
    pub setting: Option<u8>,
    /// bConfigurationValue.
    pub configuration: Option<u8>,
    /// Address of the IN endpoint.
    pub in_: Option<u8>,
    /// Address of the OUT endpoint.
    pub out: Option<u8>,
    /// Kind of transfer.
    pub kind: Option<TransferKind>,
    /// Endpoint 0 instead of a pair of endpoints.
    pub control: Option<Control>,
    /// End a request whose size is a multiple of the packet with an empty packet.
    pub zlp: Option<bool>,
}

/// What can be set, for error texts.
const KNOWN: &str = "interface=N setting=N configuration=N in=0x81 out=0x01 \
                     type=bulk|interrupt|control|get-status zlp=on|off, separated by commas";

/// How isochronous transfers are selected.
const ISOCHRONOUS: &str =
    "isochronous transfers only stream: use wiregauge stream --type isochronous --packet BYTES";

impl TransferKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            TransferKind::Bulk => "bulk",
            TransferKind::Interrupt => "interrupt",
        }
    }
}

impl UsbAddress {
    /// Reads what stands behind `usb://`.
    pub fn parse(rest: &str) -> Result<UsbAddress, String> {
        // A serial number may contain a `#`; settings always contain a `=`.
        let (device, settings) = match rest.rsplit_once('#') {
            Some((device, tail)) if tail.contains('=') => (device, Settings::parse(tail)?),
            Some((_, "")) => return Err("settings are missing after `#`".into()),
            _ => (rest, Settings::default()),
        };
        let which = Which::parse(device)?;
        Ok(UsbAddress { which, settings })
    }
}

impl Which {
    fn parse(text: &str) -> Result<Which, String> {
        let ids_or_path = "use VID:PID in hexadecimal, VID:PID/SERIAL, or a port such as 3-1.4";
        if let Some((vendor, tail)) = text.split_once(':') {
            let (product, serial) = match tail.split_once('/') {
                Some((_, "")) => return Err("the serial number is missing after `/`".into()),
                Some((product, serial)) => (product, Some(serial.to_string())),
                None => (tail, None),
            };
            let id = |digits: &str| match digits.len() {
                1..=4 if digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
                    u16::from_str_radix(digits, 16)
                        .map_err(|_| format!("`{digits}` is not a hexadecimal number"))
                }
                _ => Err(format!(
                    "`{digits}` is not an ID of up to four hexadecimal digits; {ids_or_path}"
                )),
            };
            return Ok(Which::Ids {
                vendor: id(vendor)?,
                product: id(product)?,
                serial,
            });
        }
        if is_port_path(text) {
            return Ok(Which::Path(text.to_string()));
        }
        Err(match text {
            "" => format!("the device is missing; {ids_or_path}"),
            _ => format!("`{text}` is not a device; {ids_or_path}"),
        })
    }
}

/// `3-1.4`: a bus, a dash, ports separated by dots.
fn is_port_path(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.parse::<u8>().is_ok();
    text.split_once('-')
        .is_some_and(|(bus, ports)| number(bus) && ports.split('.').all(number))
}

impl Settings {
    fn parse(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        for part in text.split(',') {
            let Some((name, value)) = part.split_once('=') else {
                return Err(format!("unknown setting `{part}`; use: {KNOWN}"));
            };
            match name {
                "interface" => settings.interface = Some(number(name, value)?),
                "setting" => settings.setting = Some(number(name, value)?),
                "configuration" => settings.configuration = Some(number(name, value)?),
                "in" => settings.in_ = Some(endpoint(name, value, true)?),
                "out" => settings.out = Some(endpoint(name, value, false)?),
                "type" => (settings.kind, settings.control) = kind(value)?,
                "zlp" => settings.zlp = Some(on_off(value)?),
                _ => return Err(format!("unknown setting `{name}`; use: {KNOWN}")),
            }
        }
        Ok(settings)
    }
}

fn number(name: &str, value: &str) -> Result<u8, String> {
    match value.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => value.parse(),
    }
    .map_err(|_| format!("{name}={value}: use a number from 0 to 255"))
}

fn endpoint(name: &str, value: &str, is_in: bool) -> Result<u8, String> {
    let address = number(name, value)?;
    let says_in = address & 0x80 != 0;
    // USB 2.0, 9.6.6: bit 7 is the direction, bits 3 to 0 the number, bits 6 to 4 are zero.
    if address & 0x70 != 0 || address & 0x0f == 0 {
        return Err(format!(
            "{name}={value}: endpoints are 0x01 to 0x0f (OUT) and 0x81 to 0x8f (IN)"
        ));
    }
    match (is_in, says_in) {
        (true, false) => Err(format!(
            "in={value}: an IN endpoint has bit 7 set, as in 0x{:02x}",
            address | 0x80
        )),
        (false, true) => Err(format!(
            "out={value}: an OUT endpoint has bit 7 clear, as in 0x{:02x}",
            address & 0x7f
        )),
        _ => Ok(address),
    }
}

fn kind(value: &str) -> Result<(Option<TransferKind>, Option<Control>), String> {
    match value {
        "bulk" => Ok((Some(TransferKind::Bulk), None)),
        "interrupt" => Ok((Some(TransferKind::Interrupt), None)),
        "control" => Ok((None, Some(Control::Stream))),
        "get-status" => Ok((None, Some(Control::GetStatus))),
        "isochronous" | "iso" => Err(format!("type={value}: {ISOCHRONOUS}")),
        _ => Err(format!(
            "type={value}: use bulk, interrupt, control or get-status"
        )),
    }
}

fn on_off(value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("zlp={value}: use on or off")),
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Which::Ids {
                vendor,
                product,
                serial,
            } => {
                write!(f, "{vendor:04x}:{product:04x}")?;
                match serial {
                    Some(serial) => write!(f, "/{serial}"),
                    None => Ok(()),
                }
            }
            Which::Path(path) => f.write_str(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> UsbAddress {
        UsbAddress::parse(text).unwrap_or_else(|said| panic!("{text}: {said}"))
    }

    fn refused(text: &str) -> String {
        UsbAddress::parse(text).expect_err(text)
    }

    #[test]
    fn a_device_is_named_by_ids_by_serial_number_or_by_port() {
        assert_eq!(
            parse("1d6b:0104").which,
            Which::Ids {
                vendor: 0x1d6b,
                product: 0x0104,
                serial: None
            }
        );
        assert_eq!(parse("1D6B:104/ab-12").which.to_string(), "1d6b:0104/ab-12");
        assert_eq!(parse("3-1.4").which, Which::Path("3-1.4".into()));
        assert_eq!(parse("12-2").which.to_string(), "12-2");
    }

    #[test]
    fn settings_follow_a_hash() {
        let text = "1d6b:0104/x#y#interface=2,setting=1,in=0x81,out=2,type=interrupt,zlp=off";
        let expected = Settings {
            interface: Some(2),
            setting: Some(1),
            in_: Some(0x81),
            out: Some(2),
            kind: Some(TransferKind::Interrupt),
            zlp: Some(false),
            ..Settings::default()
        };
        assert_eq!(parse(text).settings, expected);
    }

    #[test]
    fn a_serial_number_may_hold_a_hash_and_a_slash() {
        let which = parse("0403:6001/A#1/2").which;
        assert_eq!(which.to_string(), "0403:6001/A#1/2");
    }

    #[test]
    fn what_names_no_device_is_refused_with_the_forms_that_do() {
        for text in ["", "lamp", "usb3", "3-", "-1", "3-1.", "3-1..2", "3-300"] {
            assert!(refused(text).contains("3-1.4"), "{text}");
        }
        for text in ["1d6b:", ":0104", "1d6b:01045", "1g6b:0104"] {
            assert!(refused(text).contains("hexadecimal"), "{text}");
        }
        assert!(refused("1d6b:0104/").contains('/'));
        assert!(refused("1d6b:0104#").contains('#'));
    }

    #[test]
    fn a_wrong_setting_is_told_how_it_should_be() {
        assert!(refused("1-1#colour=red").contains("interface=N"));
        assert!(refused("1-1#in=0x01").contains("0x81"));
        assert!(refused("1-1#out=0x82").contains("0x02"));
        assert!(refused("1-1#in=0x80").contains("0x8f"));
        assert!(refused("1-1#interface=300").contains("255"));
        assert!(refused("1-1#type=usb").contains("interrupt"));
        assert!(refused("1-1#zlp=maybe").contains("off"));
    }

    #[test]
    fn control_is_endpoint_0_and_no_kind_of_endpoint() {
        for (text, control) in [
            ("control", Control::Stream),
            ("get-status", Control::GetStatus),
        ] {
            let settings = parse(&format!("1-1#type=bulk,type={text}")).settings;
            assert_eq!((settings.kind, settings.control), (None, Some(control)));
        }
    }

    #[test]
    fn isochronous_is_refused_with_the_flag_that_selects_it() {
        assert!(refused("1-1#type=isochronous").contains("stream --type isochronous"));
    }
}
