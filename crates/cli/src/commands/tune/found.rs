//! What a search found, with what was measured on the way: the one thing that words and JSON are made of.

use super::longer;
use super::taken::Taken;
use super::task::{Kind, Task};
use crate::commands::unmet::{self, Judged, Unmet};
use crate::constraint::Constraint;
use crate::limit_value::Held;
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_link::LinkError;
use wiregauge_tune::{Advice, Candidate, Choice, Compliance, Purpose, Verdict};

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
    /// What was asked for and is not shown, in words.
    pub fn unmet(&self) -> Vec<Unmet> {
        let Some(best) = &self.advice.best else {
            let text = "no setting was found: the link failed at every setting tried";
            return vec![Unmet::missed(text.into())];
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
        let judged = judged(self.verdicts(), &needed).into_iter();
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
                let sentence = unmet::verdict(&judged(self.verdicts(), ""))?;
                let longer = self.required(best).map_or(String::new(), |length| {
                    format!(" Use --confirm {length} to decide.")
                });
                Some(sentence + &longer)
            }
            false => Some("Not confirmed by a new run.".into()),
        }
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

    /// What the confirming run of a setting gave, or else its longest probe; true if confirmed.
    pub fn longest(&self, at: &Candidate) -> Option<(&Taken, bool)> {
        let probes = self.advice.probes.iter().zip(&self.taken);
        let here = probes.filter_map(|((probe, _), taken)| Some((probe, taken.as_ref()?)));
        here.filter(|(probe, _)| probe.at == *at)
            .max_by_key(|(probe, _)| (probe.purpose == Purpose::Confirm, probe.exchanges))
            .map(|(probe, taken)| (taken, probe.purpose == Purpose::Confirm))
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
}

/// Constraints with what was found; `longer`: the length of a run that decides, in words.
fn judged<'a>(
    verdicts: impl Iterator<Item = (&'a Constraint, &'a Verdict)>,
    longer: &str,
) -> Vec<Judged> {
    let judged = verdicts.map(|(constraint, verdict)| {
        let mut held = match &verdict.found {
            Some(found) => Held::new(constraint, verdict.compliance, found, false, None),
            None => Held::missed("it could not be measured".into()),
        };
        if held.compliance == Compliance::Undecided {
            held.line += longer;
        }
        Judged::new(&constraint.text, vec![held])
    });
    judged.collect()
}
