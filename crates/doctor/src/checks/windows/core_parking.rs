//! Core parking: an idle processor is taken out of use and must be unparked before it works again.

use super::super::check::Check;
use super::super::plan_values::{Value, changes, values};
use crate::{Finding, HostContext, Level, PlanSetting};

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "core parking: CPUs that the system takes out of use when there is little work",
    look,
};

const NAME: &str = "core-parking";

/// At this share nothing is parked.
const ALL: u32 = 100;

fn look(context: &HostContext) -> Vec<Finding> {
    let Some(host) = context.windows().filter(|_| context.run.is_none()) else {
        return Vec::new();
    };
    let values = values(host, PlanSetting::CoreParkingMinimum);
    if values.is_empty() {
        return vec![
            Finding::new(NAME, Level::Unknown, "the core parking setting is unknown")
                .seen("it cannot be read from the active power plan"),
        ];
    }
    let seen: Vec<String> = values.iter().map(Value::seen).collect();
    let lower: Vec<Value> = values.into_iter().filter(|one| one.value < ALL).collect();
    let Some(least) = lower.iter().map(|one| one.value).min() else {
        return vec![Finding::new(NAME, Level::Good, "no CPU is parked").all_seen(seen)];
    };
    let finding = Finding::new(
        NAME,
        Level::Note,
        format!("all but {least} % of the CPUs may be parked when there is little work"),
    )
    .all_seen(seen)
    .costs(
        "work waits for the other CPUs until the system unparks one, which it decides at intervals. The time was not \
         measured by this project",
        "Microsoft, Static configuration options for core parking: CPMinCores",
    );
    vec![changes(finding, lower, ALL)]
}
