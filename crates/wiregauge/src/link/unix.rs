//! Unix stream sockets: the wire between two programs on one host.

use super::socket::{self, Opener, SocketLink};
use super::{Address, Kind, Link, accepted};
use crate::error::{LinkError, LinkErrorKind};
use rustix::fd::OwnedFd;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_record::LinkOptions;

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
    helped: false,
};

struct Unix {
    path: PathBuf,
}

impl Opener for Unix {
    const STREAM: bool = true;

    fn connect(&self, patience: Option<Duration>) -> io::Result<OwnedFd> {
        let fd = OwnedFd::from(UnixStream::connect(&self.path)?);
        if patience.is_some() {
            socket::set_patience(&fd, patience)?;
        }
        Ok(fd)
    }
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
    let path = PathBuf::from(address.rest());
    match SocketLink::open(Unix { path }) {
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
    Ok(Box::new(accepted(OwnedFd::from(near))?))
}
