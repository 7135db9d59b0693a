//! A comparison as plain data: what tables, figures and files are made of.

use crate::conditions::Changed;
use crate::figure::Figure;
use crate::key::Key;
use serde::Serialize;
use wiregauge_record::{Better, Figure as Named, Problem, Unit};
use wiregauge_run::{Files, Run};
use wiregauge_stats::{Difference, Estimate};

/// Two sides, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The kind of the runs.
    pub kind: &'static str,
    /// The runs before.
    pub before: Vec<RunNote>,
    /// The runs after.
    pub after: Vec<RunNote>,
    /// How sure all intervals together are.
    pub confidence: f64,
    /// How many intervals that is: points times figures that have one.
    pub compared: usize,
    /// Exchanges with the same device from two hosts: which is slower, and why.
    pub hosts: Option<HostDifference>,
    /// What else differs between the sides, and may be the cause.
    pub changed: Vec<Changed>,
    /// The points that every run has.
    pub points: Vec<ComparedPoint>,
    /// The points that not every run has.
    pub unmatched: Vec<Unmatched>,
    /// What should be known of it.
    pub notes: Vec<String>,
}

/// A run that was compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunNote {
    /// Its name.
    pub name: String,
    /// When it started.
    pub started: String,
    /// How far it came.
    pub state: String,
    /// Its address.
    pub address: String,
    /// What the user wrote about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl RunNote {
    pub(crate) fn of<K: Files>(run: &Run<K>) -> RunNote {
        RunNote {
            name: run.name(),
            started: run.file.conditions.started.clone(),
            state: run.state_word().to_owned(),
            address: K::address(&run.file.plan).to_owned(),
            note: run.file.conditions.note.clone(),
        }
    }
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedPoint {
    /// What was asked.
    pub point: Key,
    /// Samples before, all runs together.
    pub samples_before: u64,
    /// Samples after, all runs together.
    pub samples_after: u64,
    /// Its figures.
    pub figures: Vec<Compared>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Which.
    pub figure: Figure,
    /// After against before; `None` where a side has no such figure.
    pub difference: Option<Difference>,
    /// What that means.
    pub verdict: Verdict,
}

impl Compared {
    /// The difference as it is judged: relative, or in points for a share.
    pub fn judged(&self) -> Option<Estimate> {
        let difference = self.difference.as_ref()?;
        match self.figure.unit() {
            Unit::Share => Some(difference.absolute),
            _ => difference.relative,
        }
    }
}

/// Two hosts at one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostDifference {
    /// One exchange at a time, as the floor is measured, with the smallest sizes of both runs.
    pub point: Key,
    /// Whether the median RTT after is longer.
    pub verdict: Verdict,
    /// The host of the runs before.
    pub before: HostSide,
    /// The host of the runs after.
    pub after: HostSide,
    /// What the floor was measured with on both hosts; `None` where they have none in common.
    pub floor: Option<String>,
}

/// One of two hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostSide {
    /// Its name.
    pub name: String,
    /// Its system and release, such as `Linux 6.1.0`.
    pub system: String,
    /// Median RTT to the device, in nanoseconds.
    pub p50_ns: f64,
    /// Median RTT of the floor, in nanoseconds.
    pub floor_ns: Option<f64>,
}

impl HostDifference {
    /// The share of the difference that the floors account for; more than 1 where the floors differ by
    /// more than the RTTs, less than 0 where they differ the other way. `None` without floors or without
    /// a difference.
    pub fn floor_share(&self) -> Option<f64> {
        let floors = self.after.floor_ns? - self.before.floor_ns?;
        let differ = matches!(self.verdict, Verdict::Worse | Verdict::Better);
        differ.then(|| floors / (self.after.p50_ns - self.before.p50_ns))
    }
}

/// A point that not every run has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmatched {
    /// What was asked.
    pub point: Key,
    /// Names of the runs that lack it, or measured nothing there.
    pub missing_in: Vec<String>,
}

/// What a difference and its interval mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// After is worse, and chance does not explain it.
    Worse,
    /// After is better, and chance does not explain it.
    Better,
    /// Chance explains the difference; how large one may hide, the interval tells.
    NoDifferenceShown,
    /// The samples bound nothing.
    CannotTell,
}

impl Verdict {
    pub(crate) fn of(figure: Figure, difference: Option<&Difference>) -> Verdict {
        let Some(difference) = difference else {
            return Verdict::CannotTell;
        };
        let Estimate { low, high, .. } = difference.absolute;
        let (more, less) = match figure.better() {
            Better::Lower => (Verdict::Worse, Verdict::Better),
            Better::Higher => (Verdict::Better, Verdict::Worse),
        };
        if low.is_some_and(|low| low > 0.0) {
            more
        } else if high.is_some_and(|high| high < 0.0) {
            less
        } else if low.is_some() && high.is_some() {
            Verdict::NoDifferenceShown
        } else {
            Verdict::CannotTell
        }
    }

    /// In the words of a table.
    pub fn words(self, figure: Figure) -> &'static str {
        match (self, figure) {
            (Verdict::NoDifferenceShown, _) => "no significant difference",
            (Verdict::CannotTell, _) => "inconclusive",
            (Verdict::Worse, Figure::Named(Named::Share(Problem::Lost))) => "loses more",
            (Verdict::Better, Figure::Named(Named::Share(Problem::Lost))) => "loses less",
            (Verdict::Worse, Figure::Named(Named::Share(_))) => "corrupts more",
            (Verdict::Better, Figure::Named(Named::Share(_))) => "corrupts less",
            (Verdict::Worse, Figure::Buffer(_)) => "needs more",
            (Verdict::Better, Figure::Buffer(_)) => "needs less",
            (Verdict::Worse, figure) if figure.better() == Better::Higher => "lower",
            (Verdict::Better, figure) if figure.better() == Better::Higher => "higher",
            (Verdict::Worse, Figure::Own(_)) => "higher",
            (Verdict::Better, Figure::Own(_)) => "lower",
            (Verdict::Worse, _) => "slower",
            (Verdict::Better, _) => "faster",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_slower_and_a_rate_lower() {
        let figure = |name| Figure::Named(Named::parse(name).expect("a figure"));
        assert_eq!(Verdict::Worse.words(figure("trt")), "slower");
        assert_eq!(Verdict::Better.words(figure("trt")), "faster");
        assert_eq!(Verdict::Worse.words(figure("exchanges")), "lower");
        assert_eq!(Verdict::Better.words(figure("throughput")), "higher");
    }
}
