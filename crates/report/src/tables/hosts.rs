//! The same device measured from two hosts, in sentences.

use wiregauge_compare::{HostDifference, HostSide, Verdict};
use wiregauge_quantity::{percent, time};

/// From this share on the floors account for a difference, and up to 1 minus this they do not: floors are short
/// measurements.
const ALL: f64 = 0.9;

/// Which host is slower, and how much of the difference is its floor.
pub(super) fn sentences(hosts: &HostDifference) -> Vec<String> {
    let (before, after) = (&hosts.before, &hosts.after);
    let (slower, faster) = match hosts.verdict {
        Verdict::Worse => (after, before),
        Verdict::Better => (before, after),
        Verdict::NoDifferenceShown | Verdict::CannotTell => {
            let verdict = match hosts.verdict {
                Verdict::CannotTell => "The difference between the hosts is inconclusive",
                _ => "No significant difference between the hosts",
            };
            return vec![format!(
                "{verdict} at {}: median RTT {} from {}, {} from {}.",
                hosts.point,
                time(before.p50_ns),
                named(before, after),
                time(after.p50_ns),
                named(after, before),
            )];
        }
    };
    let slow = format!(
        "{} is slower than {} at {}: median RTT {} against {}, {} more.",
        named(slower, faster),
        named(faster, slower),
        hosts.point,
        time(slower.p50_ns),
        time(faster.p50_ns),
        time(slower.p50_ns - faster.p50_ns),
    );
    vec![slow, why(hosts, slower, faster)]
}

/// The host's name, and its system if the systems differ.
fn named(side: &HostSide, other: &HostSide) -> String {
    match side.system == other.system {
        true => side.name.clone(),
        false => format!("{} ({})", side.name, side.system),
    }
}

fn why(hosts: &HostDifference, slower: &HostSide, faster: &HostSide) -> String {
    let known = (
        &hosts.floor,
        slower.floor_ns,
        faster.floor_ns,
        hosts.floor_share(),
    );
    let (Some(floor), Some(slow_ns), Some(fast_ns), Some(share)) = known else {
        return "The share of the host is unknown: no floor was measured on both hosts. Measure again without \
                --no-calibration."
            .to_owned();
    };
    let floors = format!(
        "Their floors ({floor}) are {} and {}",
        time(slow_ns),
        time(fast_ns)
    );
    match share {
        share if share >= ALL => format!("{floors}: they account for the difference."),
        share if share > 1.0 - ALL => format!(
            "{floors}: they account for {} of the difference. The rest is in the driver, the bus or the settings.",
            percent(share)
        ),
        _ => format!(
            "{floors}: they do not account for the difference. Compare driver, bus and settings."
        ),
    }
}
