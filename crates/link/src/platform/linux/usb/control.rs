//! Exchanges over endpoint 0. With a responder, two vendor requests carry the bytes (docs/protocol.md, "USB control"):
//! one sends, one fetches, and a fetch waits in the device until there is something. On any device, a standard request
//! as the exchange itself: GET_STATUS, whose answer is its data stage.

use super::detail;
use super::errors;
use super::memory;
use super::usbfs::{ControlFile, Ended, SETUP};
use crate::error::LinkError;
use crate::flow::{FlowShape, Flows};
use crate::usb::address::{Control, UsbAddress};
use crate::usb::errors::of_transfer;
use crate::usb::find;
use crate::usb::identity::Identity;
use crate::{Link, MAX_WAIT, closed};
use nusb::DeviceInfo;
use nusb::transfer::TransferError;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wiregauge_record::{BusLimit, LinkDetail, Point};
use wiregauge_wire::{CONTROL_FETCH, CONTROL_PIECE, CONTROL_SEND};

/// bmRequestType of a vendor request to the device (USB 2.0, table 9-2). One to an interface would need that interface
/// claimed, which the link over its endpoints has.
const VENDOR_OUT: u8 = 0x40;
const VENDOR_IN: u8 = 0xc0;

/// The fetch, and the transfers that send: as many as wait for endpoint 0 at once.
const FETCH: usize = 0;
const SENDS: usize = 16;

/// Bytes fetched at once before the sizes are known: HELLO's answer.
const UNKNOWN: usize = 512;

/// A cancelled transfer comes back at once.
const CANCEL: Duration = Duration::from_secs(2);

/// What travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carries {
    /// Bytes of a responder, by vendor requests.
    Stream,
    /// Setup packets IN as requests, their data stages as answers.
    Requests,
}

/// A link over endpoint 0.
pub struct ControlLink {
    address: UsbAddress,
    name: String,
    open: Option<Open>,
    detail: LinkDetail,
    limit: Option<BusLimit>,
    receive_timeout: Option<Duration>,
    /// Bytes of a request, and of a fetch.
    request: usize,
    fetch: usize,
    stalls_before: u64,
}

struct Open {
    file: ControlFile,
    identity: Arc<Identity>,
    carries: Carries,
    /// Bytes that the last fetch brought, and how many of them were handed over.
    arrived: Option<(usize, usize)>,
    stalls: u64,
    /// A request was carried: the device knows them.
    is_known: bool,
}

impl ControlLink {
    /// Opens the device.
    pub fn open(
        info: &DeviceInfo,
        address: UsbAddress,
        name: String,
        doing: &str,
    ) -> Result<ControlLink, LinkError> {
        let open = Open::new(info, &address, doing)?;
        Ok(ControlLink {
            detail: detail::of_control(info, &open.identity),
            limit: detail::limit_of_control(&open.identity),
            address,
            name,
            open: Some(open),
            receive_timeout: Some(MAX_WAIT),
            request: 0,
            fetch: UNKNOWN,
            stalls_before: 0,
        })
    }
}

impl Open {
    fn new(info: &DeviceInfo, address: &UsbAddress, doing: &str) -> Result<Open, LinkError> {
        let identity = Arc::new(Identity::of(info));
        let carries = match address.settings.control {
            Some(Control::GetStatus) => Carries::Requests,
            Some(Control::Stream) | None => Carries::Stream,
        };
        let file = ControlFile::open(identity.facts.node(), 1 + SENDS, CONTROL_PIECE)
            .map_err(|error| errors::opening_node(&identity, doing, &error))?;
        Ok(Open {
            file,
            identity,
            carries,
            arrived: None,
            stalls: 0,
            is_known: false,
        })
    }

    /// Notes what became of a transfer.
    #[inline]
    fn take(&mut self, ended: Ended) -> io::Result<()> {
        match -ended.status {
            0 => {
                self.is_known = true;
                if ended.index == FETCH && ended.bytes > 0 {
                    self.arrived = Some((ended.bytes, 0));
                }
                Ok(())
            }
            libc::ENOENT | libc::ECONNRESET => Ok(()),
            libc::EPIPE if self.is_known => {
                self.stalls += 1;
                Ok(())
            }
            libc::EPIPE => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                match self.carries {
                    Carries::Stream => format!(
                        "the device stalls the vendor request 0x{CONTROL_SEND:02x}: it has no wiregauge responder for \
                         control transfers; any device answers --protocol get-status"
                    ),
                    Carries::Requests => "the device stalls GET_STATUS".into(),
                },
            )),
            libc::ENODEV | libc::ESHUTDOWN => Err(self.failed(TransferError::Disconnected)),
            _ => Err(self.failed(TransferError::Fault)),
        }
    }

    fn failed(&self, error: TransferError) -> io::Error {
        of_transfer(&self.identity, error)
    }

    /// Of a system call on the file.
    fn explain(&self, error: io::Error) -> io::Error {
        match error.raw_os_error() {
            Some(libc::ENODEV | libc::ESHUTDOWN) => self.failed(TransferError::Disconnected),
            Some(libc::ENOMEM) => memory::out_of_memory(),
            _ => error,
        }
    }

    #[inline]
    fn reap(&mut self, blocking: bool) -> io::Result<bool> {
        match self.file.reap(blocking) {
            Ok(Some(ended)) => self.take(ended).map(|()| true),
            Ok(None) => Ok(false),
            Err(error) => Err(self.explain(error)),
        }
    }

    #[inline]
    fn reap_all(&mut self) -> io::Result<()> {
        while self.reap(false)? {}
        Ok(())
    }

    #[inline]
    fn submit(&mut self, index: usize, setup: [u8; SETUP], data: &[u8]) -> io::Result<()> {
        self.file
            .submit(index, setup, data)
            .map_err(|error| self.explain(error))
    }

    /// Fetches unless a fetch is under way or its bytes are still here.
    #[inline]
    fn ask(&mut self, bytes: usize) -> io::Result<()> {
        if self.carries == Carries::Requests {
            return Ok(());
        }
        if self.arrived.is_some() || !self.file.is_free(FETCH) {
            return Ok(());
        }
        let setup = setup(VENDOR_IN, CONTROL_FETCH, bytes);
        self.submit(FETCH, setup, &[])
    }

    fn free_send(&self) -> Option<usize> {
        (1..=SENDS).find(|&index| self.file.is_free(index))
    }

    #[inline]
    fn hand_over(&mut self, into: &mut [u8]) -> usize {
        let Some((bytes, at)) = &mut self.arrived else {
            return 0;
        };
        let count = into.len().min(*bytes - *at);
        into[..count].copy_from_slice(&self.file.data(FETCH)[*at..*at + count]);
        *at += count;
        if at == bytes {
            self.arrived = None;
        }
        count
    }

    /// Takes the transfer of an exchange back that was given up.
    fn take_back(&mut self) -> io::Result<()> {
        self.file.discard(FETCH);
        let begun = Instant::now();
        while !self.file.is_free(FETCH) {
            if begun.elapsed() > CANCEL {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the host controller does not return a cancelled transfer",
                ));
            }
            self.file.wait(MAX_WAIT)?;
            self.reap_all()?;
        }
        self.arrived = None;
        Ok(())
    }

    /// One request is one transfer.
    fn send_request(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let setup: [u8; SETUP] = bytes
            .try_into()
            .ok()
            .filter(|setup: &[u8; SETUP]| setup[0] & 0x80 != 0)
            .ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "#type=get-status carries setup packets of 8 bytes: use --protocol get-status",
                )
            })?;
        if !self.file.is_free(FETCH) || self.arrived.is_some() {
            self.take_back()?;
        }
        self.submit(FETCH, setup, &[])?;
        Ok(bytes.len())
    }

    /// Bytes for the responder, cut into data stages; each request of `unit` bytes begins one.
    fn send_stream(&mut self, unit: usize, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = 0;
        while sent < bytes.len() {
            let Some(index) = self.free_send() else {
                break;
            };
            let left_of_unit = unit - sent % unit;
            let piece = &bytes[sent..sent + left_of_unit.min(CONTROL_PIECE)];
            let setup = setup(VENDOR_OUT, CONTROL_SEND, piece.len());
            self.submit(index, setup, piece)?;
            sent += piece.len();
        }
        Ok(sent)
    }
}

fn setup(kind: u8, request: u8, bytes: usize) -> [u8; SETUP] {
    let [low, high] = (bytes.min(CONTROL_PIECE) as u16).to_le_bytes();
    [kind, request, 0, 0, 0, 0, low, high]
}

impl Link for ControlLink {
    fn prepare(&mut self, point: Point) -> io::Result<()> {
        self.request = point.out_bytes as usize;
        self.fetch = (point.in_bytes as usize).clamp(64, CONTROL_PIECE);
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let request = self.request;
        let fetch = self.fetch;
        let open = self.open.as_mut().ok_or_else(closed)?;
        if open.carries == Carries::Requests {
            return open.send_request(bytes);
        }
        if open.free_send().is_none() {
            open.reap_all()?;
        }
        let unit = match request {
            request if request > 0 && bytes.len().is_multiple_of(request) => request,
            _ => bytes.len().max(1),
        };
        let sent = open.send_stream(unit, bytes)?;
        // Behind the requests, so that the answer is fetched without a turn of this thread in between.
        if sent > 0 {
            open.ask(fetch)?;
        }
        Ok(sent)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let fetch = self.fetch;
        let open = self.open.as_mut().ok_or_else(closed)?;
        if open.arrived.is_none() {
            open.reap_all()?;
            open.ask(fetch)?;
        }
        Ok(open.hand_over(into))
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (fetch, receive_timeout) = (self.fetch, self.receive_timeout);
        let open = self.open.as_mut().ok_or_else(closed)?;
        let begun = receive_timeout.map(|timeout| (timeout, Instant::now()));
        while open.arrived.is_none() {
            open.ask(fetch)?;
            let is_over = match begun {
                None => !open.reap(true)?,
                Some((timeout, begun)) => {
                    let left = timeout.saturating_sub(begun.elapsed());
                    open.file.wait(left)?;
                    !open.reap(false)? || left.is_zero()
                }
            };
            if is_over && open.arrived.is_none() {
                return Ok(0);
            }
        }
        Ok(open.hand_over(into))
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        self.receive_timeout = receive_timeout;
        Ok(true)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        let fetch = self.fetch;
        let open = self.open.as_mut().ok_or_else(closed)?;
        let begun = Instant::now();
        loop {
            open.reap_all()?;
            if open.arrived.is_some() || (or_writable && open.free_send().is_some()) {
                return Ok(());
            }
            open.ask(fetch)?;
            let left = at_most.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            open.file.wait(left)?;
            if !open.reap(false)? {
                // A signal, or the time is over.
                return Ok(());
            }
        }
    }

    fn only_replies(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.stalls_before = self.stalls();
        self.open = None;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        self.close();
        let doing = format!("cannot open {}", self.name);
        let info = find::find(&self.address.which, &doing)?;
        self.open = Some(Open::new(&info, &self.address, &doing)?);
        Ok(())
    }

    fn flows(&mut self, _shape: FlowShape) -> io::Result<Flows<'_>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "control transfers cannot stream: use #type=bulk or #type=interrupt",
        ))
    }

    fn stalls(&self) -> u64 {
        self.stalls_before + self.open.as_ref().map_or(0, |open| open.stalls)
    }

    fn detail(&self) -> LinkDetail {
        self.detail.clone()
    }

    fn limit(&self) -> Option<BusLimit> {
        self.limit.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_packet_has_the_request_and_the_size_of_its_data_stage() {
        let send = setup(VENDOR_OUT, CONTROL_SEND, 0x0234);
        assert_eq!(send, [0x40, 0x57, 0, 0, 0, 0, 0x34, 0x02]);
        // A fetch asks for no more than endpoint 0 has memory for.
        let fetch = setup(VENDOR_IN, CONTROL_FETCH, 1 << 20);
        assert_eq!(fetch, [0xc0, 0x58, 0, 0, 0, 0, 0x00, 0x10]);
    }

    #[test]
    fn a_file_that_is_no_usb_device_takes_no_transfer() {
        let mut file = ControlFile::open("/dev/null", 2, 64).unwrap();
        assert!(file.submit(0, setup(VENDOR_IN, 0, 2), &[]).is_err());
        assert!(file.is_free(0), "what was not submitted is free");
        assert!(file.reap(false).is_err());
    }
}
