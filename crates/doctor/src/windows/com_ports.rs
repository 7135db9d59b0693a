//! The serial ports that are there, and their names.

use super::host::{Value, WindowsHost};
use std::path::Path;

/// Where drivers list the ports that are there.
const PRESENT: &str = r"HARDWARE\DEVICEMAP\SERIALCOMM";

/// Names of the ports that are there.
pub(crate) fn present(host: &dyn WindowsHost) -> Vec<String> {
    let values = host.values(PRESENT).unwrap_or_default();
    let names = values.into_iter().filter_map(|(_, value)| match value {
        Value::Text(name) => Some(name),
        _ => None,
    });
    names.collect()
}

/// Without the prefix that numbers above 9 need when they are opened.
pub(crate) fn plain(port: &Path) -> String {
    let port = port.to_string_lossy();
    port.trim_start_matches(r"\\.\").to_owned()
}

/// True if a port is there.
pub(crate) fn is_present(host: &dyn WindowsHost, port: &Path) -> bool {
    let port = plain(port);
    let mut names = present(host).into_iter();
    names.any(|name| name.eq_ignore_ascii_case(&port))
}
