//! What a search found out: the choice, what else was measured, and why the limit is where it is.

use crate::{Bound, Candidate, FrontPoint, Measured, Probe, Why};
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

/// A setting whose probe came nearer to meeting the constraints than the chosen setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Nearer {
    /// The setting.
    pub at: Candidate,
    /// The constraint that it misses most, or meets with the least room; by its index.
    pub constraint: usize,
    /// The value there.
    pub value: f64,
    /// Exchanges of the probe.
    pub exchanges: u64,
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
    /// Latency against throughput: what no other candidate beats in both, from the shortest latency
    /// on. Constraints are not looked at.
    pub front: Vec<FrontPoint>,
    /// The point of the front with the most throughput for its latency.
    pub knee: Option<Candidate>,
    /// Why the limit is where it is, what weighs most first.
    pub why: Vec<Why>,
    /// Exchanges spent, confirmations included.
    pub spent: u64,
    /// Exchanges that exhaustive search would have spent.
    pub exhaustive: u64,
    /// True if the budget would have allowed another confirmation.
    pub may_confirm: bool,
    /// The fitted model of the link, of the ways to wait and to connect of the choice.
    pub model: Option<LinkModel>,
}

impl Advice {
    /// Where the chosen setting misses a constraint: what came nearest by its longest probe, if that is another one.
    pub fn nearer(&self) -> Option<Nearer> {
        let best = self.best.as_ref()?;
        let bounds: Vec<Bound> = best.constraints.iter().map(|one| one.bound).collect();
        let found: Vec<_> = best.constraints.iter().map(|one| one.found).collect();
        let (chosen, ..) = least_room(&bounds, &found)?;
        let mut nearest: Option<(f64, Nearer)> = None;
        for (probe, measured) in &self.probes {
            let others = self.probes.iter().filter(|(other, _)| other.at == probe.at);
            let longest = others.map(|(_, other)| other.exchanges).max();
            let is_longest = Some(measured.exchanges) == longest;
            if probe.at == best.at || !is_longest || measured.has_failed() {
                continue;
            }
            let Some((room, constraint, value)) = least_room(&bounds, &measured.constraints) else {
                continue;
            };
            if room > nearest.map_or(chosen, |(room, _)| room) {
                let nearer = Nearer {
                    at: probe.at,
                    constraint,
                    value,
                    exchanges: measured.exchanges,
                };
                nearest = Some((room, nearer));
            }
        }
        nearest.filter(|_| chosen < 0.0).map(|(_, nearer)| nearer)
    }
}

/// Of the constraint with the least room: its room, index and value. `None` if a figure could not be had.
fn least_room(bounds: &[Bound], found: &[Option<Estimate>]) -> Option<(f64, usize, f64)> {
    let mut least: Option<(f64, usize, f64)> = None;
    for (index, (bound, found)) in bounds.iter().zip(found).enumerate() {
        let value = (*found)?.value;
        let room = bound.room(value);
        if least.is_none_or(|(most, ..)| room < most) {
            least = Some((room, index, value));
        }
    }
    least
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

    fn at(depth: u32) -> Candidate {
        Candidate {
            setting: wiregauge_model::Setting {
                out_bytes: 16,
                in_bytes: 48,
                depth,
            },
            wait: wiregauge_record::Wait::Block,
            connect: wiregauge_record::Connect::Once,
        }
    }

    fn probe(depth: u32, exchanges: u64, p99: f64) -> (Probe, Measured) {
        let observation = wiregauge_model::Observation {
            at: at(depth).setting,
            rtt_ns: 1e6,
            trt_ns: 1e6,
            error: 0.1,
        };
        let probe = Probe {
            at: at(depth),
            exchanges,
            purpose: crate::Purpose::Explore,
        };
        let measured = Measured {
            exchanges,
            observation: Some(observation),
            objective: between(None, 1e6, None),
            constraints: vec![between(None, p99, None)],
        };
        (probe, measured)
    }

    fn advice(p99: f64, probes: Vec<(Probe, Measured)>) -> Advice {
        let found = between(Some(3.0), p99, None);
        let best = Choice {
            at: at(2),
            objective: Estimate {
                value: 1e6,
                low: None,
                high: None,
            },
            constraints: vec![Verdict::of(Bound::Below(0.1), found)],
            exchanges: 1000,
            confirmed: true,
        };
        Advice {
            best: Some(best),
            set_aside: Vec::new(),
            probes,
            failed: Vec::new(),
            front: Vec::new(),
            knee: None,
            why: Vec::new(),
            spent: 1024,
            exhaustive: 1600,
            may_confirm: false,
            model: None,
        }
    }

    #[test]
    fn a_probe_that_came_nearer_to_a_missed_constraint_is_found() {
        let probes = [(2, 12, 1.1), (3, 12, 1.3), (4, 12, 0.9), (4, 24, 1.7)];
        let probes = probes.map(|(depth, exchanges, p99)| probe(depth, exchanges, p99));
        let probes = Vec::from(probes);
        let nearer = advice(7.2, probes.clone()).nearer().expect("depth 3");
        // The longest probe of depth 4 was worse than its first.
        assert_eq!((nearer.at, nearer.constraint), (at(3), 0));
        assert_eq!((nearer.value, nearer.exchanges), (1.3, 12));
        // It is the nearest itself, or misses nothing.
        assert_eq!(advice(1.2, probes.clone()).nearer(), None);
        assert_eq!(advice(0.05, probes).nearer(), None);
    }
}
