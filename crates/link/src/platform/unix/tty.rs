//! Ttys: raw mode, exclusive use, the driver's low-latency flag.

use crate::platform::line::{self, LowLatency, STICK_PARITY};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FlockOperation, Mode, OFlags, fcntl_getfl, fcntl_setfl, flock, open};
use rustix::termios::{
    ControlModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, ioctl_tiocexcl,
    ioctl_tiocnxcl, tcflush, tcgetattr, tcsetattr,
};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{Duration, Instant};
use wiregauge_limits::{Framing, Parity, StopBits, Uart};

/// A line that has sent nothing for so long is held up; a byte at 300 baud takes a third of it.
const STUCK: Duration = Duration::from_millis(100);

/// Longest wait for the rest of what was written.
const LONGEST_REST: Duration = Duration::from_secs(5);

/// A tty in raw mode for one user. Dropped, it is put back as it was.
pub struct RawTty {
    /// Never waits.
    ready: OwnedFd,
    /// Waits in the read, up to the tenths of a second set in VTIME. A second opening of the same
    /// tty, because whether a call waits belongs to the opening (open(2)).
    waiting: OwnedFd,
    before: Termios,
    low_latency: LowLatency,
}

/// Why a tty could not be had.
#[derive(Debug)]
pub enum TtyError {
    /// The path is there but is no tty.
    NotATty,
    /// Another program holds it; the text says by which sign.
    Busy(&'static str),
    /// The baud rate was refused.
    Baud(io::Error),
    /// Anything else.
    Io(io::Error),
}

impl From<io::Error> for TtyError {
    fn from(error: io::Error) -> TtyError {
        TtyError::Io(error)
    }
}

impl From<rustix::io::Errno> for TtyError {
    fn from(error: rustix::io::Errno) -> TtyError {
        TtyError::Io(error.into())
    }
}

impl RawTty {
    /// Takes a tty for itself and makes it raw.
    /// `framing`: data bits, parity and stop bits; `None` is 8N1.
    pub fn open(
        path: &Path,
        baud: Option<u32>,
        framing: Option<Framing>,
    ) -> Result<RawTty, TtyError> {
        // NONBLOCK: a modem line without carrier would hang in open otherwise.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open_it = || match open(path, flags, Mode::empty()) {
            Err(rustix::io::Errno::BUSY) => Err(TtyError::Busy("exclusive use (TIOCEXCL)")),
            other => other.map_err(TtyError::from),
        };
        let ready = open_it()?;
        if !rustix::termios::isatty(&ready) {
            return Err(TtyError::NotATty);
        }
        // Root may open an exclusive tty all the same, so the flag itself is asked for.
        if line::is_exclusive(ready.as_fd()) {
            return Err(TtyError::Busy("exclusive use (TIOCEXCL)"));
        }
        if flock(&ready, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(TtyError::Busy("a lock (flock)"));
        }
        let waiting = open_it()?;
        fcntl_setfl(&waiting, fcntl_getfl(&waiting)? & !OFlags::NONBLOCK)?;
        ioctl_tiocexcl(&ready)?;
        let before = tcgetattr(&ready)?;
        let tty = RawTty {
            ready,
            waiting,
            before,
            low_latency: LowLatency::Unchanged,
        };
        tty.make_raw(baud, framing)?;
        Ok(tty)
    }

    /// Sets the driver's low-latency flag until the end, if it has one.
    pub fn set_low_latency(&mut self) {
        self.low_latency = line::set_low_latency(self.ready.as_fd());
    }

    fn make_raw(&self, baud: Option<u32>, framing: Option<Framing>) -> Result<(), TtyError> {
        let mut raw = self.before.clone();
        raw.make_raw();
        if let Some(framing) = framing {
            line::check(framing)?;
            raw.control_modes |= modes(framing);
            raw.control_modes &= !(ControlModes::CSIZE ^ data_modes(framing));
        }
        raw.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
        // A read ends with the first bytes or after a tenth of a second (termios(3), MIN 0, TIME 1).
        raw.special_codes[SpecialCodeIndex::VMIN] = 0;
        raw.special_codes[SpecialCodeIndex::VTIME] = 1;
        if let Some(baud) = baud {
            raw.set_speed(baud)
                .map_err(|error| TtyError::Baud(error.into()))?;
        }
        let set = tcsetattr(&self.ready, OptionalActions::Now, &raw);
        if baud.is_some() {
            set.map_err(|error| TtyError::Baud(error.into()))?;
        } else {
            set?;
        }
        self.discard()?;
        Ok(())
    }

    /// Throws away what was received but not read, and what was written but not sent.
    pub fn discard(&self) -> io::Result<()> {
        Ok(tcflush(&self.ready, QueueSelector::IOFlush)?)
    }

    /// Waits until what was written is sent, as long as that goes on; discards what a device does not take. A program that
    /// counts what it wrote must not lose it at the end. A pseudo-terminal has sent everything already: discarding would
    /// take it from the program at the other end.
    fn send_rest(&self) {
        let begun = Instant::now();
        let mut unsent = unsent(self.ready.as_fd());
        let mut moved = begun;
        while unsent > 0 {
            if moved.elapsed() > STUCK || begun.elapsed() > LONGEST_REST {
                let _ = tcflush(&self.ready, QueueSelector::OFlush);
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
            let left = self::unsent(self.ready.as_fd());
            if left < unsent {
                moved = Instant::now();
            }
            unsent = left;
        }
    }

    /// The opening that never waits.
    pub fn ready(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }

    /// The opening whose reads wait up to a tenth of a second.
    pub fn waiting(&self) -> BorrowedFd<'_> {
        self.waiting.as_fd()
    }

    /// What became of the wish for low latency.
    pub fn low_latency(&self) -> LowLatency {
        self.low_latency
    }

    /// What the line is set to.
    pub fn line(&self) -> Option<Uart> {
        tcgetattr(&self.ready).ok().map(|termios| Uart {
            baud: termios.output_speed(),
            framing: framing(termios.control_modes),
        })
    }
}

impl Drop for RawTty {
    fn drop(&mut self) {
        // Bytes still on the way would be taken for input by whatever had the tty before.
        let _ = tcflush(&self.ready, QueueSelector::IFlush);
        self.send_rest();
        if self.low_latency.is_to_be_undone() {
            line::write_low_latency(self.ready.as_fd(), false);
        }
        let _ = tcsetattr(&self.ready, OptionalActions::Now, &self.before);
        let _ = ioctl_tiocnxcl(&self.ready);
        // A child that was just forked has the descriptor until it runs its program, and would hold the lock so long.
        let _ = flock(&self.ready, FlockOperation::Unlock);
    }
}

/// Bytes that were written and that the driver has not sent; 0 where it does not say.
fn unsent(fd: BorrowedFd<'_>) -> libc::c_int {
    let mut bytes = 0;
    // SAFETY: the kernel writes one int to the address, which is that of a live one.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == 0 { bytes } else { 0 }
}

/// The data bits among the flags of c_cflag.
fn data_modes(framing: Framing) -> ControlModes {
    match framing.data_bits {
        5 => ControlModes::CS5,
        6 => ControlModes::CS6,
        7 => ControlModes::CS7,
        _ => ControlModes::CS8,
    }
}

/// The flags of c_cflag for a line that is 8N1 so far.
fn modes(framing: Framing) -> ControlModes {
    let parity = match framing.parity {
        Parity::None => ControlModes::empty(),
        Parity::Even => ControlModes::PARENB,
        Parity::Odd => ControlModes::PARENB | ControlModes::PARODD,
        Parity::Mark => ControlModes::PARENB | ControlModes::PARODD | STICK_PARITY,
        Parity::Space => ControlModes::PARENB | STICK_PARITY,
    };
    let stop = match framing.stop_bits {
        StopBits::One => ControlModes::empty(),
        StopBits::OneAndHalf | StopBits::Two => ControlModes::CSTOPB,
    };
    data_modes(framing) | parity | stop
}

/// termios(3), the flags of c_cflag.
fn framing(modes: ControlModes) -> Framing {
    let size = modes & ControlModes::CSIZE;
    let data_bits = if size == ControlModes::CS5 {
        5
    } else if size == ControlModes::CS6 {
        6
    } else if size == ControlModes::CS7 {
        7
    } else {
        8
    };
    let is_odd = modes.contains(ControlModes::PARODD);
    let parity = match modes.contains(STICK_PARITY) {
        _ if !modes.contains(ControlModes::PARENB) => Parity::None,
        true if is_odd => Parity::Mark,
        true => Parity::Space,
        false if is_odd => Parity::Odd,
        false => Parity::Even,
    };
    let stop_bits = match modes.contains(ControlModes::CSTOPB) {
        false => StopBits::One,
        // What a 16550 sends (its LCR, bit 2, with 5 data bits).
        true if data_bits == 5 => StopBits::OneAndHalf,
        true => StopBits::Two,
    };
    Framing {
        data_bits,
        parity,
        stop_bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::pty::open_pty;

    #[test]
    fn the_framing_is_that_of_the_flags() {
        let (parity, odd) = (ControlModes::PARENB, ControlModes::PARODD);
        let two = ControlModes::CSTOPB;
        for (modes, text) in [
            (ControlModes::CS8, "8N1"),
            (ControlModes::CS8 | two | odd, "8N2"),
            (ControlModes::CS7 | parity, "7E1"),
            (ControlModes::CS7 | parity | odd, "7O1"),
            (ControlModes::CS8 | parity | odd | STICK_PARITY, "8M1"),
            (ControlModes::CS5 | two, "5N1.5"),
        ] {
            assert_eq!(framing(modes).to_string(), text);
        }
    }

    #[test]
    fn a_tty_says_what_its_line_is_set_to() {
        let (_master, path) = open_pty().unwrap();
        let open = |framing| RawTty::open(&path, Some(57_600), framing).unwrap();
        let line = open(None).line().unwrap();
        assert_eq!((line.baud, line.framing), (57_600, Framing::EIGHT_N_ONE));
    }

    #[test]
    fn a_closed_tty_can_be_opened_again_while_a_forked_child_has_its_descriptor() {
        let (_master, path) = open_pty().unwrap();
        let tty = RawTty::open(&path, None, None).unwrap();
        let of_child = rustix::io::dup(&tty.ready).unwrap();
        assert!(matches!(
            RawTty::open(&path, None, None),
            Err(TtyError::Busy(_))
        ));
        drop(tty);
        assert!(RawTty::open(&path, None, None).is_ok());
        drop(of_child);
    }

    #[test]
    fn what_was_written_before_a_tty_was_closed_reaches_the_other_end() {
        let (master, path) = open_pty().unwrap();
        let tty = RawTty::open(&path, None, None).unwrap();
        let written = rustix::io::write(tty.ready(), &[7; 1000]).unwrap();
        drop(tty);
        let (mut read, mut into) = (0, [0; 4096]);
        while read < written {
            read += rustix::io::read(&master, &mut into).unwrap();
        }
        assert_eq!((written, read), (1000, 1000));
    }

    #[test]
    fn flags_for_a_framing_read_back_as_that_framing() {
        for text in ["8N1", "8E1", "8O2", "7E1", "7M1", "6S2", "5N1.5"] {
            let wanted: Framing = text.parse().unwrap();
            assert_eq!(framing(modes(wanted)), wanted, "{text}");
        }
    }
}
