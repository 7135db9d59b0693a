//! HID devices as `wiregauge devices` lists them, without opening any.

use super::find::{self, Present};
use super::usb::UsbInterface;
use crate::devices::HidDevice;

/// All HID devices, those of vendor usage pages first.
pub fn devices() -> Vec<HidDevice> {
    let found = find::devices();
    found
        .iter()
        .map(|device| {
            let usb = UsbInterface::of(device);
            HidDevice {
                address: address(device, &found),
                path: device.file.display().to_string(),
                vendor_id: format!("{:04x}", device.vendor),
                product_id: format!("{:04x}", device.product),
                product: device.product_name.clone(),
                serial: device.serial.clone(),
                bus: device.bus_name(),
                usage: device.usage(),
                is_vendor: device.is_vendor(),
                reports: device.reports.as_ref().ok().map(ToString::to_string),
                interval: usb
                    .as_ref()
                    .and_then(|usb| Some(usb.in_.as_ref()?.interval_text.clone())),
                usb: usb.map(|usb| usb.device),
            }
        })
        .collect()
}

/// The shortest address that names a device and no other.
fn address(device: &Present, all: &[Present]) -> String {
    let same_ids = |other: &&Present| {
        (other.vendor, other.product) == (device.vendor, device.product)
            // Of several, the only one of a vendor page is meant.
            && (other.is_vendor() || !device.is_vendor())
    };
    let ids = format!("hid://{:04x}:{:04x}", device.vendor, device.product);
    let alike: Vec<&Present> = all.iter().filter(same_ids).collect();
    let same_serial = alike.iter().filter(|d| d.serial == device.serial).count();
    match (&alike[..], &device.serial) {
        ([_], _) => ids,
        (_, Some(serial)) if same_serial == 1 => format!("{ids}/{serial}"),
        _ => format!("hid://{}", device.file.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(number: u32, page: u16, serial: Option<&str>) -> Present {
        Present {
            name: format!("hidraw{number}"),
            file: format!("/dev/hidraw{number}").into(),
            node: Default::default(),
            bus: 3,
            vendor: 0x1209,
            product: 1,
            product_name: None,
            serial: serial.map(str::to_string),
            reports: Ok(crate::hid::descriptor::Reports {
                usage: (page, 1),
                ..Default::default()
            }),
            interface: None,
        }
    }

    #[test]
    fn each_device_gets_the_shortest_address_that_names_it_alone() {
        let addresses = |all: &[Present]| -> Vec<String> {
            all.iter().map(|device| address(device, all)).collect()
        };
        let keyboard = [board(1, 0xff60, None), board(0, 1, None)];
        let two = [board(0, 0xff00, Some("A")), board(1, 0xff00, Some("B"))];
        let alike = [board(0, 0xff00, None), board(1, 0xff00, None)];
        for (devices, expected) in [
            (keyboard, ["hid://1209:0001", "hid:///dev/hidraw0"]),
            (two, ["hid://1209:0001/A", "hid://1209:0001/B"]),
            (alike, ["hid:///dev/hidraw0", "hid:///dev/hidraw1"]),
        ] {
            assert_eq!(addresses(&devices), expected);
        }
    }
}
