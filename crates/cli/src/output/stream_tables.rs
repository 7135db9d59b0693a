//! A stream run as aligned tables: what passes each way, how evenly, and the buffer that a device
//! needs for it.

use super::style::{CAUTION, HEADING, RESET};
use super::tables::Titled;
use super::units::{TimeUnit, grouped, percent, time};
use crate::args::Look;
use crate::commands::printed;
use std::io::Write;
use wiregauge_record::{BufferNeed, FlowSummary, StreamPoint, StreamSummary};
use wiregauge_run::{RunFile, State, Stream};
use wiregauge_stats::{Distribution, Estimate};

/// Prints a run to standard output.
pub fn print(file: &RunFile<Stream>, look: Look) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    if look.json {
        return printed::json(&mut out, file);
    }
    if !look.quiet {
        let plan = &file.plan;
        write!(out, "{HEADING}{}{RESET}", plan.address)?;
        for (at, link) in plan.more_links.iter().enumerate() {
            write!(out, ", {} {link}", at + 1)?;
        }
        writeln!(
            out,
            ", {} a point after {} of start-up",
            time(plan.duration_ns as f64),
            time(plan.settle_ns as f64)
        )?;
    }
    for table in of_run(&file.points) {
        writeln!(out, "\n{HEADING}{}{RESET}", table.title)?;
        write!(out, "{}", table.text())?;
    }
    for text in &file.warnings {
        writeln!(out, "\n{CAUTION}warning:{RESET} {text}")?;
    }
    if let State::Failed { error } = &file.state {
        writeln!(out, "\n{CAUTION}the run failed:{RESET} {error}")?;
    }
    out.flush()?;
    Ok(())
}

/// Every table that has something to say.
pub fn of_run(points: &[StreamSummary]) -> Vec<Titled> {
    let mut tables = vec![rates(points), gaps(points)];
    tables.extend(damage(points));
    tables.extend(buffers(points));
    tables
}

/// One row for each way of each point.
fn rows(points: &[StreamSummary]) -> impl Iterator<Item = (StreamPoint, &FlowSummary)> {
    let flows = |point: &'_ StreamSummary| point.point;
    points
        .iter()
        .flat_map(move |point| point.flows.iter().map(move |flow| (flows(point), flow)))
}

fn columns(points: &[StreamSummary], rest: &[&'static str]) -> Vec<&'static str> {
    let link: &[&str] = if several_links(points) {
        &["link"]
    } else {
        &[]
    };
    let point = ["way", "transfer B", "queue"];
    link.iter().chain(&point).chain(rest).copied().collect()
}

fn several_links(points: &[StreamSummary]) -> bool {
    points.iter().any(|p| p.point.link > 0 || p.point.together)
}

fn point_cells(points: &[StreamSummary], point: StreamPoint, flow: &FlowSummary) -> Vec<String> {
    let mut cells = Vec::new();
    if several_links(points) {
        let how = if point.together { "together" } else { "alone" };
        cells.push(format!("{} {how}", point.link));
    }
    cells.extend([
        flow.way.name().to_owned(),
        point.transfer_bytes.to_string(),
        point.queue.to_string(),
    ]);
    cells
}

fn rates(points: &[StreamSummary]) -> Titled {
    let limit = rows(points).find_map(|(_, flow)| flow.limit.as_ref());
    let title = match limit {
        Some(limit) => format!(
            "Rates; the limit is {:.3} MB/s ({})",
            limit.bytes_s / 1e6,
            limit.source
        ),
        None => "Rates".to_owned(),
    };
    let mut names = columns(points, &["transfers", "MB/s", "95 %"]);
    if limit.is_some() {
        names.push("of limit");
    }
    names.extend(["achieved queue", "CPU us/MB"]);
    let mut table = Titled::new(title, &names);
    for (point, flow) in rows(points) {
        let mut cells = point_cells(points, point, flow);
        cells.push(grouped(flow.transfers));
        match &flow.rate {
            Some(rate) => cells.extend([megabytes(rate.value), half_width(rate)]),
            None => cells.extend(["-".to_owned(), "-".to_owned()]),
        }
        if limit.is_some() {
            let used = flow.limit.as_ref().map(|limit| percent(limit.used));
            cells.push(used.unwrap_or_else(|| "-".to_owned()));
        }
        cells.push(format!("{:.2}", flow.achieved_queue));
        cells.push(format!("{:.1}", flow.cpu_ns_per_mb / 1e3));
        table.row(cells);
    }
    table
}

fn gaps(points: &[StreamSummary]) -> Titled {
    let mut medians: Vec<f64> = rows(points)
        .filter_map(|(_, flow)| Some(flow.gap.as_ref()?.p50.value))
        .collect();
    medians.sort_by(f64::total_cmp);
    let unit = TimeUnit::fitting(medians.get(medians.len() / 2).copied().unwrap_or(0.0));
    let mut table = Titled::new(
        format!(
            "Times in {}: from completion to completion, in the host between two transfers, of a \
             transfer",
            unit.name()
        ),
        &columns(
            points,
            &[
                "gap p50",
                "p99",
                "max",
                "host gap p50",
                "p99",
                "max",
                "transfer p50",
                "p99",
            ],
        ),
    );
    let quantile = |estimate: &Estimate| {
        let mark = if estimate.high.is_none() { ">=" } else { "" };
        format!("{mark}{}", unit.show(estimate.value))
    };
    for (point, flow) in rows(points) {
        let mut cells = point_cells(points, point, flow);
        let mut add = |times: &Option<Distribution>, with_max: bool| match times {
            Some(times) => {
                cells.extend([quantile(&times.p50), quantile(&times.p99)]);
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

fn damage(points: &[StreamSummary]) -> Option<Titled> {
    let hurt = |flow: &FlowSummary| !flow.counts.is_clean() || flow.stalls > 0;
    rows(points).find(|(_, flow)| hurt(flow))?;
    let names = [
        "sent",
        "received",
        "lost",
        "duplicated",
        "corrupted",
        "stray",
        "stalls",
    ];
    let mut table = Titled::new(
        "Bytes that went wrong (what went right is left out)",
        &columns(points, &names),
    );
    for (point, flow) in rows(points).filter(|(_, flow)| hurt(flow)) {
        let counts = &flow.counts;
        let mut cells = point_cells(points, point, flow);
        cells.extend(
            [
                counts.sent,
                counts.received,
                counts.lost,
                counts.duplicated,
                counts.corrupted,
                counts.stray,
                flow.stalls,
            ]
            .map(grouped),
        );
        table.row(cells);
    }
    Some(table)
}

fn buffers(points: &[StreamSummary]) -> Option<Titled> {
    let (_, flow) = rows(points).find(|(_, flow)| !flow.buffers.is_empty())?;
    let loss = flow.buffers[0].loss;
    let mut table = Titled::new(
        format!(
            "Buffer that the device needs at a constant rate (~ reaches beyond this run), loss {loss}"
        ),
        &columns(points, &["at MB/s", "worst B", "for the loss B", "95 %"]),
    );
    for (point, flow) in rows(points) {
        for need in &flow.buffers {
            let mut cells = point_cells(points, point, flow);
            cells.push(megabytes(need.rate_bytes_s as f64));
            cells.extend(buffer_cells(need));
            table.row(cells);
        }
    }
    Some(table)
}

fn buffer_cells(need: &BufferNeed) -> [String; 3] {
    if !need.sustained {
        return ["link too slow".into(), "-".into(), "-".into()];
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
        None => [
            grouped(need.worst_bytes),
            "run too short".into(),
            "-".into(),
        ],
    }
}

fn megabytes(bytes_s: f64) -> String {
    let value = bytes_s / 1e6;
    let decimals = match value {
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        v if v >= 0.1 => 3,
        _ => 5,
    };
    format!("{value:.decimals$}")
}

fn half_width(rate: &Estimate) -> String {
    match (rate.low, rate.high) {
        (Some(low), Some(high)) => format!("+-{}", megabytes((high - low) / 2.0)),
        _ => "?".into(),
    }
}
