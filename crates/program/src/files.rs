//! Whether a file may be written: never in the place of something else, unless `--force` says so.

use crate::failure::StorageFailed;
use anyhow::bail;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// True of the name that stands for standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Fails if a file must not or cannot be written here. An empty file, such as mktemp makes, may be; a file with content
/// only with `force`.
pub fn check(path: &Path, force: bool) -> anyhow::Result<()> {
    if is_stdout(path) {
        return Ok(());
    }
    let name = path.display();
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => bail!(
            "cannot write {name}: it is a directory\n  hint: use a file in it, such as {}",
            path.join("FILE").display()
        ),
        Ok(found) if has_content(&found) && !force => {
            bail!("cannot write {name}: the file exists\n  hint: --force overwrites it")
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // To be tried where it will be made, so that a directory that is missing or closed to
            // us is known now.
            let dir = parent(path);
            tempfile::tempfile_in(&dir).map_err(|error| cannot(path, &error))?;
            Ok(())
        }
        Err(error) => Err(cannot(path, &error).into()),
    }
}

fn has_content(found: &Metadata) -> bool {
    found.is_file() && found.len() > 0
}

/// The directory of a file.
pub fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// The error of a file that cannot be written.
pub fn cannot(path: &Path, error: &io::Error) -> StorageFailed {
    StorageFailed(named("cannot write", path, error))
}

/// An error that says what was done to which file.
pub fn named(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {}: {error}", path.display()))
}
