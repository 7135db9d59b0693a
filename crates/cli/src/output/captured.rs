//! What a capture of a USB bus says, as tables and sentences.

use super::style::{CAUTION, HEADING, RESET};
use std::io::{self, Write};
use textwrap::{Options, WordSplitter};
use wiregauge_capture::{Bus, Explained, Host, Judged, Speed, Times, UrbEndpoint, UrbType};
use wiregauge_quantity::{RateUnit, TimeUnit, percent_number};
use wiregauge_report::tables::Table;

/// Prints it.
pub fn print(out: &mut impl Write, explained: &Explained, width: usize) -> io::Result<()> {
    match explained {
        Explained::Bus(bus) => of_bus(out, bus, width),
        Explained::Urbs(host) => of_host(out, host, width),
    }
}

fn of_bus(out: &mut impl Write, bus: &Bus, width: usize) -> io::Result<()> {
    let speed = match bus.speed {
        Speed::Low => "low speed",
        Speed::Full => "full speed",
        Speed::High => "high speed",
    };
    let assumed = match bus.speed_assumed {
        true => " (concluded from the packets)",
        false => "",
    };
    let frames = match (bus.speed, bus.starts_of_frame) {
        (Speed::High, 1..) => "microframes",
        (Speed::High, 0) => "microframes of 125 us (no start of frame was captured)",
        (_, 0) => "frames of 1 ms (no start of frame was captured)",
        _ => "frames",
    };
    writeln!(
        out,
        "{} of a USB bus at {speed}{assumed}, {}, {:.6} s\n",
        counted(bus.packets, "packet"),
        match bus.frames {
            1 => format!("1 {}", frames.replacen("frames", "frame", 1)),
            many => format!("{many} {frames}"),
        },
        bus.duration_ns as f64 / 1e9
    )?;
    let several = several(
        bus.endpoints
            .iter()
            .map(|one| u32::from(one.endpoint.device)),
    );
    table(
        out,
        &counts(bus, several),
        "packet B: largest packet; empty: packets without data",
        width,
    )?;
    writeln!(out)?;
    table(
        out,
        &times(bus, several),
        "response: from the host's packet to the device's; next token: from the end of a transaction; gap: from the end \
         of a transfer to the first data of the next",
        width,
    )?;
    writeln!(out)?;
    table(
        out,
        &parts(bus, several),
        "of the time from the first token to the last; NAK: the device was not ready; no request: it answered NAK, and no \
         request was outstanding; idle: the host sent no token; wire: \
         use of the wire, of all frames and of the frame in which it was largest",
        width,
    )?;
    writeln!(out, "\n{HEADING}Bottleneck{RESET}")?;
    for judged in &bus.endpoints {
        if let Some(words) = &judged.words {
            let name = name(judged, several);
            paragraph(out, "  ", &format!("{name}: {words}"), width)?;
            if let Some(small) = &judged.small_packets {
                let words = small.words(judged.endpoint.max_packet);
                paragraph(out, "  ", &format!("{name}: {words}"), width)?;
            }
        }
    }
    paragraph(out, "  ", &format!("bus: {}", bus.words), width)?;
    let notes = [
        (bus.damaged > 0).then(|| format!("damaged packets (first byte or check): {}", bus.damaged)),
        (bus.stray > 0).then(|| {
            format!(
                "packets without a transaction: {}; the capture lacks packets, or a low-speed device is behind a hub",
                bus.stray
            )
        }),
        missing(bus.missing, bus.format),
        cut_off(bus.cut_off_at),
        time_goes_back(bus.time_goes_back_at, bus.times_back),
        (bus.endpoints_left_out > 0).then(|| {
            format!(
                "{} transactions of further endpoints are not listed; the first 64 endpoints are",
                bus.endpoints_left_out
            )
        }),
    ];
    remarks(out, notes)
}

fn of_host(out: &mut impl Write, host: &Host, width: usize) -> io::Result<()> {
    writeln!(
        out,
        "{} submissions and completions of URBs (usbmon), {:.6} s\n",
        host.records,
        host.duration_ns as f64 / 1e9
    )?;
    let several = several(
        host.endpoints
            .iter()
            .map(|one| u32::from(one.bus) << 8 | u32::from(one.device)),
    );
    let times = host.endpoints.iter().filter_map(|one| one.urb_time);
    let unit = TimeUnit::of_median(times.map(|times| times.p50_ns as f64));
    let mut columns = heads(several);
    columns.extend([
        "type",
        "completed",
        "cancelled",
        "failed",
        "bytes",
        "MB/s",
        "short",
        "empty",
        "pending",
        "URB p50",
        "URB p99",
        "gap p50",
        "gap p99",
        "idle %",
    ]);
    let title = format!("URBs of each endpoint, times in {}", unit.name());
    let mut printed = Table::new(title, &columns);
    for one in &host.endpoints {
        let mut cells = urb_names(one, several);
        cells.extend([
            kind(Some(one.transfer)),
            one.transfers.to_string(),
            one.cancelled.to_string(),
            one.failed.to_string(),
            one.bytes.to_string(),
            RateUnit::Mega.show(one.bytes_s),
            one.short.to_string(),
            one.empty.to_string(),
            format!("{:.2}", one.pending),
            at(unit, one.urb_time, |times| times.p50_ns as f64),
            at(unit, one.urb_time, |times| times.p99_ns as f64),
            at(unit, one.host_gap, |times| times.p50_ns as f64),
            at(unit, one.host_gap, |times| times.p99_ns as f64),
            percent_number(one.idle),
        ]);
        printed.row(cells);
    }
    table(
        out,
        &printed,
        "cancelled: taken back by the host; URB: from submission to completion; gap: from a completion to the next submission, with none pending; pending: \
         mean number; idle: share of the time with none pending",
        width,
    )?;
    writeln!(out, "\n{HEADING}Bottleneck{RESET}")?;
    for one in &host.endpoints {
        if let Some(words) = &one.words {
            let name = urb_names(one, several).join(" ");
            paragraph(out, "  ", &format!("{name}: {words}"), width)?;
        }
    }
    let unmatched: u64 = host.endpoints.iter().map(|one| one.unmatched).sum();
    let notes = [
        (unmatched > 0).then(|| {
            format!("of {unmatched} URBs only the start or only the end is in the capture; they are not counted")
        }),
        missing(host.missing, host.format),
        cut_off(host.cut_off_at),
        time_goes_back(host.time_goes_back_at, host.times_back),
        (host.left_out > 0).then(|| {
            format!(
                "{} records of further endpoints are not listed; the first 64 endpoints are",
                host.left_out
            )
        }),
    ];
    remarks(out, notes)
}

fn missing(count: u64, format: wiregauge_capture::Format) -> Option<String> {
    let why = match format {
        wiregauge_capture::Format::BeagleCsv => {
            "NAKs have one row for several, without their times: export with all records expanded"
        }
        _ => "packets were dropped while capturing, as the file says: the counts are too small",
    };
    (count > 0).then(|| format!("{count} {why}"))
}

fn cut_off(at: Option<u64>) -> Option<String> {
    at.map(|at| format!("the file ends within a record: only its first {at} bytes were used"))
}

fn time_goes_back(at: Option<u64>, times: u64) -> Option<String> {
    at.map(|at| {
        format!(
            "time goes back at packet {at} ({} in the file): times and verdicts are wrong; sort the packets first: reordercap \
             IN OUT",
            counted(times, "time")
        )
    })
}

/// A number with its noun.
fn counted(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

fn remarks(
    out: &mut impl Write,
    notes: impl IntoIterator<Item = Option<String>>,
) -> io::Result<()> {
    for note in notes.into_iter().flatten() {
        writeln!(out, "\n{CAUTION}note:{RESET} {note}")?;
    }
    Ok(())
}

/// A table and what its columns are.
fn table(out: &mut impl Write, table: &Table, meaning: &str, width: usize) -> io::Result<()> {
    writeln!(out, "{HEADING}{}{RESET}", table.title)?;
    write!(out, "{}", table.text())?;
    paragraph(out, "  ", meaning, width)
}

/// A text in lines that fit; all but the first are indented.
fn paragraph(out: &mut impl Write, indent: &str, text: &str, width: usize) -> io::Result<()> {
    let next = format!("{indent}  ");
    let options = Options::new(width)
        .initial_indent(indent)
        .subsequent_indent(&next)
        .word_splitter(WordSplitter::NoHyphenation);
    writeln!(out, "{}", textwrap::fill(text, options))
}

/// True if not all are of one device.
fn several(devices: impl Iterator<Item = u32>) -> bool {
    let mut devices: Vec<u32> = devices.collect();
    devices.dedup();
    devices.len() > 1
}

fn heads(several: bool) -> Vec<&'static str> {
    match several {
        true => vec!["device", "endpoint"],
        false => vec!["endpoint"],
    }
}

fn names(judged: &Judged, several: bool) -> Vec<String> {
    let (device, endpoint) = (judged.endpoint.device, judged.endpoint.endpoint);
    match several {
        true => vec![device.to_string(), format!("0x{endpoint:02x}")],
        false => vec![format!("0x{endpoint:02x}")],
    }
}

fn name(judged: &Judged, several: bool) -> String {
    match several {
        true => format!(
            "device {}, endpoint 0x{:02x}",
            judged.endpoint.device, judged.endpoint.endpoint
        ),
        false => format!("endpoint 0x{:02x}", judged.endpoint.endpoint),
    }
}

fn urb_names(one: &UrbEndpoint, several: bool) -> Vec<String> {
    match several {
        true => vec![
            format!("{}-{}", one.bus, one.device),
            format!("0x{:02x}", one.endpoint),
        ],
        false => vec![format!("0x{:02x}", one.endpoint)],
    }
}

fn kind(transfer: Option<UrbType>) -> String {
    let name = match transfer {
        Some(UrbType::Isochronous) => "isochronous",
        Some(UrbType::Interrupt) => "interrupt",
        Some(UrbType::Control) => "control",
        Some(UrbType::Bulk) => "bulk",
        None => "-",
    };
    name.into()
}

fn at(unit: TimeUnit, times: Option<Times>, of: impl Fn(&Times) -> f64) -> String {
    times.map_or("-".into(), |times| unit.show(of(&times)))
}

fn counts(bus: &Bus, several: bool) -> Table {
    let typed = bus
        .endpoints
        .iter()
        .any(|one| one.endpoint.transfer.is_some());
    let mut columns = heads(several);
    if typed {
        columns.push("type");
    }
    columns.extend([
        "packet B",
        "transfers",
        "packets",
        "bytes",
        "MB/s",
        "tokens",
        "NAK",
        "retries",
        "short",
        "empty",
    ]);
    let mut table = Table::new("What passed", &columns);
    for judged in &bus.endpoints {
        let (one, counts) = (&judged.endpoint, &judged.endpoint.counts);
        let mut cells = names(judged, several);
        if typed {
            cells.push(kind(one.transfer));
        }
        cells.extend([
            one.max_packet.to_string(),
            counts.transfers.to_string(),
            counts.packets.to_string(),
            counts.bytes.to_string(),
            RateUnit::Mega.show(one.bytes_s),
            counts.tokens.to_string(),
            counts.naks.to_string(),
            counts.retries.to_string(),
            counts.short.to_string(),
            counts.empty.to_string(),
        ]);
        table.row(cells);
    }
    table
}

fn times(bus: &Bus, several: bool) -> Table {
    let unit = |of: fn(&Judged) -> Option<Times>| {
        let shortest = bus
            .endpoints
            .iter()
            .filter_map(of)
            .map(|times| times.p50_ns)
            .min();
        TimeUnit::fitting(shortest.unwrap_or(0) as f64)
    };
    let token = unit(|one| one.endpoint.next_token);
    let gap = unit(|one| one.endpoint.transfer_gap);
    let mut columns = heads(several);
    columns.extend([
        "response p50",
        "max",
        "next token p50",
        "max",
        "gap mean",
        "gap p50",
        "gap p99",
        "gap max",
    ]);
    let title = format!(
        "Times: response in ns, next token in {}, gap in {}",
        token.name(),
        gap.name()
    );
    let ns = |times: Option<Times>, of: fn(&Times) -> u64| {
        times.map_or("-".into(), |times| of(&times).to_string())
    };
    let mut table = Table::new(title, &columns);
    for judged in &bus.endpoints {
        let one = &judged.endpoint;
        let mut cells = names(judged, several);
        cells.extend([
            ns(one.turn_around, |times| times.p50_ns),
            ns(one.turn_around, |times| times.max_ns),
            at(token, one.next_token, |times| times.p50_ns as f64),
            at(token, one.next_token, |times| times.max_ns as f64),
            at(gap, one.transfer_gap, |times| times.mean_ns),
            at(gap, one.transfer_gap, |times| times.p50_ns as f64),
            at(gap, one.transfer_gap, |times| times.p99_ns as f64),
            at(gap, one.transfer_gap, |times| times.max_ns as f64),
        ]);
        table.row(cells);
    }
    table
}

fn parts(bus: &Bus, several: bool) -> Table {
    let hub = bus
        .endpoints
        .iter()
        .any(|one| one.endpoint.parts.hub_ns > 0.0);
    let requests = bus
        .endpoints
        .iter()
        .any(|one| one.endpoint.parts.unrequested_ns > 0.0);
    let mut columns = heads(several);
    columns.extend(["data %", "NAK %"]);
    if requests {
        columns.push("no request %");
    }
    columns.push("other traffic %");
    if hub {
        columns.push("at a hub %");
    }
    columns.extend(["idle %", "wire %", "wire max %", "bottleneck"]);
    let mut table = Table::new("Where the time goes", &columns);
    for judged in &bus.endpoints {
        let (one, parts) = (&judged.endpoint, judged.endpoint.parts);
        let mut cells = names(judged, several);
        let mut all = vec![parts.data_ns, parts.nak_ns];
        if requests {
            all.push(parts.unrequested_ns);
        }
        all.push(parts.other_ns);
        if hub {
            all.push(parts.hub_ns);
        }
        all.push(parts.idle_ns);
        cells.extend(all.into_iter().map(|ns| match parts.total_ns > 0.0 {
            true => percent_number(ns / parts.total_ns),
            false => "-".into(),
        }));
        cells.push(percent_number(one.frame_share));
        cells.push(percent_number(one.frame_share_max));
        cells.push(judged.verdict.map_or("-", |verdict| verdict.name()).into());
        table.row(cells);
    }
    table
}
