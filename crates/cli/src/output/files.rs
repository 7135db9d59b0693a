//! Files that a command makes for people to keep: never half-written, and never in the place of
//! something else.

use crate::caller::Caller;
use crate::failure::StorageFailed;
use crate::platform;
use anyhow::bail;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What every page of ours says of itself in its head.
const MARK: &str = "<meta name=\"generator\" content=\"wiregauge";

/// The head of a page is not longer.
const HEAD: u64 = 8192;

/// True of the name that stands for standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Fails if a page must not or cannot be written here.
pub fn check(path: &Path) -> anyhow::Result<()> {
    if is_stdout(path) {
        return Ok(());
    }
    let name = path.display();
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => bail!(
            "cannot write the page to {name}: it is a directory; use a file in it, such as {}",
            path.join("report.html").display()
        ),
        Ok(found) if found.is_file() && !is_ours(path, &found)? => bail!(
            "{name} exists and is not a wiregauge report: it is not overwritten. Remove it, or use another \
             name with -o FILE"
        ),
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

fn is_ours(path: &Path, found: &Metadata) -> anyhow::Result<bool> {
    if found.len() == 0 {
        return Ok(true);
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD).read_to_end(&mut head))
        .map_err(|error| cannot(path, &error))?;
    Ok(String::from_utf8_lossy(&head).contains(MARK))
}

/// Writes a page: whole or not at all.
pub fn write(path: &Path, bytes: &[u8], caller: &dyn Caller) -> anyhow::Result<()> {
    if is_stdout(path) {
        let mut out = caller.bytes();
        out.write_all(bytes)?;
        out.flush()?;
        return Ok(());
    }
    check(path)?;
    // A pipe or /dev/stdout takes what it gets, and a link stays one.
    let special = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    let written = match special {
        true => File::create(path).and_then(|mut file| file.write_all(bytes)),
        false => replace(
            &path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            bytes,
        ),
    };
    written.map_err(|error| cannot(path, &error))?;
    Ok(())
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = platform::as_any_new_file(tempfile::Builder::new().prefix(".report-"))
        .tempfile_in(parent(path))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn cannot(path: &Path, error: &io::Error) -> StorageFailed {
    StorageFailed(named("cannot write the page to", path, error))
}

/// Creates a directory, with those above it.
pub fn directory(path: &Path) -> Result<(), StorageFailed> {
    std::fs::create_dir_all(path)
        .map_err(|error| StorageFailed(named("cannot create the directory", path, &error)))
}

/// An error that says what was done to which file.
pub fn named(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {}: {error}", path.display()))
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
    fn a_file_of_somebody_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.html");
        std::fs::write(&path, "<p>mine</p>").unwrap();
        let refused = write(&path, b"page", &Called::default())
            .unwrap_err()
            .to_string();
        assert!(refused.contains("not overwritten"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"<p>mine</p>");
    }

    #[test]
    fn a_page_of_ours_is_replaced_whole_and_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("report.html"), dir.path().join("link"));
        let page = format!("<html>{MARK} 0.1.0\">");
        write(&path, page.as_bytes(), &Called::default()).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, b"", &Called::default()).unwrap();
        assert!(link.is_symlink() && std::fs::read(&path).unwrap().is_empty());
        write(&link, page.as_bytes(), &Called::default()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), page);
        // Nothing is left lying beside it.
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
