//! A stream run in one table and one sentence.

use super::{Brief, Rated, Used, Wide, is_sure, of_limits, saturation, sentence};
use crate::tables::flow_rows::Row;
use crate::tables::isochronous;
use crate::tables::limit_share::LimitShare;
use crate::tables::percentile::{bounded, range};
use crate::tables::places::Places;
use crate::tables::recording;
use crate::tables::stream::{
    buffers, columns, half_width, known, limit_of, lost, matches, naks_s, point_cells,
    share_of_limit, typical_gap, unit_of,
};
use crate::tables::table::Table;
use wiregauge_quantity::{grouped, percent};
use wiregauge_record::{FlowSummary, StreamPlan, StreamPoint, Way};

/// Columns of isochronous packets that only `--full` has.
const LEFT_OUT_OF_PACKETS: &[&str] = &["max", "jitter p50", "skipped"];

/// One table and one sentence; and the buffers, which --rate requested.
pub(in crate::tables) fn of_stream(plan: &StreamPlan, rows: &[Row<'_>]) -> Brief {
    let places = Places::of_rows(rows);
    let labels = (0..).zip(rows).map(|(at, _)| places.whole(at));
    let rates = Wide {
        table: table(rows),
        settings: columns(rows, &[]).len(),
        labels: labels.collect(),
    };
    let packets = isochronous::table(rows).map(|table| table.without(LEFT_OUT_OF_PACKETS));
    let others = packets.into_iter().chain(buffers(rows));
    Brief {
        answer: sentence(&answer(plan, rows)),
        tables: std::iter::once(rates)
            .chain(others.map(Wide::from))
            .collect(),
    }
}

fn table(rows: &[Row<'_>]) -> Table {
    let (unit, gap_unit) = (unit_of(rows), typical_gap(rows));
    let limit = limit_of(rows);
    let mut title = format!("Rates; gap between completions in {}", gap_unit.name());
    let mut heads = columns(rows, &[unit.name(), "95 % CI", "lost B", "gap p99"]);
    if let Some(limit) = &limit {
        title += &format!("; {limit}");
        heads.push("% of limit");
    }
    let bus = |row: &Row<'_>| row.1.device.and_then(|device| device.bus);
    let is_modelled = rows.iter().any(|row| bus(row).is_some());
    if is_modelled {
        title += "; modelled bus: NAKs, time in which the device was not ready, time of the packets on the bus";
        heads.extend(["NAKs/s", "not ready", "on bus"]);
    }
    let mut table = Table::new(title, &heads);
    for row in rows {
        let flow = row.1;
        let mut cells = point_cells(rows, row);
        match &flow.rate {
            Some(rate) => cells.extend([unit.show(rate.value), half_width(unit, rate)]),
            None => cells.extend(["-".to_owned(), "-".to_owned()]),
        }
        cells.push(known(lost(flow)));
        let gap = flow.gap.as_ref();
        cells.push(gap.map_or("-".into(), |gap| bounded(gap_unit, &gap.p99)));
        if limit.is_some() {
            cells.push(share_of_limit(row));
        }
        if is_modelled {
            cells.extend(bus(row).map_or_else(
                || vec!["-".to_owned(); 3],
                |bus| {
                    let share = |ns| percent(bus.share(ns));
                    vec![naks_s(&bus), share(bus.not_ready_ns), share(bus.packets_ns)]
                },
            ));
        }
        table.row(cells);
    }
    table
}

fn answer(plan: &StreamPlan, rows: &[Row<'_>]) -> String {
    if rows.is_empty() {
        return "no point was finished".into();
    }
    let mut parts = Vec::new();
    for way in [Way::In, Way::Out] {
        parts.extend(fastest(plan, rows, way));
    }
    // A share that cannot be shown is more than all of the limit.
    let used = rows.iter().map(|row| Used {
        link: row.0.point.link,
        limit: row.1.limit.as_ref().map(|limit| limit.bytes_s),
        used: LimitShare::of(row).map_or(0.0, |share| share.shown().unwrap_or(f64::INFINITY)),
    });
    parts.extend(of_limits(&used.collect::<Vec<_>>()));
    let unit = typical_gap(rows);
    let gaps = rows
        .iter()
        .filter_map(|(_, flow)| Some(&flow.gap.as_ref()?.p99));
    parts.extend(range("gap p99", unit, gaps));
    let packets = isochronous::sentence(rows);
    let jumped = |row: &Row<'_>| row.1.jumps.unwrap_or(0) > 0;
    if packets.is_none() || rows.iter().any(jumped) {
        parts.push(arrived(rows));
    }
    parts.extend(packets);
    parts.extend(matches(plan, rows));
    parts.extend(recording::sentence(rows));
    parts.join("; ")
}

/// The fastest row of a direction, and from which queue on its transfers are as fast.
fn fastest(plan: &StreamPlan, rows: &[Row<'_>], way: Way) -> Vec<String> {
    let rate = |flow: &FlowSummary| flow.rate.as_ref().map(|rate| rate.value);
    let rated = (0..).zip(rows).filter_map(|(at, row)| {
        let of_way = row.1.way == way;
        Some((at, row, rate(row.1).filter(|_| of_way)?))
    });
    let Some((at, best, most)) = rated.max_by(|a, b| a.2.total_cmp(&b.2)) else {
        return Vec::new();
    };
    let unit = unit_of(rows);
    let mut text = format!(
        "{} {} {}",
        way.name().to_uppercase(),
        unit.show(most),
        unit.name()
    );
    let (of, point) = (rows.iter().filter(|row| row.1.way == way), best.0.point);
    if of.clone().count() > 1 {
        text += &Places::of_rows(rows).bracketed(&[at]);
    }
    let same = |other: &StreamPoint| {
        let links = other.link == point.link && other.together == point.together;
        links && other.direction == point.direction && other.transfer_bytes == point.transfer_bytes
    };
    let planned = plan.points.iter().filter(|point| same(point));
    let planned = planned.map(|point| point.index);
    let here = of.filter(|row| same(&row.0.point));
    let saturation = saturation("queue", planned, here.map(self::rated).collect());
    [Some(text), saturation].into_iter().flatten().collect()
}

fn rated((summary, flow): &Row<'_>) -> Rated {
    Rated {
        index: summary.point.index,
        setting: summary.point.queue,
        rate: flow.rate.map(|rate| rate.value),
        is_sure: is_sure(&summary.ending, flow.rate.as_ref(), flow.transfers),
    }
}

/// What became of the bytes.
fn arrived(rows: &[Row<'_>]) -> String {
    let sum = |of: fn(&FlowSummary) -> u64| -> u64 { rows.iter().map(|(_, flow)| of(flow)).sum() };
    let counted = sum(|flow| flow.counts.counted());
    let (wrong, jumps) = (
        sum(|flow| flow.counts.wrong()),
        sum(|flow| flow.jumps.unwrap_or(0)),
    );
    let mut text = match rows.iter().map(|(_, flow)| lost(flow)).sum::<Option<u64>>() {
        None => "number of lost bytes not known".into(),
        Some(0) => "0 bytes lost".into(),
        Some(lost) => format!("{} of {} bytes lost", grouped(lost), grouped(counted)),
    };
    if jumps > 0 {
        text += &format!(", {} jumps in the pattern", grouped(jumps));
    }
    if wrong > 0 {
        text += &format!(", {} duplicated, corrupted or stray", grouped(wrong));
    }
    text
}
