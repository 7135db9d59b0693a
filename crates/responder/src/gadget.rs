//! What USB device a Linux with a device controller shall be; `platform` makes it.

/// What a gadget is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GadgetPlan {
    /// Its functions, in the order of their interfaces.
    pub functions: Vec<Function>,
    /// The device controller's name; without one, the first that is free.
    pub udc: Option<String>,
    /// Vendor's number.
    pub vendor: u16,
    /// Product's number.
    pub product: u16,
    /// Serial number; without one, this computer's name.
    pub serial: Option<String>,
    /// The highest speed offered; without one, the controller's.
    pub speed: Option<Speed>,
    /// How transfers are handed to the kernel.
    pub transfers: Transfers,
    /// Bytes of a HID report.
    pub report_bytes: u16,
}

impl Default for GadgetPlan {
    fn default() -> GadgetPlan {
        GadgetPlan {
            functions: vec![Function::Bulk, Function::Acm],
            udc: None,
            // The Linux Foundation's numbers for a composite gadget.
            vendor: 0x1d6b,
            product: 0x0104,
            serial: None,
            speed: None,
            transfers: Transfers::default(),
            report_bytes: 64,
        }
    }
}

/// A function of a gadget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// A vendor interface with a bulk IN and a bulk OUT endpoint.
    Bulk,
    /// A vendor interface with an interrupt IN and an interrupt OUT endpoint.
    Interrupt,
    /// The kernel's serial port (CDC-ACM).
    Acm,
    /// A HID device of a vendor usage page with one report in each direction.
    Hid,
    /// A USBTMC instrument: a device of its own.
    Tmc,
    /// FTDI's FT232R with a serial line behind it: a device of its own.
    Ftdi,
    /// Silicon Labs' CP2102, likewise.
    Cp210x,
    /// WCH's CH340, likewise.
    Ch341,
    /// A vendor interface with an isochronous IN and an isochronous OUT endpoint: a device of its own.
    Iso,
}

/// Most functions of a gadget: USB has 15 endpoints in each direction.
const MOST_FUNCTIONS: usize = 15;

impl Function {
    /// The name by which [`Function::parse_list`] knows it.
    pub fn name(self) -> &'static str {
        match self {
            Function::Bulk => "bulk",
            Function::Interrupt => "interrupt",
            Function::Acm => "acm",
            Function::Hid => "hid",
            Function::Tmc => "tmc",
            Function::Ftdi => "ftdi",
            Function::Cp210x => "cp210x",
            Function::Ch341 => "ch341",
            Function::Iso => "iso",
        }
    }

    /// True for a USB-to-serial adapter.
    pub fn is_adapter(self) -> bool {
        self.adapter_id().is_some()
    }

    /// True if only the virtual device has it.
    pub fn is_virtual_only(self) -> bool {
        self.is_adapter() || self == Function::Iso
    }

    /// True for a vendor interface of wiregauge's own: no system has a driver for it, and Windows is to bind WinUSB.
    pub fn is_vendor(self) -> bool {
        matches!(self, Function::Bulk | Function::Interrupt | Function::Iso)
    }

    /// Vendor and product ID by which the driver of an adapter knows its chip.
    pub fn adapter_id(self) -> Option<(u16, u16)> {
        match self {
            Function::Ftdi => Some((0x0403, 0x6001)),
            Function::Cp210x => Some((0x10c4, 0xea60)),
            Function::Ch341 => Some((0x1a86, 0x7523)),
            _ => None,
        }
    }

    /// Reads a list such as `bulk,acm` or `bulk=4`.
    pub fn parse_list(text: &str) -> Result<Vec<Function>, String> {
        let mut functions = Vec::new();
        for part in text.split(',') {
            let (name, number) = part.split_once('=').unwrap_or((part, "1"));
            let function = match name {
                "bulk" => Function::Bulk,
                "interrupt" => Function::Interrupt,
                "acm" => Function::Acm,
                "hid" => Function::Hid,
                "tmc" => Function::Tmc,
                "ftdi" => Function::Ftdi,
                "cp210x" => Function::Cp210x,
                "ch341" => Function::Ch341,
                "iso" => Function::Iso,
                _ => {
                    return Err(format!(
                        "unknown function `{name}`: use bulk, interrupt, acm, hid, tmc, ftdi, cp210x, ch341 or iso"
                    ));
                }
            };
            let number = number
                .parse()
                .ok()
                .filter(|n| (1..=MOST_FUNCTIONS).contains(n));
            let number = number.ok_or_else(|| {
                format!("`{part}` is not a valid number of functions: use a number such as bulk=2")
            })?;
            functions.extend(std::iter::repeat_n(function, number));
        }
        if functions.len() > MOST_FUNCTIONS {
            return Err(format!(
                "more than {MOST_FUNCTIONS} functions: USB does not have enough endpoints"
            ));
        }
        // Their requests do not say which interface they are for.
        let alone = |f: &&Function| f.is_adapter() || matches!(f, Function::Tmc | Function::Iso);
        if let Some(alone) = functions.iter().find(alone)
            && functions.len() > 1
        {
            let name = alone.name();
            return Err(format!(
                "{name} is a device of its own: use --function {name} alone"
            ));
        }
        Ok(functions)
    }
}

/// The highest speed that a gadget offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    /// 12 Mbit/s.
    Full,
    /// 480 Mbit/s.
    High,
    /// 5 Gbit/s.
    Super,
}

/// How a gadget hands its transfers to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfers {
    /// So many at once in each direction, so that the controller never waits for the program.
    Queued(u32),
    /// One after the other, with read and write.
    Sync,
}

impl Default for Transfers {
    fn default() -> Transfers {
        Transfers::Queued(16)
    }
}

impl Transfers {
    /// Reads `queued`, `queued=N` or `sync`.
    pub fn parse(text: &str) -> Result<Transfers, String> {
        let wrong = || format!("`{text}` is not valid: use queued, queued=N (1 to 256) or sync");
        match text.split_once('=') {
            None if text == "queued" => Ok(Transfers::default()),
            None if text == "sync" => Ok(Transfers::Sync),
            Some(("queued", number)) => {
                let number = number.parse().ok().filter(|n| (1..=256).contains(n));
                number.map(Transfers::Queued).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}

/// Reads `VID:PID` in hexadecimal.
pub fn parse_usb_id(text: &str) -> Result<(u16, u16), String> {
    let wrong = || format!("`{text}` is not a VID:PID in hexadecimal, such as 1d6b:0104");
    let (vendor, product) = text.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str| {
        let plain = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u16::from_str_radix(text, 16).ok()).flatten()
    };
    number(vendor).zip(number(product)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_read_singly_repeated_and_numbered() {
        use Function::{Acm, Bulk, Ch341, Cp210x, Ftdi, Hid, Interrupt, Iso};
        let read = Function::parse_list;
        assert_eq!(read("bulk,acm"), Ok(vec![Bulk, Acm]));
        let found = read("bulk=2,interrupt,bulk");
        assert_eq!(found, Ok(vec![Bulk, Bulk, Interrupt, Bulk]));
        assert_eq!(read("hid,acm"), Ok(vec![Hid, Acm]));
        for alone in [Ftdi, Cp210x, Ch341, Iso] {
            assert_eq!(read(alone.name()), Ok(vec![alone]));
            let twice = read(&format!("{},acm", alone.name()));
            assert!(twice.unwrap_err().contains("alone"));
        }
        for wrong in [
            "",
            "bulk,",
            "lamp",
            "bulk=0",
            "bulk=16",
            "bulk=x",
            "bulk=15,acm",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn transfers_and_numbers_of_usb_are_read_or_refused() {
        assert_eq!(Transfers::parse("queued"), Ok(Transfers::Queued(16)));
        assert_eq!(Transfers::parse("queued=3"), Ok(Transfers::Queued(3)));
        assert_eq!(Transfers::parse("sync"), Ok(Transfers::Sync));
        for wrong in ["", "queued=", "queued=0", "queued=257", "sync=1"] {
            assert!(Transfers::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_usb_id("1d6b:0104"), Ok((0x1d6b, 0x0104)));
        for wrong in ["", "1d6b", "1d6b:", "1d6b:00104", "+1:2", "g:1"] {
            assert!(parse_usb_id(wrong).is_err(), "{wrong}");
        }
    }
}
