//! How much is kept of each point.

/// How much is kept of each point: less, the more points there are, so that a page of a hundred
/// stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Slices of time.
    pub(crate) slices: usize,
    /// Longest samples.
    pub(crate) longest: usize,
    /// Up to this many samples are kept individually; of more, none is.
    pub(crate) each: usize,
    /// Bad ones of each status.
    pub(crate) bad: usize,
}

impl Room {
    /// For each of so many points.
    pub(crate) fn for_points(points: usize) -> Room {
        let points = points.max(1);
        Room {
            slices: (18_000 / points).clamp(24, 400),
            each: (36_000 / points).clamp(48, 2000),
            longest: (3000 / points).clamp(6, 100),
            bad: (6000 / points).clamp(24, 400),
        }
    }
}
