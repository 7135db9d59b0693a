//! A warning about exchanges as it was found, and its words: the finding, and the remedy in the flags that the
//! user is using.

use super::codes::Code;
use super::warning::Warning;
use crate::units::{grouped, percent, time};
use std::fmt;
use wiregauge_record::Wait;

/// A warning about a run or some of its points.
pub(in crate::tables) enum Found {
    /// Exchanges were lost.
    Lost { points: Vec<u32>, worst: f64 },
    /// Answers had wrong bytes.
    Corrupted { points: Vec<u32> },
    /// The depth asked for was not reached.
    Shallow {
        points: Vec<u32>,
        asked: u32,
        achieved: f64,
    },
    /// Too few independent samples for p99.
    FewSamples {
        points: Vec<u32>,
        /// Exchanges of the point that needs most.
        exchanges: u64,
        /// How many independent samples these are worth.
        worth: f64,
        /// What would be enough.
        needed: Needed,
        /// Only the percentile from the intended start has no bound.
        intended: bool,
    },
    /// The schedule was not kept.
    Behind { points: Vec<u32>, each: bool },
    /// The machine took time away.
    Steal { points: Vec<u32>, worst: f64 },
    /// The measuring thread was preempted.
    Preempted {
        points: Vec<u32>,
        waited_ns: u64,
        pinned: bool,
        real_time: bool,
    },
    /// Somebody else on the pinned processor.
    Shared { points: Vec<u32>, worst: f64 },
    /// The clock jumped.
    ClockGap { points: Vec<u32>, longest_ns: u64 },
    /// The storage was too slow.
    Storage { points: Vec<u32> },
    /// An endpoint stalled and was cleared.
    Stalled { points: Vec<u32>, times: u64 },
    /// The figures are near this host's own floor.
    NearFloor {
        points: Vec<u32>,
        floor_ns: f64,
        wait: Wait,
    },
    /// Echoes came only after a silence of the device's own.
    Silence {
        points: Vec<u32>,
        /// How long; `None` if longer than the timeout.
        silence_ns: Option<f64>,
    },
    /// Each echo had more bytes than its request.
    Surplus {
        points: Vec<u32>,
        /// How many; `None` where they displaced the later echoes, so that this is not known.
        bytes: Option<u64>,
    },
    /// A load ran.
    Load { cpu: u32, memory: u32 },
    /// A point is not whole.
    Cut { points: Vec<u32> },
}

/// What would be enough, in the flag that limits the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::tables) enum Needed {
    /// So many exchanges at each point.
    Count(u64),
    /// So many seconds for each point.
    Seconds(u64),
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Needed::Count(count) => write!(
                f,
                "{} exchanges are required (--count {count})",
                grouped(count)
            ),
            Needed::Seconds(seconds) => write!(f, "{0} s are required (--duration {0}s)", seconds),
        }
    }
}

/// `point 3`, `points 1, 2 and 7`, `12 points`; numbered from 1 as the table's rows are.
pub(super) fn named(points: &[u32]) -> String {
    match points {
        [one] => format!("row {}", one + 1),
        few if few.len() <= 4 => {
            let names: Vec<String> = few.iter().map(|p| (p + 1).to_string()).collect();
            format!("rows {}", names.join(", "))
        }
        many => format!("{} rows, from row {}", many.len(), many[0] + 1),
    }
}

impl Found {
    /// What is printed.
    pub(in crate::tables) fn warning(&self) -> Warning {
        match self {
            Found::Lost { points, worst } => Warning::new(
                Code::Lost,
                format!(
                    "up to {} of the exchanges were not answered in time ({})",
                    percent(*worst),
                    named(points)
                ),
                format!(
                    ". RTT figures are for the answered ones; over all exchanges, percentiles above {} are \
                     undefined. Try a lower --depth or --rate, or a longer --timeout.",
                    percent(1.0 - worst)
                ),
            ),
            Found::Corrupted { points } => Warning::new(
                Code::Corrupted,
                format!("answers have wrong bytes ({})", named(points)),
                ": this link is not reliable. Check cable, --baud and the buffers of the device.",
            ),
            Found::Shallow {
                points,
                asked,
                achieved,
            } => Warning::new(
                Code::Shallow,
                format!(
                    "depth {asked} was requested, {achieved:.1} achieved ({})",
                    named(points)
                ),
                ": the host or a full buffer delayed requests. TRT is that of the achieved depth; try --wait \
                 spin, or smaller sizes.",
            ),
            Found::FewSamples {
                points,
                exchanges,
                worth,
                needed,
                intended,
            } => {
                let which = match intended {
                    true => "p99 from the intended start",
                    false => "p99",
                };
                Warning::new(
                    Code::FewSamples,
                    format!(
                        "{which} has no upper confidence bound ({}); about {needed}",
                        named(points)
                    ),
                    format!(
                        ": {} exchanges are worth {} independent samples at p99, too few.",
                        grouped(*exchanges),
                        grouped(worth.floor() as u64)
                    ),
                )
            }
            Found::Behind { points, each } => Warning::new(
                Code::Behind,
                format!("the schedule was not kept ({})", named(points)),
                // Exchanges that open the link are one at a time.
                format!(
                    ": exchanges waited for earlier ones. Use the table from the intended start; try {}.",
                    match each {
                        true => "--connect once or a longer --interval",
                        false => "a higher --depth or a longer --interval",
                    }
                ),
            ),
            Found::Steal { points, worst } => Warning::new(
                Code::Steal,
                format!(
                    "the hypervisor stole up to {} of the time of this machine ({})",
                    percent(*worst),
                    named(points)
                ),
                ". The tails are caused by this host, not by the link: measure on a real machine.",
            ),
            Found::Preempted {
                points,
                waited_ns,
                pinned,
                real_time,
            } => Warning::new(
                Code::Preempted,
                format!(
                    "the measuring thread was preempted for up to {} per point ({})",
                    time(*waited_ns as f64),
                    named(points)
                ),
                match (pinned, real_time) {
                    (_, false) => ". Try --priority 50, or a less loaded host.",
                    (false, true) => ". Try --pin CPU.",
                    (true, true) => ". Look for other real-time programs on that CPU.",
                },
            ),
            Found::Shared { points, worst } => Warning::new(
                Code::Shared,
                format!(
                    "other programs used {} of the CPU that the measuring thread is pinned to ({})",
                    percent(*worst),
                    named(points)
                ),
                ". Use --pin with another one.",
            ),
            Found::ClockGap { points, longest_ns } => Warning::new(
                Code::ClockGap,
                format!(
                    "the clock jumped by up to {} for a spinning thread ({})",
                    time(*longest_ns as f64),
                    named(points)
                ),
                ": an interrupt, the hypervisor or the firmware. Tails of that length are caused by this host.",
            ),
            Found::Stalled { points, times } => Warning::new(
                Code::EndpointStalled,
                format!(
                    "the device stalled an endpoint {times} times ({})",
                    named(points)
                ),
                "; it was cleared each time, and outstanding exchanges were lost. The device rejects the \
                 requests: check sizes and --protocol.",
            ),
            Found::Storage { points } => Warning::new(
                Code::Storage,
                format!(
                    "samples arrived faster than they could be stored, and the loop waited ({})",
                    named(points)
                ),
                ". Use fewer exchanges, no --keep-data, or a faster disk.",
            ),
            Found::NearFloor {
                points,
                floor_ns,
                wait,
            } => Warning::new(
                Code::NearFloor,
                format!(
                    "{} {} close to the floor of this host, {} for this kind of link",
                    named(points),
                    if points.len() == 1 { "is" } else { "are" },
                    time(*floor_ns)
                ),
                match wait {
                    Wait::Block => {
                        ": the figures show the host more than the device. --wait spin lowers the floor."
                    }
                    _ => ": the figures show the host more than the device.",
                },
            ),
            Found::Silence { points, silence_ns } => Warning::new(
                Code::Silence,
                match silence_ns {
                    Some(ns) => format!(
                        "echoes come only after a constant silence of {} ({})",
                        time(*ns),
                        named(points)
                    ),
                    None => format!("all echoes came after the timeout ({})", named(points)),
                },
                ": a device that waits for the end of a line answers only after its own timeout. Try --protocol \
                 lines, which ends each request with a newline.",
            ),
            Found::Surplus { points, bytes } => Warning::new(
                Code::Surplus,
                match bytes {
                    Some(1) => format!("each echo has 1 surplus byte ({})", named(points)),
                    Some(bytes) => {
                        format!("each echo has {bytes} surplus bytes ({})", named(points))
                    }
                    None => format!(
                        "echoes are displaced by surplus bytes, and count as corrupted ({})",
                        named(points)
                    ),
                },
                ": the device adds them, such as the line end of println. Try --protocol lines, or write \
                 instead of println in the device.",
            ),
            Found::Load { cpu, memory } => load(*cpu, *memory),
            Found::Cut { points } => cut(points),
        }
    }
}

/// That a load ran.
pub(super) fn load(cpu: u32, memory: u32) -> Warning {
    let finding =
        format!("measured under synthetic load: {cpu} computing and {memory} copying threads");
    Warning::new(Code::Load, finding, ".")
}

/// That these rows are not whole.
pub(super) fn cut(rows: &[u32]) -> Warning {
    Warning::new(
        Code::Cut,
        format!("not measured to the end ({})", named(rows)),
        "; the samples taken so far are kept.",
    )
}
