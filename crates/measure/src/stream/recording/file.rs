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

impl NumberedName {
    /// A file of an earlier recording of this name: it would be taken for a part of the new one.
    pub fn earlier(&self) -> Option<PathBuf> {
        let first = self.numbered(0);
        let folder = match first.parent()? {
            here if here.as_os_str().is_empty() => Path::new("."),
            folder => folder,
        };
        let (before, after) = (Path::new(&self.before), self.after.as_str());
        let is_folder = self.before.ends_with('/');
        let before = before.file_name().filter(|_| !is_folder);
        let before = before.map_or("", |name| name.to_str().unwrap_or_default());
        // A number in the name of a folder: only the first file is looked for.
        if after.contains('/') {
            return first.exists().then_some(first);
        }
        let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
            .ok()?
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                let number = name.to_str().and_then(|name| {
                    name.strip_prefix(before)
                        .and_then(|rest| rest.strip_suffix(after))
                });
                number.is_some_and(|number| {
                    number.len() >= self.digits.max(1)
                        && number.bytes().all(|byte| byte.is_ascii_digit())
                })
            })
            .map(|entry| first.with_file_name(entry.file_name()))
            .collect();
        found.sort();
        found.into_iter().next()
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

/// Where a recording goes. The first file is open from the beginning; one that was there before keeps its content until
/// there is something to write.
#[derive(Debug)]
pub struct RecordFile {
    /// As the user wrote it.
    name: String,
    file: File,
    path: Option<PathBuf>,
    /// The first file was there before, and still has its old content.
    is_old: bool,
    split: Option<Split>,
    files: u32,
}

impl RecordFile {
    /// Opens or creates one file, or the first of several of `file_bytes` each, whose name has `%d`. The error names the
    /// file.
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
        let (file, is_old) = opened(&path)?;
        Ok(RecordFile {
            name: name.to_owned(),
            file,
            path: Some(path),
            is_old,
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
            is_old: false,
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
        if self.is_old {
            self.empty()?;
        }
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

    /// Removes the old content of a plain file.
    fn empty(&mut self) -> Result<(), Failure> {
        let emptied = match self.file.metadata() {
            Ok(found) if found.is_file() => self.file.set_len(0),
            other => other.map(drop),
        };
        self.is_old = false;
        emptied.map_err(|error| Failure::new("write", &self.name, error))
    }

    /// Removes the file that it created, if it is empty and a plain file.
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
    fn a_part_of_an_earlier_recording_is_found_whatever_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        let earlier = |name: &str| {
            let name = place(name);
            let name = NumberedName::parse(name.to_str().unwrap());
            name.unwrap().unwrap().earlier()
        };
        for other in ["part.1", "part.007.old", "part.x07", "apart.007", "part."] {
            std::fs::write(place(other), "").unwrap();
        }
        assert_eq!(earlier("part.%03d"), None);
        assert_eq!(earlier("no/part.%03d"), None);
        for number in ["part.1007", "part.012"] {
            std::fs::write(place(number), "").unwrap();
            assert_eq!(earlier("part.%03d"), Some(place(number)));
        }
        assert_eq!(earlier("%d"), None);
        std::fs::write(place("5"), "").unwrap();
        assert_eq!(earlier("%d"), Some(place("5")));
        std::fs::create_dir(place("run00")).unwrap();
        assert_eq!(earlier("run%02d/data"), None);
        std::fs::write(place("run00/data"), "").unwrap();
        assert_eq!(earlier("run%02d/data"), Some(place("run00/data")));
    }

    #[test]
    fn an_old_file_keeps_its_content_until_there_is_something_to_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        std::fs::write(&path, "an older recording").unwrap();
        let open = || RecordFile::create(path.to_str().unwrap(), None).unwrap();
        open().remove_if_empty();
        assert_eq!(std::fs::read(&path).unwrap(), b"an older recording");
        let mut file = open();
        assert_eq!(file.write(b"new").unwrap(), 3);
        assert_eq!(file.write(b"er").unwrap(), 2);
        assert_eq!(std::fs::read(&path).unwrap(), b"newer");
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
