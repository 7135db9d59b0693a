//! This computer's memory; never run on macOS.

use super::state::number;

/// None: what macOS could free for a program it does not say.
pub fn available_bytes() -> Option<u64> {
    None
}

/// Size of the largest cache, if the system tells.
pub fn last_level_cache_bytes() -> Option<u64> {
    [c"hw.l3cachesize", c"hw.l2cachesize"]
        .into_iter()
        .filter_map(number)
        .find(|&bytes| bytes > 0)
}
