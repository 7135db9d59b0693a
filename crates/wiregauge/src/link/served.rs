//! The responder's end of a stream, under the same trait as the host's: an accepted socket, or the
//! master of a pseudo-terminal. Neither can be opened again.

use super::{Link, PATIENCE, closed, open_pty, socket};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Sleeps until `fd` is readable, at most so long.
pub fn wait_readable(fd: BorrowedFd<'_>, at_most: Duration) -> io::Result<()> {
    socket::wait(fd, false, at_most)
}

/// A stream socket that was accepted.
pub struct Accepted {
    fd: OwnedFd,
}

impl Accepted {
    /// Takes it over.
    pub fn new(fd: OwnedFd) -> io::Result<Accepted> {
        // An accepted socket is in blocking mode on Linux whatever its listener's mode (accept(2)).
        socket::set_patience(&fd, Some(PATIENCE))?;
        Ok(Accepted { fd })
    }
}

impl Link for Accepted {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        socket::send(&self.fd, bytes)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        socket::receive(&self.fd, into, RecvFlags::DONTWAIT, true)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        socket::receive(&self.fd, into, RecvFlags::empty(), true)
    }

    fn set_patience(&mut self, patience: Option<Duration>) -> io::Result<bool> {
        socket::set_patience(&self.fd, patience)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        socket::wait(self.fd.as_fd(), or_writable, at_most)
    }

    fn close(&mut self) {}

    fn reopen(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
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
                self.wait(false, PATIENCE)?;
                self.receive(into)
            }
            received => Ok(received),
        }
    }

    fn set_patience(&mut self, _patience: Option<Duration>) -> io::Result<bool> {
        Ok(false)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        socket::wait(self.master.as_fd(), or_writable, at_most)
    }

    fn close(&mut self) {}

    fn reopen(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
