//! Settings of Linux: files beneath `/sys` and `/proc/sys`.

use crate::settings::Settings;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files that hold a setting lie beneath these, and nothing else is ever written to.
const DIRECTORIES: [&str; 2] = ["sys", "proc/sys"];

/// The settings beneath a root.
#[derive(Clone, Debug)]
pub struct KernelSettings {
    root: PathBuf,
}

impl KernelSettings {
    /// `root` is `/`, or a tree that is made up.
    pub fn new(root: impl Into<PathBuf>) -> KernelSettings {
        KernelSettings { root: root.into() }
    }

    /// Where a setting lies, with links resolved; an error if that is outside of where settings are.
    fn place(&self, path: &Path) -> io::Result<PathBuf> {
        let root = fs::canonicalize(&self.root)?;
        let place = fs::canonicalize(root.join(path.strip_prefix("/").unwrap_or(path)))?;
        match DIRECTORIES
            .iter()
            .any(|dir| place.starts_with(root.join(dir)))
        {
            true => Ok(place),
            false => Err(io::Error::other("it is not a kernel setting")),
        }
    }
}

impl Settings for KernelSettings {
    fn start(&self) -> String {
        let id = fs::read_to_string(self.root.join("proc/sys/kernel/random/boot_id"));
        id.unwrap_or_default().trim().to_owned()
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        let text = fs::read(self.place(path)?)?;
        Ok(String::from_utf8_lossy(&text).trim().to_owned())
    }

    fn write(&self, path: &Path, value: &str) -> io::Result<()> {
        let place = self.place(path)?;
        // Never creates a file: a missing file is not a setting.
        let mut file = OpenOptions::new().write(true).truncate(true).open(place)?;
        // In one write: the kernel takes each write for a whole value.
        file.write_all(format!("{value}\n").as_bytes())
    }
}
