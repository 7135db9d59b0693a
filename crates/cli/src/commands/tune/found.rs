//! What a search found, with what was measured on the way: the one thing that words and JSON are
//! made of.

use super::longer;
use super::taken::Taken;
use super::task::{Kind, Task};
use super::trade_offs::{Rival, Row, refutes};
use crate::commands::unmet::{self, Judged, Unmet};
use crate::constraint::Constraint;
use crate::limit_value::{Held, is_exact};
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_link::LinkError;
use wiregauge_model::Figures;
use wiregauge_quantity as units;
use wiregauge_record::{Carried, Direction, Figure, Part, Times};
use wiregauge_stats::Estimate;
use wiregauge_tune::{
    Advice, Candidate, Choice, Compliance, Difference, Purpose, Sense, Verdict, Why,
};

/// A model that is off by more is not printed as if it described the link.
pub const TRUSTED: f64 = 0.5;

/// What comes before each sentence of a model.
pub fn label(figures: &Figures) -> String {
    format!("model (maximum error {})", units::percent(figures.worst))
}

/// How a search ended.
pub enum Ended {
    /// Nothing more was to be asked.
    Complete,
    /// The time was up.
    OutOfTime,
    /// The user stopped it.
    Interrupted,
    /// The link does not answer any more.
    Dead(LinkError),
}

/// A run that confirmed a setting.
pub struct Confirmation {
    /// The setting.
    pub at: Candidate,
    /// The run.
    pub dir: PathBuf,
}

/// A setting at which the link failed.
pub struct Failing {
    /// The setting.
    pub at: Candidate,
    /// What was said.
    pub error: String,
}

/// All of it.
pub struct Found {
    /// What was asked for.
    pub task: Task,
    /// What the search says.
    pub advice: Advice,
    /// What each probe gave, in their order; `None` where the link failed.
    pub taken: Vec<Option<Taken>>,
    /// Settings at which the link failed.
    pub failing: Vec<Failing>,
    /// How it ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
    /// The run that confirmed the best.
    pub best_run: Option<PathBuf>,
}

impl Found {
    /// Of what the search and the bench have left behind.
    pub fn new(
        task: Task,
        advice: Advice,
        taken: Vec<Option<Taken>>,
        confirmations: Vec<Confirmation>,
        failing: Vec<Failing>,
        ended: Ended,
        took: Duration,
    ) -> Found {
        let mut advice = advice;
        if task.control.is_some() {
            // The period of the loop fixes the rate: the run does not show what the link can do.
            advice.model = None;
            advice.front.clear();
            advice.knee = None;
            let of_the_model =
                |why: &Why| matches!(why, Why::Saturated { .. } | Why::LatencyBound { .. });
            advice.why.retain(|why| !of_the_model(why));
        }
        let best = advice.best.as_ref().filter(|best| best.confirmed);
        let best_run = best.and_then(|best| {
            let mut runs = confirmations.into_iter().rev();
            Some(runs.find(|run| run.at == best.at)?.dir)
        });
        Found {
            task,
            advice,
            taken,
            failing,
            ended,
            took,
            best_run,
        }
    }

    /// What was asked for and is not shown, in words.
    pub fn unmet(&self) -> Vec<Unmet> {
        let Some(best) = &self.advice.best else {
            let why = match self.task.control {
                None => "the link failed at every setting tried",
                Some(_) => {
                    "at every setting tried the loop did not hold (its cost is unbounded), no response arrived in time, or \
                     the link failed"
                }
            };
            return vec![Unmet::missed(format!("no setting was found: {why}"))];
        };
        let needed = match self.required(best) {
            Some(exchanges) => format!("; about --confirm {exchanges} is required to decide"),
            None => String::new(),
        };
        let mut unmet = Vec::new();
        if !best.confirmed {
            let text = "the setting found is not confirmed by a new run";
            unmet.push(Unmet::undecided(text.into()));
        }
        let judged = self.judged(&needed).into_iter();
        unmet.extend(judged.flat_map(|one| one.unmet));
        unmet
    }

    /// Length of a run that is expected to decide what the one that confirmed left open, as --confirm takes it.
    fn required(&self, best: &Choice) -> Option<String> {
        let probes = self.advice.probes.iter().zip(&self.taken).rev();
        let mut runs = probes.filter(|((probe, _), _)| {
            probe.at == best.at && probe.purpose == Purpose::Confirm && best.confirmed
        });
        let ((probe, _), taken) = runs.next()?;
        let length = longer::required(&self.task, probe.exchanges, taken.as_ref()?)?;
        Some(match &self.task.kind {
            Kind::Exchanges(_) => length.to_string(),
            Kind::Stream(_) => format!("{length}ms"),
        })
    }

    /// Why the objective of a confirmed setting has no interval, and the length of a run that is expected
    /// to have one.
    pub fn no_interval(&self) -> Option<String> {
        let (figure, taken) = (self.task.figure, self.best_taken()?);
        let best = self.advice.best.as_ref()?;
        let open = best.objective.low.is_none() || best.objective.high.is_none();
        if !open || is_exact(figure, &best.objective) {
            return None;
        }
        let mut probes = self.advice.probes.iter().rev();
        let (probe, _) =
            probes.find(|(probe, _)| probe.at == best.at && probe.purpose == Purpose::Confirm)?;
        let times = longer::to_bound(figure, taken);
        let longer = match (&self.task.kind, times > 1.0 && times.is_finite()) {
            (_, false) => String::new(),
            (Kind::Exchanges(_), true) => {
                let length = units::rounded_up(probe.exchanges as f64 * times);
                format!(": use --confirm {length} or more")
            }
            (Kind::Stream(_), true) => ": use a longer --confirm".into(),
        };
        Some(format!(
            "the confirming run does not support a 95 % interval of {figure} (too few independent samples, or \
             drift){longer}"
        ))
    }

    /// Constraints with what was found of them.
    pub fn verdicts(&self) -> impl Iterator<Item = (&Constraint, &Verdict)> {
        let best = self.advice.best.iter();
        let verdicts = best.flat_map(|best| &best.constraints);
        self.task.constraints.iter().zip(verdicts)
    }

    /// What became of the constraints at the best setting, in a sentence.
    pub fn limits(&self) -> Option<String> {
        let best = self.advice.best.as_ref()?;
        match best.confirmed {
            true => {
                let sentence = unmet::verdict(&self.judged(""))?;
                let longer = self.required(best).map_or(String::new(), |length| {
                    format!(" Use --confirm {length} to decide.")
                });
                Some(sentence + &longer)
            }
            false => Some("Not confirmed by a new run.".into()),
        }
    }

    /// The constraints at the best setting.
    fn judged(&self, longer: &str) -> Vec<Judged> {
        let best = self.advice.best.as_ref();
        let taken = best.and_then(|best| self.longest(&best.at));
        let is_scheduled = matches!(
            taken,
            Some((Taken::Exchanges { point, .. }, _)) if point.from_intended.is_some()
        );
        judged(self.verdicts(), longer, is_scheduled)
    }

    /// What the new run of a setting did not prove: `p99<2ms missed`. `None` if it proved all, or there was none.
    pub fn unproven(&self, at: &Candidate) -> Option<String> {
        let aside = self.advice.set_aside.iter().map(|aside| &aside.choice);
        let mut confirmed = (self.advice.best.iter().chain(aside)).filter(|one| one.confirmed);
        let choice = confirmed.find(|one| one.at == *at)?;
        let verdicts = self.task.constraints.iter().zip(&choice.constraints);
        let open = verdicts.filter_map(|(constraint, verdict)| match verdict.compliance {
            Compliance::Met => None,
            Compliance::Violated => Some(format!("{} missed", constraint.text)),
            Compliance::Undecided => Some(format!("{} undecided", constraint.text)),
        });
        let open: Vec<String> = open.collect();
        (!open.is_empty()).then(|| open.join(", "))
    }

    /// What the run that confirmed the best setting gave.
    pub fn best_taken(&self) -> Option<&Taken> {
        let best = self.advice.best.as_ref().filter(|best| best.confirmed)?;
        Some(self.longest(&best.at)?.0)
    }

    /// Why the limit is where it is, in words.
    pub fn reasons(&self) -> Vec<String> {
        let model = self.advice.model.as_ref();
        let figures = model.map(|model| model.figures());
        let rival = self.better_in_probe(&self.rows());
        let refuted = |why: &Why| {
            let best = self.advice.best.as_ref();
            let both = rival.as_ref().zip(best);
            both.is_some_and(|(rival, best)| refutes(rival, best.at, why))
        };
        let words = |why: &Why| match (why, &figures) {
            _ if refuted(why) => None,
            (Why::Saturated { .. } | Why::LatencyBound { .. }, Some(figures)) => {
                let fits = figures.worst <= TRUSTED;
                fits.then(|| format!("{}: {why}", label(figures)))
            }
            _ => Some(why.to_string()),
        };
        let mut reasons: Vec<String> = self.advice.why.iter().filter_map(words).collect();
        if self.advice.nearer().is_some() {
            for reason in &mut reasons {
                *reason = reason.replace(Why::CLOSEST, "");
            }
        }
        // The search knows them by their numbers only; the highest first, so that 1 is not taken
        // for the beginning of 10.
        for (index, constraint) in self.task.constraints.iter().enumerate().rev() {
            let (number, name) = (index + 1, &constraint.text);
            for reason in &mut reasons {
                *reason = reason.replace(&format!("constraint {number}"), &format!("`{name}`"));
            }
        }
        reasons
    }

    /// What the confirming run of a setting gave, or else its longest probe; true if confirmed.
    pub fn longest(&self, at: &Candidate) -> Option<(&Taken, bool)> {
        let probes = self.advice.probes.iter().zip(&self.taken);
        let here = probes.filter_map(|((probe, _), taken)| Some((probe, taken.as_ref()?)));
        here.filter(|(probe, _)| probe.at == *at)
            .max_by_key(|(probe, _)| (probe.purpose == Purpose::Confirm, probe.exchanges))
            .map(|(probe, taken)| (taken, probe.purpose == Purpose::Confirm))
    }

    /// The setting of the front with the best objective, if that is not the chosen one. What violated a
    /// constraint in its probe is none.
    pub fn better_in_probe(&self, rows: &[Row]) -> Option<Rival> {
        let sign = match self.task.sense {
            Sense::Maximise => -1.0,
            Sense::Minimise => 1.0,
        };
        let objective = |row: &Row| self.longest(&row.at)?.0.figure(self.task.figure);
        let chosen = objective(rows.iter().find(|row| row.is_best)?)?;
        let (row, best) = rows
            .iter()
            .filter(|row| self.keeps(&row.at))
            .filter_map(|row| Some((row, objective(row)?)))
            .min_by(|(_, a), (_, b)| (sign * a.value).total_cmp(&(sign * b.value)))?;
        (sign * best.value < sign * chosen.value).then(|| Rival {
            at: row.at,
            objective: best,
            n: row.n,
            difference: Difference::of(&best, &chosen),
            confirmed: row.confirmed,
        })
    }

    /// True if what was measured at a setting meets all constraints, certain or not.
    pub fn keeps(&self, at: &Candidate) -> bool {
        let Some((taken, _)) = self.longest(at) else {
            return false;
        };
        let bounds = self.task.bounds();
        let mut all = self.task.constraints.iter().zip(bounds);
        all.all(|(constraint, bound)| {
            let found = self.task.value(constraint, taken);
            found.is_some_and(|found| bound.keeps(found.value))
        })
    }

    /// Every setting at which something was measured, in the order of their first probes.
    pub fn settings(&self) -> Vec<Candidate> {
        let mut settings: Vec<Candidate> = Vec::new();
        for ((probe, _), taken) in self.advice.probes.iter().zip(&self.taken) {
            if taken.is_some() && !settings.contains(&probe.at) {
                settings.push(probe.at);
            }
        }
        settings
    }

    /// The best measured value of the objective with each way to wait and to connect, where several were
    /// searched: the setting, its value, the exchanges behind it, and whether it is confirmed.
    pub fn methods(&self) -> Vec<(Candidate, Estimate, u64, bool)> {
        let mut best: Vec<(Candidate, Estimate, u64, bool)> = Vec::new();
        for at in self.settings() {
            let Some((taken, confirmed)) = self.longest(&at) else {
                continue;
            };
            let Some(value) = taken.figure(self.task.figure) else {
                continue;
            };
            let here = (at, value, taken.n(), confirmed);
            let same = |other: &&mut (Candidate, Estimate, u64, bool)| {
                (other.0.wait, other.0.connect) == (at.wait, at.connect)
            };
            match best.iter_mut().find(same) {
                None => best.push(here),
                Some(other) => {
                    let is_better = self.task.sense.prefers(value.value, other.1.value);
                    // The chosen setting stands for its own method.
                    let chosen =
                        |at: Candidate| self.advice.best.as_ref().is_some_and(|b| b.at == at);
                    if chosen(at) || (is_better && !chosen(other.0)) {
                        *other = here;
                    }
                }
            }
        }
        best
    }

    /// The direction in which the objective counts bytes.
    pub fn carried(&self) -> Carried {
        match (self.task.figure, &self.task.kind) {
            (Figure::Rate(carried), _) => carried,
            (_, Kind::Stream(of)) => match of.direction {
                Direction::In => Carried::In,
                Direction::Out => Carried::Out,
                Direction::Both => Carried::Both,
            },
            _ => Carried::Both,
        }
    }

    /// The front, from the shortest latency on.
    pub fn rows(&self) -> Vec<Row> {
        let (mean, p99) = match &self.task.kind {
            Kind::Exchanges(_) => (
                Figure::Time(Times::Rtt, Part::Mean),
                Figure::Time(Times::Rtt, Part::P99),
            ),
            Kind::Stream(_) => (
                Figure::Time(Times::Transfer, Part::Mean),
                Figure::Time(Times::Transfer, Part::P99),
            ),
        };
        let row = |point: &wiregauge_tune::FrontPoint| {
            let (taken, confirmed) = self.longest(&point.at)?;
            Some(Row {
                at: point.at,
                latency: taken.figure(mean)?,
                latency_p99: taken.figure(p99),
                rate: taken.figure(Figure::Rate(Carried::Both))?.value,
                carried: taken.figure(Figure::Rate(self.carried()))?.value,
                per_second: taken
                    .figure(Figure::Exchanges)
                    .map_or(point.exchanges_per_second, |found| found.value),
                is_best: point.is_best,
                is_knee: false,
                n: taken.n(),
                confirmed,
            })
        };
        let mut rows: Vec<Row> = self.advice.front.iter().filter_map(row).collect();
        // The search adds up all probes of a setting; here the longest one speaks.
        rows.sort_by(|a, b| a.latency.value.total_cmp(&b.latency.value));
        let mut most = 0.0;
        rows.retain(|row| {
            let is_more = row.carried > most;
            most = row.carried.max(most);
            is_more || row.is_best
        });
        let knee = (rows.iter_mut()).max_by(|a, b| a.power().total_cmp(&b.power()));
        if let Some(knee) = knee {
            knee.is_knee = true;
        }
        rows
    }
}

/// Constraints with what was found; `longer`: the length of a run that decides, in words. `is_scheduled`: the exchanges
/// begin on a schedule.
fn judged<'a>(
    verdicts: impl Iterator<Item = (&'a Constraint, &'a Verdict)>,
    longer: &str,
    is_scheduled: bool,
) -> Vec<Judged> {
    let judged = verdicts.map(|(constraint, verdict)| {
        let mut held = match &verdict.found {
            Some(found) => Held::new(constraint, verdict.compliance, found, is_scheduled),
            None => Held::missed("it could not be measured".into()),
        };
        if held.compliance == Compliance::Undecided {
            held.line += longer;
        }
        Judged::new(&constraint.text, vec![held])
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::of_exchanges;
    use wiregauge_tune::Bound;

    fn said(open: &[(&str, f64, f64, Option<f64>)]) -> Option<String> {
        let both = open.iter().map(|&(text, limit, value, high)| {
            let low = Some(0.5 * value);
            let found = Some(Estimate { value, low, high });
            let constraint = of_exchanges(text).expect("a constraint");
            (constraint, Verdict::of(Bound::Below(limit), found))
        });
        let both: Vec<(Constraint, Verdict)> = both.collect();
        unmet::verdict(&judged(both.iter().map(|(c, v)| (c, v)), "", false))
    }

    #[test]
    fn each_constraint_is_named_with_what_became_of_it() {
        let short = ("p99<20ms", 20e6, 15.8e6, None);
        assert_eq!(
            said(&[short]).as_deref(),
            Some("Limit undecided: p99<20ms (15.80 ms; 95 %: 7.900 ms .. ?).")
        );
        let met = ("p50<20ms", 20e6, 10e6, Some(11e6));
        let violated = ("p90<5ms", 5e6, 16e6, None);
        assert_eq!(
            said(&[met, short, violated]).as_deref(),
            Some(
                "Limits missed: p90<5ms (16.00 ms, 3.20 times the limit); undecided: p99<20ms (15.80 ms; 95 %: 7.900 \
                 ms .. ?); met: p50<20ms (10.00 ms)."
            )
        );
        assert_eq!(
            said(&[met]).as_deref(),
            Some("Limit met: p50<20ms (10.00 ms).")
        );
        assert_eq!(said(&[]), None);
    }
}
