//! USBTMC instruments as `wiregauge devices` lists them, without opening any.

use super::find::{self, Present};
use crate::devices::TmcDevice;

/// All USBTMC instruments.
pub fn devices() -> Vec<TmcDevice> {
    let found = find::devices();
    found
        .iter()
        .map(|device| TmcDevice {
            address: address(device, &found),
            file: device.file.as_ref().map(|file| file.display().to_string()),
            driver: device.driver.clone(),
            usb: device.port.clone(),
            interface: device.interface,
            vendor_id: format!("{:04x}", device.vendor),
            product_id: format!("{:04x}", device.product),
            product: Some(device.title()).filter(|title| !title.is_empty()),
            serial: device.serial.clone(),
            is_usb488: device.is_usb488,
        })
        .collect()
}

/// The shortest address that names an instrument and no other.
fn address(device: &Present, all: &[Present]) -> String {
    let ids = format!("{:04x}:{:04x}", device.vendor, device.product);
    let same_ids =
        |other: &&Present| (other.vendor, other.product) == (device.vendor, device.product);
    let alike: Vec<&Present> = all.iter().filter(same_ids).collect();
    let ports = alike
        .iter()
        .filter(|other| other.port != device.port)
        .count();
    let same_serial =
        |other: &&&Present| other.port != device.port && other.serial == device.serial;
    let name = match &device.serial {
        _ if ports == 0 => ids,
        Some(serial) if alike.iter().filter(same_serial).count() == 0 => format!("{ids}/{serial}"),
        _ => device.port.clone(),
    };
    let is_first = all
        .iter()
        .all(|other| other.port != device.port || other.interface >= device.interface);
    match is_first {
        true => format!("usbtmc://{name}"),
        false => format!("usbtmc://{name}#interface={}", device.interface),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(port: &str, interface: u8, serial: Option<&str>) -> Present {
        Present {
            port: port.into(),
            interface,
            vendor: 0x0957,
            product: 0x1796,
            serial: serial.map(str::to_string),
            ..Present::default()
        }
    }

    #[test]
    fn each_instrument_gets_the_shortest_address_that_names_it_alone() {
        let addresses = |all: &[Present]| -> Vec<String> {
            all.iter().map(|device| address(device, all)).collect()
        };
        assert_eq!(addresses(&[scope("1-1", 0, None)]), ["usbtmc://0957:1796"]);
        let two = [scope("1-1", 0, Some("A")), scope("1-2", 0, Some("B"))];
        let alike = [scope("1-1", 0, None), scope("1-2", 0, None)];
        let one_device = [scope("1-1", 0, None), scope("1-1", 2, None)];
        for (devices, expected) in [
            (two, ["0957:1796/A", "0957:1796/B"]),
            (alike, ["1-1", "1-2"]),
            (one_device, ["0957:1796", "0957:1796#interface=2"]),
        ] {
            let expected = expected.map(|name| format!("usbtmc://{name}"));
            assert_eq!(addresses(&devices), expected);
        }
    }
}
