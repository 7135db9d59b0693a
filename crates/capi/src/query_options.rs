//! The protocols of devices that know nothing of wiregauge, as options: text, SCPI, Modbus.

use crate::failure::Failure;
use crate::options::{set, wg_options};
use crate::pointers::{bytes, text};
use std::ffi::{c_char, c_void};
use wiregauge_device::{DeviceProtocol, ReplyEnd, ReplyLength};

/// Text: requests are sent as they are, and a reply ends with a newline, which is removed.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_text(options: *mut wg_options) -> i32 {
    ends(options, || Ok(ReplyEnd::Until(b"\n".to_vec())))
}

/// Text whose replies end with these bytes, which are removed from replies and not added to requests.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_options_text_until(
    options: *mut wg_options,
    end: *const c_void,
    end_bytes: usize,
) -> i32 {
    ends(options, || {
        // SAFETY: the caller's pointer is as the header says.
        let end = unsafe { bytes(end, end_bytes, "end") }?;
        match end.is_empty() {
            true => Err(Failure::argument("an empty end of a reply is not valid")),
            false => Ok(ReplyEnd::Until(end.to_vec())),
        }
    })
}

/// Text whose replies have this size in bytes, at least 1.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_text_bytes(options: *mut wg_options, reply_bytes: u32) -> i32 {
    ends(options, || match reply_bytes {
        0 => Err(Failure::argument("replies of 0 bytes are not valid")),
        bytes => Ok(ReplyEnd::Bytes(bytes)),
    })
}

/// Text whose replies have a field with their length: `TYPE[@OFFSET][+ADDED]`, such as "u16be@2+4" (u8, u16le,
/// u16be, u32le, u32be; ADDED: bytes behind the field that it does not count).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_options_text_length(
    options: *mut wg_options,
    field: *const c_char,
) -> i32 {
    ends(options, || {
        // SAFETY: the caller's pointer is as the header says.
        let field = unsafe { text(field, "field") }?;
        let field: ReplyLength = field
            .parse()
            .map_err(|problem: String| Failure::argument(problem))?;
        Ok(ReplyEnd::Length(field))
    })
}

/// Text whose replies end when nothing is received for this time; longer than any pause within a reply.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_text_idle(options: *mut wg_options, idle_ns: u64) -> i32 {
    ends(options, || match idle_ns {
        0 => Err(Failure::argument("a silence of 0 ns is not valid")),
        ns => Ok(ReplyEnd::IdleNs(ns)),
    })
}

/// An instrument that speaks SCPI: a newline is sent behind each message; a reply ends with a newline outside
/// strings and block data ("#3100..."), which is removed.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_scpi(options: *mut wg_options) -> i32 {
    ends(options, || Ok(ReplyEnd::Scpi))
}

/// Modbus: RTU on serial lines, which needs wg_options_baud, else Modbus TCP. `unit`: 1 to 247, or 255 for a device
/// behind no gateway. A request of wg_exchange is unit, function and data, without checksum or header.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_modbus(options: *mut wg_options, unit: u8) -> i32 {
    set(options, |options| {
        options.protocol = DeviceProtocol::Modbus { unit };
        Ok(())
    })
}

/// Data bits, parity and stop bits of a serial line, such as "8E1"; NULL for 8N1. No effect on other links.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_options_serial_framing(
    options: *mut wg_options,
    framing: *const c_char,
) -> i32 {
    set(options, |options| {
        options.link.framing = match framing.is_null() {
            true => None,
            // SAFETY: the caller's pointer is as the header says.
            false => Some(unsafe { text(framing, "framing") }?.to_owned()),
        };
        Ok(())
    })
}

fn ends(options: *mut wg_options, end: impl FnOnce() -> Result<ReplyEnd, Failure>) -> i32 {
    set(options, |options| {
        options.protocol = DeviceProtocol::Text(end()?);
        Ok(())
    })
}
