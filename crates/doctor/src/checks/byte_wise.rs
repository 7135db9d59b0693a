//! Time that grows with each byte far more than the wire asks for: somebody reads or writes byte by byte.

use super::check::Check;
use crate::pattern::{UsbBus, address, exchanges, named, outside_device_ns, series};
use crate::{Finding, HostContext, Level};
use wiregauge_quantity::time;
use wiregauge_record::PointSummary;
use wiregauge_run::{Exchange, Run};

pub(super) const CHECK: Check = Check {
    name: "byte-wise",
    about: "in a run of several sizes: a cost per byte far above that of the wire, as from reading byte by byte",
    look,
};

/// A line through fewer sizes says nothing of whether it is one.
const SIZES: usize = 3;

/// The sizes must lie at least so many bytes apart.
const SPREAD: f64 = 32.0;

/// The cost a byte must be over so many times the wire's.
const OVER_WIRE: f64 = 4.0;

/// Nanoseconds a byte that are suspicious where no wire is known: on this host, where a byte costs a few,
/// and over a network, which may be slow.
const SUSPICIOUS_HERE: f64 = 500.0;
const SUSPICIOUS_THERE: f64 = 2_000.0;

/// On USB the time must grow by so many frames: a step of one or two is the bus's own.
const FRAMES: f64 = 4.0;

fn look(context: &HostContext) -> Vec<Finding> {
    let Some(run) = exchanges(context) else {
        return Vec::new();
    };
    let alone = series(run)
        .into_iter()
        .filter(|points| points[0].point.depth == 1 && !points[0].point.together);
    let mut looked = false;
    let mut found = Vec::new();
    for points in alone {
        for line in lines(&points) {
            looked = true;
            found.extend(of(run, &points, &line));
        }
    }
    if looked && found.is_empty() {
        found.push(
            Finding::new(
                CHECK.name,
                Level::Good,
                "the time per byte shows no reading byte by byte",
            )
            .seen(format!(
                "{}: exchanges of several sizes at depth 1",
                named(run)
            )),
        );
    }
    found
}

/// Median times over sizes of which one way varies.
struct Line {
    /// OUT, IN, or both alike.
    what: &'static str,
    /// Bytes that the medium carries for each byte on this axis.
    carried: f64,
    /// Bytes and nanoseconds.
    at: Vec<(f64, f64)>,
    /// Three quarters of all slopes between two sizes are at least this: a step has many that are 0.
    least: f64,
    /// Their median.
    ns_per_byte: f64,
}

fn lines(points: &[&PointSummary]) -> Vec<Line> {
    let mut lines = Vec::new();
    let both: Vec<&PointSummary> = points
        .iter()
        .copied()
        .filter(|p| p.point.out_bytes == p.point.in_bytes)
        .collect();
    lines.extend(line("in both directions", 2.0, &both, |p| {
        p.point.out_bytes
    }));
    // Of each way, the points that have most in common on the other.
    type Bytes = fn(&PointSummary) -> u32;
    let ways: [(&'static str, Bytes, Bytes); 2] = [
        ("IN", |p| p.point.in_bytes, |p| p.point.out_bytes),
        ("OUT", |p| p.point.out_bytes, |p| p.point.in_bytes),
    ];
    for (what, varies, stays) in ways {
        let same = |value: u32| points.iter().copied().filter(move |p| stays(p) == value);
        let most = points
            .iter()
            .map(|p| stays(p))
            .max_by_key(|&value| same(value).count());
        let same: Vec<&PointSummary> = most.into_iter().flat_map(same).collect();
        lines.extend(line(what, 1.0, &same, varies));
    }
    lines
}

/// The slope is the median of all slopes between two points (Theil 1950, Sen 1968): one point that was
/// disturbed does not bend it.
fn line(
    what: &'static str,
    carried: f64,
    points: &[&PointSummary],
    bytes: fn(&PointSummary) -> u32,
) -> Option<Line> {
    let mut at: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|point| Some((f64::from(bytes(point)), outside_device_ns(point)?)))
        .collect();
    at.sort_by(|a, b| a.0.total_cmp(&b.0));
    at.dedup_by_key(|point| point.0);
    let (first, last) = (at.first()?, at.last()?);
    if at.len() < SIZES || last.0 - first.0 < SPREAD {
        return None;
    }
    let mut slopes: Vec<f64> = at
        .iter()
        .enumerate()
        .flat_map(|(i, a)| at[i + 1..].iter().map(move |b| (b.1 - a.1) / (b.0 - a.0)))
        .collect();
    slopes.sort_by(f64::total_cmp);
    Some(Line {
        what,
        carried,
        least: *slopes.get(slopes.len() / 4)?,
        ns_per_byte: *slopes.get(slopes.len() / 2)?,
        at,
    })
}

fn of(run: &Run<Exchange>, points: &[&PointSummary], line: &Line) -> Option<Finding> {
    let link = points[0].point.link;
    let to = address(run, link);
    let bus = UsbBus::of(run, link);
    let limit = points.iter().find_map(|point| point.limit.as_ref());
    let wire = limit.map(|limit| match limit.shared {
        true => line.carried * 1e9 / limit.bytes_s,
        false => 1e9 / limit.bytes_s,
    });
    let slope = line.ns_per_byte;
    let most = match wire {
        Some(wire) => (OVER_WIRE * wire).max(SUSPICIOUS_HERE),
        None if is_here(to) => SUSPICIOUS_HERE,
        None => SUSPICIOUS_THERE,
    };
    let (first, last) = (line.at.first()?, line.at.last()?);
    let frames = bus.map_or(0.0, |bus| FRAMES * bus.frame_ns as f64);
    if line.least <= most || last.1 - first.1 < frames {
        return None;
    }
    let a_frame = bus.filter(|bus| (0.7..=1.4).contains(&(slope / bus.frame_ns as f64)));
    let title = match a_frame {
        Some(bus) => format!(
            "each byte takes a USB frame of {}: a program writes them one by one",
            time(bus.frame_ns as f64)
        ),
        None => format!(
            "each byte takes {}: a program reads or writes them one by one",
            time(slope)
        ),
    };
    let wire = match (wire, limit) {
        (Some(wire), Some(limit)) => {
            format!("the wire needs {} per byte ({})", time(wire), limit.source)
        }
        _ => "the time per byte on the wire is unknown".into(),
    };
    Some(
        Finding::new(CHECK.name, Level::Hurts, title)
            .seen(format!(
                "{}: {} {:.0} B takes {}, {:.0} B takes {}: {} per byte over {} sizes, and at least {} between \
                 three quarters of them",
                named(run),
                line.what,
                first.0,
                time(first.1),
                last.0,
                time(last.1),
                time(slope),
                line.at.len(),
                time(line.least)
            ))
            .seen(wire)
            .seen(
                "other possible causes: a device that processes each byte, a wire slower than stated, or a \
                 network in between",
            )
            .costs(
                format!(
                    "{} of {} for {:.0} B in this run. Reading byte by byte from Python took 4.8 to 18 times \
                     as long as a block of 64 B; a board that received single-byte writes got 53 kB/s from \
                     Linux and 4 kB/s from Windows",
                    time(slope * last.0),
                    time(last.1),
                    last.0
                ),
                "this run; bench/runs/2026-11-22-languages (pyserial, read(1) n times); P. Stoffregen's USB \
                 benchmark as reported by Hackaday, 2013",
            )
            .remedy("read all available data in one call, with a buffer as large as a message; write a message \
                     in one call")
            .remedy("on a microcontroller: write a whole message (Serial.write(buffer, length)), then flush once"),
    )
}

/// True for links that do not leave this host.
fn is_here(address: &str) -> bool {
    let host = |scheme: &str| address.strip_prefix(scheme);
    let Some(peer) = host("tcp://").or_else(|| host("udp://")) else {
        return true;
    };
    ["127.", "localhost:", "[::1]:", ":"]
        .iter()
        .any(|begin| peer.starts_with(begin))
}
