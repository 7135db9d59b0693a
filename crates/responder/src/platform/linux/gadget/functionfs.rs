//! FunctionFS: the descriptors that are written to endpoint 0 before anything else, the events that
//! come from there, and the endpoints' files (Documentation/usb/functionfs.rst, linux/usb/functionfs.h).
//!
//! Written here and not by the `usb-gadget` crate, which leaves the packet size of full-speed
//! endpoints zero for the kernel to fill in: it does so for bulk endpoints only.

use super::os_descriptors;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};
use rustix::ioctl::{Getter, ioctl, opcode};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wiregauge_link::usbtmc;

/// What an interface's two endpoints are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoints {
    /// Bulk IN and OUT.
    Bulk,
    /// Interrupt IN and OUT, polled as often as the bus can.
    Interrupt,
    /// Bulk IN and OUT of a USBTMC interface.
    Tmc,
}

impl Endpoints {
    /// bInterfaceClass, bInterfaceSubClass and bInterfaceProtocol.
    fn class(self) -> [u8; 3] {
        match self {
            Endpoints::Bulk | Endpoints::Interrupt => [VENDOR_CLASS, 0, 0],
            Endpoints::Tmc => [usbtmc::CLASS, usbtmc::SUBCLASS, USB488],
        }
    }

    /// True for an interface of the vendor's class.
    pub fn is_vendor(self) -> bool {
        self.class()[0] == VENDOR_CLASS
    }
}

const DESCRIPTORS_MAGIC_V2: u32 = 3;
const STRINGS_MAGIC: u32 = 2;
/// Descriptors for full, high and super speed follow.
const ALL_SPEEDS: u32 = 1 | 2 | 4;
/// Requests to the device come here too, if the kernel does not know them (`FUNCTIONFS_ALL_CTRL_RECIP`).
const ALL_REQUESTS: u32 = 64;
/// Microsoft OS descriptors follow (`FUNCTIONFS_HAS_MS_OS_DESC`).
const MS_OS: u32 = 8;
const INTERFACE: u8 = 4;
const ENDPOINT: u8 = 5;
const SUPER_SPEED_COMPANION: u8 = 0x30;
const VENDOR_CLASS: u8 = 0xff;
/// bInterfaceProtocol of USBTMC with USB488.
const USB488: u8 = 1;
const ENGLISH: u16 = 0x0409;

/// Packet sizes at full, high and super speed (USB 2.0, 5.7.3 and 5.8.3; USB 3.2, 9.6.7). Interrupt
/// packets at high speed could be 1024 B, which not every controller's memory can hold.
const PACKETS: [u16; 3] = [64, 512, 1024];

/// Packets in a burst at super speed, less one: the most that may be asked for.
const BURST: u8 = 15;

/// What is written to endpoint 0 first: all interfaces at all speeds, and Microsoft OS descriptors of the vendor interfaces
/// with this bcdVersion.
fn descriptors(pairs: &[Endpoints], ms_os_version: u16) -> Vec<u8> {
    let vendor: Vec<u8> = (0..)
        .zip(pairs)
        .filter_map(|(number, pair)| pair.is_vendor().then_some(number))
        .collect();
    let mut body = Vec::new();
    let per_speed = 3 * pairs.len() as u32;
    for count in [per_speed, per_speed, per_speed + 2 * pairs.len() as u32] {
        body.extend_from_slice(&count.to_le_bytes());
    }
    let mut flags = ALL_SPEEDS | ALL_REQUESTS;
    if !vendor.is_empty() {
        flags |= MS_OS;
        body.extend_from_slice(&os_descriptors::count(&vendor).to_le_bytes());
    }
    for (speed, packet) in PACKETS.into_iter().enumerate() {
        for (index, &pair) in pairs.iter().enumerate() {
            let name = match pair {
                Endpoints::Bulk => 1,
                Endpoints::Interrupt => 2,
                Endpoints::Tmc => 3,
            };
            let number = index as u8;
            let [class, subclass, protocol] = pair.class();
            let interface = [9, INTERFACE, number, 0, 2, class, subclass, protocol, name];
            body.extend_from_slice(&interface);
            // The addresses are FunctionFS's own names; the controller gives the real ones.
            for address in [0x80 | (number + 1), number + 1] {
                let [low, high] = packet.to_le_bytes();
                // Interval 1: every frame or microframe.
                let (attributes, interval) = match pair {
                    Endpoints::Bulk | Endpoints::Tmc => (2, 0),
                    Endpoints::Interrupt => (3, 1),
                };
                body.extend_from_slice(&[7, ENDPOINT, address, attributes, low, high, interval]);
                if speed == 2 {
                    let (burst, [low, high]) = match pair {
                        Endpoints::Bulk | Endpoints::Tmc => (BURST, [0, 0]),
                        Endpoints::Interrupt => (0, packet.to_le_bytes()),
                    };
                    body.extend_from_slice(&[6, SUPER_SPEED_COMPANION, burst, 0, low, high]);
                }
            }
        }
    }
    body.extend(os_descriptors::encode(&vendor, ms_os_version));
    let mut all = Vec::with_capacity(12 + body.len());
    for word in [DESCRIPTORS_MAGIC_V2, 12 + body.len() as u32, flags] {
        all.extend_from_slice(&word.to_le_bytes());
    }
    all.extend_from_slice(&body);
    all
}

/// Writes the descriptors with the bcdVersion that this kernel takes.
fn write_descriptors(ep0: &OwnedFd, pairs: &[Endpoints]) -> io::Result<()> {
    let [version, older] = os_descriptors::VERSIONS;
    match write(ep0, &descriptors(pairs, version)) {
        Err(Errno::INVAL) => write(ep0, &descriptors(pairs, older))?,
        written => written?,
    };
    Ok(())
}

/// What is written to endpoint 0 next: the interfaces' names.
fn strings() -> Vec<u8> {
    let names = b"wiregauge bulk\0wiregauge interrupt\0wiregauge USBTMC\0";
    let mut all = Vec::new();
    for word in [STRINGS_MAGIC, 18 + names.len() as u32, 3, 1] {
        all.extend_from_slice(&word.to_le_bytes());
    }
    all.extend_from_slice(&ENGLISH.to_le_bytes());
    all.extend_from_slice(names);
    all
}

/// What the host did to the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It chose the configuration: the endpoints work.
    Enabled,
    /// It took it away again, or was unplugged.
    Disabled,
    /// It asks something of endpoint 0: [`FunctionFs::receive`], [`FunctionFs::send`] or [`FunctionFs::refuse`] follows.
    Request(Setup),
    /// Anything that needs no answer.
    Other,
}

/// A setup packet (USB 2.0, table 9-2). An index of an interface or endpoint is this function's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// bmRequestType.
    pub kind: u8,
    /// bRequest.
    pub request: u8,
    /// wValue.
    pub value: u16,
    /// wIndex.
    pub index: u16,
    /// wLength.
    pub length: u16,
}

impl Setup {
    fn new(bytes: [u8; 8]) -> Setup {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Setup {
            kind: bytes[0],
            request: bytes[1],
            value: word(2),
            index: word(4),
            length: word(6),
        }
    }
}

/// A mounted FunctionFS with its descriptors written. Closed, the gadget leaves its controller.
pub struct FunctionFs {
    ep0: OwnedFd,
    directory: PathBuf,
    is_tmc: bool,
}

impl FunctionFs {
    /// Declares the interfaces.
    pub fn declare(directory: &Path, pairs: &[Endpoints]) -> io::Result<FunctionFs> {
        let ep0 = open(
            directory.join("ep0"),
            OFlags::RDWR | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        write_descriptors(&ep0, pairs)?;
        write(&ep0, &strings())?;
        Ok(FunctionFs {
            ep0,
            directory: directory.into(),
            is_tmc: pairs.contains(&Endpoints::Tmc),
        })
    }

    /// True if it is a USBTMC instrument.
    pub fn is_tmc(&self) -> bool {
        self.is_tmc
    }

    /// Opens an interface's endpoints. Their calls wait for transfers, but not for a host: without
    /// one they fail (EAGAIN).
    pub fn open_pair(&self, index: usize) -> io::Result<Pair> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = |number: usize| {
            let path = self.directory.join(format!("ep{number}"));
            open(path, flags, Mode::empty())
        };
        Ok(Pair {
            in_: file(2 * index + 1)?,
            out: file(2 * index + 2)?,
        })
    }

    /// The next event, if one comes in time.
    pub fn event(&self, at_most: Duration) -> io::Result<Option<Event>> {
        let time = Timespec::try_from(at_most).unwrap_or_default();
        let mut wait = [PollFd::new(&self.ep0, PollFlags::IN)];
        match poll(&mut wait, Some(&time)) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // struct usb_functionfs_event: a control request of 8 bytes, the type, padding.
        let mut event = [0; 12];
        match read(&self.ep0, &mut event) {
            Ok(length) if length == event.len() => {}
            // EIDRM: the host has given up the request before, of which no data stage was taken or given.
            Ok(_) | Err(Errno::INTR | Errno::AGAIN | Errno::IDRM) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        Ok(Some(match event[8] {
            2 => Event::Enabled,
            // Unbound or disabled.
            1 | 3 => Event::Disabled,
            4 => {
                let [kind, request, v0, v1, i0, i1, l0, l1, ..] = event;
                Event::Request(Setup::new([kind, request, v0, v1, i0, i1, l0, l1]))
            }
            _ => Event::Other,
        }))
    }

    /// Takes the data stage of a request OUT; 0 if the host has given it up.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match read(&self.ep0, &mut *into) {
                Ok(length) => return Ok(length),
                Err(Errno::INTR) => {}
                Err(error) => return given_up(error),
            }
        }
    }

    /// Gives the data stage of a request IN.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        loop {
            match write(&self.ep0, bytes) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return given_up(error).map(drop),
            }
        }
    }

    /// Stalls a request: a data stage in the wrong direction does that.
    pub fn refuse(&self, setup: Setup) {
        let _ = if setup.kind & 0x80 != 0 {
            read(&self.ep0, &mut [0; 1])
        } else {
            write(&self.ep0, &[0; 1])
        };
    }
}

/// A host that begins another request, resets the device or leaves gives up the one before. The kernel reports EIDRM if
/// the data stage had not begun; if it had, the controller's driver says how it ended: ECONNRESET or ESHUTDOWN,
/// EOVERFLOW in dummy_hcd, EPROTO in net2280.
fn given_up(error: Errno) -> io::Result<usize> {
    match error {
        Errno::IDRM | Errno::SHUTDOWN | Errno::CONNRESET | Errno::NODEV | Errno::AGAIN => Ok(0),
        Errno::OVERFLOW | Errno::PROTO => Ok(0),
        error => Err(error.into()),
    }
}

/// The endpoints of one interface. IN and OUT are the host's.
pub struct Pair {
    /// Written here.
    pub in_: OwnedFd,
    /// Read here.
    pub out: OwnedFd,
}

impl Pair {
    /// The packet size at the speed that the bus has now; nothing while there is no host.
    pub fn packet(&self) -> io::Result<Option<usize>> {
        // FUNCTIONFS_ENDPOINT_DESC reads a struct usb_endpoint_descriptor, 9 bytes.
        const ENDPOINT_DESC: rustix::ioctl::Opcode = opcode::read::<[u8; 9]>(b'g', 130);
        // SAFETY: the opcode says what the kernel writes: nine bytes.
        let descriptor = unsafe { ioctl(&self.out, Getter::<ENDPOINT_DESC, [u8; 9]>::new()) };
        match descriptor {
            // The size is in the low 11 bits (USB 2.0, 9.6.6).
            Ok(found) => match u16::from_le_bytes([found[4], found[5]]) & 0x7ff {
                0 => Err(io::Error::other("an endpoint without a packet size")),
                bytes => Ok(Some(bytes.into())),
            },
            Err(Errno::AGAIN | Errno::NODEV | Errno::INTR | Errno::SHUTDOWN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of so many descriptors, by walking them, and what is behind them.
    fn kinds(mut rest: &[u8], count: u32) -> (Vec<u8>, &[u8]) {
        let kinds = (0..count).map(|_| {
            let kind = rest[1];
            rest = &rest[usize::from(rest[0])..];
            kind
        });
        (kinds.collect(), rest)
    }

    #[test]
    fn descriptors_are_as_many_and_as_long_as_their_head_says() {
        for (pairs, vendor) in [
            (&[Endpoints::Bulk][..], &[0][..]),
            (
                &[Endpoints::Bulk, Endpoints::Interrupt, Endpoints::Bulk],
                &[0, 1, 2],
            ),
            (&[Endpoints::Tmc], &[]),
        ] {
            let all = descriptors(pairs, 0x0100);
            let word = |at: usize| u32::from_le_bytes(all[at..at + 4].try_into().unwrap());
            assert_eq!(word(4) as usize, all.len());
            let has_ms_os = word(8) & MS_OS != 0;
            assert_eq!(has_ms_os, !vendor.is_empty());
            let heads = if has_ms_os { 28 } else { 24 };
            let count = word(12) + word(16) + word(20);
            let (kinds, behind) = kinds(&all[heads..], count);
            assert_eq!(behind, os_descriptors::encode(vendor, 0x0100));
            if has_ms_os {
                assert_eq!(word(24), os_descriptors::count(vendor));
            }
            let companions = kinds.iter().filter(|&&kind| kind == SUPER_SPEED_COMPANION);
            assert_eq!(companions.count(), 2 * pairs.len());
        }
    }

    #[test]
    fn strings_are_as_long_as_their_head_says() {
        let all = strings();
        assert_eq!(
            u32::from_le_bytes(all[4..8].try_into().unwrap()) as usize,
            all.len()
        );
        assert_eq!(all[18..].iter().filter(|&&byte| byte == 0).count(), 3);
    }
}
