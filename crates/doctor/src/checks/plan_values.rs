//! A setting of a power plan of Windows, in the active plan and in the one that `power-plan` would make active.

use crate::windows::{Setting, active_and_fixed, supply_name};
use crate::{Finding, PlanSetting, Supply, WindowsHost};

/// The setting in a plan.
pub(super) struct Value {
    plan: String,
    called: String,
    supply: Supply,
    setting: PlanSetting,
    /// Its value.
    pub(super) value: u32,
}

impl Value {
    /// For the evidence.
    pub(super) fn seen(&self) -> String {
        let Value { plan, called, .. } = self;
        format!(
            "power plan {called} ({plan}), {}: {} = {}",
            supply_name(self.supply),
            self.setting.name(),
            self.value
        )
    }

    fn setting(&self) -> Setting {
        Setting::PlanValue {
            plan: self.plan.clone(),
            supply: self.supply,
            setting: self.setting,
        }
    }
}

/// The values for the present power supply; empty if the active plan's cannot be read.
pub(super) fn values(host: &dyn WindowsHost, setting: PlanSetting) -> Vec<Value> {
    let supply = host.supply();
    let mut values = Vec::new();
    for (at, plan) in active_and_fixed(host).into_iter().enumerate() {
        match host.plan_value(&plan, supply, setting) {
            Ok(value) => values.push(Value {
                called: host.plan_name(&plan).unwrap_or_else(|| "no name".into()),
                plan,
                supply,
                setting,
                value,
            }),
            Err(_) if at == 0 => return Vec::new(),
            Err(_) => {}
        }
    }
    values
}

/// The finding with changes of these to another value.
pub(super) fn changes(finding: Finding, values: Vec<Value>, to: u32) -> Finding {
    let with = |finding: Finding, one: Value| {
        let setting = one.setting();
        finding.change_by(setting.change(one.value, to), setting.command(to))
    };
    values
        .into_iter()
        .fold(finding, with)
        .remedy("powercfg /setactive SCHEME_CURRENT  # makes the system read the changed plan")
}
