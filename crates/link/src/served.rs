//! The responder's end of a stream, under the same trait as the host's: an accepted socket, or the
//! master of a pseudo-terminal. Neither can be opened again.

use super::socket::{self, Opener, SocketLink};
use super::{Link, MAX_WAIT, closed, open_pty};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Sleeps until `fd` is readable, at most so long.
pub fn wait_readable(fd: BorrowedFd<'_>, at_most: Duration) -> io::Result<()> {
    socket::wait(fd, false, at_most)
}

/// A stream socket that was accepted, as a link that cannot be opened again.
pub fn accepted(fd: OwnedFd) -> io::Result<SocketLink<Once>> {
    let once = Once {
        fd: Mutex::new(Some(fd)),
    };
    SocketLink::open(once, &mut || false)
}

/// A socket that is there already; it can be had once.
pub struct Once {
    fd: Mutex<Option<OwnedFd>>,
}

impl Opener for Once {
    const STREAM: bool = true;

    fn connect(
        &self,
        receive_timeout: Option<Duration>,
        _is_interrupted: &mut dyn FnMut() -> bool,
    ) -> io::Result<OwnedFd> {
        // An accepted socket is in blocking mode on Linux whatever its listener's mode (accept(2)).
        let fd = self.fd.lock().ok().and_then(|mut fd| fd.take());
        let fd = fd.ok_or_else(closed)?;
        socket::set_receive_timeout(&fd, receive_timeout)?;
        Ok(fd)
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
        socket::wait(self.master.as_fd(), or_writable, at_most)
    }

    fn close(&mut self) {}

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
