//! Windows.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Where a user's programs keep the data of this computer: `%LOCALAPPDATA%`.
pub(crate) fn data_home(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let local = variable("LOCALAPPDATA").map(PathBuf::from);
    local.filter(|path| path.is_absolute())
}

/// Windows cannot open a directory for this and writes its entries through on its own.
pub(crate) fn sync_directory_of(_path: &Path) -> io::Result<()> {
    Ok(())
}
