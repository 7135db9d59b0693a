//! Between one at a time and saturated. With d outstanding, of an exchange that takes D alone and S
//! of it in its slowest stage, the time from one to the next lies between max(D/d, S) and
//! (D + (d-1) S)/d: the asymptotic bounds (Denning and Buzen 1978, section 6) and the bound of
//! exchanges that queue at that one stage (Lazowska et al. 1984, ch. 5; Zahorjan et al. 1982).
//! ((D/d)^p + S^p (1 - d^-p))^(1/p) runs from the latter (p = 1) to the former (p without end), is D
//! at depth 1 for each p, and keeps to both bounds where S is no more than D.

/// How sharp the knee can be, the first where nothing tells. The last is as good as a corner.
pub(crate) const SHARPNESS: [f64; 6] = [4.0, 2.0, 10.0, 1.4, 64.0, 1.0];

/// Time from one to the next, and what each of D and S contributes: `time = by_alone * D +
/// by_slowest * S`, for the function is homogeneous (Euler), and these are its slopes, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knee {
    pub(crate) time: f64,
    pub(crate) by_alone: f64,
    pub(crate) by_slowest: f64,
}

pub(crate) fn knee(alone: f64, slowest: f64, depth: u32, sharpness: f64) -> Knee {
    let depth = f64::from(depth.max(1));
    let part = (1.0 - depth.powf(-sharpness)).powf(1.0 / sharpness);
    let (u, v) = (alone / depth, slowest * part);
    let most = u.max(v);
    if most <= 0.0 {
        return Knee {
            time: 0.0,
            by_alone: 1.0 / depth,
            by_slowest: 0.0,
        };
    }
    let sum = (u / most).powf(sharpness) + (v / most).powf(sharpness);
    let time = most * sum.powf(1.0 / sharpness);
    Knee {
        time,
        by_alone: (u / time).powf(sharpness - 1.0) / depth,
        by_slowest: (v / time).powf(sharpness - 1.0) * part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn at_depth_1_it_is_the_time_of_one_alone() {
        for p in SHARPNESS {
            let at = knee(100.0, 30.0, 1, p);
            assert!((at.time - 100.0).abs() < 1e-9, "p = {p}: {at:?}");
        }
    }

    proptest! {
        #[test]
        fn it_keeps_to_both_bounds_and_is_the_sum_of_its_parts(
            alone in 1.0f64..1e6,
            part in 0.0f64..=1.0,
            depth in 1u32..64,
            which in 0..SHARPNESS.len(),
        ) {
            let slowest = alone * part;
            let at = knee(alone, slowest, depth, SHARPNESS[which]);
            let d = f64::from(depth);
            let low = (alone / d).max(slowest);
            let high = (alone + (d - 1.0) * slowest) / d;
            prop_assert!(at.time >= low * (1.0 - 1e-9), "{at:?} below {low}");
            prop_assert!(at.time <= high * (1.0 + 1e-9), "{at:?} above {high}");
            let sum = at.by_alone * alone + at.by_slowest * slowest;
            prop_assert!((sum - at.time).abs() <= 1e-9 * at.time);
        }
    }
}
