//! The virtual device in a process of its own, over shared memory: as with a driver's daemon.
//!
//! The process is this program once more, or another that was named, started with the shared memory as its
//! standard input and nothing else of ours. It is not forked from this process, which has threads by
//! then: what they held locked would be locked in the child for good.

use crate::platform::Mapping;
use crate::virtual_device::body::Body;
use crate::virtual_device::memory::{Header, RingMemory, header_bytes};
use crate::virtual_device::mover;
use crate::virtual_device::shared::{Asked, wish};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    ftruncate, memfd_create,
};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wiregauge_link::host::{self, Clock};
use wiregauge_link::{LinkError, LinkErrorKind};

/// The one argument with which a program is asked to be the device.
const ASKED: &str = "virtual-device";

/// This executable, whatever lies at its path meanwhile.
const OURSELVES: &str = "/proc/self/exe";

/// A process that was ordered to quit has by then.
const QUIT_NS: u64 = 1_000_000_000;

/// What is started to be the device.
struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Names the program that is started as the device of `virtual:process`, with the arguments that make it
/// the device: `virtual-device` alone for the `wiregauge` command and whatever else calls
/// [`be_device_if_asked`]. The first to name one decides; returns whether this one was it.
pub fn serve_devices_with(path: impl Into<PathBuf>, arguments: Vec<OsString>) -> bool {
    let program = Program {
        path: path.into(),
        arguments,
    };
    PROGRAM.set(program).is_ok()
}

/// To be called by a program at its very begin. If it was started to be the device of another, it is
/// that until the other needs none, and this returns how it went; the program then ends. Else `None`,
/// and from now on `virtual:process` starts this program's own executable.
pub fn be_device_if_asked() -> Option<Result<(), LinkError>> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let asked = be_device_if_asked_with(&arguments);
    if asked.is_none() {
        serve_devices_with_program(OURSELVES, &[]);
    }
    asked
}

/// The same for a program whose arguments are others than those of the process, because an interpreter
/// runs it. It is not yet known to `virtual:process` then: [`serve_devices_with_program`].
pub fn be_device_if_asked_with(arguments: &[OsString]) -> Option<Result<(), LinkError>> {
    (arguments == [ASKED]).then(be_device)
}

/// Names a program that calls [`be_device_if_asked_with`] at its begin, with the arguments that come
/// before those of its own; see [`serve_devices_with`].
pub fn serve_devices_with_program(path: impl Into<PathBuf>, before: &[OsString]) -> bool {
    let mut arguments = before.to_vec();
    arguments.push(ASKED.into());
    serve_devices_with(path, arguments)
}

/// Bytes of a file that has room for these rings.
fn file_bytes(ring_bytes: u64) -> u64 {
    header_bytes().saturating_add(RingMemory::bytes(ring_bytes))
}

/// The header at the begin of a file of at least `header_bytes`, which cannot shrink.
fn header_of(file: impl AsFd) -> io::Result<Header> {
    Mapping::shared(file, 0, header_bytes() as usize).map(Header)
}

/// The rings behind the header of a file that is large enough and cannot shrink.
fn rings_of(file: impl AsFd, ring_bytes: u64) -> io::Result<RingMemory> {
    let bytes = RingMemory::bytes(ring_bytes) as usize;
    let mapping = Mapping::shared(file, header_bytes(), bytes)?;
    Ok(RingMemory::of(mapping, ring_bytes))
}

/// Is the device whose memory is the standard input.
pub(crate) fn be_device() -> Result<(), LinkError> {
    let doing = "cannot run as the virtual device of a loop";
    let refused = |said: &str| {
        LinkError::new(LinkErrorKind::Usage, doing, said)
            .hint("use wiregauge loop virtual:process, which starts it")
    };
    let failed = |error: &io::Error| LinkError::from_io(doing, error);
    let stdin = io::stdin();
    let file = stdin.as_fd();
    let size = |file| fstat(file).map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
    // Memory that can shrink would end this process in the middle of a touch.
    let seals = fcntl_get_seals(file).unwrap_or(SealFlags::empty());
    if !seals.contains(SealFlags::SHRINK) || size(file) < file_bytes(0) {
        return Err(refused("standard input is not the shared memory of a loop"));
    }
    let header = header_of(file).map_err(|error| failed(&error))?;
    let other = || refused("the layout of the shared memory is from another version");
    let (asked, parent) = header.asked().ok_or_else(other)?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| failed(&error.into()))?;
    // It may have died before it was asked for that signal.
    if getppid().is_none_or(|pid| pid.as_raw_nonzero().get() as u32 != parent) {
        return Err(refused("the loop that started it has ended"));
    }
    if asked.lock_memory {
        // What is refused here is refused to the loop as well, which tells what to do.
        let _ = host::lock_memory();
    }
    mover::take_place(&header, asked);
    mover::serve(&header, |point| {
        if size(file) < file_bytes(point.ring_bytes) {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        rings_of(file, point.ring_bytes).map(Box::new)
    });
    Ok(())
}

/// The process; it ends when this is dropped, or when the thread ends that started it.
pub(crate) struct Process {
    header: Arc<Header>,
    file: OwnedFd,
    /// Bytes of the file: it grows, and never shrinks.
    bytes: u64,
    child: Child,
}

impl Process {
    /// Starts it.
    pub(crate) fn start(asked: Asked) -> Result<Process, LinkError> {
        let Some(program) = PROGRAM.get() else {
            let said = "the program to start as the device is unknown";
            let doing = "cannot start the device's process";
            let error = LinkError::new(LinkErrorKind::Usage, doing, said);
            return Err(error.hint("use virtual:thread, or the `wiregauge` command"));
        };
        let laying = |error: rustix::io::Errno| {
            LinkError::from_io("making memory to share with the device", &error.into())
        };
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("wiregauge-device", flags).map_err(laying)?;
        let bytes = file_bytes(0);
        ftruncate(&file, bytes).map_err(laying)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::SEAL).map_err(laying)?;
        let starting = |error: io::Error| {
            let doing = format!(
                "cannot start the device's process ({})",
                program.path.display()
            );
            LinkError::from_io(doing, &error)
        };
        let header = Arc::new(header_of(&file).map_err(starting)?);
        header.ask(asked);
        let mut command = Command::new(&program.path);
        if program.path.as_os_str() == OURSELVES {
            // Of no use to whoever lists the processes.
            command.arg0("wiregauge");
        }
        let child = command
            .args(&program.arguments)
            .stdin(Stdio::from(file.try_clone().map_err(starting)?))
            .stdout(Stdio::null())
            // Ctrl-C is for the loop, which ends the device when it is done with it.
            .process_group(0)
            .spawn()
            .map_err(starting)?;
        Ok(Process {
            header,
            file,
            bytes,
            child,
        })
    }
}

impl Body for Process {
    fn header(&self) -> Arc<Header> {
        Arc::clone(&self.header)
    }

    fn rings(&mut self, ring_bytes: u64) -> Result<Arc<RingMemory>, LinkError> {
        let laying = |error: io::Error| {
            LinkError::from_io("cannot allocate the virtual device's rings", &error)
                .hint("use a smaller --ring")
        };
        let bytes = file_bytes(ring_bytes);
        if bytes > self.bytes {
            // Taken now: memory that is missing later ends whoever touches it.
            fallocate(&self.file, FallocateFlags::empty(), 0, bytes)
                .map_err(|error| laying(error.into()))?;
            self.bytes = bytes;
        }
        let rings = rings_of(&self.file, ring_bytes).map_err(laying)?;
        Ok(Arc::new(rings))
    }

    fn look(&mut self) -> Result<(), LinkError> {
        let pid = self.child.id();
        let doing = || format!("cannot wait for the virtual device (process {pid})");
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                Err(
                    LinkError::new(LinkErrorKind::Disconnected, doing(), ended(status))
                        .hint("run it again; `virtual` and `virtual:thread` need no process"),
                )
            }
            Err(error) => Err(LinkError::from_io(doing(), &error)),
        }
    }

    fn what(&self) -> String {
        "virtual:process: a separate process moves the samples through shared memory".into()
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("it was killed by signal {signal}"),
        (None, code) => format!("it ended with exit code {}", code.unwrap_or(-1)),
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.header.wish.store(wish::QUIT, Ordering::Release);
        self.header.device_event.set();
        let clock = Clock::start();
        while matches!(self.child.try_wait(), Ok(None)) {
            if clock.now() > QUIT_NS {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
