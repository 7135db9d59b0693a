//! A loop run as tables: the latency that is needed, how often a shorter one would have stalled, and what the tested
//! preloads did.

use super::places::Places;
use super::published::beside_published;
use super::table::Table;
use wiregauge_quantity::{TimeUnit, grouped, megasamples, percent, time};
use wiregauge_record::{Aim, LoopPath, LoopPoint, LoopSummary, StallRate, Verified};
use wiregauge_stats::Distribution;

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
        tables.extend(paths(&curves));
        tables.push(stalls(&curves, places));
    }
    if !held.is_empty() {
        tables.push(tested(&held, places));
    }
    tables.extend(speeds(points));
    tables.extend(beside_published(points));
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

fn by_gpu(points: &[&LoopSummary]) -> bool {
    points.iter().any(|point| point.point.path.is_gpu())
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

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}

/// The upper bound of the stalls at the latency that would just have done.
fn last_rung(point: &LoopSummary) -> Option<&StallRate> {
    point.curve.last()
}

pub(super) fn needed(points: &[&LoopSummary], places: &Places) -> Table {
    let columns = places.heads_and(&[
        "MB/s per direction",
        "period",
        "latency ms",
        "buffer B",
        "stalls/min (95 %)",
        "floor ms",
        "latency/floor",
        "duty",
    ]);
    let title = "Lowest latency without a stall (overrun or underrun) in this run; buffer: the preload (output \
                 queued before the start) of that latency in whole blocks of notify B; floor: the same without processing, one block plus the \
                 longest host delay";
    let mut table = Table::new(title, &columns);
    for point in points {
        let mut cells = places.cells(point.point.index);
        let floor = point.floor_ns;
        let ratio = point
            .needed_ns
            .zip(floor)
            .map(|(needed, floor)| needed / floor);
        cells.extend([
            format!("{:.1}", point.point.bytes_s() / 1e6),
            time(point.point.period_ns()),
            or_dash(point.needed_ns.map(|ns| TimeUnit::Milli.show(ns))),
            or_dash(point.needed_bytes.map(grouped)),
            or_dash(last_rung(point).map(|rung| at_most(rung.per_minute_high))),
            or_dash(floor.map(|ns| TimeUnit::Milli.show(ns))),
            or_dash(ratio.map(|ratio| format!("{ratio:.2}"))),
            percent(point.duty),
        ]);
        table.row(cells);
    }
    table
}

fn times(points: &[&LoopSummary], places: &Places) -> Table {
    let columns = places.heads_and(&[
        "blocks",
        "wake p50",
        "p99",
        "max",
        "work p50",
        "p99",
        "p99.9",
        "max",
        "service p99",
        "p99.9",
        "max",
    ]);
    let mut table = Table::new(
        "Wake-up (block arrived to processing starts), work (processing) and service (block arrived to output \
         delivered), in us",
        &columns,
    );
    let unit = TimeUnit::Micro;
    let show = |of: Option<&Distribution>, part: &dyn Fn(&Distribution) -> f64| {
        or_dash(of.map(|of| unit.show(part(of))))
    };
    for point in points {
        let (wake, work) = (point.wake.as_ref(), point.work.as_ref());
        let service = point.service.as_ref();
        let mut cells = places.cells(point.point.index);
        cells.extend([
            grouped(point.blocks),
            show(wake, &|d| d.p50.value),
            show(wake, &|d| d.p99.value),
            show(wake, &|d| d.max),
            show(work, &|d| d.p50.value),
            show(work, &|d| d.p99.value),
            show(work, &|d| d.p999.value),
            show(work, &|d| d.max),
            show(service, &|d| d.p99.value),
            show(service, &|d| d.p999.value),
            show(service, &|d| d.max),
        ]);
        table.row(cells);
    }
    table
}

/// What the host added to the loop, and to a timer thread that outranks it. No ratio: the two woke up at
/// different instants.
fn delays(points: &[&LoopSummary], places: &Places) -> Table {
    let columns = places.heads_and(&[
        "p50",
        "p99",
        "p99.9",
        "max",
        "timer p99.9",
        "max",
        "timer's CPU",
    ]);
    let title = "Host delay, in us: of the loop (from when a block could be processed until its processing \
                 began), and of a timer thread beside it, one priority higher (its CPU: any, if not pinned)";
    let mut table = Table::new(title, &columns);
    let show = |ns: Option<f64>| or_dash(ns.map(|ns| TimeUnit::Micro.show(ns)));
    for point in points {
        let delay = point.host_delay.as_ref();
        let timer = point.timer.as_ref();
        let mut cells = places.cells(point.point.index);
        cells.extend([
            show(delay.map(|d| d.p50.value)),
            show(delay.map(|d| d.p99.value)),
            show(delay.map(|d| d.p999.value)),
            show(delay.map(|d| d.max)),
            show(timer.map(|t| t.wake_up.p999.value)),
            show(timer.map(|t| t.wake_up.max)),
            or_dash(timer.map(|t| t.cpu.map_or("any".into(), |cpu| cpu.to_string()))),
        ]);
        table.row(cells);
    }
    table
}

/// The ways of a block beside each other, those of one rate and block together; nothing where there was
/// no GPU.
pub(super) fn paths(points: &[&LoopSummary]) -> Option<Table> {
    if !by_gpu(points) {
        return None;
    }
    let mut table = Table::new(
        "GPU paths, host to GPU to host: time per block (work, in us) and the resulting latency",
        &[
            "MS/s",
            "channels",
            "notify B",
            "path",
            "p50",
            "p99.9",
            "max",
            "% of period",
            "latency ms",
            "floor ms",
            "output check",
        ],
    );
    let mut sorted = points.to_vec();
    let cell = |p: &&LoopSummary| (p.point.rate_hz, p.point.channels, p.point.notify_bytes);
    sorted.sort_by_key(cell);
    let unit = TimeUnit::Micro;
    for point in sorted {
        let work = point.work.as_ref();
        let ms = |ns: Option<f64>| or_dash(ns.map(|ns| TimeUnit::Milli.show(ns)));
        table.row(vec![
            megasamples(point.point.rate_hz),
            point.point.channels.to_string(),
            grouped(point.point.notify_bytes.into()),
            point.point.path.to_string(),
            or_dash(work.map(|d| unit.show(d.p50.value))),
            or_dash(work.map(|d| unit.show(d.p999.value))),
            or_dash(work.map(|d| unit.show(d.max))),
            or_dash(work.map(|d| percent(d.p50.value / point.point.period_ns()))),
            ms(point.needed_ns),
            ms(point.floor_ns),
            or_dash(
                point
                    .verified
                    .as_ref()
                    .map(|verified| match verified.holds() {
                        true => verified.method.clone(),
                        false => "WRONG".into(),
                    }),
            ),
        ]);
    }
    Some(table)
}

fn stalls(points: &[&LoopSummary], places: &Places) -> Table {
    let columns = places.heads_and(&["latency ms", "preload B", "stalls", "stalls/min", "95 % CI"]);
    let mut table = Table::new("Stalls in this run if the preload were shorter", &columns);
    for point in points {
        for rung in rungs(&point.curve) {
            let mut cells = places.cells(point.point.index);
            cells.extend([
                TimeUnit::Milli.show(rung.latency_ns),
                grouped(rung.preload_bytes),
                grouped(rung.stalls),
                hundredths(rung.per_minute),
                at_most(rung.per_minute_high),
            ]);
            table.row(cells);
        }
    }
    table
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
    let columns = places.heads_and(&[
        "preload B",
        "latency ms",
        "tested for",
        "overruns",
        "underruns",
        "lowest ms",
        "stalls/min (95 %)",
        "measured latency",
    ]);
    let mut table = Table::new(
        "Tested preloads: the latency of a loop is its preload; stalls/min: those counted, and their upper \
         bound (95 %)",
        &columns,
    );
    for point in points {
        let minutes = point.elapsed_ns as f64 / 60e9;
        let stalls = point.overruns + point.underruns;
        let stalls = (minutes > 0.0).then(|| counted(stalls, minutes));
        let found = point.verified.as_ref().map(|verified| {
            let ns = |frames: u64| frames as f64 * 1e9 / point.point.rate_hz as f64;
            match verified.found_frames {
                _ if verified.holds() && verified.cable_frames.unwrap_or(0) == 0 => {
                    "the preload".to_string()
                }
                Some(frames) if verified.holds() => format!(
                    "the preload plus {} of cable",
                    time(ns(frames - verified.preload_frames))
                ),
                Some(frames) => time(ns(frames)),
                None => "none".to_string(),
            }
        });
        let mut cells = places.cells(point.point.index);
        cells.extend([
            grouped(point.point.preload_bytes),
            TimeUnit::Milli.show(point.point.preload_ns()),
            time(point.elapsed_ns as f64),
            grouped(point.overruns),
            grouped(point.underruns),
            or_dash(point.needed_ns.map(|ns| TimeUnit::Milli.show(ns))),
            or_dash(stalls),
            or_dash(found),
        ]);
        table.row(cells);
    }
    table
}

fn speeds(points: &[LoopSummary]) -> Option<Table> {
    let mut table = Table::new(
        "Throughput of each stage alone at this block size, and of memory copies on this host",
        &["notify B", "stage", "MB/s", "memory MB/s", "% of memory"],
    );
    let mut seen: Vec<(u32, u32)> = Vec::new();
    for point in points {
        let size = (point.point.notify_bytes, point.point.channels);
        if point.stages.is_empty() || seen.contains(&size) {
            continue;
        }
        seen.push(size);
        for speed in &point.stages {
            let memory = point.memory_bytes_s;
            table.row(vec![
                grouped(point.point.notify_bytes.into()),
                speed.stage.clone(),
                format!("{:.0}", speed.bytes_s / 1e6),
                or_dash(memory.map(|memory| format!("{:.0}", memory / 1e6))),
                or_dash(memory.map(|memory| percent(speed.bytes_s / memory))),
            ]);
        }
    }
    let is_above = |point: &LoopSummary| {
        let memory = point.memory_bytes_s.unwrap_or(f64::INFINITY);
        point.stages.iter().any(|speed| speed.bytes_s > memory)
    };
    if points.iter().any(is_above) {
        table.title += "; above 100 %: the stage moves less through memory than a copy does (in place, or in a cache)";
    }
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{Ending, LoopFacts, LoopPath, LoopSummariser, StageSpeed};

    #[test]
    fn a_stage_faster_than_a_memory_copy_is_explained() {
        let title = |bytes_s| {
            let point = LoopPoint {
                index: 0,
                rate_hz: 1_000_000,
                channels: 1,
                notify_bytes: 2_000,
                ring_bytes: 2_000_000,
                preload_bytes: 4_000,
                aim: Aim::Curve,
                path: LoopPath::Cpu,
            };
            let mut summary =
                LoopSummariser::new(point).finish(Ending::Complete, LoopFacts::default());
            summary.memory_bytes_s = Some(9e9);
            summary.stages = vec![StageSpeed {
                stage: "threshold:0.5".into(),
                bytes_s,
            }];
            speeds(&[summary]).expect("a table").title
        };
        assert!(!title(8.9e9).contains("above 100 %"));
        assert!(title(14.7e9).contains("above 100 %: the stage moves less"));
    }

    #[test]
    fn stalls_a_minute_are_printed_beside_their_bound() {
        assert_eq!(counted(0, 1.0), "< 3.00");
        assert_eq!(counted(367, 1.003 / 60.0), "21,954 (< 23,935)");
        assert!(counted(3, 1.0).starts_with("3.00 (< 7.7"));
    }
}
