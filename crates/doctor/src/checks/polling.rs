//! RTTs that are whole periods of a clock: at the other end, or in a driver, somebody sleeps and looks.

use super::check::Check;
use crate::pattern::{UsbBus, address, exchanges, named, setting};
use crate::{Finding, HostContext, Level};
use wiregauge_quantity::time;
use wiregauge_record::{Phase, PointSummary};
use wiregauge_run::{Exchange, Run};

pub(super) const CHECK: Check = Check {
    name: "polling",
    about: "in a run: RTTs at multiples of a millisecond or tick, as with a reader that polls",
    look,
};

/// A period that sleeping readers have.
struct Period {
    ns: f64,
    whose: &'static str,
}

/// The longest first: what sits on multiples of 10 ms sits on those of 1 ms as well.
const PERIODS: &[Period] = &[
    Period {
        ns: 100e6,
        whose: "a loop that sleeps 100 ms",
    },
    Period {
        ns: 50e6,
        whose: "a loop that sleeps 50 ms",
    },
    Period {
        ns: 20e6,
        whose: "a loop that sleeps 20 ms",
    },
    Period {
        ns: 16e6,
        whose: "the FTDI latency timer at its default (AN232B-04)",
    },
    Period {
        ns: 15.625e6,
        whose: "a program on Windows that sleeps: its clock interrupts 64 times a second",
    },
    Period {
        ns: 10e6,
        whose: "a loop that sleeps 10 ms, or a kernel that ticks 100 times a second",
    },
    Period {
        ns: 1e6,
        whose: "a loop that sleeps 1 ms, or a real-time system that ticks 1000 times a second",
    },
];

/// Fewer samples show no rhythm.
const SAMPLES: usize = 30;

/// Samples looked at, at most.
const MOST: usize = 100_000;

/// Share of all that must have waited, for half a period or longer: a sleeper that has just answered may
/// find the next request there already.
const WAITED: f64 = 0.2;

/// Share of those that may have waited for less than a period: a request that this host sent late does.
const EARLY: f64 = 0.25;

/// Share of those that must come right behind a tick, and how many times as many as of times that have
/// nothing to do with ticks.
const BEHIND: f64 = 0.5;
const OVER_CHANCE: f64 = 4.0;

/// Share of those that must sit on the first tick, and on later ones, to make it a comb.
const SECOND: f64 = 0.02;

/// How long before a tick, relatively, still counts as behind it: the clocks differ.
const BEFORE: f64 = 0.005;

/// How long behind a tick still counts: relatively, and at least so many nanoseconds, in which a sleeper
/// wakes up.
const AFTER: f64 = 0.04;
const WAKE_NS: f64 = 200e3;

/// The latency timer of an adapter runs by USB frames: an answer may be one frame early or late.
const FRAME_NS: f64 = 1e6;

fn look(context: &HostContext) -> Vec<Finding> {
    let Some(run) = exchanges(context) else {
        return Vec::new();
    };
    let mut looked = false;
    let mut unreadable = None;
    let mut rhythms: Vec<(&Period, bool, u32, String)> = Vec::new();
    for (place, point) in run.file.points.iter().enumerate() {
        if point.point.depth != 1 || address(run, point.point.link).starts_with("null:") {
            continue;
        }
        let rtts = match rtts(run, place) {
            Ok(rtts) if rtts.len() < SAMPLES => continue,
            Ok(rtts) => rtts,
            Err(problem) => {
                unreadable = Some(problem);
                continue;
            }
        };
        looked = true;
        if let Some((period, is_comb)) = rhythm(run, point, &rtts) {
            let seen = describe(run, point, period, &rtts);
            rhythms.push((period, is_comb, point.point.link, seen));
        }
    }
    let mut found: Vec<Finding> = Vec::new();
    for period in PERIODS {
        let of: Vec<_> = rhythms.iter().filter(|one| one.0.ns == period.ns).collect();
        if let Some((_, _, link, _)) = of.first() {
            let is_comb = of.iter().any(|one| one.1);
            let seen = of.iter().map(|one| one.3.clone());
            found.push(finding(run, *link, period, is_comb).all_seen(seen).seen(
                "other possible cause: a device that needs exactly this time; measure with another --interval, \
                 or with depth 2, and compare",
            ));
        }
    }
    if let Some(problem) = unreadable {
        found.push(
            Finding::new(
                CHECK.name,
                Level::Unknown,
                "the samples of the run cannot be read",
            )
            .seen(problem),
        );
    }
    if looked && found.is_empty() {
        found.push(
            Finding::new(
                CHECK.name,
                Level::Good,
                "the RTTs are not multiples of a clock period",
            )
            .seen(format!("{}: its RTTs at depth 1", named(run))),
        );
    }
    found
}

/// The RTTs of the measured exchanges that were answered right.
fn rtts(run: &Run<Exchange>, place: usize) -> Result<Vec<u64>, String> {
    let mut reader = run
        .samples_of(place, &["phase", "status", "rtt_ns"])
        .map_err(|error| error.to_string())?;
    let mut rtts = Vec::new();
    while let Some(rows) = reader.next_rows() {
        let rows = rows.map_err(|error| error.to_string())?;
        let timed = rows
            .iter()
            .filter(|row| row.phase == Phase::Measured && row.status.is_timed());
        rtts.extend(timed.map(|row| row.rtt_ns));
        if rtts.len() >= MOST {
            break;
        }
    }
    Ok(rtts)
}

/// Which period the RTTs are whole ones of, and whether they sit on more than one tick.
fn rhythm(
    run: &Run<Exchange>,
    point: &PointSummary,
    rtts: &[u64],
) -> Option<(&'static Period, bool)> {
    let median = point.rtt.as_ref()?.p50.value;
    // The device itself says that it took the time.
    if let Some(device) = &point.device
        && device.p50.value > 0.5 * median
    {
        return None;
    }
    let link = point.point.link;
    let frame = UsbBus::of(run, link).map(|bus| bus.frame_ns as f64);
    let is_adapter = setting(run, link, "driver").is_some_and(|driver| driver.starts_with("ftdi"));
    PERIODS.iter().find_map(|period| {
        // Frames of the bus itself are no sleep.
        if frame.is_some_and(|frame| period.ns <= frame) {
            return None;
        }
        let (before, after) = match is_adapter && period.ns == 16e6 {
            true => (FRAME_NS, FRAME_NS),
            false => (BEFORE * period.ns, (AFTER * period.ns).max(WAKE_NS)),
        };
        let waited: Vec<f64> = rtts
            .iter()
            .map(|&rtt| rtt as f64)
            .filter(|&rtt| rtt >= 0.5 * period.ns)
            .collect();
        if (waited.len() as f64) < WAITED * rtts.len() as f64 {
            return None;
        }
        let share = |of: &dyn Fn(f64) -> bool| {
            waited.iter().filter(|&&rtt| of(rtt)).count() as f64 / waited.len() as f64
        };
        let tick =
            |k: f64, rtt: f64| rtt >= k * (period.ns - before) && rtt <= k * (period.ns + after);
        let early = share(&|rtt| rtt < period.ns - before);
        let first = share(&|rtt| tick(1.0, rtt));
        let more = share(&|rtt| tick(2.0, rtt) || tick(3.0, rtt));
        let behind = BEHIND.max(OVER_CHANCE * (before + after) / period.ns);
        let fits = early <= EARLY && first >= SECOND && first + more >= behind;
        fits.then_some((period, more >= SECOND))
    })
}

fn describe(run: &Run<Exchange>, point: &PointSummary, period: &Period, rtts: &[u64]) -> String {
    let least = rtts.iter().min().copied().unwrap_or(0);
    let median = point.rtt.as_ref().map_or(0.0, |rtt| rtt.p50.value);
    format!(
        "{}: {}: shortest RTT {}, median {}; the period is {}",
        named(run),
        point.point,
        time(least as f64),
        time(median),
        time(period.ns)
    )
}

fn finding(run: &Run<Exchange>, link: u32, period: &Period, is_comb: bool) -> Finding {
    let ms = period.ns / 1e6;
    let (level, title) = match is_comb {
        true => (
            Level::Hurts,
            format!("RTTs are multiples of {ms} ms: a program polls with a sleep"),
        ),
        false => (
            Level::Note,
            format!(
                "RTTs are just above {ms} ms, as when a program polls with a sleep of this length"
            ),
        ),
    };
    let found = Finding::new(CHECK.name, level, title).costs(
        format!(
            "up to {ms} ms per exchange until the next poll, half of it on average if requests arrive at \
             random times. Typical cause of this period: {}",
            period.whose
        ),
        "this run",
    );
    let found = match address(run, link).starts_with("serial://") && period.ns == 16e6 {
        true => found.remedy("wiregauge doctor --only ftdi-latency --fix"),
        false => found,
    };
    found.remedy(
        "in the device or its host program: wait in read or poll (an interrupt), not in a sleep",
    )
}
