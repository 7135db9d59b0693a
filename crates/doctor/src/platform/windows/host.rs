//! This Windows host.

#![allow(unsafe_code)]

use super::power;
use super::registry;
use crate::windows::{PlanSetting, Supply, TimerResolution, Value, WindowsHost};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use windows_sys::Wdk::System::SystemInformation::NtQueryTimerResolution;
use windows_sys::Win32::Devices::DeviceAndDriverInstallation::{
    CM_LOCATE_DEVNODE_NORMAL, CM_Locate_DevNodeW, CR_SUCCESS,
};
use windows_sys::Win32::Storage::FileSystem::{
    GetFileAttributesW, INVALID_FILE_ATTRIBUTES, SetFileAttributesW,
};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNamePhysicalDnsHostname, GetComputerNameExW,
};

/// It, by the calls of the system.
pub(super) struct ThisHost;

fn wide(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

impl WindowsHost for ThisHost {
    fn name(&self) -> String {
        let mut name = [0_u16; 256];
        let mut length = name.len() as u32;
        // SAFETY: the buffer has the length that is passed, which becomes that of the name.
        let is_read = unsafe {
            GetComputerNameExW(
                ComputerNamePhysicalDnsHostname,
                name.as_mut_ptr(),
                &mut length,
            )
        };
        match is_read {
            0 => String::new(),
            _ => String::from_utf16_lossy(&name[..(length as usize).min(name.len())]),
        }
    }

    fn runs(&self) -> PathBuf {
        wiregauge_run::runs_home()
    }

    fn keys(&self, key: &str) -> io::Result<Vec<String>> {
        registry::keys(key)
    }

    fn values(&self, key: &str) -> io::Result<Vec<(String, Value)>> {
        registry::values(key)
    }

    fn set_number(&self, key: &str, name: &str, number: u32) -> io::Result<()> {
        registry::set_number(key, name, number)
    }

    fn supply(&self) -> Supply {
        power::supply()
    }

    fn plan(&self) -> io::Result<String> {
        power::plan()
    }

    fn plan_name(&self, plan: &str) -> Option<String> {
        power::name(plan)
    }

    fn set_plan(&self, plan: &str) -> io::Result<()> {
        power::set_plan(plan)
    }

    fn plan_value(&self, plan: &str, supply: Supply, setting: PlanSetting) -> io::Result<u32> {
        power::value(plan, supply, setting)
    }

    fn set_plan_value(
        &self,
        plan: &str,
        supply: Supply,
        setting: PlanSetting,
        value: u32,
    ) -> io::Result<()> {
        power::set_value(plan, supply, setting, value)
    }

    fn timer(&self) -> Option<TimerResolution> {
        let (mut coarsest, mut finest, mut current) = (0, 0, 0);
        // SAFETY: the system writes three numbers.
        let status = unsafe { NtQueryTimerResolution(&mut coarsest, &mut finest, &mut current) };
        (status == 0 && coarsest > 0).then_some(TimerResolution {
            coarsest,
            finest,
            current,
        })
    }

    fn attributes(&self, path: &Path) -> io::Result<u32> {
        let path = wide(path);
        // SAFETY: the path ends with 0.
        match unsafe { GetFileAttributesW(path.as_ptr()) } {
            INVALID_FILE_ATTRIBUTES => Err(io::Error::last_os_error()),
            attributes => Ok(attributes),
        }
    }

    fn set_attributes(&self, path: &Path, attributes: u32) -> io::Result<()> {
        let path = wide(path);
        // SAFETY: the path ends with 0.
        match unsafe { SetFileAttributesW(path.as_ptr(), attributes) } {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    fn is_attached(&self, instance: &str) -> bool {
        let instance = wide(Path::new(instance));
        let mut node = 0;
        // SAFETY: the id ends with 0, and the system writes one number to `node`.
        let found =
            unsafe { CM_Locate_DevNodeW(&mut node, instance.as_ptr(), CM_LOCATE_DEVNODE_NORMAL) };
        found == CR_SUCCESS
    }
}
