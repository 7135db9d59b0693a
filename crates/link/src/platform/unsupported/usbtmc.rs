//! USBTMC: files of the kernel's driver are Linux's.

use crate::Link;
use crate::devices::TmcDevice;
use crate::error::{LinkError, LinkErrorKind};
use crate::usb::{self, Present};
use crate::usbtmc::interface::{CLASS, SUBCLASS};
use nusb::InterfaceInfo;
use std::path::Path;
use std::time::Duration;

/// Refuses a file.
pub fn open_file(path: &Path, _timeout: Duration, doing: &str) -> Result<Box<dyn Link>, LinkError> {
    Err(LinkError::new(
        LinkErrorKind::Usage,
        doing,
        format!(
            "{} would be a file of the usbtmc driver, which only Linux has",
            path.display()
        ),
    )
    .hint("name the instrument by its IDs, such as usbtmc://0957:1796"))
}

/// All USBTMC instruments, as USB devices.
pub fn devices() -> Vec<TmcDevice> {
    let Ok(found) = usb::devices("cannot list USB devices") else {
        return Vec::new();
    };
    let ids_of = |present: &Present| format!("{:04x}:{:04x}", present.vendor, present.product);
    let all: Vec<Present> = found.iter().map(Present::of).collect();
    let mut devices = Vec::new();
    for (info, present) in found.iter().zip(&all) {
        let ids = ids_of(present);
        let alike = all.iter().filter(|other| ids_of(other) == ids).count();
        let name = match &present.serial {
            _ if alike == 1 => ids,
            Some(serial) => format!("{ids}/{serial}"),
            None => present.path.clone(),
        };
        let is_tmc = |one: &&InterfaceInfo| (one.class(), one.subclass()) == (CLASS, SUBCLASS);
        for interface in info.interfaces().filter(is_tmc) {
            let number = interface.interface_number();
            let strings = [&present.manufacturer, &present.name];
            let strings: Vec<&str> = strings.into_iter().flatten().map(String::as_str).collect();
            devices.push(TmcDevice {
                address: format!("usbtmc://{name}#interface={number}"),
                usb: present.path.clone(),
                interface: number,
                vendor_id: format!("{:04x}", present.vendor),
                product_id: format!("{:04x}", present.product),
                product: Some(strings.join(" ")).filter(|text| !text.is_empty()),
                serial: present.serial.clone(),
                is_usb488: interface.protocol() == 1,
                ..TmcDevice::default()
            });
        }
    }
    devices
}
