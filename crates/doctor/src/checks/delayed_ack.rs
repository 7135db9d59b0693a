//! Nagle's algorithm at one end against delayed acknowledgement at the other: 40 ms or 200 ms in RTTs
//! over TCP.

use super::check::Check;
use crate::pattern::{address, exchanges, named, setting};
use crate::{Finding, HostContext, Level};
use wiregauge_quantity::{percent, time};
use wiregauge_record::PointSummary;

pub(super) const CHECK: Check = Check {
    name: "delayed-ack",
    about: "in a run over TCP: answers that wait for a delayed acknowledgement",
    look,
};

/// A delayed acknowledgement, and an RTT that holds one: it begins with the delay, and the way and the
/// kernel's clock tick come on top.
struct Delay {
    from_ns: f64,
    to_ns: f64,
    ms: u32,
    whose: &'static str,
}

const DELAYS: [Delay; 2] = [
    Delay {
        from_ns: 39e6,
        to_ns: 49.5e6,
        ms: 40,
        whose: "the shortest of Linux (include/net/tcp.h, TCP_DELACK_MIN)",
    },
    Delay {
        from_ns: 198e6,
        to_ns: 215e6,
        ms: 200,
        whose: "the longest of Linux (include/net/tcp.h, TCP_DELACK_MAX), and that of many other stacks; RFC 1122, \
                4.2.3.2 allows up to 500 ms",
    },
];

/// Share of the answers that must be so late.
const SHARE: f64 = 0.02;

fn look(context: &HostContext) -> Vec<Finding> {
    let Some(run) = exchanges(context) else {
        return Vec::new();
    };
    let over_tcp: Vec<&PointSummary> = run
        .file
        .points
        .iter()
        .filter(|point| address(run, point.point.link).starts_with("tcp://"))
        .collect();
    if over_tcp.is_empty() {
        return Vec::new();
    }
    for delay in &DELAYS {
        let late: Vec<String> = over_tcp
            .iter()
            .filter_map(|point| Some(format!("{}: {}", named(run), seen(point, delay)?)))
            .collect();
        let Some(first) = over_tcp.iter().find(|point| seen(point, delay).is_some()) else {
            continue;
        };
        let quick = setting(run, first.point.link, "quick acknowledgement") == Some("on");
        let to = address(run, first.point.link);
        return vec![
            Finding::new(
                CHECK.name,
                Level::Hurts,
                format!("answers over TCP arrive {} ms late, as with a delayed acknowledgement", delay.ms),
            )
            .all_seen(late)
            .all_seen(quick.then(|| {
                "the run acknowledged at once (--quick-ack), so this end does not cause the delay".into()
            }))
            .seen(format!(
                "other possible cause: a device that needs exactly this time; measure {} --quick-ack to find out",
                if quick { "without" } else { "with" }
            ))
            .costs(
                format!(
                    "{} ms for each answer that is sent in two small writes: Nagle's algorithm delays the \
                     second until this end acknowledges the first, after a delay of {}",
                    delay.ms, delay.whose
                ),
                "this run; RFC 896; RFC 1122, 4.2.3.2",
            )
            .remedy("on the device: set TCP_NODELAY (lwIP: tcp_nagle_disable), or send each answer in one write")
            .remedy(format!("wiregauge exchange {to} --quick-ack  # check whether the delay disappears")),
        ];
    }
    vec![
        Finding::new(
            CHECK.name,
            Level::Good,
            "no answer waits for a delayed acknowledgement",
        )
        .seen(format!(
            "{}: no cluster of RTTs at 40 or 200 ms",
            named(run)
        )),
    ]
}

/// The part of a point's answers that is so late, if it is large enough; none where the device itself
/// says that it took the time.
fn seen(point: &PointSummary, delay: &Delay) -> Option<String> {
    let device = point.device.as_ref().map_or(0.0, |device| device.p50.value);
    let late: Vec<_> = point
        .modes
        .iter()
        .filter(|mode| (delay.from_ns..=delay.to_ns).contains(&mode.peak))
        .collect();
    let share: f64 = late.iter().map(|mode| mode.share).sum();
    let peak = late.first()?.peak;
    (share >= SHARE && device < 0.5 * peak).then(|| {
        format!(
            "{}: {} of the RTTs around {}",
            point.point,
            percent(share),
            time(peak)
        )
    })
}
