//! What a run ran on and how it was asked to measure, as names and values in groups: all that
//! `run.json` holds of it, for whoever wants to repeat the run or doubts it.

use super::heading;
use crate::signs::proper;
use wiregauge_quantity::grouped;
use wiregauge_record::{
    Aim, Conditions, Connect, HostPlan, Limit, LinkDetail, LinkOptions, LoopSummary, LoopWait,
    ModbusLine, Protocol, ReplyEnd, Responder, Schedule, escape,
};
use wiregauge_run::{Control, Files, Loop, RunFile, Stream};

/// Names and values.
type Values = Vec<(String, String)>;

/// Titled groups of them.
type Groups = Vec<(String, Values)>;

fn named<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> Values {
    let owned = |(name, value): (&str, String)| (name.to_owned(), value);
    pairs.into_iter().map(owned).collect()
}

/// A time that was set, with its proper sign.
fn set_time(ns: u64) -> String {
    proper(&wiregauge_quantity::exact_time(ns)).into_owned()
}

fn reply_end(end: &ReplyEnd) -> String {
    match end {
        ReplyEnd::Until(mark) => format!("with {}", escape(mark)),
        ReplyEnd::Bytes(bytes) => format!("after {bytes} B"),
        ReplyEnd::Length(field) => format!(
            "where its field of {} B at offset {} says",
            field.bytes, field.offset
        ),
        ReplyEnd::IdleNs(ns) => format!("after {} of silence", set_time(*ns)),
        ReplyEnd::Scpi => "with a newline outside block data and strings".into(),
        ReplyEnd::Modbus(ModbusLine::Tcp) => "where Modbus TCP says".into(),
        ReplyEnd::Modbus(ModbusLine::Rtu { silence_ns }) => format!(
            "where Modbus RTU says; {} of silence before each request",
            set_time(*silence_ns)
        ),
    }
}

/// Of an exchange run.
pub(super) fn of_exchange(file: &RunFile) -> Groups {
    let plan = &file.plan;
    let protocol = match plan.protocol {
        Protocol::Echo => "echo: the device returns all data",
        Protocol::Wiregauge => "wiregauge protocol",
        Protocol::Lines => "lines: one line of text per request and response",
        Protocol::Text => "text: the queries of the user",
        Protocol::Scpi => "SCPI: queries of IEEE 488.2",
        Protocol::Modbus => "Modbus",
        Protocol::GetStatus => "GET_STATUS: the standard request of USB, 2 bytes IN",
    };
    let mut method = named([("protocol", protocol.into())]);
    if let Some(queries) = &plan.queries {
        let names = queries.list.iter().take(10).map(|q| q.name.as_str());
        let names = names.collect::<Vec<_>>().join("; ");
        let list = match queries.list.len().saturating_sub(10) {
            0 => names,
            more => format!("{names}; {more} more"),
        };
        let expect = queries.expect.clone();
        let of_queries = [
            Some(("queries, in turn", list)),
            Some(("a reply ends", reply_end(&queries.reply))),
            expect.map(|expect| ("expected replies match", expect)),
        ];
        method.extend(named(of_queries.into_iter().flatten()));
    }
    let connection = match plan.connect {
        Connect::Once => "one for the whole run",
        Connect::Each => "a new one for each exchange",
    };
    let measured = match (plan.limit, plan.schedule) {
        (Limit::Count(count), _) => format!("{} exchanges", grouped(count)),
        (Limit::DurationNs(ns), Schedule::AsFastAsPossible) => set_time(ns),
        (Limit::DurationNs(ns), Schedule::EveryNs(_)) => {
            format!("exchanges due within {}", set_time(ns))
        }
    };
    let warmup = match plan.warmup {
        0 => "none; the first exchange is reported separately".into(),
        count => format!(
            "{} exchanges; the first one is reported separately",
            grouped(count)
        ),
    };
    let schedule = match plan.schedule {
        Schedule::AsFastAsPossible => "as fast as the depth allows".into(),
        Schedule::EveryNs(ns) => format!("one every {}", set_time(ns)),
    };
    let stored = match plan.keep_data {
        false if plan.keeps_data() => "of unexpected replies".into(),
        keep_data => yes(keep_data),
    };
    method.extend(named([
        ("connection", connection.into()),
        ("measured at each point", measured),
        ("warm-up at each point", warmup),
        ("schedule", schedule),
        ("timeout", set_time(plan.timeout_ns)),
        ("stop after", format!("{} consecutive losses", plan.give_up)),
        ("wait", format!("{:?}", plan.wait).to_lowercase()),
        ("bytes of the answers stored", stored),
    ]));
    let links = plan.links();
    groups(file, |_| true, method, links, &plan.host, &plan.link)
}

/// Of a loop run.
pub(super) fn of_loop(file: &RunFile<Loop>) -> Groups {
    let plan = &file.plan;
    let stages: Vec<String> = plan.process.iter().map(ToString::to_string).collect();
    let waits = match plan.wait {
        LoopWait::Sleep => "asleep".into(),
        LoopWait::Spin => "spinning".into(),
        LoopWait::Hybrid { margin_ns } => {
            format!("asleep, then spinning for the last {}", set_time(margin_ns))
        }
    };
    let preload = match plan.find {
        true => format!("tested for {}", set_time(plan.hold_ns)),
        false => "not tested".into(),
    };
    let method = named([
        ("measured at each point", set_time(plan.duration_ns)),
        ("start-up excluded", set_time(plan.settle_ns)),
        ("processing", stages.join(", ")),
        ("waits", waits),
        ("preload of the curve", preload),
        ("floor, memory and stages measured", yes(plan.calibrate)),
    ]);
    let is_planned = |p: &LoopSummary| p.point.aim == Aim::Curve || plan.points.contains(&p.point);
    let (link, options) = ([plan.address.as_str()], LinkOptions::default());
    groups(
        file,
        is_planned,
        method,
        link.into_iter(),
        &plan.host,
        &options,
    )
}

/// Of a run of a control loop.
pub(super) fn of_control(file: &RunFile<Control>) -> Groups {
    let plan = &file.plan;
    let every = set_time(plan.point.period_ns);
    let (words, step) = (&plan.model.words, plan.point.step);
    let words = (!words.is_empty()).then(|| ("control loop", words.clone()));
    let step = (step != 0.0).then(|| ("reference in the second half", step.to_string()));
    let always = [
        ("cycles", grouped(plan.cycles)),
        ("schedule", format!("one every {every}")),
        ("samples outstanding at most", plan.point.depth.to_string()),
    ];
    let timeout = ("timeout", set_time(plan.timeout_ns));
    let method = named(words.into_iter().chain(always).chain(step).chain([timeout]));
    let link = [plan.address.as_str()];
    groups(
        file,
        |_| true,
        method,
        link.into_iter(),
        &plan.host,
        &plan.link,
    )
}

/// Of a stream run.
pub(super) fn of_stream(file: &RunFile<Stream>) -> Groups {
    let plan = &file.plan;
    let received = match plan.check {
        true => "content checked",
        false => "counted only",
    };
    let silence = set_time(plan.timeout_ns);
    let mut method = named([
        ("measured at each point", set_time(plan.duration_ns)),
        ("start-up excluded", set_time(plan.settle_ns)),
        ("received bytes", received.into()),
        ("stop after", format!("{silence} without a transfer")),
    ]);
    if !plan.rates_bytes_s.is_empty() {
        let rates = plan.rates_bytes_s.iter();
        let rates: Vec<String> = rates
            .map(|&rate| format!("{} B/s", grouped(rate)))
            .collect();
        method.extend(named([
            ("buffers computed for", rates.join(", ")),
            ("loss probability for them", format!("{:e}", plan.loss)),
        ]));
    }
    let links = plan.links();
    groups(file, |_| true, method, links, &plan.host, &plan.link)
}

/// `2 measured of 12 planned, 1 not to its end`.
fn points<K: Files>(file: &RunFile<K>, is_planned: impl Fn(&K::Summary) -> bool) -> String {
    let (planned, tested): (Vec<_>, Vec<_>) = file.points.iter().partition(|p| is_planned(p));
    let whole = planned.iter().filter(|p| K::is_complete(p)).count();
    let cut = match planned.len() - whole {
        0 => String::new(),
        1 => ", 1 not to its end".to_owned(),
        many => format!(", {many} not to their end"),
    };
    let tested = match tested.len() {
        0 => String::new(),
        tested => format!(", and {tested} tested preloads"),
    };
    let planned = K::planned(&file.plan);
    format!("{whole} measured of {planned} planned{cut}{tested}")
}

/// The run, its method and what it ran on; `is_planned` is true of its points that are points of the plan.
fn groups<'a, K: Files>(
    file: &RunFile<K>,
    is_planned: impl Fn(&K::Summary) -> bool,
    method: Values,
    links: impl Iterator<Item = &'a str>,
    host: &HostPlan,
    options: &LinkOptions,
) -> Groups {
    let conditions = &file.conditions;
    let samples = format!("{} {}", grouped(file.measured()), K::ROWS);
    let run = [
        Some(("kind", K::NAME.into())),
        Some(("started", conditions.started.clone())),
        Some(("state", file.state.describe().into())),
        Some(("points", points(file, is_planned))),
        Some(("samples", samples)),
        Some(("wiregauge", conditions.version.clone())),
        conditions.worker.clone().map(|worker| ("worker", worker)),
        conditions.note.clone().map(|note| ("note", note)),
    ];
    let mut groups = vec![
        ("Run".into(), named(run.into_iter().flatten())),
        ("Method".into(), method),
    ];
    // A run that failed before its link was open knows nothing of its host.
    if !conditions.host.kernel.is_empty() {
        groups.push(("Host".into(), of_host(conditions)));
    }
    groups.push(("Scheduling".into(), scheduling(conditions, host)));
    for (at, address) in links.enumerate() {
        let title = match at {
            0 => "Link".to_owned(),
            at => format!("Link {at}"),
        };
        let further = at.checked_sub(1).map(|at| conditions.more_links.get(at));
        let (detail, responder) = match further {
            None => (Some(&conditions.link), conditions.responder.as_ref()),
            Some(further) => (
                further.map(|further| &further.link),
                further.and_then(|further| further.responder.as_ref()),
            ),
        };
        groups.push((title, of_link(address, detail, responder, options)));
    }
    let floors = heading::floors(conditions);
    if !floors.is_empty() {
        let split = |line: String| match proper(&line).split_once(": ") {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => ("sleep and clock".to_owned(), proper(&line).into_owned()),
        };
        let title = format!("{}, {}", super::FLOORS, super::FLOORS_ARE);
        groups.push((title, floors.into_iter().map(split).collect()));
    }
    groups
}

fn of_host(conditions: &Conditions) -> Values {
    let host = &conditions.host;
    let load = host.load.map_or("unknown".into(), |[one, five, fifteen]| {
        format!("{one:.2}, {five:.2}, {fifteen:.2}")
    });
    named([
        ("name", host.name.clone()),
        ("kernel", host.kernel.clone()),
        ("processor", host.cpu.clone()),
        ("CPUs online", host.processors.to_string()),
        ("virtual machine", yes(host.hypervisor)),
        (
            "frequency governor",
            host.governor.clone().unwrap_or_else(|| "none".into()),
        ),
        ("clock source", host.clock_source.clone()),
        ("load over 1, 5, 15 minutes", load),
    ])
}

fn scheduling(conditions: &Conditions, plan: &HostPlan) -> Values {
    let host = &conditions.host;
    let mut values = Values::new();
    if !host.kernel.is_empty() {
        let affinity: Vec<String> = host.affinity.iter().map(u32::to_string).collect();
        let share = match host.rt_runtime_us {
            Some(-1) => "no limit".into(),
            Some(us) => format!("{} µs per second", grouped(us.unsigned_abs())),
            None => "unknown".into(),
        };
        values = named([
            ("policy", host.policy.clone()),
            ("CPUs allowed", affinity.join(", ")),
            ("memory locked", yes(host.memory_locked)),
            ("real-time runtime limit", share),
        ]);
    }
    let asked = [
        plan.priority.map(|priority| format!("priority {priority}")),
        plan.pin.map(|cpu| format!("CPU {cpu}")),
        plan.lock_memory.then(|| "memory locked".to_owned()),
    ];
    let asked: Vec<String> = asked.into_iter().flatten().collect();
    let requested = match asked.is_empty() {
        true => "nothing".into(),
        false => asked.join(", "),
    };
    let load = plan.load;
    let made = format!("{} compute and {} copy threads", load.cpu, load.memory);
    let made = (load.cpu + load.memory > 0).then_some(("synthetic load", made));
    values.extend(named([("requested", requested)].into_iter().chain(made)));
    values
}

fn of_link(
    address: &str,
    detail: Option<&LinkDetail>,
    responder: Option<&Responder>,
    options: &LinkOptions,
) -> Values {
    let mut values = named([("address", address.to_owned())]);
    values.extend(detail.map_or(Values::new(), |detail| detail.settings.clone()));
    let packets = options.isochronous.map(|of| of.packet_bytes);
    let asked = [
        options
            .baud
            .map(|baud| ("requested baud rate", baud.to_string())),
        packets.map(|bytes| ("isochronous transfers", format!("packets of {bytes} B"))),
        options
            .usbmon
            .then(|| ("URBs recorded", "with usbmon".into())),
    ];
    values.extend(named(asked.into_iter().flatten()));
    let Some(device) = responder else {
        return values;
    };
    let bytes = |most: u32| format!("{} B", grouped(most.into()));
    let depth = Some(device.max_outstanding).filter(|depth| *depth > 0);
    let clock = match device.tick_hz {
        0 => "none".into(),
        hz => format!("{} Hz, {} bit", grouped(hz), device.tick_bits),
    };
    let bus = device.bus.clone();
    let of_device = [
        Some(("device", device.name.clone())),
        Some(("largest frame OUT", bytes(device.max_out_bytes))),
        Some(("largest frame IN", bytes(device.max_in_bytes))),
        depth.map(|depth| ("largest depth", grouped(depth.into()))),
        Some(("device clock", clock)),
        bus.map(|bus| ("bus, as reported by the device", bus)),
    ];
    values.extend(named(of_device.into_iter().flatten()));
    values
}

fn yes(so: bool) -> String {
    if so { "yes" } else { "no" }.into()
}
