//! Windows.

mod host;
mod power;
mod registry;

use crate::windows::WindowsHost;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Which checks there are.
pub(crate) const IS_WINDOWS: bool = true;

/// What sets the directory of the undo file.
pub(crate) const STATE_VARIABLE: &str = "LOCALAPPDATA";

/// This host.
pub(crate) fn this_windows() -> Option<Box<dyn WindowsHost>> {
    Some(Box::new(host::ThisHost))
}

/// Where a user's programs keep the state of this computer: `%LOCALAPPDATA%`.
pub(crate) fn state_home(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let local = variable("LOCALAPPDATA").map(PathBuf::from);
    local.filter(|path| path.is_absolute())
}

/// Nobody else's: that folder is closed to other users.
pub(crate) fn foreign_owner(_file: &File) -> io::Result<Option<u32>> {
    Ok(None)
}
