//! What device.py passes to say which protocol a device speaks.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use wiregauge_device::{DeviceProtocol, ReplyEnd};

/// Protocol, until, reply_bytes, reply_length, idle_ns, unit.
pub type Parts = (
    String,
    Option<Vec<u8>>,
    Option<u32>,
    Option<String>,
    Option<u64>,
    u8,
);

/// The protocol; device.py has refused what has no effect.
pub fn protocol_of(
    (protocol, until, bytes, length, idle_ns, unit): Parts,
) -> PyResult<DeviceProtocol> {
    let end = match (until, bytes, length, idle_ns) {
        (Some(until), ..) => ReplyEnd::Until(until),
        (_, Some(bytes), ..) => ReplyEnd::Bytes(bytes),
        (_, _, Some(length), _) => ReplyEnd::Length(
            length
                .parse()
                .map_err(|problem| PyValueError::new_err(format!("reply_length: {problem}")))?,
        ),
        (.., Some(ns)) => ReplyEnd::IdleNs(ns),
        _ => ReplyEnd::Until(b"\n".to_vec()),
    };
    Ok(match protocol.as_str() {
        "text" => DeviceProtocol::Text(end),
        "scpi" => DeviceProtocol::Text(ReplyEnd::Scpi),
        "modbus" => DeviceProtocol::Modbus { unit },
        other => return Err(PyTypeError::new_err(format!("unknown protocol {other:?}"))),
    })
}
