//! Where and when each block of a virtual device is, and what is in it: the same in all its modes.

use wiregauge_record::{LoopPoint, SAMPLE_BYTES};

/// Samples of 16 bits that hold the number of a block.
pub(crate) const NUMBER: usize = 4;

/// Amplitude of the noise in the input: far enough from full scale that a filter does not clip.
const NOISE_BITS: u32 = 14;

/// Where and when each block is.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// Samples (of all channels) of a block, of each ring, of the preload.
    pub(crate) block: usize,
    pub(crate) ring: usize,
    preload: usize,
    period_ns: f64,
    preload_ns: f64,
    /// The time in which the input fills its ring once.
    ring_ns: f64,
}

impl Places {
    pub(crate) fn of(point: &LoopPoint) -> Places {
        let samples = Places::samples;
        Places {
            block: samples(point.notify_bytes.into()),
            ring: samples(point.ring_bytes),
            preload: samples(point.preload_bytes),
            period_ns: point.period_ns(),
            preload_ns: point.preload_ns(),
            ring_ns: point.time_ns(point.ring_bytes),
        }
    }

    /// Samples in so many bytes.
    pub(crate) fn samples(bytes: u64) -> usize {
        (bytes / u64::from(SAMPLE_BYTES)) as usize
    }

    /// When block `k` begins to come in.
    pub(crate) fn begins_ns(&self, k: u64) -> u64 {
        (k as f64 * self.period_ns) as u64
    }

    /// Blocks that have begun to come in by then.
    pub(super) fn begun_by(&self, now_ns: u64) -> u64 {
        (now_ns as f64 / self.period_ns) as u64 + 1
    }

    /// When block `k` has come in whole.
    pub(crate) fn due_ns(&self, k: u64) -> u64 {
        self.begins_ns(k + 1)
    }

    /// When the output needs block `k`: right behind the preload.
    pub(crate) fn played_ns(&self, k: u64) -> u64 {
        (k as f64 * self.period_ns + self.preload_ns) as u64
    }

    /// When the input begins to overwrite block `k`.
    pub(crate) fn overwritten_ns(&self, k: u64) -> u64 {
        (k as f64 * self.period_ns + self.ring_ns) as u64
    }

    /// Blocks of a ring.
    pub(crate) fn ring_blocks(&self) -> u64 {
        (self.ring / self.block) as u64
    }

    /// Blocks of the preload.
    pub(crate) fn preload_blocks(&self) -> u64 {
        (self.preload / self.block) as u64
    }

    /// Where block `k` begins in the input ring.
    pub(crate) fn input(&self, k: u64) -> usize {
        (k % self.ring_blocks()) as usize * self.block
    }

    /// Where the output of block `k` begins in the output ring. Ring and preload are whole blocks,
    /// so it never wraps.
    pub(crate) fn output(&self, k: u64) -> usize {
        (self.input(k) + self.preload) % self.ring
    }
}

/// The number of a block as samples, the low bits first.
pub(crate) fn number(k: u64) -> [i16; NUMBER] {
    std::array::from_fn(|at| (k >> (16 * at)) as i16)
}

/// Writes its number into a block that comes in.
pub(crate) fn write_number(k: u64, block: &mut [i16]) {
    let coded = block.len().min(NUMBER);
    block[..coded].copy_from_slice(&number(k)[..coded]);
}

/// True if a block that is played has this number.
pub(crate) fn has_number(k: u64, block: &[i16]) -> bool {
    let coded = block.len().min(NUMBER);
    block[..coded] == number(k)[..coded]
}

/// Noise that looks the same on every run, and nowhere like itself a little further on.
pub(crate) fn noise(samples: &mut [i16]) {
    let mut random = fastrand::Rng::with_seed(1);
    for sample in samples {
        let bits = random.u32(..) >> (32 - NOISE_BITS);
        *sample = bits as i16 - (1 << (NOISE_BITS - 1));
    }
}

/// What comes in where the samples are really moved: noise that is another in every block.
pub(super) struct Source {
    noise: Vec<i16>,
}

impl Source {
    /// Samples before it begins again, in other received: it stays in a processor's own cache, so that
    /// the device takes as little from the memory as a card's DMA does.
    const LENGTH: usize = 1 << 14;

    pub(super) fn new() -> Source {
        let mut noise = vec![0; Source::LENGTH];
        self::noise(&mut noise);
        Source { noise }
    }

    /// Block `k` as it comes in.
    pub(super) fn write(&self, k: u64, block: &mut [i16]) {
        for (part, samples) in (0..).zip(block.chunks_mut(Source::LENGTH)) {
            // Knuth's multiplicative hash of block and part, below the sign bits of the noise: its
            // amplitude stays.
            let salt = (k ^ (part << 40)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (65 - NOISE_BITS);
            let salt = salt as i16;
            for (sample, noise) in samples.iter_mut().zip(&self.noise) {
                *sample = noise ^ salt;
            }
        }
        write_number(k, block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_that_comes_in_is_other_noise_of_the_same_amplitude() {
        let source = Source::new();
        let block_of = |k| {
            let mut block = vec![0; Source::LENGTH + 100];
            source.write(k, &mut block);
            block
        };
        let (one, other) = (block_of(1), block_of(2));
        assert!(has_number(1, &one) && has_number(2, &other) && !has_number(2, &one));
        let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(same < 100, "{same}");
        let bound = 1 << (NOISE_BITS - 1);
        assert!(one[NUMBER..].iter().all(|s| (-bound..bound).contains(s)));
        // It does not begin again within a block.
        assert_ne!(one[NUMBER..100], one[Source::LENGTH + NUMBER..][..96]);
    }
}
