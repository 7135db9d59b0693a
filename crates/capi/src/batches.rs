//! Many exchanges in one call, several outstanding: what spares a script both the waiting and its own slowness.

use crate::device::{self, Held, wg_device, wg_timing};
use crate::failure::Failure;
use crate::pointers::{Place, Span, apart, bytes, bytes_mut, items, items_mut};
use std::ffi::c_void;
use std::mem::offset_of;
use wiregauge_device::{Replies, Requests, Timing};

// The rows of C and those of the engine are the same rows.
const _: () = {
    assert!(size_of::<wg_timing>() == size_of::<Timing>());
    assert!(align_of::<wg_timing>() == align_of::<Timing>());
    assert!(offset_of!(wg_timing, start_ns) == offset_of!(Timing, start_ns));
    assert!(offset_of!(wg_timing, rtt_ns) == offset_of!(Timing, rtt_ns));
    assert!(offset_of!(wg_timing, device_rx_ticks) == offset_of!(Timing, device_rx_ticks));
    assert!(offset_of!(wg_timing, device_tx_ticks) == offset_of!(Timing, device_tx_ticks));
};

/// Exchanges `count` requests of the same size, `depth` of them outstanding at once.
///
/// `requests` is a matrix of `count` rows of `request_bytes`. `replies` becomes one of `count` rows of
/// `row_bytes`: row n is the reply to request n. The row size is the requested size of a reply (wiregauge
/// protocol, wg_options_raw); with other framings it is the maximum. `lengths` (optional, `count` items)
/// receives the size of each reply, `timings` (optional, `count` items) its times. The buffers must not
/// overlap. `answered` (optional) receives the number of replies: all, or on error those before the failed
/// one, whose rows are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_exchange_many(
    device: *mut wg_device,
    requests: *const c_void,
    count: usize,
    request_bytes: usize,
    replies: *mut c_void,
    row_bytes: usize,
    lengths: *mut usize,
    timings: *mut wg_timing,
    depth: u32,
    answered: *mut usize,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        unsafe {
            let answered = Place::optional(answered, "answered")?;
            answered.put(0);
            let total = product(count, request_bytes)?;
            // Taken out for the call, because the device is used beside it.
            let mut ends = std::mem::take(&mut held.ends);
            ends.clear();
            room_for(&mut ends, count)?;
            ends.extend((1..=count).map(|row| row * request_bytes));
            let into = Rows {
                count,
                replies,
                row_bytes,
                lengths,
                timings,
            };
            let done = into.exchange(held, (requests, total), &ends, depth, answered);
            held.ends = ends;
            done
        }
    })
}

/// The same for requests of different sizes: they are concatenated in `requests`, and `ends[n]` (`count`
/// items) is the end of request n; the first begins at 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_exchange_packed(
    device: *mut wg_device,
    requests: *const c_void,
    ends: *const usize,
    count: usize,
    replies: *mut c_void,
    row_bytes: usize,
    lengths: *mut usize,
    timings: *mut wg_timing,
    depth: u32,
    answered: *mut usize,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        unsafe {
            let answered = Place::optional(answered, "answered")?;
            answered.put(0);
            let ends = items(ends, count, "ends")?;
            if !ends.is_sorted() {
                return Err(Failure::argument("`ends` is not ascending"));
            }
            let total = ends.last().copied().unwrap_or(0);
            let into = Rows {
                count,
                replies,
                row_bytes,
                lengths,
                timings,
            };
            into.exchange(held, (requests, total), ends, depth, answered)
        }
    })
}

/// Where the replies of a batch go, as C gives it.
struct Rows {
    count: usize,
    replies: *mut c_void,
    row_bytes: usize,
    lengths: *mut usize,
    timings: *mut wg_timing,
}

impl Rows {
    /// # Safety
    /// The pointers are as the header says.
    unsafe fn exchange(
        self,
        held: &mut Held,
        (requests, total): (*const c_void, usize),
        ends: &[usize],
        depth: u32,
        answered: Place<usize>,
    ) -> Result<(), Failure> {
        let count = self.count;
        let room = product(count, self.row_bytes)?;
        let of_lengths = if self.lengths.is_null() { 0 } else { count };
        let of_timings = if self.timings.is_null() { 0 } else { count };
        apart(&[
            Span::read(requests, total, "requests"),
            Span::read(ends.as_ptr(), size_of_val(ends), "ends"),
            Span::written(self.replies, room, "replies"),
            Span::written(
                self.lengths,
                product(of_lengths, size_of::<usize>())?,
                "lengths",
            ),
            Span::written(
                self.timings,
                product(of_timings, size_of::<Timing>())?,
                "timings",
            ),
        ])?;
        // SAFETY: as the caller promises, and no two of them share bytes. A row of timings is four integers on either
        // side, as was checked above.
        let (requests, replies, lengths, timings) = unsafe {
            (
                bytes(requests, total, "requests")?,
                bytes_mut(self.replies, room, "replies")?,
                items_mut(self.lengths, of_lengths, "lengths")?,
                items_mut(self.timings.cast::<Timing>(), of_timings, "timings")?,
            )
        };
        let lengths = match self.lengths.is_null() {
            true => {
                held.lengths.clear();
                room_for(&mut held.lengths, count)?;
                held.lengths.resize(count, 0);
                &mut held.lengths[..]
            }
            false => lengths,
        };
        lengths.fill(0);
        let requests = Requests {
            bytes: requests,
            ends,
        };
        let replies = Replies {
            bytes: replies,
            row_bytes: self.row_bytes,
            lengths,
            timings,
        };
        match held.device.exchange_many(requests, replies, depth) {
            Ok(()) => {
                answered.put(count);
                Ok(())
            }
            Err((whole, error)) => {
                answered.put(whole);
                Err(error.into())
            }
        }
    }
}

/// Without it, a count that no memory holds would end the process.
fn room_for(rows: &mut Vec<usize>, count: usize) -> Result<(), Failure> {
    rows.try_reserve(count)
        .map_err(|error| Failure::argument(format!("{count} rows: {error}")))
}

fn product(count: usize, bytes: usize) -> Result<usize, Failure> {
    count.checked_mul(bytes).ok_or_else(|| {
        Failure::argument(format!(
            "{count} rows of {bytes} bytes exceed the address space"
        ))
    })
}
