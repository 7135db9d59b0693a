//! What the checks read of a Windows host, and the few things that `--fix` writes.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// A value of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// REG_DWORD.
    Number(u32),
    /// REG_SZ or REG_EXPAND_SZ, without the zero at its end.
    Text(String),
    /// Any other type.
    Bytes(Vec<u8>),
}

/// The power supply. A power plan has a value of each setting for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// Plugged in: AC.
    PluggedIn,
    /// On battery: DC.
    Battery,
}

/// A setting of a power plan that a check reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanSetting {
    /// The least share of the processors that is not parked, in percent.
    CoreParkingMinimum,
    /// The least performance of a processor, in percent of the highest.
    ProcessorMinimum,
    /// 1 if USB selective suspend is enabled.
    UsbSelectiveSuspend,
}

impl PlanSetting {
    /// Its name in this program.
    pub fn name(self) -> &'static str {
        match self {
            PlanSetting::CoreParkingMinimum => "core parking minimum",
            PlanSetting::ProcessorMinimum => "minimum processor state",
            PlanSetting::UsbSelectiveSuspend => "USB selective suspend",
        }
    }

    /// GUID of its subgroup (winnt.h: GUID_PROCESSOR_SETTINGS_SUBGROUP; that of USB is in `powercfg /query`).
    pub fn subgroup(self) -> &'static str {
        match self {
            PlanSetting::CoreParkingMinimum | PlanSetting::ProcessorMinimum => {
                "54533251-82be-4824-96c1-47b60b740d00"
            }
            PlanSetting::UsbSelectiveSuspend => "2a737441-1930-4402-8d77-b2bebba308a3",
        }
    }

    /// Its GUID (winnt.h: GUID_PROCESSOR_CORE_PARKING_MIN_CORES, GUID_PROCESSOR_THROTTLE_MINIMUM; `powercfg /query`).
    pub fn guid(self) -> &'static str {
        match self {
            PlanSetting::CoreParkingMinimum => "0cc5b647-c1df-4637-891a-dec35c318583",
            PlanSetting::ProcessorMinimum => "893dee8e-2bef-41e0-89c6-b55d0929964c",
            PlanSetting::UsbSelectiveSuspend => "48e6b7a6-50f5-4782-a5d4-53bb8f07e226",
        }
    }
}

/// Intervals of the timer interrupt, in units of 100 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerResolution {
    /// The longest, which is the default.
    pub coarsest: u32,
    /// The shortest.
    pub finest: u32,
    /// The present one.
    pub current: u32,
}

/// A Windows host. Paths of keys are beneath HKEY_LOCAL_MACHINE, GUIDs in lower case without braces.
pub trait WindowsHost {
    /// Its name, as runs store it.
    fn name(&self) -> String;

    /// Where runs are stored.
    fn runs(&self) -> PathBuf;

    /// The names of the keys below a key.
    fn keys(&self, key: &str) -> io::Result<Vec<String>>;

    /// The names and values in a key.
    fn values(&self, key: &str) -> io::Result<Vec<(String, Value)>>;

    /// Replaces a REG_DWORD that exists.
    fn set_number(&self, key: &str, name: &str, number: u32) -> io::Result<()>;

    /// The present power supply.
    fn supply(&self) -> Supply;

    /// The active power plan.
    fn plan(&self) -> io::Result<String>;

    /// What a power plan is called, in the language of the system.
    fn plan_name(&self, plan: &str) -> Option<String>;

    /// Makes a power plan the active one.
    fn set_plan(&self, plan: &str) -> io::Result<()>;

    /// A setting of a power plan.
    fn plan_value(&self, plan: &str, supply: Supply, setting: PlanSetting) -> io::Result<u32>;

    /// Changes a setting of a power plan, with effect at once if it is the active one.
    fn set_plan_value(
        &self,
        plan: &str,
        supply: Supply,
        setting: PlanSetting,
        value: u32,
    ) -> io::Result<()>;

    /// The timer interrupt.
    fn timer(&self) -> Option<TimerResolution>;

    /// The attributes of a file or directory.
    fn attributes(&self, path: &Path) -> io::Result<u32>;

    /// Replaces the attributes.
    fn set_attributes(&self, path: &Path, attributes: u32) -> io::Result<()>;

    /// True if the device with this instance id, such as `USB\VID_1D6B&PID_0104\123`, is attached.
    fn is_attached(&self, instance: &str) -> bool;
}

impl dyn WindowsHost + '_ {
    /// One value; names of values are the same in upper and lower case.
    pub(crate) fn value(&self, key: &str, name: &str) -> io::Result<Value> {
        let found = self.values(key)?.into_iter();
        let mut found = found.filter(|(found, _)| found.eq_ignore_ascii_case(name));
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        found.next().map(|(_, value)| value).ok_or_else(missing)
    }

    /// One REG_DWORD.
    pub(crate) fn number(&self, key: &str, name: &str) -> Option<u32> {
        match self.value(key, name).ok()? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// One text.
    pub(crate) fn text(&self, key: &str, name: &str) -> Option<String> {
        match self.value(key, name).ok()? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}
