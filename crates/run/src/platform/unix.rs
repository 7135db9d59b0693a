//! Linux and macOS.

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

/// Makes a name that was changed last through a power failure.
pub(crate) fn sync_directory_of(path: &Path) -> io::Result<()> {
    match path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        Some(parent) => File::open(parent)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
