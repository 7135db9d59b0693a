//! What a run ran on and how it was asked to measure, as names and values in groups: all that
//! `run.json` holds of it, for whoever wants to repeat the run or doubts it.

use super::heading;
use crate::signs::proper;
use wiregauge_quantity::grouped;
use wiregauge_record::{
    Aim, Conditions, Connect, Ending, HostPlan, Limit, LinkDetail, LinkOptions, LoopWait,
    ModbusLine, Protocol, ReplyEnd, Responder, Schedule, escape,
};
use wiregauge_run::{Control, Files, Loop, RunFile, Stream};

/// Names and values.
type Values = Vec<(String, String)>;

/// Titled groups of them.
type Groups = Vec<(String, Values)>;

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
    let mut method = Values::new();
    let mut add = |name: &str, value: String| method.push((name.into(), value));
    add(
        "protocol",
        match plan.protocol {
            Protocol::Echo => "echo: the device returns all data",
            Protocol::Wiregauge => "wiregauge protocol",
            Protocol::Lines => "lines: one line of text per request and response",
            Protocol::Text => "text: the queries of the user",
            Protocol::Scpi => "SCPI: queries of IEEE 488.2",
            Protocol::Modbus => "Modbus",
            Protocol::GetStatus => "GET_STATUS: the standard request of USB, 2 bytes IN",
        }
        .into(),
    );
    if let Some(queries) = &plan.queries {
        let names: Vec<&str> = queries
            .list
            .iter()
            .take(10)
            .map(|q| q.name.as_str())
            .collect();
        let more = match queries.list.len().saturating_sub(10) {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        add("queries, in turn", format!("{}{more}", names.join("; ")));
        add("a reply ends", reply_end(&queries.reply));
        if let Some(expect) = &queries.expect {
            add("expected replies match", expect.clone());
        }
    }
    add(
        "connection",
        match plan.connect {
            Connect::Once => "one for the whole run",
            Connect::Each => "a new one for each exchange",
        }
        .into(),
    );
    add(
        "measured at each point",
        match (plan.limit, plan.schedule) {
            (Limit::Count(count), _) => format!("{} exchanges", grouped(count)),
            (Limit::DurationNs(ns), Schedule::AsFastAsPossible) => set_time(ns),
            (Limit::DurationNs(ns), Schedule::EveryNs(_)) => {
                format!("exchanges due within {}", set_time(ns))
            }
        },
    );
    add(
        "warm-up at each point",
        match plan.warmup {
            0 => "none; the first exchange is reported separately".into(),
            count => format!(
                "{} exchanges; the first one is reported separately",
                grouped(count)
            ),
        },
    );
    add(
        "schedule",
        match plan.schedule {
            Schedule::AsFastAsPossible => "as fast as the depth allows".into(),
            Schedule::EveryNs(ns) => format!("one every {}", set_time(ns)),
        },
    );
    add("timeout", set_time(plan.timeout_ns));
    add("stop after", format!("{} consecutive losses", plan.give_up));
    add("wait", format!("{:?}", plan.wait).to_lowercase());
    add(
        "bytes of the answers stored",
        match plan.keep_data {
            false if plan.keeps_data() => "of unexpected replies".into(),
            keep_data => yes(keep_data),
        },
    );
    let points = points(file.points.iter().map(|p| &p.ending), plan.points.len());
    let mut groups = vec![run(file, points), ("Method".into(), method)];
    groups.extend(surroundings(file, plan.links(), &plan.host, &plan.link));
    groups
}

/// Of a loop run.
pub(super) fn of_loop(file: &RunFile<Loop>) -> Groups {
    let plan = &file.plan;
    let stages: Vec<String> = plan.process.iter().map(ToString::to_string).collect();
    let mut method = Values::new();
    let mut add = |name: &str, value: String| method.push((name.into(), value));
    add("measured at each point", set_time(plan.duration_ns));
    add("start-up excluded", set_time(plan.settle_ns));
    add("processing", stages.join(", "));
    add(
        "waits",
        match plan.wait {
            LoopWait::Sleep => "asleep".into(),
            LoopWait::Spin => "spinning".into(),
            LoopWait::Hybrid { margin_ns } => {
                format!("asleep, then spinning for the last {}", set_time(margin_ns))
            }
        },
    );
    add(
        "preload of the curve",
        match plan.find {
            true => format!("tested for {}", set_time(plan.hold_ns)),
            false => "not tested".into(),
        },
    );
    add("floor, memory and stages measured", yes(plan.calibrate));
    let (planned, tested): (Vec<_>, Vec<_>) = file
        .points
        .iter()
        .partition(|p| p.point.aim == Aim::Curve || plan.points.contains(&p.point));
    let mut points = points(planned.iter().map(|p| &p.ending), plan.points.len());
    if !tested.is_empty() {
        points += &format!(", and {} tested preloads", tested.len());
    }
    let mut groups = vec![run(file, points), ("Method".into(), method)];
    let address = std::iter::once(plan.address.as_str());
    groups.extend(surroundings(
        file,
        address,
        &plan.host,
        &LinkOptions::default(),
    ));
    groups
}

/// Of a run of a control loop.
pub(super) fn of_control(file: &RunFile<Control>) -> Groups {
    let plan = &file.plan;
    let mut method = Values::new();
    let mut add = |name: &str, value: String| method.push((name.into(), value));
    if !plan.model.words.is_empty() {
        add("control loop", plan.model.words.clone());
    }
    add("cycles", grouped(plan.cycles));
    add(
        "schedule",
        format!("one every {}", set_time(plan.point.period_ns)),
    );
    add("samples outstanding at most", plan.point.depth.to_string());
    if plan.point.step != 0.0 {
        let step = plan.point.step;
        add("reference in the second half", step.to_string());
    }
    add("timeout", set_time(plan.timeout_ns));
    let points = points(file.points.iter().map(|p| &p.ending), 1);
    let mut groups = vec![run(file, points), ("Method".into(), method)];
    let address = std::iter::once(plan.address.as_str());
    groups.extend(surroundings(file, address, &plan.host, &plan.link));
    groups
}

/// Of a stream run.
pub(super) fn of_stream(file: &RunFile<Stream>) -> Groups {
    let plan = &file.plan;
    let mut method = Values::new();
    let mut add = |name: &str, value: String| method.push((name.into(), value));
    add("measured at each point", set_time(plan.duration_ns));
    add("start-up excluded", set_time(plan.settle_ns));
    add(
        "received bytes",
        match plan.check {
            true => "content checked",
            false => "counted only",
        }
        .into(),
    );
    add(
        "stop after",
        format!("{} without a transfer", set_time(plan.timeout_ns)),
    );
    if !plan.rates_bytes_s.is_empty() {
        let rates = plan.rates_bytes_s.iter();
        let rates: Vec<String> = rates
            .map(|&rate| format!("{} B/s", grouped(rate)))
            .collect();
        add("buffers computed for", rates.join(", "));
        add("loss probability for them", format!("{:e}", plan.loss));
    }
    let points = points(file.points.iter().map(|p| &p.ending), plan.points.len());
    let mut groups = vec![run(file, points), ("Method".into(), method)];
    groups.extend(surroundings(file, plan.links(), &plan.host, &plan.link));
    groups
}

/// `2 measured of 12 planned, 1 not to its end`.
fn points<'a>(endings: impl Iterator<Item = &'a Ending>, planned: usize) -> String {
    let (whole, cut): (Vec<_>, Vec<_>) = endings.partition(|ending| **ending == Ending::Complete);
    let cut = match cut.len() {
        0 => String::new(),
        1 => ", 1 not to its end".to_owned(),
        many => format!(", {many} not to their end"),
    };
    format!("{} measured of {planned} planned{cut}", whole.len())
}

fn run<K: Files>(file: &RunFile<K>, points: String) -> (String, Values) {
    let conditions = &file.conditions;
    let text = |name: &str, value: String| (name.to_owned(), value);
    let mut values = vec![
        text("kind", K::NAME.into()),
        text("started", conditions.started.clone()),
        text("state", file.state.describe().into()),
        text("points", points),
        text(
            "samples",
            format!("{} {}", grouped(file.measured()), K::ROWS),
        ),
        text("wiregauge", conditions.version.clone()),
    ];
    values.extend(
        conditions
            .worker
            .clone()
            .map(|worker| text("worker", worker)),
    );
    values.extend(conditions.note.clone().map(|note| text("note", note)));
    ("Run".into(), values)
}

fn surroundings<'a, K: Files>(
    file: &RunFile<K>,
    links: impl Iterator<Item = &'a str>,
    host: &HostPlan,
    options: &LinkOptions,
) -> Groups {
    let conditions = &file.conditions;
    let mut groups = Groups::new();
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
    let text = |name: &str, value: String| (name.to_owned(), value);
    vec![
        text("name", host.name.clone()),
        text("kernel", host.kernel.clone()),
        text("processor", host.cpu.clone()),
        text("CPUs online", host.processors.to_string()),
        text("virtual machine", yes(host.hypervisor)),
        text(
            "frequency governor",
            host.governor.clone().unwrap_or_else(|| "none".into()),
        ),
        text("clock source", host.clock_source.clone()),
        text(
            "load over 1, 5, 15 minutes",
            host.load.map_or("unknown".into(), |[one, five, fifteen]| {
                format!("{one:.2}, {five:.2}, {fifteen:.2}")
            }),
        ),
    ]
}

fn scheduling(conditions: &Conditions, plan: &HostPlan) -> Values {
    let host = &conditions.host;
    let mut values = Values::new();
    let mut add = |name: &str, value: String| values.push((name.into(), value));
    if !host.kernel.is_empty() {
        add("policy", host.policy.clone());
        let affinity: Vec<String> = host.affinity.iter().map(u32::to_string).collect();
        add("CPUs allowed", affinity.join(", "));
        add("memory locked", yes(host.memory_locked));
        let share = match host.rt_runtime_us {
            Some(-1) => "no limit".into(),
            Some(us) => format!("{} µs per second", grouped(us.unsigned_abs())),
            None => "unknown".into(),
        };
        add("real-time runtime limit", share);
    }
    let asked = [
        plan.priority.map(|priority| format!("priority {priority}")),
        plan.pin.map(|cpu| format!("CPU {cpu}")),
        plan.lock_memory.then(|| "memory locked".to_owned()),
    ];
    let asked: Vec<String> = asked.into_iter().flatten().collect();
    add(
        "requested",
        match asked.is_empty() {
            true => "nothing".into(),
            false => asked.join(", "),
        },
    );
    let load = plan.load;
    if load.cpu + load.memory > 0 {
        let made = format!("{} compute and {} copy threads", load.cpu, load.memory);
        add("synthetic load", made);
    }
    values
}

fn of_link(
    address: &str,
    detail: Option<&LinkDetail>,
    responder: Option<&Responder>,
    options: &LinkOptions,
) -> Values {
    let mut values = vec![("address".to_owned(), address.to_owned())];
    if let Some(detail) = detail {
        values.extend(detail.settings.iter().cloned());
    }
    let mut add = |name: &str, value: String| values.push((name.into(), value));
    if let Some(baud) = options.baud {
        add("requested baud rate", baud.to_string());
    }
    if let Some(isochronous) = options.isochronous {
        let packets = format!("packets of {} B", isochronous.packet_bytes);
        add("isochronous transfers", packets);
    }
    if options.usbmon {
        add("URBs recorded", "with usbmon".into());
    }
    let Some(device) = responder else {
        return values;
    };
    add("device", device.name.clone());
    add(
        "largest frame OUT",
        format!("{} B", grouped(device.max_out_bytes.into())),
    );
    add(
        "largest frame IN",
        format!("{} B", grouped(device.max_in_bytes.into())),
    );
    if device.max_outstanding > 0 {
        add("largest depth", grouped(device.max_outstanding.into()));
    }
    add(
        "device clock",
        match device.tick_hz {
            0 => "none".into(),
            hz => format!("{} Hz, {} bit", grouped(hz), device.tick_bits),
        },
    );
    if let Some(bus) = &device.bus {
        add("bus, as reported by the device", bus.clone());
    }
    values
}

fn yes(so: bool) -> String {
    if so { "yes" } else { "no" }.into()
}
