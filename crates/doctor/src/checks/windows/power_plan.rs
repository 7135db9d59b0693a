//! The power plan: a processor that clocks down while it waits for a device answers late.

use super::super::check::Check;
use crate::windows::{
    BALANCED, HIGH_PERFORMANCE, POWER_SAVER, Setting, ULTIMATE_PERFORMANCE, is_installed,
    supply_name,
};
use crate::{Finding, HostContext, Level, PlanSetting, WindowsHost};
use wiregauge_record::Conditions;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "the power plan, which decides how far the CPUs clock down between exchanges",
    look,
};

const NAME: &str = "power-plan";

const COST: &str = "a CPU that clocked down while it waited runs slower until its load has raised the clock. The time \
                    was not measured on Windows; on a Raspberry Pi with Linux a timed sleep ended 105 us late instead of \
                    67 us (means)";
const SOURCE: &str = "Microsoft, Processor power management options: MinPerformance; faschingbauer.me, \"Wakeup Latency, \
                      CPU Frequency (Gotcha)\"";
const BY_HAND: &str = "Settings, System, Power, Power mode: Best performance  # this computer has no High performance plan";

fn look(context: &HostContext) -> Vec<Finding> {
    if let Some(run) = &context.run {
        let run = run.stored();
        return of_run(&run.name(), run.conditions()).into_iter().collect();
    }
    context.windows().map(now).into_iter().collect()
}

fn now(host: &dyn WindowsHost) -> Finding {
    let plan = match host.plan() {
        Ok(plan) => plan,
        Err(error) => {
            return Finding::new(NAME, Level::Unknown, "the power plan is unknown")
                .seen(format!("the active power plan cannot be read: {error}"));
        }
    };
    let called = host.plan_name(&plan).unwrap_or_else(|| "no name".into());
    let supply = host.supply();
    let least = host
        .plan_value(&plan, supply, PlanSetting::ProcessorMinimum)
        .ok();
    let level = match (&*plan, least) {
        (HIGH_PERFORMANCE | ULTIMATE_PERFORMANCE, _) => Level::Good,
        (POWER_SAVER, _) => Level::Hurts,
        (BALANCED, _) => Level::Note,
        // A plan of the manufacturer or the user.
        (_, Some(100..)) => Level::Good,
        (_, Some(_)) => Level::Note,
        (_, None) => Level::Unknown,
    };
    let title = match level {
        Level::Good => "the power plan keeps the CPUs at full speed".to_owned(),
        Level::Unknown => {
            format!("cannot see how far the power plan {called} lets CPUs clock down")
        }
        _ => format!("the power plan {called} lets the CPUs clock down"),
    };
    let finding = Finding::new(NAME, level, title)
        .seen(format!("active power plan = {plan} ({called})"))
        .all_seen(least.map(|percent| {
            let name = PlanSetting::ProcessorMinimum.name();
            format!("{name} = {percent} % ({})", supply_name(supply))
        }));
    if matches!(level, Level::Good | Level::Unknown) {
        return finding;
    }
    let finding = finding.costs(COST, SOURCE);
    match is_installed(host, HIGH_PERFORMANCE) {
        true => finding.change_by(
            Setting::Plan.change(plan, HIGH_PERFORMANCE),
            Setting::Plan.command(HIGH_PERFORMANCE),
        ),
        false => finding.remedy(BY_HAND),
    }
}

/// A run keeps the name of the plan, in the language of its host.
fn of_run(name: &str, conditions: &Conditions) -> Option<Finding> {
    let host = &conditions.host;
    let plan = host.governor.as_ref();
    let plan = plan.filter(|_| host.kernel.starts_with("Windows"))?;
    let seen = format!("{name}: power plan = {plan}");
    let level = match &**plan {
        "High performance" | "Ultimate Performance" => Level::Good,
        "Balanced" => Level::Note,
        "Power saver" => Level::Hurts,
        _ => Level::Unknown,
    };
    let finding = |title: String| Finding::new(NAME, level, title).seen(seen);
    Some(match level {
        Level::Good => finding("the power plan kept the CPUs at full speed".into()),
        Level::Unknown => finding(format!(
            "cannot see whether the power plan {plan} let CPUs clock down"
        )),
        _ => finding(format!("the run was measured with the power plan {plan}"))
            .costs(COST, SOURCE)
            .remedy(Setting::Plan.command(HIGH_PERFORMANCE)),
    })
}
