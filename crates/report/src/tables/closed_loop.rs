//! A loop run as tables: the latency that is needed, how often a shorter one would have stalled, and what the tested
//! preloads did.

use super::columns::{Columns, MAX, Statistic, under};
use super::places::Places;
use super::table::Table;
use std::collections::BTreeSet;
use wiregauge_quantity::{TimeUnit, grouped, percent, time};
use wiregauge_record::{Aim, LoopPath, LoopPoint, LoopSummary, StageSpeed, StallRate, Verified};

/// Rungs of the curve shown for each point; the figure has them all.
const RUNGS: usize = 6;

/// Every table that has something to say.
pub(super) fn tables(points: &[LoopSummary]) -> Vec<Table> {
    let curves: Vec<&LoopSummary> = of_aim(points, Aim::Curve);
    let held: Vec<&LoopSummary> = of_aim(points, Aim::Hold);
    let places = &Places::of_loop(points).without_preload();
    let mut tables = Vec::new();
    if !curves.is_empty() {
        let of_each: [fn(&[&LoopSummary], &Places) -> Table; 3] = [needed, times, delays];
        tables.extend(of_each.map(|table| table(&curves, places)));
        tables.push(stalls(&curves, places));
    }
    if !held.is_empty() {
        tables.push(tested(&held, places));
    }
    tables.extend(speeds(points));
    tables
}

/// What the figures amount to, in sentences.
pub(super) fn notes(points: &[LoopSummary]) -> Vec<String> {
    let held = points.iter().filter(|p| !is_too_short(p));
    let verified: Vec<&Verified> = held.filter_map(|p| p.verified.as_ref()).collect();
    let good = |v: &&&Verified| v.holds();
    if verified.is_empty() || verified.iter().filter(good).count() < verified.len() {
        return Vec::new();
    }
    let compared: u64 = verified.iter().map(|v| v.compared).sum();
    let mut methods: Vec<&str> = verified.iter().map(|v| v.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    vec![format!(
        "Output checked ({}): each sample is the processed input, delayed by exactly the preload; {} positions \
         compared, no errors.",
        methods.join(", "),
        grouped(compared)
    )]
}

/// A tested preload that stalled: between the stalls its output is right, which must not be read as success.
pub(super) fn is_too_short(point: &LoopSummary) -> bool {
    point.point.aim == Aim::Hold && point.overruns + point.underruns > 0
}

/// What a latency is needed for: rate, channels, block and what processes it.
pub(super) fn settings(point: &LoopPoint) -> (u64, u32, u32, LoopPath) {
    (
        point.rate_hz,
        point.channels,
        point.notify_bytes,
        point.path,
    )
}

pub(super) fn of_aim(points: &[LoopSummary], aim: Aim) -> Vec<&LoopSummary> {
    points.iter().filter(|p| p.point.aim == aim).collect()
}

/// The upper 95 % bound of the stalls a minute.
fn at_most(per_minute: f64) -> String {
    format!("< {}", hundredths(per_minute))
}

/// `17.96`, and `21,950` where the hundredths mean nothing.
fn hundredths(per_minute: f64) -> String {
    match per_minute >= 1000.0 {
        true => grouped(per_minute.round() as u64),
        false => format!("{per_minute:.2}"),
    }
}

/// The stalls a minute of a tested preload: the bound alone if there were none.
fn counted(stalls: u64, minutes: f64) -> String {
    let bound = at_most(wiregauge_stats::poisson_high(stalls) / minutes);
    match stalls {
        0 => bound,
        _ => format!("{} ({bound})", hundredths(stalls as f64 / minutes)),
    }
}

/// Percentiles without their intervals: a loop has many blocks.
const P50: Statistic = ("p50", |unit, times| unit.show(times.p50.value));
const P99: Statistic = ("p99", |unit, times| unit.show(times.p99.value));
const P999: Statistic = ("p99.9", |unit, times| unit.show(times.p999.value));

/// The upper bound of the stalls at the latency that would just have done.
fn last_rung(point: &LoopSummary) -> Option<&StallRate> {
    point.curve.last()
}

pub(super) fn needed(points: &[&LoopSummary], places: &Places) -> Table {
    let title = "Lowest latency without a stall (overrun or underrun) in this run; buffer: the preload (output \
                 queued before the start) of that latency in whole blocks of notify B; floor: the same without processing, one block plus the \
                 longest host delay";
    let ms = |ns: f64| TimeUnit::Milli.show(ns);
    let mut columns = Columns::<&LoopSummary>::new();
    columns.add("MB/s per direction", |p| {
        format!("{:.1}", p.point.bytes_s() / 1e6)
    });
    columns.add("period", |p| time(p.point.period_ns()));
    columns.some("latency ms", |p| p.needed_ns.map(ms));
    columns.some("buffer B", |p| p.needed_bytes.map(grouped));
    columns.some("stalls/min (95 %)", |p| {
        Some(at_most(last_rung(p)?.per_minute_high))
    });
    columns.some("floor ms", |p| p.floor_ns.map(ms));
    columns.some("latency/floor", |p| {
        Some(format!("{:.2}", p.needed_ns? / p.floor_ns?))
    });
    columns.add("duty", |p| percent(p.duty));
    columns.table(title, places, points.iter().copied())
}

fn times(points: &[&LoopSummary], places: &Places) -> Table {
    let title = "Wake-up (block arrived to processing starts), work (processing) and service (block arrived to output \
                 delivered), in us";
    let unit = TimeUnit::Micro;
    let mut columns = Columns::<&LoopSummary>::new();
    columns.add("blocks", |point| grouped(point.blocks));
    let wake = [under("wake p50", P50), P99, MAX];
    columns.statistics(unit, |point| point.wake.as_ref(), &wake);
    let work = [under("work p50", P50), P99, P999, MAX];
    columns.statistics(unit, |point| point.work.as_ref(), &work);
    let service = [under("service p99", P99), P999, MAX];
    columns.statistics(unit, |point| point.service.as_ref(), &service);
    columns.table(title, places, points.iter().copied())
}

/// What the host added to the loop, and to a timer thread that outranks it. No ratio: the two woke up at
/// different instants.
fn delays(points: &[&LoopSummary], places: &Places) -> Table {
    let title = "Host delay, in us: of the loop (from when a block could be processed until its processing \
                 began), and of a timer thread beside it, one priority higher (its CPU: any, if not pinned)";
    let unit = TimeUnit::Micro;
    let mut columns = Columns::<&LoopSummary>::new();
    let own = [P50, P99, P999, MAX];
    columns.statistics(unit, |point| point.host_delay.as_ref(), &own);
    let timer = [under("timer p99.9", P999), MAX];
    columns.statistics(unit, |point| Some(&point.timer.as_ref()?.wake_up), &timer);
    columns.some("timer's CPU", |point| {
        let cpu = point.timer.as_ref()?.cpu;
        Some(cpu.map_or("any".into(), |cpu| cpu.to_string()))
    });
    columns.table(title, places, points.iter().copied())
}

fn stalls(points: &[&LoopSummary], places: &Places) -> Table {
    let rows = points.iter().copied().flat_map(|point| {
        let rungs = rungs(&point.curve).into_iter();
        rungs.map(move |rung| (point, rung))
    });
    let mut columns = Columns::<(&LoopSummary, &StallRate)>::new();
    columns.add("latency ms", |(_, rung)| {
        TimeUnit::Milli.show(rung.latency_ns)
    });
    columns.add("preload B", |(_, rung)| grouped(rung.preload_bytes));
    columns.add("stalls", |(_, rung)| grouped(rung.stalls));
    columns.add("stalls/min", |(_, rung)| hundredths(rung.per_minute));
    columns.add("95 % CI", |(_, rung)| at_most(rung.per_minute_high));
    let title = "Stalls in this run if the preload were shorter";
    columns.table(title, places, rows)
}

/// Some rungs of a curve: the last, which nothing exceeded, and before it those at which the stalls
/// have grown at least fourfold, the longest latency of each.
fn rungs(curve: &[StallRate]) -> Vec<&StallRate> {
    let mut chosen: Vec<&StallRate> = Vec::new();
    for rung in curve.iter().rev() {
        let wanted = chosen.last().map_or(0, |last| (4 * last.stalls).max(1));
        if chosen.len() < RUNGS && rung.stalls >= wanted {
            chosen.push(rung);
        }
    }
    chosen.reverse();
    chosen
}

pub(super) fn tested(points: &[&LoopSummary], places: &Places) -> Table {
    let mut columns = Columns::<&LoopSummary>::new();
    columns.add("preload B", |p| grouped(p.point.preload_bytes));
    columns.add("latency ms", |p| TimeUnit::Milli.show(p.point.preload_ns()));
    columns.add("tested for", |p| time(p.elapsed_ns as f64));
    columns.add("overruns", |p| grouped(p.overruns));
    columns.add("underruns", |p| grouped(p.underruns));
    columns.some("lowest ms", |p| Some(TimeUnit::Milli.show(p.needed_ns?)));
    columns.some("stalls/min (95 %)", |p| {
        let minutes = p.elapsed_ns as f64 / 60e9;
        (minutes > 0.0).then(|| counted(p.overruns + p.underruns, minutes))
    });
    columns.some("measured latency", found);
    let title = "Tested preloads: the latency of a loop is its preload; stalls/min: those counted, and their upper \
                 bound (95 %)";
    columns.table(title, places, points.iter().copied())
}

/// The latency that the check of the output found.
fn found(point: &LoopSummary) -> Option<String> {
    let verified = point.verified.as_ref()?;
    let ns = |frames: u64| frames as f64 * 1e9 / point.point.rate_hz as f64;
    Some(match verified.found_frames {
        _ if verified.holds() && verified.cable_frames.unwrap_or(0) == 0 => "the preload".into(),
        Some(frames) if verified.holds() => format!(
            "the preload plus {} of cable",
            time(ns(frames - verified.preload_frames))
        ),
        Some(frames) => time(ns(frames)),
        None => "none".into(),
    })
}

fn speeds(points: &[LoopSummary]) -> Option<Table> {
    let mut seen = BTreeSet::new();
    let is_new =
        |point: &&LoopSummary| seen.insert((point.point.notify_bytes, point.point.channels));
    let measured = points.iter().filter(|point| !point.stages.is_empty());
    let rows = measured.filter(is_new);
    let rows = rows.flat_map(|point| point.stages.iter().map(move |speed| (point, speed)));
    let rows: Vec<(&LoopSummary, &StageSpeed)> = rows.collect();
    rows.first()?;
    let mega = |bytes_s: f64| format!("{:.0}", bytes_s / 1e6);
    let mut columns = Columns::<(&LoopSummary, &StageSpeed)>::new();
    columns.add("notify B", |(p, _)| grouped(p.point.notify_bytes.into()));
    columns.add("stage", |(_, speed)| speed.stage.as_str());
    columns.add("MB/s", |(_, speed)| mega(speed.bytes_s));
    columns.some("memory MB/s", |(p, _)| p.memory_bytes_s.map(mega));
    columns.some("% of memory", |(p, speed)| {
        Some(percent(speed.bytes_s / p.memory_bytes_s?))
    });
    let title = "Throughput of each stage alone at this block size, and of memory copies on this host; above 100 %: the \
                 stage moves less through memory than a copy does (in place, or in a cache)";
    Some(columns.of_rows(title, rows))
}
