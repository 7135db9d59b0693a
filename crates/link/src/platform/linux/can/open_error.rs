//! Why a CAN link could not be opened.

use crate::platform::exclusive::Taken;
use std::io;

/// Why a link could not be opened, where the system has no error of its own for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The kernel has no such sockets.
    NotSupported,
    /// There is no such interface.
    Unknown,
    /// It is an interface of something else.
    NotCan,
    /// It is down.
    Down,
    /// Its controller has left the bus.
    BusOff,
    /// It takes no frames of CAN FD.
    NoFd,
}

/// Why a link could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// A process, in words, sends with the same identifier.
    Busy(String),
    /// One of the above.
    Refused(Refusal),
    /// What the system said.
    Io(io::Error),
}

impl From<Taken> for OpenError {
    fn from(taken: Taken) -> OpenError {
        match taken {
            Taken::By(who) => OpenError::Busy(who),
            Taken::Io(error) => OpenError::Io(error),
        }
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> OpenError {
        match error.raw_os_error() {
            Some(libc::EAFNOSUPPORT | libc::EPROTONOSUPPORT) => {
                OpenError::Refused(Refusal::NotSupported)
            }
            _ => OpenError::Io(error),
        }
    }
}

/// The failure of opening a link again.
pub fn as_io(error: OpenError) -> io::Error {
    match error {
        OpenError::Busy(who) => io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("{who} sends with the same identifier"),
        ),
        OpenError::Io(error) => error,
        OpenError::Refused(refusal) => {
            let (kind, said) = match refusal {
                Refusal::NotSupported => {
                    (io::ErrorKind::Unsupported, "this kernel has no CAN support")
                }
                Refusal::Unknown | Refusal::NotCan => {
                    (io::ErrorKind::NotFound, "the interface is gone")
                }
                Refusal::Down => (io::ErrorKind::NetworkDown, "the interface is down"),
                Refusal::BusOff => (io::ErrorKind::Other, "the controller is bus-off"),
                Refusal::NoFd => (io::ErrorKind::Unsupported, "the interface has no CAN FD"),
            };
            io::Error::new(kind, said)
        }
    }
}
