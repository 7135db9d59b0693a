//! The link in a few numbers, from the points of a run: one model for each way of each link, or the
//! reason why there is none; and what it says of settings that were not measured.

use crate::busy::{busy_device, full_bus};
use crate::depth::is_answered;
use crate::meaning;
use crate::noun::{self, Noun};
use crate::tries::{Tries, Wanted};
use serde::Serialize;
use wiregauge_model::{
    CannotPredict, Figures, LinkModel, MIN_SETTINGS, NotFitted, Observation, Prediction, Setting,
};
use wiregauge_record::{
    BusLimit, Conditions, Direction, Plan, PointSummary, Schedule, StreamPlan, StreamPoint,
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
    /// Why there is none, or too few points for its figures to be shown.
    pub why_not: Option<String>,
    /// The physical limit of the link in bytes a second, where it is known.
    pub limit_bytes_s: Option<f64>,
    /// Whether both directions share it.
    #[serde(skip)]
    limit_is_shared: bool,
    /// What it means.
    pub words: Vec<String>,
    /// All of it in one sentence; `None` where there is no model, or it does not describe the link.
    pub in_short: Option<String>,
    /// What was asked for.
    pub predictions: Vec<Predicted>,
    /// `why_not` without what to measure, if more points would help.
    #[serde(skip)]
    lacks: Option<String>,
    /// Different settings that were measured.
    #[serde(skip)]
    settings: usize,
    #[serde(skip)]
    tries: Tries,
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
    /// True where the model does not fit the link, or rests on too few points: measure the setting instead.
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

    /// Has what is proposed to be measured enclose these settings.
    pub fn enclose(&mut self, wanted: &[Wanted]) {
        self.tries.wanted = wanted.to_vec();
        if let Some(lacks) = &self.lacks {
            self.why_not = Some(format!("{lacks}. {}", self.more_points()));
        }
    }

    /// What to measure for a better model: `Try --in 64,512,4k --depth 1,4`.
    pub fn more_points(&self) -> String {
        self.tries.beyond(self.settings)
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

    /// The depth beyond which it predicts no gain with these sizes; `None` where it predicts none that is near the
    /// measured ones.
    pub fn enough_at(&self, out_bytes: u32, in_bytes: u32) -> Option<u32> {
        let model = self.model.as_ref().filter(|_| self.why_not.is_none())?;
        meaning::enough_at(model, (out_bytes, in_bytes))
    }

    /// True of a model whose figures do not describe the link, or rest on too few points: its predictions
    /// are worth little.
    pub fn is_doubtful(&self) -> bool {
        self.why_not.is_some() || self.in_short.is_none()
    }

    fn of(group: Group, noun: Noun) -> Modelled {
        let fitted = LinkModel::fit(&group.points);
        let is_short = group.left_out == 0 && matches!(fitted, Err(NotFitted::TooFew { .. }));
        let why_not = fitted.as_ref().err().map(|why| match why {
            NotFitted::TooFew { .. } if group.left_out > 0 => format!(
                "a model requires {MIN_SETTINGS} points with different settings and no lost exchanges (this run has \
                 {} of {})",
                group.points.len(),
                group.left_out + group.points.len()
            ),
            _ => why.to_string(),
        });
        let model = fitted.ok();
        let figures = model.as_ref().map(LinkModel::figures);
        let too_few = model.as_ref().zip(figures.as_ref());
        let too_few = too_few.and_then(|(model, figures)| meaning::too_few(model, figures));
        let lacks = match is_short {
            true => why_not.clone(),
            false => too_few.clone(),
        };
        let refuted = model
            .as_ref()
            .and_then(|model| meaning::refuted(model, &group.seen));
        // What follows from figures of too few points, or from wrong ones, is not worth saying.
        let figures = figures.filter(|_| too_few.is_none() && refuted.is_none());
        let why_not = why_not.or(too_few).or(refuted);
        let mut words = figures
            .as_ref()
            .map_or_else(Vec::new, |figures| meaning::of(figures, &noun, &group.seen));
        if group.left_out > 0 {
            words.push(format!(
                "excluded: {} of {} points, where exchanges were lost",
                group.left_out,
                group.left_out + group.points.len()
            ));
        }
        let in_short = figures.and_then(|figures| meaning::in_short(&figures, &noun, &group.seen));
        let mut modelled = Modelled {
            link: group.link,
            together: group.together,
            direction: group.direction,
            way: group.way,
            left_out: group.left_out,
            settings: model.as_ref().map_or(0, |model| model.points().len()),
            model,
            why_not,
            limit_bytes_s: group.seen.limit_bytes_s,
            limit_is_shared: group.seen.limit_is_shared,
            words,
            in_short,
            predictions: Vec::new(),
            lacks,
            tries: noun.tries,
        };
        modelled.enclose(&[]);
        modelled
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

/// Points that one model describes.
struct Group {
    link: u32,
    together: bool,
    direction: Option<Direction>,
    way: Option<Way>,
    left_out: usize,
    points: Vec<Observation>,
    seen: meaning::Seen,
}

impl Group {
    fn of_point(summary: &PointSummary) -> Group {
        Group {
            link: summary.point.link,
            together: summary.point.together,
            direction: None,
            way: None,
            left_out: 0,
            points: Vec::new(),
            seen: meaning::Seen::default(),
        }
    }

    fn of_flow(point: &StreamPoint, way: Way) -> Group {
        Group {
            link: point.link,
            together: point.together,
            direction: Some(point.direction),
            way: Some(way),
            left_out: 0,
            points: Vec::new(),
            seen: meaning::Seen::default(),
        }
    }

    /// At any size: the largest of its points.
    fn limit(&mut self, of_point: Option<&BusLimit>) {
        let known = self.seen.limit_bytes_s.into_iter();
        let all = known.chain(of_point.map(|limit| limit.bytes_s));
        self.seen.limit_bytes_s = all.reduce(f64::max);
        self.seen.limit_is_shared |= of_point.is_some_and(|limit| limit.shared);
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
                trt_ns: observed.trt_ns,
            }));
    }

    fn key(&self) -> (u32, bool, Option<Direction>, Option<Way>) {
        (self.link, self.together, self.direction, self.way)
    }
}

/// The group of this key, made if it is not there.
fn in_groups(groups: &mut Vec<Group>, wanted: Group) -> &mut Group {
    let at = groups.iter().position(|group| group.key() == wanted.key());
    let at = at.unwrap_or_else(|| {
        groups.push(wanted);
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
        let group = in_groups(&mut groups, Group::of_point(summary));
        group.limit(summary.limit.as_ref());
        if is_answered(&summary.counts) {
            if let Some(observed) = Observation::of_exchange(summary) {
                group.add(observed, summary.limit.as_ref(), busy_device(summary));
            }
        } else {
            group.left_out += 1;
        }
    }
    let scheduled = matches!(plan.schedule, Schedule::EveryNs(_));
    let modelled = groups.into_iter().map(|group| {
        let noun = noun::exchange(plan, conditions, group.link);
        if scheduled {
            let points = Vec::new();
            Modelled {
                why_not: Some(
                    "a schedule limited the rate (--interval, --rate), so the run does not show what the link \
                     can do"
                        .into(),
                ),
                words: Vec::new(),
                lacks: None,
                ..Modelled::of(Group { points, ..group }, noun)
            }
        } else {
            Modelled::of(group, noun)
        }
    });
    modelled.collect()
}

/// The models of a stream run.
pub(crate) fn of_stream(plan: &StreamPlan, points: &[StreamSummary]) -> Vec<Modelled> {
    let mut groups: Vec<Group> = Vec::new();
    for summary in points {
        for flow in summary.flows.iter().filter(|flow| flow.transfers > 0) {
            let group = in_groups(&mut groups, Group::of_flow(&summary.point, flow.way));
            group.limit(flow.limit.as_ref());
            let Some(observed) = Observation::of_flow(&summary.point, flow) else {
                continue;
            };
            group.add(observed, flow.limit.as_ref(), None);
            group.seen.asked.push(meaning::Asked {
                at: observed.at,
                transfer_bytes: summary.point.transfer_bytes,
            });
        }
    }
    let noun = |link| {
        let address = plan.links().nth(link as usize);
        if address.is_some_and(|address| address.starts_with("usb:")) {
            noun::transfer()
        } else {
            noun::system_call()
        }
    };
    groups
        .into_iter()
        .map(|group| {
            let noun = noun(group.link);
            Modelled::of(group, noun)
        })
        .collect()
}
