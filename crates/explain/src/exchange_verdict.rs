//! What limits an exchange, with the figures that say so, in words that name what to try.

use crate::depth::EQUAL;
use serde::Serialize;
use std::fmt;
use wiregauge_quantity::{exact_time, percent, time, times};
use wiregauge_record::grouped;

/// A gain up to this part more than that of the depths may be chance.
const CHANCE: f64 = 1.1;

/// What limits an exchange.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ExchangeVerdict {
    /// Too few exchanges for a verdict.
    TooFew {
        /// How many; 0 if none was answered.
        exchanges: u64,
        /// How many are needed.
        needed: u64,
    },
    /// The schedule of the plan says when an exchange starts.
    Schedule {
        /// Part of the period in which the exchange was under way; `None` if the run does not show whether the schedule
        /// was kept: the last request started late, and the lateness did not grow to the end; or an earlier version,
        /// which did not store how late requests started, measured it.
        under_way: Option<f64>,
    },
    /// The schedule was not kept.
    Behind {
        /// How late the last request started, in nanoseconds.
        late_ns: f64,
        /// The period of the schedule, in nanoseconds.
        period_ns: f64,
        /// What delayed them.
        cause: Late,
        /// What lets exchanges start although earlier ones are outstanding; `None` where the device allows no more.
        overlap: Option<&'static str>,
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
    /// Responses wait for the latency timer of an FTDI adapter.
    LatencyTimer {
        /// The timer, in milliseconds.
        timer_ms: u32,
        /// The median RTT, in nanoseconds.
        median_ns: f64,
    },
    /// Most of the RTT is the device's; or enough are outstanding, and it needs nearly the whole TRT for each by itself.
    Device {
        /// Its mean time; of the TRT the shortest time that it needed, in nanoseconds.
        device_ns: f64,
        /// The RTT, or the TRT, in nanoseconds.
        of_ns: f64,
        /// True if it is the TRT: the time between two starts.
        between_starts: bool,
    },
    /// The link is opened for each exchange, so they cannot overlap.
    Connection {
        /// Part of connection time + RTT that opening it takes, 0 to 1.
        share: f64,
        /// Another part that takes more, by its name in the table, and how much.
        larger: Option<(&'static str, f64)>,
    },
    /// A larger depth was faster in this run.
    FasterDepth {
        /// How many were asked for here.
        here: u32,
        /// Depth of the faster point.
        depth: u32,
        /// How many times as many exchanges a second.
        faster: f64,
        /// A smaller depth that was faster as well: that is not what the depth does.
        smaller: Option<u32>,
    },
    /// The run does not show whether a larger depth is faster.
    DepthUnknown {
        /// How many were asked for here.
        here: u32,
        /// The device's part of the RTT, 0 to 1; `None` without a device clock.
        device: Option<f64>,
        /// The depth of this run that would show it, but has losses, too few exchanges or no point: this one, or a
        /// larger one.
        unfinished: Option<u32>,
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
    /// Enough are outstanding: the slowest of device, bus and host needs the TRT for each.
    SlowestStage {
        /// The shortest mean TRT of the compared depths, in nanoseconds.
        needs_ns: f64,
        /// How many were asked for here.
        here: u32,
        /// Another depth of this run: a larger one without a gain, or a smaller one that is as fast.
        other: u32,
        /// How many times as many exchanges a second that one has.
        faster: f64,
    },
}

/// What made requests start late.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Late {
    /// Exchanges were outstanding for longer than the depth allows, and later ones waited for them: whose time that is,
    /// their starts do not show.
    Earlier {
        /// The longest, in nanoseconds.
        longest_ns: f64,
        /// Mean TRT, in nanoseconds, where most of them and not single ones take longer than the schedule leaves.
        trt_ns: Option<f64>,
    },
    /// No exchange was outstanding for so long that another had to wait for it.
    Host {
        /// The longest, in nanoseconds.
        longest_ns: f64,
    },
}

/// Much faster as a factor, else in percent.
fn gain(faster: f64) -> String {
    match faster >= 2.0 {
        true => format!("{} as high", times(faster)),
        false => format!("{} higher", percent(faster - 1.0)),
    }
}

impl ExchangeVerdict {
    /// The verdict in a few words, for an answer; `None` where it is about a schedule or other points, which the
    /// answer names itself.
    pub fn short(&self) -> Option<String> {
        Some(match self {
            ExchangeVerdict::TooFew { .. }
            | ExchangeVerdict::Schedule { .. }
            | ExchangeVerdict::Behind { .. }
            | ExchangeVerdict::FasterDepth { .. }
            | ExchangeVerdict::SlowestStage { .. }
            | ExchangeVerdict::DepthUnknown {
                unfinished: Some(_),
                ..
            } => return None,
            ExchangeVerdict::Losses { waited } => format!(
                "losses limit the rate: {} of the time is spent waiting for them",
                percent(*waited)
            ),
            ExchangeVerdict::Bus { .. } => "bottleneck: the bus".into(),
            ExchangeVerdict::LatencyTimer { timer_ms, .. } => format!(
                "bottleneck: the FTDI adapter's latency timer ({timer_ms} ms), which a higher --depth does not shorten"
            ),
            ExchangeVerdict::Device {
                between_starts: true,
                ..
            } => "bottleneck: the device (it needs nearly the whole TRT)".into(),
            ExchangeVerdict::Device {
                device_ns, of_ns, ..
            } => format!(
                "bottleneck: the device ({} of the RTT is device time)",
                percent(device_ns / of_ns)
            ),
            ExchangeVerdict::Connection { share, larger } => match larger {
                Some((name, share)) => format!("{name}: {} of each exchange", percent(*share)),
                None => format!(
                    "opening the link takes {} of each exchange",
                    percent(*share)
                ),
            },
            ExchangeVerdict::HostBehind { achieved, depth } => {
                format!("bottleneck: the host (depth {achieved:.1} of {depth} achieved)")
            }
            ExchangeVerdict::DepthUnknown {
                here, try_depth, ..
            } => match (here, try_depth) {
                (1, Some(_)) => "one exchange at a time: a higher --depth may be faster".into(),
                (1, None) => "only one exchange at a time is possible".into(),
                (_, Some(_)) => "a higher --depth may be faster".into(),
                (_, None) => "the device allows no higher --depth".into(),
            },
        })
    }
}

impl fmt::Display for ExchangeVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeVerdict::TooFew { exchanges: 0, .. } => {
                write!(f, "no exchange was answered at this point")
            }
            ExchangeVerdict::TooFew { exchanges, needed } => write!(
                f,
                "too few exchanges to find the bottleneck ({}; {} are needed)",
                grouped(*exchanges),
                grouped(*needed)
            ),
            ExchangeVerdict::Schedule { under_way: None } => {
                write!(f, "this run does not show whether the schedule was kept")
            }
            ExchangeVerdict::Schedule {
                under_way: Some(under_way),
            } => write!(
                f,
                "the schedule limits the rate: an exchange is outstanding for {}",
                match *under_way > 1.0 {
                    true => format!("{under_way:.1} periods"),
                    false => format!("{} of its period", percent(*under_way)),
                }
            ),
            ExchangeVerdict::Behind {
                late_ns,
                period_ns,
                cause,
                overlap,
            } => {
                write!(
                    f,
                    "the schedule was not kept: the last request started {} late, with a period of {}. ",
                    time(*late_ns),
                    exact_time(*period_ns as u64)
                )?;
                let or = |more: &str| {
                    overlap.map_or(String::new(), |overlap| format!("{more}{overlap}"))
                };
                match cause {
                    Late::Earlier {
                        trt_ns: Some(trt_ns),
                        ..
                    } => write!(
                        f,
                        "One exchange starts every {} on average. Try an --interval above that{}",
                        time(*trt_ns),
                        or(", or ")
                    ),
                    Late::Earlier { longest_ns, .. } => write!(
                        f,
                        "Single exchanges were outstanding for up to {} and delayed later ones. Try a longer \
                         --interval{}",
                        time(*longest_ns),
                        or(", or ")
                    ),
                    Late::Host { longest_ns } => write!(
                        f,
                        "No exchange took longer than {}: the host started them late",
                        time(*longest_ns)
                    ),
                }
            }
            ExchangeVerdict::Losses { waited } => write!(
                f,
                "losses limit the rate: {} of the time is spent waiting for responses that do not arrive in time",
                percent(*waited)
            ),
            ExchangeVerdict::Bus { used, source } => {
                write!(f, "the bus; {} of it is used ({source})", percent(*used))
            }
            ExchangeVerdict::LatencyTimer {
                timer_ms,
                median_ns,
            } => write!(
                f,
                "the latency timer of the FTDI adapter, {timer_ms} ms (median RTT {}). Received bytes that do \
                 not fill a packet of 62 wait for it, so a higher depth does not shorten the RTT. Try wiregauge doctor \
                 --only ftdi-latency --fix",
                time(*median_ns)
            ),
            ExchangeVerdict::Device {
                device_ns,
                of_ns,
                between_starts,
            } => match between_starts {
                false => write!(
                    f,
                    "the device; {} of the RTT is device time, including requests queued in the device",
                    percent(device_ns / of_ns)
                ),
                true if device_ns >= of_ns => write!(
                    f,
                    "the device; it is busy for all of the {} between two starts",
                    time(*of_ns)
                ),
                true => write!(
                    f,
                    "the device; it needs at least {} of the {} between two starts",
                    time(*device_ns),
                    time(*of_ns)
                ),
            },
            ExchangeVerdict::Connection { share, larger } => {
                if let Some((name, more)) = larger {
                    write!(f, "{name}: {} of each exchange; ", percent(*more))?;
                }
                write!(
                    f,
                    "opening the link takes {} of each exchange (--connect each), and exchanges cannot overlap. \
                     Try --connect once",
                    percent(*share)
                )
            }
            ExchangeVerdict::FasterDepth {
                depth,
                smaller: Some(smaller),
                ..
            } => write!(
                f,
                "slower than depth {smaller} and depth {depth} with the same sizes, which depth does not explain: \
                 a disturbance at this point, or scatter. Measure again"
            ),
            ExchangeVerdict::FasterDepth {
                here,
                depth,
                faster,
                smaller: None,
            } => {
                match here {
                    1 => write!(f, "host, wire and device work one after the other")?,
                    _ => write!(
                        f,
                        "at depth {here}, host, wire and device all wait for part of the time"
                    )?,
                }
                write!(f, ". At depth {depth}, throughput is {}", gain(*faster))?;
                match *faster > CHANCE * f64::from(*depth) / f64::from((*here).max(1)) {
                    true => write!(
                        f,
                        ". Depth alone explains at most {}: other conditions differed too (load, CPU clock). \
                         Measure again",
                        times(f64::from(*depth) / f64::from((*here).max(1)))
                    ),
                    false => Ok(()),
                }
            }
            ExchangeVerdict::DepthUnknown {
                unfinished: Some(_),
                ..
            } => write!(f, "this run does not show whether a higher depth is faster"),
            ExchangeVerdict::DepthUnknown {
                here: 2..,
                try_depth,
                ..
            } => match try_depth {
                Some(depth) => write!(
                    f,
                    "no bottleneck found; a higher depth may be faster. Try --depth {depth}"
                ),
                None => write!(f, "the device allows no higher depth"),
            },
            ExchangeVerdict::DepthUnknown {
                device, try_depth, ..
            } => {
                match device {
                    Some(share) => write!(
                        f,
                        "the device is idle for {} of the RTT while host and wire are busy",
                        percent(1.0 - share)
                    )?,
                    None => write!(f, "the part of the device is not known")?,
                }
                match (try_depth, device) {
                    (Some(depth), Some(_)) => write!(f, ". Try --depth {depth}"),
                    (Some(depth), None) => {
                        write!(f, ". Try --depth {depth}: what it gains was waiting time")
                    }
                    (None, _) => write!(f, "; only one request at a time is possible"),
                }
            }
            ExchangeVerdict::HostBehind { achieved, depth } => {
                let decimals = if *achieved < 1.0 { 2 } else { 1 };
                write!(
                    f,
                    "the host; {achieved:.decimals$} of {depth} exchanges were outstanding on average"
                )
            }
            ExchangeVerdict::SlowestStage {
                needs_ns,
                here,
                other,
                faster,
            } => {
                match other > here {
                    true => write!(f, "saturated: no significant gain up to depth {other}")?,
                    false if *faster > 1.0 / EQUAL => write!(
                        f,
                        "saturated: depth {other} is {} faster",
                        percent(faster - 1.0)
                    )?,
                    false => write!(f, "saturated: depth {other} is as fast")?,
                }
                let needs = time(*needs_ns);
                write!(
                    f,
                    ". The slowest of device, bus and host needs {needs} per exchange"
                )
            }
        }
    }
}
