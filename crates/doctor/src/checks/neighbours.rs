//! Other programs on the host: who uses the processors that the measurement wants.

use super::check::{
    BUSY_HOST_COST, BUSY_HOST_SOURCE, Check, POINTS_DISTURBED, WHO_RUNS, others, with_remedy,
};
use crate::host::Ticks;
use crate::{Finding, HostContext, Level};
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_quantity::percent;
use wiregauge_record::Disturbance;
use wiregauge_run::Stored;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "CPU use by other programs",
    look,
};

const NAME: &str = "neighbours";

/// Between two readings: thirty ticks of a processor.
const WAIT: Duration = Duration::from_millis(300);

/// Parts of the machine's time, and of one processor's, from which on others are worth a word.
const BUSY_HURTS: f64 = 0.5;
const BUSY_NOTED: f64 = 0.15;
const PROCESS_NOTED: f64 = 0.25;

/// Parts of the time in which somebody waited for a processor, in percent (Documentation/accounting/psi.rst).
const PRESSURE_NOTED: f64 = 5.0;

/// Programs that are named at most.
const MOST_NAMED: usize = 5;

fn look(context: &HostContext) -> Vec<Finding> {
    match &context.run {
        Some(run) => vec![of_run(run.stored())],
        None => vec![now(context)],
    }
}

/// A program and the ticks that it used.
struct Program {
    name: String,
    pid: u32,
    ticks: u64,
}

fn now(context: &HostContext) -> Finding {
    let own = context
        .read("/proc/self/stat")
        .and_then(|stat| number(&stat));
    let pids: Vec<u32> = context
        .names("/proc")
        .iter()
        .filter_map(|name| name.parse().ok())
        .filter(|pid| Some(*pid) != own)
        .collect();
    let stats = pids
        .iter()
        .map(|pid| PathBuf::from(format!("/proc/{pid}/stat")));
    let paths: Vec<PathBuf> = std::iter::once(PathBuf::from("/proc/stat"))
        .chain(stats)
        .collect();
    let mut read = context.twice(&paths, WAIT).into_iter();
    let accounts = read
        .next()
        .flatten()
        .and_then(|(before, after)| Some(Ticks::parse(&after)?.since(Ticks::parse(&before)?)));
    let Some(passed) = accounts.filter(|passed| passed.all > 0) else {
        return Finding::new(NAME, Level::Unknown, "CPU use by other programs is unknown")
            .seen("/proc/stat cannot be read, or does not change");
    };
    let used = |(stat, pid): (Option<(String, String)>, &u32)| {
        let (before, after) = stat?;
        Some(Program {
            name: name(&after)?.to_owned(),
            pid: *pid,
            ticks: ticks(&after)?.saturating_sub(ticks(&before)?),
        })
    };
    let mut programs: Vec<Program> = read.zip(&pids).filter_map(used).collect();
    programs.sort_by_key(|program| std::cmp::Reverse(program.ticks));
    judged(context, passed, &programs)
}

fn judged(context: &HostContext, passed: Ticks, programs: &[Program]) -> Finding {
    let busy = 1.0 - passed.part(passed.idle) - passed.part(passed.steal);
    // Ticks that one processor had.
    let of_one = passed.all as f64 / passed.processors as f64;
    let share = |program: &&Program| program.ticks as f64 / of_one;
    let loud: Vec<&Program> = programs
        .iter()
        .filter(|program| share(program) >= PROCESS_NOTED)
        .collect();
    let pressure = context
        .read("/proc/pressure/cpu")
        .and_then(|text| pressure(&text));
    let level = if busy >= BUSY_HURTS {
        Level::Hurts
    } else if busy >= BUSY_NOTED
        || !loud.is_empty()
        || pressure.is_some_and(|p| p >= PRESSURE_NOTED)
    {
        Level::Note
    } else {
        Level::Good
    };
    let in_use = percent(busy);
    let title = match level {
        Level::Good => "other programs use little CPU time".into(),
        _ if !loud.is_empty() || busy >= BUSY_NOTED => {
            format!("other programs use {in_use} of the CPU time")
        }
        _ => "programs wait for a CPU".into(),
    };
    let mut finding = Finding::new(NAME, level, title).seen(format!(
        "/proc/stat: {in_use} of {} CPUs in use over {} ms",
        passed.processors,
        WAIT.as_millis()
    ));
    for program in loud.iter().take(MOST_NAMED) {
        finding = finding.seen(format!(
            "{} (process {}): {} of a CPU",
            program.name,
            program.pid,
            percent(share(program))
        ));
    }
    if let Some(load) = context.read("/proc/loadavg") {
        let first = load.split_whitespace().next().unwrap_or_default();
        finding = finding.seen(format!("/proc/loadavg: {first} over the last minute"));
    }
    if let Some(waited) = pressure {
        finding = finding.seen(format!(
            "/proc/pressure/cpu: a program waited for a CPU in {} of the last 10 s",
            percent(waited / 100.0)
        ));
    }
    if level == Level::Good {
        return finding;
    }
    // One that has ended meanwhile needs no remedy.
    let alive = loud.iter().filter(|program| {
        context
            .read(format!("/proc/{}/stat", program.pid))
            .is_some()
    });
    let pids: Vec<String> = alive.map(|program| program.pid.to_string()).collect();
    let finding = finding.costs(BUSY_HOST_COST, BUSY_HOST_SOURCE);
    match pids.is_empty() {
        true => finding.remedy(WHO_RUNS),
        false => finding.remedy(format!("sudo renice -n 19 -p {}", pids.join(" "))),
    }
}

fn of_run(run: &dyn Stored) -> Finding {
    let disturbances = run.disturbances();
    let host = &run.conditions().host;
    let load = host.load.map(|[minute, ..]| minute);
    let shares = || {
        disturbances.iter().filter_map(|one| match one {
            Disturbance::SharedProcessor { share } => Some(*share),
            _ => None,
        })
    };
    let preempted = disturbances
        .iter()
        .filter(|one| matches!(one, Disturbance::Preempted { .. }))
        .count();
    let shared = shares().count();
    let shown = load.map_or("load unknown".to_owned(), |load| {
        format!("load {load:.2} over the minute before")
    });
    let seen = format!("{}: {shown}, on {} CPUs", run.name(), host.processors);
    let is_loaded = load.is_some_and(|load| load >= BUSY_NOTED * f64::from(host.processors.max(1)));
    // What took the processor away is the matter of real-time priority.
    let others = others(run);
    let (level, title) = match (shared > 0, preempted > 0, is_loaded) {
        (true, _, _) => (Level::Hurts, format!("{others} ran on the CPU of the run")),
        (false, true, _) => (
            Level::Note,
            format!("{others} used the CPUs during the run"),
        ),
        (false, false, true) => (
            Level::Note,
            "other programs used the CPUs before the run".into(),
        ),
        (false, false, false) => (Level::Good, "other programs did not disturb the run".into()),
    };
    let mut finding = Finding::new(NAME, level, title).seen(seen);
    if shared > 0 {
        let most = shares().fold(0.0, f64::max);
        finding = finding.seen(format!(
            "up to {} of the CPU that the run was pinned to, in {shared} {POINTS_DISTURBED}",
            percent(most)
        ));
    }
    if preempted > 0 {
        finding = finding.seen(format!(
            "the run was preempted in {preempted} {POINTS_DISTURBED}"
        ));
    }
    if level == Level::Good {
        return finding;
    }
    with_remedy(finding.costs(BUSY_HOST_COST, BUSY_HOST_SOURCE), run)
}

/// Field 1 of /proc/PID/stat.
fn number(stat: &str) -> Option<u32> {
    stat.split_whitespace().next()?.parse().ok()
}

/// Field 2, which may contain spaces and brackets.
fn name(stat: &str) -> Option<&str> {
    Some(stat.split_once('(')?.1.rsplit_once(')')?.0)
}

/// Fields 14 and 15, utime and stime (proc(5)); what stands behind the name begins with field 3.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system) = (fields.next()?, fields.next()?);
    user.parse::<u64>().ok()?.checked_add(system.parse().ok()?)
}

/// Percent of the last ten seconds in which somebody waited.
fn pressure(text: &str) -> Option<f64> {
    let some = text.lines().find(|line| line.starts_with("some"))?;
    let mut fields = some.split_whitespace();
    fields
        .find_map(|field| field.strip_prefix("avg10="))?
        .parse()
        .ok()
}
