//! What a check may look at: files beneath a root or a Windows host, the device that is asked about, a run.

use crate::kernel_settings::KernelSettings;
use crate::platform;
use crate::settings::Settings;
use crate::windows::{MadeUpWindows, WindowsHost, WindowsSettings, is_present};
use std::fs;
use std::io;
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
    /// A tty, by its path in `/dev` with links resolved, or a port of Windows.
    Tty {
        /// Such as `/dev/ttyACM0`, `COM3`.
        path: PathBuf,
    },
    /// A USB device, by its directory's name in `/sys/bus/usb/devices`, or the port that it is attached to.
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
    system: System,
    /// What is asked about.
    pub target: Target,
    /// A run to look for patterns in.
    pub run: Option<AnyRun>,
}

enum System {
    /// Linux: files beneath a root.
    Files(PathBuf),
    Windows(Box<dyn WindowsHost>),
}

impl HostContext {
    /// A host by its files. `root` is `/`, or a tree that is made up. Absolute paths are read beneath it.
    pub fn new(root: impl Into<PathBuf>, target: Target, run: Option<AnyRun>) -> HostContext {
        HostContext {
            system: System::Files(root.into()),
            target,
            run,
        }
    }

    /// A Windows host.
    pub fn on_windows(
        host: Box<dyn WindowsHost>,
        target: Target,
        run: Option<AnyRun>,
    ) -> HostContext {
        HostContext {
            system: System::Windows(host),
            target,
            run,
        }
    }

    /// The host that is made up in this directory: Windows if there is a `windows.json`, else the files of Linux.
    pub fn made_up(directory: &Path) -> io::Result<HostContext> {
        Ok(match MadeUpWindows::open(directory)? {
            Some(host) => HostContext::on_windows(Box::new(host), Target::None, None),
            None => HostContext::new(directory, Target::None, None),
        })
    }

    /// This host.
    pub fn this_host() -> HostContext {
        match platform::this_windows() {
            Some(host) => HostContext::on_windows(host, Target::None, None),
            None => HostContext::new("/", Target::None, None),
        }
    }

    /// The host, if it is Windows.
    pub(crate) fn windows(&self) -> Option<&dyn WindowsHost> {
        match &self.system {
            System::Files(_) => None,
            System::Windows(host) => Some(&**host),
        }
    }

    /// Its settings.
    pub fn settings(&self) -> Box<dyn Settings + '_> {
        match &self.system {
            System::Files(root) => Box::new(KernelSettings::new(root)),
            System::Windows(host) => Box::new(WindowsSettings::new(&**host)),
        }
    }

    /// The serial port of this name; `None` if it is not there.
    pub fn serial_port(&self, name: &str) -> Option<Target> {
        let path = match &self.system {
            // Only absolute paths are read.
            System::Files(_) => self.resolved(std::path::absolute(name).ok()?)?,
            System::Windows(host) => {
                let path = PathBuf::from(name);
                is_present(&**host, &path).then_some(path)?
            }
        };
        Some(Target::Tty { path })
    }

    /// True if a USB device is attached to this port, as far as that can be seen. On Windows the port was found by
    /// looking for the device.
    pub fn has_usb(&self, port: &str) -> bool {
        self.windows().is_some() || self.exists(format!("/sys/bus/usb/devices/{port}"))
    }

    /// Where an absolute path of the host lies; `None` on Windows.
    pub(crate) fn place(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let path = path.as_ref();
        match &self.system {
            System::Files(root) => Some(root.join(path.strip_prefix("/").unwrap_or(path))),
            System::Windows(_) => None,
        }
    }

    /// A file's text without white space around it; `None` where it cannot be read.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = fs::read(self.place(path)?).ok()?;
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
        let is_real = matches!(&self.system, System::Files(root) if root == Path::new("/"));
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
        let here = match self.windows() {
            Some(host) => Some(host.name()),
            None => self.read("/proc/sys/kernel/hostname"),
        };
        let ran_on = |run: &AnyRun| run.stored().conditions().host.name.clone();
        self.run
            .as_ref()
            .is_none_or(|run| here == Some(ran_on(run)))
    }

    /// The names in a directory, in order; empty where there is none.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let entries = self.place(path).and_then(|place| fs::read_dir(place).ok());
        let mut names: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// True if it is there.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.place(path).is_some_and(|place| place.exists())
    }

    /// Where a symbolic link ends, as an absolute path of the host.
    pub fn resolved(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let root = fs::canonicalize(self.place("/")?).ok()?;
        let real = fs::canonicalize(self.place(path)?).ok()?;
        Some(Path::new("/").join(real.strip_prefix(root).ok()?))
    }
}
