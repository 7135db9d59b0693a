//! What on a host, and on the way from it to a device, hurts a measurement: what was seen, what it
//! costs and who measured that, the command that mends it. Reads files beneath a root, or Windows through a trait, so
//! that every check is tested on a host that is made up, on any system. One file a check, in `checks/`.

#![deny(unsafe_code)]

mod checks;
mod connection;
mod context;
mod error;
mod examine;
mod finding;
mod fix;
mod host;
mod kernel_settings;
mod pattern;
mod platform;
mod route;
mod settings;
mod topology;
mod undo_file;
mod windows;

pub use checks::{CHECKS, Check, LINUX as LINUX_CHECKS, WINDOWS as WINDOWS_CHECKS};
pub use connection::connection;
pub use context::{HostContext, Target};
pub use error::FixError;
pub use examine::examine;
pub use finding::{Change, Cost, Finding, Level, alike};
pub use fix::{Ended, Step, Undone, fix, undo};
pub use kernel_settings::KernelSettings;
pub use settings::Settings;
pub use undo_file::undo_place;
pub use windows::{
    MadeUpWindows, PlanSetting, Supply, TimerResolution, Value, WindowsHost, WindowsSettings,
};
