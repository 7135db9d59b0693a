//! The responder's end of a stream, under the same trait as the host's: an accepted socket. It cannot be opened again.

use super::closed;
use super::socket::{Opener, SocketLink};
use super::waiting::Ready;
use crate::platform::socket::{self, BorrowedSocket, Channel, Socket};
use std::io;
use std::sync::Mutex;
use std::time::Duration;

/// Sleeps until `socket` is readable, at most so long.
pub fn wait_readable(socket: BorrowedSocket<'_>, at_most: Duration) -> io::Result<()> {
    socket::wait_for(socket, Ready::Readable, at_most)
}

/// A stream socket that was accepted, as a link that cannot be opened again.
pub fn accepted(socket: Socket) -> io::Result<SocketLink<Once>> {
    let once = Once {
        socket: Mutex::new(Some(socket)),
    };
    SocketLink::open(once, &mut || false)
}

/// A socket that is there already; it can be had once.
pub struct Once {
    socket: Mutex<Option<Socket>>,
}

impl Opener for Once {
    const STREAM: bool = true;

    fn connect(
        &self,
        receive_timeout: Option<Duration>,
        _is_interrupted: &mut dyn FnMut() -> bool,
    ) -> io::Result<Channel> {
        let socket = self.socket.lock().ok().and_then(|mut socket| socket.take());
        let channel = Channel::new(socket.ok_or_else(closed)?)?;
        channel.set_receive_timeout(receive_timeout)?;
        Ok(channel)
    }
}
