//! A stream run in one table and one sentence.

use super::{Brief, Rated, Wide, is_sure, saturation, sentence};
use crate::tables::arrival::{Arrival, is_shared};
use crate::tables::flow_rows::{Row, is_of, number};
use crate::tables::isochronous;
use crate::tables::limit_share::LimitShare;
use crate::tables::percentile::{Marks, marked, with_mark};
use crate::tables::places::Places;
use crate::tables::point_columns::dashes;
use crate::tables::recording;
use crate::tables::stream::{
    buffers, enough, for_loss, known, limit_of, lost, lost_more, matches, naks_s, typical_gap,
    unit_of,
};
use crate::tables::table::Table;
use wiregauge_quantity::{RateUnit, grouped, percent, time};
use wiregauge_record::{BufferNeed, FlowSummary, StreamPlan, StreamPoint, Way};

/// Columns of isochronous packets that only `--full` has.
const LEFT_OUT_OF_PACKETS: &[&str] = &["max", "jitter p50", "skipped"];

/// One table and one sentence; and the buffers, which --rate requested.
pub(in crate::tables) fn of_stream(plan: &StreamPlan, rows: &[Row<'_>], places: &Places) -> Brief {
    let rates = Wide::new(table(plan, rows, places), places, rows.iter().map(number));
    let packets = isochronous::table(rows, places);
    let packets = packets.map(|table| table.without(LEFT_OUT_OF_PACKETS));
    let others = packets.into_iter().chain(buffers(rows, places));
    Brief {
        answer: sentence(&answer(plan, rows, places)),
        tables: std::iter::once(rates)
            .chain(others.map(Wide::from))
            .collect(),
    }
}

fn table(plan: &StreamPlan, rows: &[Row<'_>], places: &Places) -> Table {
    let (unit, gap_unit) = (unit_of(rows), typical_gap(rows));
    let limit = limit_of(rows);
    let arrivals = rows.iter().map(|row| Arrival::of(plan, row));
    let arrivals: Vec<Option<Arrival>> = arrivals.collect();
    let sent_more = arrivals.iter().flatten().any(|one| one.sent.is_some());
    let mut title = match sent_more {
        true => "Rates at which bytes arrived (sent: at which this host sent them)".to_owned(),
        false => "Rates".to_owned(),
    };
    title += &format!("; gap between completions in {}", gap_unit.name());
    let mut heads = places.heads_and(&[unit.name()]);
    if sent_more {
        heads.push("sent");
    }
    heads.extend(["lost B", "gap p50", "p99", "max"]);
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
    let mut marks = Marks::default();
    for (row, arrival) in rows.iter().zip(&arrivals) {
        let flow = row.1;
        let mut cells = places.cells(number(row));
        cells.push(arrival.as_ref().map_or("-".into(), |arrival| {
            with_mark(unit.show(arrival.rate.value), &arrival.rate, &mut marks)
        }));
        if sent_more {
            let sent = arrival.and_then(|arrival| arrival.sent);
            cells.push(sent.map_or("-".into(), |sent| unit.show(sent)));
        }
        cells.push(known(lost(flow)));
        match &flow.gap {
            Some(gap) => cells.extend([
                marked(gap_unit, &gap.p50, &mut marks),
                marked(gap_unit, &gap.p99, &mut marks),
                gap_unit.show(gap.max),
            ]),
            None => cells.extend(dashes(3)),
        }
        if limit.is_some() {
            let share = arrival.and_then(|arrival| arrival.share_of_limit(row));
            cells.push(share.map_or("-".into(), percent));
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
    table.notes.extend(marks.note(None, false));
    table
}

fn answer(plan: &StreamPlan, rows: &[Row<'_>], places: &Places) -> String {
    if rows.is_empty() {
        return "no point was finished".into();
    }
    let mut parts = Vec::new();
    for way in [Way::In, Way::Out] {
        let places = &places.only(|flow| is_of(flow, way));
        parts.extend(match plan.rates_bytes_s.is_empty() {
            true => fastest(plan, rows, way, places),
            false => carried(plan, rows, way, places),
        });
    }
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

/// Of each --rate, the smallest buffer with which a flow of this direction carries it: that for the loss probability,
/// where it is known.
fn carried(plan: &StreamPlan, rows: &[Row<'_>], way: Way, places: &Places) -> Vec<String> {
    let of_way: Vec<&Row<'_>> = rows.iter().filter(|row| row.1.way == way).collect();
    let name = way.name().to_uppercase();
    let one = |rate: &u64| {
        let needs = of_way.iter().flat_map(|row| {
            let needs = row.1.buffers.iter().map(move |need| (*row, need));
            needs.filter(|(_, need)| need.rate_bytes_s == *rate)
        });
        let needs: Vec<(&Row<'_>, &BufferNeed)> = needs.collect();
        let rate = given(*rate);
        let carried = needs.iter().filter(|(_, need)| need.sustained);
        let bytes = |need: &BufferNeed| match need.for_loss_bytes {
            Some(found) => (false, found.value.round() as u64),
            None => (true, need.worst_bytes),
        };
        let Some((row, need)) = carried.min_by_key(|(_, need)| bytes(need)) else {
            let most = needs
                .iter()
                .filter_map(|(row, _)| Some((*row, Arrival::of(plan, row)?)));
            let most = most.max_by(|a, b| a.1.rate.value.total_cmp(&b.1.rate.value));
            let most = most.map_or(String::new(), |(row, arrival)| {
                let most = arrival.rate.value;
                let unit = RateUnit::fitting(most);
                let used = of_limit(row, &arrival);
                format!("{} {}{used}, ", unit.show(most), unit.name())
            });
            return (!needs.is_empty()).then(|| format!("{name} carried {most}less than {rate}"));
        };
        let place = match of_way.len() {
            1 => String::new(),
            _ => places.at(number(row)),
        };
        // Behind its writes, the buffers of a socket go on sending.
        let of_host = match way {
            Way::In => "",
            Way::Out => " between writes of the host",
        };
        let gap = row.1.gap.as_ref();
        let gap = gap.map_or_else(String::new, |gap| {
            format!(", longest gap{of_host} {}", time(gap.max))
        });
        let (loss, worst) = (need.loss, grouped(need.worst_bytes));
        if let Some(lost) = lost_more(row, need) {
            let lost = percent(lost);
            return Some(format!(
                "{name} at {rate}{place}: no buffer is known for a loss of {loss:e}, as {lost} of the bytes were lost{gap}, \
                 largest backlog {worst} B"
            ));
        }
        let (size, more) = match for_loss(need) {
            Some(bytes) => (
                format!("{bytes} B for a loss of {loss:e}"),
                format!(", largest backlog {worst} B"),
            ),
            None => {
                let takes = enough(row, need);
                let takes = takes.map_or(String::new(), |enough| format!(" (takes {enough})"));
                (
                    format!("at least {worst} B"),
                    format!(", for a loss of {loss:e} unknown{takes}"),
                )
            }
        };
        Some(format!(
            "{name} at {rate} needs a buffer of {size}{place}{gap}{more}"
        ))
    };
    plan.rates_bytes_s.iter().filter_map(one).collect()
}

/// `2 MB/s`: a rate as somebody gave it.
fn given(bytes_s: u64) -> String {
    let unit = RateUnit::fitting(bytes_s as f64);
    let shown = unit.show(bytes_s as f64);
    let shown = match shown.contains('.') {
        true => shown.trim_end_matches('0').trim_end_matches('.'),
        false => &shown,
    };
    format!("{shown} {}", unit.name())
}

/// The fastest row of a direction with its share of the limit, and from which queue on its transfers are as fast.
fn fastest(plan: &StreamPlan, rows: &[Row<'_>], way: Way, places: &Places) -> Vec<String> {
    let of_way = || rows.iter().filter(|row| row.1.way == way);
    let rated = of_way().filter_map(|row| Some((row, Arrival::of(plan, row)?)));
    let Some((best, most)) = rated.max_by(|a, b| a.1.rate.value.total_cmp(&b.1.rate.value)) else {
        return Vec::new();
    };
    let unit = unit_of(rows);
    let (name, arrived) = (way.name().to_uppercase(), unit.show(most.rate.value));
    let mut text = format!("{name} {arrived} {}", unit.name());
    if let Some(sent) = most.sent {
        text += &format!(" received of {} {} sent", unit.show(sent), unit.name());
    }
    text += &of_limit(best, &most);
    if of_way().count() > 1 {
        text += &places.bracketed(&[number(best)]);
    }
    let point = best.0.point;
    let same = |other: &StreamPoint| {
        let links = other.link == point.link && other.together == point.together;
        links && other.direction == point.direction && other.transfer_bytes == point.transfer_bytes
    };
    let planned = plan.points.iter().filter(|point| same(point));
    let planned = planned.map(|point| point.index);
    let here = of_way().filter(|row| same(&row.0.point));
    let here = here.map(|row| self::rated(plan, row));
    let saturation = saturation("queue", planned, here.collect());
    [Some(text), saturation].into_iter().flatten().collect()
}

/// `, 97 % of the limit`: of the rate that stands before it; nothing if the limit is unknown.
fn of_limit(row: &Row<'_>, arrival: &Arrival) -> String {
    let Some(share) = LimitShare::of(row) else {
        return String::new();
    };
    // The count of the device is no share of the host's rate.
    let by_host = arrival.sent.is_none() && share.is_host_proven_above();
    let used = arrival.share_of_limit(row).filter(|_| !by_host);
    let both = if is_shared(row) {
        " for IN + OUT together"
    } else {
        ""
    };
    match used {
        Some(used) => format!(", {} of the limit{both}", percent(used)),
        None => format!(", above the limit{both}, see the warnings"),
    }
}

fn rated(plan: &StreamPlan, row: &Row<'_>) -> Rated {
    let (summary, flow) = row;
    let rate = Arrival::of(plan, row).map(|arrival| arrival.rate);
    Rated {
        index: summary.point.index,
        setting: summary.point.queue,
        rate: rate.map(|rate| rate.value),
        is_sure: is_sure(&summary.ending, rate.as_ref(), flow.transfers),
    }
}

/// What became of the bytes.
fn arrived(rows: &[Row<'_>]) -> String {
    // What was counted was outside the measured part.
    if rows.iter().all(|(_, flow)| flow.transfers == 0) {
        return "no transfer was measured".into();
    }
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
