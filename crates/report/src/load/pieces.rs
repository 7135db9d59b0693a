//! The parts of a series between silences.

use super::types::{Series, Slice};

/// Slices more than this many times further apart than usual have a silence between them.
const SILENCE: u64 = 4;

impl Series {
    /// From one slice to the next, the median.
    pub(crate) fn usual_distance(&self) -> u64 {
        let apart = |pair: &[Slice]| pair[1].at_ns - pair[0].at_ns;
        let mut distances: Vec<u64> = self.slices.windows(2).map(apart).collect();
        distances.sort_unstable();
        distances.get(distances.len() / 2).copied().unwrap_or(0)
    }

    /// The slices between silences: no line leads through a time in which no exchange that was answered
    /// was under way.
    pub(crate) fn pieces(&self) -> Vec<&[Slice]> {
        let usual = self.usual_distance();
        self.slices
            .chunk_by(|a, b| {
                let quiet = SILENCE
                    .saturating_mul(usual)
                    .max(a.max_ns.saturating_mul(2));
                b.at_ns - a.at_ns <= quiet
            })
            .collect()
    }
}
