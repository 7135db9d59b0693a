//! Files that a command makes for people to keep: never half-written, and never in the place of something else, unless
//! `--force` says so.

use crate::caller::Caller;
use crate::failure::StorageFailed;
use crate::platform;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use wiregauge_program::files::{cannot, named, parent};

pub use wiregauge_program::files::{check, is_stdout};

/// What every page of ours says of itself in its head.
const MARK: &str = "<meta name=\"generator\" content=\"wiregauge";

/// The head of a page is not longer.
const HEAD: u64 = 8192;

/// True of a page that wiregauge made: a later one may replace it.
pub fn is_page(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(MARK)
}

/// Creates a file that is written step by step while something is measured.
pub fn create(path: &Path, force: bool) -> anyhow::Result<File> {
    check(path, force)?;
    Ok(File::create(path).map_err(|error| cannot(path, &error))?)
}

/// A file that is being written, and appears under its name when it is finished. What is no plain file, such as a pipe or
/// /dev/stdout, gets the bytes at once.
pub enum Output<'a> {
    /// Standard output.
    Stdout(Box<dyn Write + 'a>),
    /// No plain file.
    Special(File, PathBuf),
    /// Under a temporary name.
    Whole(NamedTempFile, PathBuf),
}

impl Output<'_> {
    /// Begins a file; `-` is standard output. One that exists must be empty, or `force` be set.
    pub fn create<'a>(
        path: &Path,
        force: bool,
        caller: &'a dyn Caller,
    ) -> anyhow::Result<Output<'a>> {
        if is_stdout(path) {
            return Ok(Output::Stdout(caller.bytes()));
        }
        check(path, force)?;
        // A link stays one.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let special = std::fs::metadata(&path).is_ok_and(|found| !found.is_file());
        let created = match special {
            true => File::create(&path).map(|file| Output::Special(file, path.clone())),
            false => platform::as_any_new_file(tempfile::Builder::new().prefix(".wiregauge-"))
                .tempfile_in(parent(&path))
                .map(|file| Output::Whole(file, path.clone())),
        };
        Ok(created.map_err(|error| cannot(&path, &error))?)
    }

    /// Writes what is left, and gives the file its name.
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        if let Output::Whole(file, path) = self {
            file.persist(&path)
                .map_err(|failed| cannot(&path, &failed.error))?;
        }
        Ok(())
    }

    /// The same error with the name of the file; the kind is kept, so that `| head` is known as such.
    fn named<T>(&self, result: io::Result<T>) -> io::Result<T> {
        match self {
            Output::Stdout(_) => result,
            Output::Special(_, path) | Output::Whole(_, path) => {
                result.map_err(|error| named("cannot write", path, &error))
            }
        }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self {
            Output::Stdout(out) => out.write(bytes),
            Output::Special(file, _) => file.write(bytes),
            Output::Whole(file, _) => file.write(bytes),
        };
        self.named(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match self {
            Output::Stdout(out) => out.flush(),
            Output::Special(file, _) => file.flush(),
            Output::Whole(file, _) => file.flush(),
        };
        self.named(flushed)
    }
}

/// Writes a file: whole or not at all.
pub fn write(path: &Path, bytes: &[u8], force: bool, caller: &dyn Caller) -> anyhow::Result<()> {
    let mut out = Output::create(path, force, caller)?;
    out.write_all(bytes)?;
    out.finish()
}

/// Creates a directory, with those above it.
pub fn directory(path: &Path) -> Result<(), StorageFailed> {
    std::fs::create_dir_all(path)
        .map_err(|error| StorageFailed(named("cannot create the directory", path, &error)))
}

/// A number of bytes for people.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// The address under which a browser opens a file; terminals make it a link.
pub fn address_of(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut address = "file://".to_owned();
    for byte in platform::path_of_address(&path) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b':' | b'-' | b'.' | b'_' | b'~' => {
                address.push(char::from(byte));
            }
            byte => address += &format!("%{byte:02X}"),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::called::Called;

    #[test]
    fn sizes_and_addresses_are_as_people_and_browsers_read_them() {
        assert_eq!(size(12), "12 B");
        assert_eq!(size(412_300), "412 kB");
        assert_eq!(size(1_250_000), "1.2 MB");
        let address = address_of(Path::new("/no such/a#b?.html"));
        assert_eq!(address, "file:///no%20such/a%23b%3F.html");
    }

    #[test]
    fn a_file_is_replaced_whole_and_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let caller = Called::default();
        let (path, link) = (dir.path().join("report.html"), dir.path().join("link"));
        let page = format!("<html>{MARK} 0.1.0\">");
        assert!(!is_page(&path));
        write(&path, page.as_bytes(), false, &caller).unwrap();
        assert!(is_page(&path));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, b"", true, &caller).unwrap();
        assert!(link.is_symlink() && std::fs::read(&path).unwrap().is_empty());
        // What is not finished leaves the old file as it was, and nothing beside it.
        let mut begun = Output::create(&link, true, &caller).unwrap();
        begun.write_all(b"half of a pa").unwrap();
        drop(begun);
        assert!(std::fs::read(&path).unwrap().is_empty());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
