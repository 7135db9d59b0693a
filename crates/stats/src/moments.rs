//! Mean, SD and extremes of a stream in constant memory and one pass.
//! Welford 1962, "Note on a method for calculating corrected sums of squares and products".

/// Costs one division a value; holds no values but the three largest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    n: u64,
    mean: f64,
    squares: f64,
    min: u64,
    /// Descending; only the first `n` of them mean anything.
    largest: [u64; 3],
}

impl Moments {
    pub(crate) fn push(&mut self, value: u64) {
        self.min = if self.n == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.n += 1;
        let x = value as f64;
        let before = x - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (x - self.mean);
        if value > self.largest[2] {
            self.largest[2] = value;
            self.largest.sort_unstable_by(|a, b| b.cmp(a));
        }
    }

    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// With n - 1; 0 for fewer than two values.
    pub(crate) fn sd(&self) -> f64 {
        if self.n < 2 {
            0.0
        } else {
            (self.squares / (self.n - 1) as f64).sqrt()
        }
    }

    pub(crate) fn min(&self) -> u64 {
        self.min
    }

    pub(crate) fn max(&self) -> u64 {
        self.largest[0]
    }

    /// Third-largest; with fewer than three values the smallest.
    pub(crate) fn max3(&self) -> u64 {
        if self.n < 3 {
            self.min
        } else {
            self.largest[2]
        }
    }
}
