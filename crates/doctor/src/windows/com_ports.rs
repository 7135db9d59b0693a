//! Names of the present serial ports.

use super::host::{Value, WindowsHost};
use std::path::Path;

/// The key in which drivers list the present ports.
const PRESENT: &str = r"HARDWARE\DEVICEMAP\SERIALCOMM";

/// Names of the present ports.
pub(crate) fn present(host: &dyn WindowsHost) -> Vec<String> {
    let values = host.values(PRESENT).unwrap_or_default();
    let names = values.into_iter().filter_map(|(_, value)| match value {
        Value::Text(name) => Some(name),
        _ => None,
    });
    names.collect()
}

/// The name without the prefix that numbers above 9 need to be opened.
pub(crate) fn plain(port: &Path) -> String {
    let port = port.to_string_lossy();
    port.trim_start_matches(r"\\.\").to_owned()
}

/// True if a port is present.
pub(crate) fn is_present(host: &dyn WindowsHost, port: &Path) -> bool {
    let port = plain(port);
    let mut names = present(host).into_iter();
    names.any(|name| name.eq_ignore_ascii_case(&port))
}
