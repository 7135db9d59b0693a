//! An instrument through the file of the kernel's usbtmc driver, as most programs use it: one write a message, one read
//! a reply. The driver makes the headers; a read asks the instrument and sleeps until the reply is there or the driver's
//! timeout is over. No signal may come meanwhile: it ends the read of a long reply in its middle, and a read that the
//! system begins anew asks again before the rest has come. So this kind has no blocking receive that is woken by one.

use super::errors;
use super::find::{self, Present};
use crate::error::LinkError;
use crate::limits;
use crate::link::{Link, closed};
use crate::platform::exclusive::LockedFile;
use crate::platform::socket;
use crate::waiting::MAX_WAIT;
use rustix::fd::AsFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Getter, NoArg, Opcode, Setter, ioctl, opcode};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wiregauge_record::{BusLimit, LinkDetail, Point};

// linux/usb/tmc.h.
const IOC: u8 = 91;
const CLEAR: Opcode = opcode::none(IOC, 2);
const CLEAR_IN_HALT: Opcode = opcode::none(IOC, 7);
const SET_TIMEOUT: Opcode = opcode::write::<u32>(IOC, 10);
const MSG_IN_ATTR: Opcode = opcode::read::<u8>(IOC, 24);
const AUTO_ABORT: Opcode = opcode::write::<u8>(IOC, 25);

/// The shortest timeout that the driver takes, and the longest that is asked of it: a stop has to wait for it.
const TIMEOUTS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// A link to the file.
pub struct FileLink {
    path: PathBuf,
    device: Present,
    /// How long a read waits for its reply.
    timeout: Duration,
    file: Option<LockedFile>,
    reply: Reply,
    receive_timeout: Option<Duration>,
}

/// What is known of the reply to the last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    /// There is none, or it was read.
    None,
    /// It was not asked for, or not all of it was read.
    Due,
    /// Some of it was read; the driver knows whether that was the end.
    Unknown,
}

impl FileLink {
    /// Opens the file; a read waits so long for a reply.
    pub fn open(path: &Path, timeout: Duration, doing: &str) -> Result<FileLink, LinkError> {
        let device = find::of_file(path, doing)?;
        let mut link = FileLink {
            path: path.into(),
            device,
            timeout: timeout.clamp(TIMEOUTS.0, TIMEOUTS.1),
            file: None,
            reply: Reply::None,
            receive_timeout: Some(MAX_WAIT),
        };
        let file = link.opened();
        link.file = Some(file.map_err(|error| errors::opening(&link.device, path, doing, &error))?);
        link.clear();
        Ok(link)
    }

    fn opened(&self) -> io::Result<LockedFile> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let file = LockedFile::lock(rustix::fs::open(&self.path, flags, Mode::empty())?)?;
        let ms = self.timeout.as_millis() as u32;
        // Drivers before Linux 4.20 know neither: their timeout is 5 s.
        // SAFETY: the opcodes say what the kernel reads: four bytes and one.
        let _ = unsafe { ioctl(&file, Setter::<SET_TIMEOUT, u32>::new(ms)) };
        // SAFETY: as above.
        let _ = unsafe { ioctl(&file, Setter::<AUTO_ABORT, u8>::new(1)) };
        Ok(file)
    }

    /// Empties what an earlier program or exchange left in the instrument. One that does not know this is left as it is.
    fn clear(&mut self) {
        self.reply = Reply::None;
        if let Some(file) = &self.file {
            // SAFETY: it has no argument.
            let _ = unsafe { ioctl(file, NoArg::<CLEAR>::new()) };
        }
    }

    fn file(&self) -> io::Result<&LockedFile> {
        self.file.as_ref().ok_or_else(closed)
    }

    /// Finds out whether the reply that was read last had its end.
    fn settle(&mut self) -> io::Result<()> {
        if self.reply == Reply::Unknown {
            // SAFETY: the opcode says what the kernel writes: one byte.
            let attributes = unsafe { ioctl(self.file()?, Getter::<MSG_IN_ATTR, u8>::new()) };
            // An older driver has read to the end.
            let is_over = attributes.map_or(true, |attributes| attributes & 1 != 0);
            self.reply = match is_over {
                true => Reply::None,
                false => Reply::Due,
            };
        }
        Ok(())
    }

    fn is_due(&mut self) -> io::Result<bool> {
        self.settle()?;
        Ok(self.reply == Reply::Due)
    }

    /// The reply that is due, or a part of it.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match rustix::io::read(self.file()?, into) {
            // The driver says so of a reply that breaks the protocol; the kernel's log has the reason.
            Ok(0) => {
                self.reply = Reply::None;
                Ok(0)
            }
            Ok(count) => {
                self.reply = Reply::Unknown;
                Ok(count)
            }
            // A signal, in the middle of a long reply.
            Err(Errno::INTR) => {
                self.clear();
                Ok(0)
            }
            // No reply came, and the driver has told the instrument that none is awaited any more.
            Err(Errno::TIMEDOUT) => {
                self.reply = Reply::None;
                Ok(0)
            }
            Err(error) => {
                self.reply = Reply::None;
                if error == Errno::PIPE {
                    // SAFETY: it has no argument.
                    let _ = unsafe { ioctl(self.file()?, NoArg::<CLEAR_IN_HALT>::new()) };
                }
                Err(errors::of_file(
                    &self.path,
                    error,
                    "a request for its reply",
                ))
            }
        }
    }
}

impl Link for FileLink {
    fn prepare(&mut self, _point: Point) -> io::Result<()> {
        self.settle()
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::write(self.file()?, bytes) {
            Ok(count) => {
                self.reply = Reply::Due;
                Ok(count)
            }
            Err(Errno::INTR) => Ok(0),
            Err(error) => Err(errors::of_file(&self.path, error, "a message")),
        }
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.is_due()? {
            true => self.read(into),
            false => Ok(0),
        }
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.is_due()? {
            self.wait(false, self.receive_timeout.unwrap_or(MAX_WAIT))?;
            return Ok(0);
        }
        self.read(into)
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        self.receive_timeout = receive_timeout;
        Ok(false)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        // Only a read brings a reply; the file becomes readable by nothing else.
        if or_writable || self.is_due()? {
            return Ok(());
        }
        socket::wait(self.file()?.as_fd(), false, at_most)
    }

    fn only_replies(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.file = None;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        let is_at_rest = self.file.is_none() && self.reply != Reply::Due;
        self.file = Some(self.opened()?);
        match is_at_rest {
            true => self.reply = Reply::None,
            false => self.clear(),
        }
        Ok(())
    }

    fn detail(&self) -> LinkDetail {
        super::detail::of_file(&self.device)
    }

    fn limit(&self) -> Option<BusLimit> {
        limits::of_usb_bulk(self.device.megabits.as_deref()?)
    }
}
