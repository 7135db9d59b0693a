//! What is believed of every candidate after the probes so far: its objective, whether it keeps the
//! constraints, whether it answers at all.

use crate::gaussian::Spot;
use crate::observed::Observed;
use crate::pool::EACH;
use crate::record::Record;
use crate::space::{Grid, Place};
use crate::surrogate::{Reading, Surrogate, Z};
use crate::{Bound, Purpose, Sense};
use statrs::distribution::{Continuous, ContinuousCDF, Normal};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use wiregauge_model::{LinkModel, Observation, Setting};
use wiregauge_stats::Estimate;

/// So many standard errors of the confirmation a constraint must be kept by in advance: 1.96 for its
/// interval to exclude the bound, the rest so that it does so in three of four, ...
const TO_SHOW: f64 = 2.6;

/// ... and so many more after each confirmation that did not show it.
const MORE_TO_SHOW: f64 = 0.6;

/// Such a confirmation asks of all others to have room for as much as it found above what was
/// believed, but for no more than this part of the most room that any has.
const MOST_ASKED: f64 = 0.5;

/// How well a candidate is known and thought of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Belief {
    /// The objective on the surrogate's scale, turned so that more is better.
    pub mean: f64,
    /// Standard deviation of it.
    pub sd: f64,
    /// Probability that all constraints would be shown kept.
    pub shown: f64,
    /// Probability that they are kept, whether that can be shown or not.
    pub kept: f64,
    /// Probability that a confirmation shows them kept, its luck included.
    pub may_show: f64,
    /// By how many standard errors of a confirmation there the worst figure is kept; infinite without
    /// one.
    pub room: f64,
    /// By how much the worst constraint is kept (above 0) or violated, on its surrogate's scale.
    pub slack: f64,
    /// Probability that it answers.
    pub answers: f64,
    /// How much of what is not known there a probe would tell, 0 to 1.
    pub to_learn: f64,
}

/// What is known of the confirmations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    /// Exchanges of a long probe.
    pub probe: u64,
    /// Exchanges of a confirmation.
    pub confirmation: u64,
    /// Confirmations that did not show what they should.
    pub in_vain: usize,
}

enum Limit {
    /// Modelled.
    Figure {
        surrogate: Surrogate,
        bound: Bound,
        /// Kept away from the bound by this.
        margin: f64,
    },
    /// A figure that must be 0: what is near to a probe in which it was not is suspect.
    Never(Record),
}

/// See the module.
pub(crate) struct Posterior<'a> {
    grid: &'a Grid,
    sense: Sense,
    pub model: Option<LinkModel>,
    objective: Surrogate,
    limits: Vec<Limit>,
    answers: Record,
    trial: Trial,
}

pub(crate) fn spot(grid: &Grid, place: Place) -> Spot {
    Spot {
        at: grid.scaled(place),
        labels: [place.0[3], place.0[4]],
    }
}

/// The model of those probes that wait and connect as this place does; several of one setting count
/// by their exchanges.
pub(crate) fn model_of(observed: &[Observed], like: Place) -> Option<LinkModel> {
    let mut settings: BTreeMap<Setting, Vec<(f64, Observation)>> = BTreeMap::new();
    for here in observed.iter().filter(|t| t.place.0[3..] == like.0[3..]) {
        if let Some(observation) = here.measured.observation {
            let weight = here.measured.exchanges.max(1) as f64;
            let same = settings.entry(observation.at).or_default();
            same.push((weight, observation));
        }
    }
    let one = |(at, same): (Setting, Vec<(f64, Observation)>)| {
        let all: f64 = same.iter().map(|(weight, _)| weight).sum();
        let mean = |of: &dyn Fn(f64, &Observation) -> f64| {
            same.iter().map(|(w, o)| of(w / all, o)).sum::<f64>()
        };
        Observation {
            at,
            trt_ns: mean(&|w, o| w * o.trt_ns),
            rtt_ns: mean(&|w, o| w * o.rtt_ns),
            error: mean(&|w, o| (w * o.error).powi(2)).sqrt(),
        }
    };
    let observations: Vec<Observation> = settings.into_iter().map(one).collect();
    LinkModel::fit(&observations).ok()
}

impl<'a> Posterior<'a> {
    /// `None` if nothing has answered.
    pub fn new(
        grid: &'a Grid,
        sense: Sense,
        bounds: &[Bound],
        observed: &[Observed],
        trial: Trial,
    ) -> Option<Posterior<'a>> {
        let went = |t: &Observed| (spot(grid, t.place), !t.measured.has_failed());
        let answers = Record::of(observed.iter().map(went));
        // Of the way to wait and to connect that was probed most.
        let alike = |t: &&Observed| {
            observed
                .iter()
                .filter(|o| o.place.0[3..] == t.place.0[3..])
                .count()
        };
        let most = observed
            .iter()
            .max_by_key(|t| (alike(t), Reverse(t.place)))?;
        let model = model_of(observed, most.place);
        let observed: Vec<&Observed> = observed
            .iter()
            .filter(|t| !t.measured.has_failed())
            .collect();
        let reading = |t: &&Observed, figure: Estimate| Reading {
            spot: spot(grid, t.place),
            setting: t.probe.at.setting,
            exchanges: t.measured.exchanges,
            figure,
        };
        let is_whole = grid.count() <= EACH;
        let objectives: Vec<Reading> = (observed.iter())
            .filter_map(|t| Some(reading(t, t.measured.objective?)))
            .collect();
        let objective = Surrogate::fit(&objectives, model.as_ref(), 0.0, is_whole)?;
        let limit = |(index, &bound): (usize, &Bound)| {
            let figure = |t: &Observed| {
                let found = t.measured.constraints.get(index).copied().flatten();
                found.filter(|found| found.value.is_finite())
            };
            let suspicion = || {
                let kept = |t: &&Observed| figure(t).is_some_and(|f| bound.keeps(f.value));
                Limit::Never(Record::of(
                    observed.iter().map(|t| (spot(grid, t.place), kept(t))),
                ))
            };
            if bound == Bound::AtMost(0.0) {
                return suspicion();
            }
            let readings: Vec<Reading> = (observed.iter())
                .filter_map(|t| Some(reading(t, figure(t)?)))
                .collect();
            let fit = |readings: &[Reading]| {
                Surrogate::fit(readings, model.as_ref(), bound.limit(), is_whole)
            };
            let Some(surrogate) = fit(&readings) else {
                return suspicion();
            };
            let usual = (TO_SHOW + MORE_TO_SHOW * trial.in_vain as f64)
                * surrogate.noise(trial.confirmation);
            let side = if bound.is_upper() { 1.0 } else { -1.0 };
            let believed = |by: &Surrogate, t: &Observed| {
                let (mean, _) = by.at(&spot(grid, t.place), t.probe.at.setting, model.as_ref());
                side * mean
            };
            // By how much the confirmations that did not show it found worse than was believed
            // without them: short probes elsewhere flatter in the same way.
            let (confirmed, probes): (Vec<&Observed>, Vec<&Observed>) =
                (observed.iter().copied()).partition(|t| t.probe.purpose == Purpose::Confirm);
            let in_vain: Vec<(&Observed, f64)> = (confirmed.into_iter())
                .filter_map(|t| Some((t, bound.worst_of(figure(t)?))))
                .filter(|(_, end)| !bound.keeps(*end))
                .collect();
            let probes: Vec<Reading> = (probes.iter())
                .filter_map(|t| Some(reading(t, figure(t)?)))
                .collect();
            let before = (!in_vain.is_empty()).then(|| fit(&probes)).flatten();
            let asked = before.map_or(0.0, |before| {
                let worse = (in_vain.iter())
                    .map(|(t, end)| side * surrogate.scaled(*end) - believed(&before, t));
                let limit = side * surrogate.scaled(bound.limit());
                let rooms = observed.iter().map(|t| limit - believed(&surrogate, t));
                let most = rooms.fold(0.0, f64::max);
                worse.fold(0.0, f64::max).min(MOST_ASKED * most)
            });
            Limit::Figure {
                margin: usual.max(asked),
                surrogate,
                bound,
            }
        };
        let limits = bounds.iter().enumerate().map(limit).collect();
        Some(Posterior {
            grid,
            sense,
            model,
            objective,
            limits,
            answers,
            trial,
        })
    }

    pub fn at(&self, place: Place) -> Belief {
        let spot = spot(self.grid, place);
        let setting = self.grid.candidate(place).setting;
        let model = self.model.as_ref();
        let (mean, sd) = self.objective.at(&spot, setting, model);
        let (mut shown, mut kept, mut may_show) = (1.0, 1.0, 1.0);
        let (mut widest, mut slack) = (f64::INFINITY, f64::INFINITY);
        let mut to_learn = self.telling(&self.objective, sd);
        for limit in &self.limits {
            match limit {
                Limit::Never(record) => {
                    let odds = record.odds(&spot);
                    shown *= odds;
                    kept *= odds;
                    may_show *= odds;
                    slack = slack.min(odds - 0.5);
                }
                Limit::Figure {
                    surrogate,
                    bound,
                    margin,
                } => {
                    let (mean, sd) = surrogate.at(&spot, setting, model);
                    let side = if bound.is_upper() { 1.0 } else { -1.0 };
                    let room = side * (surrogate.scaled(bound.limit()) - mean);
                    if (room - margin).abs() < 3.0 * sd {
                        to_learn = to_learn.max(self.telling(surrogate, sd));
                    }
                    shown *= below((room - margin) / sd.max(1e-9));
                    kept *= below(room / sd.max(1e-9));
                    let noise = surrogate.noise(self.trial.confirmation);
                    let spread = sd.hypot(noise).max(1e-9);
                    may_show *= below((room - Z * noise) / spread);
                    widest = widest.min(room / spread);
                    slack = slack.min(room);
                }
            }
        }
        Belief {
            mean: self.sense.sign() * mean,
            sd,
            shown,
            kept,
            may_show,
            room: widest,
            slack,
            answers: self.answers.odds(&spot),
            to_learn,
        }
    }

    /// A probe whose noise hides what is sought is worth less (Huang et al. 2006, augmented expected
    /// improvement).
    fn telling(&self, surrogate: &Surrogate, sd: f64) -> f64 {
        let noise = surrogate.noise(self.trial.probe);
        1.0 - noise / sd.hypot(noise).max(f64::MIN_POSITIVE)
    }

    /// The constraint that is kept by least there, or violated most.
    pub fn tightest(&self, place: Place) -> Option<usize> {
        let spot = spot(self.grid, place);
        let setting = self.grid.candidate(place).setting;
        let room = |limit: &Limit| match limit {
            Limit::Never(record) => record.odds(&spot) - 0.5,
            Limit::Figure {
                surrogate, bound, ..
            } => {
                let (mean, _) = surrogate.at(&spot, setting, self.model.as_ref());
                let side = if bound.is_upper() { 1.0 } else { -1.0 };
                side * (surrogate.scaled(bound.limit()) - mean)
            }
        };
        let rooms = self.limits.iter().map(room).enumerate();
        rooms
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(index, _)| index)
    }

    /// Exchanges of a probe that is no more exact than what is known there calls for.
    pub fn exchanges_at(&self, place: Place, finest: f64) -> u64 {
        let spot = spot(self.grid, place);
        let setting = self.grid.candidate(place).setting;
        let model = self.model.as_ref();
        let (_, sd) = self.objective.at(&spot, setting, model);
        let mut most = self.objective.exchanges_for(sd.max(finest));
        for limit in &self.limits {
            let Limit::Figure {
                surrogate, bound, ..
            } = limit
            else {
                continue;
            };
            let (mean, sd) = surrogate.at(&spot, setting, model);
            let room = (surrogate.scaled(bound.limit()) - mean).abs();
            // Only a constraint that may bind here is worth exchanges.
            if room < 3.0 * sd {
                most = most.max(surrogate.exchanges_for(sd.max(finest)));
            }
        }
        most
    }
}

/// Probability that a normal deviate is below.
fn below(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// By how much a candidate is expected to be better than `best`, counting what is worse as 0 (Mockus
/// 1975; Jones, Schonlau & Welch 1998).
pub(crate) fn expected_gain(belief: &Belief, best: f64) -> f64 {
    let gain = belief.mean - best;
    if belief.sd < 1e-9 {
        return gain.max(0.0);
    }
    let z = gain / belief.sd;
    gain * below(z) + belief.sd * Normal::standard().pdf(z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn belief(mean: f64, sd: f64) -> Belief {
        Belief {
            mean,
            sd,
            shown: 1.0,
            kept: 1.0,
            may_show: 1.0,
            room: 1.0,
            slack: 1.0,
            answers: 1.0,
            to_learn: 1.0,
        }
    }

    #[test]
    fn the_expected_gain_is_what_integration_gives() {
        let (mean, sd, best) = (0.3, 0.2, 0.4);
        let step = 1e-4;
        let mut integral = 0.0;
        for i in 0..40_000 {
            let x = -1.0 + f64::from(i) * step;
            let density = Normal::new(mean, sd).unwrap().pdf(x);
            integral += (x - best).max(0.0) * density * step;
        }
        let found = expected_gain(&belief(mean, sd), best);
        assert!((found - integral).abs() < 1e-5, "{found} {integral}");
    }

    #[test]
    fn what_is_known_to_be_worse_promises_nothing() {
        assert_eq!(expected_gain(&belief(1.0, 0.0), 2.0), 0.0);
        assert!((expected_gain(&belief(2.5, 0.0), 2.0) - 0.5).abs() < 1e-12);
    }
}
