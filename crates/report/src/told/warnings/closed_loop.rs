//! What keeps a loop's figures from being trusted, and the remedy in the flags that the user is using.

use super::exchange::{self as warnings, named};
use crate::units::{percent, time};
use std::fmt;
use wiregauge_record::{Aim, Ending, LoopSummary, LoopWait};
use wiregauge_run::{Loop, RunFile};

/// A real-time thread that runs for more than this part of the time is near the kernel's limit
/// (sched(7): 950 ms a second by default), beyond which it stands still for the rest of the second.
/// The period is a second where it was not changed (sched_rt_period_us).
const NEAR_THROTTLE: f64 = 0.90;

/// A loop that works for more than this part of the time has nothing left for a bad moment.
const BUSY: f64 = 0.90;

/// Blocks below which nothing can be said of tails.
const FEW: u64 = 1_000;

/// A warning about a loop run or some of its points.
pub(in crate::told) enum LoopWarning {
    /// It stalled although the rings were meant to be large enough for anything.
    Stalled { points: Vec<u32>, most: u64 },
    /// The preload that was asked for did not hold.
    TooShort { points: Vec<u32> },
    /// A preload under test did not hold, a longer one did.
    NotHeld { points: Vec<u32> },
    /// No preload held.
    NeverHeld { points: Vec<u32> },
    /// The output was not what it should be.
    Wrong { points: Vec<u32> },
    /// The latency could not be verified.
    Unverified { points: Vec<u32> },
    /// The processing takes nearly all of the time.
    Busy { points: Vec<u32>, worst: f64 },
    /// It runs for so much of the time at a real-time priority that the kernel stops it.
    Throttled { runs: f64, runtime_us: i64 },
    /// Too few blocks.
    FewBlocks { points: Vec<u32>, fewest: u64 },
    /// A load ran.
    Load { cpu: u32, memory: u32 },
    /// A point is not whole.
    Cut { points: Vec<u32> },
    /// What disturbs any measurement.
    Other(warnings::Warning),
}

/// The warnings that a run deserves.
pub(in crate::told) fn of_run(file: &RunFile<Loop>) -> Vec<LoopWarning> {
    let points = &file.points;
    let mut found = Vec::new();
    let those = |keep: &dyn Fn(&LoopSummary) -> bool| -> Vec<u32> {
        let kept = points.iter().filter(|point| keep(point));
        kept.map(|point| point.point.index).collect()
    };
    let mut add = |points: Vec<u32>, make: &dyn Fn(Vec<u32>) -> LoopWarning| {
        if !points.is_empty() {
            found.push(make(points));
        }
    };
    let stalls = |p: &LoopSummary| p.overruns + p.underruns;
    let stalled = |p: &LoopSummary| p.point.aim == Aim::Curve && stalls(p) > 0;
    add(those(&stalled), &|hit| LoopWarning::Stalled {
        points: hit,
        most: points.iter().map(stalls).max().unwrap_or(0),
    });
    let not_held = |p: &LoopSummary| p.point.aim == Aim::Hold && stalls(p) > 0;
    // Asked for with --preload, a preload is not followed by a longer one.
    let searched = file.plan.find;
    add(those(&|p| !searched && not_held(p)), &|points| {
        LoopWarning::TooShort { points }
    });
    let ever_held = |cell: &LoopSummary| {
        points.iter().any(|p| {
            let same =
                |of: &LoopSummary| (of.point.rate_hz, of.point.channels, of.point.notify_bytes);
            p.point.aim == Aim::Hold && same(p) == same(cell) && stalls(p) == 0
        })
    };
    let at_last = |p: &LoopSummary| searched && not_held(p) && ever_held(p);
    add(those(&at_last), &|points| LoopWarning::NotHeld { points });
    let never = |p: &LoopSummary| searched && not_held(p) && !ever_held(p);
    add(those(&never), &|points| LoopWarning::NeverHeld { points });
    let wrong = |p: &LoopSummary| {
        let verified = p.verified.as_ref();
        stalls(p) == 0 && verified.is_some_and(|v| v.found_frames != Some(v.preload_frames))
    };
    add(those(&wrong), &|points| LoopWarning::Wrong { points });
    add(those(&|p| p.verified.is_none()), &|points| {
        LoopWarning::Unverified { points }
    });
    let busy = |p: &LoopSummary| p.duty > BUSY;
    add(those(&busy), &|hit| LoopWarning::Busy {
        points: hit,
        worst: points.iter().map(|p| p.duty).fold(0.0, f64::max),
    });
    // The kernel counts the spinning too.
    let runs = |p: &LoopSummary| match file.plan.wait {
        LoopWait::Sleep => p.duty,
        LoopWait::Spin => 1.0,
        LoopWait::Hybrid { margin_ns } => {
            (p.duty + margin_ns as f64 / p.point.period_ns()).min(1.0)
        }
    };
    let most = points.iter().map(runs).fold(0.0, f64::max);
    let limit = |runtime_us: i64| NEAR_THROTTLE.min(runtime_us as f64 / 1e6);
    if let Some(runtime_us) = file.conditions.host.rt_runtime_us
        && file.plan.host.priority.is_some()
        && runtime_us >= 0
        && most > limit(runtime_us)
    {
        found.push(LoopWarning::Throttled {
            runs: most,
            runtime_us,
        });
    }
    let mut add = |points: Vec<u32>, make: &dyn Fn(Vec<u32>) -> LoopWarning| {
        if !points.is_empty() {
            found.push(make(points));
        }
    };
    let few = |p: &LoopSummary| p.point.aim == Aim::Curve && p.blocks < FEW;
    add(those(&few), &|hit| LoopWarning::FewBlocks {
        points: hit,
        fewest: points.iter().map(|p| p.blocks).min().unwrap_or(0),
    });
    add(those(&|p| p.ending != Ending::Complete), &|points| {
        LoopWarning::Cut { points }
    });
    let load = file.plan.host.load;
    if load.cpu + load.memory > 0 {
        found.push(LoopWarning::Load {
            cpu: load.cpu,
            memory: load.memory,
        });
    }
    let disturbed = points.iter().map(|p| (p.point.index, &p.disturbances[..]));
    let others = warnings::of_disturbances(disturbed, &file.plan.host);
    found.extend(others.into_iter().map(LoopWarning::Other));
    found
}

impl fmt::Display for LoopWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoopWarning::Stalled { points, most } => write!(
                f,
                "up to {most} blocks were lost or starved at {}, although the rings were meant to be \
                 larger than any delay; the latency needed is longer than shown. Try a larger --ring, \
                 --priority, or a lower --rate",
                named(points)
            ),
            LoopWarning::TooShort { points } => write!(
                f,
                "the preload did not hold at {}: the output starved, or input was lost. The needed \
                 latency of the same run is in the table; --find tests preloads until one holds",
                named(points)
            ),
            LoopWarning::NotHeld { points } => write!(
                f,
                "the preload of {} did not hold: a delay longer than any before it came. Longer runs \
                 (--duration, --hold) see longer delays; trust the bound, not the luck of one run",
                named(points)
            ),
            LoopWarning::NeverHeld { points } => write!(
                f,
                "no preload that was tested held at {}; this host's delays have no end within --hold. \
                 Try --priority, --pin, or a quieter machine",
                named(points)
            ),
            LoopWarning::Wrong { points } => write!(
                f,
                "the output at {} is not the input as processed, one preload later: its latency is \
                 not what the table says",
                named(points)
            ),
            LoopWarning::Unverified { points } => write!(
                f,
                "the latency of {} was not verified: too few blocks ran",
                named(points)
            ),
            LoopWarning::Busy { points, worst } => write!(
                f,
                "the processing takes up to {} of the time at {}: nothing is left for a bad moment. \
                 Try a lower --rate, fewer stages, or a larger --notify",
                percent(*worst),
                named(points)
            ),
            LoopWarning::Throttled { runs, runtime_us } => write!(
                f,
                "the loop's thread runs for up to {} of the time at a real-time priority; beyond {} \
                 the kernel stops it for the rest of each second, {} \
                 (kernel.sched_rt_runtime_us is {runtime_us}). Try --wait sleep or hybrid with a \
                 shorter spin, a lower --rate, or sysctl kernel.sched_rt_runtime_us=-1",
                percent(*runs),
                percent(*runtime_us as f64 / 1e6),
                time((1_000_000 - runtime_us).max(0) as f64 * 1e3)
            ),
            LoopWarning::FewBlocks { points, fewest } => write!(
                f,
                "only {fewest} blocks at {}: this says little of rare delays. Try a longer --duration",
                named(points)
            ),
            LoopWarning::Load { cpu, memory } => write!(
                f,
                "measured under a load of {cpu} computing and {memory} copying threads, as asked for"
            ),
            LoopWarning::Cut { points } => {
                write!(f, "{} did not run to the end", named(points))
            }
            LoopWarning::Other(warning) => warning.fmt(f),
        }
    }
}
