//! A Windows host that is made up: a JSON file with its registry, power plans, timer and attributes of files. What is
//! changed is written back to the file, so that one program changes a setting and another one restores it.

use super::host::{PlanSetting, Supply, TimerResolution, Value, WindowsHost};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file's name in its directory.
const FILE: &str = "windows.json";

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Content {
    name: String,
    runs: PathBuf,
    on_battery: bool,
    /// The active power plan.
    plan: Option<String>,
    /// By their GUIDs.
    plans: BTreeMap<String, Plan>,
    /// Coarsest, finest and current, in units of 100 ns.
    timer: Option<(u32, u32, u32)>,
    attributes: BTreeMap<PathBuf, u32>,
    /// Instance ids of what is attached.
    attached: Vec<String>,
    /// Keys beneath HKEY_LOCAL_MACHINE.
    registry: BTreeMap<String, BTreeMap<String, Value>>,
    /// Keys that this user may not read.
    unreadable: Vec<String>,
    /// True if this user is no administrator, and may write nothing.
    read_only: bool,
}

/// By the GUIDs of their settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Plan {
    name: Option<String>,
    plugged_in: BTreeMap<String, u32>,
    on_battery: BTreeMap<String, u32>,
}

/// The host.
#[derive(Debug)]
pub struct MadeUpWindows {
    file: PathBuf,
    content: RefCell<Content>,
}

impl MadeUpWindows {
    /// The one in this directory; `None` if there is none.
    pub fn open(directory: &Path) -> io::Result<Option<MadeUpWindows>> {
        let file = directory.join(FILE);
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let content = serde_json::from_str(&text)?;
        Ok(Some(MadeUpWindows {
            file,
            content: RefCell::new(content),
        }))
    }

    /// Changes it, and the file.
    fn change(&self, make: impl FnOnce(&mut Content) -> Option<()>) -> io::Result<()> {
        let mut content = self.content.borrow_mut();
        if content.read_only {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        make(&mut content).ok_or(io::ErrorKind::NotFound)?;
        fs::write(&self.file, serde_json::to_vec_pretty(&*content)?)
    }
}

fn same(name: &str) -> impl Fn(&&String) -> bool {
    move |other| other.eq_ignore_ascii_case(name)
}

impl Plan {
    fn on(&self, supply: Supply) -> &BTreeMap<String, u32> {
        match supply {
            Supply::PluggedIn => &self.plugged_in,
            Supply::Battery => &self.on_battery,
        }
    }

    fn on_mut(&mut self, supply: Supply) -> &mut BTreeMap<String, u32> {
        match supply {
            Supply::PluggedIn => &mut self.plugged_in,
            Supply::Battery => &mut self.on_battery,
        }
    }
}

impl WindowsHost for MadeUpWindows {
    fn name(&self) -> String {
        self.content.borrow().name.clone()
    }

    fn runs(&self) -> PathBuf {
        self.content.borrow().runs.clone()
    }

    fn keys(&self, key: &str) -> io::Result<Vec<String>> {
        let content = self.content.borrow();
        if content.unreadable.iter().any(|one| same(key)(&one)) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let below = |path: &String| {
            let (head, tail) = (path.get(..key.len())?, path.get(key.len()..)?);
            let tail = tail.strip_prefix('\\')?;
            let name = tail.split('\\').next()?.to_owned();
            head.eq_ignore_ascii_case(key).then_some(name)
        };
        let mut names: Vec<String> = content.registry.keys().filter_map(below).collect();
        names.dedup();
        match names.is_empty() && !content.registry.keys().any(|one| same(key)(&one)) {
            true => Err(io::ErrorKind::NotFound.into()),
            false => Ok(names),
        }
    }

    fn values(&self, key: &str) -> io::Result<Vec<(String, Value)>> {
        let content = self.content.borrow();
        if content.unreadable.iter().any(|one| same(key)(&one)) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let found = content.registry.iter().find(|(one, _)| same(key)(one));
        let (_, values) = found.ok_or(io::ErrorKind::NotFound)?;
        let values = values.iter();
        Ok(values
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect())
    }

    fn set_number(&self, key: &str, name: &str, number: u32) -> io::Result<()> {
        self.change(|content| {
            let mut keys = content.registry.iter_mut();
            let (_, values) = keys.find(|(one, _)| same(key)(one))?;
            let (_, value) = values.iter_mut().find(|(one, _)| same(name)(one))?;
            *value = Value::Number(number);
            Some(())
        })
    }

    fn supply(&self) -> Supply {
        match self.content.borrow().on_battery {
            true => Supply::Battery,
            false => Supply::PluggedIn,
        }
    }

    fn plan(&self) -> io::Result<String> {
        let plan = self.content.borrow().plan.clone();
        plan.ok_or_else(|| io::ErrorKind::Unsupported.into())
    }

    fn plan_name(&self, plan: &str) -> Option<String> {
        self.content.borrow().plans.get(plan)?.name.clone()
    }

    fn set_plan(&self, plan: &str) -> io::Result<()> {
        self.change(|content| {
            content.plans.get(plan)?;
            content.plan = Some(plan.to_owned());
            Some(())
        })
    }

    fn plan_value(&self, plan: &str, supply: Supply, setting: PlanSetting) -> io::Result<u32> {
        let content = self.content.borrow();
        let value = content
            .plans
            .get(plan)
            .and_then(|plan| plan.on(supply).get(setting.guid()));
        value.copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn set_plan_value(
        &self,
        plan: &str,
        supply: Supply,
        setting: PlanSetting,
        value: u32,
    ) -> io::Result<()> {
        self.change(|content| {
            let plan = content.plans.get_mut(plan)?;
            *plan.on_mut(supply).get_mut(setting.guid())? = value;
            Some(())
        })
    }

    fn timer(&self) -> Option<TimerResolution> {
        let (coarsest, finest, current) = self.content.borrow().timer?;
        Some(TimerResolution {
            coarsest,
            finest,
            current,
        })
    }

    fn attributes(&self, path: &Path) -> io::Result<u32> {
        let attributes = self.content.borrow().attributes.get(path).copied();
        attributes.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn set_attributes(&self, path: &Path, attributes: u32) -> io::Result<()> {
        self.change(|content| {
            *content.attributes.get_mut(path)? = attributes;
            Some(())
        })
    }

    fn is_attached(&self, instance: &str) -> bool {
        let content = self.content.borrow();
        content.attached.iter().any(|one| same(instance)(&one))
    }
}
