//! One exchange at a time, and requests that are sent ahead of their replies.

use crate::code::WG_ERROR_ROOM;
use crate::device::{self, wg_device, wg_timing};
use crate::failure::Failure;
use crate::pointers::{Place, bytes};
use std::ffi::c_void;
use wiregauge_device::{Reply, Timing};

/// One exchange: sends the request and waits for its reply.
///
/// `asked` is the size of the reply: the requested payload (wiregauge protocol), or the number of bytes to
/// wait for (wg_options_raw). WG_AS_SENT: as many as sent. Ignored if the framing gives the size.
///
/// The reply's payload is copied to `reply`, which has `room` bytes and may be the request's own buffer;
/// `reply_bytes` (optional) receives its size, `timing` (optional) its times. A reply larger than `room` is
/// truncated: WG_ERROR_ROOM.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_exchange(
    device: *mut wg_device,
    request: *const c_void,
    request_bytes: usize,
    asked: usize,
    reply: *mut c_void,
    room: usize,
    reply_bytes: *mut usize,
    timing: *mut wg_timing,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says; the slice of the request is gone before the reply is
        // written, which may be at the same place.
        unsafe {
            let into = Taken::new(reply, room, reply_bytes, timing)?;
            let request = bytes(request, request_bytes, "request")?;
            into.take(held.device.exchange(request, of_size(asked))?)
        }
    })
}

/// Sends a request without waiting for its reply; receive it with wg_next_reply, in the order of the
/// requests. May block until the system accepts the bytes. `asked` as for wg_exchange.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_submit(
    device: *mut wg_device,
    request: *const c_void,
    request_bytes: usize,
    asked: usize,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointer is as the header says.
        let request = unsafe { bytes(request, request_bytes, "request") }?;
        Ok(held.device.submit(request, of_size(asked))?)
    })
}

/// Waits for the reply to the oldest submitted request. Results as for wg_exchange.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_next_reply(
    device: *mut wg_device,
    reply: *mut c_void,
    room: usize,
    reply_bytes: *mut usize,
    timing: *mut wg_timing,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        unsafe {
            let into = Taken::new(reply, room, reply_bytes, timing)?;
            into.take(held.device.next_reply()?)
        }
    })
}

/// Number of submitted requests whose replies were not received yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_outstanding(device: *mut wg_device, outstanding: *mut usize) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointer is as the header says.
        let outstanding = unsafe { Place::needed(outstanding, "outstanding") }?;
        outstanding.put(held.device.outstanding());
        Ok(())
    })
}

/// The size of a reply as the engine takes it.
pub(crate) fn of_size(asked: usize) -> Option<usize> {
    (asked != usize::MAX).then_some(asked)
}

/// Where a reply goes.
pub(crate) struct Taken {
    reply: *mut u8,
    room: usize,
    length: Place<usize>,
    timing: Place<wg_timing>,
}

impl Taken {
    /// # Safety
    /// The pointers are as the header says.
    pub(crate) unsafe fn new(
        reply: *mut c_void,
        room: usize,
        reply_bytes: *mut usize,
        timing: *mut wg_timing,
    ) -> Result<Taken, Failure> {
        if reply.is_null() && room > 0 {
            return Err(Failure::argument("`reply` is NULL"));
        }
        // SAFETY: as the caller promises.
        let (length, timing) = unsafe {
            (
                Place::optional(reply_bytes, "reply_bytes")?,
                Place::optional(timing, "timing")?,
            )
        };
        length.put(0);
        Ok(Taken {
            reply: reply.cast(),
            room,
            length,
            timing,
        })
    }

    /// # Safety
    /// As for `new`, and no slice of the same bytes is alive.
    pub(crate) unsafe fn take(self, reply: Reply<'_>) -> Result<(), Failure> {
        let came = reply.payload.len();
        let fits = came.min(self.room);
        if fits > 0 {
            // SAFETY: `reply` leads to at least so many bytes; the payload is in the engine's own buffer.
            unsafe {
                self.reply
                    .copy_from_nonoverlapping(reply.payload.as_ptr(), fits)
            };
        }
        self.length.put(came);
        self.timing.put(reply.timing.into());
        if fits == came {
            return Ok(());
        }
        Err(Failure::new(
            WG_ERROR_ROOM,
            format!(
                "the reply has {came} bytes, but the buffer has {}",
                self.room
            ),
        ))
    }
}

impl From<Timing> for wg_timing {
    fn from(timing: Timing) -> wg_timing {
        wg_timing {
            start_ns: timing.start_ns,
            rtt_ns: timing.rtt_ns,
            device_rx_ticks: timing.device_rx_ticks,
            device_tx_ticks: timing.device_tx_ticks,
        }
    }
}
