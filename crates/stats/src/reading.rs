//! A series read out figure by figure, each at the confidence that is asked for.

use crate::distribution::{Samples, mean, percentile, rare_share_below};
use crate::interval::rank;
use crate::types::{Confidence, Estimate};

/// The samples of a [`Series`](crate::Series), at least one, put in order once.
pub struct Reading<'a> {
    samples: Box<dyn Samples + 'a>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(samples: Box<dyn Samples + 'a>) -> Reading<'a> {
        Reading { samples }
    }

    /// Number of samples.
    pub fn n(&self) -> u64 {
        self.samples.n()
    }

    /// The mean.
    pub fn mean(&self, confidence: Confidence) -> Estimate {
        mean(&*self.samples, confidence)
    }

    /// The nearest-rank percentile; `p` from 0 to 1.
    pub fn percentile(&self, p: f64, confidence: Confidence) -> Estimate {
        percentile(&*self.samples, p, confidence)
    }

    /// How many values are worth one independent one where the series is asked which of them are
    /// among this share of all, the largest.
    pub(crate) fn together_at(&self, share: f64) -> f64 {
        self.samples.dependence_at(self.rank_of(share)).tau
    }

    /// Whether stretches of the series hold this share of the largest more or less often than chance
    /// explains.
    pub(crate) fn wanders_at(&self, share: f64) -> bool {
        self.samples.wander_at(self.rank_of(share)).is_some()
    }

    fn rank_of(&self, share: f64) -> u64 {
        rank(self.n(), (1.0 - share).clamp(0.0, 1.0))
    }

    /// The share strictly below `limit`, which may be rare, where at least `together` of these values are
    /// one event.
    pub(crate) fn rare_share_below(
        &self,
        limit: u64,
        together: f64,
        confidence: Confidence,
    ) -> Estimate {
        rare_share_below(&*self.samples, limit, together, confidence)
    }
}
