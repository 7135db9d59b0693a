//! What else differs between the sides. A comparison tells that figures differ, never why; what
//! differs beside them may be the cause.

use serde::Serialize;
use std::fmt::Debug;
use wiregauge_quantity::{exact_time, time};
use wiregauge_record::{
    Calibration, Conditions, HostPlan, Limit, LinkDetail, LinkOptions, Schedule, grouped,
};
use wiregauge_run::{Exchange, Files, Run, Stream};

/// Load averages that differ by less than this are the same.
const LOAD: f64 = 0.5;

/// Floors that differ by less than this part are the same.
const FLOOR: f64 = 0.1;

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// What.
    pub what: String,
    /// Before; of several runs, each value once.
    pub before: String,
    /// After.
    pub after: String,
}

/// Names and values of one run.
type Facts = Vec<(String, String)>;

pub(crate) fn of_exchange(before: &[&Run<Exchange>], after: &[&Run<Exchange>]) -> Vec<Changed> {
    of_runs(before, after, |plan| {
        let mut facts = of_links(plan.links());
        let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
        fact("protocol", word(&plan.protocol));
        fact("connection", word(&plan.connect));
        fact("length of a point", length(plan.limit));
        fact("schedule", schedule(plan.schedule));
        fact("timeout", exact_time(plan.timeout_ns));
        fact("wait", word(&plan.wait));
        fact("warm-up", plan.warmup.to_string());
        facts.extend(of_plan(&plan.host, &plan.link));
        facts
    })
}

pub(crate) fn of_stream(before: &[&Run<Stream>], after: &[&Run<Stream>]) -> Vec<Changed> {
    of_runs(before, after, |plan| {
        let mut facts = of_links(plan.links());
        let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
        fact("length of a point", exact_time(plan.duration_ns));
        fact("start-up excluded", exact_time(plan.settle_ns));
        fact("content checked", crate::key::yes(plan.check));
        fact("loss probability for buffers", plan.loss.to_string());
        facts.extend(of_plan(&plan.host, &plan.link));
        facts
    })
}

/// The differences between the plans, as facts, and the conditions of runs of one kind.
pub(crate) fn of_runs<K: Files>(
    before: &[&Run<K>],
    after: &[&Run<K>],
    facts_of: impl Fn(&K::Plan) -> Facts,
) -> Vec<Changed> {
    let facts = |runs: &[&Run<K>]| -> Vec<Facts> {
        let both = |run: &&Run<K>| {
            // The user knows best what is different.
            let note = run.file.conditions.note.as_ref();
            let one_line = |note: &String| note.lines().collect::<Vec<_>>().join("; ");
            let note = note.map(|note| ("note".to_owned(), one_line(note)));
            let mut facts: Facts = note.into_iter().collect();
            facts.extend(facts_of(&run.file.plan));
            facts.extend(of_conditions(&run.file.conditions));
            facts
        };
        runs.iter().map(both).collect()
    };
    let conditions = |runs: &[&Run<K>]| -> Vec<Conditions> {
        runs.iter().map(|run| run.file.conditions.clone()).collect()
    };
    let mut changed = between(&facts(before), &facts(after));
    changed.extend(measured(&conditions(before), &conditions(after)));
    changed
}

fn of_links<'a>(links: impl Iterator<Item = &'a str>) -> Facts {
    let address = |(at, address): (usize, &str)| match at {
        0 => ("address".to_owned(), address.to_owned()),
        _ => (format!("address of link {at}"), address.to_owned()),
    };
    links.enumerate().map(address).collect()
}

fn of_plan(host: &HostPlan, link: &LinkOptions) -> Facts {
    let load = format!(
        "{} compute, {} copy threads",
        host.load.cpu, host.load.memory
    );
    vec![
        ("priority".to_owned(), optional(&host.priority)),
        ("pinned to CPU".to_owned(), optional(&host.pin)),
        ("synthetic load".to_owned(), load),
        ("baud rate".to_owned(), optional(&link.baud)),
        (
            "TCP quick acknowledgement".to_owned(),
            crate::key::yes(link.quick_ack),
        ),
        ("URBs recorded".to_owned(), crate::key::yes(link.usbmon)),
        (
            "bytes of an isochronous packet".to_owned(),
            optional(&link.isochronous.map(|of| of.packet_bytes)),
        ),
    ]
}

fn of_conditions(conditions: &Conditions) -> Facts {
    let host = &conditions.host;
    let mut facts: Facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
    fact("wiregauge", conditions.version.clone());
    fact("host", host.name.clone());
    fact("kernel", host.kernel.clone());
    fact("processor", host.cpu.clone());
    fact("CPUs online", host.processors.to_string());
    fact("clock source", host.clock_source.clone());
    fact("frequency governor", optional(&host.governor));
    fact("hypervisor", crate::key::yes(host.hypervisor));
    fact("scheduling", host.policy.clone());
    fact("CPUs allowed", word(&host.affinity));
    fact("memory locked", crate::key::yes(host.memory_locked));
    fact("real-time runtime", optional(&host.rt_runtime_us));
    let links = std::iter::once((&conditions.link, &conditions.responder)).chain(
        conditions
            .more_links
            .iter()
            .map(|more| (&more.link, &more.responder)),
    );
    for (at, (link, responder)) in links.enumerate() {
        let of = if at == 0 {
            String::new()
        } else {
            format!(" of link {at}")
        };
        facts.extend(of_link(link, &of));
        let Some(responder) = responder else { continue };
        facts.push((format!("device{of}"), responder.name.clone()));
        facts.push((format!("bus of the device{of}"), optional(&responder.bus)));
        facts.push((
            format!("clock of the device{of}"),
            format!("{} Hz", responder.tick_hz),
        ));
    }
    facts
}

fn of_link(link: &LinkDetail, of: &str) -> Facts {
    let setting = |(name, value): &(String, String)| (format!("{name}{of}"), value.clone());
    link.settings.iter().map(setting).collect()
}

fn optional<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or_else(|| "-".to_owned(), T::to_string)
}

/// A plain value in words: `AsFastAsPossible` as "as fast as possible".
fn word<T: Debug>(value: &T) -> String {
    let mut words = String::new();
    for c in format!("{value:?}").chars() {
        if c.is_ascii_uppercase() && words.ends_with(|c: char| c.is_ascii_lowercase()) {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// How long a point is measured.
fn length(limit: Limit) -> String {
    match limit {
        Limit::Count(1) => "1 exchange".into(),
        Limit::Count(count) => format!("{} exchanges", grouped(count)),
        Limit::DurationNs(ns) => exact_time(ns),
    }
}

pub(crate) fn schedule(schedule: Schedule) -> String {
    match schedule {
        Schedule::AsFastAsPossible => "as fast as possible".into(),
        Schedule::EveryNs(ns) => format!("one every {}", exact_time(ns)),
    }
}

/// What has not the same values on both sides.
fn between(before: &[Facts], after: &[Facts]) -> Vec<Changed> {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in before.iter().chain(after).flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let values = |side: &[Facts], name: &String| -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for facts in side {
            let value = facts.iter().find(|fact| fact.0 == *name);
            let value = value.map_or_else(|| "-".to_owned(), |fact| fact.1.clone());
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values.sort_unstable();
        values
    };
    let changed = |name: &String| {
        let (before, after) = (values(before, name), values(after, name));
        (before != after).then(|| Changed {
            what: name.clone(),
            before: before.join(" / "),
            after: after.join(" / "),
        })
    };
    names.into_iter().filter_map(changed).collect()
}

/// What was measured of the host is never quite the same: it is shown where it differs much.
fn measured(before: &[Conditions], after: &[Conditions]) -> Vec<Changed> {
    let mean = |side: &[Conditions], of: &dyn Fn(&Conditions) -> Option<f64>| {
        let values: Vec<f64> = side.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let mut changed = Vec::new();
    let load = |conditions: &Conditions| conditions.host.load.map(|[minute, ..]| minute);
    if let (Some(b), Some(a)) = (mean(before, &load), mean(after, &load))
        && (b - a).abs() >= LOAD
    {
        changed.push(Changed {
            what: "load average before the run".to_owned(),
            before: format!("{b:.2}"),
            after: format!("{a:.2}"),
        });
    }
    let floor = |of: &Option<Calibration>| {
        let floor = of.as_ref()?.floors.last()?;
        Some(floor.rtt.p50.value)
    };
    let floors = |conditions: &Conditions| {
        // The better of the two, as a burst of load may have struck one.
        let (before, after) = (floor(&conditions.before), floor(&conditions.after));
        before.into_iter().chain(after).reduce(f64::min)
    };
    if let (Some(b), Some(a)) = (mean(before, &floors), mean(after, &floors))
        && (a / b - 1.0).abs() >= FLOOR
    {
        changed.push(Changed {
            what: "floor of this host without the device (p50)".to_owned(),
            before: time(b),
            after: time(a),
        });
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told_and_a_missing_setting_is_a_difference() {
        let facts = |pairs: &[(&str, &str)]| -> Facts {
            let fact = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            pairs.iter().map(fact).collect()
        };
        let before = [facts(&[
            ("kernel", "6.1"),
            ("host", "lab"),
            ("driver", "cdc_acm"),
        ])];
        let after = [
            facts(&[("kernel", "6.6"), ("host", "lab")]),
            facts(&[("kernel", "6.1"), ("host", "lab")]),
        ];
        let printed: Vec<String> = between(&before, &after)
            .iter()
            .map(|c| format!("{}: {} -> {}", c.what, c.before, c.after))
            .collect();
        assert_eq!(
            printed,
            ["kernel: 6.1 -> 6.1 / 6.6", "driver: cdc_acm -> -"]
        );
    }

    #[test]
    fn values_are_reported_in_words() {
        assert_eq!(word(&wiregauge_record::Protocol::GetStatus), "get status");
        assert_eq!(length(Limit::Count(20_000)), "20,000 exchanges");
        assert_eq!(length(Limit::DurationNs(1_400_000_000)), "1.4 s");
        assert_eq!(schedule(Schedule::AsFastAsPossible), "as fast as possible");
        assert_eq!(schedule(Schedule::EveryNs(500_000)), "one every 500 us");
    }
}
