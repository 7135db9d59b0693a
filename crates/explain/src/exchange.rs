//! The split of an exchange run: each RTT into the device's time, by its own clock, and the rest; and what limits.
//! A verdict agrees with every other point of its run, and tries nothing that the plan or the device refuses.

use crate::busy::{FULL, busy_device};
use crate::depth::{EQUAL, is_telling, most_outstanding, needed};
use crate::exchange_verdict::ExchangeVerdict;
use crate::modelled::Modelled;
use serde::Serialize;
use wiregauge_record::{Conditions, Connect, Plan, Point, PointSummary, Schedule};

/// Part of the RTT from which a side is said to dominate.
const MOST: f64 = 0.5;
const BEHIND: f64 = 0.75;
/// A gain that says more than the device's part of the RTT does.
const GAIN: f64 = 1.25;
const TRY_DEPTH: u32 = 4;
/// The setting of a serial link that contains FTDI's latency timer.
const TIMER_SETTING: &str = "latency timer (ms)";
/// A shorter timer is not distinguishable from the frames of the bus.
const LEAST_TIMER_MS: u32 = 4;
/// A full-speed frame.
const FRAME_NS: f64 = 1e6;
/// Part of the time spent waiting for lost responses from which nothing else is worth a verdict.
const LOSING: f64 = 0.10;

/// Where the RTT of one point went. Means, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExchangeSplit {
    /// Which point.
    pub point: Point,
    /// RTT; `None` if nothing was answered.
    pub rtt_ns: Option<f64>,
    /// Opening the link, which comes before the RTT, where each exchange opens it.
    pub connect_ns: Option<f64>,
    /// Request complete in the device to response handed over, on the device's clock.
    pub device_ns: Option<f64>,
    /// What this host alone needs for an exchange: the floor of the run's calibration, at most the
    /// rest.
    pub host_ns: Option<f64>,
    /// Name of that floor.
    pub floor: Option<String>,
    /// What is left: wire, drivers of the link, waiting behind other exchanges.
    pub wire_ns: Option<f64>,
    /// Start to start.
    pub trt_ns: Option<f64>,
    /// Mean number outstanding.
    pub achieved_depth: f64,
    /// What limits.
    pub verdict: ExchangeVerdict,
    /// The same in words.
    pub words: String,
}

impl ExchangeSplit {
    /// The whole exchange: the RTT, after the connection where each exchange makes one.
    pub fn total_ns(&self) -> Option<f64> {
        Some(self.rtt_ns? + self.connect_ns.unwrap_or(0.0))
    }

    /// A part of the whole, 0 to 1.
    pub fn share(&self, part_ns: Option<f64>) -> Option<f64> {
        Some(part_ns? / self.total_ns().filter(|&total| total > 0.0)?)
    }
}

/// Where the run itself does not show whether a higher depth is faster, what its model predicts.
pub fn add_predictions(splits: &mut [ExchangeSplit], models: &[Modelled]) {
    for split in splits {
        let of_split = |model: &&Modelled| {
            (model.link, model.together) == (split.point.link, split.point.together)
        };
        let point = split.point;
        let model = models.iter().find(of_split);
        let enough = model.and_then(|model| model.enough_at(point.out_bytes, point.in_bytes));
        let more = matches!(
            split.verdict,
            ExchangeVerdict::PerhapsMore { try_depth: Some(_) }
        );
        if let Some(enough) = enough.filter(|_| more) {
            split.words = format!(
                "no bottleneck found; the model predicts a gain of 5 % or less beyond depth {enough}"
            );
        }
    }
}

/// Explains an exchange run by its plan, its conditions and the summaries of its points.
pub fn of_exchange(
    plan: &Plan,
    conditions: &Conditions,
    points: &[PointSummary],
) -> Vec<ExchangeSplit> {
    points
        .iter()
        .map(|point| {
            let mut split = split(conditions, point);
            split.verdict = verdict(plan, conditions, points, point, &split);
            split.words = split.verdict.to_string();
            split
        })
        .collect()
}

fn split(conditions: &Conditions, point: &PointSummary) -> ExchangeSplit {
    let rtt_ns = point.rtt.as_ref().map(|rtt| rtt.mean.value);
    // A clock that stands still all the time is none.
    let device = point.device.as_ref().filter(|device| device.max > 0.0);
    let device_ns = rtt_ns.and(device).map(|device| device.mean.value);
    let rest_ns = rtt_ns.map(|rtt| (rtt - device_ns.unwrap_or(0.0)).max(0.0));
    // The last floor is that of the link's own kind, where there is one; the first is the null link.
    let floor = conditions.before.as_ref().and_then(|c| c.floors.last());
    let host_ns = rest_ns
        .zip(floor)
        .map(|(rest, floor)| floor.rtt.p50.value.min(rest));
    ExchangeSplit {
        point: point.point,
        rtt_ns,
        connect_ns: rtt_ns
            .and(point.connect.as_ref())
            .map(|connect| connect.mean.value),
        device_ns,
        host_ns,
        floor: floor.map(|floor| format!("{}, {} B", floor.name, floor.bytes)),
        wire_ns: rest_ns.map(|rest| rest - host_ns.unwrap_or(0.0)),
        trt_ns: point.trt.as_ref().map(|trt| trt.mean.value),
        achieved_depth: point.achieved_depth,
        verdict: ExchangeVerdict::Nothing,
        words: String::new(),
    }
}

fn verdict(
    plan: &Plan,
    conditions: &Conditions,
    points: &[PointSummary],
    summary: &PointSummary,
    split: &ExchangeSplit,
) -> ExchangeVerdict {
    let point = summary.point;
    let (Some(rtt_ns), Some(trt_ns)) = (split.rtt_ns, split.trt_ns) else {
        return ExchangeVerdict::Nothing;
    };
    if let Schedule::EveryNs(every) = plan.schedule {
        return scheduled(summary, split, every.max(1) as f64);
    }
    let counts = &summary.counts;
    if counts.exchanges < needed(point.depth) {
        return ExchangeVerdict::TooFew {
            exchanges: counts.exchanges,
        };
    }
    let waited = waited(plan, summary);
    if waited >= LOSING {
        return ExchangeVerdict::Losses { waited };
    }
    if let Some(full) = summary.limit.as_ref().filter(|limit| limit.used >= FULL) {
        return ExchangeVerdict::Bus {
            used: full.used,
            source: full.source.clone(),
        };
    }
    if let Some(timer) = latency_timer(conditions, points, summary) {
        return timer;
    }
    let most = split.share(split.device_ns).filter(|&of| of >= MOST);
    let device = most.zip(split.device_ns);
    let device = device.map(|(_, device_ns)| device_ns / rtt_ns.max(1.0));
    if plan.connect == Connect::Each {
        let share = split.share(split.connect_ns).unwrap_or(0.0);
        let parts = [
            ("device", split.device_ns),
            ("host", split.host_ns),
            ("wire and waiting", split.wire_ns),
        ];
        let parts = parts.map(|(name, ns)| (name, split.share(ns).unwrap_or(0.0)));
        let largest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let connection = ExchangeVerdict::Connection {
            share,
            larger: largest.filter(|(_, part)| *part > share),
        };
        return device.map_or(connection, |share| ExchangeVerdict::Device { share });
    }
    let depths = Depths::of(points, summary);
    let faster = |most: f64| {
        let (depth, faster) = depths.faster?;
        if let Some(smaller) = depths.smaller_faster.filter(|_| faster > 1.0 / EQUAL) {
            return Some(ExchangeVerdict::Outlier {
                smaller,
                larger: depth,
            });
        }
        (faster > most).then_some(ExchangeVerdict::Waiting {
            here: point.depth,
            depth,
            faster,
        })
    };
    if let Some(waiting) = faster(GAIN) {
        return waiting;
    }
    if point.depth > 1 {
        let reached = split.achieved_depth + summary.drained_depth(plan.timeout_ns);
        if reached < BEHIND * f64::from(point.depth) {
            return ExchangeVerdict::HostBehind {
                achieved: split.achieved_depth,
                depth: point.depth,
            };
        }
        if let Some(needs_ns) = busy_device(summary) {
            return ExchangeVerdict::DeviceBusy { needs_ns, trt_ns };
        }
    }
    if let Some(share) = device {
        return ExchangeVerdict::Device { share };
    }
    if let Some(waiting) = faster(1.0 / EQUAL) {
        return waiting;
    }
    if let Some(other) = depths.saturated {
        return ExchangeVerdict::SlowestStage {
            trt_ns,
            here: point.depth,
            other,
        };
    }
    if let Some(depth) = unfinished(plan, points, point) {
        return ExchangeVerdict::Unfinished { depth };
    }
    let allowed = |depth: u32| {
        let depth = depth.min(most_outstanding(plan, conditions, point.link));
        (depth > point.depth).then_some(depth)
    };
    match point.depth {
        1 => ExchangeVerdict::OneAtATime {
            device: split.share(split.device_ns),
            try_depth: allowed(TRY_DEPTH),
        },
        deep => ExchangeVerdict::PerhapsMore {
            try_depth: allowed(deep.saturating_mul(2)),
        },
    }
}

/// The smallest larger depth of the run with the same sizes.
fn unfinished(plan: &Plan, points: &[PointSummary], here: Point) -> Option<u32> {
    let all = plan.points.iter().copied();
    let all = all.chain(points.iter().map(|other| other.point));
    let deeper = all.filter(|there| {
        let sizes = (there.out_bytes, there.in_bytes) == (here.out_bytes, here.in_bytes);
        let links = (there.link, there.together) == (here.link, here.together);
        sizes && links && there.depth > here.depth
    });
    deeper.map(|there| there.depth).min()
}

/// Part of the time spent waiting for responses that did not arrive in time: what the answered exchanges leave
/// of the time that all were outstanding, at most the timeout for each. A loss that ended the run waited less.
fn waited(plan: &Plan, summary: &PointSummary) -> f64 {
    let elapsed_ns = summary.elapsed_ns.max(1) as f64;
    let answered_ns = (summary.rtt.as_ref()).map_or(0.0, |rtt| rtt.mean.value * rtt.n as f64);
    let others_ns = (summary.achieved_depth * elapsed_ns - answered_ns).max(0.0);
    let missing = summary.counts.lost + summary.counts.late;
    let waited_ns = others_ns.min(missing as f64 * plan.timeout_ns as f64);
    (waited_ns / (f64::from(summary.point.depth) * elapsed_ns)).min(1.0)
}

/// Where the median RTT at depth 1 lies within a frame of the latency timer of an FTDI adapter; at a larger depth, where
/// it is not shorter either.
fn latency_timer(
    conditions: &Conditions,
    points: &[PointSummary],
    summary: &PointSummary,
) -> Option<ExchangeVerdict> {
    let link = match summary.point.link.checked_sub(1) {
        None => &conditions.link,
        Some(further) => &conditions.more_links.get(further as usize)?.link,
    };
    let setting = link.settings.iter().find(|(key, _)| key == TIMER_SETTING);
    let timer_ms: u32 = setting?.1.parse().ok()?;
    let median = |point: &PointSummary| point.rtt.as_ref().map(|rtt| rtt.p50.value);
    let timer_ns = 1e6 * f64::from(timer_ms);
    let waits = points.iter().any(|one| {
        let same = one.point.in_bytes == summary.point.in_bytes
            && one.point.out_bytes == summary.point.out_bytes
            && one.point.link == summary.point.link
            && one.point.together == summary.point.together;
        let near = median(one).is_some_and(|ns| (ns - timer_ns).abs() <= FRAME_NS);
        same && near && one.point.depth == 1
    });
    let median_ns = median(summary)?;
    let is_late = median_ns >= timer_ns - FRAME_NS;
    (timer_ms >= LEAST_TIMER_MS && waits && is_late).then_some(ExchangeVerdict::LatencyTimer {
        timer_ms,
        median_ns,
    })
}

/// Of a run whose plan says when an exchange starts.
fn scheduled(summary: &PointSummary, split: &ExchangeSplit, every_ns: f64) -> ExchangeVerdict {
    let Some(delay) = &summary.start_delay else {
        return ExchangeVerdict::ScheduleUnknown;
    };
    let late_ns = delay.p50.value;
    match late_ns > every_ns / 2.0 {
        true => ExchangeVerdict::Behind { late_ns },
        false => ExchangeVerdict::Schedule {
            under_way: split.total_ns().unwrap_or(0.0) / every_ns,
        },
    }
}

/// What the other depths of the same exchange say of a point.
struct Depths {
    /// The fastest larger depth, and how many times as fast it is.
    faster: Option<(u32, f64)>,
    /// The smallest depth that is faster although it is smaller.
    smaller_faster: Option<u32>,
    /// A depth that shows saturation where none is faster: the largest one, else a smaller one that is as
    /// fast.
    saturated: Option<u32>,
}

impl Depths {
    fn of(points: &[PointSummary], summary: &PointSummary) -> Depths {
        let (point, here) = (summary.point, summary.throughput.exchanges_s);
        let others = points.iter().filter(|other| {
            let there = other.point;
            let sizes = there.out_bytes == point.out_bytes && there.in_bytes == point.in_bytes;
            let links = there.link == point.link && there.together == point.together;
            sizes && links && here > 0.0 && is_telling(summary) && is_telling(other)
        });
        let rates = || {
            others
                .clone()
                .map(|other| (other.point.depth, other.throughput.exchanges_s / here))
        };
        let deeper = || rates().filter(|&(depth, _)| depth > point.depth);
        let smaller = rates().filter(|&(depth, rate)| depth < point.depth && rate >= EQUAL);
        let deepest = deeper().map(|(depth, _)| depth).max();
        let above = rates().filter(|&(depth, rate)| depth < point.depth && rate > 1.0 / EQUAL);
        Depths {
            faster: deeper().max_by(|a, b| a.1.total_cmp(&b.1)),
            smaller_faster: above.map(|(depth, _)| depth).min(),
            saturated: deepest.or_else(|| smaller.map(|(depth, _)| depth).min()),
        }
    }
}
