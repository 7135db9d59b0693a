//! WinSock. Sends and receives are overlapped: the system goes on with them by itself, so a send never waits, a receive
//! that has not ended stays begun until it has, and whether it has costs no system call. A receive that waits costs two,
//! as the blocking one does inside; but that one must not be used again after a timeout (SO_RCVTIMEO: "the socket state is
//! indeterminate").

#![allow(unsafe_code)]

use super::overlapped::{Operation, milliseconds, wait_for_either};
use super::socket_error::last_error;
use super::tcp_connect::{connected, set_nonblocking};
use crate::waiting::{Connecting, MAX_WAIT, Ready};
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::windows::io::{AsRawSocket, OwnedSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, HANDLE};
use windows_sys::Win32::Networking::WinSock::{
    IPPROTO_TCP, LINGER, POLLRDNORM, POLLWRNORM, SO_LINGER, SO_RCVBUF, SO_SNDBUF, SO_TYPE,
    SOCK_DGRAM, SOCKET, SOL_SOCKET, TCP_NODELAY, WSABUF, WSAECONNREFUSED, WSAECONNRESET, WSAEINTR,
    WSAENETRESET, WSAENOBUFS, WSAEWOULDBLOCK, WSAGetLastError, WSAPOLLFD, WSAPoll, WSARecv,
    WSASend, getsockopt, setsockopt,
};

/// A socket that is owned.
pub type Socket = OwnedSocket;

pub use std::os::windows::io::{AsSocket, BorrowedSocket};

/// Borrows a socket.
pub fn borrowed(socket: &impl AsSocket) -> BorrowedSocket<'_> {
    socket.as_socket()
}

/// Bytes of one send or receive at most: any datagram fits.
const MOST: usize = 64 << 10;

/// How long a receive without a timeout sleeps: no signal ends it here.
const LONGEST_RECEIVE: Duration = Duration::from_millis(50);

/// The system's timers are no finer than this by themselves.
const SHORTEST_RECEIVE: Duration = Duration::from_millis(10);

/// How long what was sent may still take when the socket is closed.
const REST: Duration = Duration::from_millis(200);

/// A connected socket.
pub struct Channel {
    /// Dropped last: what is begun on it is ended before.
    socket: OwnedSocket,
    is_datagram: bool,
    receive_timeout_ms: AtomicU32,
    receive: Mutex<Receive>,
    send: Mutex<Operation>,
}

/// The receive that is begun, or what came.
struct Receive {
    operation: Operation,
    /// Part of the buffer that was not handed over.
    arrived: Option<Range<usize>>,
}

impl Channel {
    /// A socket in blocking mode.
    pub fn new(socket: Socket) -> io::Result<Channel> {
        let kind = option(&socket, SO_TYPE)?;
        set_nonblocking(&socket, false)?;
        Ok(Channel {
            socket,
            is_datagram: kind == SOCK_DGRAM,
            receive_timeout_ms: AtomicU32::new(milliseconds(MAX_WAIT)),
            receive: Mutex::new(Receive {
                operation: Operation::new(MOST)?,
                arrived: None,
            }),
            send: Mutex::new(Operation::new(MOST)?),
        })
    }

    fn raw(&self) -> SOCKET {
        self.socket.as_raw_socket() as SOCKET
    }

    fn explain(&self, error: io::Error) -> io::Error {
        match error.raw_os_error() {
            // Nobody listens on the port: the answer of ICMP to an earlier datagram.
            Some(WSAECONNRESET | WSAENETRESET) if self.is_datagram => {
                io::Error::from_raw_os_error(WSAECONNREFUSED)
            }
            _ => error,
        }
    }

    /// Hands over as many bytes as the system takes now; 0 if it takes none.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let Ok(mut send) = self.send.lock() else {
            return Ok(0);
        };
        if !send.is_over() {
            return Ok(0);
        }
        if send.is_under_way() {
            let ended = send.result(self.raw() as HANDLE);
            ended.map_err(|error| self.explain(of_file(error)))?;
        }
        let count = bytes.len().min(MOST);
        send.buffer()[..count].copy_from_slice(&bytes[..count]);
        let raw = self.raw();
        let begun = send.begin(|buffer, overlapped| {
            let part = WSABUF {
                len: count as u32,
                buf: buffer,
            };
            let none = std::ptr::null_mut();
            // SAFETY: the operation's memory stays in place until it has ended; the description of it is copied.
            let result = unsafe { WSASend(raw, &part, 1, none, 0, overlapped, None) };
            match result {
                0 => 0,
                // SAFETY: it has no arguments.
                _ => unsafe { WSAGetLastError() as u32 },
            }
        });
        match begun {
            Ok(_) => Ok(count),
            Err(error) => match error.raw_os_error() {
                Some(WSAEWOULDBLOCK | WSAEINTR | WSAENOBUFS) => Ok(0),
                _ => Err(self.explain(error)),
            },
        }
    }

    /// Receives, waiting for it if `wait` says so; `None` if nothing came.
    pub fn receive(&self, into: &mut [u8], wait: bool) -> io::Result<Option<usize>> {
        let Ok(mut receive) = self.receive.lock() else {
            return Ok(None);
        };
        let at_most = match wait {
            true => Duration::from_millis(self.receive_timeout_ms.load(Ordering::Relaxed).into()),
            false => Duration::ZERO,
        };
        if !self.has_arrived(&mut receive, at_most)? {
            return Ok(None);
        }
        let Receive { operation, arrived } = &mut *receive;
        let Some(range) = arrived.take() else {
            return Ok(None);
        };
        let count = range.len().min(into.len());
        into[..count].copy_from_slice(&operation.buffer()[range.start..range.start + count]);
        // What is left of a datagram is lost, as everywhere.
        if count < range.len() && !self.is_datagram {
            *arrived = Some(range.start + count..range.end);
        }
        Ok(Some(count))
    }

    /// True if something can be handed over, or the other end closed the connection. A receive is begun if none is.
    fn has_arrived(&self, receive: &mut Receive, at_most: Duration) -> io::Result<bool> {
        if receive.arrived.is_some() {
            return Ok(true);
        }
        if !receive.operation.is_under_way() {
            self.begin(&mut receive.operation)?;
        }
        if !at_most.is_zero() {
            receive.operation.wait(at_most);
        }
        if !receive.operation.is_over() {
            return Ok(false);
        }
        let bytes = match receive.operation.result(self.raw() as HANDLE) {
            Ok(bytes) => bytes,
            Err(error) if error.raw_os_error() == Some(ERROR_MORE_DATA as i32) => MOST,
            Err(error) => return Err(self.explain(of_file(error))),
        };
        receive.arrived = Some(0..bytes);
        Ok(true)
    }

    fn begin(&self, operation: &mut Operation) -> io::Result<()> {
        let raw = self.raw();
        let begun = operation.begin_for_result(|buffer, overlapped| {
            let part = WSABUF {
                len: MOST as u32,
                buf: buffer,
            };
            let (none, mut flags) = (std::ptr::null_mut(), 0);
            // SAFETY: the operation's memory stays in place until it has ended; the description of it is copied.
            let result = unsafe { WSARecv(raw, &part, 1, none, &mut flags, overlapped, None) };
            match result {
                0 => 0,
                // SAFETY: it has no arguments.
                _ => unsafe { WSAGetLastError() as u32 },
            }
        });
        begun.map_err(|error| self.explain(error))
    }

    /// Sleeps until it is ready for what is named, at most so long.
    pub fn wait(&self, for_what: Ready, at_most: Duration) -> io::Result<()> {
        if for_what == Ready::Writable {
            if let Ok(send) = self.send.lock() {
                send.wait(at_most);
            }
            return Ok(());
        }
        let Ok(mut receive) = self.receive.lock() else {
            return Ok(());
        };
        if self.has_arrived(&mut receive, Duration::ZERO)? {
            return Ok(());
        }
        if for_what == Ready::Readable {
            receive.operation.wait(at_most);
        } else if let Ok(send) = self.send.lock() {
            wait_for_either(&receive.operation, &send, at_most);
        }
        Ok(())
    }

    /// Lets receives that wait end after `receive_timeout`; without one, after a moment all the same.
    pub fn set_receive_timeout(&self, receive_timeout: Option<Duration>) -> io::Result<()> {
        let timeout_ms = milliseconds(receive_timeout.unwrap_or(LONGEST_RECEIVE)).max(1);
        self.receive_timeout_ms.store(timeout_ms, Ordering::Relaxed);
        Ok(())
    }

    /// Lets closing reset the connection.
    pub fn set_reset_on_close(&self) -> io::Result<()> {
        let linger = LINGER {
            l_onoff: 1,
            l_linger: 0,
        };
        let [on, time] = [linger.l_onoff, linger.l_linger].map(u16::to_ne_bytes);
        let value = [on[0], on[1], time[0], time[1]];
        set_option(&self.socket, SOL_SOCKET, SO_LINGER, &value)
    }

    /// Refused: the option is Linux's.
    pub fn set_quick_ack(&self) -> io::Result<()> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "quick acknowledgement (TCP_QUICKACK) needs Linux",
        ))
    }

    /// Asks for a receive buffer of this size.
    pub fn set_receive_buffer(&self, bytes: usize) -> io::Result<()> {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX).to_ne_bytes();
        set_option(&self.socket, SOL_SOCKET, SO_RCVBUF, &bytes)
    }

    /// Bytes of the buffers for sending and for receiving.
    pub fn buffer_bytes(&self) -> (Option<usize>, Option<usize>) {
        let bytes = |name| usize::try_from(option(&self.socket, name).ok()?).ok();
        (bytes(SO_SNDBUF), bytes(SO_RCVBUF))
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let handle = self.raw() as HANDLE;
        if let Ok(send) = self.send.get_mut() {
            send.wait(REST);
            send.cancel(handle);
        }
        if let Ok(receive) = self.receive.get_mut() {
            receive.operation.cancel(handle);
        }
    }
}

/// True if a blocking receive can end after that time.
pub fn can_wait(receive_timeout: Option<Duration>) -> bool {
    receive_timeout.is_none_or(|timeout| timeout >= SHORTEST_RECEIVE)
}

/// A TCP connection to this peer, Nagle's algorithm off.
pub fn connect_tcp(
    peer: SocketAddr,
    connecting: &Connecting,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> io::Result<Channel> {
    let socket = connected(peer, connecting, is_interrupted)?;
    set_option(&socket, IPPROTO_TCP, TCP_NODELAY, &1_i32.to_ne_bytes())?;
    Channel::new(socket)
}

/// Sleeps until the socket is ready for what is named, at most so long.
pub fn wait_for(socket: BorrowedSocket<'_>, for_what: Ready, at_most: Duration) -> io::Result<()> {
    let events = match for_what {
        Ready::Readable => POLLRDNORM,
        Ready::Writable => POLLWRNORM,
        Ready::Either => POLLRDNORM | POLLWRNORM,
    };
    poll(socket, events, at_most).map(drop)
}

fn poll(socket: BorrowedSocket<'_>, events: i16, at_most: Duration) -> io::Result<bool> {
    let mut polled = WSAPOLLFD {
        fd: socket.as_raw_socket() as SOCKET,
        events,
        revents: 0,
    };
    let timeout = i32::try_from(milliseconds(at_most)).unwrap_or(i32::MAX);
    // SAFETY: the description of one socket is valid for the call.
    let ready = unsafe { WSAPoll(&mut polled, 1, timeout) };
    match ready {
        _ if ready >= 0 => Ok(ready > 0),
        _ => {
            let error = last_error();
            match error.raw_os_error() {
                Some(WSAEINTR) => Ok(false),
                _ => Err(error),
            }
        }
    }
}

/// An overlapped operation ends with the errors of files; these are the same ones of sockets.
fn of_file(error: io::Error) -> io::Error {
    use windows_sys::Win32::Foundation::{
        ERROR_CONNECTION_ABORTED, ERROR_CONNECTION_REFUSED, ERROR_NETNAME_DELETED,
        ERROR_PORT_UNREACHABLE,
    };
    match error.raw_os_error().map(|code| code as u32) {
        Some(ERROR_NETNAME_DELETED | ERROR_CONNECTION_ABORTED) => {
            io::Error::from_raw_os_error(WSAECONNRESET)
        }
        Some(ERROR_CONNECTION_REFUSED | ERROR_PORT_UNREACHABLE) => {
            io::Error::from_raw_os_error(WSAECONNREFUSED)
        }
        _ => error,
    }
}

fn option(socket: &OwnedSocket, name: i32) -> io::Result<i32> {
    let (mut value, mut length) = (0_i32, size_of::<i32>() as i32);
    // SAFETY: the system writes at most `length` bytes to `value`, which is that long.
    let result = unsafe {
        getsockopt(
            socket.as_raw_socket() as SOCKET,
            SOL_SOCKET,
            name,
            (&raw mut value).cast(),
            &mut length,
        )
    };
    match result {
        0 => Ok(value),
        _ => Err(last_error()),
    }
}

fn set_option(socket: &OwnedSocket, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let raw = socket.as_raw_socket() as SOCKET;
    // SAFETY: the system reads the length of `value` from it.
    let result = unsafe { setsockopt(raw, level, name, value.as_ptr(), value.len() as i32) };
    match result {
        0 => Ok(()),
        _ => Err(last_error()),
    }
}
