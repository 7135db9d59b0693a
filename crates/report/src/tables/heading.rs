//! What was measured, on what, in two lines; and what the host does without the device.

use super::places::Places;
use wiregauge_quantity::{exact_time, grouped, time};
use wiregauge_record::{
    Calibration, Conditions, Floor, Limit, LoopWait, Protocol, Schedule, WakeUp,
};
use wiregauge_run::{Loop, RunFile, Stream};
use wiregauge_stats::Distribution;

/// What the user wrote about the run, line by line.
pub(super) fn note(conditions: &Conditions) -> Vec<String> {
    let note = conditions.note.as_deref().unwrap_or_default();
    let mut lines = note.lines().map(str::trim).filter(|line| !line.is_empty());
    // A run.json that was edited may hold anything.
    let one_line = |line: &str| line.replace(char::is_control, "\u{fffd}");
    let first = lines.next().map(|line| format!("note: {}", one_line(line)));
    first.into_iter().chain(lines.map(one_line)).collect()
}

/// The addresses of all links, each with the name of its device in parentheses; before the first name the protocol.
fn links<'a>(
    addresses: impl Iterator<Item = &'a str>,
    conditions: &Conditions,
    protocol: Option<&str>,
) -> String {
    let further = conditions.more_links.iter().map(|more| &more.responder);
    let mut responders = std::iter::once(&conditions.responder).chain(further);
    let mut line = String::new();
    for (at, address) in addresses.enumerate() {
        if at > 0 {
            line += &format!(", link {at}: ");
        }
        line += address;
        let responder = responders.next().and_then(Option::as_ref);
        let name = responder.map(|responder| responder.name.as_str());
        let about: Vec<&str> = protocol
            .filter(|_| at == 0)
            .into_iter()
            .chain(name)
            .collect();
        if !about.is_empty() {
            line += &format!(" ({})", about.join(", "));
        }
    }
    line
}

/// Of an exchange run.
pub(super) fn of_exchange(file: &RunFile) -> Vec<String> {
    let (plan, conditions) = (&file.plan, &file.conditions);
    let how = match plan.schedule {
        Schedule::AsFastAsPossible => "as fast as possible".to_string(),
        Schedule::EveryNs(ns) => format!("one every {}", exact_time(ns)),
    };
    let each = each(plan.points.len());
    let much = match (plan.limit, plan.schedule) {
        (Limit::Count(1), _) => format!("1 exchange{each}"),
        (Limit::Count(count), _) => format!("{} exchanges{each}", grouped(count)),
        (Limit::DurationNs(ns), Schedule::AsFastAsPossible) => format!("{}{each}", exact_time(ns)),
        // A point that falls behind takes longer.
        (Limit::DurationNs(ns), Schedule::EveryNs(_)) => {
            format!("exchanges due within {}{each}", exact_time(ns))
        }
    };
    let protocol = match plan.protocol {
        Protocol::Echo => "echo",
        Protocol::Wiregauge => "wiregauge protocol",
        Protocol::Lines => "lines",
        Protocol::Text => "text",
        Protocol::Scpi => "SCPI",
        Protocol::Modbus => "Modbus",
        Protocol::GetStatus => "GET_STATUS",
    };
    let mut line = links(plan.links(), conditions, Some(protocol));
    let shared = comma_before(Places::new(plan.points.iter().copied()).shared());
    line += &format!("{shared}, {much}, {how}");
    if plan.warmup > 0 {
        line += &format!(", after a warm-up of {}", plan.warmup);
    }
    let wait = format!(", wait {:?}", plan.wait).to_lowercase();
    [line].into_iter().chain(host(conditions, &wait)).collect()
}

/// Of a stream run.
pub(super) fn of_stream(file: &RunFile<Stream>, places: &Places) -> Vec<String> {
    let (plan, conditions) = (&file.plan, &file.conditions);
    let mut line = links(plan.links(), conditions, None);
    let shared = comma_before(places.shared());
    let each = each(plan.points.len());
    line += &format!(
        "{shared}, {}{each} after {} of start-up",
        exact_time(plan.duration_ns),
        exact_time(plan.settle_ns)
    );
    [line].into_iter().chain(host(conditions, "")).collect()
}

/// Of a loop run.
pub(super) fn of_loop(file: &RunFile<Loop>) -> Vec<String> {
    let plan = &file.plan;
    let stages: Vec<String> = plan.process.iter().map(ToString::to_string).collect();
    let shared = comma_before(Places::of_loop(&file.points).shared());
    let mut line = format!(
        "{}{shared}, {}{} after {} of start-up, processing {}",
        plan.address,
        exact_time(plan.duration_ns),
        each(plan.points.len()),
        exact_time(plan.settle_ns),
        stages.join(",")
    );
    if plan.find {
        line += &format!(", each preload tested for {}", exact_time(plan.hold_ns));
    }
    let wait = match plan.wait {
        LoopWait::Sleep => ", wait sleep".into(),
        LoopWait::Spin => ", wait spin".into(),
        LoopWait::Hybrid { margin_ns } => {
            format!(
                ", wait sleep, then spin for the last {}",
                exact_time(margin_ns)
            )
        }
    };
    let further = host(&file.conditions, &wait)
        .into_iter()
        .chain(gpu(&file.conditions));
    [line].into_iter().chain(further).collect()
}

/// Behind a duration or a count that each of several points has.
fn each(points: usize) -> &'static str {
    match points {
        0 | 1 => "",
        _ => " per point",
    }
}

fn comma_before(words: String) -> String {
    match words.is_empty() {
        true => words,
        false => format!(", {words}"),
    }
}

/// The GPU of a loop that used one, how it is driven and connected.
fn gpu(conditions: &Conditions) -> Option<String> {
    let settings = conditions.link.settings.iter();
    let of_gpu = settings.filter(|(name, _)| name == "gpu" || name.starts_with("gpu "));
    let values: Vec<&str> = of_gpu.map(|(_, value)| value.as_str()).collect();
    (!values.is_empty()).then(|| format!("GPU {}", values.join("; ")))
}

/// The host that it was measured on, in a line; `more` goes behind its scheduling.
pub(super) fn host(conditions: &Conditions, more: &str) -> Option<String> {
    let host = &conditions.host;
    if host.kernel.is_empty() {
        return None;
    }
    let virtual_machine = match host.hypervisor {
        true => " (virtual machine)",
        false => "",
    };
    let load = host
        .load
        .map_or(String::new(), |[minute, ..]| format!(", load {minute:.2}"));
    Some(format!(
        "host {}: {}, {} CPUs{virtual_machine}, {}{more}{load}",
        host.name, host.cpu, host.processors, host.policy
    ))
}

/// What an exchange and a sleep cost on this host without the device, before and after the run.
pub(super) fn floors(conditions: &Conditions) -> Vec<String> {
    let (Some(before), after) = (&conditions.before, &conditions.after) else {
        return Vec::new();
    };
    let pair = |of: &dyn Fn(&Calibration) -> Option<f64>| {
        let shown = |found: Option<&Calibration>| found.and_then(of).map_or("-".into(), time);
        let shown: [String; 2] = [shown(Some(before)), shown(after.as_ref())];
        shown.join(" / ")
    };
    let floor = |(at, floor): (usize, &Floor)| {
        let of = |part: fn(&Distribution) -> f64| pair(&|c| Some(part(&c.floors.get(at)?.rtt)));
        format!(
            "{}, {} B: p50 {}, p99 {}, max {}",
            floor.name,
            floor.bytes,
            of(|rtt| rtt.p50.value),
            of(|rtt| rtt.p99.value),
            of(|rtt| rtt.max)
        )
    };
    let wake_up = |of: fn(&WakeUp) -> u64| pair(&|c| Some(of(&c.wake_up) as f64));
    let sleep = format!(
        "wake-up latency p50 {}, max {}; longest clock gap while spinning {}",
        wake_up(|of| of.delay_p50_ns),
        wake_up(|of| of.delay_max_ns),
        wake_up(|of| of.clock_gap_max_ns)
    );
    let floors = before.floors.iter().enumerate().map(floor);
    floors.chain([sleep]).collect()
}
