//! What `wiregauge tune` left beside the run that confirmed its choice.

use serde::Deserialize;
use std::path::Path;
use wiregauge_model::response_size;
use wiregauge_record::grouped;

/// The file beside the run.
const FILE: &str = "tune.json";

/// A search, as far as a page shows it. docs/tune.md lists the keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Tuned {
    /// The objective.
    pub objective: Objective,
    /// Constraints.
    pub constraints: Vec<Constraint>,
    /// The answer in one line; `None` if nothing responded, or an earlier version made the run.
    #[serde(default)]
    pub answer: Option<String>,
    /// How the search ended: `complete`, `out-of-time` ...
    pub ended: String,
    /// The choice, with the figures of the confirming run.
    pub best: Option<Confirmed>,
    /// The settings that nothing else beats in both latency and throughput.
    #[serde(default)]
    pub front: Vec<TunedRow>,
    /// Settings that were measured on the way.
    #[serde(default)]
    pub probes: Vec<Probe>,
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

/// A limit as it was asked for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Constraint {
    /// Such as `p99<10ms`.
    pub text: String,
}

/// A setting under the names of the flags; those of the other kind are absent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Setting {
    /// Of exchanges.
    pub out_bytes: Option<u32>,
    /// Of exchanges.
    pub in_bytes: Option<u32>,
    /// Of exchanges.
    pub depth: Option<u32>,
    /// Of exchanges.
    pub wait: Option<String>,
    /// Of exchanges.
    pub connect: Option<String>,
    /// Of streams.
    pub direction: Option<String>,
    /// Of streams.
    pub transfer_bytes: Option<u32>,
    /// Of streams.
    pub queue: Option<u32>,
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Confirmed {
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

/// A short measurement of the search.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Probe {
    /// Mean TRT of an exchange, if one was answered.
    pub trt_ns: Option<f64>,
}

/// A setting of the front.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TunedRow {
    /// Which.
    #[serde(flatten)]
    pub setting: Setting,
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
    /// Measured by the confirming run, or in a short probe.
    pub confirmed: bool,
    /// What its confirming run did not prove, such as `p99<2ms missed`.
    #[serde(default)]
    pub unproven: Option<String>,
    /// True of the choice.
    pub is_best: bool,
    /// True of the setting with the most throughput for its latency.
    pub is_knee: bool,
}

impl Setting {
    /// As the tables of tune name it.
    pub fn name(&self) -> String {
        let bytes =
            |name: &str, bytes: Option<u32>| Some(format!("{name} {} B", grouped(bytes?.into())));
        let number = |name: &str, number: Option<u32>| Some(format!("{name} {}", number?));
        let unusual = |name: &str, word: &Option<String>, usual: &str| {
            let word = word.as_ref().filter(|word| *word != usual)?;
            Some(format!("{name} {word}"))
        };
        let parts = [
            bytes("OUT", self.out_bytes),
            self.in_bytes.map(response_size),
            self.direction.as_ref().map(|way| way.to_uppercase()),
            bytes("transfers of", self.transfer_bytes),
            number("depth", self.depth),
            number("queue", self.queue),
            unusual("wait", &self.wait, "block"),
            unusual("connect", &self.connect, "once"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl TunedRow {
    /// Bytes a second, as the objective counts them.
    pub fn throughput(&self) -> f64 {
        self.carried_bytes_s.unwrap_or(self.bytes_s)
    }
}

impl Tuned {
    /// Reads it from the directory of a run; `None` if the file is missing or has an unknown form.
    pub fn of(dir: &Path) -> Option<Tuned> {
        let text = std::fs::read_to_string(dir.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }
}
