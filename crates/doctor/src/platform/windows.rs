//! Windows.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Where a user's programs keep the state of this computer: `%LOCALAPPDATA%`.
pub(crate) fn state_home(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let local = variable("LOCALAPPDATA").map(PathBuf::from);
    local.filter(|path| path.is_absolute())
}

/// Nobody else's: that folder is closed to other users.
pub(crate) fn foreign_owner(_file: &File) -> io::Result<Option<u32>> {
    Ok(None)
}
