//! Echoes that show a device that does more than echo: it answers only after a constant silence, because it
//! waits for the end of a line until its own timeout, or it adds bytes of its own.

use super::codes::Code;
use super::warning::{Points, some};
use wiregauge_quantity::{grouped, time};
use wiregauge_record::{PointSummary, Protocol, Surplus};
use wiregauge_run::RunFile;

/// Shorter silences are the link's (polls, latency timers).
const SILENCE_NS: f64 = 20e6;

/// The middle half of constant times is within this part of the median, or within this time.
const CONSTANT: f64 = 0.02;
const CONSTANT_NS: f64 = 2e6;

/// A link that needs this part of the time for the bytes, or for opening a connection, explains it.
const EXPLAINED: f64 = 0.2;

/// Fewer answers are no pattern.
const FEWEST: u64 = 8;

/// Of displaced echoes, this part at least is corrupted, ...
const DISPLACED: f64 = 0.9;

/// ... and so much of their bytes at least came as whole echoes, which are stray behind a corrupted one.
const STRAY: f64 = 0.25;

/// The stray bytes of fewer answers are a whole number for each by chance.
const FEWEST_COUNTED: u64 = 40;

/// The warnings that an echo deserves.
pub(super) fn of(file: &RunFile, search: &mut Points<'_>) {
    if file.plan.protocol != Protocol::Echo {
        return;
    }
    let addresses: Vec<&str> = file.plan.links().collect();
    // A datagram ends by itself, so no device waits for its end.
    let is_stream = |point: &PointSummary| {
        let address = addresses.get(point.point.link as usize);
        address.is_some_and(|address| !address.starts_with("udp:"))
    };
    let lines = ": a device that waits for the end of a line answers only after its own timeout. Try --protocol lines, \
                 which ends each request with a newline.";
    search.range(
        Code::Silence,
        |point| silence_ns(point).filter(|_| is_stream(point)),
        time,
        |silence, at| format!("echoes come only after a constant silence of {silence}{at}"),
        lines,
    );
    let all_late = |point: &PointSummary| {
        let late = point.counts.late;
        is_stream(point) && late >= FEWEST && late == point.counts.exchanges
    };
    search.at(
        Code::Silence,
        all_late,
        |at| format!("all echoes came after the timeout{at}"),
        lines,
    );
    let added = ": the device adds them, such as the line end of println. Try --protocol lines, or write instead of \
                 println in the device.";
    search.range(
        Code::Unasked,
        |point| surplus(point, file.plan.warmup),
        |bytes| format!("{} B", grouped(bytes as u64)),
        |bytes, at| format!("each echo has {bytes} more than its request{at}"),
        added,
    );
    let by = file.points.iter().filter_map(|p| p.surplus.as_ref());
    let by: Vec<&Surplus> = by.collect();
    search.at(
        Code::Unasked,
        |point| point.surplus.is_some(),
        |at| followed(&by) + at,
        ": RTT ends with the last byte of the echo, and the bytes behind it are in no figure. Use write instead of \
         println in the device, or --protocol lines.",
    );
    search.at(
        Code::Unasked,
        is_displaced,
        |at| format!("echoes are displaced by surplus bytes, and count as corrupted{at}"),
        added,
    );
}

/// At each point the same bytes followed the echoes, and were recognised.
fn followed(by: &[&Surplus]) -> String {
    let bytes = match by {
        [first, rest @ ..] if rest.iter().all(|one| one.bytes == first.bytes) => {
            let count = first.bytes.len();
            let s = if count == 1 { "" } else { "s" };
            format!("{count} extra byte{s}, {}", names_of(&first.bytes))
        }
        _ => "extra bytes".to_owned(),
    };
    let times: u64 = by.iter().map(|one| one.times).sum();
    match by.iter().map(|one| one.missing).sum::<u64>() {
        0 => format!("each response carries {bytes}"),
        missing => format!(
            "{} of {} responses carry {bytes}",
            grouped(times),
            grouped(times + missing)
        ),
    }
}

/// The time after which all answers came, if it is long, constant, and not that of the link.
fn silence_ns(point: &PointSummary) -> Option<f64> {
    let rtt = point.rtt.as_ref().filter(|rtt| rtt.n >= FEWEST)?;
    let time = rtt.p50.value;
    let spread = (time * CONSTANT).max(CONSTANT_NS);
    let is_constant = rtt.iqr <= spread && rtt.p90.value - time <= 2.0 * spread;
    let bytes = f64::from(point.point.out_bytes) + f64::from(point.point.in_bytes);
    let on_wire = point
        .limit
        .as_ref()
        .map(|limit| bytes * 1e9 / limit.bytes_s);
    let opening = point.open_ns.map(|open| open as f64);
    let is_of_link = [on_wire, opening]
        .into_iter()
        .flatten()
        .any(|ns| ns > EXPLAINED * time);
    (time >= SILENCE_NS && is_constant && !is_of_link).then_some(time)
}

/// True if the echoes came whole, each behind surplus bytes of the one before, which were taken for its
/// beginning.
pub(super) fn is_displaced(point: &PointSummary) -> bool {
    let counts = &point.counts;
    let corrupted = counts.corrupted as f64;
    let bytes = corrupted * f64::from(point.point.in_bytes);
    counts.corrupted >= FEWEST
        && corrupted >= DISPLACED * counts.exchanges as f64
        && counts.stray_bytes as f64 >= STRAY * bytes
}

/// Bytes that each answer has more than its request: the stray bytes are a whole number for each, those of the first
/// exchange and of the warm-up included. Those of the last may not have come.
fn surplus(point: &PointSummary, warmup: u64) -> Option<f64> {
    let (stray, answered) = (point.counts.stray_bytes, point.counts.answered);
    // What is left of an echo that is not whole is stray, too.
    if stray == 0 || answered < FEWEST_COUNTED || answered < point.counts.exchanges {
        return None;
    }
    let all = answered + warmup + 1;
    let answers = [all, all - 1]
        .into_iter()
        .find(|answers| stray.is_multiple_of(*answers))?;
    some(stray / answers)
}

/// Bytes by their names, as people call them: `CR LF`, `0x3e`.
fn names_of(bytes: &[u8]) -> String {
    let name = |byte: &u8| match byte {
        b'\r' => "CR".to_owned(),
        b'\n' => "LF".to_owned(),
        0 => "NUL".to_owned(),
        byte => format!("{byte:#04x}"),
    };
    bytes.iter().map(name).collect::<Vec<_>>().join(" ")
}
