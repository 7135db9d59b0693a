//! An opened serial port of Windows: one overlapped read is always under way, at most one overlapped write.

#![allow(unsafe_code)]

use super::overlapped::{Operation, wait_for_either};
use crate::closed;
use crate::descriptor_flow::Ready;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use windows_sys::Win32::Devices::Communication::{
    COMMTIMEOUTS, COMSTAT, ClearCommError, DCB, EVENPARITY, GetCommState, MARKPARITY, NOPARITY,
    ODDPARITY, ONE5STOPBITS, ONESTOPBIT, PURGE_RXCLEAR, PURGE_TXCLEAR, PurgeComm, SPACEPARITY,
    SetCommState, SetCommTimeouts, SetupComm, TWOSTOPBITS,
};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_BAD_COMMAND, ERROR_DEVICE_NOT_CONNECTED, ERROR_DEVICE_REMOVED,
    ERROR_GEN_FAILURE, ERROR_INVALID_HANDLE, ERROR_NO_SUCH_DEVICE, ERROR_OPERATION_ABORTED,
    GENERIC_READ, GENERIC_WRITE, GetLastError, HANDLE, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_FLAG_OVERLAPPED, OPEN_EXISTING, ReadFile, WriteFile,
};
use wiregauge_limits::{Framing, Parity, StopBits, Uart};

/// Bytes of a read or a write at most.
const MOST: usize = 64 << 10;

/// Asked of the driver for received bytes and for those to be sent.
const QUEUE: u32 = 64 << 10;

/// A read ends with the first bytes, or after this time.
const READ_MS: u32 = 50;

/// After this time a read has ended, if the driver knows such timeouts.
const PROBE: Duration = Duration::from_millis(200);

/// How long what was written may still take when the port is closed.
const REST: Duration = Duration::from_millis(500);

/// Flags of a DCB: binary, parity is checked, DTR and RTS are on; all kinds of flow control are off.
const BINARY: u32 = 1;
const CHECK_PARITY: u32 = 1 << 1;
const DTR_ON: u32 = 1 << 4;
const RTS_ON: u32 = 1 << 12;

/// How a read ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadEnd {
    /// With what has come: all timeouts of a read are as the documentation of COMMTIMEOUTS has it for that.
    WithWhatCame,
    /// With its buffer full: a driver (and Wine) that knows nothing else. So each read is one of one byte, and the rest
    /// of what has come is read after it.
    WithAllBytes,
}

/// Why a port could not be had.
#[derive(Debug)]
pub enum PortError {
    /// It could not be opened.
    Open(io::Error),
    /// It is no serial port.
    NotAPort(io::Error),
    /// The baud rate or the framing was refused.
    Line(io::Error),
}

/// An opened port, for one user. Dropped, its line is put back as it was.
pub struct Port {
    handle: OwnedHandle,
    before: DCB,
    line: Uart,
    read: Mutex<Read>,
    write: Mutex<Operation>,
}

/// What was read, and the read that is under way.
struct Read {
    operation: Operation,
    end: ReadEnd,
    /// Part of the buffer that was not handed over.
    from: usize,
    to: usize,
}

impl Port {
    /// Opens a port such as `COM3` or `\\.\COM10`.
    pub fn open(
        name: &str,
        baud: Option<u32>,
        framing: Option<Framing>,
        end: Option<ReadEnd>,
    ) -> Result<Port, PortError> {
        let handle = open(name).map_err(PortError::Open)?;
        let raw = handle.as_raw_handle();
        let mut before = DCB {
            DCBlength: size_of::<DCB>() as u32,
            ..DCB::default()
        };
        // SAFETY: the structure is valid for the call.
        done(unsafe { GetCommState(raw, &mut before) }).map_err(PortError::NotAPort)?;
        let line = Uart {
            baud: baud.unwrap_or(before.BaudRate),
            framing: framing.unwrap_or(Framing::EIGHT_N_ONE),
        };
        // SAFETY: the structure is valid for the call.
        done(unsafe { SetCommState(raw, &settings(before, line)) }).map_err(PortError::Line)?;
        let known = end.unwrap_or(ReadEnd::WithWhatCame);
        set_timeouts(raw, known).map_err(PortError::Open)?;
        // SAFETY: no pointers. A driver may refuse: then its queues stay as they are, or what is in them.
        unsafe {
            SetupComm(raw, QUEUE, QUEUE);
            PurgeComm(raw, PURGE_RXCLEAR | PURGE_TXCLEAR);
        }
        let operation = || Operation::new(MOST).map_err(PortError::Open);
        let mut read = Read {
            operation: operation()?,
            end: known,
            from: 0,
            to: 0,
        };
        let write = operation()?;
        read.begin(raw).map_err(PortError::Open)?;
        if end.is_none() {
            read.find_end(raw).map_err(PortError::Open)?;
        }
        Ok(Port {
            handle,
            before,
            line,
            read: Mutex::new(read),
            write: Mutex::new(write),
        })
    }

    fn raw(&self) -> HANDLE {
        self.handle.as_raw_handle()
    }

    /// What the line is set to.
    pub fn line(&self) -> Uart {
        self.line
    }

    /// How its reads end, so that a port that is opened again need not find it out.
    pub fn read_end(&self) -> Option<ReadEnd> {
        self.read.lock().ok().map(|read| read.end)
    }

    /// Hands over as many bytes as fit into one write; 0 while one is under way.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let Ok(mut write) = self.write.lock() else {
            return Ok(0);
        };
        if !write.is_over() || bytes.is_empty() {
            return Ok(0);
        }
        let raw = self.raw();
        if write.is_under_way() {
            write.result(raw).map_err(explain)?;
        }
        let count = bytes.len().min(MOST);
        write.buffer()[..count].copy_from_slice(&bytes[..count]);
        let begun = write.begin(|buffer, overlapped| {
            let none = std::ptr::null_mut();
            // SAFETY: the operation's memory stays in place until it has ended.
            code(unsafe { WriteFile(raw, buffer, count as u32, none, overlapped) })
        });
        begun.map(|_| count).map_err(explain)
    }

    /// Receives, waiting so long for it; 0 if nothing came. Without a wait and without anything received it costs no
    /// system call.
    pub fn receive(&self, into: &mut [u8], wait: Option<Duration>) -> io::Result<usize> {
        let Ok(mut read) = self.read.lock() else {
            return Ok(0);
        };
        let begun = wait.map(|wait| (Instant::now(), wait));
        loop {
            if read.take(self.raw())? {
                return read.hand_over(into, self.raw());
            }
            let Some((begun, wait)) = begun else {
                return Ok(0);
            };
            match wait.checked_sub(begun.elapsed()) {
                Some(left) if !left.is_zero() => read.operation.wait(left),
                _ => return Ok(0),
            }
        }
    }

    /// Sleeps until it is ready for what is named, at most so long.
    pub fn wait(&self, for_what: Ready, at_most: Duration) -> io::Result<()> {
        if for_what == Ready::Writable {
            if let Ok(write) = self.write.lock() {
                write.wait(at_most);
            }
            return Ok(());
        }
        let Ok(mut read) = self.read.lock() else {
            return Ok(());
        };
        if read.take(self.raw())? {
            return Ok(());
        }
        if for_what == Ready::Readable {
            read.operation.wait(at_most);
        } else if let Ok(write) = self.write.lock() {
            wait_for_either(&read.operation, &write, at_most);
        }
        Ok(())
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        let raw = self.raw();
        if let Ok(write) = self.write.get_mut() {
            write.wait(REST);
            write.cancel(raw);
        }
        if let Ok(read) = self.read.get_mut() {
            read.operation.cancel(raw);
        }
        // SAFETY: the structure is the one that the system gave.
        unsafe { SetCommState(raw, &self.before) };
    }
}

impl Read {
    fn begin(&mut self, handle: HANDLE) -> io::Result<()> {
        (self.from, self.to) = (0, 0);
        let most = match self.end {
            ReadEnd::WithWhatCame => MOST as u32,
            ReadEnd::WithAllBytes => 1,
        };
        self.operation.begin_for_result(|buffer, overlapped| {
            let none = std::ptr::null_mut();
            // SAFETY: the operation's memory stays in place until it has ended.
            code(unsafe { ReadFile(handle, buffer, most, none, overlapped) })
        })
    }

    /// Finds out how reads end, with one that was just begun.
    fn find_end(&mut self, handle: HANDLE) -> io::Result<()> {
        self.operation.wait(PROBE);
        if self.operation.is_over() {
            return Ok(());
        }
        self.operation.cancel(handle);
        self.end = ReadEnd::WithAllBytes;
        set_timeouts(handle, self.end)?;
        self.begin(handle)
    }

    /// Reads the rest of what has come behind the first byte, which does not wait.
    fn read_rest(&mut self, handle: HANDLE) -> io::Result<()> {
        let mut state = COMSTAT::default();
        // SAFETY: the structure is valid for the call, and null is allowed for the errors.
        done(unsafe { ClearCommError(handle, std::ptr::null_mut(), &mut state) })?;
        let count = state.cbInQue.min(MOST as u32 - 1);
        if count > 0 {
            self.operation.begin_for_result(|buffer, overlapped| {
                let none = std::ptr::null_mut();
                // SAFETY: the memory has room for one byte and `MOST - 1` more, and stays in place until the end.
                code(unsafe { ReadFile(handle, buffer.add(1), count, none, overlapped) })
            })?;
            self.operation.wait(PROBE);
            self.to += self.operation.result(handle)?;
        }
        Ok(())
    }

    /// True if there is something to hand over. A read that ended without anything is begun anew.
    #[inline]
    fn take(&mut self, handle: HANDLE) -> io::Result<bool> {
        if self.from < self.to {
            return Ok(true);
        }
        if !self.operation.is_over() {
            return Ok(false);
        }
        if self.operation.is_under_way() {
            self.to = self.operation.result(handle).map_err(explain)?;
            if self.to > 0 && self.end == ReadEnd::WithAllBytes {
                self.read_rest(handle).map_err(explain)?;
            }
        }
        if self.to == 0 {
            self.begin(handle).map_err(explain)?;
        }
        Ok(self.to > 0)
    }

    fn hand_over(&mut self, into: &mut [u8], handle: HANDLE) -> io::Result<usize> {
        let count = into.len().min(self.to - self.from);
        let range = self.from..self.from + count;
        into[..count].copy_from_slice(&self.operation.buffer()[range]);
        self.from += count;
        if self.from == self.to {
            self.begin(handle).map_err(explain)?;
        }
        Ok(count)
    }
}

fn open(name: &str) -> io::Result<OwnedHandle> {
    let path = match name.starts_with(r"\\") {
        true => name.to_owned(),
        false => format!(r"\\.\{name}"),
    };
    let path: Vec<u16> = path.encode_utf16().chain([0]).collect();
    // SAFETY: the path ends with 0; the other pointers are null, which is allowed.
    let handle = unsafe {
        CreateFileW(
            path.as_ptr(),
            GENERIC_READ | GENERIC_WRITE,
            0,
            std::ptr::null(),
            OPEN_EXISTING,
            FILE_FLAG_OVERLAPPED,
            std::ptr::null_mut(),
        )
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just given this handle to us alone.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// The settings of a line without flow control.
fn settings(before: DCB, line: Uart) -> DCB {
    let framing = line.framing;
    let (parity, check) = match framing.parity {
        Parity::None => (NOPARITY, 0),
        Parity::Odd => (ODDPARITY, CHECK_PARITY),
        Parity::Even => (EVENPARITY, CHECK_PARITY),
        Parity::Mark => (MARKPARITY, CHECK_PARITY),
        Parity::Space => (SPACEPARITY, CHECK_PARITY),
    };
    DCB {
        DCBlength: size_of::<DCB>() as u32,
        BaudRate: line.baud,
        _bitfield: BINARY | DTR_ON | RTS_ON | check,
        ByteSize: framing.data_bits,
        Parity: parity,
        StopBits: match framing.stop_bits {
            StopBits::One => ONESTOPBIT,
            StopBits::OneAndHalf => ONE5STOPBITS,
            StopBits::Two => TWOSTOPBITS,
        },
        ..before
    }
}

fn set_timeouts(handle: HANDLE, end: ReadEnd) -> io::Result<()> {
    let timeouts = match end {
        ReadEnd::WithWhatCame => COMMTIMEOUTS {
            ReadIntervalTimeout: u32::MAX,
            ReadTotalTimeoutMultiplier: u32::MAX,
            ReadTotalTimeoutConstant: READ_MS,
            ..COMMTIMEOUTS::default()
        },
        ReadEnd::WithAllBytes => COMMTIMEOUTS::default(),
    };
    // SAFETY: the structure is valid for the call.
    done(unsafe { SetCommTimeouts(handle, &timeouts) })
}

fn done(result: i32) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The error of a call that returned false.
#[inline]
fn code(result: i32) -> u32 {
    match result {
        // SAFETY: it has no arguments.
        0 => unsafe { GetLastError() },
        _ => 0,
    }
}

/// An error of a transfer: drivers report a device that was unplugged in many ways.
#[cold]
fn explain(error: io::Error) -> io::Error {
    match error.raw_os_error().map(|code| code as u32) {
        Some(
            ERROR_ACCESS_DENIED
            | ERROR_BAD_COMMAND
            | ERROR_DEVICE_NOT_CONNECTED
            | ERROR_DEVICE_REMOVED
            | ERROR_GEN_FAILURE
            | ERROR_INVALID_HANDLE
            | ERROR_NO_SUCH_DEVICE
            | ERROR_OPERATION_ABORTED,
        ) => closed(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_framing_and_no_flow_control() {
        let line = Uart {
            baud: 57_600,
            framing: "7E2".parse().unwrap(),
        };
        let set = settings(DCB::default(), line);
        assert_eq!((set.BaudRate, set.ByteSize), (57_600, 7));
        assert_eq!((set.Parity, set.StopBits), (EVENPARITY, TWOSTOPBITS));
        assert_eq!(set._bitfield, 0x1013);
    }
}
