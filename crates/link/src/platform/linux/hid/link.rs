//! An open HID device: one write a request, one read a reply, or two ioctls for feature reports. Nothing is allocated
//! once it is open.

use super::choose::Choice;
use super::errors;
use super::find::Present;
use super::usb::UsbInterface;
use crate::link::{Link, Most, closed};
use crate::platform::exclusive::LockedFile;
use crate::platform::socket;
use crate::waiting::MAX_WAIT;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, AsRawFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::time::Duration;
use wiregauge_record::{BusLimit, LinkDetail, Point};

/// A link to a HID device.
pub struct HidLink {
    file: Option<LockedFile>,
    device: Present,
    usb: Option<UsbInterface>,
    choice: Choice,
    /// The number of the report, then its content; what is not of the request is zero.
    outgoing: Vec<u8>,
    /// Bytes of the last request in it.
    filled: usize,
    incoming: Vec<u8>,
    /// Bytes of a reply where they are known: zeros behind them are padding.
    expected: Option<usize>,
    receive_timeout: Option<Duration>,
    /// Requests sent as feature reports whose reply was not read yet.
    unread: u32,
}

impl HidLink {
    /// Opens the file of a device.
    pub fn open(device: Present, choice: Choice) -> io::Result<HidLink> {
        let mut outgoing = vec![0; 1 + choice.out.bytes];
        outgoing[0] = choice.out.id;
        let usb = UsbInterface::of(&device);
        let mut link = HidLink {
            file: None,
            usb,
            outgoing,
            filled: 0,
            // One more for the number, one more to notice a report that is too long.
            incoming: vec![0; 2 + choice.in_.bytes],
            expected: None,
            receive_timeout: Some(MAX_WAIT),
            unread: 0,
            device,
            choice,
        };
        link.file = Some(link.opened()?);
        Ok(link)
    }

    fn opened(&self) -> io::Result<LockedFile> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | self.mode();
        LockedFile::lock(rustix::fs::open(&self.device.file, flags, Mode::empty())?)
    }

    /// A read waits only where it may do so without a limit; else poll waits, and an empty read costs one call.
    fn mode(&self) -> OFlags {
        match self.receive_timeout {
            None => OFlags::empty(),
            Some(_) => OFlags::NONBLOCK,
        }
    }

    fn file(&self) -> io::Result<&LockedFile> {
        self.file.as_ref().ok_or_else(closed)
    }

    /// The next reply that is there, or that comes if the file is to be waited for.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.choice.feature {
            return self.read_feature(into);
        }
        let Some(file) = &self.file else {
            return Err(closed());
        };
        let count = match rustix::io::read(file, &mut self.incoming[..]) {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(0),
            Err(error) => return Err(errors::of_transfer(&self.device.file, error)),
        };
        let report = match self.choice.numbered {
            false => &self.incoming[..count],
            true if self.incoming[0] == self.choice.in_.id => &self.incoming[1..count],
            // Another report of the device.
            true => return Ok(0),
        };
        Ok(hand_over(report, self.expected, into))
    }

    /// Asks for the reply to a request that was a feature report.
    fn read_feature(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.unread == 0 {
            return Ok(0);
        }
        let file = self.file.as_ref().ok_or_else(closed)?;
        self.incoming[0] = self.choice.in_.id;
        let length = 1 + self.choice.in_.bytes;
        let count = match feature(file, GET_FEATURE, &mut self.incoming[..length]) {
            Ok(count) => count,
            Err(Errno::INTR) => return Ok(0),
            Err(error) => return Err(errors::of_transfer(&self.device.file, error)),
        };
        self.unread -= 1;
        // The first byte is the number, also where it is 0 (Documentation/hid/hidraw.rst).
        let report = self.incoming.get(1..count).unwrap_or_default();
        Ok(hand_over(report, self.expected, into))
    }

    /// False if a read would wait.
    fn is_readable(&self) -> io::Result<bool> {
        if self.choice.feature || self.receive_timeout.is_some() {
            return Ok(true);
        }
        let mut fds = [PollFd::new(self.file()?, PollFlags::IN)];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        match poll(&mut fds, Some(&at_once)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Copies a reply; zeros behind the bytes that are expected are padding.
fn hand_over(report: &[u8], expected: Option<usize>, into: &mut [u8]) -> usize {
    let used = match expected {
        Some(bytes) if bytes <= report.len() => {
            let is_padded = report[bytes..].iter().all(|byte| *byte == 0);
            if is_padded { bytes } else { report.len() }
        }
        _ => report.len(),
    };
    let used = used.min(into.len());
    into[..used].copy_from_slice(&report[..used]);
    used
}

// HIDIOCSFEATURE and HIDIOCGFEATURE (linux/hidraw.h) without the length.
const SET_FEATURE: u32 = 6;
const GET_FEATURE: u32 = 7;

/// Sends or gets a feature report; returns its bytes with the number.
fn feature(file: &LockedFile, number: u32, report: &mut [u8]) -> Result<usize, Errno> {
    // _IOC(_IOC_WRITE | _IOC_READ, 'H', number, length); a length has 14 bits.
    let request = 3 << 30 | (report.len() as u32 & 0x3fff) << 16 | u32::from(b'H') << 8 | number;
    // SAFETY: the kernel reads and writes as many bytes as the request says, which `report` has; it is alive and
    // borrowed mutably for the call.
    let count = unsafe { libc::ioctl(file.as_raw_fd(), request as _, report.as_mut_ptr()) };
    usize::try_from(count).map_err(|_| {
        let error = io::Error::last_os_error();
        Errno::from_io_error(&error).unwrap_or(Errno::IO)
    })
}

impl Link for HidLink {
    fn prepare(&mut self, point: Point) -> io::Result<()> {
        self.expected = (point.in_bytes > 0).then_some(point.in_bytes as usize);
        self.unread = 0;
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file.as_ref().ok_or_else(closed)?;
        let room = &mut self.outgoing[1..];
        if bytes.len() > room.len() {
            return Err(errors::too_long(bytes.len(), self.choice.out));
        }
        room[..bytes.len()].copy_from_slice(bytes);
        if bytes.len() < self.filled {
            room[bytes.len()..self.filled].fill(0);
        }
        self.filled = bytes.len();
        let sent = match self.choice.feature {
            true => feature(file, SET_FEATURE, &mut self.outgoing),
            false => rustix::io::write(file, &self.outgoing),
        };
        match sent {
            Ok(_) => {
                self.unread += u32::from(self.choice.feature);
                Ok(bytes.len())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(errors::of_transfer(&self.device.file, error)),
        }
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.is_readable()? {
            true => self.read(into),
            false => Ok(0),
        }
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.receive_timeout {
            Some(at_most) => self.wait(false, at_most)?,
            None if self.choice.feature => self.wait(false, MAX_WAIT)?,
            None => {}
        }
        self.read(into)
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        self.receive_timeout = receive_timeout;
        // A closed one takes it when it is opened again.
        if let Some(file) = &self.file {
            rustix::fs::fcntl_setfl(file, self.mode())?;
        }
        Ok(true)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        if self.choice.feature && (or_writable || self.unread > 0) {
            return Ok(());
        }
        socket::wait(self.file()?.as_fd(), or_writable, at_most)
    }

    fn close(&mut self) {
        self.file = None;
        self.unread = 0;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        self.file = Some(self.opened()?);
        Ok(())
    }

    fn most(&self) -> Option<Most> {
        Some(Most {
            out_bytes: self.choice.out.bytes as u32,
            in_bytes: self.choice.in_.bytes as u32,
            // A device holds one feature report; the next request replaces the reply.
            outstanding: if self.choice.feature { 1 } else { u32::MAX },
            unit: match self.choice.feature {
                true => "feature report",
                false => "report",
            },
        })
    }

    fn detail(&self) -> LinkDetail {
        super::detail::detail(&self.device, &self.choice, self.usb.as_ref())
    }

    fn limit(&self) -> Option<BusLimit> {
        // Feature reports take the control endpoint.
        let usb = self.usb.as_ref().filter(|_| !self.choice.feature)?;
        usb.limit(self.choice.in_.bytes, self.choice.out.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_behind_a_reply_is_cut_and_anything_else_is_not() {
        let mut into = [0; 8];
        let report = [1, 2, 3, 0, 0, 0];
        assert_eq!(hand_over(&report, Some(3), &mut into), 3);
        assert_eq!(hand_over(&report, Some(2), &mut into), 6);
        assert_eq!(hand_over(&report, Some(6), &mut into), 6);
        assert_eq!(hand_over(&report, Some(7), &mut into), 6);
        assert_eq!(hand_over(&report, None, &mut into), 6);
        assert_eq!(hand_over(&report, None, &mut into[..4]), 4);
    }
}
