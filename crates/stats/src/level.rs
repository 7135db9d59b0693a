//! How full a device's buffer is at a constant rate, completion by completion: no more than that,
//! so that one pass over a long run can follow many rates at once.

/// Byte-nanoseconds a second in one byte.
pub(crate) const BYTE: u128 = 1_000_000_000;

/// A source that keeps a rate by its own crystal may be slower by this part of it (100 ppm).
const CLOCKS_DIFFER: u128 = 10_000;

/// The level of the buffer of a device at a constant rate, through the completions of one way of a
/// stream in time order, and the worst of it.
///
/// IN: the device makes R bytes a second and every completed transfer takes b of them away. OUT: it
/// uses R bytes a second up and every completed transfer brings b; what is followed then is the
/// room, that is, how far the level has sunk below a full buffer, which obeys the same equation.
///
/// Just before completion i the level is P = L + R (t_i - t_(i-1)), after it L = max(0, P - b)
/// (Lindley 1952). A buffer of the largest P loses nothing.
#[derive(Clone, Debug)]
pub struct Level {
    rate_bytes_s: u64,
    begin_ns: u64,
    /// The completion before.
    last_ns: Option<u64>,
    /// All of the following in units of 1e-9 bytes, which makes them exact.
    level: u128,
    worst: u128,
    drained: u128,
    /// The largest transfer.
    largest: u128,
}

impl Level {
    /// An empty buffer at this rate.
    pub fn new(rate_bytes_s: u64) -> Level {
        Level {
            rate_bytes_s,
            begin_ns: 0,
            last_ns: None,
            level: 0,
            worst: 0,
            drained: 0,
            largest: 0,
        }
    }

    /// The rate.
    pub fn rate_bytes_s(&self) -> u64 {
        self.rate_bytes_s
    }

    /// Begins at a completion that left the buffer empty.
    pub fn begin(&mut self, at_ns: u64) {
        *self = Level::new(self.rate_bytes_s);
        self.begin_ns = at_ns;
        self.last_ns = Some(at_ns);
    }

    /// A completed transfer of so many bytes; gives the level that it found, in 1e-9 bytes. The
    /// first one begins, if nothing has.
    pub fn complete(&mut self, at_ns: u64, bytes: u64) -> Option<u128> {
        if self.last_ns.is_none() {
            self.begin(at_ns);
            return None;
        }
        self.wait(at_ns);
        let found = self.level;
        let bytes = u128::from(bytes) * BYTE;
        self.drained += bytes;
        self.largest = self.largest.max(bytes);
        self.level = self.level.saturating_sub(bytes);
        Some(found)
    }

    /// Time passes without a completion.
    pub fn wait(&mut self, until_ns: u64) {
        if let Some(last_ns) = self.last_ns {
            let gap = until_ns.saturating_sub(last_ns);
            self.level = self.level.saturating_add(self.made_in(gap));
            self.worst = self.worst.max(self.level);
            self.last_ns = Some(last_ns.max(until_ns));
        }
    }

    /// False if the completed transfers carried less than the rate, by more than one transfer and by more than two clocks
    /// differ: the level then grows without bound, and no buffer is large enough for a longer run.
    pub fn is_sustained(&self) -> bool {
        let elapsed_ns = self.last_ns.unwrap_or(0) - self.begin_ns;
        let made = self.made_in(elapsed_ns);
        made <= self.drained + self.largest + made / CLOCKS_DIFFER
    }

    /// True if the buffer is empty now.
    pub fn is_empty(&self) -> bool {
        self.level == 0
    }

    /// The level now, in bytes.
    pub fn level_bytes(&self) -> f64 {
        self.level as f64 / BYTE as f64
    }

    /// The highest level, in bytes.
    pub fn worst_bytes(&self) -> f64 {
        self.worst as f64 / BYTE as f64
    }

    /// The highest level, rounded up to whole bytes.
    pub fn worst_bytes_up(&self) -> u64 {
        u64::try_from(self.worst.div_ceil(BYTE)).unwrap_or(u64::MAX)
    }

    /// What the rate makes in so many nanoseconds, in 1e-9 bytes.
    fn made_in(&self, ns: u64) -> u128 {
        u128::from(self.rate_bytes_s).saturating_mul(u128::from(ns))
    }
}
