//! What can go wrong with a link or the host, worded so that a user can act: what was being done, to
//! which device, what the system said, what to try.

use std::fmt;
use std::io;

/// What kind of failure it was; decides the exit code of the CLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkErrorKind {
    /// The address, an option or a size cannot be used as given.
    Usage,
    /// The system denies permission.
    PermissionDenied,
    /// Nothing answers at the address.
    Unreachable,
    /// There is no such device.
    NotFound,
    /// Somebody else uses it.
    Busy,
    /// The device did not respond in time.
    Timeout,
    /// The device responded, but not in the protocol.
    Protocol,
    /// The device answered with an exception of its own protocol; see [`LinkError::exception_code`].
    Exception,
    /// The device disconnected.
    Disconnected,
    /// The caller asked for an end while it waited.
    Interrupted,
    /// It was closed, or is open in another process only.
    Closed,
    /// Anything else that the system said.
    Io,
}

/// A failure of a link or of a request to the host.
#[derive(Clone, Debug)]
pub struct LinkError {
    kind: LinkErrorKind,
    doing: String,
    said: String,
    hint: Option<String>,
    os_code: Option<i32>,
    exception_code: Option<u8>,
}

impl LinkError {
    /// A failure while `doing` something (a phrase such as `connecting to tcp://…`).
    pub fn new(
        kind: LinkErrorKind,
        doing: impl Into<String>,
        said: impl Into<String>,
    ) -> LinkError {
        LinkError {
            kind,
            doing: doing.into(),
            said: said.into(),
            hint: None,
            os_code: None,
            exception_code: None,
        }
    }

    /// A failure that the system reported.
    pub fn from_io(doing: impl Into<String>, error: &io::Error) -> LinkError {
        let kind = match error.kind() {
            io::ErrorKind::PermissionDenied => LinkErrorKind::PermissionDenied,
            io::ErrorKind::NotFound => LinkErrorKind::NotFound,
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::AddrNotAvailable => LinkErrorKind::Unreachable,
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => LinkErrorKind::Timeout,
            io::ErrorKind::AddrInUse | io::ErrorKind::ResourceBusy => LinkErrorKind::Busy,
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted => LinkErrorKind::Disconnected,
            _ => LinkErrorKind::Io,
        };
        LinkError {
            os_code: error.raw_os_error(),
            ..LinkError::new(kind, doing, error.to_string())
        }
    }

    /// Adds what to try.
    pub fn hint(mut self, hint: impl Into<String>) -> LinkError {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the code of the exception that the device answered with.
    pub fn exception(mut self, code: u8) -> LinkError {
        self.exception_code = Some(code);
        self
    }

    /// The code of the exception that the device answered with, if it did (Modbus: V1.1b3, section 7).
    pub fn exception_code(&self) -> Option<u8> {
        self.exception_code
    }

    /// What kind of failure it was.
    pub fn kind(&self) -> LinkErrorKind {
        self.kind
    }

    /// The operating system's error number, if it came from there.
    pub fn os_code(&self) -> Option<i32> {
        self.os_code
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.doing, self.said)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for LinkError {}

impl From<LinkError> for io::Error {
    fn from(error: LinkError) -> io::Error {
        match error.os_code {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::other(error.to_string()),
        }
    }
}
