//! Serial lines: any tty or pseudo-terminal, in raw mode, for one user, put back as it was.

use super::pty::open_pty;
use super::socket;
use super::tty::{RawTty, TtyError};
use crate::descriptor_flow::{self, Ends};
use crate::error::{LinkError, LinkErrorKind};
use crate::host::UsbPlace;
use crate::kind::OpenFloor;
use crate::platform::{holder, in_use, ports, tty_medium};
use crate::waiting::Ready;
use crate::{Address, FlowShape, Flows, Link, MAX_WAIT, closed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wiregauge_limits::{Framing, Refused};
use wiregauge_record::{BusLimit, LinkDetail, LinkOptions};

/// An address.
pub const EXAMPLE: &str = "serial:///dev/ttyACM0";

/// Opens a link to an echo on this same host.
pub const FLOOR: Option<OpenFloor> = Some(floor);

struct Serial {
    tty: Option<RawTty>,
    path: PathBuf,
    baud: Option<u32>,
    framing: Option<Framing>,
    /// The driver's low-latency flag is left as it is.
    no_low_latency: bool,
}

/// Opens a link to a tty.
pub fn open(
    address: &Address,
    options: &LinkOptions,
    _timeout: Duration,
    _is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Box<dyn Link>, LinkError> {
    let path = PathBuf::from(address.rest());
    let framing = match &options.framing {
        None => None,
        Some(text) => Some(text.parse().map_err(|error: Refused| {
            let doing = format!("cannot open {address}");
            LinkError::new(LinkErrorKind::Usage, doing, error.to_string())
        })?),
    };
    let mut serial = Serial {
        tty: None,
        path,
        baud: options.baud,
        framing,
        no_low_latency: options.no_low_latency,
    };
    match serial.open_tty() {
        Ok(()) => Ok(Box::new(serial)),
        Err(error) => Err(explain(address, &serial.path, error, options.baud)),
    }
}

fn explain(address: &Address, path: &Path, error: TtyError, baud: Option<u32>) -> LinkError {
    let doing = format!("cannot open {address}");
    match error {
        TtyError::NotATty => LinkError::new(
            LinkErrorKind::Usage,
            doing,
            format!("{} is not a tty", path.display()),
        )
        .hint(ports::NAMES),
        TtyError::Busy(sign) => {
            let holder = holder::of(path);
            let who = holder.as_deref().unwrap_or("another program");
            let said = format!("already in use by {who}, which holds {sign}");
            LinkError::new(LinkErrorKind::Busy, doing, said).hint(match holder {
                Some(who) => in_use::hint(&who).into(),
                None => format!(
                    "find it with: fuser -v {}; ModemManager is a common cause",
                    path.display()
                ),
            })
        }
        TtyError::Baud(error) => {
            let baud = baud.unwrap_or_default();
            LinkError::new(
                LinkErrorKind::Usage,
                format!("cannot set {address} to {baud} baud"),
                error.to_string(),
            )
            .hint("use a --baud that the driver supports, or omit it to keep the present rate")
        }
        TtyError::Io(error) => {
            let error = LinkError::from_io(doing, &error);
            match error.kind() {
                LinkErrorKind::NotFound if !path.is_absolute() => error.hint(ports::NAMES),
                LinkErrorKind::NotFound => error.hint(ports::NOT_FOUND),
                LinkErrorKind::PermissionDenied => error.hint(ports::NOT_PERMITTED),
                _ => error,
            }
        }
    }
}

impl Serial {
    fn open_tty(&mut self) -> Result<(), TtyError> {
        let mut tty = RawTty::open(&self.path, self.baud, self.framing)?;
        if !self.no_low_latency {
            tty.set_low_latency();
        }
        self.tty = Some(tty);
        Ok(())
    }

    fn tty(&self) -> io::Result<&RawTty> {
        self.tty.as_ref().ok_or_else(closed)
    }

    /// A read of no bytes is a timeout, or the end of the line: the line's state tells which.
    fn nothing_read(&self) -> io::Result<usize> {
        let tty = self.tty()?;
        let mut fds = [PollFd::from_borrowed_fd(tty.ready(), PollFlags::IN)];
        match poll(
            &mut fds,
            Some(&Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            }),
        ) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if fds[0]
            .revents()
            .intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
        {
            return Err(closed());
        }
        Ok(0)
    }
}

/// Bytes that the system took or gave: none if it has to wait, or was interrupted.
#[inline]
fn moved(result: rustix::io::Result<usize>) -> io::Result<usize> {
    match result {
        Ok(bytes) => Ok(bytes),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(Errno::IO) => Err(closed()),
        Err(error) => Err(error.into()),
    }
}

impl Ends for Serial {
    const DATAGRAM: bool = false;

    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        moved(rustix::io::write(self.tty()?.ready(), bytes))
    }

    fn get(&self, into: &mut [u8]) -> io::Result<usize> {
        match rustix::io::read(self.tty()?.ready(), into) {
            Ok(0) => self.nothing_read(),
            read => moved(read),
        }
    }

    fn get_patiently(&self, into: &mut [u8]) -> io::Result<usize> {
        match rustix::io::read(self.tty()?.waiting(), into) {
            Ok(0) => self.nothing_read(),
            read => moved(read),
        }
    }

    fn wait(&self, for_what: Ready, at_most: Duration) -> io::Result<()> {
        socket::wait_for(self.tty()?.ready(), for_what, at_most)
    }
}

impl Link for Serial {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.get(into)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.get_patiently(into)
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        // VTIME counts tenths of a second and is set to one.
        Ok(receive_timeout.is_none_or(|timeout| timeout >= MAX_WAIT))
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        socket::wait(self.tty()?.ready(), or_writable, at_most)
    }

    fn close(&mut self) {
        self.tty = None;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        self.open_tty().map_err(|error| match error {
            TtyError::Io(error) | TtyError::Baud(error) => error,
            TtyError::Busy(_) => io::ErrorKind::ResourceBusy.into(),
            TtyError::NotATty => io::ErrorKind::InvalidInput.into(),
        })
    }

    fn flows(&mut self, shape: FlowShape) -> io::Result<Flows<'_>> {
        descriptor_flow::flows(self, shape)
    }

    fn detail(&self) -> LinkDetail {
        let mut settings = Vec::new();
        if let Some(tty) = &self.tty {
            if let Some(line) = tty.line() {
                settings.push(("baud".into(), line.baud.to_string()));
                settings.push(("framing".into(), line.framing.to_string()));
            }
            let low_latency = tty.low_latency().in_words();
            settings.push(("low_latency".into(), low_latency.into()));
        }
        settings.extend(tty_medium::settings(&self.path));
        LinkDetail { settings }
    }

    fn usb_place(&self) -> Option<UsbPlace> {
        tty_medium::place(&self.path)
    }

    fn limit(&self) -> Option<BusLimit> {
        tty_medium::limit(&self.path, self.tty.as_ref()?.line())
    }
}

fn floor() -> io::Result<Box<dyn Link>> {
    let (master, path) = open_pty()?;
    let tty = match RawTty::open(&path, None, None) {
        Ok(mut tty) => {
            tty.set_low_latency();
            tty
        }
        Err(TtyError::Io(error) | TtyError::Baud(error)) => return Err(error),
        Err(TtyError::Busy(_) | TtyError::NotATty) => {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
    };
    std::thread::spawn(move || -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            // The read fails once the tty is closed: then the echo ends.
            let received = rustix::io::read(&master, &mut buffer[..])?;
            let mut rest = &buffer[..received];
            while !rest.is_empty() {
                rest = &rest[rustix::io::write(&master, rest)?..];
            }
        }
    });
    Ok(Box::new(Serial {
        tty: Some(tty),
        path,
        baud: None,
        framing: None,
        no_low_latency: false,
    }))
}
