//! The memory that the kernel lets all USB transfers have together.

use super::sysfs;
use std::io;

/// The number of the error that says that the system has no memory.
pub const ENOMEM: u32 = 12;

/// The system has no memory for the transfers.
pub fn out_of_memory() -> io::Error {
    no_memory(sysfs::usbfs_memory_mb())
}

fn no_memory(limit_mb: Option<u64>) -> io::Error {
    let limit = match limit_mb {
        Some(0) | None => String::new(),
        Some(mb) => format!(" (limit for all USB programs together: {mb} MB)"),
    };
    io::Error::new(
        io::ErrorKind::OutOfMemory,
        format!(
            "not enough memory for the USB transfers{limit}; use fewer or smaller transfers, or as root: echo \
             256 > /sys/module/usbcore/parameters/usbfs_memory_mb"
        ),
    )
}

/// Refuses what can never fit, before anything is submitted.
pub fn check_memory(wanted: u64) -> io::Result<()> {
    check_memory_against(wanted, sysfs::usbfs_memory_mb())
}

fn check_memory_against(wanted: u64, limit_mb: Option<u64>) -> io::Result<()> {
    match limit_mb {
        Some(mb) if mb > 0 && wanted > mb << 20 => Err(io::Error::new(
            io::ErrorKind::OutOfMemory,
            format!(
                "{} MB of USB transfers at once exceed the limit of {mb} MB for all USB programs together; use \
                 fewer or smaller transfers, or as root: echo {} > \
                 /sys/module/usbcore/parameters/usbfs_memory_mb",
                wanted.div_ceil(1 << 20),
                (2 * wanted.div_ceil(1 << 20)).next_power_of_two()
            ),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_that_can_never_fit_are_refused_with_the_way_to_raise_the_limit() {
        assert!(check_memory_against(16 << 20, Some(16)).is_ok());
        assert!(check_memory_against(1 << 40, Some(0)).is_ok());
        assert!(check_memory_against(1 << 40, None).is_ok());
        let text = check_memory_against((16 << 20) + 1, Some(16))
            .unwrap_err()
            .to_string();
        let holds = text.contains("17 MB") && text.contains("echo 64 >");
        assert!(holds, "{text}");
        assert!(no_memory(Some(16)).to_string().contains("16 MB"));
    }
}
