//! How seldom a limit is exceeded that was exceeded seldom or never: the tail of what was measured,
//! continued by a generalised Pareto distribution, or the reason why it cannot be.
//! docs/deadline.md has the method, its sources and how often its intervals held.

use crate::clusters;
use crate::no_tail::NoTail;
use crate::pareto::Pareto;
use crate::reading::Reading;
use crate::series::Series;
use crate::tail::{Peaks, Tail};
use crate::tested_fit::{FEWEST, REACH, THRESHOLDS, tested_fit};
use crate::types::Confidence;
use serde::Serialize;

/// A tenth of all values is fitted, but no more than the first of these where they are worth enough
/// independent ones, and no more than the second in any case.
const FITTED: usize = 1000;
const MOST_FITTED: usize = 4000;
const ENOUGH: f64 = 150.0;

/// Values that are asked about dependence, at least.
const SIDE: usize = 30;

/// A level is at most so many times the largest value; as of buffers.
const HEAVY: f64 = 30.0;

/// Response times in time order, and what is asked about the longest of them. Some 32 MiB at most;
/// see [`Series`].
#[derive(Clone, Debug, Default)]
pub struct Responses {
    series: Series,
    tail: Tail,
}

/// The longest of the values and the distribution that was fitted to them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedTail {
    /// The value over which they lie.
    pub threshold: f64,
    /// How many lie over it.
    pub over: u64,
    /// How many independent ones these are worth.
    pub independent: f64,
    /// Shape of the distribution: negative where it ends, positive where it is heavier than an
    /// exponential one.
    pub shape: f64,
    /// Its scale.
    pub scale: f64,
    /// The rarest share that the values support, as one in so many.
    pub carried: f64,
    /// All values.
    n: u64,
    #[serde(skip)]
    excesses: Vec<f64>,
}

/// How often a limit is exceeded. The tail may end anywhere beyond the largest value (a timeout, a buffer, a watchdog),
/// so that only an upper bound can be told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Exceeding {
    /// The limit lies within what was measured: counting answers it.
    Seen,
    /// By fewer values.
    Rarer {
        /// Than this share of them.
        than: f64,
    },
}

impl Responses {
    /// None yet.
    pub fn new() -> Responses {
        Responses::default()
    }

    /// Takes the next value; see [`Series::push`].
    pub fn push(&mut self, value: u64) {
        self.tail.push(value, self.series.len());
        self.series.push(value);
    }

    /// The values.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// How many of the longest values, a hundredth of all, are worth an independent one, at least 1: the
    /// larger of what the dependence of the series and the clusters of these values tell.
    pub fn together(&self) -> f64 {
        let Some(reading) = self.series.read() else {
            return 1.0;
        };
        let peaks = self.tail.peaks();
        let hundredth = usize::try_from(peaks.n() / 100).unwrap_or(MOST_FITTED);
        Over::largest(&peaks, hundredth.clamp(SIDE, MOST_FITTED)).together(&reading)
    }

    /// Fits the tail. Over the lowest of a few thresholds that shows nothing against it (Bader, Yan &
    /// Zhang, "Automated threshold selection for extreme value analysis via ordered goodness-of-fit
    /// tests with adjustment for false discovery rate", Annals of Applied Statistics 12, 2018, 310).
    pub fn tail(&self) -> Result<FittedTail, NoTail> {
        let none = NoTail::TooFew {
            independent: 0.0,
            needed: FEWEST,
            values_needed: 10.0 * FEWEST,
        };
        let reading = self.series.read().ok_or(none)?;
        let peaks = self.tail.peaks();
        let most = fitted(&peaks);
        let mut why = none;
        for halved in 0..THRESHOLDS {
            let over = Over::largest(&peaks, most >> halved);
            let together = over.together(&reading);
            let independent = over.excesses.len() as f64 / together;
            if independent < FEWEST {
                // A higher threshold has fewer still; what spoke against the one before stands.
                if halved == 0 {
                    let values = peaks.n() as f64 * FEWEST / independent.max(1.0);
                    why = NoTail::TooFew {
                        independent,
                        needed: FEWEST,
                        values_needed: values.max(10.0 * FEWEST),
                    };
                }
                break;
            }
            if reading.wanders_at(over.share(peaks.n())) {
                return Err(NoTail::Unsteady);
            }
            match tested_fit(over.threshold, &over.excesses, independent) {
                Ok(fit) => {
                    return Ok(FittedTail {
                        threshold: over.threshold as f64,
                        over: over.excesses.len() as u64,
                        independent,
                        shape: fit.shape,
                        scale: fit.scale,
                        carried: REACH * peaks.n() as f64 / together,
                        n: peaks.n(),
                        excesses: over.excesses,
                    });
                }
                Err(reason) => why = reason,
            }
        }
        Err(why)
    }
}

/// How many of the largest values the first fit is made of.
fn fitted(peaks: &Peaks) -> usize {
    let tenth = usize::try_from(peaks.n() / 10).unwrap_or(MOST_FITTED);
    let most = tenth.min(MOST_FITTED).min(peaks.len());
    let mut count = FITTED.min(most);
    while count < most && Over::largest(peaks, count).clusters() < ENOUGH {
        count = (count * 2).min(most);
    }
    count
}

/// The values over a threshold.
struct Over {
    threshold: u64,
    /// Descending.
    excesses: Vec<f64>,
    /// Ascending.
    positions: Vec<u64>,
}

impl Over {
    /// So many of the largest; fewer where several are equal to the next.
    fn largest(peaks: &Peaks, count: usize) -> Over {
        let (threshold, over) = peaks.over(count);
        let excess = |&(value, _): &(u64, u64)| (value - threshold) as f64;
        let mut positions: Vec<u64> = over.iter().map(|&(_, position)| position).collect();
        positions.sort_unstable();
        Over {
            threshold,
            excesses: over.iter().map(excess).collect(),
            positions,
        }
    }

    fn share(&self, n: u64) -> f64 {
        self.excesses.len() as f64 / n.max(1) as f64
    }

    /// How many independent events they are, as far as their distances tell.
    fn clusters(&self) -> f64 {
        clusters::independent(&self.positions)
    }

    /// How many of them are worth an independent one.
    fn together(&self, reading: &Reading<'_>) -> f64 {
        if self.excesses.is_empty() {
            return 1.0;
        }
        let slow = reading.together_at(self.share(reading.n()));
        let close = self.excesses.len() as f64 / self.clusters();
        slow.max(close).max(1.0)
    }
}

impl FittedTail {
    /// The share of all values that lies over the threshold.
    fn over_share(&self) -> f64 {
        self.over as f64 / self.n as f64
    }

    fn fit(&self) -> Pareto {
        Pareto {
            shape: self.shape,
            scale: self.scale,
        }
    }

    /// Whether the values support a share of one in so many.
    pub fn carries(&self, one_in: f64) -> Result<(), NoTail> {
        if one_in <= self.carried {
            return Ok(());
        }
        Err(NoTail::TooFar {
            asked: one_in,
            carried: self.carried,
            values_needed: self.n as f64 * one_in / self.carried,
        })
    }

    /// The share of the values that exceeds a limit, down to one in so many, at most what is
    /// `carried`.
    pub fn exceeding(&self, limit: f64, one_in: f64, sure: Confidence) -> Exceeding {
        let excess = limit - self.threshold;
        if excess <= self.excesses[0] {
            return Exceeding::Seen;
        }
        let rarest = 1.0 / one_in.min(self.carried);
        let share = self.over_share();
        let high =
            (self.fit()).exceeded_at_most(&self.excesses, excess, share, self.independent, sure);
        Exceeding::Rarer {
            than: (share * high).clamp(rarest, 1.0),
        }
    }

    /// The value that one in so many exceeds at most; `None` where that is less than those over the threshold, or so far
    /// beyond the largest that it only says that the tail is heavy.
    pub fn level(&self, one_in: f64, sure: Confidence) -> Option<f64> {
        let ratio = self.over_share() * one_in;
        if ratio <= 1.0 {
            return None;
        }
        let (_, high) = self
            .fit()
            .interval(&self.excesses, ratio, self.independent, sure);
        let most = HEAVY * (self.threshold + self.excesses[0]);
        Some(self.threshold + high).filter(|&high| high <= most)
    }

    /// The tail as a curve from the threshold to one in so many: that many levels, in equal steps of
    /// the logarithm of their rarity.
    pub fn curve(&self, one_in: f64, steps: u32, sure: Confidence) -> Vec<(f64, f64)> {
        let from = 1.0 / self.over_share();
        let step = (one_in / from).max(1.0).powf(1.0 / f64::from(steps.max(1)));
        let at = |number: u32| {
            let one_in = from * step.powf(f64::from(number));
            Some((one_in, self.level(one_in, sure)?))
        };
        (1..=steps).filter_map(at).collect()
    }
}
