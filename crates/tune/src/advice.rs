//! What a search found out: the choice, and what else was measured.

use crate::{Bound, Candidate, Measured, Probe, Why};
use serde::Serialize;
use wiregauge_model::LinkModel;
use wiregauge_stats::Estimate;

/// Whether a run proves that a constraint is met; the worst is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compliance {
    /// The whole interval is within the limit. (For "at most 0", which no finite run can prove: none was counted.)
    Met,
    /// The interval contains the limit, or the run is too short to have one.
    Undecided,
    /// The whole interval is beyond the limit, or a figure that must be 0 is not, or there is no such figure: no response
    /// was measured, or a percentile lies among the exchanges without one.
    Violated,
}

/// One constraint, judged by one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The limit.
    pub bound: Bound,
    /// The measured value; `None` if there is none.
    pub found: Option<Estimate>,
    /// Whether the limit is met.
    pub compliance: Compliance,
}

impl Verdict {
    /// Of a bound and what was found.
    pub fn of(bound: Bound, found: Option<Estimate>) -> Verdict {
        let compliance = match found {
            None => Compliance::Violated,
            // No finite run proves that there never is one: the count decides.
            Some(found) if bound == Bound::AtMost(0.0) => match bound.keeps(found.value) {
                true => Compliance::Met,
                false => Compliance::Violated,
            },
            Some(found) => Compliance::by_interval(bound, found),
        };
        Verdict {
            bound,
            found,
            compliance,
        }
    }
}

impl Compliance {
    /// Of a value that lies within an interval: what is not proven is undecided.
    pub fn by_interval(bound: Bound, found: Estimate) -> Compliance {
        let (near, far) = match bound.is_upper() {
            true => (found.low, found.high),
            false => (found.high, found.low),
        };
        if far.is_some_and(|value| bound.keeps(value)) {
            Compliance::Met
        } else if near.is_some_and(|value| !bound.keeps(value)) {
            Compliance::Violated
        } else {
            Compliance::Undecided
        }
    }
}

/// What was found to be best, with the figures of the run that confirmed it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// What to set.
    pub at: Candidate,
    /// The objective there.
    pub objective: Estimate,
    /// The constraints there, in their order.
    pub constraints: Vec<Verdict>,
    /// Exchanges of the run.
    pub exchanges: u64,
    /// False if the search ended before a new run could confirm it: the figures are then those of its
    /// best probe, which are too good.
    pub confirmed: bool,
}

impl Choice {
    /// True if every constraint is proved to be met.
    pub fn keeps_all(&self) -> bool {
        self.constraints
            .iter()
            .all(|v| v.compliance == Compliance::Met)
    }

    /// True if no value and no bound is beyond a limit: a longer run may prove it, another setting is no better.
    pub(crate) fn lacks_only_samples(&self) -> bool {
        self.constraints.iter().all(|v| {
            let is_within = |found| v.bound.keeps(v.bound.worst_of(found));
            v.compliance == Compliance::Met || v.found.is_some_and(is_within)
        })
    }
}

/// What was confirmed, and then not chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetAside {
    /// With the figures of its confirmation; a constraint that is not kept says why.
    pub choice: Choice,
    /// True if all its constraints were kept, and another turned out better, or as good at a lower cost.
    pub was_outdone: bool,
}

/// The answer, complete at any time: also of a search that was interrupted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The best; `None` if nothing answered. If nothing keeps the constraints, what comes nearest:
    /// look at its verdicts.
    pub best: Option<Choice>,
    /// What was confirmed before and not chosen, in order.
    pub set_aside: Vec<SetAside>,
    /// Everything measured, in order.
    pub probes: Vec<(Probe, Measured)>,
    /// Candidates at which the link failed.
    pub failed: Vec<Candidate>,
    /// What to allow for a better one.
    pub why: Vec<Why>,
    /// Exchanges spent, confirmations included.
    pub spent: u64,
    /// Exchanges that exhaustive search would have spent.
    pub exhaustive: u64,
    /// The fitted model of the link, of the ways to wait and to connect of the choice.
    pub model: Option<LinkModel>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: Option<f64>, value: f64, high: Option<f64>) -> Option<Estimate> {
        Some(Estimate { value, low, high })
    }

    #[test]
    fn a_constraint_is_kept_only_if_its_whole_interval_keeps_it() {
        use Bound::{AtLeast, AtMost, Below};
        use Compliance::{Met, Undecided, Violated};
        for (name, bound, (low, value, high), expected) in [
            ("below", Below(10.0), (Some(7.0), 8.0, Some(9.0)), Met),
            ("at", Below(10.0), (Some(7.0), 8.0, Some(10.0)), Undecided),
            ("beyond", Below(10.0), (Some(10.0), 11.0, None), Violated),
            ("from", AtLeast(10.0), (Some(10.0), 11.0, Some(12.0)), Met),
            (
                "short",
                AtLeast(10.0),
                (Some(8.0), 9.0, Some(9.5)),
                Violated,
            ),
            (
                "run too short",
                Below(10.0),
                (Some(1.0), 2.0, None),
                Undecided,
            ),
            // None lost is kept by the count, and violated by a single one.
            ("none lost", AtMost(0.0), (Some(0.0), 0.0, Some(0.003)), Met),
            (
                "one",
                AtMost(0.0),
                (Some(0.0), 0.001, Some(0.005)),
                Violated,
            ),
        ] {
            let found = Verdict::of(bound, between(low, value, high));
            assert_eq!(found.compliance, expected, "{name}");
        }
        let unknown = Verdict::of(Below(10.0), None);
        assert_eq!(unknown.compliance, Violated, "no value");
    }
}
