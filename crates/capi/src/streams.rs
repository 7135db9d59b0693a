//! Data that flows without waiting for answers.

use crate::device::{self, wg_device};
use crate::pointers::{Place, bytes, bytes_mut};
use std::ffi::c_void;
use wiregauge_link::LinkError;

/// Receives a stream into `into`, in transfers of `transfer_bytes`, `queue` of them pending (more than 1:
/// USB only). With the wiregauge protocol the device gets a start and an end command and sends its own
/// data; otherwise bytes are read as they arrive. `came` (optional) receives the number of bytes, also on
/// error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_read_stream(
    device: *mut wg_device,
    into: *mut c_void,
    bytes: usize,
    transfer_bytes: usize,
    queue: usize,
    came: *mut usize,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        let (came, into) = unsafe {
            let came = Place::optional(came, "came")?;
            came.put(0);
            (came, bytes_mut(into, bytes, "into")?)
        };
        printed(came, held.device.read_stream(into, transfer_bytes, queue))
    })
}

/// Sends all of `from` in the same way. `taken` (optional) receives the number of bytes sent, also on
/// error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_write_stream(
    device: *mut wg_device,
    from: *const c_void,
    bytes: usize,
    transfer_bytes: usize,
    queue: usize,
    taken: *mut usize,
) -> i32 {
    device::with(device, |held| {
        // SAFETY: the caller's pointers are as the header says.
        let (taken, from) = unsafe {
            let taken = Place::optional(taken, "taken")?;
            taken.put(0);
            (taken, self::bytes(from, bytes, "from")?)
        };
        printed(taken, held.device.write_stream(from, transfer_bytes, queue))
    })
}

fn printed(
    place: Place<usize>,
    done: Result<usize, (usize, LinkError)>,
) -> Result<(), crate::failure::Failure> {
    match done {
        Ok(bytes) => {
            place.put(bytes);
            Ok(())
        }
        Err((bytes, error)) => {
            place.put(bytes);
            Err(error.into())
        }
    }
}
