//! Which side limits a stream, with the figures that say so, in words that name what to try.

use serde::Serialize;
use std::fmt;
use wiregauge_quantity::{percent, rate, time, times};

/// A point that differs in a larger queue only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Queued {
    /// Its queue.
    pub queue: u32,
    /// How many times as fast it is.
    pub faster: f64,
}

/// A gain below this factor is none: the scatter of short runs.
pub(crate) const WORTH: f64 = 1.05;

/// What larger transfers gain, by a point that differs from this one in larger transfers only. Of the largest
/// point itself: what it gained over smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Larger {
    /// Bytes per transfer of the larger point.
    pub transfer_bytes: u32,
    /// How many times as many bytes a second.
    pub faster: f64,
}

/// What larger transfers do, or that they are to be tried where the run has none; after it `more` to try.
fn larger_transfers(larger: &Option<Larger>, more: &str) -> String {
    let more = match more.is_empty() {
        true => String::new(),
        false => format!(". Try {more}"),
    };
    match larger {
        None if more.is_empty() => ". Try larger --transfer".into(),
        None => more.replacen("Try ", "Try larger --transfer, ", 1),
        Some(larger) if larger.faster < WORTH => {
            format!("; in this run, larger --transfer is no faster{more}")
        }
        Some(larger) => {
            let gain = match larger.faster >= 2.0 {
                true => format!("{} as high", times(larger.faster)),
                false => format!("{} higher", percent(larger.faster - 1.0)),
            };
            format!(
                "; with --transfer {}, throughput is {gain}{more}",
                larger.transfer_bytes
            )
        }
    }
}

/// Which side limits one way of a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Verdict {
    /// Nothing was measured.
    Nothing,
    /// The measuring thread itself takes the time.
    Application {
        /// Part of the time, 0 to 1.
        share: f64,
        /// True if it is the time between its system calls, false if it is CPU time.
        between_calls: bool,
        /// Whether received bytes were compared, which is part of it.
        checked: bool,
        /// The fastest point of this run with larger transfers.
        larger: Option<Larger>,
    },
    /// One at a time: each transfer waits for the previous one.
    OneAtATime {
        /// Part of the time in which device and bus are idle while the host prepares the next transfer, 0 to 1.
        idle: f64,
        /// False if the stack's part is not known and comes on top.
        whole: bool,
        /// The fastest point of this run that differs in a larger queue only.
        queued: Option<Queued>,
        /// The queue to try where there is none.
        try_queue: u32,
    },
    /// Queued, but fewer were pending than were asked for: the host submits, or collects, too slowly.
    HostBehind {
        /// Mean number pending; if it collects too slowly, of URBs in flight.
        achieved: f64,
        /// Number asked for.
        queue: u32,
        /// True if the URBs were over long before the application took them.
        collects: bool,
        /// Mean time for which the host held a place back, or a complete URB waited in the stack, in nanoseconds.
        waited_ns: f64,
        /// The fastest point of this run with larger transfers.
        larger: Option<Larger>,
    },
    /// The bus carries what it can.
    Bus {
        /// Bytes a second of this way.
        bytes_s: f64,
        /// Part of the limit used by all that shares it, 0 to 1.
        used: f64,
        /// The limit, in bytes a second.
        limit_bytes_s: f64,
        /// What the limit is.
        source: String,
    },
    /// The host keeps enough pending, or its calls wait for the link: the device, or something between, takes no more.
    Device {
        /// Bytes a second of this way.
        bytes_s: f64,
        /// Time from completion to completion, in nanoseconds.
        transfer_ns: f64,
        /// The part of the time inside the system calls, 0 to 1; `None` where transfers pend in a queue.
        in_calls: Option<f64>,
        /// The physical limit and the part of it used, where known.
        limit: Option<(f64, f64)>,
        /// The fastest point of this run with larger transfers.
        larger: Option<Larger>,
    },
}

impl Verdict {
    /// Who limits, in a word or two.
    pub fn side(&self) -> &'static str {
        match self {
            Verdict::Nothing => "-",
            Verdict::Application { .. } | Verdict::HostBehind { .. } => "host",
            Verdict::OneAtATime { .. } => "one at a time",
            Verdict::Bus { .. } => "bus",
            Verdict::Device { in_calls: None, .. } => "device or bus",
            Verdict::Device { .. } => "link or device",
        }
    }
}

/// What flows beyond the physical limit by more than this flows over no such bus.
pub(crate) const REAL: f64 = 1.05;

/// Two rates of one flow differ by less than this factor.
const SHARED: f64 = 1.05;

/// What larger transfers gain, if it is something.
fn gained(f: &mut fmt::Formatter<'_>, larger: &Option<Larger>) -> fmt::Result {
    match larger.filter(|larger| larger.faster >= WORTH) {
        Some(larger) => f.write_str(&larger_transfers(&Some(larger), "")),
        None => Ok(()),
    }
}

/// The flag that saves the comparison of received bytes, where there is one.
fn unchecked(checked: bool) -> &'static str {
    if checked { "--no-check" } else { "" }
}

/// True where another direction uses a part of the limit, too.
fn is_shared(bytes_s: f64, limit_bytes_s: f64, used: f64) -> bool {
    used * limit_bytes_s > SHARED * bytes_s
}

fn beside(f: &mut fmt::Formatter<'_>, bytes_s: f64, limit: &Option<(f64, f64)>) -> fmt::Result {
    match limit {
        Some((limit, used)) if *used > REAL => write!(
            f,
            "; this exceeds the physical limit of {}: buffers were still filling, or the limit is not that of what \
             carried the data",
            rate(*limit)
        ),
        Some((limit, used)) if is_shared(bytes_s, *limit, *used) => write!(
            f,
            "; the physical limit is {}, of which both directions together use {}",
            rate(*limit),
            percent(*used)
        ),
        Some((limit, used)) => write!(
            f,
            "; the physical limit is {}, of which {} is used",
            rate(*limit),
            percent(*used)
        ),
        None => Ok(()),
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Nothing => write!(f, "nothing was measured at this point"),
            Verdict::Application {
                share,
                between_calls,
                checked,
                larger,
            } => {
                let share = percent(*share);
                match between_calls {
                    true => write!(
                        f,
                        "the host; the measuring thread spends {share} of the time between its system calls"
                    )?,
                    false => write!(
                        f,
                        "the CPU of the host; the measuring thread is busy {share} of the time"
                    )?,
                }
                f.write_str(&larger_transfers(larger, unchecked(*checked)))
            }
            Verdict::OneAtATime {
                idle,
                whole,
                queued,
                try_queue,
            } => {
                let at_least = if *whole { "" } else { "at least " };
                write!(
                    f,
                    "one transfer at a time: device and bus are idle {at_least}{} of the time while the host \
                     prepares the next one",
                    percent(*idle)
                )?;
                match queued {
                    Some(Queued { queue, faster }) => {
                        write!(f, "; with --queue {queue} it is {} as fast", times(*faster))
                    }
                    None => write!(f, ". Try --queue 1,{try_queue}"),
                }
            }
            Verdict::HostBehind {
                achieved,
                queue,
                collects,
                waited_ns,
                larger,
            } => {
                let waited = time(*waited_ns);
                match collects {
                    true => write!(
                        f,
                        "the host; {achieved:.1} of {queue} URBs were in flight on average; the others were \
                         complete and waited {waited} to be reaped"
                    )?,
                    false => write!(
                        f,
                        "the host; {achieved:.1} of {queue} transfers were pending on average, and a free slot \
                         stayed empty for {waited}"
                    )?,
                }
                f.write_str(&larger_transfers(larger, "--priority, --pin"))
            }
            Verdict::Bus {
                bytes_s,
                used,
                limit_bytes_s,
                source,
            } => {
                let (bytes_s, used, limit_bytes_s) = (*bytes_s, *used, *limit_bytes_s);
                let (of, limit) = (percent(used), rate(limit_bytes_s));
                write!(f, "the bus, {}; ", rate(bytes_s))?;
                match is_shared(bytes_s, limit_bytes_s, used) {
                    true => write!(
                        f,
                        "both directions together use {of} of its {limit} ({source})"
                    ),
                    false => write!(f, "{of} of its {limit} is used ({source})"),
                }
            }
            Verdict::Device {
                bytes_s,
                transfer_ns,
                in_calls,
                limit,
                larger,
            } => {
                let carried = rate(*bytes_s);
                match in_calls {
                    Some(share) => write!(
                        f,
                        "the link or the other end, {carried}; {} of the time is spent in system calls",
                        percent(*share)
                    )?,
                    None => write!(
                        f,
                        "the device or the bus, {carried} = {} per transfer",
                        time(*transfer_ns)
                    )?,
                }
                beside(f, *bytes_s, limit)?;
                gained(f, larger)
            }
        }
    }
}
