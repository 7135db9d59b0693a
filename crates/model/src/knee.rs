//! Between one at a time and saturated. With d outstanding, of an exchange that takes D alone and S
//! of it in its slowest stage, the time from one to the next lies between max(D/d, S) and
//! (D + (d-1) S)/d: the asymptotic bounds (Denning and Buzen 1978, section 6) and the bound of
//! exchanges that queue at that one stage (Lazowska et al. 1984, ch. 5; Zahorjan et al. 1982).
//! ((D/d)^p + S^p (1 - d^-p))^(1/p) runs from the latter (p = 1) to the former (p without end), is D
//! at depth 1 for each p, and keeps to both bounds where S is no more than D.
//!
//! Where what is fixed (a device's computing) and what bytes cost (the wire) are two stages that work
//! at once, S is the larger of the two; with the same p, (s^p + b^p)^(1/p).

/// How sharp the knee can be, the first where nothing tells. The last is as good as a corner.
pub(crate) const SHARPNESS: [f64; 6] = [4.0, 2.0, 10.0, 1.4, 64.0, 1.0];

/// Time from one to the next, and what D and the two parts of S contribute: `time = by_alone * D +
/// by_fixed * s + by_bytes * b`, for the function is homogeneous (Euler), and these are its slopes, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knee {
    pub(crate) time: f64,
    pub(crate) by_alone: f64,
    pub(crate) by_fixed: f64,
    pub(crate) by_bytes: f64,
}

/// Of the slowest stage, what is fixed and what its bytes cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Slowest {
    /// One after the other in one stage.
    Sum(f64, f64),
    /// At once, in two stages.
    Overlap(f64, f64),
}

impl Slowest {
    pub(crate) fn time(self, sharpness: f64) -> f64 {
        match self {
            Slowest::Sum(fixed, bytes) => fixed + bytes,
            Slowest::Overlap(fixed, bytes) => {
                let most = fixed.max(bytes);
                if most <= 0.0 {
                    return 0.0;
                }
                let sum = (fixed / most).powf(sharpness) + (bytes / most).powf(sharpness);
                most * sum.powf(1.0 / sharpness)
            }
        }
    }
}

pub(crate) fn knee(alone: f64, slowest: Slowest, depth: u32, sharpness: f64) -> Knee {
    let depth = f64::from(depth.max(1));
    let part = (1.0 - depth.powf(-sharpness)).powf(1.0 / sharpness);
    let u = alone / depth;
    let (v, w) = match slowest {
        Slowest::Sum(fixed, bytes) => ((fixed + bytes) * part, 0.0),
        Slowest::Overlap(fixed, bytes) => (fixed * part, bytes * part),
    };
    let most = u.max(v).max(w);
    if most <= 0.0 {
        return Knee {
            time: 0.0,
            by_alone: 1.0 / depth,
            by_fixed: 0.0,
            by_bytes: 0.0,
        };
    }
    let sum: f64 = [u, v, w].iter().map(|t| (t / most).powf(sharpness)).sum();
    let time = most * sum.powf(1.0 / sharpness);
    let slope = |term: f64| (term / time).powf(sharpness - 1.0);
    let by_fixed = slope(v) * part;
    Knee {
        time,
        by_alone: slope(u) / depth,
        by_fixed,
        by_bytes: match slowest {
            Slowest::Sum(..) => by_fixed,
            Slowest::Overlap(..) => slope(w) * part,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_keeps_to_both_bounds_and_is_the_sum_of_its_parts(
            alone in 1.0f64..1e6,
            part in 0.0f64..=1.0,
            split in 0.0f64..=1.0,
            overlap: bool,
            depth in 1u32..64,
            which in 0..SHARPNESS.len(),
        ) {
            let (fixed, bytes) = (alone * part * split, alone * part * (1.0 - split));
            let p = SHARPNESS[which];
            let slowest = if overlap {
                Slowest::Overlap(fixed, bytes)
            } else {
                Slowest::Sum(fixed, bytes)
            };
            let at = knee(alone, slowest, depth, p);
            let d = f64::from(depth);
            let low = (alone / d).max(slowest.time(p));
            let high = (alone + (d - 1.0) * slowest.time(p)) / d;
            prop_assert!(at.time >= low * (1.0 - 1e-9), "{at:?} below {low}");
            prop_assert!(at.time <= high * (1.0 + 1e-9), "{at:?} above {high}");
            let sum = at.by_alone * alone + at.by_fixed * fixed + at.by_bytes * bytes;
            prop_assert!((sum - at.time).abs() <= 1e-9 * at.time);
        }
    }
}
