//! This host's own floor, measured right before and after a run with the same loop that measures
//! the device: what is below it is the host, not the wire.

use super::point::measure_here;
use std::time::Duration;
use wiregauge_link::host::{self, Clock};
use wiregauge_link::{Address, Kind, Link};
use wiregauge_record::{
    Calibration, Connect, Floor, HostPlan, Limit, LinkOptions, Plan, Point, Protocol, Schedule,
    Summariser, Wait, WakeUp,
};
use wiregauge_stats::Distribution;

const EXCHANGES: u64 = 2_000;
const BYTES: u32 = 64;
const SLEEPS: usize = 50;
const SPIN: Duration = Duration::from_millis(50);

/// Measures the floor for a kind of link in a thread of its own, with what is asked of the host and
/// waiting as the run does. Takes about a quarter of a second. A floor that cannot be measured is
/// left out.
pub fn calibrate(kind: &'static Kind, wait: Wait, plan: &HostPlan) -> Option<Calibration> {
    std::thread::scope(|scope| scope.spawn(|| measure(kind, wait, plan)).join().ok())
}

fn measure(kind: &'static Kind, wait: Wait, plan: &HostPlan) -> Calibration {
    let null = Address::parse("null://")
        .and_then(|address| address.open(&LinkOptions::default(), Duration::from_secs(1)));
    // Before the thread is pinned or raised: the echo's thread would inherit that.
    let echo = kind.floor.and_then(|open| open().ok());
    // What the system refuses was reported by the measuring thread.
    let _ = host::apply(plan);
    let mut floors = Vec::new();
    let echo_name = format!("{} echo on this host", kind.scheme);
    let links = [
        (null.ok(), "null link".to_string(), false),
        (echo, echo_name, kind.datagram),
    ];
    for (link, name, datagram) in links {
        if let Some(mut link) = link
            && let Some(rtt) = floor(link.as_mut(), datagram, wait)
        {
            floors.push(Floor {
                name,
                bytes: BYTES,
                rtt,
            });
        }
    }
    Calibration {
        floors,
        wake_up: wake_up(),
    }
}

fn floor(link: &mut dyn Link, datagram: bool, wait: Wait) -> Option<Distribution> {
    let point = Point {
        index: 0,
        out_bytes: BYTES,
        in_bytes: BYTES,
        depth: 1,
        link: 0,
        together: false,
    };
    let plan = Plan {
        address: "this host's own echo".into(),
        more_links: Vec::new(),
        protocol: Protocol::Echo,
        queries: None,
        connect: Connect::Once,
        points: vec![point],
        limit: Limit::Count(EXCHANGES),
        warmup: 100,
        schedule: Schedule::AsFastAsPossible,
        timeout_ns: 200_000_000,
        give_up: 1,
        wait,
        below_ns: Vec::new(),
        keep_data: false,
        batch: None,
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    };
    let mut summariser = Summariser::new(&plan, point, None);
    let end = measure_here(link, datagram, &plan, point, |sample| {
        summariser.push(sample)
    });
    summariser
        .finish(end.ending, end.stray_bytes, None, end.resources)
        .rtt
}

fn wake_up() -> WakeUp {
    let clock = Clock::start();
    let mut delays: Vec<u64> = (0..SLEEPS)
        .map(|_| {
            let due = clock.now() + 1_000_000;
            clock.sleep_until(due);
            clock.now().saturating_sub(due)
        })
        .collect();
    delays.sort_unstable();
    let begin = clock.now();
    let end = begin + SPIN.as_nanos() as u64;
    let (mut last, mut longest, mut gaps) = (begin, 0, 0_u32);
    while last < end {
        let now = clock.now();
        let gap = now - last;
        longest = longest.max(gap);
        gaps += u32::from(gap > 10_000);
        last = now;
    }
    WakeUp {
        delay_p50_ns: delays[SLEEPS / 2],
        delay_max_ns: delays[SLEEPS - 1],
        clock_gap_max_ns: longest,
        clock_gaps_s: f64::from(gaps) / SPIN.as_secs_f64(),
    }
}
