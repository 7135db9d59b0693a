//! The system calls of SocketCAN that rustix does not have. Linux only.

#![allow(unsafe_code)]

use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::io;
use std::mem::{size_of, size_of_val, zeroed};

/// CAN_ISOTP (`include/uapi/linux/can.h`).
const CAN_ISOTP: libc::c_int = 6;

/// SOL_CAN_BASE + CAN_ISOTP (`include/uapi/linux/can/isotp.h`).
pub const SOL_CAN_ISOTP: libc::c_int = 106;

/// Which socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// CAN_RAW: frames.
    Raw,
    /// CAN_ISOTP: messages.
    IsoTp,
}

/// A new socket.
pub fn socket(family: Family) -> io::Result<OwnedFd> {
    let (kind, protocol) = match family {
        Family::Raw => (libc::SOCK_RAW, libc::CAN_RAW),
        Family::IsoTp => (libc::SOCK_DGRAM, CAN_ISOTP),
    };
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(libc::AF_CAN, kind | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets an option of a socket to a value without padding, as the kernel reads it.
pub fn set_option(
    fd: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &[u8],
) -> io::Result<()> {
    let length = size_of_val(value) as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes at `value`, which is that long.
    let result =
        unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), length) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Binds a socket to an interface; for ISO-TP with the identifiers of what is received and sent.
pub fn bind(fd: BorrowedFd<'_>, interface: u32, (rx_id, tx_id): (u32, u32)) -> io::Result<()> {
    // SAFETY: all zeros is a valid `sockaddr_can`.
    let mut address: libc::sockaddr_can = unsafe { zeroed() };
    address.can_family = libc::AF_CAN as libc::sa_family_t;
    address.can_ifindex = interface as libc::c_int;
    address.can_addr.tp.rx_id = rx_id;
    address.can_addr.tp.tx_id = tx_id;
    let length = size_of::<libc::sockaddr_can>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of `address`, which is that long.
    let result = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// SK_MEMINFO_VARS and SK_MEMINFO_DROPS (`include/uapi/linux/sock_diag.h`).
const MEMORY_NUMBERS: usize = 9;
const DROPS: usize = 8;

/// Frames for which a socket had no room since it was opened. The same counter as that of SO_RXQ_OVFL, which comes only
/// with the next frame, and with each one.
pub fn drops(fd: BorrowedFd<'_>) -> io::Result<u32> {
    let mut numbers = [0_u32; MEMORY_NUMBERS];
    let mut length = size_of_val(&numbers) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `numbers`, which is that long, and their number to `length`.
    let result = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    match result {
        0 => Ok(numbers[DROPS]),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Room for a timestamp.
const ATTACHED: usize = 64;

/// Aligned as the headers within must be.
#[repr(C, align(8))]
struct Room([u8; ATTACHED]);

/// Receives one frame or message, and when the kernel received it, in nanoseconds since 1970 (SO_TIMESTAMPNS).
pub fn receive_with_time(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    wait: bool,
) -> io::Result<(usize, Option<u64>)> {
    let mut room = Room([0; ATTACHED]);
    let mut part = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    // SAFETY: all zeros is a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = room.0.as_mut_ptr().cast();
    message.msg_controllen = ATTACHED as _;
    let flags = if wait { 0 } else { libc::MSG_DONTWAIT };
    // SAFETY: `message` points to `part`, `into` and `room`, which all outlive the call.
    let received = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, flags) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    let mut received_ns = None;
    // SAFETY: the kernel has set `msg_controllen` to what it wrote into `room`.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    while !header.is_null() {
        // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR give null or a whole header within `room`, whose data follows it; the
        // kernel writes a timespec for SCM_TIMESTAMPNS.
        unsafe {
            if ((*header).cmsg_level, (*header).cmsg_type)
                == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS)
            {
                let time = libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .read_unaligned();
                let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
                received_ns = Some(seconds * 1_000_000_000 + time.tv_nsec as u64);
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    Ok((received, received_ns))
}
