//! What keeps a figure of an exchange run from being trusted, and the remedy in the flags that the user is using.

use super::codes::Code;
use super::common::{self, Disturbed};
use super::echo::{self, EchoFinding};
use super::few_samples::{self, FewSamples};
use super::warning::{Warning, add};
use crate::load::LateStarts;
use wiregauge_quantity::{grouped, is_above_all, percent, time};
use wiregauge_record::{
    CanCounts, Connect, Ending, PointSummary, Protocol, Schedule, Surplus, Wait,
};
use wiregauge_run::RunFile;

/// A warning about a run or some of its points.
pub(in crate::tables) enum Found {
    /// Exchanges were lost.
    Lost {
        points: Vec<u32>,
        worst: f64,
        /// Some answers came after the timeout.
        is_late: bool,
    },
    /// Answers had wrong bytes.
    Corrupted {
        points: Vec<u32>,
    },
    /// Replies were not the expected ones.
    Unexpected {
        points: Vec<u32>,
        worst: f64,
    },
    /// Bytes came that belong to no response, and responses have no number.
    Unasked {
        points: Vec<u32>,
        bytes: u64,
    },
    /// The instrument reported errors.
    InstrumentErrors {
        points: Vec<u32>,
        first: String,
    },
    CanErrors {
        points: Vec<u32>,
        counts: CanCounts,
    },
    /// The depth asked for was not reached.
    Shallow {
        points: Vec<u32>,
        asked: u32,
        achieved: f64,
    },
    /// Points with fewer exchanges than the depth asked for.
    FewerThanDepth {
        points: Vec<u32>,
        depth: u32,
        exchanges: u64,
    },
    /// p99 has no upper bound.
    FewSamples(FewSamples),
    /// Device times cannot be true.
    ImpossibleTimes {
        points: Vec<u32>,
        worst: f64,
    },
    /// More than the link carries.
    AboveLimit {
        points: Vec<u32>,
        used: f64,
        source: String,
    },
    /// Exchanges started late.
    Behind {
        points: Vec<u32>,
        each: bool,
        /// More than a period.
        late: u64,
        exchanges: u64,
        longest_ns: f64,
        /// Those that started more than a period late; `None` where the samples cannot be read.
        starts: Option<LateStarts>,
    },
    /// Something disturbed it.
    Disturbed(Disturbed),
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
    /// The same bytes followed each echo, and were recognised.
    Followed {
        points: Vec<u32>,
        by: Surplus,
    },
    /// A load ran.
    Load {
        cpu: u32,
        memory: u32,
    },
    /// A point is not whole.
    Cut {
        points: Vec<u32>,
    },
}

impl From<EchoFinding> for Found {
    fn from(found: EchoFinding) -> Found {
        match found {
            EchoFinding::Silence { points, silence_ns } => Found::Silence { points, silence_ns },
            EchoFinding::Surplus { points, bytes } => Found::Surplus { points, bytes },
            EchoFinding::Followed { points, by } => Found::Followed { points, by },
        }
    }
}

/// The warnings that a run deserves.
pub(in crate::tables) fn of_run(
    file: &RunFile,
    late_starts: &dyn Fn(usize) -> Option<LateStarts>,
) -> Vec<Found> {
    let plan = &file.plan;
    let mut warnings = Vec::new();
    let indices = |keep: &dyn Fn(&PointSummary) -> bool| -> Vec<u32> {
        file.points
            .iter()
            .filter(|p| keep(p))
            .map(|p| p.point.index)
            .collect()
    };
    let missing = |p: &PointSummary| {
        (p.counts.lost + p.counts.late) as f64 / p.counts.exchanges.max(1) as f64
    };
    let worst = |of: &dyn Fn(&PointSummary) -> f64| file.points.iter().map(of).fold(0.0, f64::max);
    add(&mut warnings, indices(&|p| missing(p) > 0.0), |points| {
        Found::Lost {
            points,
            worst: worst(&missing),
            is_late: file.points.iter().any(|p| p.counts.late > 0),
        }
    });
    // What is only displaced is not damaged.
    let displaced = |p: &PointSummary| plan.protocol == Protocol::Echo && echo::is_displaced(p);
    let corrupted = indices(&|p| p.counts.corrupted > 0 && !displaced(p));
    add(&mut warnings, corrupted, |points| Found::Corrupted {
        points,
    });
    let share = |p: &PointSummary| p.counts.unexpected as f64 / p.counts.exchanges.max(1) as f64;
    add(&mut warnings, indices(&|p| share(p) > 0.0), |points| {
        Found::Unexpected {
            points,
            worst: worst(&share),
        }
    });
    if plan.matches_by_order() {
        let bytes = file.points.iter().map(|p| p.counts.stray_bytes).sum();
        let unasked = indices(&|p| p.counts.stray_bytes > 0);
        add(&mut warnings, unasked, |points| Found::Unasked {
            points,
            bytes,
        });
    }
    let mut errors = file.points.iter().flat_map(|p| &p.instrument_errors);
    if let Some(first) = errors.next().cloned() {
        let points = indices(&|p| !p.instrument_errors.is_empty());
        add(&mut warnings, points, |points| Found::InstrumentErrors {
            points,
            first,
        });
    }
    let has_errors = |p: &PointSummary| p.can.is_some_and(|can| can.has_errors());
    let all = file.points.iter().filter_map(|p| p.can);
    let counts = all.fold(CanCounts::default(), |sum, can| CanCounts {
        error_frames: sum.error_frames + can.error_frames,
        lost_frames: sum.lost_frames + can.lost_frames,
        failed_messages: sum.failed_messages + can.failed_messages,
        ..sum
    });
    add(&mut warnings, indices(&has_errors), |points| {
        Found::CanErrors { points, counts }
    });
    add(
        &mut warnings,
        indices(&|p| p.ending != Ending::Complete),
        |points| Found::Cut { points },
    );
    let scheduled = matches!(plan.schedule, Schedule::EveryNs(_));
    // A schedule decides by itself how many are outstanding.
    let shallow = |p: &PointSummary| {
        !scheduled
            && p.counts.exchanges > 10 * u64::from(p.point.depth)
            && p.point.depth > 1
            && p.achieved_depth + p.drained_depth(plan.timeout_ns) < 0.8 * f64::from(p.point.depth)
    };
    if let Some(first) = file.points.iter().find(|p| shallow(p)) {
        add(&mut warnings, indices(&shallow), |points| Found::Shallow {
            points,
            asked: first.point.depth,
            achieved: first.achieved_depth,
        });
    }
    let fewer = |p: &PointSummary| {
        let is_whole = p.ending == Ending::Complete && p.counts.exchanges > 0;
        !scheduled && is_whole && p.counts.exchanges < u64::from(p.point.depth)
    };
    let deepest = file.points.iter().filter(|p| fewer(p));
    if let Some(deepest) = deepest.max_by_key(|p| p.point.depth) {
        add(&mut warnings, indices(&fewer), |points| {
            Found::FewerThanDepth {
                points,
                depth: deepest.point.depth,
                exchanges: deepest.counts.exchanges,
            }
        });
    }
    warnings.extend(echo::of(file).into_iter().map(Found::from));
    warnings.extend(few_samples::of(file).map(Found::FewSamples));
    let impossible = |p: &PointSummary| {
        p.counts.impossible_device_times as f64 / p.counts.answered.max(1) as f64
    };
    add(&mut warnings, indices(&|p| impossible(p) > 0.0), |points| {
        Found::ImpossibleTimes {
            points,
            worst: worst(&impossible),
        }
    });
    let used = |p: &PointSummary| p.limit.as_ref().map_or(0.0, |limit| limit.used);
    let fullest = file.points.iter().filter(|p| is_above_all(used(p)));
    let fullest = fullest.max_by(|a, b| used(a).total_cmp(&used(b)));
    if let Some(limit) = fullest.and_then(|p| p.limit.as_ref()) {
        add(
            &mut warnings,
            indices(&|p| is_above_all(used(p))),
            |points| Found::AboveLimit {
                points,
                used: limit.used,
                source: limit.source.clone(),
            },
        );
    }
    let late = |p: &PointSummary| p.lateness.map_or(0, |lateness| lateness.late);
    let behind = |p: &PointSummary| late(p) > 0;
    let each = plan.connect == Connect::Each;
    let all_late = || file.points.iter().filter(|p| behind(p));
    let delay = |p: &PointSummary| p.start_delay.as_ref().map_or(0.0, |delay| delay.max);
    let starts = || {
        let places = file.points.iter().enumerate().filter(|(_, p)| behind(p));
        let mut counted = places.map(|(at, _)| late_starts(at));
        counted.try_fold(LateStarts::default(), |sum, point| {
            let point = point?;
            Some(LateStarts {
                late: sum.late + point.late,
                waited: sum.waited + point.waited,
            })
        })
    };
    add(&mut warnings, indices(&behind), |points| Found::Behind {
        points,
        each,
        starts: starts(),
        late: all_late().map(late).sum(),
        exchanges: all_late().map(|p| p.counts.exchanges).sum(),
        longest_ns: all_late().map(delay).fold(0.0, f64::max),
    });
    let disturbed = file.points.iter();
    let disturbed = disturbed.map(|p| (p.point.index, &p.disturbances[..]));
    let disturbed = common::of_disturbances(disturbed, &plan.host);
    warnings.extend(disturbed.into_iter().map(Found::Disturbed));
    let floor = |p: &PointSummary| -> Option<f64> {
        let floors = &file.conditions.before.as_ref()?.floors;
        let floor = floors.last().filter(|_| floors.len() > 1)?.rtt.p50.value;
        (p.point.depth == 1 && p.rtt.as_ref()?.p50.value < 1.5 * floor).then_some(floor)
    };
    if let Some(floor_ns) = file.points.iter().find_map(floor) {
        let wait = plan.wait;
        add(&mut warnings, indices(&|p| floor(p).is_some()), |points| {
            Found::NearFloor {
                points,
                floor_ns,
                wait,
            }
        });
    }
    let load = plan.host.load;
    if load.cpu + load.memory > 0 {
        warnings.push(Found::Load {
            cpu: load.cpu,
            memory: load.memory,
        });
    }
    warnings
}

impl Found {
    /// What is printed; `at` names points, in brackets.
    pub(in crate::tables) fn warning_at(&self, at: &dyn Fn(&[u32]) -> String) -> Warning {
        match self {
            Found::Lost {
                points,
                worst,
                is_late,
            } => Warning::new(
                Code::Lost,
                format!(
                    "up to {} of the exchanges were not answered in time{}",
                    percent(*worst),
                    at(points)
                ),
                format!(
                    ". RTT figures are for the answered ones; over all exchanges, percentiles above {} are \
                     undefined. Try a lower --depth or --rate{}.",
                    percent(1.0 - worst),
                    match is_late {
                        true => ", or a longer --timeout: some answers came after it",
                        false =>
                            "; no answer came after the timeout, so a longer one does not help",
                    }
                ),
            ),
            Found::Corrupted { points } => Warning::new(
                Code::Corrupted,
                format!("answers have wrong bytes{}", at(points)),
                ": this link is not reliable. Check cable, --baud and the buffers of the device.",
            ),
            Found::Unasked { points, bytes } => Warning::new(
                Code::Unasked,
                format!(
                    "{} B belong to no response, so RTTs may be those of other data{}",
                    grouped(*bytes),
                    at(points)
                ),
                ". What comes first while a request is outstanding is taken for its response. If the device echoes \
                 queries, turn that off, or take echo and answer as one reply (--protocol text --idle). Stop what it \
                 sends by itself, or check replies with --protocol text --expect.",
            ),
            Found::Unexpected { points, worst } => Warning::new(
                Code::Unexpected,
                format!(
                    "up to {} of the replies are unexpected{}",
                    percent(*worst),
                    at(points)
                ),
                ": they are not part of the RTT figures. The table says what they were.",
            ),
            Found::InstrumentErrors { points, first } => Warning::new(
                Code::InstrumentErrors,
                format!("the instrument reports an error: {first}{}", at(points)),
                ". Check the queries; a query that the instrument rejects may be answered at another speed.",
            ),
            Found::CanErrors { points, counts } => Warning::new(
                Code::CanErrors,
                format!(
                    "CAN: {} error frames, {} frames lost at the socket, {} failed messages of ISO-TP{}",
                    grouped(counts.error_frames),
                    grouped(counts.lost_frames),
                    grouped(counts.failed_messages),
                    at(points)
                ),
                ". Check bit rates, termination and wiring.",
            ),
            Found::Shallow {
                points,
                asked,
                achieved,
            } => Warning::new(
                Code::Shallow,
                format!(
                    "depth {asked} was requested, {achieved:.1} achieved{}",
                    at(points)
                ),
                ": the host or a full buffer delayed requests. TRT is that of the achieved depth; try --wait \
                 spin, or smaller sizes.",
            ),
            Found::FewerThanDepth {
                points,
                depth,
                exchanges,
            } => Warning::new(
                Code::Shallow,
                format!(
                    "depth {depth} was requested, but only {} measured{}",
                    match exchanges {
                        1 => "1 exchange was".to_owned(),
                        many => format!("{} exchanges were", grouped(*many)),
                    },
                    at(points)
                ),
                ": the depth was never reached, and TRT, the time from one start to the next, is that of the first requests. \
                 Use a --count of at least 10 times the depth, or a longer --duration.",
            ),
            Found::FewSamples(few) => few_samples(few, at),
            Found::ImpossibleTimes { points, worst } => Warning::new(
                Code::ImpossibleTimes,
                format!(
                    "up to {} of the device times are impossible, longer than the RTT{}",
                    percent(*worst),
                    at(points)
                ),
                ": they are left out of the device time, and the others may be wrong as well. Check where the \
                 device reads its clock, and its tick rate.",
            ),
            Found::AboveLimit {
                points,
                used,
                source,
            } => Warning::new(
                Code::AboveLimit,
                format!(
                    "the throughput is up to {} of the limit{}",
                    percent(*used),
                    at(points)
                ),
                format!(
                    ": the limit ({source}) is not that of what carried the data. An emulated bus, or another \
                     controller than the reported one, may be faster."
                ),
            ),
            Found::Behind {
                points,
                each,
                late,
                exchanges,
                longest_ns,
                starts,
            } => Warning::new(
                Code::Behind,
                format!(
                    "{} of {} exchanges started more than a period late, up to {}{}",
                    grouped(*late),
                    grouped(*exchanges),
                    time(*longest_ns),
                    at(points)
                ),
                why_late(*starts, *each),
            ),
            Found::Disturbed(disturbed) => disturbed.warning_at(at),
            Found::NearFloor {
                points,
                floor_ns,
                wait,
            } => Warning::new(
                Code::NearFloor,
                format!(
                    "the median RTT is close to that of a local echo, {}{}",
                    time(*floor_ns),
                    at(points)
                ),
                match wait {
                    Wait::Block => {
                        ": the times are mostly those of the host. --wait spin makes them shorter."
                    }
                    _ => ": the times are mostly those of the host.",
                },
            ),
            Found::Silence { points, silence_ns } => Warning::new(
                Code::Silence,
                match silence_ns {
                    Some(ns) => format!(
                        "echoes come only after a constant silence of {}{}",
                        time(*ns),
                        at(points)
                    ),
                    None => format!("all echoes came after the timeout{}", at(points)),
                },
                ": a device that waits for the end of a line answers only after its own timeout. Try --protocol \
                 lines, which ends each request with a newline.",
            ),
            Found::Surplus { points, bytes } => Warning::new(
                Code::Surplus,
                match bytes {
                    Some(1) => format!("each echo has 1 surplus byte{}", at(points)),
                    Some(bytes) => {
                        format!("each echo has {bytes} surplus bytes{}", at(points))
                    }
                    None => format!(
                        "echoes are displaced by surplus bytes, and count as corrupted{}",
                        at(points)
                    ),
                },
                ": the device adds them, such as the line end of println. Try --protocol lines, or write \
                 instead of println in the device.",
            ),
            Found::Followed { points, by } => {
                let bytes = match by.bytes.len() {
                    1 => "1 extra byte".to_owned(),
                    count => format!("{count} extra bytes"),
                };
                let who = match by.missing {
                    0 => "each response carries".to_owned(),
                    missing => format!("{} of {} responses carry", by.times, by.times + missing),
                };
                Warning::new(
                    Code::Surplus,
                    format!("{who} {bytes}, {}{}", echo::names_of(&by.bytes), at(points)),
                    ": RTT ends with the last byte of the echo, and the bytes behind it are in no figure. Use write \
                     instead of println in the device, or --protocol lines.",
                )
            }
            Found::Load { cpu, memory } => common::load(*cpu, *memory),
            Found::Cut { points } => common::cut_at(&at(points)),
        }
    }
}

/// Why exchanges started late, and what helps.
fn why_late(starts: Option<LateStarts>, each: bool) -> String {
    // Exchanges that open the link are one at a time.
    let of_link = match each {
        true => "--connect once or a longer --interval",
        false => "a higher --depth or a longer --interval",
    };
    let of_host = "--priority 50 or a less loaded host";
    let (why, help) = match starts {
        Some(LateStarts { late, waited }) if waited == late => (
            "exchanges waited for earlier ones".to_owned(),
            of_link.into(),
        ),
        Some(LateStarts { waited: 0, .. }) => (
            "the host started them late, although fewer than --depth were outstanding".to_owned(),
            of_host.to_owned(),
        ),
        Some(LateStarts { late, waited }) => (
            format!(
                "of {} that started more than a period late, {} waited for earlier ones; the host started the others \
                 late",
                grouped(late),
                grouped(waited)
            ),
            format!("{of_link}, and {of_host}"),
        ),
        None => (
            "exchanges waited for earlier ones, or the host started them late".to_owned(),
            format!("{of_link}, or {of_host}"),
        ),
    };
    format!(": {why}. Use the table from the intended start; try {help}.")
}

/// Why p99 has no upper bound, and what helps.
fn few_samples(few: &FewSamples, at: &dyn Fn(&[u32]) -> String) -> Warning {
    let which = match few.intended {
        true => "p99 from the intended start",
        false => "p99",
    };
    let finding = format!("{which} has no upper confidence bound{}", at(&few.points));
    let drift = ": parts of a point differ by more than chance explains, and more exchanges alone may give no \
                 bound. Find what changes (RTT over time in wiregauge report), and repeat the run.";
    let (finding, advice) = match (&few.scarcest, few.drifting.is_empty()) {
        (None, _) => (format!("{finding}: the times drift"), drift.into()),
        (Some(point), steady) => {
            let mut advice = format!(
                ": {} exchanges are worth {} independent samples at p99, too few.",
                grouped(point.exchanges),
                grouped(point.worth.floor() as u64)
            );
            advice += &match (steady, point.is_dependent) {
                (false, _) => format!(" The times drift{}{drift}", at(&few.drifting)),
                (true, true) => {
                    " They depend on each other strongly. If they drift (RTT over time in wiregauge report), more \
                     exchanges alone may give no bound."
                        .to_owned()
                }
                (true, false) => String::new(),
            };
            (format!("{finding}; about {}", point.needed), advice)
        }
    };
    Warning::new(Code::FewSamples, finding, advice)
}
