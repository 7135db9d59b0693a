//! How a USBTMC instrument is named: by the file of the kernel's driver, or as a USB device, whose interface is then
//! taken from the driver.

use crate::usb::{UsbAddress, Which};
use std::path::PathBuf;

/// What stands behind `usbtmc://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TmcAddress {
    /// A file such as /dev/usbtmc0.
    File(PathBuf),
    /// A device, and the number of its interface if it is given.
    Device(Which, Option<u8>),
}

impl TmcAddress {
    /// Reads what stands behind `usbtmc://`.
    pub fn parse(rest: &str) -> Result<TmcAddress, String> {
        if rest.starts_with('/') {
            return Ok(TmcAddress::File(rest.into()));
        }
        let parsed =
            UsbAddress::parse(rest).map_err(|said| match said.contains("use VID:PID") {
                true => format!("{said}, or a file such as /dev/usbtmc0"),
                false => said,
            })?;
        let interface = parsed.settings.interface;
        let only_interface = crate::usb::Settings {
            interface,
            ..Default::default()
        };
        if parsed.settings != only_interface {
            return Err(
                "a USBTMC interface has its own endpoints; only #interface=N may follow".into(),
            );
        }
        Ok(TmcAddress::Device(parsed.which, interface))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instrument_is_named_by_its_file_or_as_a_usb_device() {
        let found = TmcAddress::parse("/dev/usbtmc0");
        assert_eq!(found, Ok(TmcAddress::File("/dev/usbtmc0".into())));
        let TmcAddress::Device(which, interface) =
            TmcAddress::parse("0957:1796/MY1#interface=2").unwrap()
        else {
            panic!("it is no file");
        };
        assert_eq!(which.to_string(), "0957:1796/MY1");
        assert_eq!(interface, Some(2));
        assert_eq!(
            TmcAddress::parse("3-1.4"),
            Ok(TmcAddress::Device(Which::Path("3-1.4".into()), None))
        );
    }

    #[test]
    fn what_names_no_instrument_is_answered_with_what_does() {
        for (text, said) in [
            ("", "/dev/usbtmc0"),
            ("usbtmc0", "/dev/usbtmc0"),
            ("0957:xyz", "hexadecimal"),
            ("0957:1796/", "serial number is missing"),
            ("0957:1796#in=0x81", "only #interface=N"),
            ("0957:1796#type=interrupt", "only #interface=N"),
        ] {
            let error = TmcAddress::parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
