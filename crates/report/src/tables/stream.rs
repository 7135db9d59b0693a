//! A stream run as tables: what passes each way, how evenly, and the buffer that a device needs for
//! it.

use super::flow_rows::{Row, number};
use super::limit_share::LimitShare;
use super::percentile::{around, bounded};
use super::places::Places;
use super::table::Table;
use wiregauge_quantity::{RateUnit, TimeUnit, grouped, one_in, percent};
use wiregauge_record::{BufferNeed, BusCount, FlowSummary, StreamPlan, StreamProtocol, Way};
use wiregauge_run::{RunFile, Stream};
use wiregauge_stats::{Distribution, Estimate};

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
    tables.extend(modelled_bus(rows, places));
    tables.extend(interference(rows));
    tables.extend(damage(rows, places));
    tables.extend(buffers(rows, places));
    tables
}

fn rates(rows: &[Row<'_>], places: &Places) -> Table {
    let unit = unit_of(rows);
    let limit = rows.iter().find_map(|(_, flow)| flow.limit.as_ref());
    let title = match limit_of(rows) {
        Some(limit) => format!("Rates; {limit}"),
        None => "Rates".to_owned(),
    };
    let by_device = |flow: &FlowSummary| flow.device?.bytes_s();
    let has_clock = rows.iter().any(|(_, flow)| by_device(flow).is_some());
    let mut names = places.heads_and(&["transfers", unit.name(), "95 % CI"]);
    names.extend(limit.map(|_| "% of limit"));
    names.extend(has_clock.then_some("by device"));
    names.extend(["achieved queue", "CPU us/MB"]);
    let mut table = Table::new(title, &names);
    for row in rows {
        let flow = row.1;
        let mut cells = places.cells(number(row));
        cells.push(grouped(flow.transfers));
        match &flow.rate {
            Some(rate) => cells.extend([unit.show(rate.value), half_width(unit, rate)]),
            None => cells.extend(["-".to_owned(), "-".to_owned()]),
        }
        if limit.is_some() {
            cells.push(share_of_limit(row));
        }
        if has_clock {
            cells.push(by_device(flow).map_or("-".to_owned(), |rate| unit.show(rate)));
        }
        cells.push(format!("{:.2}", flow.achieved_queue));
        cells.push(grouped((flow.cpu_ns_per_mb / 1e3).round() as u64));
        table.row(cells);
    }
    table
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
pub(super) fn share_of_limit(row: &Row<'_>) -> String {
    let share = LimitShare::of(row).and_then(|share| share.shown());
    share.map_or_else(|| "-".to_owned(), percent)
}

/// The packets on the bus, where the device models it and reports them.
fn modelled_bus(rows: &[Row<'_>], places: &Places) -> Option<Table> {
    let count = |row: &Row<'_>| row.1.device.and_then(|device| device.bus);
    rows.iter().find_map(count)?;
    let mut table = Table::new(
        "Modelled bus, as the device counted: packets and NAKs of the endpoint, and shares of the time",
        &places.heads_and(&[
            "packets",
            "NAKs",
            "NAKs/s",
            "not ready",
            "packets on bus",
            "NAKs on bus",
            "others on bus",
        ]),
    );
    for row in rows {
        let mut cells = places.cells(number(row));
        match count(row) {
            Some(bus) => cells.extend(bus_cells(&bus)),
            None => cells.extend(vec!["-".to_owned(); 7]),
        }
        table.row(cells);
    }
    Some(table)
}

fn bus_cells(bus: &BusCount) -> [String; 7] {
    let share = |busy_ns| percent(bus.share(busy_ns));
    [
        grouped(bus.packets),
        grouped(bus.naks),
        naks_s(bus),
        share(bus.not_ready_ns),
        share(bus.packets_ns),
        share(bus.naks_ns),
        share(bus.others_ns),
    ]
}

/// NAKs a second.
pub(super) fn naks_s(bus: &BusCount) -> String {
    grouped(bus.naks_s().round() as u64)
}

/// What links that run at once cost each other.
fn interference(rows: &[Row<'_>]) -> Option<Table> {
    let alone: Vec<&Row<'_>> = rows.iter().filter(|(p, _)| !p.point.together).collect();
    let together: Vec<&Row<'_>> = rows.iter().filter(|(p, _)| p.point.together).collect();
    together.first()?;
    let unit = unit_of(rows);
    let cell = |row: &Row<'_>| {
        let point = row.0.point;
        (
            point.direction,
            point.transfer_bytes,
            point.queue,
            row.1.way,
        )
    };
    let rate = |row: &Row<'_>| row.1.rate.as_ref().map(|rate| rate.value);
    let mut table = Table::new(
        format!("Links alone and together, in {}", unit.name()),
        &[
            "link",
            "direction",
            "transfer B",
            "queue",
            "alone",
            "together",
            "ratio",
            "sum together",
        ],
    );
    for row in &together {
        let own = alone
            .iter()
            .find(|other| cell(other) == cell(row) && other.0.point.link == row.0.point.link);
        let before = own.and_then(|own| rate(own));
        let sum: f64 = together
            .iter()
            .filter(|other| cell(other) == cell(row))
            .filter_map(|other| rate(other))
            .sum();
        let show = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| unit.show(rate));
        let ratio = before.zip(rate(row)).filter(|(before, _)| *before > 0.0);
        table.row(vec![
            row.0.point.link.to_string(),
            row.0.point.direction.words_of(row.1.way).to_owned(),
            row.0.point.transfer_bytes.to_string(),
            row.0.point.queue.to_string(),
            show(before),
            show(rate(row)),
            ratio.map_or("-".to_owned(), |(before, now)| {
                format!("{:.2}", now / before)
            }),
            unit.show(sum),
        ]);
    }
    Some(table)
}

fn gaps(rows: &[Row<'_>], places: &Places) -> Table {
    let unit = typical_gap(rows);
    let mut table = Table::new(
        format!(
            "Times in {}: gap between completions, gap in the host between two transfers, transfer",
            unit.name()
        ),
        &places.heads_and(&[
            "gap p50",
            "p99",
            "max",
            "host gap p50",
            "p99",
            "max",
            "transfer p50",
            "p99",
        ]),
    );
    for row in rows {
        let flow = row.1;
        let mut cells = places.cells(number(row));
        let mut add = |times: &Option<Distribution>, with_max: bool| match times {
            Some(times) => {
                cells.extend([bounded(unit, &times.p50), bounded(unit, &times.p99)]);
                cells.extend(with_max.then(|| unit.show(times.max)));
            }
            None => cells.extend(vec!["-".to_owned(); 2 + usize::from(with_max)]),
        };
        add(&flow.gap, true);
        add(&flow.host_gap, true);
        add(&flow.transfer_time, false);
        table.row(cells);
    }
    table
}

/// The unit in which most gaps read well.
pub(super) fn typical_gap(rows: &[Row<'_>]) -> TimeUnit {
    let gaps = rows.iter().filter_map(|(_, flow)| flow.gap.as_ref());
    let mut medians: Vec<f64> = gaps.map(|gap| gap.p50.value).collect();
    medians.sort_by(f64::total_cmp);
    TimeUnit::fitting(medians.get(medians.len() / 2).copied().unwrap_or(0.0))
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
    let hurt = |flow: &FlowSummary| flow.counts.is_damaged() || jumps(flow) || flow.stalls > 0;
    rows.iter().find(|(_, flow)| hurt(flow))?;
    let with_jumps = rows.iter().any(|(_, flow)| flow.jumps.is_some());
    let mut names = vec![
        "sent",
        "received",
        "lost",
        "duplicated",
        "corrupted",
        "stray",
        "stalls",
    ];
    names.extend(with_jumps.then_some("jumps"));
    let mut table = Table::new(
        "Byte errors (only rows that have some)",
        &places.heads_and(&names),
    );
    for row in rows.iter().filter(|(_, flow)| hurt(flow)) {
        let (counts, flow) = (&row.1.counts, row.1);
        let mut cells = places.cells(number(row));
        let is_known = counts.received.is_some();
        let found = [
            counts.sent,
            counts.received,
            lost(flow),
            Some(counts.duplicated).filter(|_| is_known),
            Some(counts.corrupted).filter(|_| is_known),
            Some(counts.stray).filter(|_| is_known),
            Some(flow.stalls),
        ];
        cells.extend(found.map(known));
        cells.extend(with_jumps.then(|| known(flow.jumps)));
        table.row(cells);
    }
    Some(table)
}

pub(super) fn buffers(rows: &[Row<'_>], places: &Places) -> Option<Table> {
    let unit = unit_of(rows);
    let (_, flow) = rows.iter().find(|(_, flow)| !flow.buffers.is_empty())?;
    let loss = flow.buffers[0].loss;
    let for_loss = format!("buffer for loss {loss:e}");
    let mut names: Vec<&str> = places.heads_and(&["rate", "largest backlog"]);
    names.extend([for_loss.as_str(), "95 % CI", "smallest loss supported"]);
    let mut table = Table::new(
        format!(
            "Buffer that the device needs at a constant rate, in bytes: largest backlog of this run, and for a \
             loss probability of {loss:e}, {} transfers (~: extrapolated beyond this run; unknown: try a longer \
             --duration)",
            one_in(loss)
        ),
        &names,
    );
    for row in rows {
        for need in &row.1.buffers {
            let mut cells = places.cells(number(row));
            let rate = need.rate_bytes_s as f64;
            cells.push(format!("{} {}", unit.show(rate), unit.name()));
            cells.extend(buffer_cells(need));
            cells.push(supported(need.observable_loss));
            table.row(cells);
        }
    }
    Some(table)
}

/// The smallest loss that a run supports; none where that is most of the transfers.
fn supported(loss: f64) -> String {
    match loss < 0.5 {
        true => one_in(loss),
        false => "-".into(),
    }
}

fn buffer_cells(need: &BufferNeed) -> [String; 3] {
    if !need.sustained {
        return ["not carried".into(), "-".into(), "-".into()];
    }
    let bytes = |bytes: f64| grouped(bytes.round() as u64);
    let bound = |bound: Option<f64>| bound.map_or("?".into(), bytes);
    match &need.for_loss_bytes {
        Some(estimate) => [
            grouped(need.worst_bytes),
            format!(
                "{}{}",
                if need.extrapolated { "~" } else { "" },
                bytes(estimate.value)
            ),
            format!("{} .. {}", bound(estimate.low), bound(estimate.high)),
        ],
        None => [grouped(need.worst_bytes), "unknown".into(), "-".into()],
    }
}

/// The unit in which the fastest row reads well.
pub(super) fn unit_of(rows: &[Row<'_>]) -> RateUnit {
    let rates = rows.iter().filter_map(|(_, flow)| flow.rate.as_ref());
    RateUnit::fitting(rates.map(|rate| rate.value).fold(0.0, f64::max))
}

pub(super) fn half_width(unit: RateUnit, rate: &Estimate) -> String {
    around(|bytes_s| unit.show(bytes_s), rate)
}
