//! What a check may look at: files beneath a root, the device that is asked about, a run.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use wiregauge_run::AnyRun;

/// The device that is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// None: the host is looked at, and whatever hangs on it.
    #[default]
    None,
    /// Nothing lies between the host and the device: a Unix socket, a null link, another computer's run.
    Here,
    /// A tty, by its path in `/dev` with links resolved.
    Tty {
        /// Such as `/dev/ttyACM0`.
        path: PathBuf,
    },
    /// A USB device, by its directory's name in `/sys/bus/usb/devices`.
    Usb {
        /// Such as `1-1.4`.
        name: String,
    },
    /// A device on the network.
    Network {
        /// Its address.
        peer: IpAddr,
        /// True for TCP.
        is_tcp: bool,
    },
}

/// A host as a check sees it.
pub struct HostContext {
    root: PathBuf,
    /// What is asked about.
    pub target: Target,
    /// A run to look for patterns in.
    pub run: Option<AnyRun>,
}

impl HostContext {
    /// `root` is `/`, or a tree that is made up. Absolute paths are read beneath it.
    pub fn new(root: impl Into<PathBuf>, target: Target, run: Option<AnyRun>) -> HostContext {
        HostContext {
            root: root.into(),
            target,
            run,
        }
    }

    /// Where an absolute path of the host lies.
    pub fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A file's text without white space around it; `None` where it cannot be read.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = fs::read(self.place(path)).ok()?;
        Some(String::from_utf8_lossy(&text).trim().to_owned())
    }

    /// A file that holds a number.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<i64> {
        self.read(path)?.parse().ok()
    }

    /// Files as they are now and as they are after `wait`, without white space around them. A tree that
    /// is made up does not change by itself: its second reading is that of `PATH.later`, at once.
    pub fn twice(&self, paths: &[PathBuf], wait: Duration) -> Vec<Option<(String, String)>> {
        let before: Vec<Option<String>> = paths.iter().map(|path| self.read(path)).collect();
        let is_real = self.root == Path::new("/");
        if is_real {
            thread::sleep(wait);
        }
        let after = |path: &PathBuf| match is_real {
            true => self.read(path),
            false => self.read(format!("{}.later", path.display())),
        };
        let both = before.into_iter().zip(paths);
        both.map(|(before, path)| before.zip(after(path))).collect()
    }

    /// False of a run that was measured on another computer: what is seen here is not what it ran on.
    pub fn is_of_this_host(&self) -> bool {
        let here = self.read("/proc/sys/kernel/hostname");
        let ran_on = |run: &AnyRun| run.stored().conditions().host.name.clone();
        self.run
            .as_ref()
            .is_none_or(|run| here == Some(ran_on(run)))
    }

    /// The names in a directory, in order; empty where there is none.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.place(path)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// True if it is there.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.place(path).exists()
    }

    /// Where a symbolic link ends, as an absolute path of the host.
    pub fn resolved(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let root = fs::canonicalize(&self.root).ok()?;
        let real = fs::canonicalize(self.place(path)).ok()?;
        Some(Path::new("/").join(real.strip_prefix(root).ok()?))
    }
}
