//! Linux and macOS.

use super::Lock;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Where a user's programs keep their data: `$XDG_DATA_HOME`, else `~/.local/share`.
pub(crate) fn data_home(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    // The XDG base directory specification: a relative path is invalid and must be ignored.
    let data = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    data.or_else(|| Some(set("HOME")?.join(".local/share")))
}

/// Makes the names in a directory last through a power cut.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Creates a file that stays locked while it is open.
pub(crate) fn create_locked(path: &Path) -> io::Result<File> {
    let file = File::create(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        // Some network file systems.
        Err(Errno::NOLCK | Errno::NOTSUP | Errno::NOSYS) => {
            Err(io::Error::from(io::ErrorKind::Unsupported))
        }
        Err(error) => Err(error.into()),
    }
}

/// Lets this thread run where no other wants the processor.
pub(crate) fn lower_priority() {
    // On macOS the whole process would be meant.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
}

/// Whether a program holds the lock of this file.
pub(crate) fn lock_of(path: &Path) -> Lock {
    let Ok(file) = File::open(path) else {
        return Lock::Unknown;
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Lock::Free,
        Err(Errno::WOULDBLOCK) => Lock::Held,
        Err(_) => Lock::Unknown,
    }
}
