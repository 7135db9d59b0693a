//! Opens Unix stream sockets.

use super::socket::{Channel, bound};
use crate::error::{LinkError, LinkErrorKind};
use crate::kind::OpenFloor;
use crate::platform::socket_options;
use crate::socket::{self, Opener, SocketLink};
use crate::waiting::Connecting;
use crate::{Address, Link, accepted};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use wiregauge_record::LinkOptions;

/// Opens a link to an echo on this same host.
pub const FLOOR: Option<OpenFloor> = Some(floor);

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
    ) -> io::Result<Channel> {
        let connecting = Connecting::begin(self.timeout, receive_timeout);
        let fd = socket_options::new_socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        bound(&fd, &connecting)?;
        let at = SocketAddrUnix::new(&self.path)?;
        // Unlike over TCP, a connect that found the listener's queue full has to be made again.
        while let Err(error) = rustix::net::connect(&fd, &at) {
            match error {
                Errno::AGAIN | Errno::INTR => connecting.next_wait(is_interrupted)?,
                error => return Err(error.into()),
            };
        }
        let channel = Channel::new(fd)?;
        if receive_timeout.is_some() {
            channel.set_receive_timeout(receive_timeout)?;
        }
        Ok(channel)
    }
}

/// Opens a link to a socket.
pub fn open(
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
