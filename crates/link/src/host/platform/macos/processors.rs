//! How many processors there are; never run on macOS.

/// Processors that are online.
pub fn processors() -> u32 {
    // SAFETY: sysconf takes a number and touches no memory of ours.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    u32::try_from(online).unwrap_or(1).max(1)
}
