//! What a medium can carry at best: the figure that every throughput is shown beside.

use std::fs;
use std::path::{Path, PathBuf};
use wiregauge_record::BusLimit;

/// A bus whose bulk limit is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bus {
    /// USB full speed, 12 Mbit/s.
    FullSpeed,
    /// USB high speed, 480 Mbit/s.
    HighSpeed,
}

impl Bus {
    /// Length of a frame (full speed) or microframe (high speed), USB 2.0, 5.3.3 and 5.2.3.
    pub const fn frame_ns(self) -> u64 {
        match self {
            Bus::FullSpeed => 1_000_000,
            Bus::HighSpeed => 125_000,
        }
    }

    /// Largest bulk packet in bytes, USB 2.0, 5.8.3.
    pub const fn packet_bytes(self) -> u64 {
        match self {
            Bus::FullSpeed => 64,
            Bus::HighSpeed => 512,
        }
    }

    /// Bulk packets of that size that fit one frame, USB 2.0, tables 5-9 and 5-10.
    pub const fn packets_per_frame(self) -> u64 {
        match self {
            Bus::FullSpeed => 19,
            Bus::HighSpeed => 13,
        }
    }

    /// Bytes a second, both directions together.
    pub const fn bytes_per_second(self) -> u64 {
        self.packet_bytes() * self.packets_per_frame() * (1_000_000_000 / self.frame_ns())
    }

    /// The name used in addresses, options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Bus::FullSpeed => "full-speed",
            Bus::HighSpeed => "high-speed",
        }
    }

    /// The bus of this name.
    pub fn from_name(name: &str) -> Option<Bus> {
        [Bus::FullSpeed, Bus::HighSpeed]
            .into_iter()
            .find(|bus| bus.name() == name)
    }

    /// Its limit for bulk transfers.
    pub fn limit(self) -> BusLimit {
        let table = match self {
            Bus::FullSpeed => "5-9",
            Bus::HighSpeed => "5-10",
        };
        BusLimit {
            bytes_s: self.bytes_per_second() as f64,
            shared: true,
            source: format!("USB {} bulk, USB 2.0 table {table}", self.name()),
            used: 0.0,
        }
    }
}

/// Symbols around the data of one packet of 1024 bytes at super speed: a data packet header of 20 and
/// 12 that frame the payload and check it, USB 3.2, 7.2.1.1 and 7.2.1.2.
const SUPER_SPEED_FRAMING: f64 = 32.0;

/// The limit of bulk transfers at the speed that sysfs gives in Mbit/s. Super speed has no table in
/// the specification: the figure is an upper bound, packets back to back in one direction.
pub fn of_usb_bulk(megabits: &str) -> Option<BusLimit> {
    // The line code leaves 8 of 10 bits at 5 Gbit/s and 128 of 132 above, USB 3.2, 6.3.1.
    let (code, lanes_gbit) = match megabits {
        "12" => return Some(Bus::FullSpeed.limit()),
        "480" => return Some(Bus::HighSpeed.limit()),
        "5000" => (8.0 / 10.0, 5.0),
        "10000" => (128.0 / 132.0, 10.0),
        "20000" => (128.0 / 132.0, 20.0),
        _ => return None,
    };
    let symbols_s = lanes_gbit * 1e9 * code / 8.0;
    Some(BusLimit {
        bytes_s: (symbols_s * 1024.0 / (1024.0 + SUPER_SPEED_FRAMING)).floor(),
        shared: false,
        source: format!(
            "USB {lanes_gbit} Gbit/s bulk, upper bound: 1024 B packets back to back, USB 3.2, 7.2.1"
        ),
        used: 0.0,
    })
}

/// The limit of an interrupt endpoint: so many packets in each service interval. A host may serve it
/// more often than it asks, and host controllers do so in powers of two (USB 2.0, 5.7.4), so the
/// interval is rounded down to one.
pub fn of_usb_interrupt(
    megabits: &str,
    packet_bytes: usize,
    packets: u32,
    interval: u8,
) -> Option<BusLimit> {
    // bInterval, USB 2.0, table 9-13: frames at low and full speed, else a power of two of
    // microframes.
    let interval_us = match megabits {
        "1.5" | "12" => 1000_u32 << u32::from(interval.max(1)).ilog2(),
        "480" | "5000" | "10000" | "20000" => 125_u32 << (u32::from(interval.clamp(1, 16)) - 1),
        _ => return None,
    };
    let bytes = packet_bytes as u64 * u64::from(packets);
    Some(BusLimit {
        bytes_s: bytes as f64 * 1e6 / f64::from(interval_us),
        shared: false,
        source: format!("USB interrupt: {bytes} B every {interval_us} us, USB 2.0 table 9-13"),
        used: 0.0,
    })
}

/// The limit of an asynchronous serial line with 8 data bits, no parity and 1 stop bit: ten bit
/// times carry one byte.
pub fn of_uart(baud: u32) -> BusLimit {
    BusLimit {
        bytes_s: f64::from(baud) / 10.0,
        shared: false,
        source: format!("UART at {baud} baud, 8N1: 10 bits a byte"),
        used: 0.0,
    }
}

/// The limit of a tty: that of the USB bus behind a CDC port, or of the UART; none for a
/// pseudo-terminal, which has no medium.
pub fn of_tty(path: &Path, baud: Option<u32>) -> Option<BusLimit> {
    let name = tty_name(path)?;
    if name.starts_with("ttyACM") {
        return of_usb_bulk(&usb_attribute(&name, "speed")?);
    }
    let is_uart = ["ttyS", "ttyUSB", "ttyAMA", "ttymxc", "ttyO", "ttyPS"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    baud.filter(|&baud| is_uart && baud > 0).map(of_uart)
}

/// Where the USB device behind a tty hangs and how fast it is; empty for anything else.
pub fn usb_settings_of_tty(path: &Path) -> Vec<(String, String)> {
    let Some(name) = tty_name(path) else {
        return Vec::new();
    };
    let mut settings = Vec::new();
    if let Some(driver) = fs::canonicalize(format!("/sys/class/tty/{name}/device/driver"))
        .ok()
        .and_then(|driver| Some(driver.file_name()?.to_string_lossy().into_owned()))
    {
        settings.push(("driver".into(), driver));
    }
    for (attribute, label) in [
        ("speed", "USB speed (Mbit/s)"),
        ("devpath", "USB path"),
        ("busnum", "USB bus"),
        ("product", "USB product"),
        ("idVendor", "USB vendor"),
        ("idProduct", "USB product id"),
    ] {
        if let Some(value) = usb_attribute(&name, attribute) {
            settings.push((label.into(), value));
        }
    }
    settings
}

fn tty_name(path: &Path) -> Option<String> {
    let real = fs::canonicalize(path).ok()?;
    let name = real
        .strip_prefix("/dev")
        .ok()?
        .to_string_lossy()
        .into_owned();
    (!name.contains('/')).then_some(name)
}

/// Looks for an attribute of the USB device by climbing from the tty's node in sysfs.
fn usb_attribute(tty: &str, attribute: &str) -> Option<String> {
    let mut node: PathBuf = fs::canonicalize(format!("/sys/class/tty/{tty}/device")).ok()?;
    while node.starts_with("/sys/devices") {
        // Only a USB device, no interface or hub port, has both of these.
        if node.join("idVendor").exists() {
            return fs::read_to_string(node.join(attribute))
                .ok()
                .map(|s| s.trim().to_string());
        }
        node.pop();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_limits_are_those_of_the_usb_2_tables() {
        assert_eq!(Bus::FullSpeed.bytes_per_second(), 1_216_000);
        assert_eq!(Bus::HighSpeed.bytes_per_second(), 53_248_000);
    }

    #[test]
    fn super_speed_is_bounded_by_its_line_code_and_framing() {
        let limit = of_usb_bulk("5000").unwrap();
        assert!(limit.bytes_s < 500e6 && limit.bytes_s > 480e6);
        assert!(limit.source.contains("upper bound") && !limit.shared);
        assert!(of_usb_bulk("10000").unwrap().bytes_s > 2.0 * limit.bytes_s);
        assert_eq!(of_usb_bulk("480").unwrap().bytes_s, 53_248_000.0);
        assert_eq!(of_usb_bulk("1.5"), None);
    }

    #[test]
    fn an_interrupt_endpoint_carries_its_packets_once_an_interval() {
        let bytes_s = |m: &str, packet, packets, interval| {
            of_usb_interrupt(m, packet, packets, interval)
                .unwrap()
                .bytes_s
        };
        assert_eq!(bytes_s("12", 64, 1, 1), 64_000.0);
        // 10 ms are served every 8.
        assert_eq!(bytes_s("1.5", 8, 1, 10), 1_000.0);
        assert_eq!(bytes_s("480", 1024, 3, 1), 24_576_000.0);
        assert_eq!(bytes_s("480", 64, 1, 4), 64_000.0);
        assert_eq!(of_usb_interrupt("0", 64, 1, 1), None);
    }

    #[test]
    fn a_uart_carries_a_tenth_of_its_baud_rate_in_bytes() {
        assert_eq!(of_uart(115_200).bytes_s, 11_520.0);
    }

    #[test]
    fn a_pseudo_terminal_has_no_physical_limit() {
        let (_master, path) = crate::link::open_pty().unwrap();
        assert_eq!(of_tty(&path, Some(38_400)), None);
    }
}
