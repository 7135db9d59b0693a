//! Locks that keep two measurements off one board: the kernel lets any number of programs open a hidraw or
//! usbtmc file, or send with one CAN identifier.

#![allow(unsafe_code)]

use super::holder;
use crate::error::{LinkError, LinkErrorKind};
use crate::platform::in_use;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

/// A device file that is locked (flock) until it is dropped.
pub struct LockedFile(OwnedFd);

impl LockedFile {
    /// Locks it. The error is `ResourceBusy` if another program has locked it.
    pub fn lock(file: OwnedFd) -> io::Result<LockedFile> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(LockedFile(file)),
            Err(Errno::WOULDBLOCK) => Err(Errno::BUSY.into()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for LockedFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for LockedFile {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // A forked child has the descriptor until it runs its program, and would hold the lock until then.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// The failure of opening a device file that another program has locked.
pub fn busy(file: &Path, doing: &str) -> LinkError {
    let holder = holder::of(file);
    let who = holder.as_deref().unwrap_or("another program");
    let said = format!("already in use by {who}, which holds a lock (flock)");
    let hint = match holder {
        Some(who) => in_use::hint(&who).into(),
        None => format!("find it with: fuser -v {}", file.display()),
    };
    LinkError::new(LinkErrorKind::Busy, doing, said).hint(hint)
}

/// A name that only one process of this host can hold, until this is dropped. It is a listening socket in the abstract
/// namespace, which belongs to the network namespace as CAN interfaces do, and is closed with its process.
///
/// A child that is forked meanwhile has the socket too, until it runs another program or ends: the name stays in use as
/// long. A lock on a file would not (fcntl), but then two containers or users that share a CAN interface would have to
/// share a writable directory too.
pub struct Name {
    listener: UnixListener,
}

impl Drop for Name {
    fn drop(&mut self) {
        // Shows that only forked children still have it.
        let _ = rustix::net::shutdown(&self.listener, Shutdown::Both);
    }
}

/// Why a name could not be taken.
#[derive(Debug)]
pub enum Taken {
    /// By a process, in words.
    By(String),
    /// The system refused the socket.
    Io(io::Error),
}

impl Name {
    /// Takes a name.
    pub fn take(name: &str) -> Result<Name, Taken> {
        let address = SocketAddr::from_abstract_name(format!("wiregauge/{name}").as_bytes())
            .map_err(Taken::Io)?;
        match UnixListener::bind_addr(&address) {
            Ok(listener) => Ok(Name { listener }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                Err(Taken::By(holder(&address)))
            }
            Err(error) => Err(Taken::Io(error)),
        }
    }
}

/// Who holds an address, in words.
fn holder(address: &SocketAddr) -> String {
    match peer(address) {
        Ok(Some(process)) if is_gone(process) => {
            format!("a child of process {process}, which itself has ended")
        }
        Ok(Some(process)) => holder::in_words(process),
        Err(Errno::CONNREFUSED) => "a child process that was forked while it was open".into(),
        Ok(None) | Err(_) => "another program".into(),
    }
}

fn is_gone(process: u32) -> bool {
    !Path::new(&format!("/proc/{process}")).exists()
}

/// The process that listens at an address; `None` if it is of another container.
fn peer(address: &SocketAddr) -> Result<Option<u32>, Errno> {
    let name = address.as_abstract_name().unwrap_or_default();
    let address = SocketAddrUnix::new_abstract_name(name)?;
    // Nobody accepts: once the queue of connections is full, after thousands of attempts, another would wait.
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let kind = SocketType::STREAM;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
    rustix::net::connect(&socket, &address)?;
    let mut who = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // Not by rustix, whose process is never 0, as that of another container is.
    // SAFETY: the kernel writes at most `length` bytes, which `who` has, and they are three numbers.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut who).cast(),
            &raw mut length,
        )
    };
    let process = u32::try_from(who.pid).unwrap_or_default();
    Ok((result == 0 && process > 0).then_some(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_held_by_one_until_it_is_dropped() {
        let name = format!("test/{}", std::process::id());
        let first = Name::take(&name).expect("free");
        match Name::take(&name) {
            Err(Taken::By(who)) => assert_eq!(who, "this process"),
            Err(Taken::Io(error)) => panic!("{error}"),
            Ok(_) => panic!("taken twice"),
        }
        drop(first);
        assert!(Name::take(&name).is_ok());
    }

    #[test]
    fn a_name_that_only_a_forked_child_holds_is_refused_with_the_reason() {
        let name = format!("test/forked/{}", std::process::id());
        let first = Name::take(&name).expect("free");
        // What a fork makes of it in the child.
        let in_the_child = first.listener.try_clone().expect("a second descriptor");
        drop(first);
        match Name::take(&name) {
            Err(Taken::By(who)) => assert!(who.contains("forked while it was open"), "{who}"),
            Err(Taken::Io(error)) => panic!("{error}"),
            Ok(_) => panic!("taken twice"),
        }
        drop(in_the_child);
        assert!(Name::take(&name).is_ok());
    }

    #[test]
    fn a_held_name_is_refused_at_once_however_often_it_is_asked_for() {
        let name = format!("test/often/{}", std::process::id());
        let first = Name::take(&name).expect("free");
        rustix::net::listen(&first.listener, 0).expect("a short queue");
        for _ in 0..3 {
            assert!(matches!(Name::take(&name), Err(Taken::By(_))));
        }
    }

    #[test]
    fn a_file_is_locked_by_one_until_it_is_dropped() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let open = || OwnedFd::from(std::fs::File::open(file.path()).expect("the file"));
        let first = LockedFile::lock(open()).expect("free");
        let error = LockedFile::lock(open()).map(drop).expect_err("locked");
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        let said = busy(file.path(), "cannot open it").to_string();
        assert!(said.contains("already in use by this process"), "{said}");
        drop(first);
        assert!(LockedFile::lock(open()).is_ok());
    }
}
