//! This computer's memory: how much is free, and how fast it is copied.

use super::clock::Clock;
use std::hint::black_box;

pub use super::platform::{available_bytes, last_level_cache_bytes};

/// The last-level cache where the system does not tell: larger than most.
const CACHE: u64 = 64 << 20;

/// How much larger than the cache a buffer is, so that little of it is still there at the next pass.
const TIMES_CACHE: u64 = 2;

/// No buffer is larger, whatever the cache.
const MOST: u64 = 256 << 20;

/// Bytes of one call of memcpy: C libraries write larger pieces (glibc: from three quarters of the
/// cache) past the cache, which the blocks of a loop are not.
const PIECE: usize = 256 << 10;

/// The time for all passes, in nanoseconds. Laying the buffers out takes about as long again.
const TIME_NS: u64 = 100_000_000;

/// Passes at least, on a host that is so slow.
const PASSES: usize = 3;

/// How fast one thread copies from memory to memory. Bytes that were copied are counted, once: the
/// memory itself reads and writes each of them, and most processors read the place that they write to
/// before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemorySpeed {
    /// Bytes a second in the best pass: what the hardware can.
    pub best_bytes_s: f64,
    /// Bytes a second in the median pass.
    pub median_bytes_s: f64,
    /// Passes.
    pub passes: usize,
    /// Bytes of each of the two buffers.
    pub buffer_bytes: usize,
}

/// Copies a buffer far larger than the last-level cache, again and again; takes about 0.2 s and twice
/// the buffer.
pub fn memory_speed() -> MemorySpeed {
    let bytes = beyond_cache_bytes();
    // Not zero, so that every page is there before the start.
    let from = black_box(vec![0x5a_u8; bytes]);
    let mut to = black_box(vec![0xa5_u8; bytes]);
    let clock = Clock::start();
    let mut speeds = Vec::new();
    let mut begun = clock.now();
    while speeds.len() < PASSES || begun < TIME_NS {
        for (to, from) in to.chunks_mut(PIECE).zip(from.chunks(PIECE)) {
            to.copy_from_slice(from);
        }
        black_box(&mut to);
        let ended = clock.now();
        speeds.push(bytes as f64 / (ended - begun).max(1) as f64 * 1e9);
        begun = ended;
    }
    speeds.sort_by(f64::total_cmp);
    MemorySpeed {
        best_bytes_s: speeds[speeds.len() - 1],
        median_bytes_s: speeds[speeds.len() / 2],
        passes: speeds.len(),
        buffer_bytes: bytes,
    }
}

/// Bytes of a buffer that the last-level cache does not hold: twice the cache; not more than 256 MiB or
/// an eighth of the free memory.
pub fn beyond_cache_bytes() -> usize {
    let cache = last_level_cache_bytes().unwrap_or(CACHE);
    let room = available_bytes().unwrap_or(u64::MAX) / 8;
    let bytes = (cache * TIMES_CACHE).min(MOST).min(room);
    // A whole number of pages of any size in use, and never none.
    (bytes as usize).next_multiple_of(64 << 10).max(64 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_copied_at_a_speed_that_memory_can_have() {
        let speed = memory_speed();
        assert!(speed.passes >= PASSES);
        assert!(speed.median_bytes_s <= speed.best_bytes_s);
        // From a small board in a hurry to more than any processor's one core has.
        assert!((1e7..1e13).contains(&speed.best_bytes_s), "{speed:?}");
        assert!(speed.buffer_bytes as u64 <= MOST);
    }
}
