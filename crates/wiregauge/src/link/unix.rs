//! Unix stream sockets: the wire between two programs on one host.

use super::{Address, Kind, Link, PATIENCE, closed, socket};
use crate::error::{LinkError, LinkErrorKind};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::RecvFlags;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_record::{LinkDetail, LinkOptions};

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "unix",
    about: "a Unix stream socket",
    example: "unix:///tmp/device.sock",
    datagram: false,
    max_bytes: wiregauge_wire::MAX_FRAME,
    check,
    open,
    floor: Some(floor),
};

struct Unix {
    fd: Option<OwnedFd>,
    path: PathBuf,
    patience: Option<Duration>,
}

fn check(rest: &str) -> Result<(), String> {
    match rest.len() {
        0 => Err("it has no path".into()),
        // sun_path holds 108 bytes with its closing NUL (unix(7)).
        108.. => Err("the path of a socket has at most 107 bytes".into()),
        _ => Ok(()),
    }
}

fn open(
    address: &Address,
    _options: &LinkOptions,
    _timeout: Duration,
) -> Result<Box<dyn Link>, LinkError> {
    let doing = format!("connecting to {address}");
    match Unix::connect(PathBuf::from(address.rest()), Some(PATIENCE)) {
        Ok(link) => Ok(Box::new(link)),
        Err(error) => {
            let error = LinkError::from_io(doing, &error);
            Err(match error.kind() {
                LinkErrorKind::NotFound | LinkErrorKind::Unreachable => error.hint(format!(
                    "is the responder running? start one: wiregauge serve {address}"
                )),
                _ => error,
            })
        }
    }
}

impl Unix {
    fn connect(path: PathBuf, patience: Option<Duration>) -> io::Result<Unix> {
        let fd = OwnedFd::from(UnixStream::connect(&path)?);
        socket::set_patience(&fd, patience)?;
        Ok(Unix {
            fd: Some(fd),
            path,
            patience,
        })
    }

    fn fd(&self) -> io::Result<&OwnedFd> {
        self.fd.as_ref().ok_or_else(closed)
    }
}

impl Link for Unix {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        socket::send(self.fd()?, bytes)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        socket::receive(self.fd()?, into, RecvFlags::DONTWAIT, true)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        socket::receive(self.fd()?, into, RecvFlags::empty(), true)
    }

    fn set_patience(&mut self, patience: Option<Duration>) -> io::Result<bool> {
        self.patience = patience;
        match &self.fd {
            Some(fd) => socket::set_patience(fd, patience),
            // Kept for when it is opened again.
            None => Ok(true),
        }
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        socket::wait(self.fd()?.as_fd(), or_writable, at_most)
    }

    fn close(&mut self) {
        self.fd = None;
    }

    fn reopen(&mut self) -> io::Result<()> {
        let fd = OwnedFd::from(UnixStream::connect(&self.path)?);
        if self.patience.is_some() {
            socket::set_patience(&fd, self.patience)?;
        }
        self.fd = Some(fd);
        Ok(())
    }

    fn detail(&self) -> LinkDetail {
        let mut settings = Vec::new();
        if let Some(fd) = &self.fd {
            socket::buffer_settings(fd, &mut settings);
        }
        LinkDetail { settings }
    }
}

fn floor() -> io::Result<Box<dyn Link>> {
    let (near, mut far) = UnixStream::pair()?;
    std::thread::spawn(move || -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            let received = far.read(&mut buffer)?;
            if received == 0 {
                return Ok(());
            }
            far.write_all(&buffer[..received])?;
        }
    });
    let fd = OwnedFd::from(near);
    socket::set_patience(&fd, Some(PATIENCE))?;
    Ok(Box::new(Unix {
        fd: Some(fd),
        path: PathBuf::new(),
        patience: Some(PATIENCE),
    }))
}
