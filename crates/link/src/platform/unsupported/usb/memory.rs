//! The memory for USB transfers.

use std::io;

/// The number of the error that says that the system has no memory: ERROR_NOT_ENOUGH_MEMORY.
pub const ENOMEM: u32 = 8;

/// The system has no memory for the transfers.
pub fn out_of_memory() -> io::Error {
    io::Error::new(
        io::ErrorKind::OutOfMemory,
        "not enough memory for the USB transfers; use fewer or smaller transfers",
    )
}

/// There is no limit that is known before.
pub fn check_memory(_wanted: u64) -> io::Result<()> {
    Ok(())
}
