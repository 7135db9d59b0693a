//! The HID devices of this Linux, as sysfs shows them: looking opens none and needs no permission.

use crate::error::{LinkError, LinkErrorKind};
use crate::hid::address::{HidAddress, Which};
use crate::hid::descriptor::{self, Reports};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Where they are listed.
const DEVICES: &str = "/sys/class/hidraw";

/// Devices named in an error.
const MOST_NAMED: usize = 8;

/// A device that is there.
#[derive(Clone, Debug)]
pub struct Present {
    /// Its name, such as `hidraw0`.
    pub name: String,
    /// The file to open.
    pub file: PathBuf,
    /// Its HID device in sysfs.
    pub node: PathBuf,
    /// Bus, as input.h numbers it.
    pub bus: u16,
    /// Vendor.
    pub vendor: u16,
    /// Product.
    pub product: u16,
    /// Name that it gives.
    pub product_name: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Its reports, or what is wrong with their descriptor.
    pub reports: Result<Reports, String>,
    /// bInterfaceNumber, on USB.
    pub interface: Option<u8>,
}

impl Present {
    /// The device behind a name of [`DEVICES`].
    fn named(name: &str) -> Option<Present> {
        let node = fs::canonicalize(Path::new(DEVICES).join(name).join("device")).ok()?;
        let uevent = fs::read_to_string(node.join("uevent")).ok()?;
        let reports = fs::read(node.join("report_descriptor"))
            .map_err(|error| format!("cannot read its report descriptor: {error}"))
            .and_then(|bytes| descriptor::parse(&bytes));
        let interface = node.parent().and_then(|interface| {
            let number = fs::read_to_string(interface.join("bInterfaceNumber")).ok()?;
            u8::from_str_radix(number.trim(), 16).ok()
        });
        let identity = Uevent::parse(&uevent)?;
        Some(Present {
            name: name.into(),
            file: Path::new("/dev").join(name),
            node,
            bus: identity.bus,
            vendor: identity.vendor,
            product: identity.product,
            product_name: identity.name,
            serial: identity.serial,
            reports,
            interface,
        })
    }

    /// True if the device is of its maker's own kind, and not a keyboard, mouse or the like.
    pub fn is_vendor(&self) -> bool {
        self.reports.as_ref().is_ok_and(Reports::is_vendor)
    }

    /// The bus in words (input.h).
    pub fn bus_name(&self) -> String {
        match self.bus {
            0x03 => "USB".into(),
            0x05 => "Bluetooth".into(),
            0x06 => "virtual".into(),
            0x18 => "I2C".into(),
            0x1c => "SPI".into(),
            other => format!("bus {other}"),
        }
    }

    /// Usage page and usage, as `ff00:0001`.
    pub fn usage(&self) -> Option<String> {
        let (page, usage) = self.reports.as_ref().ok()?.usage;
        Some(format!("{page:04x}:{usage:04x}"))
    }

    fn is(&self, address: &HidAddress) -> bool {
        let Which::Ids {
            vendor,
            product,
            serial,
        } = &address.which
        else {
            return false;
        };
        let interface = address.settings.interface;
        (self.vendor, self.product) == (*vendor, *product)
            && (serial.is_none() || *serial == self.serial)
            && (interface.is_none() || interface == self.interface)
    }

    fn in_words(&self) -> String {
        let name = self.product_name.as_deref().unwrap_or("without a name");
        let serial = match &self.serial {
            Some(serial) => format!(", serial {serial}"),
            None => String::new(),
        };
        let usage = match self.usage() {
            Some(usage) => format!(", usage {usage}"),
            None => String::new(),
        };
        format!(
            "{:04x}:{:04x} {name}{serial}{usage} (hid://{})",
            self.vendor,
            self.product,
            self.file.display()
        )
    }
}

/// What the kernel says of a device in its `uevent`.
struct Uevent {
    bus: u16,
    vendor: u16,
    product: u16,
    name: Option<String>,
    serial: Option<String>,
}

impl Uevent {
    fn parse(text: &str) -> Option<Uevent> {
        let value = |key: &str| {
            let mut lines = text.lines();
            let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            found.filter(|value| !value.is_empty())
        };
        // HID_ID=0003:00001D6B:00000104
        let mut ids = value("HID_ID")?.split(':');
        let mut id = || u32::from_str_radix(ids.next()?, 16).ok();
        Some(Uevent {
            bus: id()? as u16,
            vendor: id()? as u16,
            product: id()? as u16,
            name: value("HID_NAME").map(str::to_string),
            serial: value("HID_UNIQ").map(str::to_string),
        })
    }
}

/// All of them, those of vendor usage pages first.
pub fn devices() -> Vec<Present> {
    let Ok(entries) = fs::read_dir(DEVICES) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut devices: Vec<Present> = names
        .filter_map(|name| Present::named(&name.to_string_lossy()))
        .collect();
    let number = |device: &Present| device.name.trim_start_matches("hidraw").parse::<u32>().ok();
    devices.sort_by_key(|device| (!device.is_vendor(), number(device)));
    devices
}

/// The one device that is meant.
pub fn find(address: &HidAddress, doing: &str) -> Result<Present, LinkError> {
    if let Which::File(path) = &address.which {
        return of_file(path, doing);
    }
    one_of(devices(), address, doing)
}

/// The device behind a file, whatever the file is called.
fn of_file(path: &Path, doing: &str) -> Result<Present, LinkError> {
    let file = fs::metadata(path).map_err(|error| {
        LinkError::from_io(doing, &error)
            .hint("is it plugged in? wiregauge devices lists the HID devices")
    })?;
    let device = file.rdev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let node = fs::canonicalize(format!("/sys/dev/char/{major}:{minor}"));
    let of_hidraw = |node: &PathBuf| {
        let class = node.parent().and_then(Path::file_name);
        class.is_some_and(|class| class == "hidraw")
    };
    let node = node.ok().filter(of_hidraw);
    let name = node.filter(|_| file.file_type().is_char_device());
    let name = name.and_then(|node| Some(node.file_name()?.to_string_lossy().into_owned()));
    let found = name.and_then(|name| Present::named(&name));
    let found = found.ok_or_else(|| {
        let said = format!("{} is not a hidraw device", path.display());
        LinkError::new(LinkErrorKind::Usage, doing, said).hint(
            "HID devices have names such as /dev/hidraw0; /dev/input/event0 and /dev/hiddev0 are other interfaces",
        )
    })?;
    Ok(Present {
        file: path.into(),
        ..found
    })
}

/// The one that is meant; of several, the only one of a vendor usage page.
fn one_of(devices: Vec<Present>, address: &HidAddress, doing: &str) -> Result<Present, LinkError> {
    let (mut fitting, others): (Vec<_>, Vec<_>) =
        devices.into_iter().partition(|device| device.is(address));
    let vendor = fitting.iter().filter(|device| device.is_vendor()).count();
    if fitting.len() == 1 || vendor == 1 {
        // Those of vendor pages are first.
        return Ok(fitting.swap_remove(0));
    }
    if fitting.is_empty() {
        let said = match others.is_empty() {
            true => "no HID device is attached".to_string(),
            false => format!("no such device; attached devices: {}", listed(&others)),
        };
        return Err(LinkError::new(LinkErrorKind::NotFound, doing, said).hint(
            "is it plugged in, and its program running? wiregauge devices lists the attached devices",
        ));
    }
    let hint = format!(
        "select one by its file, hid://{}, by its serial number, or by #interface=N",
        fitting[0].file.display()
    );
    let said = format!("{} devices match: {}", fitting.len(), listed(&fitting));
    Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
}

fn listed(devices: &[Present]) -> String {
    let named = devices.iter().take(MOST_NAMED);
    let mut words: Vec<String> = named.map(Present::in_words).collect();
    if devices.len() > MOST_NAMED {
        words.push(format!("and {} more", devices.len() - MOST_NAMED));
    }
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(name: &str, page: u16, interface: u8) -> Present {
        Present {
            name: name.into(),
            file: Path::new("/dev").join(name),
            node: PathBuf::new(),
            bus: 3,
            vendor: 0x1209,
            product: 1,
            product_name: Some("board".into()),
            serial: Some(name.to_uppercase()),
            reports: Ok(Reports {
                usage: (page, 1),
                ..Reports::default()
            }),
            interface: Some(interface),
        }
    }

    fn found(devices: &[Present], text: &str) -> Result<String, String> {
        let address = HidAddress::parse(text).unwrap();
        one_of(devices.to_vec(), &address, "cannot open it")
            .map(|device| device.name)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn of_the_interfaces_of_a_keyboard_the_one_of_a_vendor_page_is_meant() {
        let devices = [
            board("hidraw1", 0xff60, 1),
            board("hidraw0", 1, 0),
            board("hidraw2", 1, 2),
        ];
        assert_eq!(found(&devices, "1209:1"), Ok("hidraw1".into()));
        assert_eq!(found(&devices, "1209:1#interface=2"), Ok("hidraw2".into()));
        assert_eq!(found(&devices, "1209:1/HIDRAW0"), Ok("hidraw0".into()));
    }

    #[test]
    fn none_and_several_are_answered_with_what_is_there() {
        let devices = [board("hidraw0", 0xff00, 0), board("hidraw1", 0xff00, 0)];
        for (there, address, words) in [
            (&devices[..], "1209:1", "2 devices match"),
            (&devices, "1209:1", "hid:///dev/hidraw0"),
            (&devices, "1209:2", "no such device"),
            (&devices, "1209:2", "serial HIDRAW1"),
            (&[], "1209:2", "no HID device is attached"),
        ] {
            let text = found(there, address).unwrap_err();
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn the_kernels_words_are_read_and_bad_ones_are_not() {
        let text = "DRIVER=hid-generic\nHID_ID=0003:00001D6B:00000104\nHID_NAME=a b\nHID_UNIQ=\n";
        let read = Uevent::parse(text).unwrap();
        assert_eq!((read.bus, read.vendor, read.product), (3, 0x1d6b, 0x104));
        assert_eq!((read.name.as_deref(), read.serial), (Some("a b"), None));
        assert!(Uevent::parse("HID_ID=3").is_none());
        assert!(Uevent::parse("").is_none());
    }

    #[test]
    fn a_file_that_is_no_hidraw_device_is_refused() {
        for path in ["/dev/null", "/proc/self/status"] {
            let error = of_file(Path::new(path), "cannot open it").unwrap_err();
            assert_eq!(error.kind(), LinkErrorKind::Usage);
            let text = error.to_string();
            assert!(text.contains("is not a hidraw device"), "{text}");
        }
        let error = of_file(Path::new("/dev/hidraw999"), "cannot open it").unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::NotFound);
    }
}
