//! What keeps a loop's figures from being trusted, and the remedy in the flags that the user is using.

use super::codes::Code;
use super::common;
use super::warning::{Warning, named, spread};
use crate::tables::places::Places;
use wiregauge_quantity::{exact_time, grouped, percent, time};
use wiregauge_record::{Aim, DeviceLate, Disturbance, Ending, LoopSummary, LoopWait, Verified};
use wiregauge_run::{Loop, RunFile};

/// A loop that works for more than this part of the time has nothing left for a bad moment.
const BUSY: f64 = 0.90;

/// Blocks below which nothing can be said of tails.
const FEW: u64 = 1_000;

/// The warnings that a run deserves.
pub(super) fn of_run(file: &RunFile<Loop>, places: &Places) -> Vec<Warning> {
    let points = &file.points;
    let mut found = Vec::new();
    let indices = |keep: &dyn Fn(&LoopSummary) -> bool| -> Vec<u32> {
        let kept = points.iter().filter(|point| keep(point));
        kept.map(|point| point.point.index).collect()
    };
    let those = |keep: &dyn Fn(&LoopSummary) -> bool| -> Option<String> {
        named(&|points| places.at_all(points), indices(keep))
    };
    let bracketed = |keep: &dyn Fn(&LoopSummary) -> bool| -> Option<String> {
        named(&|points| places.bracketed(points), indices(keep))
    };
    // A measured curve is of no preload.
    let curves = places.clone().without_preload();
    let measured = |keep: &dyn Fn(&LoopSummary) -> bool| -> Option<String> {
        named(&|points| curves.at_all(points), indices(keep))
    };
    let stalls = |p: &LoopSummary| p.overruns + p.underruns;
    // A preload that was tested and is too short is another warning.
    let stalled = |p: &LoopSummary| p.point.aim == Aim::Curve && stalls(p) > 0;
    if let Some(at) = measured(&stalled) {
        let counts = points.iter().filter(|p| stalled(p));
        let counts = counts.map(|p| stalls(p) as f64);
        let counts = spread(counts, |count| format!("{} stalls", grouped(count as u64)));
        found.push(Warning::new(
            Code::LoopStalled,
            format!("{counts} (input lost, or output without data){at}"),
            ", although the rings should exceed any delay; the lowest latency is longer than shown. Try a larger \
             --ring, --priority, or a lower --rate",
        ));
    }
    let not_held = |p: &LoopSummary| p.point.aim == Aim::Hold && stalls(p) > 0;
    // Asked for with --preload, a preload is not followed by a longer one.
    let searched = file.plan.find;
    if let Some(at) = bracketed(&|p| !searched && not_held(p)) {
        found.push(Warning::new(
            Code::PreloadTooShort,
            format!("the requested preload was too short{at}"),
            ": input was lost, or the output had no data. Try a longer --preload, or --find, which tests preloads \
             until one has no stall",
        ));
    }
    let ever_held = |cell: &LoopSummary| {
        points.iter().any(|p| {
            let same =
                |of: &LoopSummary| (of.point.rate_hz, of.point.channels, of.point.notify_bytes);
            p.point.aim == Aim::Hold && same(p) == same(cell) && stalls(p) == 0
        })
    };
    if let Some(at) = bracketed(&|p| searched && not_held(p) && ever_held(p)) {
        found.push(Warning::new(
            Code::PreloadTooShort,
            format!("the preload was too short{at}"),
            ": a longer delay occurred than in the run before. Longer runs (--duration, --hold) find longer delays; \
             rely on the confidence bound, not on one run",
        ));
    }
    if let Some(at) = bracketed(&|p| searched && not_held(p) && !ever_held(p)) {
        found.push(Warning::new(
            Code::PreloadTooShort,
            format!("every tested preload was too short{at}"),
            ": input was lost, or the output had no data. Try --priority, --pin, or a less loaded machine",
        ));
    }
    let wrong = |p: &LoopSummary| {
        let verified = p.verified.as_ref();
        stalls(p) == 0 && verified.is_some_and(|v| !v.holds() && !v.is_unheard())
    };
    if let Some(at) = those(&wrong) {
        found.push(Warning::new(
            Code::WrongOutput,
            format!("the output{at} is not the processed input, delayed by the preload"),
            ": the latency in the table is wrong",
        ));
    }
    if let Some(at) = those(&|p| p.verified.as_ref().is_some_and(Verified::is_unheard)) {
        found.push(Warning::new(
            Code::Unverified,
            format!("the marker sent{at} did not return"),
            ", so the latency was not checked. Try a cable from output to input, the output's volume and the input's \
             gain (alsamixer)",
        ));
    }
    if let Some(at) = those(&|p| p.verified.is_none()) {
        found.push(Warning::new(
            Code::Unverified,
            format!("the output{at} was not checked"),
            ": too few blocks without a stall, or the run was cut short",
        ));
    }
    if let Some(at) = those(&|p| p.duty > BUSY) {
        let duties = points.iter().map(|p| p.duty);
        let share = spread(duties.filter(|duty| *duty > BUSY), percent);
        found.push(Warning::new(
            Code::Busy,
            format!("processing takes {share} of the time{at}"),
            ": there is no reserve for delays. Try a lower --rate, fewer stages, or a larger --notify",
        ));
    }
    found.extend(throttled(file));
    if let Some(at) = those(&|p| device_late(p).is_some()) {
        let late = points.iter().filter_map(device_late);
        let worst = late.max_by_key(|late| late.longest_ns).unwrap_or_default();
        found.push(Warning::new(
            Code::DeviceLate,
            format!(
                "the virtual device, a program on this host, was up to {} late{at}",
                time(worst.longest_ns as f64)
            ),
            format!(
                " ({} of the blocks by over 100 us): the delays of the loop include this. Try `virtual`, which needs \
                 no CPU time of its own and is never late, or --priority",
                worst.times
            ),
        ));
    }
    let few = |p: &LoopSummary| p.point.aim == Aim::Curve && p.blocks < FEW;
    if let Some(at) = measured(&few) {
        let blocks = || points.iter().filter(|p| few(p)).map(|p| p.blocks);
        let (fewest, most) = (blocks().min().unwrap_or(0), blocks().max().unwrap_or(0));
        found.push(Warning::new(
            Code::FewBlocks,
            format!("only {} blocks{at}", from_to(fewest, most)),
            ", too few for rare delays. Try a longer --duration",
        ));
    }
    let cut = bracketed(&|p| p.ending != Ending::Complete);
    found.extend(cut.map(|at| common::cut_at(&at)));
    let disturbed = points.iter().map(|p| (p.point.index, &p.disturbances[..]));
    found.extend(common::of_disturbances(
        disturbed,
        &file.plan.host,
        &|points| places.bracketed(points),
    ));
    found
}

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

/// `31`, `31 to 306`.
fn from_to(fewest: u64, most: u64) -> String {
    match fewest == most {
        true => grouped(fewest),
        false => format!("{} to {}", grouped(fewest), grouped(most)),
    }
}
