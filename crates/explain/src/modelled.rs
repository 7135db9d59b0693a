//! The link in a few numbers, from the points of a run: one model for each way of each link, or the
//! reason why there is none; and what it says of settings that were not measured.

use crate::depth::is_answered;
use crate::meaning;
use crate::noun::{self, Noun};
use crate::verdict::{busy_device, full_bus, not_arrived};
use serde::Serialize;
use wiregauge_model::{
    CannotPredict, Figures, LinkModel, MIN_FOR_PREDICTION, MIN_SETTINGS, NotFitted, Observation,
    Prediction, Setting,
};
use wiregauge_record::{
    BusLimit, Conditions, Direction, FlowSummary, Plan, PointSummary, Schedule, StreamPlan,
    StreamSummary, Way,
};

/// A model of one way, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Modelled {
    /// Which link of the plan.
    pub link: u32,
    /// Whether the other links were used at the same time.
    pub together: bool,
    /// Of a stream: what flowed.
    pub direction: Option<Direction>,
    /// Of a stream: which way of it.
    pub way: Option<Way>,
    /// Points that were left out because exchanges were not answered.
    pub left_out: usize,
    /// The model.
    #[serde(serialize_with = "figures")]
    pub model: Option<LinkModel>,
    /// Why there is none, or its figures are not shown.
    pub why_not: Option<String>,
    /// The physical limit of the link in bytes a second, where it is known.
    pub limit_bytes_s: Option<f64>,
    /// Whether both directions share it.
    #[serde(skip)]
    limit_is_shared: bool,
    /// What it means.
    pub words: Vec<String>,
    /// What was asked for.
    pub predictions: Vec<Predicted>,
    /// Whether its figures describe the link.
    #[serde(skip)]
    describes: bool,
    #[serde(skip)]
    tries: String,
}

/// What a model says of a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Predicted {
    /// Where.
    pub at: Setting,
    /// Time from one to the next, in nanoseconds.
    pub trt_ns: Prediction,
    /// Time of one, in nanoseconds; `None` where no point tells it.
    pub rtt_ns: Option<Prediction>,
    /// Bytes a second OUT.
    pub out_bytes_s: f64,
    /// Bytes a second IN.
    pub in_bytes_s: f64,
    /// True where the times are those of the physical limit, because the model alone exceeds it.
    pub at_limit: bool,
    /// True where the model does not fit the link, or its points do not determine it: measure the setting instead.
    pub is_doubtful: bool,
}

fn figures<S: serde::Serializer>(model: &Option<LinkModel>, to: S) -> Result<S::Ok, S::Error> {
    model.as_ref().map(LinkModel::figures).serialize(to)
}

impl Modelled {
    /// All figures of the model.
    pub fn figures(&self) -> Option<Figures> {
        self.model.as_ref().map(LinkModel::figures)
    }

    /// What the model says of a setting, within the physical limit of the link; `None` where there is
    /// no model. Without a share, the largest of 95, 90 and 80 % that the points carry.
    pub fn predict(
        &self,
        at: Setting,
        share: Option<f64>,
    ) -> Option<Result<Predicted, CannotPredict>> {
        let model = self.model.as_ref()?;
        Some(model.predict(at, share).map(|trt_ns| {
            let rtt_ns = model.predict_rtt(at, trt_ns.claimed()).ok();
            let shortest_ns = self.shortest_trt_ns(at);
            let at_limit = trt_ns.value < shortest_ns;
            // Where the link is always busy, RTT and TRT grow alike: the shortest are in the ratio of the predicted.
            let rtt_ns = rtt_ns.map(|rtt_ns| {
                let least = rtt_ns.value * shortest_ns / trt_ns.value;
                at_least(rtt_ns, least)
            });
            let trt_ns = at_least(trt_ns, shortest_ns);
            Predicted {
                at,
                out_bytes_s: f64::from(at.out_bytes) * 1e9 / trt_ns.value,
                in_bytes_s: f64::from(at.in_bytes) * 1e9 / trt_ns.value,
                rtt_ns,
                trt_ns,
                at_limit,
                is_doubtful: self.is_doubtful(),
            }
        }))
    }

    /// What to measure for a better model: `Try --in 64,256,1k --depth 1,2,4,8`.
    pub fn more_points(&self) -> &str {
        &self.tries
    }

    /// The time that the physical limit needs for the bytes of one exchange; 0 without a limit.
    fn shortest_trt_ns(&self, at: Setting) -> f64 {
        let (out_bytes, in_bytes) = (f64::from(at.out_bytes), f64::from(at.in_bytes));
        let carried = match self.limit_is_shared {
            true => out_bytes + in_bytes,
            false => out_bytes.max(in_bytes),
        };
        (self.limit_bytes_s).map_or(0.0, |bytes_s| carried * 1e9 / bytes_s)
    }

    /// True of a model whose figures do not describe the link, or are not determined by its points: its predictions
    /// are worth little.
    pub fn is_doubtful(&self) -> bool {
        self.why_not.is_some() || !self.describes
    }

    fn of(group: Group, noun: Noun) -> Modelled {
        let (link, together, direction, way) = group.key;
        let (points, left_out) = (group.points.len(), group.left_out);
        let fitted = LinkModel::fit(&group.points);
        let with_tries = |why: String| format!("{why}. {}", noun.tries);
        let why_not = fitted.as_ref().err().map(|why| match why {
            NotFitted::TooFew { .. } if left_out > 0 => format!(
                "a model requires {MIN_SETTINGS} points with different settings and no lost exchanges, a prediction \
                 {MIN_FOR_PREDICTION} (this run has {points} of {})",
                left_out + points
            ),
            NotFitted::TooFew { .. } => with_tries(why.to_string()),
            _ => why.to_string(),
        });
        let model = fitted.ok();
        let figures = model.as_ref().map(LinkModel::figures);
        let undetermined = model.as_ref().zip(figures.as_ref());
        let undetermined =
            undetermined.and_then(|(model, figures)| meaning::undetermined(model, figures));
        let undetermined = undetermined.map(with_tries);
        let refuted = model
            .as_ref()
            .and_then(|model| meaning::refuted(model, &group.seen));
        // What follows from figures that the points do not determine, or from wrong ones, is not worth saying.
        let figures = figures.filter(|_| undetermined.is_none() && refuted.is_none());
        let figures = figures.as_ref();
        let mut words =
            figures.map_or_else(Vec::new, |figures| meaning::of(figures, &noun, &group.seen));
        if left_out > 0 {
            words.push(format!(
                "excluded: {left_out} of {} points, where exchanges were lost",
                left_out + points
            ));
        }
        Modelled {
            link,
            together,
            direction,
            way,
            left_out,
            describes: figures.is_some_and(meaning::describes),
            model,
            why_not: why_not.or(undetermined).or(refuted),
            limit_bytes_s: group.limit_bytes_s,
            limit_is_shared: group.limit_is_shared,
            words,
            predictions: Vec::new(),
            tries: noun.tries,
        }
    }
}

/// The same prediction, no part of it less than this.
fn at_least(predicted: Prediction, least: f64) -> Prediction {
    Prediction {
        value: predicted.value.max(least),
        low: predicted.low.map(|low| low.max(least)),
        high: predicted.high.map(|high| high.max(least)),
        ..predicted
    }
}

/// What the points of a model have in common: the link, whether others were used at the same time, and of a stream its
/// direction and way.
type Key = (u32, bool, Option<Direction>, Option<Way>);

/// Points that one model describes.
#[derive(Default)]
struct Group {
    key: Key,
    left_out: usize,
    points: Vec<Observation>,
    seen: meaning::Seen,
    limit_bytes_s: Option<f64>,
    limit_is_shared: bool,
}

impl Group {
    /// At any size: the largest of its points.
    fn limit(&mut self, of_point: Option<&BusLimit>) {
        let known = self.limit_bytes_s.into_iter();
        let all = known.chain(of_point.map(|limit| limit.bytes_s));
        self.limit_bytes_s = all.reduce(f64::max);
        self.limit_is_shared |= of_point.is_some_and(|limit| limit.shared);
    }

    /// A point of the model, with what else was measured there.
    fn add(&mut self, observed: Observation, limit: Option<&BusLimit>, needs_ns: Option<f64>) {
        self.points.push(observed);
        let is_full = limit.is_some_and(|limit| full_bus(limit).is_some());
        self.seen.full.extend(is_full.then_some(observed.at));
        self.seen
            .busy
            .extend(needs_ns.map(|needs_ns| meaning::Busy {
                at: observed.at,
                needs_ns,
            }));
    }
}

/// The group of this key, made if it is not there.
fn in_groups(groups: &mut Vec<Group>, key: Key) -> &mut Group {
    let at = groups.iter().position(|group| group.key == key);
    let at = at.unwrap_or_else(|| {
        groups.push(Group {
            key,
            ..Group::default()
        });
        groups.len() - 1
    });
    &mut groups[at]
}

/// The models of an exchange run.
pub fn models_of_exchange(
    plan: &Plan,
    conditions: &Conditions,
    points: &[PointSummary],
) -> Vec<Modelled> {
    let mut groups: Vec<Group> = Vec::new();
    for summary in points {
        let (point, limit) = (summary.point, summary.limit.as_ref());
        let group = in_groups(&mut groups, (point.link, point.together, None, None));
        group.limit(limit);
        match Observation::of_exchange(summary) {
            _ if !is_answered(&summary.counts) => group.left_out += 1,
            Some(observed) => group.add(observed, limit, busy_device(summary)),
            None => {}
        }
    }
    let scheduled = matches!(plan.schedule, Schedule::EveryNs(_));
    let modelled = groups.into_iter().map(|group| {
        let noun = noun::exchange(plan, conditions, group.key.0);
        if !scheduled {
            return Modelled::of(group, noun);
        }
        let points = Vec::new();
        let why = "a schedule limited the rate (--interval, --rate), so the run does not show what the link can do";
        Modelled {
            why_not: Some(why.to_owned()),
            words: Vec::new(),
            ..Modelled::of(Group { points, ..group }, noun)
        }
    });
    modelled.collect()
}

/// The models of a stream run.
pub(crate) fn of_stream(plan: &StreamPlan, points: &[StreamSummary]) -> Vec<Modelled> {
    let mut groups: Vec<Group> = Vec::new();
    for summary in points {
        let point = &summary.point;
        let is_measured = |flow: &&FlowSummary| flow.transfers > 0 && not_arrived(flow).is_none();
        for flow in summary.flows.iter().filter(is_measured) {
            let (direction, way) = (Some(point.direction), Some(flow.way));
            let key = (point.link, point.together, direction, way);
            let (group, limit) = (in_groups(&mut groups, key), flow.limit.as_ref());
            group.limit(limit);
            if let Some(observed) = Observation::of_flow(point, flow) {
                group.add(observed, limit, None);
            }
        }
    }
    let modelled = groups.into_iter().map(|group| {
        let address = plan.links().nth(group.key.0 as usize);
        let is_queued = address.is_some_and(|address| address.starts_with("usb:"));
        Modelled::of(group, noun::stream(is_queued))
    });
    modelled.collect()
}
