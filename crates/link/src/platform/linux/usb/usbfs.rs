//! Control transfers on a usbfs file of our own. The library's control transfers allocate a buffer each time, and its
//! thread takes every ended transfer of its file, so these have a file that the library does not know: a transfer is
//! one ioctl to submit it and one to take it back, without a thread in between.
//!
//! Everything unsafe is here: a transfer's memory stays in place, untouched, from its submission until the kernel gives
//! it back, and the file is closed (which ends all transfers) before the memory is freed.

use crate::platform::socket::wait_for;
use crate::waiting::Ready;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::io;
use std::time::Duration;

/// Bytes of a setup packet (USB 2.0, table 9-2).
pub const SETUP: usize = 8;

/// `USBDEVFS_URB_TYPE_CONTROL`.
const CONTROL: u8 = 2;

/// `struct usbdevfs_urb` of linux/usbdevice_fs.h.
#[repr(C)]
pub(super) struct Urb {
    pub(super) kind: u8,
    pub(super) endpoint: u8,
    pub(super) status: libc::c_int,
    pub(super) flags: libc::c_uint,
    pub(super) buffer: *mut u8,
    pub(super) buffer_length: libc::c_int,
    pub(super) actual_length: libc::c_int,
    pub(super) start_frame: libc::c_int,
    pub(super) packets_or_stream: libc::c_uint,
    pub(super) error_count: libc::c_int,
    pub(super) signal: libc::c_uint,
    pub(super) context: usize,
}

/// _IOR('U', 10, struct usbdevfs_urb), _IO('U', 11), _IOW('U', 12 and 13, void *).
pub(super) const SUBMIT: libc::c_ulong = read(10, size_of::<Urb>());
pub(super) const DISCARD: libc::c_ulong = 0x5500 | 11;
const REAP: libc::c_ulong = write(12, size_of::<usize>());
pub(super) const REAP_NOW: libc::c_ulong = write(13, size_of::<usize>());

pub(super) const fn read(number: libc::c_ulong, size: usize) -> libc::c_ulong {
    2 << 30 | (size as libc::c_ulong) << 16 | 0x5500 | number
}

const fn write(number: libc::c_ulong, size: usize) -> libc::c_ulong {
    1 << 30 | (size as libc::c_ulong) << 16 | 0x5500 | number
}

/// One control transfer and its memory.
struct Transfer {
    urb: Box<Urb>,
    /// The setup packet, then the data stage.
    buffer: Box<[u8]>,
    is_under_way: bool,
}

/// A transfer that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which of the file's transfers.
    pub index: usize,
    /// 0, or an error number negated.
    pub status: i32,
    /// Bytes of the data stage.
    pub bytes: usize,
}

/// An opened device with a number of control transfers.
pub struct ControlFile {
    /// Closed before the memory of the transfers is freed.
    fd: OwnedFd,
    transfers: Box<[Transfer]>,
}

// SAFETY: the pointers in a URB are into its own transfer's heap memory, which moves with it.
unsafe impl Send for ControlFile {}

impl ControlFile {
    /// Opens the device node with memory for `transfers` of up to `piece` bytes of data each.
    pub fn open(node: &str, transfers: usize, piece: usize) -> io::Result<ControlFile> {
        let fd = open(node, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let transfer = |index| {
            let mut buffer = vec![0xff; SETUP + piece].into_boxed_slice();
            let urb = Box::new(Urb {
                kind: CONTROL,
                endpoint: 0,
                status: 0,
                flags: 0,
                buffer: buffer.as_mut_ptr(),
                buffer_length: 0,
                actual_length: 0,
                start_frame: 0,
                packets_or_stream: 0,
                error_count: 0,
                signal: 0,
                context: index,
            });
            Transfer {
                urb,
                buffer,
                is_under_way: false,
            }
        };
        Ok(ControlFile {
            fd,
            transfers: (0..transfers).map(transfer).collect(),
        })
    }

    /// True if the transfer is not under way.
    #[inline]
    pub fn is_free(&self, index: usize) -> bool {
        !self.transfers[index].is_under_way
    }

    /// Submits a transfer that is free: its setup packet, and behind it `data` OUT or room for the data stage IN.
    #[inline]
    pub fn submit(&mut self, index: usize, setup: [u8; SETUP], data: &[u8]) -> io::Result<()> {
        let transfer = &mut self.transfers[index];
        assert!(!transfer.is_under_way, "the caller saw that it is free");
        let length = usize::from(u16::from_le_bytes([setup[6], setup[7]]));
        transfer.buffer[..SETUP].copy_from_slice(&setup);
        transfer.buffer[SETUP..SETUP + data.len()].copy_from_slice(data);
        // Longer than its memory would be refused here, not written by the kernel.
        let all = transfer.buffer[..SETUP + length].len();
        transfer.urb.buffer_length = all as libc::c_int;
        transfer.urb.actual_length = 0;
        // SAFETY: the URB and its buffer are on the heap, live as long as the file is open, and are not touched until
        // the URB is taken back.
        let submitted = unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                SUBMIT as _,
                std::ptr::from_mut(&mut *transfer.urb),
            )
        };
        if submitted < 0 {
            return Err(io::Error::last_os_error());
        }
        transfer.is_under_way = true;
        Ok(())
    }

    /// A transfer that is over, if there is one. With `blocking` it sleeps until there is one or a signal comes; then
    /// `None`.
    #[inline]
    pub fn reap(&mut self, blocking: bool) -> io::Result<Option<Ended>> {
        let mut urb: *mut Urb = std::ptr::null_mut();
        let request = if blocking { REAP } else { REAP_NOW };
        // SAFETY: the kernel writes the address of a URB that was submitted to this file.
        let reaped = unsafe { libc::ioctl(self.fd.as_raw_fd(), request as _, &mut urb) };
        if reaped < 0 {
            return match Errno::from_io_error(&io::Error::last_os_error()) {
                Some(Errno::AGAIN | Errno::INTR) => Ok(None),
                _ => Err(io::Error::last_os_error()),
            };
        }
        // SAFETY: it is one of ours, and no longer under way.
        let urb = unsafe { &*urb };
        let index = urb.context;
        let bytes = usize::try_from(urb.actual_length).unwrap_or(0);
        let ended = Ended {
            index,
            status: urb.status,
            bytes,
        };
        let transfer = &mut self.transfers[index];
        transfer.is_under_way = false;
        Ok(Some(Ended {
            bytes: bytes.min(transfer.buffer.len() - SETUP),
            ..ended
        }))
    }

    /// The data stage of a transfer that is over.
    #[inline]
    pub fn data(&self, index: usize) -> &[u8] {
        &self.transfers[index].buffer[SETUP..]
    }

    /// Asks for a transfer to be given back; it is reaped as usual.
    pub fn discard(&mut self, index: usize) {
        let transfer = &mut self.transfers[index];
        if transfer.is_under_way {
            // SAFETY: the URB is one that was submitted to this file; one that is over already is an error.
            unsafe {
                libc::ioctl(
                    self.fd.as_raw_fd(),
                    DISCARD as _,
                    std::ptr::from_mut(&mut *transfer.urb),
                )
            };
        }
    }

    /// Sleeps until a transfer is over, a signal comes, or so long.
    pub fn wait(&self, at_most: Duration) -> io::Result<()> {
        // usbfs reports a transfer that is over as writable.
        wait_for(self.fd.as_fd(), Ready::Writable, at_most)
    }
}
