//! The fixed cost of a transfer against its cost a byte, from points that differ in size alone.

use crate::show;
use serde::Serialize;
use std::fmt;
use wiregauge_record::{Direction, Way};

/// A line through two points always fits; so at least so many sizes are asked for.
pub const MIN_SIZES: usize = 3;

/// A fit that is further off than this at some size is no law of the device, and is said to be none.
const STRAIGHT: f64 = 0.25;

/// Time a transfer = `fixed_ns` + `ns_per_byte` * bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// What flowed at these points.
    pub direction: Direction,
    /// Which way of it.
    pub way: Way,
    /// Transfers asked to be pending.
    pub queue: u32,
    /// Which link of the plan.
    pub link: u32,
    /// Whether the other links streamed at the same time.
    pub together: bool,
    /// Sizes that went into it.
    pub sizes: u32,
    /// Cost of a transfer of no bytes, in nanoseconds.
    pub fixed_ns: f64,
    /// Cost of a byte, in nanoseconds.
    pub ns_per_byte: f64,
    /// The largest relative distance of a point from the line.
    pub worst: f64,
    /// Bytes of the transfer at which it is that far off.
    pub worst_bytes: f64,
}

impl Cost {
    /// False if no straight line describes these points; then the two costs mean little.
    pub fn is_straight(&self) -> bool {
        self.worst <= STRAIGHT
    }
}

/// A straight line with the smallest sum of squared relative distances: the error of a time grows
/// with the time, and a 64 KiB transfer shall not drown a 64 B one. Returns fixed cost and slope;
/// `None` with fewer than [`MIN_SIZES`] different sizes.
pub(crate) fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let mut sizes: Vec<f64> = points.iter().map(|p| p.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < MIN_SIZES || points.iter().any(|p| p.1 <= 0.0) {
        return None;
    }
    // Normal equations of the weighted fit, with weight 1/y².
    let (mut w, mut wx, mut wxx, mut wy, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for &(x, y) in points {
        let weight = 1.0 / (y * y);
        w += weight;
        wx += weight * x;
        wxx += weight * x * x;
        wy += weight * y;
        wxy += weight * x * y;
    }
    let determinant = w * wxx - wx * wx;
    (determinant > 0.0).then(|| {
        let slope = (w * wxy - wx * wy) / determinant;
        ((wy - slope * wx) / w, slope)
    })
}

/// Where the line is furthest off, relatively: how far, and at how many bytes.
pub(crate) fn worst(points: &[(f64, f64)], (fixed, slope): (f64, f64)) -> (f64, f64) {
    let off = |&(x, y): &(f64, f64)| ((fixed + slope * x - y).abs() / y, x);
    let all = points.iter().map(off);
    all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0.0))
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fixed, slope) = (self.fixed_ns, self.ns_per_byte);
        let off = format!(
            "over {} sizes; off by at most {}, at {:.0} B",
            self.sizes,
            show::percent(self.worst),
            self.worst_bytes
        );
        if !self.is_straight() {
            return write!(
                f,
                "no straight line fits the time a transfer ({off}): something changes with the size"
            );
        }
        if slope <= 0.0 {
            return write!(
                f,
                "{} a transfer whatever its size ({off}): larger transfers cost nothing more",
                show::time(fixed)
            );
        }
        write!(
            f,
            "{} fixed + {slope:.2} ns a byte ({}) ({off})",
            show::time(fixed.max(0.0)),
            show::rate(1e9 / slope)
        )?;
        if fixed > 0.0 {
            let half = fixed / slope;
            write!(f, "; at {half:.0} B half of the time is the fixed cost")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_found_again() {
        let points = [64.0, 512.0, 4096.0, 65536.0].map(|x| (x, 148_000.0 + 6.1 * x));
        let (fixed, slope) = line(&points).unwrap();
        assert!((fixed - 148_000.0).abs() < 1.0, "{fixed}");
        assert!((slope - 6.1).abs() < 1e-3, "{slope}");
        assert!(worst(&points, (fixed, slope)).0 < 1e-6);
    }

    #[test]
    fn a_large_transfer_does_not_drown_the_small_ones() {
        // 10 % too long at 64 KiB, where an unweighted fit would bend the line at 64 B to suit.
        let mut points = [64.0, 128.0, 256.0, 512.0, 65536.0].map(|x| (x, 10_000.0 + 2.0 * x));
        points[4].1 *= 1.1;
        let (fixed, _) = line(&points).unwrap();
        assert!((fixed - 10_000.0).abs() < 100.0, "{fixed}");
    }

    #[test]
    fn the_published_ladder_of_a_musb_device_gives_the_gap_that_its_analyzer_saw() {
        // Ott, ELCE 2014: asynchronous IN on a BeagleBone Black, 15, 82 and 211 Mbit/s. His analyzer
        // lost 39 us between two transfers and 6.6 us between two packets of one: 32.4 us more.
        let points = [(64.0, 15e6), (512.0, 82e6), (65536.0, 211e6)]
            .map(|(bytes, bits_s)| (bytes, bytes * 8.0 / bits_s * 1e9));
        let fit = line(&points).unwrap();
        assert!((30_000.0..34_000.0).contains(&fit.0), "{fit:?}");
        assert!(worst(&points, fit).0 < 0.05, "{fit:?}");
    }

    #[test]
    fn two_sizes_make_no_fit_however_often_they_were_measured() {
        assert_eq!(line(&[(64.0, 1.0), (512.0, 2.0), (512.0, 2.1)]), None);
    }

    #[test]
    fn what_is_no_straight_line_is_said_to_be_none() {
        // Full-speed packets: time goes by whole frames of 1 ms.
        let points = [(64.0, 1e6), (1216.0, 1e6), (1217.0, 2e6), (2433.0, 3e6)];
        let fit = line(&points).unwrap();
        let (off, at) = worst(&points, fit);
        let cost = Cost {
            direction: Direction::In,
            way: Way::In,
            queue: 1,
            link: 0,
            together: false,
            sizes: 4,
            fixed_ns: fit.0,
            ns_per_byte: fit.1,
            worst: off,
            worst_bytes: at,
        };
        assert!(!cost.is_straight(), "{off}");
        assert!(cost.to_string().contains("no straight line"), "{cost}");
    }
}
