//! An open device behind its handle: opened, interrupted, closed; and how every other function gets at it.

use crate::code::{WG_ERROR_BUG, WG_ERROR_HANDLE, WG_ERROR_INTERRUPTED, WG_OK};
use crate::failure::{Failure, caught, fenced};
use crate::handles::{SLOTS, Table};
use crate::options::{OPTIONS, of_timeout, wg_options};
use crate::pointers::{self, Place};
use crate::text::put_text;
use std::ffi::c_char;
use std::sync::atomic::{AtomicUsize, Ordering};
use wiregauge_device::{Device, DeviceOptions};

/// An open device.
pub struct wg_device {
    _nothing: [u8; 0],
}

/// Times of one exchange. Times are nanoseconds of the host's monotonic clock since the device was opened.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct wg_timing {
    /// Start of sending the request.
    pub start_ns: u64,
    /// Start of sending to the last byte of the reply.
    pub rtt_ns: u64,
    /// Device clock when the request had arrived, in ticks; 0 where the device has no clock.
    pub device_rx_ticks: u64,
    /// Device clock when the reply was sent, in ticks.
    pub device_tx_ticks: u64,
}

/// What a handle holds.
pub(crate) struct Held {
    pub(crate) device: Device,
    handle: usize,
    /// What the last failed call had to say.
    error: String,
    /// The code of the exception that the last failed call ended with.
    pub(crate) exception: Option<u8>,
    /// A panic left it half done.
    broken: bool,
    /// Room for what a batch needs and its caller did not give.
    pub(crate) ends: Vec<usize>,
    pub(crate) lengths: Vec<usize>,
}

static DEVICES: Table<Held> = Table::new(1, "device");

/// The handle of each slot that is to be interrupted. It names the handle and not only the slot, so that one that
/// comes too late does not hit the next device there.
static INTERRUPTED: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];

/// Opens the device at an address such as "tcp://10.0.0.5:7700" or "serial:///dev/ttyACM0", and with the
/// wiregauge protocol identifies it. `options` may be NULL for the defaults. On failure `*device` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_open(
    address: *const c_char,
    options: *const wg_options,
    device: *mut *mut wg_device,
) -> i32 {
    fenced(|| {
        // SAFETY: the caller's pointers are as the header says.
        let (device, address) = unsafe {
            let device = Place::needed(device, "device")?;
            device.put(std::ptr::null_mut());
            (device, pointers::text(address, "address")?)
        };
        let options = match options.is_null() {
            true => DeviceOptions::default(),
            false => OPTIONS.claim(options.addr())?.clone(),
        };
        let mut opened = Device::open(address, &options)?;
        let handle = DEVICES.insert(|handle| {
            opened.set_interrupt(Some(Box::new(move || take_interrupt(handle))));
            Held {
                device: opened,
                handle,
                error: String::new(),
                exception: None,
                broken: false,
                ends: Vec::new(),
                lengths: Vec::new(),
            }
        })?;
        device.put(std::ptr::without_provenance_mut(handle));
        Ok(())
    })
}

/// Closes a device; outstanding replies are abandoned. NULL is ignored. If another thread is in a call with
/// it, this fails with WG_ERROR_IN_USE and the device stays open.
#[unsafe(no_mangle)]
pub extern "C" fn wg_close(device: *mut wg_device) -> i32 {
    fenced(|| {
        if !device.is_null() {
            drop(DEVICES.remove(device.addr())?);
        }
        Ok(())
    })
}

/// Changes the timeout of an open device, from the next call on; see wg_options_timeout.
#[unsafe(no_mangle)]
pub extern "C" fn wg_set_timeout(device: *mut wg_device, timeout_ns: u64) -> i32 {
    with(device, |held| {
        Ok(held.device.set_timeout(of_timeout(timeout_ns)?)?)
    })
}

/// Interrupts the call that is waiting on this device, or else the next call, with WG_ERROR_INTERRUPTED. A
/// waiting call returns within 100 ms. Outstanding replies are abandoned; the device remains usable. May be
/// called from any thread and from a signal handler, so it sets no text for wg_last_error.
#[unsafe(no_mangle)]
pub extern "C" fn wg_interrupt(device: *mut wg_device) -> i32 {
    let Some(slot) = DEVICES.slot_of(device.addr()) else {
        return WG_ERROR_HANDLE;
    };
    INTERRUPTED[slot].store(device.addr(), Ordering::Relaxed);
    WG_OK
}

/// The error text of the last failed call with this device, from any thread; see wg_last_error. The text
/// and its NUL are copied to `text`, which has `room` bytes; `length` (optional) receives its length
/// without the NUL. With `room` 0 only the length is returned. A text that does not fit is truncated:
/// WG_ERROR_ROOM.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_device_error(
    device: *mut wg_device,
    text: *mut c_char,
    room: usize,
    length: *mut usize,
) -> i32 {
    fenced(|| {
        let held = DEVICES.claim(device.addr())?;
        // SAFETY: the caller's pointers are as the header says.
        unsafe { put_text(&held.error, text, room, length) }
    })
}

/// Claims the device for one call.
pub(crate) fn with(
    device: *mut wg_device,
    call: impl FnOnce(&mut Held) -> Result<(), Failure>,
) -> i32 {
    fenced(|| {
        let mut held = DEVICES.claim(device.addr())?;
        let held = &mut *held;
        let done = held.ready().and_then(|()| caught(|| call(held)));
        if let Err(failure) = &done {
            held.error.clone_from(&failure.text);
            held.exception = failure.exception;
            held.broken |= failure.code == WG_ERROR_BUG;
        }
        done
    })
}

impl Held {
    fn ready(&self) -> Result<(), Failure> {
        if self.broken {
            return Err(Failure::new(
                WG_ERROR_BUG,
                "an earlier call with this device panicked\n  hint: close it and open it again",
            ));
        }
        if take_interrupt(self.handle) {
            return Err(Failure::new(
                WG_ERROR_INTERRUPTED,
                format!(
                    "cannot use {}: interrupted before the call began",
                    self.device.about().address
                ),
            ));
        }
        Ok(())
    }
}

/// True once for each time that the handle was interrupted.
fn take_interrupt(handle: usize) -> bool {
    let Some(slot) = DEVICES.slot_of(handle) else {
        return false;
    };
    let flag = &INTERRUPTED[slot];
    flag.load(Ordering::Relaxed) == handle
        && flag
            .compare_exchange(handle, 0, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
}
