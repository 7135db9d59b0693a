//! Where a recording goes: one file, numbered files of one size, or standard output.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most digits of a number in a file name.
const MOST_DIGITS: usize = 9;

/// The name of numbered files, such as `data.%03d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedName {
    before: String,
    /// Digits at least.
    digits: usize,
    after: String,
}

impl NumberedName {
    /// Reads `%d` or `%03d` in a name; `None` if there is none, an error if there are several.
    pub fn parse(name: &str) -> Result<Option<NumberedName>, String> {
        let mut found = None;
        let mut rest = name;
        let mut at = 0;
        while let Some(percent) = rest.find('%') {
            let behind = &rest[percent + 1..];
            let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            let is_number =
                behind[digits..].starts_with('d') && (digits == 0 || behind.starts_with('0'));
            if is_number {
                let width: usize = match digits {
                    0 => 0,
                    _ => behind[..digits].parse().unwrap_or(usize::MAX),
                };
                if width > MOST_DIGITS {
                    return Err("its number has too many digits: use %03d".into());
                }
                if found.is_some() {
                    return Err("the name has more than one %d".into());
                }
                found = Some(NumberedName {
                    before: name[..at + percent].to_owned(),
                    digits: width,
                    after: behind[digits + 1..].to_owned(),
                });
            }
            at += percent + 1;
            rest = behind;
        }
        Ok(found)
    }

    /// The name with this number.
    pub fn numbered(&self, number: u32) -> PathBuf {
        let NumberedName {
            before,
            digits,
            after,
        } = self;
        PathBuf::from(format!("{before}{number:0digits$}{after}"))
    }
}

/// Files of a fixed size.
#[derive(Debug)]
struct Split {
    name: NumberedName,
    file_bytes: u64,
    /// Bytes of the file that is open.
    there: u64,
}

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

/// Where a recording goes. The first file is open from the beginning.
#[derive(Debug)]
pub struct RecordFile {
    /// As the user wrote it.
    name: String,
    file: File,
    path: Option<PathBuf>,
    split: Option<Split>,
    files: u32,
}

impl RecordFile {
    /// Creates one file, or the first of several of `file_bytes` each, whose name has `%d`. The error names the file.
    pub fn create(name: &str, split: Option<(NumberedName, u64)>) -> io::Result<RecordFile> {
        let split = split.map(|(name, file_bytes)| Split {
            name,
            file_bytes: file_bytes.max(1),
            there: 0,
        });
        let path = match &split {
            Some(split) => split.name.numbered(0),
            None => PathBuf::from(name),
        };
        Ok(RecordFile {
            name: name.to_owned(),
            file: created(&path)?,
            path: Some(path),
            split,
            files: 1,
        })
    }

    /// An open file, such as standard output.
    pub fn open(name: &str, file: File) -> RecordFile {
        RecordFile {
            name: name.to_owned(),
            file,
            path: None,
            split: None,
            files: 1,
        }
    }

    /// As the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Files begun.
    pub(super) fn files(&self) -> u32 {
        self.files
    }

    /// Writes what fits into the open file, or begins the next one; returns how much was written.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        let mut most = bytes.len();
        if let Some(split) = &mut self.split {
            if split.there == split.file_bytes {
                let path = split.name.numbered(self.files);
                self.file = created(&path)?;
                self.path = Some(path);
                self.files += 1;
                split.there = 0;
            }
            let left = split.file_bytes - split.there;
            most = most.min(usize::try_from(left).unwrap_or(usize::MAX));
        }
        let written = match self.file.write(&bytes[..most]) {
            Ok(0) if most > 0 => Err(io::Error::from(io::ErrorKind::WriteZero)),
            written => written,
        };
        let written = written.map_err(|error| {
            let name = match &self.path {
                Some(path) => path.display().to_string(),
                None => "standard output".into(),
            };
            Failure::new("write", &name, error)
        })?;
        if let Some(split) = &mut self.split {
            split.there += written as u64;
        }
        Ok(written)
    }

    /// Removes the file that it created, if it is empty and a plain file.
    pub(super) fn remove_if_empty(self) {
        let is_empty = |path: &Path| {
            std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
        };
        if let Some(path) = self.path.filter(|path| is_empty(path)) {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn created(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure::new("create", &path.display().to_string(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> Option<PathBuf> {
        let name = NumberedName::parse(name).expect("one number at most");
        name.map(|name| name.numbered(7))
    }

    #[test]
    fn a_number_in_a_name_is_found_wherever_it_is() {
        assert_eq!(parsed("data.%03d"), Some("data.007".into()));
        assert_eq!(parsed("%d.bin"), Some("7.bin".into()));
        assert_eq!(parsed("a%20b/%04d.raw"), Some("a%20b/0007.raw".into()));
        assert_eq!(parsed("100%.bin"), None);
        assert_eq!(parsed("x%s %3d %"), None);
        assert!(NumberedName::parse("%d-%d").is_err());
        assert!(NumberedName::parse("%010d").is_err());
        assert!(NumberedName::parse("%099d").is_err());
    }

    #[test]
    fn files_are_filled_to_the_byte() {
        let dir = tempfile::tempdir().unwrap();
        let pattern = dir.path().join("part.%02d");
        let pattern = pattern.to_str().unwrap();
        let name = NumberedName::parse(pattern).unwrap().unwrap();
        let mut file = RecordFile::create(pattern, Some((name, 10))).unwrap();
        let all: Vec<u8> = (0..25).collect();
        let mut left = &all[..];
        while !left.is_empty() {
            left = &left[file.write(&left[..left.len().min(7)]).unwrap()..];
        }
        assert_eq!(file.files(), 3);
        let read = |at: u32| std::fs::read(dir.path().join(format!("part.{at:02}"))).unwrap();
        assert_eq!((read(0).len(), read(1).len(), read(2).len()), (10, 10, 5));
        assert_eq!([read(0), read(1), read(2)].concat(), all);
    }
}
