//! What follows for a setting that was not measured, with a band: the jackknife+ of Barber, Candes,
//! Ramdas and Tibshirani ("Predictive inference with the jackknife+", Annals of Statistics 49, 2021;
//! above 40 points their CV+), on logarithms, for the errors of a time grow with the time. It assumes
//! no distribution: only that the setting could as well have been one of the points.

use crate::figures::span;
use crate::fit::Fit;
use crate::terms::Ways;
use crate::{LinkModel, Observation, Setting};
use serde::Serialize;
use std::fmt;
use thiserror::Error;
use wiregauge_record::grouped;

/// What is claimed where nothing is asked for: the largest of these that the points carry.
const SHARES: [f64; 3] = [0.95, 0.90, 0.80];
/// Fewer settings than this predict nothing: the interval of 4 has a coverage of 80 % at most.
pub const MIN_FOR_PREDICTION: usize = 5;

/// A figure of a setting, with the band in which it lies as often as claimed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The figure.
    pub value: f64,
    /// Lower end of the band; `None` without one.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How often such a band contains what is then measured, 0 to 1; 0 without a band.
    pub share: f64,
    /// Where the band comes from, or why there is none.
    pub how: How,
}

impl Prediction {
    /// The share, if there is a band.
    pub fn claimed(&self) -> Option<f64> {
        self.low.map(|_| self.share)
    }
}

/// Where a band comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum How {
    /// From fits without one point each.
    EachLeftOut {
        /// How many points there are.
        settings: usize,
    },
    /// From fits without a group of points each.
    GroupsLeftOut {
        /// How many points there are.
        settings: usize,
        /// How many groups.
        groups: usize,
    },
    /// No band: the setting lies beyond what was measured.
    Beyond {
        /// In which respect.
        beyond: Beyond,
    },
}

/// In which respect a setting is unlike those that were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum Beyond {
    /// Its request is smaller or larger.
    Out {
        /// Smallest that was measured.
        from: u32,
        /// Largest.
        to: u32,
    },
    /// Its response is smaller or larger.
    In {
        /// Smallest that was measured.
        from: u32,
        /// Largest.
        to: u32,
    },
    /// Fewer or more are outstanding.
    Depth {
        /// Smallest that was measured.
        from: u32,
        /// Largest.
        to: u32,
    },
    /// The sizes of the two ways were always in one relation, and here are not.
    Together,
}

/// Why nothing is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CannotPredict {
    /// Too few settings for any band.
    #[error(
        "a prediction interval requires {MIN_FOR_PREDICTION} points with different settings (this run has {settings})"
    )]
    TooFew {
        /// How many there are.
        settings: usize,
    },
    /// More is asked for than the points carry.
    #[error(
        "{settings} measured sizes and depths support a confidence of at most {}, not {}",
        percent(*.most),
        percent(*.share)
    )]
    Share {
        /// How many there are.
        settings: usize,
        /// What was asked for.
        share: f64,
        /// What they carry.
        most: f64,
    },
    /// It is no share.
    #[error("the confidence must be between 0 and 1, not {share}")]
    NoShare {
        /// What was asked for.
        share: f64,
    },
    /// The points say nothing of this figure.
    #[error("the measured points do not determine it")]
    NotTold,
}

fn percent(share: f64) -> String {
    // Downwards: 9 points carry 90 % and not 91 %.
    format!("{:.0} %", (share * 100.0 + 1e-9).floor())
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::EachLeftOut { settings } => {
                write!(
                    f,
                    "from the error at each of {settings} points of the model fitted to the others"
                )
            }
            How::GroupsLeftOut { settings, groups } => write!(
                f,
                "from the error at each of {settings} points of the model fitted to the other {} of {groups} groups",
                groups - 1
            ),
            How::Beyond { beyond } => write!(f, "no prediction interval: {}", beyond.say("depth")),
        }
    }
}

impl Beyond {
    /// In words; `depth` is what the number outstanding is called, which of streams is a queue.
    pub fn say(&self, depth: &str) -> String {
        let (what, from, to, unit) = match self {
            Beyond::Out { from, to } => ("OUT", from, to, " B"),
            Beyond::In { from, to } => ("IN", from, to, " B"),
            Beyond::Depth { from, to } => (depth, from, to, ""),
            Beyond::Together => {
                return "outside the measured range (the sizes OUT and IN always changed together)"
                    .into();
            }
        };
        let (from, to) = (grouped((*from).into()), grouped((*to).into()));
        if from == to {
            format!("outside the measured range ({what} {from}{unit} only)")
        } else {
            format!("outside the measured range ({what} {from} to {to}{unit})")
        }
    }
}

/// Which figure.
#[derive(Clone, Copy)]
enum Figure {
    Trt,
    Rtt,
}

impl Figure {
    fn measured(self, point: &Observation) -> f64 {
        match self {
            Figure::Trt => point.trt_ns,
            Figure::Rtt => point.rtt_ns,
        }
    }

    fn modelled(self, fit: &Fit, at: Setting) -> f64 {
        match self {
            Figure::Trt => fit.trt_ns(at),
            Figure::Rtt => fit.rtt_ns(at),
        }
    }
}

impl LinkModel {
    /// The mean TRT of a setting, in nanoseconds, with a band that contains what is then measured
    /// for this share of such settings; without one for the largest of 95, 90 and 80 % that the
    /// points carry. n points carry no more than n / (n + 1).
    pub fn predict(
        &self,
        at: Setting,
        share: impl Into<Option<f64>>,
    ) -> Result<Prediction, CannotPredict> {
        self.predict_figure(Figure::Trt, at, share.into())
    }

    /// The same of the mean RTT.
    pub fn predict_rtt(
        &self,
        at: Setting,
        share: impl Into<Option<f64>>,
    ) -> Result<Prediction, CannotPredict> {
        self.predict_figure(Figure::Rtt, at, share.into())
    }

    /// Whether a setting is unlike those that were measured.
    pub fn beyond(&self, at: Setting) -> Option<Beyond> {
        let (from, to) = span(&self.points);
        if at.depth < from.depth || at.depth > to.depth {
            return Some(Beyond::Depth {
                from: from.depth,
                to: to.depth,
            });
        }
        // What was measured one at a time tells nothing of sizes that wait for each other.
        let deep: Vec<Observation> = self
            .points
            .iter()
            .copied()
            .filter(|point| at.depth == from.depth || point.at.depth > from.depth)
            .collect();
        let (from, to) = span(&deep);
        if at.out_bytes < from.out_bytes || at.out_bytes > to.out_bytes {
            return Some(Beyond::Out {
                from: from.out_bytes,
                to: to.out_bytes,
            });
        }
        if at.in_bytes < from.in_bytes || at.in_bytes > to.in_bytes {
            return Some(Beyond::In {
                from: from.in_bytes,
                to: to.in_bytes,
            });
        }
        (!Ways::of(&self.points).holds(at)).then_some(Beyond::Together)
    }

    fn predict_figure(
        &self,
        figure: Figure,
        at: Setting,
        share: Option<f64>,
    ) -> Result<Prediction, CannotPredict> {
        if let Some(share) = share.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(CannotPredict::NoShare { share });
        }
        let settings = self.points.len();
        if settings < MIN_FOR_PREDICTION {
            return Err(CannotPredict::TooFew { settings });
        }
        let value = figure.modelled(&self.fit, at);
        if !(value.is_finite() && value > 0.0) {
            return Err(CannotPredict::NotTold);
        }
        if let Some(beyond) = self.beyond(at) {
            return Ok(Prediction {
                value,
                low: None,
                high: None,
                share: 0.0,
                how: How::Beyond { beyond },
            });
        }
        let ends = self.ends(figure, at);
        let claimed = match share {
            Some(share) => ends.band(share).map(|band| (share, band)),
            None => SHARES
                .iter()
                .find_map(|&share| Some((share, ends.band(share)?))),
        };
        let Some((share, (low, high))) = claimed else {
            let share = share.unwrap_or(SHARES[SHARES.len() - 1]);
            return Err(CannotPredict::Share {
                settings,
                share,
                most: ends.most(),
            });
        };
        let groups = self.refits().without.len();
        Ok(Prediction {
            value,
            // The whole fit nearly always lies within; where it does not, the band is widened.
            low: Some(low.exp().min(value)),
            high: Some(high.exp().max(value)),
            share,
            how: if groups == settings {
                How::EachLeftOut { settings }
            } else {
                How::GroupsLeftOut { settings, groups }
            },
        })
    }

    fn ends(&self, figure: Figure, at: Setting) -> Ends {
        let refits = self.refits();
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for (point, &group) in self.points.iter().zip(&refits.group) {
            let printed = refits.without[group].as_ref().and_then(|fit| {
                let here = figure.modelled(fit, at).ln();
                let there = figure.modelled(fit, point.at).ln();
                let off = (figure.measured(point).ln() - there).abs();
                (here.is_finite() && off.is_finite()).then_some((here - off, here + off))
            });
            let (low, high) = printed.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            lows.push(low);
            highs.push(high);
        }
        lows.sort_by(f64::total_cmp);
        highs.sort_by(f64::total_cmp);
        Ends {
            lows,
            highs,
            spare: usize::from(refits.without.len() < self.points.len()),
        }
    }
}

/// What each fit without a point says, less and plus what it misses that point by; logarithms.
struct Ends {
    lows: Vec<f64>,
    highs: Vec<f64>,
    /// Ranks by which the band is wider. With groups, CV+ is sure of less by (1 - K/n) / (K + 1) for K groups
    /// of n points, under one rank.
    spare: usize,
}

impl Ends {
    /// The ends of the band for a share; `None` where there are too few points for it.
    fn band(&self, share: f64) -> Option<(f64, f64)> {
        let n = self.lows.len();
        // 0.9 * 10 shall not be rounded up to 10.
        let rank = (share * (n + 1) as f64 - 1e-9).ceil() as usize + self.spare;
        let (low, high) = (
            *self.lows.get(n.checked_sub(rank)?)?,
            *self.highs.get(rank.checked_sub(1)?)?,
        );
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }

    /// The largest share that has a band.
    fn most(&self) -> f64 {
        let finite = |all: &[f64]| all.iter().filter(|end| end.is_finite()).count();
        let ranks = finite(&self.highs).min(finite(&self.lows));
        ranks.saturating_sub(self.spare) as f64 / (self.lows.len() + 1) as f64
    }
}
