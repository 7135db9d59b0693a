//! What `wiregauge tune` left beside the run that confirmed its choice.

use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// The file beside the run.
const FILE: &str = "tune.json";

/// A search, as far as its tables show it. docs/tune.md lists the keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Tuned {
    /// `exchange` or `stream`.
    pub kind: String,
    /// The objective.
    pub objective: Objective,
    /// The choice, with the figures of the confirming run.
    pub best: Option<Confirmed>,
    /// The settings that nothing else beats in both latency and throughput.
    #[serde(default)]
    pub front: Vec<TunedRow>,
    /// Why this choice.
    #[serde(default)]
    pub why: Vec<String>,
}

/// What was to be minimised or maximised.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Objective {
    /// The figure.
    pub figure: String,
    /// `maximise` or `minimise`.
    pub sense: String,
    /// The direction in which throughput counts: `in`, `out` or `both`.
    #[serde(default)]
    pub carried: Option<String>,
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Confirmed {
    /// The objective.
    pub objective: wiregauge_stats::Estimate,
    /// Measured by a new run, or only in a short probe.
    pub confirmed: bool,
    /// Exchanges of that run.
    pub exchanges: Option<u64>,
    /// Milliseconds of that run of a stream.
    pub milliseconds: Option<u64>,
    /// The verdict on each constraint.
    pub constraints: Vec<Limit>,
}

/// A constraint and what was found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Limit {
    /// As it was asked for.
    pub text: String,
    /// The figure.
    pub figure: String,
    /// Its value with its interval.
    pub found: Option<wiregauge_stats::Estimate>,
    /// The verdict's word.
    pub verdict: String,
}

/// A setting of the front.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TunedRow {
    /// As the answer names it.
    pub name: String,
    /// Mean time of one.
    pub latency_ns: wiregauge_stats::Estimate,
    /// Its 99th percentile.
    #[serde(default)]
    pub latency_p99_ns: Option<wiregauge_stats::Estimate>,
    /// Bytes a second of both directions.
    pub bytes_s: f64,
    /// Bytes a second in the direction of [`Objective::carried`].
    #[serde(default)]
    pub carried_bytes_s: Option<f64>,
    /// Exchanges or transfers a second.
    pub per_second: f64,
    /// Exchanges or transfers behind it.
    pub n: u64,
    /// Measured by the confirming run, or in a short probe.
    pub confirmed: bool,
    /// What its confirming run did not prove, such as `p99<2ms missed`.
    #[serde(default)]
    pub unproven: Option<String>,
    /// True of the choice.
    pub is_best: bool,
    /// True of the setting with the most throughput for its latency.
    pub is_knee: bool,
    /// True of the best setting with its ways to wait and to connect, where several were searched.
    #[serde(default)]
    pub is_best_of_method: bool,
}

impl TunedRow {
    /// Bytes a second, as the objective counts them.
    pub fn throughput(&self) -> f64 {
        self.carried_bytes_s.unwrap_or(self.bytes_s)
    }

    /// What distinguishes it from the others.
    pub fn note(&self) -> String {
        let marks = [
            self.is_best.then_some("chosen"),
            self.is_knee.then_some("knee"),
            self.is_best_of_method
                .then_some("best with this --wait and --connect"),
            self.unproven.as_deref(),
        ];
        marks.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The answer of the search in one line; `None` if the run confirmed none, or nothing responded.
pub(crate) fn answer_of_search(dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(dir.join(FILE)).ok()?;
    let search: Value = serde_json::from_str(&text).ok()?;
    search["answer"].as_str().map(str::to_owned)
}
