//! What keeps a loop's figures from being trusted, and the remedy in the flags that the user is using.

use super::codes::Code;
use super::common;
use super::warning::{Search, Warning, some};
use crate::tables::places::Places;
use wiregauge_quantity::{exact_time, grouped, percent, time};
use wiregauge_record::{
    Aim, DeviceLate, Disturbance, LoopSummary, LoopWait, Verified, is_on_this_host,
};
use wiregauge_run::{Loop, RunFile};

/// A loop that works for more than this part of the time has nothing left for a bad moment.
const BUSY: f64 = 0.90;

/// Blocks below which nothing can be said of tails.
const FEW: u64 = 1_000;

/// The warnings that a run deserves.
pub(super) fn of_run(file: &RunFile<Loop>, places: &Places) -> Vec<Warning> {
    let points = &file.points;
    let at_all = |points: &[u32]| places.at_all(points);
    let bracketed = |points: &[u32]| places.bracketed(points);
    // A measured curve is of no preload.
    let curves = places.clone().without_preload();
    let measured = |points: &[u32]| curves.at_all(points);
    let mut search = Search::new(points.iter().map(|p| (p.point.index, p)), &measured);
    let stalls = |p: &LoopSummary| some(p.overruns + p.underruns);
    // A preload that was tested and is too short is another warning.
    search.range(
        Code::LoopStalled,
        |p| stalls(p).filter(|_| p.point.aim == Aim::Curve),
        |count| format!("{} stalls", grouped(count as u64)),
        |counts, at| format!("{counts} (input lost, or output without data){at}"),
        ", although the rings should exceed any delay; the lowest latency is longer than shown. Try a larger \
         --ring, --priority, or a lower --rate",
    );
    search.name = &bracketed;
    let settings = |p: &LoopSummary| (p.point.rate_hz, p.point.channels, p.point.notify_bytes);
    let ever_held = |cell: &LoopSummary| {
        let held = |p: &LoopSummary| p.point.aim == Aim::Hold && stalls(p).is_none();
        let mut like = points.iter().filter(|p| settings(p) == settings(cell));
        like.any(held)
    };
    let too_short = |p: &LoopSummary| {
        let is_short = p.point.aim == Aim::Hold && stalls(p).is_some();
        // Asked for with --preload, a preload is not followed by a longer one.
        is_short.then(|| file.plan.find.then(|| ever_held(p)))
    };
    for (how, finding, advice) in TOO_SHORT {
        let finding = |at: &str| format!("{finding}{at}");
        let is_so = |p: &LoopSummary| too_short(p) == Some(how);
        search.at(Code::PreloadTooShort, is_so, finding, advice);
    }
    search.name = &at_all;
    search.at(
        Code::WrongOutput,
        |p| {
            let is_wrong = |v: &Verified| !v.holds() && !v.is_unheard();
            stalls(p).is_none() && p.verified.as_ref().is_some_and(is_wrong)
        },
        |at| format!("the output{at} is not the processed input, delayed by the preload"),
        ": the latency in the table is wrong",
    );
    search.at(
        Code::Unverified,
        |p| p.verified.as_ref().is_some_and(Verified::is_unheard),
        |at| format!("the marker sent{at} did not return"),
        ", so the latency was not checked. Try a cable from output to input, the output's volume and the input's \
         gain (alsamixer)",
    );
    search.at(
        Code::Unverified,
        |p| p.verified.is_none(),
        |at| format!("the output{at} was not checked"),
        ": too few blocks without a stall, or the run was cut short",
    );
    search.range(
        Code::Busy,
        |p| Some(p.duty).filter(|duty| *duty > BUSY),
        percent,
        |share, at| format!("processing takes {share} of the time{at}"),
        ": there is no reserve for delays. Try a lower --rate, fewer stages, or a larger --notify",
    );
    search.found.extend(throttled(file));
    let late = points.iter().filter_map(device_late);
    let worst = late.max_by_key(|late| late.longest_ns).unwrap_or_default();
    search.at(
        Code::DeviceLate,
        |p| device_late(p).is_some(),
        |at| {
            let longest = time(worst.longest_ns as f64);
            format!("the virtual device, a program on this host, was up to {longest} late{at}")
        },
        format!(
            " ({} of the blocks by over 100 us): the delays of the loop include this. Try `virtual`, which needs \
             no CPU time of its own and is never late, or --priority",
            worst.times
        ),
    );
    search.name = &measured;
    search.range(
        Code::FewBlocks,
        |p| (p.point.aim == Aim::Curve && p.blocks < FEW).then_some(p.blocks as f64),
        |blocks| grouped(blocks as u64),
        |blocks, at| format!("only {blocks} blocks{at}"),
        ", too few for rare delays. Try a longer --duration",
    );
    search.name = &bracketed;
    common::cut(&mut search, |p| &p.ending);
    common::disturbed(
        &mut search,
        |p| &p.disturbances[..],
        &file.plan.host,
        is_on_this_host(&file.plan.address),
    );
    search.found
}

/// A preload that was too short, by whether one of its kind held: `None` of one that was asked for.
const TOO_SHORT: [(Option<bool>, &str, &str); 3] = [
    (
        None,
        "the requested preload was too short",
        ": input was lost, or the output had no data. Try a longer --preload, or --find, which tests preloads \
         until one has no stall",
    ),
    (
        Some(true),
        "the preload was too short",
        ": a longer delay occurred than in the run before. Longer runs (--duration, --hold) find longer delays; \
         rely on the confidence bound, not on one run",
    ),
    (
        Some(false),
        "every tested preload was too short",
        ": input was lost, or the output had no data. Try --priority, --pin, or a less loaded machine",
    ),
];

/// The loop runs for so much of the time at a real-time priority that the kernel stops it: above its limit (sched(7):
/// 950 ms a second by default), for the rest of the second. The period is a second where it was not changed
/// (sched_rt_period_us).
fn throttled(file: &RunFile<Loop>) -> Option<Warning> {
    // The kernel counts the spinning too.
    let runs = |p: &LoopSummary| match file.plan.wait {
        LoopWait::Sleep => p.duty,
        LoopWait::Spin => 1.0,
        LoopWait::Hybrid { margin_ns } => {
            (p.duty + margin_ns as f64 / p.point.period_ns()).min(1.0)
        }
    };
    let most = file.points.iter().map(runs).fold(0.0, f64::max);
    let runtime_us = file.conditions.host.rt_runtime_us?;
    let limit = runtime_us as f64 / 1e6;
    let is_limited = file.plan.host.priority.is_some() && runtime_us >= 0;
    if !is_limited || most <= limit {
        return None;
    }
    let rest = (1_000_000 - runtime_us).max(0).cast_unsigned() * 1_000;
    Some(Warning::new(
        Code::Throttled,
        format!(
            "the loop's thread runs for up to {} of the time at real-time priority",
            percent(most)
        ),
        format!(
            "; above {} the kernel throttles it for the rest of each second, {} (kernel.sched_rt_runtime_us is \
             {runtime_us}). Try --wait sleep or hybrid with a shorter spin, a lower --rate, or sysctl kernel.sched_rt_runtime_us=-1",
            percent(limit),
            exact_time(rest)
        ),
    ))
}

/// How late the device itself was at a point, if it is one that can be.
fn device_late(point: &LoopSummary) -> Option<DeviceLate> {
    point.disturbances.iter().find_map(|d| match d {
        Disturbance::DeviceLate(late) => Some(*late),
        _ => None,
    })
}
