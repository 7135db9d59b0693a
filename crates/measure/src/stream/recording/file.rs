//! Where a recording goes: a file, or standard output.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the storage refused.
#[derive(Debug)]
pub(super) struct Failure {
    /// Such as `cannot write data.bin`.
    pub doing: String,
    /// What the system said.
    pub error: io::Error,
}

impl Failure {
    fn new(doing: &str, name: &str, error: io::Error) -> Failure {
        Failure {
            doing: format!("cannot {doing} {name}"),
            error,
        }
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> io::Error {
        let Failure { doing, error } = failure;
        io::Error::new(error.kind(), format!("{doing}: {error}"))
    }
}

/// Where a recording goes. The file is open from the beginning; one that was there before keeps its content until there is
/// something to write.
#[derive(Debug)]
pub struct RecordFile {
    /// As the user wrote it.
    name: String,
    file: File,
    /// `None` for standard output.
    path: Option<PathBuf>,
    /// The file was there before, and still has its old content.
    is_old: bool,
}

impl RecordFile {
    /// Opens or creates a file. The error names it.
    pub fn create(name: &str) -> io::Result<RecordFile> {
        let path = PathBuf::from(name);
        let (file, is_old) = opened(&path)?;
        Ok(RecordFile {
            name: name.to_owned(),
            file,
            path: Some(path),
            is_old,
        })
    }

    /// An open file, such as standard output.
    pub fn open(name: &str, file: File) -> RecordFile {
        RecordFile {
            name: name.to_owned(),
            file,
            path: None,
            is_old: false,
        }
    }

    /// As the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes what the system takes at once; returns how much.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        if self.is_old {
            self.empty()?;
        }
        let written = match self.file.write(bytes) {
            Ok(0) if !bytes.is_empty() => Err(io::Error::from(io::ErrorKind::WriteZero)),
            written => written,
        };
        written.map_err(|error| {
            let name = match &self.path {
                Some(path) => path.display().to_string(),
                None => "standard output".into(),
            };
            Failure::new("write", &name, error)
        })
    }

    /// Removes the old content of a plain file.
    fn empty(&mut self) -> Result<(), Failure> {
        let emptied = match self.file.metadata() {
            Ok(found) if found.is_file() => self.file.set_len(0),
            other => other.map(drop),
        };
        self.is_old = false;
        emptied.map_err(|error| Failure::new("write", &self.name, error))
    }

    /// Removes the file if this created it and it is empty and a plain file.
    pub(super) fn remove_if_empty(self) {
        if self.is_old {
            return;
        }
        let is_empty = |path: &Path| {
            std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
        };
        if let Some(path) = self.path.filter(|path| is_empty(path)) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A new file, or one that is there (true) with its content.
fn opened(path: &Path) -> Result<(File, bool), Failure> {
    let mut options = File::options();
    options.write(true);
    let opened = match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            options.create(true).open(path).map(|file| (file, true))
        }
        created => created.map(|file| (file, false)),
    };
    opened.map_err(|error| Failure::new("create", &path.display().to_string(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_file_keeps_its_content_until_there_is_something_to_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        std::fs::write(&path, "an older recording").unwrap();
        let open = || RecordFile::create(path.to_str().unwrap()).unwrap();
        open().remove_if_empty();
        assert_eq!(std::fs::read(&path).unwrap(), b"an older recording");
        let mut file = open();
        assert_eq!(file.write(b"new").unwrap(), 3);
        assert_eq!(file.write(b"er").unwrap(), 2);
        assert_eq!(std::fs::read(&path).unwrap(), b"newer");
    }
}
