//! The power plans of Windows.

use super::host::WindowsHost;

/// GUIDs of the plans that Windows has (winnt.h: GUID_TYPICAL_POWER_SAVINGS, GUID_MIN_POWER_SAVINGS,
/// GUID_MAX_POWER_SAVINGS; the last one, since Windows 10 1803, in `powercfg /list`).
pub(crate) const BALANCED: &str = "381b4222-f694-41f0-9685-ff5bb260df2e";
pub(crate) const HIGH_PERFORMANCE: &str = "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c";
pub(crate) const POWER_SAVER: &str = "a1841308-3541-4fab-bc81-f71556f20b4a";
pub(crate) const ULTIMATE_PERFORMANCE: &str = "e9a42b02-d5df-448d-aa00-03f14749eb61";

/// Below it, a key for each plan.
const PLANS: &str = r"SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes";

/// True if a plan can be made the active one. Computers with Modern Standby have only Balanced.
pub(crate) fn is_installed(host: &dyn WindowsHost, plan: &str) -> bool {
    let plans = host.keys(PLANS).unwrap_or_default();
    plans.iter().any(|name| name.eq_ignore_ascii_case(plan))
}

/// The active plan, and the one that the check `power-plan` would make the active one: a setting
/// that is fixed in the first must be fixed in the second too. Empty if the active one is unknown.
pub(crate) fn active_and_fixed(host: &dyn WindowsHost) -> Vec<String> {
    let Ok(active) = host.plan() else {
        return Vec::new();
    };
    let is_fixed =
        matches!(&*active, BALANCED | POWER_SAVER) && is_installed(host, HIGH_PERFORMANCE);
    let fixed = is_fixed.then(|| HIGH_PERFORMANCE.to_owned());
    [active].into_iter().chain(fixed).collect()
}
