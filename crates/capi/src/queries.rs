//! Calls for devices that know nothing of wiregauge: commands without a reply, replies without a request, and the
//! registers and bits of Modbus devices.

use crate::device::{self, wg_device, wg_timing};
use crate::exchanges::{Taken, of_size};
use crate::failure::Failure;
use crate::pointers::{Place, bytes, items, items_mut};
use std::ffi::c_void;
use wiregauge_device::{Table, Timing};

/// Coils: bits that can be read and written.
pub const WG_TABLE_COIL: i32 = 0;
/// Discrete inputs: bits that can be read.
pub const WG_TABLE_DISCRETE: i32 = 1;
/// Holding registers: can be read and written.
pub const WG_TABLE_HOLDING: i32 = 2;
/// Input registers: can be read.
pub const WG_TABLE_INPUT: i32 = 3;

/// Sends a request that the device does not answer, such as "*RST". Answers that come all the same can be
/// received with wg_read; the next exchange drops them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_write(
    device: *mut wg_device,
    request: *const c_void,
    request_bytes: usize,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointer is as the header says.
        let request = unsafe { bytes(request, request_bytes, "request") }?;
        Ok(held.device.write(request)?)
    })
}

/// Waits for one more reply, of a request sent with wg_write. `asked` and results as for wg_exchange; WG_AS_SENT
/// where the protocol or the framing gives the size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_read(
    device: *mut wg_device,
    asked: usize,
    reply: *mut c_void,
    room: usize,
    reply_bytes: *mut usize,
    timing: *mut wg_timing,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        unsafe {
            let into = Taken::new(reply, room, reply_bytes, timing)?;
            into.take(held.device.read(of_size(asked))?)
        }
    })
}

/// Modbus: reads `count` registers (1 to 125) from `address` on (0 is the first) of WG_TABLE_HOLDING or
/// WG_TABLE_INPUT in one request. `timing` is optional.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_read_registers(
    device: *mut wg_device,
    table: i32,
    address: u16,
    values: *mut u16,
    count: usize,
    timing: *mut wg_timing,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        let (values, timing) = unsafe { (items_mut(values, count, "values")?, place(timing)?) };
        let table = of_table(table)?;
        let took = held.device.read_registers(None, table, address, values)?;
        timing.put(took.into());
        Ok(())
    })
}

/// Modbus: reads `count` bits (1 to 2000) of WG_TABLE_COIL or WG_TABLE_DISCRETE, one byte each, 0 or 1; else as
/// wg_read_registers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_read_bits(
    device: *mut wg_device,
    table: i32,
    address: u16,
    values: *mut u8,
    count: usize,
    timing: *mut wg_timing,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        let (values, timing) = unsafe { (items_mut(values, count, "values")?, place(timing)?) };
        let table = of_table(table)?;
        let mut bits = vec![false; count.min(1 << 16)];
        let took = held.device.read_bits(None, table, address, &mut bits)?;
        for (value, bit) in values.iter_mut().zip(bits) {
            *value = u8::from(bit);
        }
        timing.put(took.into());
        Ok(())
    })
}

/// Modbus: writes holding registers (1 to 123) from `address` on: function 6 for one, else 16.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_write_registers(
    device: *mut wg_device,
    address: u16,
    values: *const u16,
    count: usize,
    timing: *mut wg_timing,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        let (values, timing) = unsafe { (items(values, count, "values")?, place(timing)?) };
        let took: Timing = held.device.write_registers(None, address, values)?;
        timing.put(took.into());
        Ok(())
    })
}

/// Modbus: writes coils (1 to 1968), one byte each, not 0 for on: function 5 for one, else 15.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_write_coils(
    device: *mut wg_device,
    address: u16,
    values: *const u8,
    count: usize,
    timing: *mut wg_timing,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        let (values, timing) = unsafe { (items(values, count, "values")?, place(timing)?) };
        let bits: Vec<bool> = values.iter().take(1 << 16).map(|bit| *bit != 0).collect();
        let took = held.device.write_coils(None, address, &bits)?;
        timing.put(took.into());
        Ok(())
    })
}

/// Modbus: the unit that later calls address, instead of that of wg_options_modbus.
#[unsafe(no_mangle)]
pub extern "C" fn wg_set_unit(device: *mut wg_device, unit: u8) -> i32 {
    device::with(device, |held| Ok(held.device.set_unit(unit)?))
}

/// Modbus: the code of the exception that the last failed call with this device ended with
/// (WG_ERROR_EXCEPTION), such as 2 for an illegal data address; 0 if it failed for another reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_exception(device: *mut wg_device, exception: *mut i32) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointer is as the header says.
        let exception = unsafe { Place::needed(exception, "exception") }?;
        exception.put(held.exception.map_or(0, i32::from));
        Ok(())
    })
}

fn of_table(table: i32) -> Result<Table, Failure> {
    Ok(match table {
        WG_TABLE_COIL => Table::Coil,
        WG_TABLE_DISCRETE => Table::Discrete,
        WG_TABLE_HOLDING => Table::Holding,
        WG_TABLE_INPUT => Table::Input,
        _ => {
            return Err(Failure::argument(format!(
                "unknown table {table}; see WG_TABLE_..."
            )));
        }
    })
}

/// # Safety
/// `timing` leads to such a thing, or nowhere.
unsafe fn place(timing: *mut wg_timing) -> Result<Place<wg_timing>, Failure> {
    // SAFETY: as the caller promises.
    unsafe { Place::optional(timing, "timing") }
}
