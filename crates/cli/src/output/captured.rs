//! What a capture of a USB bus says, as tables and sentences.

use super::style::{CAUTION, HEADING, RESET};
use std::io::{self, Write};
use textwrap::{Options, WordSplitter};
use wiregauge_capture::{Bus, Explained, Format, Host, Judged, Speed, Times, UrbEndpoint, UrbType};
use wiregauge_quantity::{RateUnit, TimeUnit, percent_number};
use wiregauge_report::tables::{Columns, Table};

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
    let (frame, length) = match bus.speed {
        Speed::High => ("microframe", "125 us"),
        _ => ("frame", "1 ms"),
    };
    let not_captured = match bus.starts_of_frame {
        0 => format!(" of {length} (no start of frame was captured)"),
        _ => String::new(),
    };
    writeln!(
        out,
        "{} of a USB bus at {speed}{assumed}, {}{not_captured}, {:.6} s\n",
        counted(bus.packets, "packet"),
        counted(bus.frames, frame),
        bus.duration_ns as f64 / 1e9
    )?;
    let several = several(bus.endpoints.iter().map(device));
    for (printed, meaning) in [
        (
            counts(bus, several),
            "packet B: largest packet; empty: packets without data",
        ),
        (
            times(bus, several),
            "response: from the host's packet to the device's; next token: from the end of a transaction; gap: from the end \
             of a transfer to the first data of the next",
        ),
        (
            parts(bus, several),
            "of the time from the first token to the last; NAK: the device was not ready; no request: it answered NAK, and no \
             request was outstanding; idle: the host sent no token; wire: \
             use of the wire, of all frames and of the frame in which it was largest",
        ),
    ] {
        table(out, &printed, meaning, width)?;
        writeln!(out)?;
    }
    writeln!(out, "{HEADING}Bottleneck{RESET}")?;
    for judged in &bus.endpoints {
        let endpoint = endpoint(judged);
        let name = match several {
            true => format!("device {}, endpoint {endpoint}", device(judged)),
            false => format!("endpoint {endpoint}"),
        };
        if let Some(words) = &judged.words {
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
        left_out(bus.endpoints_left_out, "transactions"),
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
    let several = several(host.endpoints.iter().map(urb_device));
    table(
        out,
        &urbs(host, several),
        "cancelled: taken back by the host; URB: from submission to completion; gap: from a completion to the next submission, with none pending; pending: \
         mean number; idle: share of the time with none pending",
        width,
    )?;
    writeln!(out, "\n{HEADING}Bottleneck{RESET}")?;
    for one in &host.endpoints {
        let endpoint = urb_endpoint(one);
        let name = match several {
            true => format!("{} {endpoint}", urb_device(one)),
            false => endpoint,
        };
        if let Some(words) = &one.words {
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
        left_out(host.left_out, "records"),
    ];
    remarks(out, notes)
}

fn missing(count: u64, format: Format) -> Option<String> {
    let why = match format {
        Format::BeagleCsv => {
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

fn left_out(count: u64, what: &str) -> Option<String> {
    (count > 0).then(|| {
        format!("{count} {what} of further endpoints are not listed; the first 64 endpoints are")
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
fn several(devices: impl Iterator<Item = String>) -> bool {
    let mut devices: Vec<String> = devices.collect();
    devices.dedup();
    devices.len() > 1
}

fn device(judged: &Judged) -> String {
    judged.endpoint.device.to_string()
}

fn endpoint(judged: &Judged) -> String {
    format!("0x{:02x}", judged.endpoint.endpoint)
}

fn urb_device(one: &UrbEndpoint) -> String {
    format!("{}-{}", one.bus, one.device)
}

fn urb_endpoint(one: &UrbEndpoint) -> String {
    format!("0x{:02x}", one.endpoint)
}

/// Columns with the name of an endpoint, and of its device if there are several.
fn named<'a, Row: 'a>(
    several: bool,
    device: fn(&Row) -> String,
    endpoint: fn(&Row) -> String,
) -> Columns<'a, &'a Row> {
    let mut columns = Columns::new();
    if several {
        columns.add("device", device);
    }
    columns.add("endpoint", endpoint);
    columns
}

fn kind(transfer: UrbType) -> &'static str {
    match transfer {
        UrbType::Isochronous => "isochronous",
        UrbType::Interrupt => "interrupt",
        UrbType::Control => "control",
        UrbType::Bulk => "bulk",
    }
}

fn counts(bus: &Bus, several: bool) -> Table {
    let mut endpoints = bus.endpoints.iter();
    let typed = endpoints.any(|one| one.endpoint.transfer.is_some());
    let mut columns = named(several, device, endpoint);
    if typed {
        columns.some("type", |one| one.endpoint.transfer.map(kind));
    }
    columns.add("packet B", |one| one.endpoint.max_packet);
    columns.add("transfers", |one| one.endpoint.counts.transfers);
    columns.add("packets", |one| one.endpoint.counts.packets);
    columns.add("bytes", |one| one.endpoint.counts.bytes);
    columns.add("MB/s", |one| RateUnit::Mega.show(one.endpoint.bytes_s));
    columns.add("tokens", |one| one.endpoint.counts.tokens);
    columns.add("NAK", |one| one.endpoint.counts.naks);
    columns.add("retries", |one| one.endpoint.counts.retries);
    columns.add("short", |one| one.endpoint.counts.short);
    columns.add("empty", |one| one.endpoint.counts.empty);
    columns.of_rows("What passed", &bus.endpoints)
}

fn urbs(host: &Host, several: bool) -> Table {
    let times = host.endpoints.iter().filter_map(|one| one.urb_time);
    let unit = TimeUnit::of_median(times.map(|times| times.p50_ns as f64));
    let mut columns = named(several, urb_device, urb_endpoint);
    columns.add("type", |one| kind(one.transfer));
    columns.add("completed", |one| one.transfers);
    columns.add("cancelled", |one| one.cancelled);
    columns.add("failed", |one| one.failed);
    columns.add("bytes", |one| one.bytes);
    columns.add("MB/s", |one| RateUnit::Mega.show(one.bytes_s));
    columns.add("short", |one| one.short);
    columns.add("empty", |one| one.empty);
    columns.add("pending", |one| format!("{:.2}", one.pending));
    let mut timed = |head: &str, of: fn(&UrbEndpoint) -> Option<u64>| {
        columns.some(head, move |one| Some(unit.show(of(one)? as f64)));
    };
    timed("URB p50", |one| Some(one.urb_time?.p50_ns));
    timed("URB p99", |one| Some(one.urb_time?.p99_ns));
    timed("gap p50", |one| Some(one.host_gap?.p50_ns));
    timed("gap p99", |one| Some(one.host_gap?.p99_ns));
    columns.add("idle %", |one| percent_number(one.idle));
    let title = format!("URBs of each endpoint, times in {}", unit.name());
    columns.of_rows(title, &host.endpoints)
}

fn times(bus: &Bus, several: bool) -> Table {
    let unit = |of: fn(&Judged) -> Option<Times>| {
        let known = bus.endpoints.iter().filter_map(of);
        let shortest = known.map(|times| times.p50_ns).min();
        TimeUnit::fitting(shortest.unwrap_or(0) as f64)
    };
    let token = unit(|one| one.endpoint.next_token);
    let gap = unit(|one| one.endpoint.transfer_gap);
    let mut columns = named(several, device, endpoint);
    columns.some("response p50", |one| Some(one.endpoint.turn_around?.p50_ns));
    columns.some("max", |one| Some(one.endpoint.turn_around?.max_ns));
    let mut tokens = |head: &str, of: fn(Times) -> u64| {
        columns.some(head, move |one| {
            Some(token.show(of(one.endpoint.next_token?) as f64))
        });
    };
    tokens("next token p50", |times| times.p50_ns);
    tokens("max", |times| times.max_ns);
    let mut gaps = |head: &str, of: fn(Times) -> f64| {
        columns.some(head, move |one| {
            Some(gap.show(of(one.endpoint.transfer_gap?)))
        });
    };
    gaps("gap mean", |times| times.mean_ns);
    gaps("gap p50", |times| times.p50_ns as f64);
    gaps("gap p99", |times| times.p99_ns as f64);
    gaps("gap max", |times| times.max_ns as f64);
    let title = format!(
        "Times: response in ns, next token in {}, gap in {}",
        token.name(),
        gap.name()
    );
    columns.of_rows(title, &bus.endpoints)
}

/// Head, whether it is shown also where all are 0, and the nanoseconds of an endpoint.
type Part = (&'static str, bool, fn(&Judged) -> f64);

fn parts(bus: &Bus, several: bool) -> Table {
    let any = |of: fn(&Judged) -> f64| bus.endpoints.iter().any(|one| of(one) > 0.0);
    let mut columns = named(several, device, endpoint);
    let all: [Part; 6] = [
        ("data %", true, |one| one.endpoint.parts.data_ns),
        ("NAK %", true, |one| one.endpoint.parts.nak_ns),
        ("no request %", false, |one| {
            one.endpoint.parts.unrequested_ns
        }),
        ("other traffic %", true, |one| one.endpoint.parts.other_ns),
        ("at a hub %", false, |one| one.endpoint.parts.hub_ns),
        ("idle %", true, |one| one.endpoint.parts.idle_ns),
    ];
    for (head, is_always_shown, of) in all {
        if is_always_shown || any(of) {
            columns.some(head, move |one| {
                let total_ns = one.endpoint.parts.total_ns;
                (total_ns > 0.0).then(|| percent_number(of(one) / total_ns))
            });
        }
    }
    columns.add("wire %", |one| percent_number(one.endpoint.frame_share));
    columns.add("wire max %", |one| {
        percent_number(one.endpoint.frame_share_max)
    });
    columns.some("bottleneck", |one| Some(one.verdict?.name()));
    columns.of_rows("Where the time goes", &bus.endpoints)
}
