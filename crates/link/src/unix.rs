//! Unix stream sockets: the wire between two programs on one host.

use super::socket::{self, Connecting, Opener, SocketLink};
use super::{Address, Kind, Link, accepted};
use crate::error::{LinkError, LinkErrorKind};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
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
    separate: false,
    one_request: None,
    no_stream: None,
};

struct Unix {
    path: PathBuf,
    timeout: Duration,
}

impl Opener for Unix {
    const STREAM: bool = true;

    fn connect(
        &self,
        receive_timeout: Option<Duration>,
        is_interrupted: &mut dyn FnMut() -> bool,
    ) -> io::Result<OwnedFd> {
        let connecting = Connecting::begin(self.timeout, receive_timeout);
        let (kind, flags) = (SocketType::STREAM, SocketFlags::CLOEXEC);
        let fd = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
        connecting.bound(&fd)?;
        let at = SocketAddrUnix::new(&self.path)?;
        // Unlike over TCP, a connect that found the listener's queue full has to be made again.
        while let Err(error) = rustix::net::connect(&fd, &at) {
            match error {
                Errno::AGAIN | Errno::INTR => connecting.next_wait(is_interrupted)?,
                error => return Err(error.into()),
            };
        }
        if receive_timeout.is_some() {
            socket::set_receive_timeout(&fd, receive_timeout)?;
        }
        Ok(fd)
    }
}

fn check(rest: &str) -> Result<(), String> {
    match rest.len() {
        0 => Err("it has no path".into()),
        // sun_path holds 108 bytes with its closing NUL (unix(7)).
        108.. => Err("a socket path has at most 107 bytes".into()),
        _ => Ok(()),
    }
}

fn open(
    address: &Address,
    _options: &LinkOptions,
    timeout: Duration,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let doing = format!("cannot connect to {address}");
    let path = PathBuf::from(address.rest());
    let error = match SocketLink::open(Unix { path, timeout }, is_interrupted) {
        Ok(link) => return Ok(Box::new(link)),
        Err(error) => error,
    };
    let link_error = socket::explain_connect(&doing, &error, timeout)
        .unwrap_or_else(|| LinkError::from_io(&doing, &error));
    let is_other = |file: std::fs::Metadata| !file.file_type().is_socket();
    Err(match link_error.kind() {
        LinkErrorKind::Unreachable if std::fs::metadata(address.rest()).is_ok_and(is_other) => {
            link_error.hint("this file is not a socket: check the path")
        }
        LinkErrorKind::NotFound | LinkErrorKind::Unreachable => link_error.hint(format!(
            "is the responder running? start one: wiregauge serve {address}"
        )),
        LinkErrorKind::Timeout => {
            link_error.hint("is its program busy or stopped? else use a longer --timeout")
        }
        _ => link_error,
    })
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
