//! Isochronous transfers of Linux' usbfs: the interface claimed on a file of our own, URBs with a descriptor for each
//! packet. A transfer is one ioctl to submit it and one to take it back, without a thread in between.
//!
//! Everything unsafe is here: a transfer's memory stays in place, untouched, from its submission until the kernel gives
//! it back, and the file is closed (which ends all transfers) before the memory is freed.

use super::super::usbfs::{DISCARD, REAP_NOW, SUBMIT, Urb, read};
use super::accounting::Packet;
use crate::platform::socket::wait_for;
use crate::waiting::Ready;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::io;
use std::time::Duration;
use wiregauge_record::IsochronousOptions;

const MOST_PACKETS: usize = IsochronousOptions::MOST_PACKETS as usize;

/// `USBDEVFS_URB_TYPE_ISO`.
const ISOCHRONOUS: u8 = 0;

/// `struct usbdevfs_iso_packet_desc`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Descriptor {
    length: libc::c_uint,
    actual_length: libc::c_uint,
    status: libc::c_uint,
}

/// `struct usbdevfs_urb` and the descriptors behind it.
#[repr(C)]
struct IsochronousUrb {
    urb: Urb,
    descriptors: [Descriptor; MOST_PACKETS],
}

/// `struct usbdevfs_setinterface`.
#[repr(C)]
struct SetInterface {
    interface: libc::c_uint,
    setting: libc::c_uint,
}

/// `struct usbdevfs_disconnect_claim`.
#[repr(C)]
struct DisconnectClaim {
    interface: libc::c_uint,
    flags: libc::c_uint,
    driver: [u8; 256],
}

/// `struct usbdevfs_ioctl`.
#[repr(C)]
struct DriverIoctl {
    interface: libc::c_int,
    code: libc::c_int,
    data: *mut libc::c_void,
}

/// `USBDEVFS_DISCONNECT_CLAIM_EXCEPT_DRIVER`.
const EXCEPT_DRIVER: libc::c_uint = 2;

/// _IOR('U', 4), _IOR('U', 16, unsigned int), _IOWR('U', 18), _IO('U', 23), _IOR('U', 27).
const SET_INTERFACE: libc::c_ulong = read(4, size_of::<SetInterface>());
const RELEASE_INTERFACE: libc::c_ulong = read(16, size_of::<libc::c_uint>());
const DRIVER_IOCTL: libc::c_ulong = read(18, size_of::<DriverIoctl>()) | 1 << 30;
const CONNECT: libc::c_int = 0x5500 | 23;
const DISCONNECT_CLAIM: libc::c_ulong = read(27, size_of::<DisconnectClaim>());

/// One transfer and its memory.
struct Transfer {
    urb: Box<IsochronousUrb>,
    buffer: Box<[u8]>,
    is_pending: bool,
}

/// A transfer that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which of the file's transfers.
    pub index: usize,
    /// 0, or an error number negated.
    pub status: i32,
}

/// An opened device with a claimed interface and a number of transfers for one endpoint.
pub struct IsochronousFile {
    /// Closed before the memory of the transfers is freed.
    fd: OwnedFd,
    interface: u8,
    packet_bytes: usize,
    transfers: Vec<Transfer>,
}

// SAFETY: the pointers in a URB are into its own transfer's heap memory, which moves with it.
unsafe impl Send for IsochronousFile {}

impl IsochronousFile {
    /// Opens the device node.
    pub fn open(node: &str, interface: u8) -> io::Result<IsochronousFile> {
        let fd = open(node, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        Ok(IsochronousFile {
            fd,
            interface,
            packet_bytes: 1,
            transfers: Vec::new(),
        })
    }

    /// Claims the interface; a driver of the kernel is taken off it, but not another program.
    pub fn claim(&self) -> io::Result<()> {
        let mut claim = DisconnectClaim {
            interface: self.interface.into(),
            flags: EXCEPT_DRIVER,
            driver: [0; 256],
        };
        claim.driver[..5].copy_from_slice(b"usbfs");
        self.control(DISCONNECT_CLAIM, &mut claim)
    }

    /// Selects an alternate setting of the interface.
    pub fn select(&self, setting: u8) -> io::Result<()> {
        let mut set = SetInterface {
            interface: self.interface.into(),
            setting: setting.into(),
        };
        self.control(SET_INTERFACE, &mut set)
    }

    /// Gives the interface back.
    pub fn release(&self) -> io::Result<()> {
        self.control(RELEASE_INTERFACE, &mut libc::c_uint::from(self.interface))
    }

    /// Lets the kernel find a driver for an interface.
    pub fn attach_driver(&self, interface: u8) -> io::Result<()> {
        let mut connect = DriverIoctl {
            interface: interface.into(),
            code: CONNECT,
            data: std::ptr::null_mut(),
        };
        self.control(DRIVER_IOCTL, &mut connect)
    }

    fn control<T>(&self, request: libc::c_ulong, argument: &mut T) -> io::Result<()> {
        // SAFETY: each request above is called with the structure of its definition, which lives through the call.
        let result = unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                request as _,
                std::ptr::from_mut(argument),
            )
        };
        match result {
            0.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Memory for so many transfers over an endpoint, instead of those before; none of those may be pending.
    pub fn lay_out(
        &mut self,
        endpoint: u8,
        transfers: usize,
        transfer_bytes: usize,
        packet_bytes: usize,
    ) {
        assert!(self.pending() == 0, "the caller cancelled the others");
        self.packet_bytes = packet_bytes.max(1);
        let transfer = |index| {
            let mut buffer = vec![0; transfer_bytes].into_boxed_slice();
            let urb = Box::new(IsochronousUrb {
                urb: Urb {
                    kind: ISOCHRONOUS,
                    endpoint,
                    status: 0,
                    // Not USBDEVFS_URB_ISO_ASAP: a packet whose (micro)frame has passed is then reported (EXDEV).
                    flags: 0,
                    buffer: buffer.as_mut_ptr(),
                    buffer_length: 0,
                    actual_length: 0,
                    start_frame: 0,
                    packets_or_stream: 0,
                    error_count: 0,
                    signal: 0,
                    context: index,
                },
                descriptors: [Descriptor::default(); MOST_PACKETS],
            });
            Transfer {
                urb,
                buffer,
                is_pending: false,
            }
        };
        self.transfers = (0..transfers).map(transfer).collect();
    }

    /// Transfers that are pending.
    pub fn pending(&self) -> usize {
        self.transfers.iter().filter(|t| t.is_pending).count()
    }

    /// The memory of a transfer that is not pending, to be filled.
    pub fn buffer(&mut self, index: usize) -> &mut [u8] {
        let transfer = &mut self.transfers[index];
        assert!(!transfer.is_pending, "the caller took it back");
        &mut transfer.buffer
    }

    /// Submits a transfer that is not pending, of so many bytes in packets; the last one may be shorter.
    pub fn submit(&mut self, index: usize, bytes: usize) -> io::Result<()> {
        let transfer = &mut self.transfers[index];
        assert!(!transfer.is_pending, "the caller took it back");
        let packets = bytes.div_ceil(self.packet_bytes);
        if bytes == 0 || bytes > transfer.buffer.len() || packets > MOST_PACKETS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut left = bytes;
        for descriptor in &mut transfer.urb.descriptors[..packets] {
            let length = left.min(self.packet_bytes);
            left -= length;
            *descriptor = Descriptor {
                length: length as libc::c_uint,
                ..Descriptor::default()
            };
        }
        transfer.urb.urb.packets_or_stream = packets as libc::c_uint;
        transfer.urb.urb.buffer_length = bytes as libc::c_int;
        transfer.urb.urb.actual_length = 0;
        // SAFETY: the URB, its descriptors and its buffer, of which no more is used than was checked above, are on the
        // heap, live as long as the file is open, and are not touched until the URB is taken back.
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
        transfer.is_pending = true;
        Ok(())
    }

    /// A transfer that is over, if there is one.
    pub fn reap(&mut self) -> io::Result<Option<Ended>> {
        let mut urb: *mut IsochronousUrb = std::ptr::null_mut();
        // SAFETY: the kernel writes the address of a URB that was submitted to this file.
        let reaped = unsafe { libc::ioctl(self.fd.as_raw_fd(), REAP_NOW as _, &mut urb) };
        if reaped < 0 {
            return match Errno::from_io_error(&io::Error::last_os_error()) {
                Some(Errno::AGAIN | Errno::INTR) => Ok(None),
                _ => Err(io::Error::last_os_error()),
            };
        }
        // SAFETY: it is one of ours, and no longer pending.
        let (index, status) = unsafe { ((*urb).urb.context, (*urb).urb.status) };
        self.transfers[index].is_pending = false;
        Ok(Some(Ended { index, status }))
    }

    /// The packets of a transfer that is over.
    pub fn packets(&self, index: usize) -> impl Iterator<Item = Packet> {
        let urb = &self.transfers[index].urb;
        let count = urb.urb.packets_or_stream as usize;
        urb.descriptors[..count].iter().map(|descriptor| Packet {
            room: descriptor.length,
            bytes: descriptor.actual_length.min(descriptor.length),
            status: descriptor.status as i32,
        })
    }

    /// The data of each packet of a transfer that is over, where it arrived without error.
    pub fn data(&self, index: usize) -> impl Iterator<Item = &[u8]> {
        let rooms = self.transfers[index].buffer.chunks(self.packet_bytes);
        let packets = self.packets(index).zip(rooms);
        let good = packets.filter(|(packet, _)| packet.status == 0 && packet.bytes > 0);
        good.map(|(packet, room)| &room[..packet.bytes as usize])
    }

    /// Asks for all transfers back; they are reaped as usual.
    pub fn discard_all(&mut self) {
        for transfer in self.transfers.iter_mut().filter(|t| t.is_pending) {
            // SAFETY: the URB was submitted to this file; one that is over already is an error.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_of_the_kernel_s() {
        // linux/usbdevice_fs.h on 64 bits: the descriptors begin where struct usbdevfs_urb ends.
        if size_of::<usize>() == 8 {
            assert_eq!(std::mem::offset_of!(IsochronousUrb, descriptors), 56);
            assert_eq!(SET_INTERFACE, 0x8008_5504);
            assert_eq!(DRIVER_IOCTL, 0xc010_5512);
        }
        assert_eq!(size_of::<Descriptor>(), 12);
        assert_eq!(DISCONNECT_CLAIM, 0x8108_551b);
        assert_eq!(RELEASE_INTERFACE, 0x8004_5510);
    }

    #[test]
    fn a_file_that_is_no_usb_device_takes_no_transfer() {
        let mut file = IsochronousFile::open("/dev/null", 0).unwrap();
        file.lay_out(0x81, 2, 400, 192);
        assert!(file.claim().is_err());
        assert!(file.submit(0, 400).is_err());
        assert_eq!(file.pending(), 0, "what was not submitted is free");
        assert!(file.reap().is_err());
    }

    #[test]
    fn a_transfer_is_cut_into_packets_and_its_data_is_what_came_without_error() {
        let mut file = IsochronousFile::open("/dev/null", 0).unwrap();
        file.lay_out(0x81, 1, 500, 192);
        assert!(file.submit(0, 501).is_err(), "larger than its memory");
        let _ = file.submit(0, 500);
        let rooms: Vec<u32> = file.packets(0).map(|packet| packet.room).collect();
        assert_eq!(rooms, [192, 192, 116]);
        assert_eq!(file.data(0).count(), 0);
        for (at, byte) in file.buffer(0).iter_mut().enumerate() {
            *byte = (at / 192) as u8;
        }
        let descriptors = &mut file.transfers[0].urb.descriptors;
        descriptors[0].actual_length = 10;
        (descriptors[1].actual_length, descriptors[1].status) = (192, -84_i32 as u32);
        // More than there was room for is not believed.
        descriptors[2].actual_length = 200;
        let data: Vec<&[u8]> = file.data(0).collect();
        assert_eq!(data, [&[0; 10][..], &[2; 116]]);
    }
}
