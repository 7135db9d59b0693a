//! Random series with known truths: a seeded generator, so that every run sees the same samples.
#![allow(dead_code)]

pub mod bootstrap;
pub mod shapes;

use wiregauge_stats::Series;

/// A series of these values.
pub fn taken(values: &[u64]) -> Series {
    let mut series = Series::new();
    values.iter().for_each(|&value| series.push(value));
    series
}

/// Seeds of a table: all of them with FULL=1, as docs/statistics.md was made; otherwise a fifth, which
/// shows that the table can still be made.
pub fn seeds(all: u64) -> u64 {
    match std::env::var_os("FULL") {
        Some(_) => all,
        None => all / 5,
    }
}

/// xorshift64* (Vigna 2016), seeded through splitmix64 so that neighbouring seeds share nothing.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut z = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Random((z ^ (z >> 31)) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// In (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Box & Muller 1958.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
}

/// Scale of the log-normal marginals: the median in nanoseconds.
pub const MEDIAN: f64 = 1e6;

/// Log-normal marginals (median 1 ms, sigma 1/2) over a Gaussian autoregression of first order.
pub fn skewed_autoregression(random: &mut Random, phi: f64, n: usize) -> Vec<u64> {
    let innovation = (1.0 - phi * phi).sqrt();
    let mut x = random.normal();
    (0..n)
        .map(|_| {
            x = phi * x + innovation * random.normal();
            (MEDIAN * (0.5 * x).exp()).round() as u64
        })
        .collect()
}

/// What the marginals of `skewed_autoregression` have for mean, p50, p90, p99 and p99.9.
pub fn truths() -> [f64; 5] {
    let at = |z: f64| MEDIAN * (0.5 * z).exp();
    [
        MEDIAN * 0.125f64.exp(),
        MEDIAN,
        at(1.281_551_565_545),
        at(2.326_347_874_041),
        at(3.090_232_306_168),
    ]
}
