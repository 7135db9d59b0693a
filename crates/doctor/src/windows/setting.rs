//! The settings of Windows that `--fix` may change: their names, and the command that changes each by hand. Nothing
//! else is changed, whatever an undo file contains.

use super::host::{PlanSetting, Supply};
use crate::Change;
use std::path::{Path, PathBuf};

/// Before the path of a key in names and commands.
const HIVE: &str = r"HKLM\";
/// The key of FTDI's ports, and what is below the key of a port.
const FTDIBUS: &str = r"SYSTEM\CurrentControlSet\Enum\FTDIBUS\";
const PARAMETERS: &str = r"\Device Parameters";
const LATENCY_TIMER: &str = "LatencyTimer";
const PLAN: &str = "active power plan";
const PLAN_VALUE: &str = r"power plan\";
const INDEXING: &str = r"content indexing\";

/// What a check may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The latency timer of an FTDI adapter.
    LatencyTimer {
        /// The key of its parameters.
        key: String,
    },
    /// Which power plan is active.
    Plan,
    /// A setting of a power plan.
    PlanValue {
        /// The plan.
        plan: String,
        /// On what.
        supply: Supply,
        /// Which.
        setting: PlanSetting,
    },
    /// Whether new files in a directory are indexed: `on` or `off`.
    Indexing {
        /// The directory.
        directory: PathBuf,
    },
}

impl Setting {
    /// The latency timer of the port with this key.
    pub(crate) fn latency_timer(port: &str) -> Setting {
        Setting::LatencyTimer {
            key: format!("{port}{PARAMETERS}"),
        }
    }

    /// The setting of this name; `None` for any other text.
    pub(crate) fn parse(name: &Path) -> Option<Setting> {
        let name = name.to_str()?;
        if name == PLAN {
            return Some(Setting::Plan);
        }
        if let Some(directory) = name.strip_prefix(INDEXING) {
            let directory = PathBuf::from(directory);
            return Some(Setting::Indexing { directory });
        }
        if let Some(rest) = name.strip_prefix(PLAN_VALUE) {
            let [plan, on, what] = parts(rest)?;
            let supply = [Supply::PluggedIn, Supply::Battery];
            let settings = [
                PlanSetting::CoreParkingMinimum,
                PlanSetting::UsbSelectiveSuspend,
            ];
            return Some(Setting::PlanValue {
                plan: is_guid(plan).then(|| plan.to_owned())?,
                supply: supply.into_iter().find(|one| supply_name(*one) == on)?,
                setting: settings.into_iter().find(|one| one.name() == what)?,
            });
        }
        let key = name.strip_prefix(HIVE)?.strip_suffix(LATENCY_TIMER)?;
        let key = key.strip_suffix('\\')?;
        let [id, instance] = parts(key.strip_prefix(FTDIBUS)?.strip_suffix(PARAMETERS)?)?;
        let is_port = id.starts_with("VID_") && !instance.is_empty();
        is_port.then(|| Setting::LatencyTimer {
            key: key.to_owned(),
        })
    }

    /// Its name, which is read back by `parse`.
    pub(crate) fn name(&self) -> String {
        match self {
            Setting::LatencyTimer { key } => format!(r"{HIVE}{key}\{LATENCY_TIMER}"),
            Setting::Plan => PLAN.into(),
            Setting::PlanValue {
                plan,
                supply,
                setting,
            } => format!(
                r"{PLAN_VALUE}{plan}\{}\{}",
                supply_name(*supply),
                setting.name()
            ),
            Setting::Indexing { directory } => format!("{INDEXING}{}", directory.display()),
        }
    }

    /// True if the system accepts this value.
    pub(crate) fn takes(&self, value: &str) -> bool {
        let number = value.parse::<u32>();
        match self {
            // AN232B-04, 3.2: one byte of milliseconds.
            Setting::LatencyTimer { .. } => number.is_ok_and(|ms| (1..=255).contains(&ms)),
            Setting::Plan => is_guid(value),
            Setting::PlanValue { setting, .. } => {
                let most = match setting {
                    PlanSetting::CoreParkingMinimum | PlanSetting::ProcessorMinimum => 100,
                    PlanSetting::UsbSelectiveSuspend => 1,
                };
                number.is_ok_and(|value| value <= most)
            }
            Setting::Indexing { .. } => matches!(value, "on" | "off"),
        }
    }

    /// The change of it.
    pub(crate) fn change(&self, from: impl ToString, to: impl ToString) -> Change {
        Change {
            path: self.name().into(),
            from: from.to_string(),
            to: to.to_string(),
        }
    }

    /// The command that sets it, for an administrator's command prompt.
    pub(crate) fn command(&self, value: impl ToString) -> String {
        let value = value.to_string();
        match self {
            Setting::LatencyTimer { key } => {
                format!(r#"reg add "{HIVE}{key}" /v {LATENCY_TIMER} /t REG_DWORD /d {value} /f"#)
            }
            Setting::Plan => format!("powercfg /setactive {value}"),
            Setting::PlanValue {
                plan,
                supply,
                setting,
            } => format!(
                "powercfg /{} {plan} {} {} {value}",
                match supply {
                    Supply::PluggedIn => "setacvalueindex",
                    Supply::Battery => "setdcvalueindex",
                },
                setting.subgroup(),
                setting.guid()
            ),
            Setting::Indexing { directory } => {
                let sign = if value == "off" { '+' } else { '-' };
                format!(r#"attrib {sign}I "{}""#, directory.display())
            }
        }
    }
}

/// What a supply is called in names and sentences.
pub(crate) fn supply_name(supply: Supply) -> &'static str {
    match supply {
        Supply::PluggedIn => "plugged in",
        Supply::Battery => "on battery",
    }
}

/// Exactly `N` parts, none of them empty.
fn parts<const N: usize>(path: &str) -> Option<[&str; N]> {
    let parts: [&str; N] = path.split('\\').collect::<Vec<_>>().try_into().ok()?;
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}

/// `381b4222-f694-41f0-9685-ff5bb260df2e`.
fn is_guid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_hex = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::super::plans::BALANCED;
    use super::*;

    const PORT: &str = r"SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403+PID_6001+A50285BIA\0000";

    #[test]
    fn every_setting_is_read_back_from_its_name() {
        let value = |setting| Setting::PlanValue {
            plan: BALANCED.into(),
            supply: Supply::Battery,
            setting,
        };
        let settings = [
            Setting::latency_timer(PORT),
            Setting::Plan,
            value(PlanSetting::CoreParkingMinimum),
            value(PlanSetting::UsbSelectiveSuspend),
            Setting::Indexing {
                directory: r"D:\my runs".into(),
            },
        ];
        for setting in settings {
            let name = setting.name();
            assert_eq!(Setting::parse(Path::new(&name)), Some(setting), "{name}");
        }
    }

    #[test]
    fn nothing_else_is_a_setting() {
        for name in [
            "",
            r"HKLM\SYSTEM\CurrentControlSet\Services\WSearch\Start",
            r"HKLM\SYSTEM\CurrentControlSet\Enum\FTDIBUS\LatencyTimer",
            r"HKLM\SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403+PID_6001+A\0000\Device Parameters\PortName",
            r"HKLM\SYSTEM\CurrentControlSet\Enum\FTDIBUS\VID_0403\a\b\Device Parameters\LatencyTimer",
            r"HKLM\SYSTEM\CurrentControlSet\Enum\USB\VID_0403\0000\Device Parameters\LatencyTimer",
            r"power plan\not a guid\plugged in\core parking minimum",
            r"power plan\381b4222-f694-41f0-9685-ff5bb260df2e\plugged in\minimum processor state",
            "/sys/a",
        ] {
            assert_eq!(Setting::parse(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn values_that_a_setting_cannot_have_are_refused() {
        let timer = Setting::latency_timer(PORT);
        for value in ["0", "256", "-1", "1 & calc", ""] {
            assert!(!timer.takes(value), "{value}");
        }
        assert!(timer.takes("1") && timer.takes("255"));
        assert!(Setting::Plan.takes(BALANCED) && !Setting::Plan.takes("balanced"));
    }

    #[test]
    fn the_commands_can_be_typed() {
        let key = format!(r"HKLM\{PORT}\Device Parameters");
        let command = format!(r#"reg add "{key}" /v LatencyTimer /t REG_DWORD /d 1 /f"#);
        assert_eq!(Setting::latency_timer(PORT).command(1), command);
        let indexing = Setting::Indexing {
            directory: r"D:\my runs".into(),
        };
        assert_eq!(indexing.command("off"), r#"attrib +I "D:\my runs""#);
    }
}
