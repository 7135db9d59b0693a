//! A run as it is printed: for machines as JSON, for people as tables with what to make of them.

use crate::args::Look;
use crate::output::style::{CAUTION, HEADING, RESET};
use crate::output::units::time;
use crate::output::{tables, warnings};
use std::io::Write;
use wiregauge_record::{Calibration, Conditions, Limit, Protocol, Schedule};
use wiregauge_run::{RunFile, RunKind, State};

/// Prints a run to standard output.
pub fn print(file: &RunFile, look: Look) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    if look.json {
        return json(&mut out, file);
    }
    if !look.quiet {
        header(&mut out, file)?;
    }
    for table in tables::of_run(file, look.confidence) {
        writeln!(out, "\n{HEADING}{}{RESET}", table.title)?;
        write!(out, "{}", table.text())?;
    }
    if !look.quiet {
        floors(&mut out, file)?;
    }
    for text in &file.warnings {
        writeln!(out, "\n{CAUTION}warning:{RESET} {text}")?;
    }
    for warning in warnings::of_run(file) {
        writeln!(out, "\n{CAUTION}warning:{RESET} {warning}")?;
    }
    if let State::Failed { error } = &file.state {
        writeln!(out, "\n{CAUTION}the run failed:{RESET} {error}")?;
    }
    out.flush()?;
    Ok(())
}

/// Prints a run of any kind for machines.
pub fn json<K: RunKind>(out: &mut impl Write, file: &RunFile<K>) -> anyhow::Result<()> {
    // The kind is kept, so that `| head` is known as such.
    serde_json::to_writer_pretty(&mut *out, file).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn header(out: &mut impl Write, file: &RunFile) -> std::io::Result<()> {
    let (plan, conditions) = (&file.plan, &file.conditions);
    let how = match plan.schedule {
        Schedule::AsFastAsPossible => "as fast as possible".to_string(),
        Schedule::EveryNs(ns) => format!("one every {}", time(ns as f64)),
    };
    let much = match plan.limit {
        Limit::Count(count) => format!("{count} exchanges a point"),
        Limit::DurationNs(ns) => format!("{} a point", time(ns as f64)),
    };
    let protocol = match plan.protocol {
        Protocol::Echo => "echo",
        Protocol::Wiregauge => "wiregauge protocol",
    };
    write!(out, "{HEADING}{}{RESET} ({protocol}", plan.address)?;
    if let Some(responder) = &conditions.responder {
        write!(out, ", {}", responder.name)?;
    }
    for (at, link) in plan.more_links.iter().enumerate() {
        write!(out, "; link {}: {link}", at + 1)?;
    }
    write!(out, "), {much}, {how}")?;
    if plan.warmup > 0 {
        write!(out, ", after {} to warm up", plan.warmup)?;
    }
    writeln!(out)?;
    let wait = format!(", waits by {:?}", plan.wait).to_lowercase();
    host(out, conditions, &wait)
}

/// The host that it was measured on, in a line; `more` goes behind its scheduling.
pub fn host(out: &mut impl Write, conditions: &Conditions, more: &str) -> std::io::Result<()> {
    let host = &conditions.host;
    if host.kernel.is_empty() {
        return Ok(());
    }
    write!(
        out,
        "  host {}: {}, {} processors",
        host.name, host.cpu, host.processors
    )?;
    if host.hypervisor {
        write!(out, " (virtual machine)")?;
    }
    writeln!(out, ", {}{more}, load {:.2}", host.policy, host.load[0])
}

fn floors(out: &mut impl Write, file: &RunFile) -> std::io::Result<()> {
    let conditions = &file.conditions;
    let (Some(before), after) = (&conditions.before, &conditions.after) else {
        return Ok(());
    };
    writeln!(
        out,
        "\n{HEADING}This host without the device{RESET} (before / after the run)"
    )?;
    for (at, floor) in before.floors.iter().enumerate() {
        let later = after.as_ref().and_then(|after| after.floors.get(at));
        let pair = |of: &dyn Fn(&wiregauge_record::Floor) -> f64| {
            let later = later.map_or("-".into(), |floor| time(of(floor)));
            format!("{} / {later}", time(of(floor)))
        };
        writeln!(
            out,
            "  {}, {} B: p50 {}, p99 {}, max {}",
            floor.name,
            floor.bytes,
            pair(&|floor| floor.rtt.p50.value),
            pair(&|floor| floor.rtt.p99.value),
            pair(&|floor| floor.rtt.max)
        )?;
    }
    let pair = |of: &dyn Fn(&Calibration) -> u64| {
        let later = after
            .as_ref()
            .map_or("-".into(), |after| time(of(after) as f64));
        format!("{} / {later}", time(of(before) as f64))
    };
    writeln!(
        out,
        "  wake-up from sleep late by p50 {}, max {}; longest clock gap while spinning {}",
        pair(&|c| c.wake_up.delay_p50_ns),
        pair(&|c| c.wake_up.delay_max_ns),
        pair(&|c| c.wake_up.clock_gap_max_ns)
    )
}
