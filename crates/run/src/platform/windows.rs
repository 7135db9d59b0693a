//! Windows.

use super::Lock;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where a user's programs keep the data of this computer: `%LOCALAPPDATA%`.
pub(crate) fn data_home(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let local = variable("LOCALAPPDATA").map(PathBuf::from);
    local.filter(|path| path.is_absolute())
}

/// Windows cannot open a directory for this and writes its entries through on its own.
pub(crate) fn sync_directory(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates a file that nobody else can open while it is open.
pub(crate) fn create_locked(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    options.share_mode(0).open(path)
}

/// Lets this thread run where no other wants the processor: not done here.
pub(crate) fn lower_priority() {}

/// Whether a program holds the lock of this file.
pub(crate) fn lock_of(path: &Path) -> Lock {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    match File::open(path) {
        Ok(_) => Lock::Free,
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => Lock::Held,
        Err(_) => Lock::Unknown,
    }
}
