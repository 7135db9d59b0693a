//! An exchange run as tables with units.

use super::percentile::{around, bounded, interval};
use super::places::Places;
use super::point_columns::{dashes, typical};
use super::stages::stages;
use super::table::Table;
use super::warnings::{Missing, missing};
use std::collections::BTreeMap;
use wiregauge_quantity::{TimeUnit, exact_time, grouped, percent, significant};
use wiregauge_record::{BusLimit, Connect, Plan, PointSummary, Schedule};
use wiregauge_run::RunFile;
use wiregauge_stats::Estimate;

/// Every table of a run that has something to say.
pub(super) fn tables(file: &RunFile, confidence: bool) -> Vec<Table> {
    // Links that run together may end in any order.
    let mut points = file.points.clone();
    points.sort_by_key(|point| point.point.index);
    let (plan, points) = (&file.plan, &points[..]);
    let places = &Places::of_run(plan, points);
    let mut tables = vec![times(points, places), rates(points, places)];
    if confidence {
        tables.push(intervals(points, places));
    }
    tables.extend(from_intended(points, places));
    tables.extend(below(plan, points, places));
    tables.extend(modes(points, places));
    tables.extend(phases(plan, points, places));
    tables.extend(device(points, places));
    tables.extend(stages(plan, points, places));
    tables.extend(queries(points, places));
    tables.extend(losses(points, places));
    tables.extend(unexpected(points, places));
    tables.extend(interference(points, places));
    tables
        .into_iter()
        .map(|table| explained(table, points))
        .collect()
}

/// The table, with what `?` means in this run.
pub(super) fn explained(mut table: Table, points: &[PointSummary]) -> Table {
    table.no_bound = missing(points).map_or("", Missing::footnote);
    table
}

fn half_width(unit: TimeUnit, estimate: &Estimate) -> String {
    around(|ns| unit.show(ns), estimate)
}

fn times(points: &[PointSummary], places: &Places) -> Table {
    let unit = typical(points, |p| p.rtt.as_ref());
    let mut table = Table::new(
        format!(
            "RTT in {}; max3: the maximum without the two largest; first: of the first exchange, which is not counted",
            unit.name()
        ),
        &places.heads_and(&[
            "n", "min", "mean", "95 % CI", "SD", "mean+SD", "p50", "p90", "p99", "p99.9", "max3",
            "max", "first",
        ]),
    );
    for point in points {
        let mut cells = places.cells(point.point.index);
        cells.push(grouped(point.counts.answered));
        match &point.rtt {
            Some(rtt) => cells.extend([
                unit.show(rtt.min),
                unit.show(rtt.mean.value),
                half_width(unit, &rtt.mean),
                unit.show(rtt.sd),
                unit.show(rtt.mean_plus_sd),
                bounded(unit, &rtt.p50),
                bounded(unit, &rtt.p90),
                bounded(unit, &rtt.p99),
                bounded(unit, &rtt.p999),
                unit.show(rtt.max3),
                unit.show(rtt.max),
            ]),
            None => cells.extend(dashes(11)),
        }
        cells.push(
            point
                .first_rtt_ns
                .map_or("-".into(), |first| unit.show(first as f64)),
        );
        table.row(cells);
    }
    table
}

/// The limit in words; of each link its own where they differ.
pub(super) fn limits_of(points: &[PointSummary]) -> Option<String> {
    let mut limits: BTreeMap<u32, &BusLimit> = BTreeMap::new();
    for point in points {
        if let Some(limit) = &point.limit {
            limits.entry(point.point.link).or_insert(limit);
        }
    }
    let (_, first) = limits.first_key_value()?;
    let text = |limit: &BusLimit| {
        let most = grouped(limit.bytes_s as u64);
        format!("{most} B/s ({})", limit.source)
    };
    let is_first = |point: &PointSummary| {
        let limit = point.limit.as_ref();
        limit.is_some_and(|limit| limit.bytes_s == first.bytes_s)
    };
    let link = points[0].point.link;
    let is_one_link = points.iter().all(|point| point.point.link == link);
    if is_one_link || points.iter().all(is_first) {
        return Some(format!("limit: {}", text(first)));
    }
    let each = limits.iter();
    let each = each.map(|(link, limit)| format!("limit of link {link}: {}", text(limit)));
    Some(each.collect::<Vec<_>>().join("; "))
}

fn rates(points: &[PointSummary], places: &Places) -> Table {
    let unit = typical(points, |p| p.trt.as_ref());
    let limit = points.iter().find_map(|p| p.limit.as_ref());
    let mut title = format!(
        "TRT in {} (mean time from one start to the next), throughput; achieved depth: mean number of outstanding \
         exchanges",
        unit.name()
    );
    if let Some(limits) = limits_of(points) {
        title += &format!("; {limits}");
    }
    let mut names = places.heads_and(&[
        "achieved depth",
        "TRT mean",
        "95 % CI",
        "SD",
        "p99",
        "exchanges/s",
        "OUT kB/s",
        "IN kB/s",
    ]);
    if limit.is_some() {
        names.push("% of limit");
    }
    names.push("CPU us/exchange");
    let is_tried = points.iter().any(|p| p.batch.is_some());
    if is_tried {
        names.push("batch");
    }
    let mut table = Table::new(title, &names);
    for point in points {
        let mut cells = places.cells(point.point.index);
        cells.push(format!("{:.2}", point.achieved_depth));
        match &point.trt {
            Some(trt) => cells.extend([
                unit.show(trt.mean.value),
                half_width(unit, &trt.mean),
                unit.show(trt.sd),
                bounded(unit, &trt.p99),
            ]),
            None => cells.extend(dashes(4)),
        }
        cells.extend([
            significant(point.throughput.exchanges_s),
            format!("{:.2}", point.throughput.out_bytes_s / 1e3),
            format!("{:.2}", point.throughput.in_bytes_s / 1e3),
        ]);
        if limit.is_some() {
            cells.push(
                point
                    .limit
                    .as_ref()
                    .map_or("-".into(), |limit| percent(limit.used)),
            );
        }
        cells.push(format!("{:.2}", point.resources.cpu_ns_per_exchange / 1e3));
        if is_tried {
            cells.push(batch(point));
        }
        table.row(cells);
    }
    table
}

/// Requests handed over in one call at most, if a trial chose that.
fn batch(point: &PointSummary) -> String {
    match &point.batch {
        Some(trial) => match trial.chosen {
            Some(batch) => format!("{batch} (by trial)"),
            None => "all (by trial)".into(),
        },
        None => "-".into(),
    }
}

pub(super) fn intervals(points: &[PointSummary], places: &Places) -> Table {
    let unit = typical(points, |p| p.rtt.as_ref());
    let mut table = Table::new(
        format!(
            "95 % confidence intervals of the RTT in {} (allowing for autocorrelation)",
            unit.name()
        ),
        &places.heads_and(&[
            "mean",
            "p50",
            "p90",
            "p99",
            "p99.9",
            "independent samples (mean)",
        ]),
    );
    for point in points {
        let mut cells = places.cells(point.point.index);
        match &point.rtt {
            Some(rtt) => {
                cells.extend(
                    [&rtt.mean, &rtt.p50, &rtt.p90, &rtt.p99, &rtt.p999]
                        .map(|of| interval(unit, of)),
                );
                cells.push(grouped(rtt.effective_n as u64));
            }
            None => cells.extend(dashes(6)),
        }
        table.row(cells);
    }
    table
}

fn from_intended(points: &[PointSummary], places: &Places) -> Option<Table> {
    points.iter().find(|p| p.from_intended.is_some())?;
    let unit = typical(points, |p| p.from_intended.as_ref());
    let mut table = Table::new(
        format!(
            "Time from the intended start to the last byte, in {} (coordinated omission included); max3: the maximum without the two largest",
            unit.name()
        ),
        &places.heads_and(&[
            "mean", "95 % CI", "p50", "p90", "p99", "p99.9", "max3", "max",
        ]),
    );
    for point in points {
        let mut cells = places.cells(point.point.index);
        match &point.from_intended {
            Some(times) => cells.extend([
                unit.show(times.mean.value),
                half_width(unit, &times.mean),
                bounded(unit, &times.p50),
                bounded(unit, &times.p90),
                bounded(unit, &times.p99),
                bounded(unit, &times.p999),
                unit.show(times.max3),
                unit.show(times.max),
            ]),
            None => cells.extend(dashes(8)),
        }
        table.row(cells);
    }
    Some(table)
}

pub(super) fn below(plan: &Plan, points: &[PointSummary], places: &Places) -> Option<Table> {
    if plan.below_ns.is_empty() {
        return None;
    }
    let names: Vec<String> = plan
        .below_ns
        .iter()
        .map(|&ns| format!("< {}", exact_time(ns)))
        .collect();
    let mut columns: Vec<&str> = places.heads_and(&[]);
    for name in &names {
        columns.extend([name.as_str(), "95 % CI"]);
    }
    let of = match plan.schedule {
        Schedule::EveryNs(_) => "of the time from the intended start",
        Schedule::AsFastAsPossible => "of the RTT",
    };
    let mut table = Table::new(
        format!("Percentage of exchanges below a limit {of} (lost ones count as above)"),
        &columns,
    );
    for point in points {
        let mut cells = places.cells(point.point.index);
        for share in &point.below {
            cells.push(percent(share.share));
            cells.push(match share.interval() {
                None => "? .. ?".into(),
                Some((low, high)) => format!("{:.2} .. {:.2}", low * 100.0, high * 100.0),
            });
        }
        table.row(cells);
    }
    Some(table)
}

/// Peaks shown of one point; all of them are in the JSON.
const PEAKS: usize = 3;

fn modes(points: &[PointSummary], places: &Places) -> Option<Table> {
    points.iter().find(|p| p.modes.len() > 1)?;
    let unit = typical(points, |p| p.rtt.as_ref());
    let mut table = Table::new(
        format!("Points with more than one RTT peak, in {}", unit.name()),
        &places.heads_and(&["peaks: percentage at time (from .. to)"]),
    );
    for point in points.iter().filter(|p| p.modes.len() > 1) {
        let mut cells = places.cells(point.point.index);
        let mut largest = point.modes.clone();
        largest.sort_by(|a, b| b.share.total_cmp(&a.share));
        largest.truncate(PEAKS);
        largest.sort_by(|a, b| a.peak.total_cmp(&b.peak));
        let mut peaks: Vec<String> = largest
            .iter()
            .map(|mode| {
                format!(
                    "{} at {} ({} .. {})",
                    percent(mode.share),
                    unit.show(mode.peak),
                    unit.show(mode.low),
                    unit.show(mode.high)
                )
            })
            .collect();
        if point.modes.len() > PEAKS {
            peaks.push(format!("{} smaller", point.modes.len() - PEAKS));
        }
        cells.push(peaks.join("; "));
        table.row(cells);
    }
    Some(table)
}

fn phases(plan: &Plan, points: &[PointSummary], places: &Places) -> Option<Table> {
    if plan.connect != Connect::Each {
        return None;
    }
    let unit = typical(points, |p| p.connect.as_ref());
    let mut table = Table::new(
        format!(
            "Parts of an exchange in {}: connection, access (to the first byte), transfer",
            unit.name()
        ),
        &places.heads_and(&[
            "connect p50",
            "p99",
            "mean",
            "access p50",
            "p99",
            "mean",
            "transfer p50",
            "p99",
            "mean",
        ]),
    );
    for point in points {
        let mut cells = places.cells(point.point.index);
        for part in [&point.connect, &point.access, &point.transfer] {
            match part {
                Some(part) => cells.extend([
                    bounded(unit, &part.p50),
                    bounded(unit, &part.p99),
                    unit.show(part.mean.value),
                ]),
                None => cells.extend(dashes(3)),
            }
        }
        table.row(cells);
    }
    Some(table)
}

fn device(points: &[PointSummary], places: &Places) -> Option<Table> {
    points
        .iter()
        .find(|p| p.device.as_ref().is_some_and(|d| d.max > 0.0))?;
    let unit = typical(points, |p| p.device.as_ref());
    let mut table = Table::new(
        format!(
            "Device time (by its own clock) in {}; the rest of the RTT is host and wire",
            unit.name()
        ),
        &places.heads_and(&["mean", "95 % CI", "SD", "p50", "p99", "max", "% of RTT"]),
    );
    for point in points {
        let mut cells = places.cells(point.point.index);
        match (&point.device, &point.rtt) {
            (Some(device), Some(rtt)) => cells.extend([
                unit.show(device.mean.value),
                half_width(unit, &device.mean),
                unit.show(device.sd),
                bounded(unit, &device.p50),
                bounded(unit, &device.p99),
                unit.show(device.max),
                percent(device.mean.value / rtt.mean.value),
            ]),
            _ => cells.extend(dashes(7)),
        }
        table.row(cells);
    }
    Some(table)
}

/// Each query by itself, where there are several.
pub(super) fn queries(points: &[PointSummary], places: &Places) -> Option<Table> {
    points.iter().find(|p| !p.queries.is_empty())?;
    let unit = typical(points, |p| p.rtt.as_ref());
    let is_unexpected = points.iter().any(|p| p.counts.unexpected > 0);
    let mut names = vec!["query", "n", "failed"];
    names.extend(is_unexpected.then_some("unexpected"));
    names.extend(["mean", "p50", "p99", "max"]);
    let mut table = Table::new(
        format!("RTT of each query in {}", unit.name()),
        &places.heads_and(&names),
    )
    .quoting(&["query"]);
    for (point, query) in points
        .iter()
        .flat_map(|point| point.queries.iter().map(move |query| (point, query)))
    {
        let mut cells = places.cells(point.point.index);
        cells.push(shortened(&query.name));
        let failed = query.exchanges - query.answered - query.unexpected;
        cells.extend([query.answered, failed].map(grouped));
        cells.extend(is_unexpected.then(|| grouped(query.unexpected)));
        match &query.rtt {
            Some(rtt) => cells.extend([
                unit.show(rtt.mean.value),
                bounded(unit, &rtt.p50),
                bounded(unit, &rtt.p99),
                unit.show(rtt.max),
            ]),
            None => cells.extend(dashes(4)),
        }
        table.row(cells);
    }
    Some(table)
}

/// A query or a reply that fits in a cell.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.into(),
    }
}

/// What unexpected replies said, and what an instrument's error queue held.
pub(super) fn unexpected(points: &[PointSummary], places: &Places) -> Option<Table> {
    let replies = points.iter().flat_map(|point| {
        let replies = point.unexpected.iter();
        replies.map(move |reply| (point, reply.what.as_str(), reply.times, "reply"))
    });
    let errors = points.iter().flat_map(|point| {
        let errors = point.instrument_errors.chunk_by(|a, b| a == b);
        errors.map(move |same| (point, same[0].as_str(), same.len() as u64, "error queue"))
    });
    let rows: Vec<_> = replies.chain(errors).collect();
    rows.first()?;
    let mut table = Table::new(
        "Unexpected replies, and errors in the queue of the instrument",
        &places.heads_and(&["what", "from", "times"]),
    )
    .quoting(&["what"]);
    for (point, what, times, from) in rows {
        let mut cells = places.cells(point.point.index);
        cells.push(shortened(what));
        cells.extend([from.into(), grouped(times)]);
        table.row(cells);
    }
    Some(table)
}

fn losses(points: &[PointSummary], places: &Places) -> Option<Table> {
    points.iter().find(|p| !p.counts.is_clean())?;
    let mut table = Table::new(
        "Failed exchanges (only points that have some); late: answered after the timeout; stray bytes belong \
         to no response",
        &places.heads_and(&[
            "exchanges",
            "answered",
            "lost",
            "late",
            "duplicated",
            "reordered",
            "corrupted",
            "unexpected",
            "stray bytes",
        ]),
    );
    for point in points.iter().filter(|p| !p.counts.is_clean()) {
        let counts = &point.counts;
        let mut cells = places.cells(point.point.index);
        cells.extend(
            [
                counts.exchanges,
                counts.answered,
                counts.lost,
                counts.late,
                counts.duplicated,
                counts.reordered,
                counts.corrupted,
                counts.unexpected,
                counts.stray_bytes,
            ]
            .map(grouped),
        );
        table.row(cells);
    }
    Some(table)
}

/// What links that run at once cost each other.
fn interference(points: &[PointSummary], places: &Places) -> Option<Table> {
    let (together, alone): (Vec<&PointSummary>, Vec<&PointSummary>) =
        points.iter().partition(|p| p.point.together);
    together.first()?;
    let unit = typical(points, |p| p.rtt.as_ref());
    let cell = |p: &PointSummary| (p.point.out_bytes, p.point.in_bytes, p.point.depth);
    let rtt = |p: &PointSummary| p.rtt.as_ref().map(|rtt| rtt.p50.value);
    let rate = |p: &PointSummary| p.throughput.exchanges_s;
    let mut table = Table::new(
        format!(
            "Links alone and together: RTT p50 in {}, exchanges/s",
            unit.name()
        ),
        &places.heads_and(&[
            "RTT alone",
            "together",
            "ratio",
            "per s alone",
            "together",
            "ratio",
            "sum",
        ]),
    );
    let ratio = |before: f64, now: f64| match before > 0.0 {
        true => format!("{:.2}", now / before),
        false => "-".into(),
    };
    for point in &together {
        let own = alone
            .iter()
            .find(|other| cell(other) == cell(point) && other.point.link == point.point.link);
        let same = together.iter().filter(|other| cell(other) == cell(point));
        let sum: f64 = same.map(|other| rate(other)).sum();
        let mut cells = places.cells(point.point.index);
        match (own.and_then(|own| rtt(own)), rtt(point)) {
            (Some(before), Some(now)) => {
                cells.extend([unit.show(before), unit.show(now), ratio(before, now)]);
            }
            _ => cells.extend(dashes(3)),
        }
        let before = own.map_or(0.0, |own| rate(own));
        cells.extend([
            format!("{before:.1}"),
            format!("{:.1}", rate(point)),
            ratio(before, rate(point)),
            format!("{sum:.1}"),
        ]);
        table.row(cells);
    }
    Some(table)
}
