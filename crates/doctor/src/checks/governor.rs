//! The frequency governor: a processor that clocks down while it waits for a device answers late.

use super::check::Check;
use crate::host::is_virtual;
use crate::{Change, Finding, HostContext, Level, alike};
use std::path::PathBuf;
use wiregauge_record::Conditions;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "CPU frequency scaling between exchanges",
    look,
};

const NAME: &str = "governor";
const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
const WANTED: &str = "performance";

/// Documentation/admin-guide/pm/cpufreq.rst, and `interactive` of Android's kernels.
const KNOWN: [&str; 7] = [
    WANTED,
    "powersave",
    "ondemand",
    "conservative",
    "schedutil",
    "userspace",
    "interactive",
];

/// Under these drivers the hardware chooses the frequency and `powersave` is a hint, not the lowest one
/// (Documentation/admin-guide/pm/intel_pstate.rst, amd-pstate.rst).
const HARDWARE: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];

const COST: &str = "a timed sleep ended 105 us late with ondemand, 67 us with performance (means, Raspberry Pi 4B)";
const SOURCE: &str =
    "faschingbauer.me, \"Wakeup Latency, CPU Frequency (Gotcha)\"; not measured by this project";

fn look(context: &HostContext) -> Vec<Finding> {
    if let Some(run) = &context.run {
        let run = run.stored();
        return of_run(&run.name(), run.conditions()).into_iter().collect();
    }
    let policies: Vec<String> = context
        .names(POLICIES)
        .into_iter()
        .filter(|name| name.starts_with("policy"))
        .collect();
    if policies.is_empty() {
        // In a virtual machine the frequency is none of its business.
        let unknown = Finding::new(NAME, Level::Unknown, "no frequency governor is visible")
            .seen(format!("{POLICIES} has no policies"));
        return match is_virtual(context) {
            true => Vec::new(),
            false => vec![unknown],
        };
    }
    vec![of_policies(context, &policies)]
}

fn of_policies(context: &HostContext, policies: &[String]) -> Finding {
    let mut seen: Vec<(PathBuf, String)> = Vec::new();
    let (mut changes, mut worst) = (Vec::new(), Level::Good);
    let mut other = None;
    let mut slowest: Option<f64> = None;
    for policy in policies {
        let file = |name: &str| format!("{POLICIES}/{policy}/{name}");
        let path = file("scaling_governor");
        let Some(governor) = context.read(&path) else {
            worst = worst.max(Level::Unknown);
            seen.push((path.into(), String::new()));
            continue;
        };
        seen.push((path.clone().into(), governor.clone()));
        if governor == WANTED {
            continue;
        }
        if !KNOWN.contains(&governor.as_str()) {
            worst = worst.max(Level::Unknown);
            continue;
        }
        let driver = context.read(file("scaling_driver")).unwrap_or_default();
        let is_hint = governor == "powersave" && HARDWARE.contains(&driver.as_str());
        worst = worst.max(if is_hint { Level::Note } else { Level::Hurts });
        let span = |name| Some(context.number(file(name)).filter(|&khz| khz > 0)? as f64);
        if let (Some(least), Some(most)) = (span("cpuinfo_min_freq"), span("cpuinfo_max_freq")) {
            slowest = Some(slowest.unwrap_or(1.0).max(most / least));
        }
        let offered = context.read(file("scaling_available_governors"));
        let is_offered = |names: String| names.split_whitespace().any(|name| name == WANTED);
        if offered.is_none_or(is_offered) {
            changes.push(Change {
                path: path.into(),
                from: governor.clone(),
                to: WANTED.into(),
            });
        }
        other.get_or_insert(governor);
    }
    let title = match (&other, worst) {
        (None, Level::Good) => "the CPUs run at full speed".into(),
        (None, _) => "the frequency governor is unknown".into(),
        (Some(governor), _) => format!("the frequency governor is {governor}, not {WANTED}"),
    };
    let mut finding = Finding::new(NAME, worst, title);
    finding.evidence = evidence(seen);
    if other.is_none() {
        return finding;
    }
    let slowest = slowest.map_or(String::new(), |times| {
        format!("; at its lowest frequency this CPU is {times:.1} times slower")
    });
    let finding = finding.costs(format!("{COST}{slowest}"), SOURCE);
    match changes.is_empty() {
        true => finding.remedy("sudo cpupower frequency-set --min $(cat /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq)"),
        false => finding.changes(changes),
    }
}

/// `path = governor`, those that are alike in one line.
fn evidence(seen: Vec<(PathBuf, String)>) -> Vec<String> {
    let mut governors: Vec<String> = seen.iter().map(|(_, governor)| governor.clone()).collect();
    governors.sort();
    governors.dedup();
    let of = |governor: String| {
        let these = seen.iter().filter(|(_, found)| *found == governor);
        let groups = alike(these.collect(), |(path, _)| path);
        groups
            .into_iter()
            .map(move |(pattern, _)| match governor.as_str() {
                "" => format!("{pattern}: cannot be read"),
                governor => format!("{pattern} = {governor}"),
            })
    };
    governors.into_iter().flat_map(of).collect()
}

fn of_run(name: &str, conditions: &Conditions) -> Option<Finding> {
    // Runs of Windows have a power plan there.
    let host = &conditions.host;
    let governor = host.governor.as_ref();
    let governor = governor.filter(|_| !host.kernel.starts_with("Windows"))?;
    let seen = format!("{name}: governor = {governor}");
    // Which driver the governor is of, no run keeps: it may be a hint to the hardware.
    let level = match governor.as_str() {
        "powersave" => Level::Note,
        _ => Level::Hurts,
    };
    Some(match governor.as_str() {
        WANTED => Finding::new(NAME, Level::Good, "the CPUs ran at full speed").seen(seen),
        _ => Finding::new(
            NAME,
            level,
            format!("the run was measured with the governor {governor}, not {WANTED}"),
        )
        .seen(seen)
        .costs(COST, SOURCE)
        .remedy("sudo cpupower frequency-set --governor performance"),
    })
}
