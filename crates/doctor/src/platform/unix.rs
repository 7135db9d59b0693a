//! Linux and macOS.

use crate::windows::WindowsHost;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Which checks there are.
pub(crate) const IS_WINDOWS: bool = false;

/// What sets the directory of the undo file.
pub(crate) const STATE_VARIABLE: &str = "XDG_STATE_HOME";

/// None: this is no Windows.
pub(crate) fn this_windows() -> Option<Box<dyn WindowsHost>> {
    None
}

/// Where a user's programs keep their state: `$XDG_STATE_HOME`, else `~/.local/state`.
pub(crate) fn state_home(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG base directory specification: a relative path is invalid and must be ignored.
    let set = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))
}

/// The number of the user whose file it is, if that is not the user of this process.
pub(crate) fn foreign_owner(file: &File) -> io::Result<Option<u32>> {
    let owner = file.metadata()?.uid();
    Ok((owner != rustix::process::geteuid().as_raw()).then_some(owner))
}
