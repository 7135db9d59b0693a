//! Which process has a device file open, for the error of a device that is in use.

use crate::platform::in_use::THIS_PROCESS;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The process that has locked the file, else those that have it open, in words; `None` if none is found, for example
/// without permission.
pub fn of(file: &Path) -> Option<String> {
    let file = file.canonicalize().ok()?;
    let found = match by_lock(&file) {
        Some(process) => vec![process],
        None => by_open_files(&file),
    };
    let found: Vec<String> = found.into_iter().map(in_words).collect();
    (!found.is_empty()).then(|| found.join(", "))
}

/// A process in words.
pub fn in_words(process: u32) -> String {
    if process == std::process::id() {
        return THIS_PROCESS.into();
    }
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    format!("process {process} ({})", name.trim())
}

/// Reads only the links: following them could block on a dead file server.
fn by_open_files(file: &Path) -> Vec<u32> {
    let has_it = |process: &u32| {
        let Ok(mut open) = fs::read_dir(format!("/proc/{process}/fd")) else {
            return false;
        };
        open.any(|link| {
            link.is_ok_and(|link| fs::read_link(link.path()).is_ok_and(|path| path == file))
        })
    };
    let processes = fs::read_dir("/proc").into_iter().flatten();
    let mut found: Vec<u32> = processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(has_it)
        .collect();
    // This process may have another interface of the device open.
    if found.len() > 1 {
        found.retain(|process| *process != std::process::id());
    }
    found
}

/// The kernel's list of locks names the processes of other users too.
fn by_lock(file: &Path) -> Option<u32> {
    let meta = fs::metadata(file).ok()?;
    locked_by(
        &fs::read_to_string("/proc/locks").ok()?,
        meta.dev(),
        meta.ino(),
    )
}

/// `1: FLOCK  ADVISORY  WRITE 1234 00:18:5 0 EOF`: process, then device in hexadecimal, then inode (proc_locks(5)).
fn locked_by(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let (major, minor) = (libc::major(device), libc::minor(device));
    let wanted = format!("{major:02x}:{minor:02x}:{inode}");
    locks.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        (words.next()? == "FLOCK").then_some(())?;
        let process = words.nth(2)?;
        (words.next()? == wanted).then_some(())?;
        // 0 is a process of another container.
        process.parse().ok().filter(|process| *process != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_of_a_lock_is_found_by_device_and_inode() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 00:18:5 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 22 00:18:6 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 44 00:18:5 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 33 00:18:5 0 EOF\n";
        let device = libc::makedev(0, 0x18);
        assert_eq!(locked_by(locks, device, 5), Some(33));
        assert_eq!(locked_by(locks, device, 7), None);
        assert_eq!(locked_by("rubbish\n\n1: FLOCK", device, 5), None);
    }

    #[test]
    fn a_file_that_this_process_has_open_is_its_own() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert_eq!(of(file.path()), Some("this process".into()));
        let (_file, path) = file.keep().expect("its path");
        fs::remove_file(&path).expect("removed");
        assert_eq!(of(&path), None);
    }
}
