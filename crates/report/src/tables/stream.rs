//! A stream run as tables: what passes each way, how evenly, and the buffer that a device needs for
//! it.

use super::columns::{Columns, MAX, P50, P99, under};
use super::flow_rows::Row;
use super::limit_share::LimitShare;
use super::percentile::around;
use super::places::Places;
use super::table::Table;
use std::fmt;
use wiregauge_quantity::{RateUnit, TimeUnit, grouped, one_in, percent, rounded_up};
use wiregauge_record::{BufferNeed, BusCount, FlowSummary, StreamPlan, StreamProtocol, Way};
use wiregauge_run::{RunFile, Stream};
use wiregauge_stats::Estimate;

/// What became of the bytes, in words; nothing where a table says more.
pub(super) fn both_ends(file: &RunFile<Stream>, rows: &[Row<'_>]) -> Option<String> {
    let clean = rows.iter().all(|(_, flow)| !flow.counts.is_damaged());
    if rows.is_empty() || !clean {
        return None;
    }
    if file.plan.protocol == StreamProtocol::Raw {
        let note = "Counted by this host only; what the device counts is not known".to_owned();
        return Some(
            matches(&file.plan, rows).map_or(format!("{note}."), |all| format!("{note}; {all}.")),
        );
    }
    let sent = rows.iter().map(|(_, flow)| flow.counts.sent);
    let sent: u64 = sent.sum::<Option<u64>>()?;
    if !rows.iter().all(|(_, flow)| flow.device.is_some()) {
        return None;
    }
    let compared = match file.plan.check {
        true => "each received once, correctly",
        false => "none is missing",
    };
    let sent = grouped(sent);
    Some(format!("Counted at both ends: {sent} bytes, {compared}."))
}

/// That what was received of a raw stream is right.
pub(super) fn matches(plan: &StreamPlan, rows: &[Row<'_>]) -> Option<String> {
    let flows = rows.iter().map(|(_, flow)| flow);
    let checked = flows.filter_map(|flow| Some((flow, flow.jumps?)));
    let (mut bytes, mut wrong) = (0, 0);
    for (flow, jumps) in checked {
        bytes += flow.counts.received.unwrap_or(0);
        wrong += jumps + flow.counts.corrupted;
    }
    let pattern = plan.pattern.filter(|_| bytes > 0 && wrong == 0)?;
    let (bytes, pattern) = (grouped(bytes), pattern.name());
    Some(format!("all {bytes} bytes received match {pattern}"))
}

/// Every table that has something to say.
pub(super) fn tables(rows: &[Row<'_>], places: &Places) -> Vec<Table> {
    let mut tables = vec![rates(rows, places), gaps(rows, places)];
    tables.extend(interference(rows));
    tables.extend(damage(rows, places));
    tables.extend(buffers(rows, places));
    tables
}

fn rates(rows: &[Row<'_>], places: &Places) -> Table {
    let unit = unit_of(rows);
    let title = match limit_of(rows) {
        Some(limit) => format!("Rates; {limit}"),
        None => "Rates".to_owned(),
    };
    let by_device = |flow: &FlowSummary| flow.device?.bytes_s();
    let mut columns = Columns::<Row<'_>>::new();
    columns.add("transfers", |(_, flow)| grouped(flow.transfers));
    columns.some(unit.name(), |(_, flow)| Some(unit.show(flow.rate?.value)));
    columns.some("95 % CI", |(_, flow)| {
        Some(half_width(unit, flow.rate.as_ref()?))
    });
    if rows.iter().any(|(_, flow)| flow.limit.is_some()) {
        columns.add("% of limit", |row| share_of_limit(&row));
    }
    if rows.iter().any(|(_, flow)| by_device(flow).is_some()) {
        columns.some("by device", |(_, flow)| Some(unit.show(by_device(flow)?)));
    }
    columns.add("achieved queue", |(_, flow)| {
        format!("{:.2}", flow.achieved_queue)
    });
    columns.add("CPU us/MB", |(_, flow)| {
        grouped((flow.cpu_ns_per_mb / 1e3).round() as u64)
    });
    columns.table(title, places, rows.iter().copied())
}

/// The limit in words; with both directions of a shared medium, that it is for both together.
pub(super) fn limit_of(rows: &[Row<'_>]) -> Option<String> {
    let limit = rows.iter().find_map(|(_, flow)| flow.limit.as_ref())?;
    let unit = unit_of(rows);
    let together = rows.iter().any(|(point, flow)| {
        point.flows.len() > 1 && flow.limit.as_ref().is_some_and(|limit| limit.shared)
    });
    let whose = if together {
        " for IN + OUT together"
    } else {
        ""
    };
    Some(format!(
        "limit: {} {}{whose} ({})",
        unit.show(limit.bytes_s),
        unit.name(),
        limit.source
    ))
}

/// The share of the limit that a row used: never more than all of it.
fn share_of_limit(row: &Row<'_>) -> String {
    let share = LimitShare::of(row).and_then(|share| share.shown());
    share.map_or_else(|| "-".to_owned(), percent)
}

/// NAKs a second.
pub(super) fn naks_s(bus: &BusCount) -> String {
    grouped(bus.naks_s().round() as u64)
}

/// What links that run at once cost each other.
fn interference(rows: &[Row<'_>]) -> Option<Table> {
    let is_together = |(point, _): &Row<'_>| point.point.together;
    let (together, alone): (Vec<Row<'_>>, Vec<Row<'_>>) =
        rows.iter().copied().partition(is_together);
    together.first()?;
    let unit = unit_of(rows);
    let cell = |(summary, flow): &Row<'_>| {
        let point = summary.point;
        (point.direction, point.transfer_bytes, point.queue, flow.way)
    };
    let rate = |(_, flow): &Row<'_>| Some(flow.rate.as_ref()?.value);
    // Beside a row the rate of its link alone, and that of all links together.
    let compared = together.iter().map(|row| {
        let is_same = |other: &&Row<'_>| cell(other) == cell(row);
        let mut same = alone.iter().filter(is_same);
        let own = same.find(|other| other.0.point.link == row.0.point.link);
        let sum: f64 = together.iter().filter(is_same).filter_map(rate).sum();
        (*row, (own.and_then(rate), sum))
    });
    let mut columns = Columns::<(Row<'_>, (Option<f64>, f64))>::new();
    columns.add("link", |((p, _), _)| p.point.link);
    columns.add("direction", |((p, flow), _)| {
        p.point.direction.words_of(flow.way)
    });
    columns.add("transfer B", |((p, _), _)| p.point.transfer_bytes);
    columns.add("queue", |((p, _), _)| p.point.queue);
    columns.some("alone", |(_, (alone, _))| Some(unit.show(alone?)));
    columns.some("together", |(row, _)| Some(unit.show(rate(&row)?)));
    columns.some("ratio", |(row, (alone, _))| {
        let alone = alone.filter(|rate| *rate > 0.0)?;
        Some(format!("{:.2}", rate(&row)? / alone))
    });
    columns.add("sum together", |(_, (_, sum))| unit.show(sum));
    let title = format!("Links alone and together, in {}", unit.name());
    Some(columns.of_rows(title, compared))
}

fn gaps(rows: &[Row<'_>], places: &Places) -> Table {
    let unit = typical_gap(rows);
    let title = format!(
        "Times in {}: gap between completions, gap in the host between two transfers, transfer",
        unit.name()
    );
    let mut columns = Columns::<Row<'_>>::new();
    let of = |head| [under(head, P50), P99, MAX];
    columns.statistics(unit, |(_, flow)| flow.gap.as_ref(), &of("gap p50"));
    columns.statistics(
        unit,
        |(_, flow)| flow.host_gap.as_ref(),
        &of("host gap p50"),
    );
    let transfer = [under("transfer p50", P50), P99];
    columns.statistics(unit, |(_, flow)| flow.transfer_time.as_ref(), &transfer);
    columns.table(title, places, rows.iter().copied())
}

/// The unit in which most gaps read well.
pub(super) fn typical_gap(rows: &[Row<'_>]) -> TimeUnit {
    let gaps = rows.iter().filter_map(|(_, flow)| flow.gap.as_ref());
    TimeUnit::of_median(gaps.map(|gap| gap.p50.value))
}

/// Bytes that are known to be lost; `None` where only the device could know.
pub(super) fn lost(flow: &FlowSummary) -> Option<u64> {
    let counts = &flow.counts;
    // Version 0.1 stored 0 for what an unreported stream to the device lost.
    let old = flow.device.is_none() && counts.sent > Some(0) && counts.received == Some(0);
    counts.lost.filter(|_| flow.way == Way::In || !old)
}

/// A number of bytes, or that it is not known.
pub(super) fn known(bytes: Option<u64>) -> String {
    bytes.map_or("not known".into(), grouped)
}

fn damage(rows: &[Row<'_>], places: &Places) -> Option<Table> {
    let jumps = |flow: &FlowSummary| flow.jumps.unwrap_or(0) > 0;
    let hurt = |(_, flow): &Row<'_>| flow.counts.is_damaged() || jumps(flow) || flow.stalls > 0;
    rows.iter().find(|row| hurt(row))?;
    type Bytes = (&'static str, fn(&FlowSummary) -> Option<u64>);
    let counts: [Bytes; 6] = [
        ("sent", |flow| flow.counts.sent),
        ("received", |flow| flow.counts.received),
        ("lost", lost),
        ("duplicated", |flow| {
            flow.counts.received.and(Some(flow.counts.duplicated))
        }),
        ("corrupted", |flow| {
            flow.counts.received.and(Some(flow.counts.corrupted))
        }),
        ("stray", |flow| {
            flow.counts.received.and(Some(flow.counts.stray))
        }),
    ];
    let mut columns = Columns::<Row<'_>>::new();
    for (head, bytes) in counts {
        columns.add(head, move |(_, flow)| known(bytes(flow)));
    }
    columns.add("stalls", |(_, flow)| grouped(flow.stalls));
    if rows.iter().any(|(_, flow)| flow.jumps.is_some()) {
        columns.add("jumps", |(_, flow)| known(flow.jumps));
    }
    let title = "Byte errors (only rows that have some)";
    let hurt = rows.iter().copied().filter(hurt);
    Some(columns.table(title, places, hurt))
}

pub(super) fn buffers(rows: &[Row<'_>], places: &Places) -> Option<Table> {
    let unit = unit_of(rows);
    let needs = rows.iter();
    let needs = needs.flat_map(|row| row.1.buffers.iter().map(move |need| (*row, need)));
    let needs: Vec<(Row<'_>, &BufferNeed)> = needs.collect();
    let loss = needs.first()?.1.loss;
    let takes = needs.iter();
    let takes = takes.filter_map(|(row, need)| enough(row, need));
    let takes = match takes.max() {
        Some(enough) => enough.to_string(),
        None if needs
            .iter()
            .any(|(row, need)| lost_more(row, need).is_some()) =>
        {
            "a link that loses less".to_owned()
        }
        None => "a longer --duration".to_owned(),
    };
    let bytes = |bytes: f64| grouped(bytes.round() as u64);
    let bound = |bound: Option<f64>| bound.map_or("?".into(), bytes);
    let mut columns = Columns::<(Row<'_>, &BufferNeed)>::new();
    columns.add("rate", |(_, need)| {
        format!("{} {}", unit.show(need.rate_bytes_s as f64), unit.name())
    });
    columns.add("largest backlog", |(_, need)| match need.sustained {
        true => grouped(need.worst_bytes),
        false => "not carried".into(),
    });
    columns.some(format!("buffer for loss {loss:e}"), |(row, need)| {
        let known = for_loss(need).filter(|_| lost_more(&row, need).is_none());
        let found = known.unwrap_or("unknown".into());
        need.sustained.then_some(found)
    });
    columns.some("95 % CI", |(row, need)| {
        let is_known = need.sustained && lost_more(&row, need).is_none();
        let found = need.for_loss_bytes.filter(|_| is_known)?;
        Some(format!("{} .. {}", bound(found.low), bound(found.high)))
    });
    columns.some("smallest loss supported", |(_, need)| {
        // None where that is most of the transfers.
        (need.observable_loss < 0.5).then(|| one_in(need.observable_loss))
    });
    let title = format!(
        "Buffer that the device needs at a constant rate, in bytes: largest backlog of this run, and for a \
         loss probability of {loss:e}, {} transfers (~: extrapolated beyond this run; unknown: takes {takes})",
        one_in(loss)
    );
    Some(columns.table(title, places, needs))
}

/// The length of a run that would support a loss probability.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Enough {
    seconds: u64,
    transfers: u64,
}

/// `4,700,000 transfers: --duration 1900s`.
impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transfers = grouped(self.transfers);
        write!(f, "{transfers} transfers: --duration {}s", self.seconds)
    }
}

/// What would support the loss probability, if transfers are as independent as those of this run; `None` if this run
/// supports none or does not carry the rate, or if transfers alone do not help.
pub(super) fn enough(row: &Row<'_>, need: &BufferNeed) -> Option<Enough> {
    let (point, flow) = row;
    if lost_more(row, need).is_some() {
        return None;
    }
    let is_unknown = need.sustained && need.for_loss_bytes.is_none();
    let more = need.observable_loss / need.loss;
    let is_known = need.observable_loss < 0.5 && more > 1.0;
    (is_unknown && is_known).then(|| Enough {
        seconds: rounded_up(point.elapsed_ns as f64 / 1e9 * more),
        transfers: rounded_up(flow.transfers as f64 * more),
    })
}

/// The part of the bytes that was lost, where that is more than the loss probability: the gaps show no buffer that would
/// lose less.
pub(super) fn lost_more((_, flow): &Row<'_>, need: &BufferNeed) -> Option<f64> {
    let all = flow.counts.counted().max(1);
    let part = lost(flow)? as f64 / all as f64;
    (part > need.loss).then_some(part)
}

/// Bytes of the buffer for the loss probability, with `~` if they are extrapolated; `None` if they are unknown.
pub(super) fn for_loss(need: &BufferNeed) -> Option<String> {
    let bytes = grouped(need.for_loss_bytes?.value.round() as u64);
    let mark = if need.extrapolated { "~" } else { "" };
    Some(format!("{mark}{bytes}"))
}

/// The unit in which the fastest row reads well.
pub(super) fn unit_of(rows: &[Row<'_>]) -> RateUnit {
    let rates = rows.iter().filter_map(|(_, flow)| flow.rate.as_ref());
    RateUnit::fitting(rates.map(|rate| rate.value).fold(0.0, f64::max))
}

pub(super) fn half_width(unit: RateUnit, rate: &Estimate) -> String {
    around(|bytes_s| unit.show(bytes_s), rate)
}
