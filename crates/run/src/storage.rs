//! What the writer of a run needs of a file system, so that tests can put a failing one in its place.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Work that waits for the disk.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Work in steps of some milliseconds: false once it is done. Whoever does a step may be another thread each time.
pub(crate) type Work = Box<dyn FnMut() -> bool + Send>;

/// A file system, with a clock and a place for work that waits for the disk.
pub trait Storage: Send + Sync {
    /// Creates an empty file, or empties the one that is there.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>>;
    /// Creates a file that is locked until the last reference to it is dropped. Fails with `Unsupported` where files
    /// cannot be locked.
    fn create_locked(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>>;
    /// A file to be read, and its length.
    fn open(&self, path: &Path) -> io::Result<(Box<dyn Read + Send>, u64)>;
    /// Renames within one directory; replaces what has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory last through a power cut.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Time since some moment; never goes back.
    fn now(&self) -> Duration;
    /// Does the job elsewhere, after all jobs given before.
    fn background(&self, job: Job);
    /// Does the work, after all given before, where nothing else wants the processor.
    fn at_leisure(&self, work: Work);
    /// Waits until all jobs given before are done, and does what is left of the work. `left` hears how many works that
    /// are, as they get fewer.
    fn settle(&self, left: &mut dyn FnMut(usize));
}

/// A file that grows at its end.
pub trait StoredFile: Send + Sync {
    /// Appends some of the bytes; returns how many.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Makes the content last through a power cut.
    fn sync(&self) -> io::Result<()>;
    /// Cuts the file to this length.
    fn truncate(&self, length: u64) -> io::Result<()>;
}

/// A stored file as an output.
pub(crate) struct Output(pub(crate) Arc<dyn StoredFile>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.append(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Replaces a file in one step: whatever happens, the old or the new one is there, whole.
pub(crate) fn replace(
    storage: &dyn Storage,
    path: &Path,
    temporary: &Path,
    content: &[u8],
) -> io::Result<()> {
    let written = storage.create(temporary).and_then(|file| {
        Output(Arc::clone(&file)).write_all(content)?;
        file.sync()
    });
    let replaced = written.and_then(|()| storage.rename(temporary, path));
    if replaced.is_err() {
        let _ = storage.remove(temporary);
    }
    replaced.and_then(|()| sync_dir_of(storage, path))
}

/// Makes the name of this file last through a power cut.
pub(crate) fn sync_dir_of(storage: &dyn Storage, path: &Path) -> io::Result<()> {
    match path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        Some(dir) => storage.sync_dir(dir),
        None => storage.sync_dir(Path::new(".")),
    }
}
