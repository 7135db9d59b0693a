//! The parts of a series between silences.

use super::types::{Series, Slice};

/// A silence is longer than so many usual distances of samples.
const SILENCE: u64 = 4;

impl Series {
    /// From one sample to the next in nanoseconds: the mean of each slice up to the next slice, and of those the median.
    pub(crate) fn usual_distance(&self) -> u64 {
        let apart = |pair: &[Slice]| (pair[1].at_ns - pair[0].at_ns) / pair[0].n.max(1);
        let mut distances: Vec<u64> = self.slices.windows(2).map(apart).collect();
        distances.sort_unstable();
        distances.get(distances.len() / 2).copied().unwrap_or(0)
    }

    /// The slices between silences: no line leads through a time in which nothing started.
    /// At most so many pieces: of very many silences only the longest are seen.
    pub(crate) fn pieces(&self, most: usize) -> Vec<&[Slice]> {
        let mut least_ns = self.slice_ns.max(1);
        let mut pieces = self.apart(0);
        while pieces.len() > most.max(1) {
            pieces = self.apart(least_ns);
            least_ns = least_ns.saturating_mul(2);
        }
        pieces
    }

    /// The slices between silences of at least `least_ns`.
    fn apart(&self, least_ns: u64) -> Vec<&[Slice]> {
        let usual = SILENCE.saturating_mul(self.usual_distance());
        let longest = usual.max(self.slice_ns).max(least_ns);
        self.slices
            .chunk_by(|a, b| b.at_ns - a.last_ns <= longest)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices with their first and last start and their number of samples.
    fn of(slices: &[(u64, u64, u64)]) -> Series {
        let slice = |&(at_ns, last_ns, n): &(u64, u64, u64)| Slice {
            at_ns,
            last_ns,
            n,
            min_ns: 1,
            mean_ns: 1.0,
            max_ns: 1,
        };
        Series {
            slices: slices.iter().map(slice).collect(),
            slice_ns: 10,
            ..Series::default()
        }
    }

    #[test]
    fn a_pause_behind_every_burst_is_a_silence_although_it_is_usual() {
        let bursts: Vec<_> = (0..20).map(|n| (n * 100, n * 100 + 8, 50)).collect();
        assert_eq!(of(&bursts).pieces(100).len(), 20);
        assert_eq!(of(&bursts).pieces(19).len(), 1);
        let mut uneven = bursts;
        uneven.push((9000, 9008, 50));
        assert_eq!(of(&uneven).pieces(10).len(), 2);
    }

    #[test]
    fn samples_that_are_always_far_apart_are_one_piece() {
        let slow: Vec<_> = (0..20).map(|n| (n * 100, n * 100, 1)).collect();
        assert_eq!(of(&slow).pieces(100).len(), 1);
        let mut stopped = slow;
        stopped.push((5000, 5000, 1));
        assert_eq!(of(&stopped).pieces(100).len(), 2);
    }
}
