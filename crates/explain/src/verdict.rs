//! Which side limits a stream, with the figures that say so, in words that name what to try.

use serde::Serialize;
use std::fmt;
use wiregauge_quantity::{percent, rate, time, times};

/// A point that differs in a larger queue only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Queued {
    /// Its queue.
    pub queue: u32,
    /// Its time a transfer, in nanoseconds.
    pub transfer_ns: f64,
    /// How many times as fast it is.
    pub faster: f64,
}

/// A gain below this factor is none: the scatter of short runs.
pub(crate) const WORTH: f64 = 1.05;

impl Queued {
    fn gain(&self) -> String {
        if self.faster < WORTH {
            "no faster".into()
        } else {
            format!("{} as fast", times(self.faster))
        }
    }
}

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
    /// The measuring thread computed nearly all the time.
    Processor {
        /// Part of the time, 0 to 1.
        busy: f64,
        /// Whether received bytes were compared, which is part of it.
        checked: bool,
        /// The fastest point of this run with larger transfers.
        larger: Option<Larger>,
    },
    /// One at a time: device and bus are idle while the host prepares the next transfer.
    HostBetween {
        /// Part of the time, 0 to 1.
        idle: f64,
        /// False if the stack's part is not known and comes on top.
        whole: bool,
        /// The fastest point of this run that differs in a larger queue only.
        queued: Option<Queued>,
        /// The queue to try where there is none.
        try_queue: u32,
    },
    /// Queued, but fewer were pending than were asked for: the host submits too slowly.
    HostBehind {
        /// Mean number pending.
        achieved: f64,
        /// Number asked for.
        queue: u32,
        /// Mean time for which the host held a place back, in nanoseconds.
        host_gap_ns: f64,
        /// The fastest point of this run with larger transfers.
        larger: Option<Larger>,
    },
    /// Queued, but the URBs were over long before the application took them.
    HostCollects {
        /// Mean number of URBs in flight.
        in_flight: f64,
        /// Number asked for.
        queue: u32,
        /// Mean time in the stack, in nanoseconds.
        stack_ns: f64,
        /// The fastest point of this run with larger transfers.
        larger: Option<Larger>,
    },
    /// One at a time, and more at a time were faster in this run: the wait for each other limits.
    TurnAround {
        /// Time a transfer here, in nanoseconds.
        transfer_ns: f64,
        /// The faster point.
        queued: Queued,
    },
    /// One at a time, with little of it on the host; whether the wait could overlap is not known.
    OneAtATime {
        /// Device's and bus's part of the time, 0 to 1.
        share: f64,
        /// The queue to try.
        try_queue: u32,
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
    /// The host keeps enough pending: the device, or something between, takes no more.
    Device {
        /// Bytes a second of this way.
        bytes_s: f64,
        /// Time from completion to completion, in nanoseconds.
        transfer_ns: f64,
        /// The physical limit and the part of it used, where known.
        limit: Option<(f64, f64)>,
        /// The fastest point of this run with larger transfers.
        larger: Option<Larger>,
    },
    /// No queue on this kind of link; the application's part is large.
    CallsTooSmall {
        /// The application's part of the time, 0 to 1.
        share: f64,
        /// Whether received bytes were compared, which is part of it.
        checked: bool,
        /// The fastest point of this run with larger transfers.
        larger: Option<Larger>,
    },
    /// No queue on this kind of link; the calls wait for the link.
    Link {
        /// Bytes a second of this way.
        bytes_s: f64,
        /// The part of the time inside the system calls, 0 to 1.
        share: f64,
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
            Verdict::Processor { .. }
            | Verdict::HostBetween { .. }
            | Verdict::HostBehind { .. }
            | Verdict::HostCollects { .. }
            | Verdict::CallsTooSmall { .. } => "host",
            Verdict::TurnAround { .. } => "turn-around",
            Verdict::OneAtATime { .. } | Verdict::Device { .. } => "device or bus",
            Verdict::Bus { .. } => "bus",
            Verdict::Link { .. } => "link or device",
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
            Verdict::Processor {
                busy,
                checked,
                larger,
            } => write!(
                f,
                "the CPU of the host; the measuring thread is busy {} of the time{}",
                percent(*busy),
                larger_transfers(larger, unchecked(*checked))
            ),
            Verdict::HostBetween {
                idle,
                whole,
                queued,
                try_queue,
            } => {
                let at_least = if *whole { "" } else { "at least " };
                write!(
                    f,
                    "device and bus idle {at_least}{} of the time while the host prepares the next \
                     transfer",
                    percent(*idle)
                )?;
                match queued {
                    Some(more) => write!(f, "; with --queue {} it is {}", more.queue, more.gain()),
                    None => write!(f, ". Try --queue {try_queue}"),
                }
            }
            Verdict::HostBehind {
                achieved,
                queue,
                host_gap_ns,
                larger,
            } => write!(
                f,
                "the host; {achieved:.1} of {queue} transfers were pending on average, and a free slot \
                 stayed empty for {}{}",
                time(*host_gap_ns),
                larger_transfers(larger, "--priority, --pin")
            ),
            Verdict::HostCollects {
                in_flight,
                queue,
                stack_ns,
                larger,
            } => write!(
                f,
                "the host; {in_flight:.1} of {queue} URBs were in flight on average; the others were \
                 complete and waited {} to be reaped{}",
                time(*stack_ns),
                larger_transfers(larger, "--priority, --pin")
            ),
            Verdict::TurnAround {
                transfer_ns,
                queued,
            } => write!(
                f,
                "each transfer waits for the previous one: {} per transfer, against {} with --queue {} in this \
                 run, {}",
                time(*transfer_ns),
                time(queued.transfer_ns),
                queued.queue,
                queued.gain()
            ),
            Verdict::OneAtATime { share, try_queue } => write!(
                f,
                "device and bus take {} of the time, one transfer after the other; --queue 1,{try_queue} shows \
                 whether they can overlap",
                percent(*share)
            ),
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
                limit,
                larger,
            } => {
                write!(
                    f,
                    "the device or the bus, {} = {} per transfer",
                    rate(*bytes_s),
                    time(*transfer_ns)
                )?;
                beside(f, *bytes_s, limit)?;
                gained(f, larger)
            }
            Verdict::CallsTooSmall {
                share,
                checked,
                larger,
            } => write!(
                f,
                "the host; the measuring thread spends {} of the time between its system calls{}",
                percent(*share),
                larger_transfers(larger, unchecked(*checked))
            ),
            Verdict::Link {
                bytes_s,
                share,
                limit,
                larger,
            } => {
                write!(
                    f,
                    "the link or the other end, {}; {} of the time is spent in system calls",
                    rate(*bytes_s),
                    percent(*share)
                )?;
                beside(f, *bytes_s, limit)?;
                gained(f, larger)
            }
        }
    }
}
