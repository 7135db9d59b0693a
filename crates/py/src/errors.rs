//! A failure of the engine as the exception that python/wiregauge/errors.py has for it.

use pyo3::prelude::*;
use wiregauge_link::{LinkError, LinkErrorKind};

/// The exception, with the words of the command line.
pub fn of_link(py: Python<'_>, error: &LinkError) -> PyErr {
    if let Some(code) = error.exception_code() {
        let name = wiregauge_device::modbus_exception(code);
        return py
            .import("wiregauge.errors")
            .and_then(|errors| errors.call_method1("of_exception", (error.to_string(), code, name)))
            .map_or_else(|failed| failed, PyErr::from_value);
    }
    let parts = (
        kind(error.kind()),
        error.to_string(),
        error.os_code(),
        None::<String>,
    );
    py.import("wiregauge.errors")
        .and_then(|errors| errors.call_method1("of_failure", (parts,)))
        .map_or_else(|failed| failed, PyErr::from_value)
}

/// What `LinkError.kind` is in Python.
pub fn kind(kind: LinkErrorKind) -> &'static str {
    match kind {
        LinkErrorKind::Usage => "usage",
        LinkErrorKind::PermissionDenied => "permission",
        LinkErrorKind::Unreachable => "unreachable",
        LinkErrorKind::NotFound => "not-found",
        LinkErrorKind::Busy => "busy",
        LinkErrorKind::Timeout => "timeout",
        LinkErrorKind::Protocol => "protocol",
        LinkErrorKind::Exception => "exception",
        LinkErrorKind::Disconnected => "disconnected",
        LinkErrorKind::Interrupted => "interrupted",
        LinkErrorKind::Closed => "closed",
        _ => "io",
    }
}
