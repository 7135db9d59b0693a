//! An exchange run as tables with units.

use super::columns::{
    CI, Columns, MAX, MAX3, MEAN, MEAN_PLUS_SD, MIN, P50, P90, P99, P999, SD, Statistic, under,
};
use super::percentile::interval;
use super::places::Places;
use super::point_columns::typical;
use super::stages::stages;
use super::table::Table;
use std::collections::BTreeMap;
use wiregauge_quantity::{exact_time, grouped, percent, significant};
use wiregauge_record::{BusLimit, Connect, Plan, PointSummary, QuerySummary, Schedule};
use wiregauge_run::RunFile;

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
    tables.extend(phases(plan, points, places));
    tables.extend(device(points, places));
    tables.extend(stages(plan, points, places));
    tables.extend(queries(points, places));
    tables.extend(losses(points, places));
    tables.extend(unexpected(points, places));
    tables.extend(interference(points, places));
    tables
}

fn times(points: &[PointSummary], places: &Places) -> Table {
    let unit = typical(points, |p| p.rtt.as_ref());
    let title = format!(
        "RTT in {}; max3: the maximum without the two largest; first: of the first exchange, which is not counted",
        unit.name()
    );
    let mut columns = Columns::<&PointSummary>::new();
    columns.add("n", |p| grouped(p.counts.answered));
    columns.statistics(
        unit,
        |p| p.rtt.as_ref(),
        &[
            MIN,
            MEAN,
            CI,
            SD,
            MEAN_PLUS_SD,
            P50,
            P90,
            P99,
            P999,
            MAX3,
            MAX,
        ],
    );
    columns.some("first", |p| Some(unit.show(p.first_rtt_ns? as f64)));
    columns.table(title, places, points)
}

/// The limit in words; of each link its own where they differ.
pub(super) fn limits_of(points: &[PointSummary]) -> Option<String> {
    let mut limits: BTreeMap<u32, Option<String>> = BTreeMap::new();
    for point in points {
        let text = |limit: &BusLimit| {
            let most = grouped(limit.bytes_s as u64);
            format!("{most} B/s ({})", limit.source)
        };
        let known = limits.entry(point.point.link).or_default();
        *known = known.take().or(point.limit.as_ref().map(text));
    }
    let first = limits.values().next()?.as_ref();
    if let Some(text) = first.filter(|_| limits.values().all(|limit| limit.as_ref() == first)) {
        return Some(format!("limit: {text}"));
    }
    let each = limits.iter();
    let each = each.filter_map(|(link, limit)| Some((link, limit.as_ref()?)));
    let each = each.map(|(link, limit)| format!("limit of link {link}: {limit}"));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn rates(points: &[PointSummary], places: &Places) -> Table {
    let unit = typical(points, |p| p.trt.as_ref());
    let mut title = format!(
        "TRT in {} (mean time from one start to the next), throughput; achieved depth: mean number of outstanding \
         exchanges",
        unit.name()
    );
    if let Some(limits) = limits_of(points) {
        title += &format!("; {limits}");
    }
    let kilo = |value: f64| format!("{:.2}", value / 1e3);
    let mut columns = Columns::<&PointSummary>::new();
    columns.add("achieved depth", |p| format!("{:.2}", p.achieved_depth));
    columns.statistics(
        unit,
        |p| p.trt.as_ref(),
        &[under("TRT mean", MEAN), CI, SD, P99],
    );
    columns.add("exchanges/s", |p| significant(p.throughput.exchanges_s));
    columns.add("OUT kB/s", |p| kilo(p.throughput.out_bytes_s));
    columns.add("IN kB/s", |p| kilo(p.throughput.in_bytes_s));
    if points.iter().any(|p| p.limit.is_some()) {
        columns.some("% of limit", |p| Some(percent(p.limit.as_ref()?.used)));
    }
    columns.add("CPU us/exchange", |p| kilo(p.resources.cpu_ns_per_exchange));
    if points.iter().any(|p| p.batch.is_some()) {
        columns.some("batch", batch);
    }
    columns.table(title, places, points)
}

/// Requests handed over in one call at most, if a trial chose that.
fn batch(point: &PointSummary) -> Option<String> {
    Some(match point.batch.as_ref()?.chosen {
        Some(batch) => format!("{batch} (by trial)"),
        None => "all (by trial)".into(),
    })
}

pub(super) fn intervals(points: &[PointSummary], places: &Places) -> Table {
    let unit = typical(points, |p| p.rtt.as_ref());
    let title = format!(
        "95 % confidence intervals of the RTT in {} (allowing for autocorrelation)",
        unit.name()
    );
    let all: [Statistic; 5] = [
        ("mean", |unit, rtt| interval(unit, &rtt.mean)),
        ("p50", |unit, rtt| interval(unit, &rtt.p50)),
        ("p90", |unit, rtt| interval(unit, &rtt.p90)),
        ("p99", |unit, rtt| interval(unit, &rtt.p99)),
        ("p99.9", |unit, rtt| interval(unit, &rtt.p999)),
    ];
    let mut columns = Columns::<&PointSummary>::new();
    columns.statistics(unit, |p| p.rtt.as_ref(), &all);
    columns.some("independent samples (mean)", |p| {
        Some(grouped(p.rtt.as_ref()?.effective_n as u64))
    });
    columns.table(title, places, points)
}

fn from_intended(points: &[PointSummary], places: &Places) -> Option<Table> {
    points.iter().find(|p| p.from_intended.is_some())?;
    let unit = typical(points, |p| p.from_intended.as_ref());
    let title = format!(
        "Time from the intended start to the last byte, in {} (coordinated omission included); max3: the maximum without the two largest",
        unit.name()
    );
    let mut columns = Columns::<&PointSummary>::new();
    columns.statistics(
        unit,
        |p| p.from_intended.as_ref(),
        &[MEAN, CI, P50, P90, P99, P999, MAX3, MAX],
    );
    Some(columns.table(title, places, points))
}

pub(super) fn below(plan: &Plan, points: &[PointSummary], places: &Places) -> Option<Table> {
    plan.below_ns.first()?;
    let of = match plan.schedule {
        Schedule::EveryNs(_) => "of the time from the intended start",
        Schedule::AsFastAsPossible => "of the RTT",
    };
    let title = format!("Percentage of exchanges below a limit {of} (lost ones count as above)");
    let mut columns = Columns::<&PointSummary>::new();
    for (at, &ns) in plan.below_ns.iter().enumerate() {
        columns.some(format!("< {}", exact_time(ns)), move |p| {
            Some(percent(p.below.get(at)?.share))
        });
        columns.some("95 % CI", move |p| {
            Some(match p.below.get(at)?.interval() {
                None => "? .. ?".to_owned(),
                Some((low, high)) => format!("{:.2} .. {:.2}", low * 100.0, high * 100.0),
            })
        });
    }
    Some(columns.table(title, places, points))
}

fn phases(plan: &Plan, points: &[PointSummary], places: &Places) -> Option<Table> {
    if plan.connect != Connect::Each {
        return None;
    }
    let unit = typical(points, |p| p.connect.as_ref());
    let title = format!(
        "Parts of an exchange in {}: connection, access (to the first byte), transfer",
        unit.name()
    );
    let mut columns = Columns::<&PointSummary>::new();
    let of = |head| [under(head, P50), P99, MEAN];
    columns.statistics(unit, |p| p.connect.as_ref(), &of("connect p50"));
    columns.statistics(unit, |p| p.access.as_ref(), &of("access p50"));
    columns.statistics(unit, |p| p.transfer.as_ref(), &of("transfer p50"));
    Some(columns.table(title, places, points))
}

fn device(points: &[PointSummary], places: &Places) -> Option<Table> {
    points
        .iter()
        .find(|p| p.device.as_ref().is_some_and(|d| d.max > 0.0))?;
    let unit = typical(points, |p| p.device.as_ref());
    let title = format!(
        "Device time (by its own clock) in {}; the rest of the RTT is host and wire",
        unit.name()
    );
    let mut columns = Columns::<&PointSummary>::new();
    columns.statistics(
        unit,
        |p| p.device.as_ref().filter(|_| p.rtt.is_some()),
        &[MEAN, CI, SD, P50, P99, MAX],
    );
    columns.some("% of RTT", |p| {
        Some(percent(
            p.device.as_ref()?.mean.value / p.rtt.as_ref()?.mean.value,
        ))
    });
    Some(columns.table(title, places, points))
}

/// Each query by itself, where there are several.
pub(super) fn queries(points: &[PointSummary], places: &Places) -> Option<Table> {
    points.iter().find(|p| !p.queries.is_empty())?;
    let unit = typical(points, |p| p.rtt.as_ref());
    let mut columns = Columns::<(&PointSummary, &QuerySummary)>::new();
    columns.add("query", |(_, query)| shortened(&query.name));
    columns.add("n", |(_, query)| grouped(query.answered));
    columns.add("failed", |(_, query)| {
        grouped(query.exchanges - query.answered - query.unexpected)
    });
    if points.iter().any(|p| p.counts.unexpected > 0) {
        columns.add("unexpected", |(_, query)| grouped(query.unexpected));
    }
    columns.statistics(
        unit,
        |(_, query)| query.rtt.as_ref(),
        &[MEAN, P50, P99, MAX],
    );
    let rows = points
        .iter()
        .flat_map(|point| point.queries.iter().map(move |query| (point, query)));
    let title = format!("RTT of each query in {}", unit.name());
    Some(columns.table(title, places, rows).quoting(&["query"]))
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
        replies.map(move |reply| (point, (reply.what.as_str(), "reply", reply.times)))
    });
    let errors = points.iter().flat_map(|point| {
        let errors = point.instrument_errors.chunk_by(|a, b| a == b);
        errors.map(move |same| (point, (same[0].as_str(), "error queue", same.len() as u64)))
    });
    let rows: Vec<_> = replies.chain(errors).collect();
    rows.first()?;
    let mut columns = Columns::<(&PointSummary, (&str, &str, u64))>::new();
    columns.add("what", |(_, (what, ..))| shortened(what));
    columns.add("from", |(_, (_, from, _))| from);
    columns.add("times", |(_, (.., times))| grouped(times));
    let title = "Unexpected replies, and errors in the queue of the instrument";
    Some(columns.table(title, places, rows).quoting(&["what"]))
}

fn losses(points: &[PointSummary], places: &Places) -> Option<Table> {
    points.iter().find(|p| !p.counts.is_clean())?;
    let title = "Failed exchanges (only points that have some); lost: without a right answer in time; late: answered \
                 after the timeout; stray bytes belong to no response";
    let mut columns = Columns::<&PointSummary>::new();
    columns.add("exchanges", |p| grouped(p.counts.exchanges));
    columns.add("answered", |p| grouped(p.counts.answered));
    columns.add("lost", |p| {
        grouped(p.counts.exchanges.saturating_sub(p.counts.answered))
    });
    columns.add("unanswered", |p| grouped(p.counts.lost));
    columns.add("late", |p| grouped(p.counts.late));
    columns.add("duplicated", |p| grouped(p.counts.duplicated));
    columns.add("reordered", |p| grouped(p.counts.reordered));
    columns.add("corrupted", |p| grouped(p.counts.corrupted));
    columns.add("unexpected", |p| grouped(p.counts.unexpected));
    columns.add("stray bytes", |p| grouped(p.counts.stray_bytes));
    let failed = points.iter().filter(|p| !p.counts.is_clean());
    Some(columns.table(title, places, failed))
}

/// What links that run at once cost each other.
fn interference(points: &[PointSummary], places: &Places) -> Option<Table> {
    let (together, alone): (Vec<&PointSummary>, Vec<&PointSummary>) =
        points.iter().partition(|p| p.point.together);
    together.first()?;
    let unit = typical(points, |p| p.rtt.as_ref());
    let cell = |p: &PointSummary| (p.point.out_bytes, p.point.in_bytes, p.point.depth);
    let rtt = |p: &PointSummary| Some(p.rtt.as_ref()?.p50.value);
    let rate = |p: &PointSummary| p.throughput.exchanges_s;
    let ratio = |before: f64, now: f64| (before > 0.0).then(|| format!("{:.2}", now / before));
    // Beside a point the same of its link alone, and the rate of all links together.
    type Row<'a> = (&'a PointSummary, (Option<&'a PointSummary>, f64));
    let rows = together.iter().map(|point| {
        let own = alone
            .iter()
            .find(|other| cell(other) == cell(point) && other.point.link == point.point.link);
        let same = together.iter().filter(|other| cell(other) == cell(point));
        let sum: f64 = same.map(|other| rate(other)).sum();
        (*point, (own.copied(), sum))
    });
    let rtts = |(point, (own, _)): Row<'_>| Some((rtt(own?)?, rtt(point)?));
    let before = |own: Option<&PointSummary>| own.map_or(0.0, rate);
    let mut columns = Columns::<Row<'_>>::new();
    columns.some("RTT alone", |row| Some(unit.show(rtts(row)?.0)));
    columns.some("together", |row| Some(unit.show(rtts(row)?.1)));
    columns.some("ratio", |row| {
        let (before, now) = rtts(row)?;
        ratio(before, now)
    });
    columns.add("per s alone", |(_, (own, _))| format!("{:.1}", before(own)));
    columns.add("together", |(point, _)| format!("{:.1}", rate(point)));
    columns.some("ratio", |(point, (own, _))| ratio(before(own), rate(point)));
    columns.add("sum", |(_, (_, sum))| format!("{sum:.1}"));
    let title = format!(
        "Links alone and together: RTT p50 in {}, exchanges/s",
        unit.name()
    );
    Some(columns.table(title, places, rows))
}
