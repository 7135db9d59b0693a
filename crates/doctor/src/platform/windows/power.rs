//! Power plans, and what the computer runs on.

#![allow(unsafe_code)]

use crate::windows::{PlanSetting, Supply};
use std::ffi::c_void;
use std::io;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::System::Power::{
    GetSystemPowerStatus, PowerGetActiveScheme, PowerReadACValueIndex, PowerReadDCValueIndex,
    PowerReadFriendlyName, PowerSetActiveScheme, PowerWriteACValueIndex, PowerWriteDCValueIndex,
    SYSTEM_POWER_STATUS,
};
use windows_sys::core::GUID;

/// ACLineStatus of SYSTEM_POWER_STATUS.
const OFFLINE: u8 = 0;

fn checked(code: u32) -> io::Result<()> {
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code as i32)),
    }
}

/// Text without braces to a GUID.
fn guid(text: &str) -> io::Result<GUID> {
    let digits: String = text.split('-').collect();
    match u128::from_str_radix(&digits, 16) {
        Ok(bits) if digits.len() == 32 => Ok(GUID::from_u128(bits)),
        _ => Err(io::Error::other(format!("{text} is not a GUID"))),
    }
}

fn text(guid: &GUID) -> String {
    let last = guid.data4;
    let tail: String = last[2..].iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "{:08x}-{:04x}-{:04x}-{:02x}{:02x}-{tail}",
        guid.data1, guid.data2, guid.data3, last[0], last[1]
    )
}

/// The active plan.
pub(super) fn plan() -> io::Result<String> {
    let mut plan = null_mut();
    // SAFETY: no key is passed; the system writes a pointer to `plan`, which is freed below.
    checked(unsafe { PowerGetActiveScheme(null_mut(), &mut plan) })?;
    if plan.is_null() {
        return Err(io::Error::other("the system names none"));
    }
    // SAFETY: the system allocated it for this call, and nobody uses it after this.
    let found = unsafe {
        let found = text(&*plan);
        LocalFree(plan.cast::<c_void>());
        found
    };
    Ok(found)
}

/// What a plan is called.
pub(super) fn name(plan: &str) -> Option<String> {
    let plan = guid(plan).ok()?;
    let mut name = [0_u16; 256];
    let mut bytes = size_of_val(&name) as u32;
    // SAFETY: the GUID is valid for the call, no subgroup or setting is meant, and the buffer has the size that is
    // passed.
    let code = unsafe {
        let buffer = name.as_mut_ptr().cast();
        PowerReadFriendlyName(null_mut(), &plan, null(), null(), buffer, &mut bytes)
    };
    let length = (bytes as usize / 2).min(name.len());
    let name = String::from_utf16_lossy(&name[..length]);
    let name = name.trim_end_matches('\0').trim().to_owned();
    (code == 0 && !name.is_empty()).then_some(name)
}

/// Makes a plan the active one.
pub(super) fn set_plan(plan: &str) -> io::Result<()> {
    let plan = guid(plan)?;
    // SAFETY: no key is passed, and the GUID is valid for the call.
    checked(unsafe { PowerSetActiveScheme(null_mut(), &plan) })
}

/// A setting of a plan.
pub(super) fn value(plan: &str, supply: Supply, setting: PlanSetting) -> io::Result<u32> {
    let (plan, group) = (guid(plan)?, guid(setting.subgroup())?);
    let setting = guid(setting.guid())?;
    let mut value = 0;
    // SAFETY: no key is passed, the GUIDs are valid for the call, and the system writes one number to `value`.
    checked(unsafe {
        match supply {
            Supply::PluggedIn => {
                PowerReadACValueIndex(null_mut(), &plan, &group, &setting, &mut value)
            }
            Supply::Battery => {
                PowerReadDCValueIndex(null_mut(), &plan, &group, &setting, &mut value)
            }
        }
    })?;
    Ok(value)
}

/// Changes a setting of a plan. The system reads the active plan anew when it is made active again.
pub(super) fn set_value(
    name: &str,
    supply: Supply,
    setting: PlanSetting,
    value: u32,
) -> io::Result<()> {
    let (plan_guid, group) = (guid(name)?, guid(setting.subgroup())?);
    let setting = guid(setting.guid())?;
    // SAFETY: no key is passed, and the GUIDs are valid for the call.
    checked(unsafe {
        match supply {
            Supply::PluggedIn => {
                PowerWriteACValueIndex(null_mut(), &plan_guid, &group, &setting, value)
            }
            Supply::Battery => {
                PowerWriteDCValueIndex(null_mut(), &plan_guid, &group, &setting, value)
            }
        }
    })?;
    match plan()? == name {
        true => set_plan(name),
        false => Ok(()),
    }
}

/// What the computer runs on.
pub(super) fn supply() -> Supply {
    let mut status = SYSTEM_POWER_STATUS::default();
    // SAFETY: the system fills one structure.
    let is_read = unsafe { GetSystemPowerStatus(&mut status) } != 0;
    match is_read && status.ACLineStatus == OFFLINE {
        true => Supply::Battery,
        false => Supply::PluggedIn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_is_written_as_it_was_read() {
        let name = "381b4222-f694-41f0-9685-ff5bb260df2e";
        assert_eq!(text(&guid(name).unwrap()), name);
        assert!(guid("381b4222").is_err());
    }
}
