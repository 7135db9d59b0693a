//! The split of an exchange run: each RTT into the device's time, by its own clock, and the rest; and what limits.
//! A verdict agrees with every other point of its run, and tries nothing that the plan or the device refuses.

use crate::busy::{busy_device, full_bus};
use crate::depth::{EQUAL, is_telling, most_outstanding, needed, silence_ns, unanswered};
use crate::exchange_verdict::{ExchangeVerdict, Late};
use crate::modelled::Modelled;
use serde::Serialize;
use wiregauge_quantity::about_time;
use wiregauge_record::{
    Conditions, Connect, Ending, Keeping, Limit, Plan, Point, PointSummary, Schedule, Wait, grouped,
};
use wiregauge_stats::Distribution;

/// Part of the RTT from which a side is said to dominate.
const MOST: f64 = 0.5;
const BEHIND: f64 = 0.75;
/// A TRT within this factor of the period is the period.
const KEPT: f64 = 1.01;
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
    /// What is left: wire, drivers of the link, waiting behind other exchanges; and the device, where its time is not
    /// known.
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

/// What `wire_ns` is called: it contains the device, where any of these does not know the device's time.
pub fn name_of_rest(splits: &[ExchangeSplit]) -> &'static str {
    let has_device = |split: &ExchangeSplit| split.wire_ns.is_some() && split.device_ns.is_none();
    if splits.iter().any(has_device) {
        "device, wire and waiting"
    } else {
        "wire and waiting"
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
            ExchangeVerdict::DepthUnknown {
                here: 2..,
                unfinished: None,
                try_depth: Some(_),
                ..
            }
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
    let mut splits: Vec<ExchangeSplit> = points
        .iter()
        .map(|point| split(conditions, point))
        .collect();
    let rest = name_of_rest(&splits);
    for (split, point) in splits.iter_mut().zip(points) {
        split.verdict = verdict(plan, conditions, points, point, split, rest);
        split.words = words(plan, points, point, &split.verdict);
    }
    splits
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
        verdict: ExchangeVerdict::TooFew {
            exchanges: 0,
            needed: needed(point.point.depth),
        },
        words: String::new(),
    }
}

fn verdict(
    plan: &Plan,
    conditions: &Conditions,
    points: &[PointSummary],
    summary: &PointSummary,
    split: &ExchangeSplit,
    rest: &'static str,
) -> ExchangeVerdict {
    let point = summary.point;
    let counts = &summary.counts;
    let too_few = ExchangeVerdict::TooFew {
        exchanges: split.rtt_ns.map_or(0, |_| counts.exchanges),
        needed: needed(point.depth),
    };
    let (Some(rtt_ns), Some(trt_ns)) = (split.rtt_ns, split.trt_ns) else {
        return too_few;
    };
    if let Schedule::EveryNs(every) = plan.schedule {
        return scheduled(plan, conditions, summary, split, every.max(1) as f64);
    }
    if counts.exchanges < needed(point.depth) {
        return too_few;
    }
    let waited = waited(plan, summary);
    if waited >= LOSING {
        return ExchangeVerdict::Losses { waited };
    }
    if let Some(limit) = &summary.limit
        && let Some(used) = full_bus(limit)
    {
        return ExchangeVerdict::Bus {
            used,
            source: limit.source.clone(),
        };
    }
    if let Some(timer) = latency_timer(conditions, points, summary) {
        return timer;
    }
    let most = split.share(split.device_ns).filter(|&of| of >= MOST);
    let device = most
        .and(split.device_ns)
        .map(|device_ns| ExchangeVerdict::Device {
            device_ns,
            of_ns: rtt_ns.max(1.0),
            between_starts: false,
        });
    if plan.connect == Connect::Each {
        let share = split.share(split.connect_ns).unwrap_or(0.0);
        let parts = [
            ("device", split.device_ns),
            ("host", split.host_ns),
            (rest, split.wire_ns),
        ];
        let parts = parts.map(|(name, ns)| (name, split.share(ns).unwrap_or(0.0)));
        let largest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let connection = ExchangeVerdict::Connection {
            share,
            larger: largest.filter(|(_, part)| *part > share),
        };
        return device.unwrap_or(connection);
    }
    let depths = Depths::of(points, summary);
    let faster = |most: f64| {
        let (depth, faster) = depths.faster?;
        let smaller = depths.smaller_faster.filter(|_| faster > 1.0 / EQUAL);
        (smaller.is_some() || faster > most).then_some(ExchangeVerdict::FasterDepth {
            here: point.depth,
            depth,
            faster,
            smaller,
        })
    };
    if let Some(faster) = faster(GAIN) {
        return faster;
    }
    let silent = silence_ns(plan) as f64 / trt_ns.max(1.0);
    let reached = split.achieved_depth + summary.drained_depth(plan.timeout_ns) + silent;
    if reached < BEHIND * f64::from(point.depth) {
        return ExchangeVerdict::HostBehind {
            achieved: split.achieved_depth,
            depth: point.depth,
        };
    }
    if let Some(device_ns) = busy_device(summary) {
        return ExchangeVerdict::Device {
            device_ns,
            of_ns: trt_ns,
            between_starts: true,
        };
    }
    // Of several at a time, the device's part includes requests that wait in it.
    if let Some(faster) = faster(1.0 / EQUAL).filter(|_| point.depth > 1) {
        return faster;
    }
    if let Some(limiting) = device.or_else(|| faster(1.0 / EQUAL)) {
        return limiting;
    }
    if let Some((other, faster)) = depths.saturated {
        return ExchangeVerdict::SlowestStage {
            needs_ns: depths.shortest_ns.unwrap_or(trt_ns),
            here: point.depth,
            other,
            faster,
        };
    }
    let deeper = match point.depth {
        1 => TRY_DEPTH,
        deep => deep.saturating_mul(2),
    };
    let allowed = deeper.min(most_outstanding(plan, conditions, point.link));
    ExchangeVerdict::DepthUnknown {
        here: point.depth,
        device: split.share(split.device_ns),
        unfinished: unfinished(plan, points, summary),
        try_depth: (allowed > point.depth).then_some(allowed),
    }
}

/// True if both differ in depth at most.
fn alike(one: Point, other: Point) -> bool {
    let sizes = (one.out_bytes, one.in_bytes) == (other.out_bytes, other.in_bytes);
    sizes && (one.link, one.together) == (other.link, other.together)
}

/// The depth that keeps the run from showing whether a larger one is faster: this one, if it has losses and there
/// are others; else the smallest larger one that is not telling.
fn unfinished(plan: &Plan, points: &[PointSummary], here: &PointSummary) -> Option<u32> {
    let planned = plan.points.iter().copied();
    let all = planned.chain(points.iter().map(|other| other.point));
    let mut others =
        all.filter(|there| alike(*there, here.point) && there.depth != here.point.depth);
    if !is_telling(here) {
        return others.next().map(|_| here.point.depth);
    }
    let measured = |depth: u32| measured(points, here.point, depth);
    let deeper = others.filter(|there| there.depth > here.point.depth);
    let depths = deeper.map(|there| there.depth);
    depths
        .filter(|&depth| !measured(depth).is_some_and(is_telling))
        .min()
}

/// The point of this depth that is like another one otherwise.
fn measured(points: &[PointSummary], like: Point, depth: u32) -> Option<&PointSummary> {
    let mut points = points.iter();
    points.find(|there| alike(there.point, like) && there.point.depth == depth)
}

/// A verdict in words, with what the plan and the other points add to it.
fn words(
    plan: &Plan,
    points: &[PointSummary],
    summary: &PointSummary,
    verdict: &ExchangeVerdict,
) -> String {
    match verdict {
        ExchangeVerdict::TooFew { exchanges: 1.., .. } => {
            format!("{verdict}. {}", enough(plan, summary))
        }
        ExchangeVerdict::HostBehind { .. } => format!("{verdict}{}", faster_host(plan)),
        ExchangeVerdict::Behind {
            cause: Late::Host { .. },
            ..
        } => format!("{verdict}{}", faster_host(plan)),
        ExchangeVerdict::DepthUnknown {
            unfinished: Some(depth),
            ..
        } => {
            let (why, remedy) = match measured(points, summary.point, *depth) {
                None => (
                    format!("depth {depth} was not measured"),
                    "Measure again".into(),
                ),
                Some(few) if few.counts.exchanges < needed(*depth) => (
                    format!(
                        "depth {depth} has too few exchanges ({}; {} are needed)",
                        grouped(few.counts.exchanges),
                        grouped(needed(*depth))
                    ),
                    enough(plan, few),
                ),
                Some(there) => (
                    format!(
                        "{} of {} exchanges at depth {depth} got no correct response in time",
                        grouped(unanswered(&there.counts)),
                        grouped(there.counts.exchanges)
                    ),
                    "Find the cause, then measure again".into(),
                ),
            };
            format!("{why}, so {verdict}. {remedy}")
        }
        other => other.to_string(),
    }
}

/// What makes the host start exchanges sooner, and was not used.
fn faster_host(plan: &Plan) -> String {
    let flags = [
        ("--priority", plan.host.priority.is_none()),
        ("--pin", plan.host.pin.is_none()),
        ("--wait spin", plan.wait != Wait::Spin),
    ];
    let flags = flags.iter().filter(|(_, is_new)| *is_new);
    let flags: Vec<&str> = flags.map(|(flag, _)| *flag).collect();
    match flags.is_empty() {
        true => String::new(),
        false => format!(". Try {}", flags.join(", ")),
    }
}

/// What gives a point the exchanges that it needs.
fn enough(plan: &Plan, few: &PointSummary) -> String {
    let needed = needed(few.point.depth);
    match plan.limit {
        Limit::Count(count) if count < needed => format!("Try --count {needed}"),
        Limit::DurationNs(_) if few.ending == Ending::Complete => {
            let each_ns = few.elapsed_ns as f64 / few.counts.exchanges.max(1) as f64;
            format!(
                "Try a --duration of {} or more",
                about_time(each_ns * needed as f64)
            )
        }
        _ => "Measure again".into(),
    }
}

/// Part of the time in which nothing but responses that did not arrive in time was waited for, at least. All of the waits
/// for them: what the answered exchanges leave of the time that all were outstanding, at most the timeout for each, since a
/// loss that ended the run waited less. Of several at a time, all but one may wait while the last goes on.
fn waited(plan: &Plan, summary: &PointSummary) -> f64 {
    let elapsed_ns = summary.elapsed_ns.max(1) as f64;
    let answered_ns = (summary.rtt.as_ref()).map_or(0.0, |rtt| rtt.mean.value * rtt.n as f64);
    let others_ns = (summary.achieved_depth * elapsed_ns - answered_ns).max(0.0);
    let missing = summary.counts.lost + summary.counts.late;
    let waited_ns = others_ns.min(missing as f64 * plan.timeout_ns as f64);
    let others = f64::from(summary.point.depth - 1);
    (waited_ns / elapsed_ns - others).clamp(0.0, 1.0)
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
fn scheduled(
    plan: &Plan,
    conditions: &Conditions,
    summary: &PointSummary,
    split: &ExchangeSplit,
    period_ns: f64,
) -> ExchangeVerdict {
    let late_ns = match summary.keeping(plan.schedule).zip(summary.lateness) {
        None | Some((Keeping::LateAtEnd, _)) => {
            return ExchangeVerdict::Schedule { under_way: None };
        }
        Some((Keeping::Kept | Keeping::LateStarts, _)) => {
            return ExchangeVerdict::Schedule {
                under_way: Some(split.total_ns().unwrap_or(0.0) / period_ns),
            };
        }
        Some((Keeping::FallsBehind, lateness)) => lateness.end_ns as f64,
    };
    let depth = summary.point.depth;
    let max = |of: &Option<Distribution>| of.as_ref().map_or(0.0, |of| of.max);
    let awaited_ns = match summary.counts.lost + summary.counts.late {
        0 => 0.0,
        _ => plan.timeout_ns as f64,
    };
    let longest_ns = max(&summary.connect) + max(&summary.rtt).max(awaited_ns);
    let silence_ns = silence_ns(plan) as f64;
    // Medians, because a single stall makes both means longer.
    let median = |of: &Option<Distribution>| of.as_ref().map_or(0.0, |of| of.p50.value);
    let exchange_ns = median(&summary.connect) + median(&summary.rtt) + silence_ns;
    let is_slow =
        exchange_ns > period_ns * f64::from(depth) || median(&summary.trt) > KEPT * period_ns;
    ExchangeVerdict::Behind {
        late_ns,
        period_ns,
        // With exchanges as short as that, there is always one more to start.
        cause: match longest_ns + silence_ns <= period_ns * f64::from(depth) {
            true => Late::Host { longest_ns },
            false => Late::Earlier {
                longest_ns,
                trt_ns: split.trt_ns.filter(|_| is_slow),
            },
        },
        overlap: match plan.connect {
            Connect::Each => Some("--connect once"),
            Connect::Once => (most_outstanding(plan, conditions, summary.point.link) > depth)
                .then_some("a higher --depth"),
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
    /// fast; and how many times as fast it is.
    saturated: Option<(u32, f64)>,
    /// The shortest mean TRT of all, in nanoseconds.
    shortest_ns: Option<f64>,
}

impl Depths {
    fn of(points: &[PointSummary], summary: &PointSummary) -> Depths {
        let (point, here) = (summary.point, summary.throughput.exchanges_s);
        let others = points.iter().filter(|other| {
            alike(other.point, point) && here > 0.0 && is_telling(summary) && is_telling(other)
        });
        let rates = || {
            others
                .clone()
                .map(|other| (other.point.depth, other.throughput.exchanges_s / here))
        };
        let deeper = || rates().filter(|&(depth, _)| depth > point.depth);
        let smaller = rates().filter(|&(depth, rate)| depth < point.depth && rate >= EQUAL);
        let deepest = deeper().max_by_key(|(depth, _)| *depth);
        let above = rates().filter(|&(depth, rate)| depth < point.depth && rate > 1.0 / EQUAL);
        let all = others.clone().chain([summary]);
        let trts = all.filter_map(|at| Some(at.trt.as_ref()?.mean.value));
        Depths {
            faster: deeper().max_by(|a, b| a.1.total_cmp(&b.1)),
            smaller_faster: above.map(|(depth, _)| depth).min(),
            saturated: deepest.or_else(|| smaller.min_by_key(|(depth, _)| *depth)),
            shortest_ns: trts.reduce(f64::min),
        }
    }
}
