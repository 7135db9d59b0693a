//! How a device is to be opened. An object with setters and not a struct that carries its size: each value is checked
//! where it is given, texts are copied at once, and LabVIEW and MATLAB can call it without laying out memory.

use crate::failure::{Failure, fenced};
use crate::handles::Table;
use crate::pointers::{Place, bytes};
use std::ffi::c_void;
use std::time::Duration;
use wiregauge_device::{DeviceOptions, DeviceProtocol, Framing, LengthField};
use wiregauge_record::Wait;

pub(crate) static OPTIONS: Table<DeviceOptions> = Table::new(2, "options handle");

/// Options to open a device. Defaults: the wiregauge protocol, a timeout of one second, sleep in the read.
/// May be used for any number of wg_open calls; changes do not affect open devices.
pub struct wg_options {
    _nothing: [u8; 0],
}

/// Sleep in the read: one system call, but the RTT includes a wake-up.
pub const WG_WAIT_BLOCK: i32 = 0;
/// Sleep in poll, then read.
pub const WG_WAIT_POLL: i32 = 1;
/// Never sleep: read in a loop. Uses one CPU core.
pub const WG_WAIT_SPIN: i32 = 2;

/// Creates options; free them with wg_options_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_options_new(options: *mut *mut wg_options) -> i32 {
    fenced(|| {
        // SAFETY: the caller's pointer is as the header says.
        let options = unsafe { Place::needed(options, "options") }?;
        options.put(std::ptr::null_mut());
        let handle = OPTIONS.insert(|_| DeviceOptions::default())?;
        options.put(std::ptr::without_provenance_mut(handle));
        Ok(())
    })
}

/// Frees options. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_free(options: *mut wg_options) -> i32 {
    fenced(|| {
        if !options.is_null() {
            OPTIONS.remove(options.addr())?;
        }
        Ok(())
    })
}

/// A call fails after this time without a complete reply. 10 us to one day.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_timeout(options: *mut wg_options, timeout_ns: u64) -> i32 {
    set(options, |options| {
        options.timeout = of_timeout(timeout_ns)?;
        Ok(())
    })
}

/// How to wait for a reply: one of WG_WAIT_...
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_wait(options: *mut wg_options, wait: i32) -> i32 {
    set(options, |options| {
        options.wait = match wait {
            WG_WAIT_BLOCK => Wait::Block,
            WG_WAIT_POLL => Wait::Poll,
            WG_WAIT_SPIN => Wait::Spin,
            _ => {
                return Err(Failure::argument(format!(
                    "unknown way to wait {wait}; see WG_WAIT_..."
                )));
            }
        };
        Ok(())
    })
}

/// Use the wiregauge protocol: the device is identified when it is opened (HELLO). The default.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_wiregauge(options: *mut wg_options) -> i32 {
    frame(options, None)
}

/// No framing: requests are sent unchanged, and the caller gives the size of each reply.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_raw(options: *mut wg_options) -> i32 {
    frame(options, Some(Framing::Raw))
}

/// Every reply has this fixed size in bytes, at least 1.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_fixed(options: *mut wg_options, reply_bytes: usize) -> i32 {
    set(options, |options| {
        if reply_bytes == 0 {
            return Err(Failure::argument(
                "a reply of fixed size needs at least 1 byte",
            ));
        }
        options.protocol = DeviceProtocol::Framing(Framing::Fixed { bytes: reply_bytes });
        Ok(())
    })
}

/// Each message ends with these 1 to 8 bytes. They are added to requests and removed from replies. SCPI:
/// "\n", 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_options_terminator(
    options: *mut wg_options,
    end: *const c_void,
    end_bytes: usize,
) -> i32 {
    set(options, |options| {
        // SAFETY: the caller's pointer is as the header says.
        let end = unsafe { bytes(end, end_bytes, "end") }?;
        if !(1..=8).contains(&end.len()) {
            return Err(Failure::argument(format!(
                "a terminator of {} bytes is not valid: use 1 to 8",
                end.len()
            )));
        }
        options.protocol = DeviceProtocol::Framing(Framing::Terminator { end: end.to_vec() });
        Ok(())
    })
}

/// Each message begins with its length, in a field of 1, 2 or 4 bytes. `big_endian`: not 0 for the most
/// significant byte first. `counts_itself`: not 0 if the length includes the field itself.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_length_prefix(
    options: *mut wg_options,
    field_bytes: i32,
    big_endian: i32,
    counts_itself: i32,
) -> i32 {
    set(options, |options| {
        let bytes = match field_bytes {
            1 => 1,
            2 => 2,
            4 => 4,
            _ => {
                return Err(Failure::argument(format!(
                    "a length field of {field_bytes} bytes is not valid: use 1, 2 or 4"
                )));
            }
        };
        options.protocol = DeviceProtocol::Framing(Framing::LengthPrefix(LengthField {
            bytes,
            big_endian: big_endian != 0,
            counts_itself: counts_itself != 0,
        }));
        Ok(())
    })
}

/// Baud rate of a serial line; 0 keeps the present one. No effect on other links.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_baud(options: *mut wg_options, baud: u32) -> i32 {
    set(options, |options| {
        options.link.baud = (baud != 0).then_some(baud);
        Ok(())
    })
}

/// TCP: not 0 to acknowledge segments at once (one system call per read). No effect on other links.
#[unsafe(no_mangle)]
pub extern "C" fn wg_options_quick_ack(options: *mut wg_options, quick_ack: i32) -> i32 {
    set(options, |options| {
        options.link.quick_ack = quick_ack != 0;
        Ok(())
    })
}

/// A timeout that can be used.
pub(crate) fn of_timeout(timeout_ns: u64) -> Result<Duration, Failure> {
    const LEAST: u64 = 10_000;
    const DAY: u64 = 86_400 * 1_000_000_000;
    if !(LEAST..=DAY).contains(&timeout_ns) {
        return Err(Failure::argument(format!(
            "a timeout of {timeout_ns} ns is not valid: use 10 us to one day"
        )));
    }
    Ok(Duration::from_nanos(timeout_ns))
}

fn frame(options: *mut wg_options, framing: Option<Framing>) -> i32 {
    set(options, |options| {
        options.protocol = framing.map_or(DeviceProtocol::Wiregauge, DeviceProtocol::Framing);
        Ok(())
    })
}

pub(crate) fn set(
    options: *mut wg_options,
    change: impl FnOnce(&mut DeviceOptions) -> Result<(), Failure>,
) -> i32 {
    fenced(|| change(&mut *OPTIONS.claim(options.addr())?))
}
