//! An open CAN link: one system call a message. Linux only.

use super::errors;
use super::interface;
use super::load::limit;
use super::load::{BusTime, Load};
use super::open_error::{OpenError, Refusal};
use super::system::{self, Family, SOL_CAN_ISOTP};
use crate::can::frame::{self, Received};
use crate::can::timing::Timing;
use crate::link::closed;
use crate::platform::exclusive::Name;
use crate::platform::socket;
use crate::{Link, MAX_WAIT};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::{RecvFlags, SendFlags};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Duration;
use wiregauge_record::{BusLimit, CanCounts, CanOptions, IsoTp, LinkDetail, Point};

/// Asked of the system for received frames, so that depth does not turn into loss at once.
const RECEIVE_BUFFER: usize = 1 << 20;

/// Of `include/uapi/linux/can/isotp.h`.
const CAN_ISOTP_OPTS: libc::c_int = 1;
const CAN_ISOTP_RECV_FC: libc::c_int = 2;
const CAN_ISOTP_LL_OPTS: libc::c_int = 5;
const CAN_ISOTP_TX_PADDING: u32 = 0x004;

/// Of `include/uapi/linux/can/error.h`.
const CAN_ERR_ACK: u32 = 0x20;
const CAN_ERR_BUSOFF: u32 = 0x40;
const CAN_ERR_RESTARTED: u32 = 0x100;

/// State of a controller that has left the bus (`enum can_state`).
const BUS_OFF: u32 = 3;

/// One node's view of the bus.
pub struct CanLink {
    fd: Option<OwnedFd>,
    /// Held as long as the link is open: nobody else sends with its identifier.
    identifier: Option<Name>,
    name: String,
    options: CanOptions,
    timing: Timing,
    receive_timeout: Option<Duration>,
    counts: CanCounts,
    /// Frames that the socket had lost when they were counted last.
    drops: u32,
    /// How long our frames take on the bus.
    load: Option<Load>,
    /// An error frame said that the controller has left the bus.
    is_bus_off: bool,
    /// Sees the error frames of the bus, where the socket itself carries messages of ISO-TP.
    errors: Option<OwnedFd>,
}

impl CanLink {
    /// Opens it for the first time.
    pub fn open(name: &str, options: CanOptions) -> Result<CanLink, OpenError> {
        let mut link = CanLink {
            fd: None,
            identifier: None,
            name: name.into(),
            options,
            timing: Timing::default(),
            receive_timeout: Some(MAX_WAIT),
            counts: CanCounts::default(),
            drops: 0,
            load: None,
            is_bus_off: false,
            errors: None,
        };
        link.fd = Some(link.connect()?);
        Ok(link)
    }

    fn connect(&mut self) -> Result<OwnedFd, OpenError> {
        let family = match self.options.isotp {
            Some(_) => Family::IsoTp,
            None => Family::Raw,
        };
        let fd = system::socket(family)?;
        let found = interface::find(&self.name).ok_or(OpenError::Refused(
            match interface::exists(&self.name) {
                true => Refusal::NotCan,
                false => Refusal::Unknown,
            },
        ))?;
        let refusal = match &found {
            found if !found.is_up => Some(Refusal::Down),
            found if found.timing.state == Some(BUS_OFF) => Some(Refusal::BusOff),
            found if self.options.fd && !found.has_fd => Some(Refusal::NoFd),
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Err(OpenError::Refused(refusal));
        }
        if self.identifier.is_none() {
            let id = self.options.request_id;
            self.identifier = Some(Name::take(&format!("can/{}/{id}", self.name))?);
        }
        let (tx_id, rx_id) = (
            frame::raw_id(self.options.request_id),
            frame::raw_id(self.options.response_id),
        );
        match self.options.isotp {
            None => self.set_up_frames(&fd, rx_id)?,
            Some(isotp) => self.set_up_messages(&fd, isotp)?,
        }
        if self.options.timestamps {
            let on = 1_u32.to_ne_bytes();
            system::set_option(fd.as_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &on)?;
        }
        // The system may grant less; what it granted is kept with the run.
        sockopt::set_socket_recv_buffer_size(&fd, RECEIVE_BUFFER).map_err(io::Error::from)?;
        system::bind(fd.as_fd(), found.index, (rx_id, tx_id))?;
        if self.receive_timeout.is_some() {
            socket::set_receive_timeout(&fd, self.receive_timeout)?;
        }
        self.errors = match self.options.isotp {
            Some(_) => Some(error_socket(found.index)?),
            None => None,
        };
        self.load = Load::new(&self.options, &found.timing);
        self.timing = found.timing;
        self.drops = 0;
        self.is_bus_off = false;
        Ok(fd)
    }

    /// Only responses pass the kernel's filter, remote frames with their identifier included, and error frames.
    fn set_up_frames(&self, fd: &OwnedFd, rx_id: u32) -> io::Result<()> {
        let bits = if self.options.response_id.is_extended() {
            libc::CAN_EFF_MASK
        } else {
            libc::CAN_SFF_MASK
        };
        let filter = [
            rx_id.to_ne_bytes(),
            (bits | libc::CAN_EFF_FLAG).to_ne_bytes(),
        ]
        .concat();
        system::set_option(fd.as_fd(), libc::SOL_CAN_RAW, libc::CAN_RAW_FILTER, &filter)?;
        all_errors(fd)?;
        if self.options.fd {
            let on = 1_u32.to_ne_bytes();
            system::set_option(fd.as_fd(), libc::SOL_CAN_RAW, libc::CAN_RAW_FD_FRAMES, &on)?;
        }
        Ok(())
    }

    fn set_up_messages(&self, fd: &OwnedFd, isotp: IsoTp) -> io::Result<()> {
        let flags = if isotp.padding.is_some() {
            CAN_ISOTP_TX_PADDING
        } else {
            0
        };
        // `struct can_isotp_options`: flags, frame_txtime, ext_address, txpad_content, rxpad_content, rx_ext_address.
        let mut options = [0; 12];
        options[..4].copy_from_slice(&flags.to_ne_bytes());
        options[9] = isotp.padding.unwrap_or(0);
        system::set_option(fd.as_fd(), SOL_CAN_ISOTP, CAN_ISOTP_OPTS, &options)?;
        // `struct can_isotp_fc_options`: block size, STmin, maximum of wait frames.
        let control = [isotp.block_size, st_min(isotp.st_min_ns), 0];
        system::set_option(fd.as_fd(), SOL_CAN_ISOTP, CAN_ISOTP_RECV_FC, &control)?;
        if self.options.fd {
            // `struct can_isotp_ll_options`: MTU, data length, flags (bit rate switch).
            let layer = [frame::FD as u8, 64, 1];
            system::set_option(fd.as_fd(), SOL_CAN_ISOTP, CAN_ISOTP_LL_OPTS, &layer)?;
        }
        Ok(())
    }

    fn receive_with(&mut self, into: &mut [u8], wait: bool) -> io::Result<usize> {
        let fd = self.fd.as_ref().ok_or_else(closed)?;
        let mut room = [0; frame::FD];
        let target = if self.options.isotp.is_some() {
            &mut *into
        } else {
            &mut room[..]
        };
        let received = match self.options.timestamps {
            true => system::receive_with_time(fd.as_fd(), target, wait),
            false => {
                let flags = if wait {
                    RecvFlags::empty()
                } else {
                    RecvFlags::DONTWAIT
                };
                rustix::net::recv(fd, target, flags)
                    .map(|(received, _)| (received, None))
                    .map_err(io::Error::from)
            }
        };
        let (received, received_ns) = match received {
            Ok(received) => received,
            Err(error) => {
                // Not after each empty receive of a program that spins.
                if wait || error.kind() != io::ErrorKind::WouldBlock {
                    self.read_errors()?;
                }
                return self.nothing(error);
            }
        };
        let length = match self.options.isotp {
            Some(_) => received,
            None => match frame::decode(&room[..received]) {
                Received::Data(data) => {
                    let length = data.len().min(into.len());
                    into[..length].copy_from_slice(&data[..length]);
                    length
                }
                Received::Remote => {
                    self.counts.remote_frames += 1;
                    0
                }
                Received::Error(classes) => return self.error_frame(classes),
                Received::Malformed => 0,
            },
        };
        if let (Some(load), true) = (&self.load, length > 0) {
            let time = load.response(length);
            self.occupy(time);
        }
        if let (Some(received_ns), true) = (received_ns, length > 0) {
            let now = clock_gettime(ClockId::Realtime);
            let now_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
            let waited_ns = now_ns.saturating_sub(received_ns);
            self.counts.timestamps += 1;
            self.counts.waited_ns += waited_ns;
            self.counts.longest_wait_ns = self.counts.longest_wait_ns.max(waited_ns);
        }
        Ok(length)
    }

    #[inline]
    fn occupy(&mut self, time: BusTime) {
        self.counts.least_bus_ns += time.least_ns;
        self.counts.most_bus_ns += time.most_ns;
    }

    fn error_frame(&mut self, classes: u32) -> io::Result<usize> {
        self.counts.error_frames += 1;
        self.counts.unacknowledged += u64::from(classes & CAN_ERR_ACK != 0);
        if classes & CAN_ERR_RESTARTED != 0 {
            self.is_bus_off = false;
        }
        self.is_bus_off |= classes & CAN_ERR_BUSOFF != 0;
        self.check_bus().map(|()| 0)
    }

    fn check_bus(&self) -> io::Result<()> {
        match self.is_bus_off {
            false => Ok(()),
            true => Err(errors::bus_off(&self.name)),
        }
    }

    /// Counts the error frames that came meanwhile, where the link's own socket does not carry them.
    fn read_errors(&mut self) -> io::Result<()> {
        let mut room = [0; frame::FD];
        while let Some(errors) = &self.errors {
            match rustix::net::recv(errors, &mut room[..], RecvFlags::DONTWAIT) {
                Ok((received, _)) => {
                    if let Received::Error(classes) = frame::decode(&room[..received]) {
                        self.error_frame(classes)?;
                    }
                }
                // Nothing more; whatever is wrong with the interface, the link's own socket says it.
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Counts the frames for which the socket had no room meanwhile.
    fn read_drops(&mut self) {
        let drops = self
            .fd
            .as_ref()
            .and_then(|fd| system::drops(fd.as_fd()).ok());
        if let Some(drops) = drops {
            self.counts.lost_frames += u64::from(drops.wrapping_sub(self.drops));
            self.drops = drops;
        }
    }

    /// An error of a call that only means that nothing was received or taken.
    fn nothing(&mut self, error: io::Error) -> io::Result<usize> {
        match error.raw_os_error() {
            // ENOBUFS: the interface's own queue is full; it empties as that of EAGAIN.
            Some(libc::EAGAIN | libc::EINTR | libc::ENOBUFS) => Ok(0),
            // What ISO-TP says of a message that it gave up (net/can/isotp.c).
            Some(libc::ECOMM | libc::ETIMEDOUT | libc::EBADMSG | libc::EILSEQ | libc::EMSGSIZE)
                if self.options.isotp.is_some() =>
            {
                self.counts.failed_messages += 1;
                Ok(0)
            }
            _ => Err(errors::of_transfer(&self.name, error)),
        }
    }
}

/// All error frames pass the filter.
fn all_errors(fd: &OwnedFd) -> io::Result<()> {
    let classes = libc::CAN_ERR_MASK.to_ne_bytes();
    system::set_option(
        fd.as_fd(),
        libc::SOL_CAN_RAW,
        libc::CAN_RAW_ERR_FILTER,
        &classes,
    )
}

/// A socket that receives the error frames of an interface, and nothing else.
fn error_socket(interface: u32) -> io::Result<OwnedFd> {
    let fd = system::socket(Family::Raw)?;
    // No filter passes: no data frame.
    system::set_option(fd.as_fd(), libc::SOL_CAN_RAW, libc::CAN_RAW_FILTER, &[])?;
    all_errors(&fd)?;
    system::bind(fd.as_fd(), interface, (0, 0))?;
    Ok(fd)
}

/// STmin as it is sent (ISO 15765-2, 9.6.5.4): 0 to 127 ms, or 100 to 900 us; rounded up.
fn st_min(ns: u64) -> u8 {
    match ns.div_ceil(100_000) {
        0 => 0,
        hundreds @ 1..=9 => 0xf0 + hundreds as u8,
        hundreds => hundreds.div_ceil(10).min(127) as u8,
    }
}

impl Link for CanLink {
    fn prepare(&mut self, _point: Point) -> io::Result<()> {
        // What came before belongs to no point.
        self.read_errors()?;
        self.read_drops();
        self.counts = CanCounts::default();
        self.check_bus()
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fd = self.fd.as_ref().ok_or_else(closed)?;
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = match self.options.isotp {
            Some(_) => rustix::net::send(fd, bytes, flags),
            None => {
                let mut room = [0; frame::FD];
                let (id, fd_frame) = (self.options.request_id, self.options.fd);
                let size = frame::encode(id, fd_frame, bytes, &mut room).ok_or(Errno::MSGSIZE)?;
                rustix::net::send(fd, &room[..size], flags)
            }
        };
        match sent {
            Ok(_) => {
                self.counts.requests += 1;
                if let Some(load) = &self.load {
                    let time = load.request(bytes.len());
                    self.occupy(time);
                }
                Ok(bytes.len())
            }
            Err(error) => self.nothing(error.into()),
        }
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_with(into, false)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.receive_with(into, true)
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        self.receive_timeout = receive_timeout;
        // A closed one takes it when it is opened again.
        self.fd
            .iter()
            .try_for_each(|fd| socket::set_receive_timeout(fd, receive_timeout))?;
        Ok(true)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        let fd = self.fd.as_ref().ok_or_else(closed)?;
        socket::wait(fd.as_fd(), or_writable, at_most)
    }

    fn close(&mut self) {
        self.read_drops();
        self.fd = None;
        self.identifier = None;
        self.errors = None;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        self.fd = Some(self.connect().map_err(super::open_error::as_io)?);
        Ok(())
    }

    fn can_counts(&mut self) -> Option<CanCounts> {
        // A controller that left the bus is counted; the next point fails with it.
        let _ = self.read_errors();
        self.read_drops();
        Some(self.counts)
    }

    fn detail(&self) -> LinkDetail {
        let CanOptions {
            request_id,
            response_id,
            fd,
            isotp,
            ..
        } = self.options;
        let mut settings = vec![
            ("interface".to_owned(), self.name.clone()),
            ("request identifier".to_owned(), request_id.to_string()),
            ("response identifier".to_owned(), response_id.to_string()),
            (
                "frames".to_owned(),
                if fd { "CAN FD" } else { "classic CAN" }.to_owned(),
            ),
        ];
        let timing = &self.timing;
        let rate =
            |own: Option<u32>, given: Option<u32>| own.or(given).map(|rate| rate.to_string());
        let numbers = [
            ("interface kind", timing.kind.clone()),
            (
                "bit rate (bit/s)",
                rate(timing.bitrate, self.options.bitrate),
            ),
            (
                "data bit rate (bit/s)",
                rate(timing.data_bitrate, self.options.data_bitrate).filter(|_| fd),
            ),
            ("controller state", timing.state_name().map(str::to_owned)),
            (
                "ISO-TP block size",
                isotp.map(|isotp| isotp.block_size.to_string()),
            ),
            (
                "ISO-TP STmin (us)",
                isotp.map(|isotp| (isotp.st_min_ns / 1000).to_string()),
            ),
            (
                "ISO-TP padding",
                isotp
                    .and_then(|isotp| isotp.padding)
                    .map(|byte| format!("{byte:#04x}")),
            ),
            (
                "receive buffer (B)",
                self.fd
                    .as_ref()
                    .and_then(|fd| sockopt::socket_recv_buffer_size(fd).ok())
                    .map(|bytes| bytes.to_string()),
            ),
        ];
        settings.extend(
            numbers
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?))),
        );
        LinkDetail { settings }
    }

    fn limit(&self) -> Option<BusLimit> {
        limit(&self.options, &self.timing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn st_min_is_sent_in_milliseconds_or_hundreds_of_microseconds() {
        let sent = |us: u64| st_min(us * 1_000);
        assert_eq!([0, 100, 150, 900].map(sent), [0, 0xf1, 0xf2, 0xf9]);
        assert_eq!([1_000, 1_100, 127_000, 500_000].map(sent), [1, 2, 127, 127]);
    }
}
