//! What limits an exchange, with the figures that say so, in words that name what to try. A verdict agrees with
//! every other point of its run, and tries nothing that the plan or the device refuses.

use crate::exchange::ExchangeSplit;
use crate::show::{percent, time, times};
use serde::Serialize;
use std::fmt;
use wiregauge_record::{Conditions, Connect, Counts, Plan, PointSummary, Schedule};

/// Part of the RTT from which a side is said to dominate.
const MOST: f64 = 0.5;
const BEHIND: f64 = 0.75;
const FULL: f64 = 0.90;
/// A device that needs this part of the TRT has no time left.
const BUSY: f64 = 0.80;
/// A gain that says more than the device's part of the RTT does.
const GAIN: f64 = 1.25;
/// Rates within this factor count as equal: the scatter of short runs.
pub(crate) const EQUAL: f64 = 0.95;
const TRY_DEPTH: u32 = 4;
/// Fewer exchanges for each that may be outstanding: the first and the last of them weigh too much.
const ENOUGH: u64 = 10;
/// Part of the time spent waiting for lost responses from which nothing else is worth a verdict.
const LOSING: f64 = 0.10;
/// Of a point with more exchanges unanswered than this, the rate is that of timeouts.
pub(crate) const UNANSWERED: f64 = 1e-3;
/// A gain up to this part more than that of the depths may be chance.
const CHANCE: f64 = 1.1;

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
    /// The link does not keep the schedule.
    Behind {
        /// How late half of the requests started, in nanoseconds.
        late_ns: f64,
    },
    /// Too few exchanges for a verdict.
    TooFew {
        /// How many.
        exchanges: u64,
    },
    /// Responses that do not arrive take the time.
    Losses {
        /// Part of the time spent waiting for them, 0 to 1.
        waited: f64,
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
    /// The link is opened for each exchange, so they cannot overlap.
    Connection {
        /// Part of connection time + RTT that opening it takes, 0 to 1.
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
        /// The depth to try; `None` where the device allows no more.
        try_depth: Option<u32>,
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
        /// The depth to try; `None` where the device allows no more.
        try_depth: Option<u32>,
    },
    /// Enough are outstanding: the slowest of device, bus and host needs the TRT for each.
    SlowestStage {
        /// Start to start, in nanoseconds.
        trt_ns: f64,
        /// How many were asked for here.
        here: u32,
        /// Another depth of this run: a larger one without a gain, or a smaller one that is as fast.
        other: u32,
    },
}

pub(crate) fn verdict(
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
    if counts.exchanges < ENOUGH * u64::from(point.depth) {
        return ExchangeVerdict::TooFew {
            exchanges: counts.exchanges,
        };
    }
    let places_ns = f64::from(point.depth) * summary.elapsed_ns.max(1) as f64;
    let waited = (counts.lost + counts.late) as f64 * plan.timeout_ns as f64 / places_ns;
    if waited >= LOSING {
        return ExchangeVerdict::Losses {
            waited: waited.min(1.0),
        };
    }
    if let Some(full) = summary.limit.as_ref().filter(|limit| limit.used >= FULL) {
        return ExchangeVerdict::Bus {
            used: full.used,
            source: full.source.clone(),
        };
    }
    let most = split.share(split.device_ns).filter(|&of| of >= MOST);
    let device = most.zip(split.device_ns);
    let device = device.map(|(_, device_ns)| device_ns / rtt_ns.max(1.0));
    if plan.connect == Connect::Each {
        let share = split.share(split.connect_ns).unwrap_or(0.0);
        return device.map_or(ExchangeVerdict::Connection { share }, |share| {
            ExchangeVerdict::Device { share }
        });
    }
    let depths = Depths::of(points, summary);
    let faster = |most: f64| {
        let (depth, faster) = depths.faster?;
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
        // Requests that wait inside the device count as its time; the shortest one hardly waited. More
        // than the TRT would mean that the device works on several at once.
        let needs_ns = summary.device.as_ref().map_or(0.0, |device| device.min);
        if (BUSY..=1.05).contains(&(needs_ns / trt_ns.max(1.0))) {
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
    let allowed = |depth: u32| {
        let depth = depth.min(most_outstanding(conditions, point.link));
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

/// Of a run whose plan says when an exchange starts.
fn scheduled(summary: &PointSummary, split: &ExchangeSplit, every_ns: f64) -> ExchangeVerdict {
    let intended = summary.from_intended.as_ref();
    let late_ns = intended.zip(summary.rtt.as_ref());
    let late_ns = late_ns.map_or(0.0, |(intended, rtt)| intended.p50.value - rtt.p50.value);
    match late_ns > every_ns / 2.0 {
        true => ExchangeVerdict::Behind { late_ns },
        false => ExchangeVerdict::Schedule {
            under_way: split.total_ns().unwrap_or(0.0) / every_ns,
        },
    }
}

/// True where at most a few exchanges had no right answer in time.
pub(crate) fn is_answered(counts: &Counts) -> bool {
    let unanswered = counts.exchanges.saturating_sub(counts.answered) as f64;
    unanswered <= UNANSWERED * counts.exchanges as f64
}

/// True where the rate of a point tells what its depth is worth.
fn is_telling(point: &PointSummary) -> bool {
    let enough = ENOUGH * u64::from(point.point.depth);
    is_answered(&point.counts) && point.counts.exchanges >= enough
}

/// The number of outstanding requests that the device allows.
pub(crate) fn most_outstanding(conditions: &Conditions, link: u32) -> u32 {
    let responder = match link.checked_sub(1) {
        None => conditions.responder.as_ref(),
        Some(further) => (conditions.more_links.get(further as usize))
            .and_then(|conditions| conditions.responder.as_ref()),
    };
    match responder.map_or(0, |responder| responder.max_outstanding) {
        0 => u32::MAX,
        most => most,
    }
}

/// What the other depths of the same exchange say of a point.
struct Depths {
    /// The fastest larger depth, and how many times as fast it is.
    faster: Option<(u32, f64)>,
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
        Depths {
            faster: deeper().max_by(|a, b| a.1.total_cmp(&b.1)),
            saturated: deepest.or_else(|| smaller.map(|(depth, _)| depth).min()),
        }
    }
}

/// Much faster as a factor, else in percent.
fn gain(faster: f64) -> String {
    match faster >= 2.0 {
        true => format!("{} as high", times(faster)),
        false => format!("{} higher", percent(faster - 1.0)),
    }
}

impl fmt::Display for ExchangeVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeVerdict::Nothing => write!(f, "no exchange was answered at this point"),
            ExchangeVerdict::Schedule { under_way } => write!(
                f,
                "the schedule limits: an exchange is outstanding for {}",
                match *under_way > 1.0 {
                    true => format!("{under_way:.1} periods"),
                    false => format!("{} of its period", percent(*under_way)),
                }
            ),
            ExchangeVerdict::Behind { late_ns } => write!(
                f,
                "the link does not keep the schedule: half of the requests start {} late or more. Try a longer \
                 --interval, or a higher --depth",
                time(*late_ns)
            ),
            ExchangeVerdict::TooFew { exchanges } => write!(
                f,
                "{exchanges} exchanges are too few to find what limits. Use a larger --count"
            ),
            ExchangeVerdict::Losses { waited } => write!(
                f,
                "losses limit: {} of the time is spent waiting for responses that do not arrive in time. Find their \
                 cause, or use a shorter --timeout",
                percent(*waited)
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
            ExchangeVerdict::Connection { share } => write!(
                f,
                "opening the link takes {} of each exchange (--connect each), and exchanges cannot overlap. \
                 Try --connect once",
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
                write!(f, ". At depth {depth}, throughput is {}", gain(*faster))?;
                match *faster > CHANCE * f64::from(*depth) / f64::from((*here).max(1)) {
                    true => write!(
                        f,
                        ", more than the depth explains: other conditions differed too"
                    ),
                    false => Ok(()),
                }
            }
            ExchangeVerdict::PerhapsMore { try_depth } => match try_depth {
                Some(depth) => write!(
                    f,
                    "not proven whether a higher depth is faster. Try --depth {depth}"
                ),
                None => write!(f, "the device allows no higher depth"),
            },
            ExchangeVerdict::OneAtATime { device, try_depth } => {
                match device {
                    Some(share) => write!(
                        f,
                        "the device is idle for {} of the RTT while host and wire are busy",
                        percent(1.0 - share)
                    )?,
                    None => write!(f, "the device has no clock, so its part is unknown")?,
                }
                match (try_depth, device) {
                    (Some(depth), Some(_)) => write!(f, ". Try --depth {depth}"),
                    (Some(depth), None) => {
                        write!(f, ". Try --depth {depth}: what it gains was waiting time")
                    }
                    (None, _) => write!(f, ". It allows only one request at a time"),
                }
            }
            ExchangeVerdict::HostBehind { achieved, depth } => write!(
                f,
                "the host limits: {achieved:.1} of {depth} exchanges were outstanding on average. \
                 Try --priority, --pin, --wait spin"
            ),
            ExchangeVerdict::SlowestStage {
                trt_ns,
                here,
                other,
            } => {
                match other > here {
                    true => write!(f, "saturated: no significant gain up to depth {other}")?,
                    false => write!(f, "saturated: depth {other} is as fast")?,
                }
                let needs = time(*trt_ns);
                write!(
                    f,
                    ". The slowest of device, bus and host needs {needs} per exchange"
                )
            }
        }
    }
}
