//! Echoes that show a device that does more than echo: it answers only after a constant silence, because it
//! waits for the end of a line until its own timeout, or it adds bytes of its own.

use wiregauge_record::{PointSummary, Protocol, Surplus};
use wiregauge_run::RunFile;

/// What echoes show, and at which points.
pub(super) enum EchoFinding {
    /// They came only after a silence of the device's own; `None` if longer than the timeout.
    Silence {
        points: Vec<u32>,
        silence_ns: Option<f64>,
    },
    /// Each had so many bytes more than its request; `None` where these displaced the later echoes.
    Surplus {
        points: Vec<u32>,
        bytes: Option<u64>,
    },
    /// The same bytes followed each, and were recognised.
    Followed { points: Vec<u32>, by: Surplus },
}

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

/// The part of the answers that may lack the surplus: the first bytes after a loss, the last answer.
const WITHOUT: f64 = 0.02;

/// The warnings that an echo deserves.
pub(super) fn of(file: &RunFile) -> Vec<EchoFinding> {
    if file.plan.protocol != Protocol::Echo {
        return Vec::new();
    }
    let addresses: Vec<&str> = file.plan.links().collect();
    // A datagram ends by itself, so no device waits for its end.
    let is_stream = |point: &PointSummary| {
        let address = addresses.get(point.point.link as usize);
        address.is_some_and(|address| !address.starts_with("udp:"))
    };
    let mut found = Vec::new();
    let rows = |keep: &dyn Fn(&PointSummary) -> bool| -> Vec<u32> {
        let points = file.points.iter().filter(|point| keep(point));
        points.map(|point| point.point.index).collect()
    };
    let silent = |point: &PointSummary| is_stream(point) && silence_ns(point).is_some();
    if let Some(silence_ns) = (file.points.iter().filter(|p| silent(p))).find_map(silence_ns) {
        found.push(EchoFinding::Silence {
            points: rows(&silent),
            silence_ns: Some(silence_ns),
        });
    }
    let all_late = |point: &PointSummary| {
        is_stream(point) && point.counts.answered == 0 && point.counts.late > 0
    };
    if file.points.iter().any(all_late) {
        found.push(EchoFinding::Silence {
            points: rows(&all_late),
            silence_ns: None,
        });
    }
    if let Some(bytes) = file.points.iter().find_map(surplus) {
        found.push(EchoFinding::Surplus {
            points: rows(&|point| surplus(point).is_some()),
            bytes: Some(bytes),
        });
    }
    if let Some(by) = file.points.iter().find_map(|p| p.surplus.as_ref()) {
        found.push(EchoFinding::Followed {
            points: rows(&|point| point.surplus.is_some()),
            by: by.clone(),
        });
    }
    let displaced = rows(&is_displaced);
    if !displaced.is_empty() {
        found.push(EchoFinding::Surplus {
            points: displaced,
            bytes: None,
        });
    }
    found
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

/// Bytes that each answer has more than its request.
fn surplus(point: &PointSummary) -> Option<u64> {
    let (stray, answered) = (point.counts.stray_bytes, point.counts.answered);
    // What is left of an echo that is not whole is stray, too.
    let whole = answered as f64 >= (1.0 - WITHOUT) * point.counts.exchanges as f64;
    if answered < FEWEST || !whole {
        return None;
    }
    let each = (stray as f64 / answered as f64).round();
    let off = (stray as f64 - each * answered as f64).abs();
    let is_constant = off <= each * (WITHOUT * answered as f64).max(1.0);
    (each >= 1.0 && is_constant).then_some(each as u64)
}

/// Bytes by their names, as people call them: `CR LF`, `0x3e`.
pub(super) fn names_of(bytes: &[u8]) -> String {
    let name = |byte: &u8| match byte {
        b'\r' => "CR".to_owned(),
        b'\n' => "LF".to_owned(),
        0 => "NUL".to_owned(),
        byte => format!("{byte:#04x}"),
    };
    bytes.iter().map(name).collect::<Vec<_>>().join(" ")
}
