//! Pseudo-terminals.

use super::socket::{poll_for, readiness};
use crate::platform::line::{OPEN_PTY, is_exclusive};
use crate::platform::tty_closings::Closings;
use crate::waiting::Ready;
use crate::{Link, MAX_WAIT, closed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, retry_on_intr};
use rustix::pty::{grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, ioctl_tiocexcl, ioctl_tiocnxcl, tcgetattr, tcsetattr};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often, and how long apart, the opening of a tty is tried again that nobody seems to have open.
const MAX_TRIES: u32 = 100;
const RETRY: Duration = Duration::from_millis(10);

/// Makes a pseudo-terminal in raw mode: the master, and the path of the tty that others open.
pub fn open_pty() -> io::Result<(OwnedFd, PathBuf)> {
    let master = openpt(OPEN_PTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let mut termios = tcgetattr(&master)?;
    termios.make_raw();
    tcsetattr(&master, OptionalActions::Now, &termios)?;
    let name = ptsname(&master, Vec::new())?;
    Ok((master, PathBuf::from(name.to_string_lossy().into_owned())))
}

/// Opens the tty of a pseudo-terminal.
fn open_tty(path: &Path, mode: OFlags) -> io::Result<OwnedFd> {
    let flags = mode | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// The master of a pseudo-terminal made for this.
pub struct PtyMaster {
    master: OwnedFd,
    /// Held open, because a master whose tty nobody has open reads as an error. `None` only while it is opened again, which
    /// a program can delay that uses it exclusively.
    tty: Option<OwnedFd>,
    /// Of programs, which open the tty for reading and writing.
    closings: Closings,
    path: PathBuf,
}

impl PtyMaster {
    /// Makes one.
    pub fn open() -> io::Result<PtyMaster> {
        let (master, path) = open_pty()?;
        let tty = open_tty(&path, OFlags::RDONLY)?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        Ok(PtyMaster {
            master,
            tty: Some(tty),
            closings: Closings::of(&path),
            path,
        })
    }

    /// Ends the exclusive use (TIOCEXCL) by a program that was killed. The kernel keeps that mode of a tty, and refuses to
    /// open it, until a descriptor from before clears it.
    fn end_unused_exclusive_use(&mut self) -> io::Result<()> {
        if !self.closings.happened() {
            return Ok(());
        }
        if self.tty.is_none() {
            self.hold_tty()?;
        }
        let Some(tty) = self.tty.take_if(|tty| is_exclusive(tty.as_fd())) else {
            return Ok(());
        };
        ioctl_tiocnxcl(&tty)?;
        // Without this opening, the master is hung up unless another program has the tty open.
        drop(tty);
        let is_used = !self.is_hung_up()?;
        self.hold_tty()?;
        if is_used && let Some(tty) = &self.tty {
            ioctl_tiocexcl(tty)?;
        }
        Ok(())
    }

    /// Opens the tty. Not while a program uses it exclusively, which opened it meanwhile: the master is not hung up then,
    /// and the tty is opened after that program has closed it.
    fn hold_tty(&mut self) -> io::Result<()> {
        let mut tries = 0;
        loop {
            match open_tty(&self.path, OFlags::RDONLY) {
                Ok(tty) => {
                    self.tty = Some(tty);
                    return Ok(());
                }
                Err(error) if error.raw_os_error() != Some(Errno::BUSY.raw_os_error()) => {
                    return Err(error);
                }
                Err(_) if !self.is_hung_up()? => return Ok(()),
                // The program closed it between the two calls, or was killed.
                Err(error) if tries == MAX_TRIES => return Err(error),
                Err(_) => tries += 1,
            }
            std::thread::sleep(RETRY);
        }
    }

    /// What a call did whose error was that the master is hung up.
    fn after_hang_up(&mut self) -> io::Result<usize> {
        match self.tty {
            None => self.hold_tty().map(|()| 0),
            Some(_) => Err(Errno::IO.into()),
        }
    }

    fn is_hung_up(&self) -> io::Result<bool> {
        let mut polled = [PollFd::new(&self.master, PollFlags::empty())];
        retry_on_intr(|| poll(&mut polled, Some(&Timespec::default())))?;
        Ok(polled[0].revents().contains(PollFlags::HUP))
    }

    /// The tty that others open.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Link for PtyMaster {
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::write(&self.master, bytes) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN | Errno::INTR) => {
                // What it holds may be for a program that was killed, and then nothing else happens.
                self.end_unused_exclusive_use()?;
                Ok(0)
            }
            Err(Errno::IO) => self.after_hang_up(),
            Err(error) => Err(error.into()),
        }
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match rustix::io::read(&self.master, into) {
            Ok(0) => Err(closed()),
            Ok(received) => Ok(received),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(Errno::IO) => self.after_hang_up(),
            Err(error) => Err(error.into()),
        }
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Tried first: a host that keeps the line busy then costs no poll.
        match self.receive(into)? {
            0 => {
                self.wait(false, MAX_WAIT)?;
                self.receive(into)
            }
            received => Ok(received),
        }
    }

    fn set_receive_timeout(&mut self, _timeout: Option<Duration>) -> io::Result<bool> {
        Ok(false)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        let master = PollFd::new(&self.master, readiness(Ready::readable_or(or_writable)));
        let Some(closings) = self.closings.descriptor() else {
            return poll_for(&mut [master], at_most);
        };
        let mut polled = [master, PollFd::from_borrowed_fd(closings, PollFlags::IN)];
        poll_for(&mut polled, at_most)?;
        match polled[1].revents().is_empty() {
            true => Ok(()),
            false => self.end_unused_exclusive_use(),
        }
    }

    fn close(&mut self) {}

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::line::is_exclusive;

    /// Opens the tty for exclusive use. Dropped, it is closed as that of a killed program is: the mode stays.
    fn exclusive(master: &PtyMaster) -> OwnedFd {
        let tty = open_tty(master.path(), OFlags::RDWR).unwrap();
        ioctl_tiocexcl(&tty).unwrap();
        tty
    }

    fn is_free(master: &PtyMaster) -> bool {
        !is_exclusive(master.tty.as_ref().unwrap().as_fd())
    }

    #[test]
    fn exclusive_use_by_a_killed_program_ends() {
        let mut master = PtyMaster::open().unwrap();
        drop(exclusive(&master));
        assert!(!is_free(&master));
        master.wait(false, MAX_WAIT).unwrap();
        assert!(is_free(&master));
    }

    /// Takes from this thread the right to open a tty that another program uses exclusively; only root has it.
    fn as_any_user() {
        use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
        let mut sets = capabilities(None).unwrap();
        sets.effective.remove(CapabilitySet::SYS_ADMIN);
        set_capabilities(None, sets).unwrap();
    }

    #[test]
    fn a_program_that_opens_the_tty_exclusively_meanwhile_is_served() {
        as_any_user();
        let mut master = PtyMaster::open().unwrap();
        // Of a program that was killed.
        drop(master.tty.take());
        let program = exclusive(&master);
        master.hold_tty().unwrap();
        rustix::io::write(&program, &[7; 100]).unwrap();
        assert_eq!(master.receive(&mut [0; 4096]).unwrap(), 100);
        // It closes the tty as it should, and the next one opens it.
        ioctl_tiocnxcl(&program).unwrap();
        drop(program);
        assert_eq!(master.receive(&mut [0; 4096]).unwrap(), 0);
        let program = exclusive(&master);
        rustix::io::write(&program, &[7; 10]).unwrap();
        assert_eq!(master.receive(&mut [0; 4096]).unwrap(), 10);
    }

    #[test]
    fn it_ends_also_while_responses_wait_for_the_program() {
        let mut master = PtyMaster::open().unwrap();
        let fill = |master: &mut PtyMaster| while master.send(&[0; 1000]).unwrap() > 0 {};
        fill(&mut master);
        drop(exclusive(&master));
        // The kernel may have made room meanwhile.
        fill(&mut master);
        assert!(is_free(&master));
    }

    #[test]
    fn it_lasts_as_long_as_a_program_has_the_tty_open() {
        let mut master = PtyMaster::open().unwrap();
        let program = exclusive(&master);
        let second = rustix::fs::open(master.path(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
        drop(second);
        master.wait(false, Duration::ZERO).unwrap();
        assert!(!is_free(&master));
        drop(program);
        master.wait(false, MAX_WAIT).unwrap();
        assert!(is_free(&master));
    }

    #[test]
    fn what_a_killed_program_wrote_is_read() {
        let mut master = PtyMaster::open().unwrap();
        let program = exclusive(&master);
        rustix::io::write(&program, &[7; 100]).unwrap();
        drop(program);
        master.wait(false, MAX_WAIT).unwrap();
        assert!(is_free(&master));
        assert_eq!(master.receive(&mut [0; 4096]).unwrap(), 100);
        assert_eq!(master.receive(&mut [0; 4096]).unwrap(), 0);
    }
}
