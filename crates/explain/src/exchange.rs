//! The split of an exchange run: each RTT into the device's time, by its own clock, and the rest.

use crate::modelled::Modelled;
use crate::show::{percent, time, times};
use serde::Serialize;
use std::fmt;
use wiregauge_record::{Conditions, Plan, Point, PointSummary, Schedule};

/// Part of the RTT from which a side is said to dominate.
const MOST: f64 = 0.5;
const BEHIND: f64 = 0.75;
const FULL: f64 = 0.90;
/// A device that needs this part of the TRT has no time left.
const BUSY: f64 = 0.80;
const GAIN: f64 = 1.25;
const TRY_DEPTH: u32 = 4;

/// Where the RTT of one point went. Means, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExchangeSplit {
    /// Which point.
    pub point: Point,
    /// RTT; `None` if nothing was answered.
    pub rtt_ns: Option<f64>,
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
    /// A part of the RTT, 0 to 1.
    pub fn share(&self, part_ns: Option<f64>) -> Option<f64> {
        Some(part_ns? / self.rtt_ns.filter(|&rtt| rtt > 0.0)?)
    }
}

/// What limits an exchange.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ExchangeVerdict {
    /// Nothing was answered.
    Nothing,
    /// The schedule of the plan says when an exchange starts.
    Schedule {
        /// Part of the period in which the exchange was under way.
        under_way: f64,
    },
    /// The bus carries what it can.
    Bus {
        /// Part of the limit used, 0 to 1.
        used: f64,
        /// What the limit is.
        source: String,
    },
    /// Most of the RTT is the device's.
    Device {
        /// Its part, 0 to 1.
        share: f64,
    },
    /// Enough are outstanding, and the device needs nearly the whole TRT for each by itself.
    DeviceBusy {
        /// The shortest time that it needed, in nanoseconds.
        needs_ns: f64,
        /// Start to start, in nanoseconds.
        trt_ns: f64,
    },
    /// More at a time were faster in this run.
    Waiting {
        /// How many were asked for here.
        here: u32,
        /// Depth of the faster point.
        depth: u32,
        /// How many times as many exchanges a second.
        faster: f64,
    },
    /// One at a time, and the device has little to do.
    OneAtATime {
        /// The device's part of the RTT, 0 to 1; `None` without a device clock.
        device: Option<f64>,
        /// The depth to try.
        try_depth: u32,
    },
    /// More at a time were asked for than were outstanding: the host starts them too slowly.
    HostBehind {
        /// Mean number outstanding.
        achieved: f64,
        /// Number asked for.
        depth: u32,
    },
    /// Several at a time, and nothing in this run tells whether more would be faster.
    PerhapsMore {
        /// The depth to try.
        try_depth: u32,
    },
    /// Enough are outstanding: the slowest of device, bus and host needs the TRT for each.
    SlowestStage {
        /// Start to start, in nanoseconds.
        trt_ns: f64,
    },
}

/// Where the run itself does not show whether a higher depth is faster, what its model predicts.
pub fn add_predictions(splits: &mut [ExchangeSplit], models: &[Modelled]) {
    for split in splits {
        let of_split = |model: &&Modelled| {
            (model.link, model.together) == (split.point.link, split.point.together)
        };
        let enough = models.iter().find(of_split).and_then(|model| model.enough);
        if let (ExchangeVerdict::PerhapsMore { .. }, Some(enough)) = (&split.verdict, enough) {
            split.words = format!(
                "not proven whether a higher depth is faster; the model predicts no gain beyond depth {enough}"
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
            split.verdict = verdict(plan, points, point, &split);
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
    points: &[PointSummary],
    summary: &PointSummary,
    split: &ExchangeSplit,
) -> ExchangeVerdict {
    let point = summary.point;
    let (Some(rtt_ns), Some(trt_ns)) = (split.rtt_ns, split.trt_ns) else {
        return ExchangeVerdict::Nothing;
    };
    if let Schedule::EveryNs(every) = plan.schedule {
        return ExchangeVerdict::Schedule {
            under_way: rtt_ns / every.max(1) as f64,
        };
    }
    if let Some(full) = summary.limit.as_ref().filter(|limit| limit.used >= FULL) {
        return ExchangeVerdict::Bus {
            used: full.used,
            source: full.source.clone(),
        };
    }
    let device = split.share(split.device_ns);
    // Other depths of the same exchange, with their rates.
    let others = points.iter().filter(|other| {
        let there = other.point;
        let sizes = there.out_bytes == point.out_bytes && there.in_bytes == point.in_bytes;
        let links = there.link == point.link && there.together == point.together;
        sizes && links
    });
    let rates = || {
        others
            .clone()
            .map(|other| (other.point.depth, other.throughput.exchanges_s))
    };
    let here = summary.throughput.exchanges_s;
    let deeper = rates().filter(|&(depth, _)| depth > point.depth);
    let fastest = deeper.max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((depth, rate)) = fastest.filter(|&(_, rate)| rate > GAIN * here && here > 0.0) {
        return ExchangeVerdict::Waiting {
            here: point.depth,
            depth,
            faster: rate / here,
        };
    }
    if point.depth == 1 {
        return match device {
            Some(share) if share >= MOST => ExchangeVerdict::Device { share },
            _ if fastest.is_some() => ExchangeVerdict::SlowestStage { trt_ns },
            _ => ExchangeVerdict::OneAtATime {
                device,
                try_depth: TRY_DEPTH,
            },
        };
    }
    if split.achieved_depth < BEHIND * f64::from(point.depth) {
        return ExchangeVerdict::HostBehind {
            achieved: split.achieved_depth,
            depth: point.depth,
        };
    }
    // Requests that wait inside the device count as its time; the shortest one hardly waited. More
    // than the TRT would mean that the device works on several at once.
    let needs_ns = summary.device.as_ref().map_or(0.0, |device| device.min);
    if (BUSY..=1.05).contains(&(needs_ns / trt_ns.max(1.0))) {
        return ExchangeVerdict::DeviceBusy { needs_ns, trt_ns };
    }
    // Fewer at a time were as fast, or were answered sooner: what is more only waits.
    let mut fewer = others.filter(|other| other.point.depth < point.depth);
    let enough = |other: &PointSummary| {
        let sooner = (other.rtt.as_ref()).is_some_and(|rtt| GAIN * rtt.mean.value < rtt_ns);
        sooner || GAIN * other.throughput.exchanges_s > here
    };
    match device {
        Some(share) if share >= MOST => ExchangeVerdict::Device { share },
        _ if fastest.is_some() || fewer.any(enough) => ExchangeVerdict::SlowestStage { trt_ns },
        _ => ExchangeVerdict::PerhapsMore {
            try_depth: point.depth.saturating_mul(2),
        },
    }
}

impl fmt::Display for ExchangeVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeVerdict::Nothing => write!(f, "no exchange was answered at this point"),
            ExchangeVerdict::Schedule { under_way } => write!(
                f,
                "the schedule limits: an exchange is outstanding for {} of its period",
                percent(*under_way)
            ),
            ExchangeVerdict::Bus { used, source } => {
                write!(
                    f,
                    "the bus limits: {} of it is used ({source})",
                    percent(*used)
                )
            }
            ExchangeVerdict::Device { share } => write!(
                f,
                "the device limits: {} of the RTT is device time, including requests queued in the device",
                percent(*share)
            ),
            ExchangeVerdict::DeviceBusy { needs_ns, trt_ns } => write!(
                f,
                "the device limits: it needs at least {} of the {} between two starts",
                time(*needs_ns),
                time(*trt_ns)
            ),
            ExchangeVerdict::Waiting {
                here,
                depth,
                faster,
            } => {
                match here {
                    1 => write!(f, "no overlap of host, wire and device")?,
                    _ => write!(
                        f,
                        "at depth {here}, host, wire and device all wait for part of the time"
                    )?,
                }
                write!(
                    f,
                    ". At depth {depth}, throughput is {} higher",
                    times(*faster)
                )
            }
            ExchangeVerdict::PerhapsMore { try_depth } => write!(
                f,
                "not proven whether a higher depth is faster. Try --depth {try_depth}"
            ),
            ExchangeVerdict::OneAtATime { device, try_depth } => match device {
                Some(share) => write!(
                    f,
                    "the device is idle for {} of the RTT while host and wire are busy. Try --depth \
                     {try_depth}",
                    percent(1.0 - share)
                ),
                None => write!(
                    f,
                    "the device has no clock, so its part is unknown. Try --depth {try_depth}: what it gains \
                     was waiting time"
                ),
            },
            ExchangeVerdict::HostBehind { achieved, depth } => write!(
                f,
                "the host limits: {achieved:.1} of {depth} exchanges were outstanding on average. \
                 Try --priority, --pin, --wait spin"
            ),
            ExchangeVerdict::SlowestStage { trt_ns } => write!(
                f,
                "a higher depth does not help: the slowest of device, bus and host needs {} per exchange",
                time(*trt_ns)
            ),
        }
    }
}
