//! What Linux's ttys have and others do not: a flag that says who holds them, parity that does not change, and the
//! driver's low-latency flag.

use rustix::fd::BorrowedFd;
use rustix::pty::OpenptFlags;
use rustix::termios::ControlModes;
use std::io;
use std::os::fd::AsRawFd;
use wiregauge_limits::Framing;

/// `ASYNC_LOW_LATENCY` of linux/tty_flags.h: the driver hands bytes on at once.
const ASYNC_LOW_LATENCY: libc::c_int = 1 << 13;
const TIOCGEXCL: libc::Ioctl = 0x8004_5440;

/// What became of the wish for low latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowLatency {
    /// It was left as it is.
    Unchanged,
    /// The driver does not know the flag.
    Unknown,
    /// It was set already.
    WasOn,
    /// It was switched on, and is switched off again at the end.
    SwitchedOn,
    /// The system refused to set it.
    Refused,
}

impl LowLatency {
    /// As it is kept with a run.
    pub fn in_words(self) -> &'static str {
        match self {
            LowLatency::Unchanged => "unchanged",
            LowLatency::Unknown => "not supported by the driver",
            LowLatency::WasOn | LowLatency::SwitchedOn => "on",
            LowLatency::Refused => "rejected by the system",
        }
    }

    /// True if it was switched on here.
    pub fn is_to_be_undone(self) -> bool {
        self == LowLatency::SwitchedOn
    }
}

/// Parity of mark and space.
pub const STICK_PARITY: ControlModes = ControlModes::CMSPAR;

/// How the master of a pseudo-terminal is opened.
pub const OPEN_PTY: OpenptFlags = OpenptFlags::RDWR
    .union(OpenptFlags::NOCTTY)
    .union(OpenptFlags::CLOEXEC);

/// Refuses a framing that no line of this system has.
pub fn check(_framing: Framing) -> io::Result<()> {
    Ok(())
}

/// True if a program has the tty for itself.
pub fn is_exclusive(fd: BorrowedFd<'_>) -> bool {
    let mut exclusive: libc::c_int = 0;
    // SAFETY: TIOCGEXCL writes one int to the pointer, which is valid for the call.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), TIOCGEXCL, &mut exclusive) };
    result == 0 && exclusive != 0
}

/// Mirrors `struct serial_struct` of linux/serial.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct SerialStruct {
    kind: libc::c_int,
    line: libc::c_int,
    port: libc::c_uint,
    irq: libc::c_int,
    flags: libc::c_int,
    xmit_fifo_size: libc::c_int,
    custom_divisor: libc::c_int,
    baud_base: libc::c_int,
    close_delay: libc::c_ushort,
    io_type: libc::c_char,
    reserved_char: [libc::c_char; 1],
    hub6: libc::c_int,
    closing_wait: libc::c_ushort,
    closing_wait2: libc::c_ushort,
    iomem_base: *mut libc::c_uchar,
    iomem_reg_shift: libc::c_ushort,
    port_high: libc::c_uint,
    iomap_base: libc::c_ulong,
}

fn serial_struct(fd: BorrowedFd<'_>) -> Option<SerialStruct> {
    let mut serial = std::mem::MaybeUninit::<SerialStruct>::zeroed();
    // SAFETY: TIOCGSERIAL fills a serial_struct at the pointer; all-zero is a valid value of it.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCGSERIAL, serial.as_mut_ptr()) };
    // SAFETY: zeroed above and, on success, filled by the kernel; every bit pattern is valid.
    (result == 0).then(|| unsafe { serial.assume_init() })
}

/// Sets the flag; returns whether the driver took it.
pub fn write_low_latency(fd: BorrowedFd<'_>, on: bool) -> bool {
    let Some(mut serial) = serial_struct(fd) else {
        return false;
    };
    if on {
        serial.flags |= ASYNC_LOW_LATENCY;
    } else {
        serial.flags &= !ASYNC_LOW_LATENCY;
    }
    // SAFETY: TIOCSSERIAL reads a serial_struct from the pointer, which the kernel itself filled.
    unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCSSERIAL, &serial) == 0 }
}

/// Switches the flag on, if the driver has one.
pub fn set_low_latency(fd: BorrowedFd<'_>) -> LowLatency {
    match serial_struct(fd) {
        None => LowLatency::Unknown,
        Some(serial) if serial.flags & ASYNC_LOW_LATENCY != 0 => LowLatency::WasOn,
        Some(_) if !write_low_latency(fd, true) => LowLatency::Refused,
        // A driver may accept the call and ignore the flag (cdc-acm does), so it is read back.
        Some(_) => match serial_struct(fd) {
            Some(serial) if serial.flags & ASYNC_LOW_LATENCY != 0 => LowLatency::SwitchedOn,
            _ => LowLatency::Unknown,
        },
    }
}
