//! The device's end of the kernel's HID gadget function: /dev/hidg0, a report a read and a report a write.

use crate::device::DeviceConfig;
use crate::hid::report::ReportDevice;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::host::{self, Clock};

/// How long a wait lasts at most before the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Replies held at most for a host that does not poll; further requests are left unread.
const HELD: usize = 64;

/// Serves until the stop flag is raised or the device leaves by itself; true in the latter case.
pub fn serve(
    path: &Path,
    (config, bytes): (&DeviceConfig, u16),
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<bool> {
    host::use_precise_timers();
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let mut device = ReportDevice::new(config, bytes, clock);
    let mut replies: VecDeque<Vec<u8>> = VecDeque::new();
    let mut report = vec![0; usize::from(bytes)];
    while !stop.load(Ordering::Relaxed) {
        if device.next_due_ns().is_some() {
            let now = clock.now();
            while let Some(reply) = device.pop_due(now) {
                replies.push_back(reply);
            }
        }
        while let Some(reply) = replies.front() {
            match rustix::io::write(&file, reply) {
                Ok(_) => drop(replies.pop_front()),
                Err(Errno::AGAIN | Errno::INTR) => break,
                // No host polls it: nobody waits for the reply any more.
                Err(Errno::SHUTDOWN | Errno::NODEV) => replies.clear(),
                Err(error) => return Err(error.into()),
            }
        }
        if replies.is_empty() && device.is_gone() {
            return Ok(true);
        }
        let due = device.next_due_ns();
        let left = due.map_or(LOOK, |due| {
            Duration::from_nanos(due.saturating_sub(clock.now())).min(LOOK)
        });
        let has_room = replies.len() < HELD;
        wait(&file, has_room, !replies.is_empty(), left)?;
        if has_room && let Some(count) = read(&file, &mut report)? {
            let reply = device.take(&report[..count], clock.now());
            replies.extend(reply);
        }
    }
    Ok(false)
}

fn read(file: &OwnedFd, into: &mut [u8]) -> io::Result<Option<usize>> {
    match rustix::io::read(file, into) {
        Ok(0) | Err(Errno::AGAIN | Errno::INTR | Errno::SHUTDOWN) => Ok(None),
        Ok(count) => Ok(Some(count)),
        Err(error) => Err(error.into()),
    }
}

fn wait(file: &OwnedFd, to_read: bool, to_write: bool, at_most: Duration) -> io::Result<()> {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, to_read);
    flags.set(PollFlags::OUT, to_write);
    let timeout = Timespec {
        tv_sec: at_most.as_secs() as i64,
        tv_nsec: at_most.subsec_nanos().into(),
    };
    match poll(&mut [PollFd::new(file, flags)], Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
