//! Serial ports: those with a device behind them.

pub use crate::platform::ports::ports;

use super::Answer;
use serde::Serialize;

/// A serial port.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SerialPort {
    /// What to give to wiregauge.
    pub address: String,
    /// Its device file.
    pub path: String,
    /// Kernel driver.
    pub driver: Option<String>,
    /// The name in /dev/serial/by-id, which stays the same whatever it is plugged into.
    pub by_id: Option<String>,
    /// Path of the USB device behind it.
    pub usb: Option<String>,
    /// Name of that device.
    pub product: Option<String>,
    /// What is known of the program behind it.
    pub answer: Answer,
    /// The kernel writes its messages there, and a login may wait: it is not asked.
    #[serde(skip)]
    pub is_console: bool,
}
