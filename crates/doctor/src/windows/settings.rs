//! Reading and writing the settings of Windows.

use super::host::{Value, WindowsHost};
use super::setting::Setting;
use crate::settings::Settings;
use std::io;
use std::path::Path;

/// Files and directories with this attribute are not indexed; new files in such a directory get it too (MS-FSCC, 2.6).
pub(crate) const NOT_CONTENT_INDEXED: u32 = 0x2000;

/// The settings of a Windows host.
pub struct WindowsSettings<'a> {
    host: &'a dyn WindowsHost,
}

impl<'a> WindowsSettings<'a> {
    /// Those of this host.
    pub fn new(host: &'a dyn WindowsHost) -> WindowsSettings<'a> {
        WindowsSettings { host }
    }

    /// The setting of this name, if it is one that a check changes.
    fn setting(&self, path: &Path) -> io::Result<Setting> {
        let known = Setting::parse(path).filter(|setting| match setting {
            // An undo file must not choose the directory.
            Setting::Indexing { directory } => *directory == self.host.runs(),
            _ => true,
        });
        known.ok_or_else(|| io::Error::other("it is not a setting that wiregauge changes"))
    }
}

impl Settings for WindowsSettings<'_> {
    /// Settings of Windows persist after a restart.
    fn start(&self) -> String {
        String::new()
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        let host = self.host;
        Ok(match self.setting(path)? {
            Setting::LatencyTimer { key } => match host.value(&key, "LatencyTimer")? {
                Value::Number(ms) => ms.to_string(),
                _ => return Err(io::Error::other("it is not a number")),
            },
            Setting::Plan => host.plan()?,
            Setting::PlanValue {
                plan,
                supply,
                setting,
            } => host.plan_value(&plan, supply, setting)?.to_string(),
            Setting::Indexing { directory } => {
                match host.attributes(&directory)? & NOT_CONTENT_INDEXED {
                    0 => "on".into(),
                    _ => "off".into(),
                }
            }
        })
    }

    fn write(&self, path: &Path, value: &str) -> io::Result<()> {
        let setting = self.setting(path)?;
        if !setting.takes(value) {
            return Err(io::Error::other(format!("{value:?} is not a value of it")));
        }
        let host = self.host;
        let number = || value.parse().map_err(io::Error::other);
        match setting {
            Setting::LatencyTimer { key } => host.set_number(&key, "LatencyTimer", number()?),
            Setting::Plan => host.set_plan(value),
            Setting::PlanValue {
                plan,
                supply,
                setting,
            } => host.set_plan_value(&plan, supply, setting, number()?),
            Setting::Indexing { directory } => {
                let others = host.attributes(&directory)? & !NOT_CONTENT_INDEXED;
                let flag = if value == "off" {
                    NOT_CONTENT_INDEXED
                } else {
                    0
                };
                host.set_attributes(&directory, others | flag)
            }
        }
    }
}
