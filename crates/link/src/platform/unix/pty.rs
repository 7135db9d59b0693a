//! Pseudo-terminals.

use crate::platform::line::OPEN_PTY;
use crate::{Link, MAX_WAIT, closed};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pty::{grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Makes a pseudo-terminal in raw mode: the master, and the path of the tty that others open.
pub fn open_pty() -> io::Result<(OwnedFd, PathBuf)> {
    let master = openpt(OPEN_PTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let mut termios = tcgetattr(&master)?;
    termios.make_raw();
    tcsetattr(&master, OptionalActions::Now, &termios)?;
    let name = ptsname(&master, Vec::new())?;
    Ok((master, PathBuf::from(name.to_string_lossy().into_owned())))
}

/// The master of a pseudo-terminal made for this.
pub struct PtyMaster {
    master: OwnedFd,
    /// Held open, because a master whose tty nobody has open reads as an error.
    _tty: OwnedFd,
    path: PathBuf,
}

impl PtyMaster {
    /// Makes one.
    pub fn open() -> io::Result<PtyMaster> {
        let (master, path) = open_pty()?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let tty = rustix::fs::open(&path, flags, Mode::empty())?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        Ok(PtyMaster {
            master,
            _tty: tty,
            path,
        })
    }

    /// The tty that others open.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Link for PtyMaster {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::write(&self.master, bytes) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match rustix::io::read(&self.master, into) {
            Ok(0) => Err(closed()),
            Ok(received) => Ok(received),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Tried first: a host that keeps the line busy then costs no poll.
        match self.receive(into)? {
            0 => {
                self.wait(false, MAX_WAIT)?;
                self.receive(into)
            }
            received => Ok(received),
        }
    }

    fn set_receive_timeout(&mut self, _timeout: Option<Duration>) -> io::Result<bool> {
        Ok(false)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        super::socket::wait(self.master.as_fd(), or_writable, at_most)
    }

    fn close(&mut self) {}

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
