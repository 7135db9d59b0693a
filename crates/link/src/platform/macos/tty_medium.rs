//! What is behind a tty: not known on macOS.

use crate::host::UsbPlace;
use std::path::Path;
use wiregauge_limits::Uart;
use wiregauge_record::BusLimit;

/// The limit of a tty is not known.
pub fn limit(_path: &Path, _line: Option<Uart>) -> Option<BusLimit> {
    None
}

/// The USB device behind a tty is not known.
pub fn settings(_path: &Path) -> Vec<(String, String)> {
    Vec::new()
}

/// The USB device behind a tty is not known.
pub fn place(_path: &Path) -> Option<UsbPlace> {
    None
}
