//! Settings that were not measured, and the mean round-trip time that the link's model predicts for them. Only those within
//! the range that the model may speak of.

use super::control::Controls;
use std::collections::BTreeSet;
use wiregauge_explain::models_of_exchange;
use wiregauge_model::{LinkModel, Observation, Prediction, Setting};
use wiregauge_record::{Point, PointSummary, Schedule};
use wiregauge_run::RunFile;

/// Settings that are predicted, at most.
const MOST: usize = 24;

/// Sizes that a line with an interval requires.
const FEWEST_SIZES: usize = 3;

/// A setting that was not measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// Index of the measured point that is nearest to it.
    pub(super) from: u32,
    /// Mean RTT of that point, measured.
    pub(super) from_rtt_ns: f64,
    pub(super) at: Setting,
    /// Predicted mean RTT and its interval.
    pub(super) rtt_ns: f64,
    pub(super) low_ns: f64,
    pub(super) high_ns: f64,
    /// Its confidence.
    pub(super) share: f64,
}

/// What of a link predicts the mean RTT of a setting.
struct RttModel {
    model: LinkModel,
    /// On a schedule the depth does not change the RTT, as responses hardly overlap: all points count as depth 1.
    has_schedule: bool,
}

impl RttModel {
    fn predict(&self, at: Setting) -> Option<Prediction> {
        match self.has_schedule {
            true => self.model.predict(Setting { depth: 1, ..at }, None).ok(),
            false => self.model.predict_rtt(at, None).ok(),
        }
    }
}

/// Settings between the measured ones, each with what is predicted of it; or why there are none.
pub(super) fn candidates(file: &RunFile, controls: &Controls) -> (Vec<Candidate>, Option<String>) {
    let chosen: Vec<&PointSummary> = (file.points.iter())
        .filter(|summary| {
            let mut points = controls.points.iter();
            points.any(|p| p.point.index == summary.point.index && p.assessment.is_some())
        })
        .collect();
    if !file.plan.more_links.is_empty() {
        return (Vec::new(), reason("the run has several links"));
    }
    let model = match file.plan.schedule {
        Schedule::AsFastAsPossible => as_fast_as_possible(file),
        Schedule::EveryNs(every_ns) => on_schedule(&file.points, every_ns),
    };
    let model = match model {
        Ok(model) => model,
        Err(why_not) => return (Vec::new(), reason(&why_not)),
    };
    let mut found = Vec::new();
    for at in between(&file.points, model.has_schedule) {
        let Some(from) = nearest(&chosen, at, model.has_schedule) else {
            continue;
        };
        let (Some(predicted), Some(rtt)) = (model.predict(at), &from.rtt) else {
            continue;
        };
        if let (Some(low_ns), Some(high_ns)) = (predicted.low, predicted.high) {
            found.push(Candidate {
                from: from.point.index,
                from_rtt_ns: rtt.mean.value,
                at,
                rtt_ns: predicted.value,
                low_ns,
                high_ns,
                share: predicted.share,
            });
        }
    }
    let why_not = match found.is_empty() {
        true => reason("no setting lies between the measured ones"),
        false => None,
    };
    (found, why_not)
}

fn reason(why: &str) -> Option<String> {
    Some(format!("Other sizes and depths are not predicted: {why}."))
}

/// The model of `wiregauge explain`.
fn as_fast_as_possible(file: &RunFile) -> Result<RttModel, String> {
    let models = models_of_exchange(&file.plan, &file.conditions, &file.points);
    let Some(modelled) = models.into_iter().next() else {
        return Err("nothing was measured".into());
    };
    if modelled.is_doubtful() {
        let why = "the link model does not describe this run (wiregauge explain)";
        return Err(modelled.why_not.unwrap_or_else(|| why.into()));
    }
    let model = modelled.model.ok_or("the run has no link model")?;
    can_predict(&model)?;
    Ok(RttModel {
        model,
        has_schedule: false,
    })
}

/// Of points whose responses hardly overlap, the time of an exchange alone: a fixed part and a part a byte.
fn on_schedule(points: &[PointSummary], every_ns: u64) -> Result<RttModel, String> {
    let is_alone = |point: &&PointSummary| {
        let times = point.rtt.as_ref();
        times.is_some_and(|times| times.p99.value < every_ns as f64)
    };
    let alone: Vec<Observation> = (points.iter().filter(is_alone))
        .filter_map(|point| {
            let observed = Observation::of_exchange(point)?;
            Some(Observation {
                at: Setting {
                    depth: 1,
                    ..observed.at
                },
                trt_ns: observed.rtt_ns,
                ..observed
            })
        })
        .collect();
    if alone.is_empty() {
        return Err(
            "the responses overlap (their p99 is longer than the period of the run), so their times at other sizes do not \
             follow from this run"
                .into(),
        );
    }
    let sizes: BTreeSet<(u32, u32)> = (alone.iter())
        .map(|one| (one.at.out_bytes, one.at.in_bytes))
        .collect();
    if sizes.len() < FEWEST_SIZES {
        return Err(format!(
            "in a run on a schedule only sizes are, which requires {FEWEST_SIZES} different sizes (this run has {})",
            sizes.len()
        ));
    }
    let model = LinkModel::fit(&alone).map_err(|why| why.to_string())?;
    can_predict(&model)?;
    Ok(RttModel {
        model,
        has_schedule: true,
    })
}

/// A model of too few settings predicts without an interval.
fn can_predict(model: &LinkModel) -> Result<(), String> {
    match model.points().first() {
        Some(first) => (model.predict(first.at, None).map(drop)).map_err(|why| why.to_string()),
        None => Err("nothing was measured".into()),
    }
}

/// Sizes that were measured and those half-way between neighbours, and every depth between the least and the largest; on a
/// schedule only the measured depths. Without what was measured.
fn between(points: &[PointSummary], has_schedule: bool) -> Vec<Setting> {
    let measured: BTreeSet<Setting> = points.iter().map(|one| setting_of(&one.point)).collect();
    let values = |of: fn(&Setting) -> u32| measured.iter().map(of).collect::<BTreeSet<u32>>();
    let halves = |sizes: BTreeSet<u32>| {
        let all: Vec<u32> = sizes.iter().copied().collect();
        let between = all.windows(2).map(|pair| pair[0] + (pair[1] - pair[0]) / 2);
        sizes
            .iter()
            .copied()
            .chain(between)
            .collect::<BTreeSet<u32>>()
    };
    let (out, input) = (
        halves(values(|at| at.out_bytes)),
        halves(values(|at| at.in_bytes)),
    );
    let depths = values(|at| at.depth);
    let depths: BTreeSet<u32> = match (has_schedule, depths.first(), depths.last()) {
        (false, Some(&from), Some(&to)) => (from..=to).collect(),
        _ => depths,
    };
    let mut all = Vec::new();
    for &depth in &depths {
        for &in_bytes in &input {
            for &out_bytes in &out {
                let at = Setting {
                    out_bytes,
                    in_bytes,
                    depth,
                };
                if !measured.contains(&at) {
                    all.push(at);
                }
            }
        }
    }
    // Evenly, where they are too many.
    let stride = all.len().div_ceil(MOST).max(1);
    all.into_iter().step_by(stride).collect()
}

/// The measured point that is most like a setting; on a schedule one of its depth.
fn nearest<'a>(
    points: &[&'a PointSummary],
    at: Setting,
    has_schedule: bool,
) -> Option<&'a PointSummary> {
    let near = |point: &PointSummary| {
        let own = setting_of(&point.point);
        let bytes =
            own.out_bytes.abs_diff(at.out_bytes) as u64 + own.in_bytes.abs_diff(at.in_bytes) as u64;
        (own.depth.abs_diff(at.depth), bytes, point.point.index)
    };
    let usable = points.iter().copied();
    let usable = usable.filter(|point| !has_schedule || point.point.depth == at.depth);
    usable.min_by_key(|point| near(point))
}

fn setting_of(point: &Point) -> Setting {
    Setting {
        out_bytes: point.out_bytes,
        in_bytes: point.in_bytes,
        depth: point.depth,
    }
}
