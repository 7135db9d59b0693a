//! USB selective suspend: a device that was idle must be resumed first.

use super::super::check::Check;
use super::super::plan_values::{Value, changes, values};
use crate::windows::attached_usb;
use crate::{Finding, HostContext, Level, PlanSetting, WindowsHost};

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "USB selective suspend: devices that are suspended when idle and must be resumed",
    look,
};

const NAME: &str = "selective-suspend";

/// Parameters of a device by which a driver decides whether it is suspended: those of HID and other drivers, and those of
/// WinUSB.
const PARAMETERS: [&str; 3] = [
    "EnhancedPowerManagementEnabled",
    "SelectiveSuspendEnabled",
    "DeviceIdleEnabled",
];

/// Devices whose parameters are shown.
const MOST_SHOWN: usize = 5;

fn look(context: &HostContext) -> Vec<Finding> {
    let Some(host) = context.windows() else {
        return Vec::new();
    };
    let devices = attached_usb(context, host);
    if devices.is_empty() {
        return Vec::new();
    }
    let values = values(host, PlanSetting::UsbSelectiveSuspend);
    let parameters = devices.iter().filter_map(|device| of(host, device));
    let seen: Vec<String> = values
        .iter()
        .map(Value::seen)
        .chain(parameters.take(MOST_SHOWN))
        .collect();
    if values.is_empty() {
        let title = "cannot see whether USB devices may be suspended";
        return vec![
            Finding::new(NAME, Level::Unknown, title)
                .seen("the power plan's setting cannot be read")
                .all_seen(seen),
        ];
    }
    let enabled: Vec<Value> = values.into_iter().filter(|one| one.value != 0).collect();
    if enabled.is_empty() {
        return vec![
            Finding::new(NAME, Level::Good, "USB selective suspend is disabled").all_seen(seen),
        ];
    }
    let finding = Finding::new(
        NAME,
        Level::Note,
        "USB devices may be suspended when they are idle, if their drivers allow it",
    )
    .all_seen(seen)
    .costs(
        "at least 30 ms before the first exchange after a pause: 20 ms of resume signalling and 10 ms recovery. Depends on \
         the driver: many keep a device active while it is open",
        "USB 2.0, 7.1.7.7; Microsoft, USB selective suspend and WinUSB power management",
    );
    vec![
        changes(finding, enabled, 0).remedy(
            "or for one device: Device Manager, Power Management, clear \"Allow the computer to turn off this device\"",
        ),
    ]
}

/// What is set of a device.
fn of(host: &dyn WindowsHost, key: &str) -> Option<String> {
    let of = |name: &&str| Some(format!("{name} = {}", number(host, key, name)?));
    let set: Vec<String> = PARAMETERS.iter().filter_map(of).collect();
    (!set.is_empty()).then(|| format!(r"HKLM\{key}: {}", set.join(", ")))
}

/// Some drivers' files have it as a number, some as bytes.
fn number(host: &dyn WindowsHost, key: &str, name: &str) -> Option<u32> {
    match host.value(key, name).ok()? {
        crate::Value::Number(number) => Some(number),
        crate::Value::Bytes(bytes) => bytes.first().map(|byte| u32::from(*byte)),
        crate::Value::Text(_) => None,
    }
}
