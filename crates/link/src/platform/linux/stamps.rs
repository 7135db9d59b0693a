//! The kernel's time stamps of a socket (SO_TIMESTAMPING): when it handed each request to the network card's driver,
//! and when the last packet of each response came from there.
//!
//! What it puts on the measuring path: `recvmsg` instead of `recv`, and after each receive one more `recvmsg`, of
//! the error queue, in which the stamps of what was sent come back. At depth 1 that one is between exchanges.

use super::socket::{Channel, outcome};
use crate::host::Offset;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::io;
use std::mem::size_of;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Stamps between the measuring thread and whoever takes them.
const ROOM: usize = 1 << 18;

/// Sends that may wait for their stamp.
const MAX_WAITING: usize = 1 << 10;

/// How long the kernel may need to begin to stamp packets; a few milliseconds are usual.
const LONGEST_START: Duration = Duration::from_secs(5);

/// Room for control messages: stamps (three timespec) and the extended error with its address.
const CONTROL: usize = 256;

/// A stamp: by which time so many bytes of a direction had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// CLOCK_REALTIME in nanoseconds.
    pub real_ns: u64,
    /// Bytes since the stamp before of this direction.
    pub bytes: u32,
    /// True of a response, false of a request.
    pub received: bool,
}

/// The taker's end. The times are those of CLOCK_MONOTONIC.
pub struct Stamps {
    stamps: rtrb::Consumer<Stamp>,
    offset: Offset,
    clock_set: u64,
}

impl Stamps {
    /// Takes the stamps so far: direction (true: received), time, bytes. Those of a moment at which the real-time
    /// clock was set are dropped.
    pub fn take(&mut self, mut to: impl FnMut(bool, u64, u32)) {
        let count = self.stamps.slots();
        let offset = Offset::read();
        let is_step = offset.is_step_from(&self.offset);
        if is_step {
            self.offset = offset;
        }
        for _ in 0..count {
            let Ok(stamp) = self.stamps.pop() else { break };
            match is_step {
                true => self.clock_set += 1,
                false => {
                    let at_ns = self.offset.monotonic_ns(stamp.real_ns);
                    to(stamp.received, at_ns, stamp.bytes);
                }
            }
        }
    }

    /// Stamps dropped so far because the real-time clock was set.
    pub fn clock_set(&self) -> u64 {
        self.clock_set
    }
}

/// The measuring thread's end, for one socket after the other.
pub struct Stamper {
    push: rtrb::Producer<Stamp>,
    stream: bool,
    /// Bytes (datagrams) sent on this socket, and those whose stamp has come.
    sent: u32,
    stamped: u32,
    /// Sizes of the datagrams whose stamp has not come.
    sizes: Box<[u32; MAX_WAITING]>,
    /// The kernel stamps packets as long as any socket requests it, and needs a moment to begin: this one requests it
    /// while the others are closed and opened again.
    _keeper: OwnedFd,
}

impl Stamper {
    /// Both ends. `stream`: bytes are counted, not datagrams.
    pub fn new(stream: bool) -> io::Result<(Stamper, Stamps)> {
        let keeper = begin_stamping()?;
        let (push, stamps) = rtrb::RingBuffer::new(ROOM);
        let stamper = Stamper {
            push,
            stream,
            sent: 0,
            stamped: 0,
            sizes: Box::new([0; MAX_WAITING]),
            _keeper: keeper,
        };
        let stamps = Stamps {
            stamps,
            offset: Offset::read(),
            clock_set: 0,
        };
        Ok((stamper, stamps))
    }

    /// Requests the stamps of a new, connected socket.
    pub fn begin(&mut self, channel: &Channel) -> io::Result<()> {
        (self.sent, self.stamped) = (0, 0);
        request(channel.as_fd())
    }

    /// So many bytes were sent in one call.
    #[inline]
    pub fn sent(&mut self, bytes: usize) {
        match self.stream {
            true => self.sent = self.sent.wrapping_add(bytes as u32),
            false => {
                self.sizes[self.sent as usize % MAX_WAITING] = bytes as u32;
                self.sent = self.sent.wrapping_add(1);
            }
        }
    }

    /// Receives like `recv`, keeps the stamp, and takes the stamps of what was sent.
    #[inline]
    pub fn receive(
        &mut self,
        channel: &Channel,
        into: &mut [u8],
        wait: bool,
    ) -> io::Result<Option<usize>> {
        let fd = channel.as_fd();
        let flags = if wait { 0 } else { libc::MSG_DONTWAIT };
        let received = receive_message(fd, into, flags);
        // Also after an empty one: as long as stamps wait, poll returns at once (POLLERR).
        self.take_sent(fd);
        outcome(received.map(|(received, found)| {
            if let Some(real_ns) = found.real_ns {
                self.keep(real_ns, received as u32, true);
            }
            received
        }))
    }

    /// Takes the stamps of what was sent.
    fn take_sent(&mut self, fd: BorrowedFd<'_>) {
        while self.stamped != self.sent {
            match receive_message(fd, &mut [], libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) {
                Ok((_, found)) => {
                    if let (Some(real_ns), Some(last)) = (found.real_ns, found.last) {
                        self.stamp_to(last.wrapping_add(1), real_ns);
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Everything before `end` (a byte, or a datagram) had been sent by then.
    fn stamp_to(&mut self, end: u32, real_ns: u64) {
        let count = end.wrapping_sub(self.stamped);
        // It lies between what was stamped and what was sent, or it is none of this socket's.
        if count == 0 || count > self.sent.wrapping_sub(self.stamped) {
            return;
        }
        let bytes = match self.stream {
            true => count,
            false => (0..count.min(MAX_WAITING as u32))
                .map(|back| self.sizes[end.wrapping_sub(1 + back) as usize % MAX_WAITING])
                .sum(),
        };
        self.stamped = end;
        self.keep(real_ns, bytes, false);
    }

    fn keep(&mut self, real_ns: u64, bytes: u32, received: bool) {
        // If nobody takes them, exchanges are without the times of the kernel.
        let _ = self.push.push(Stamp {
            real_ns,
            bytes,
            received,
        });
    }
}

/// A socket that receives what it sends, after the kernel has begun to stamp that.
fn begin_stamping() -> io::Result<OwnedFd> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(socket.local_addr()?)?;
    socket.set_read_timeout(Some(LONGEST_START))?;
    let fd = OwnedFd::from(socket.try_clone()?);
    request(fd.as_fd())?;
    let begun = Instant::now();
    while begun.elapsed() < LONGEST_START {
        socket.send(&[0])?;
        if receive_message(fd.as_fd(), &mut [0], 0)?
            .1
            .real_ns
            .is_some()
        {
            return Ok(fd);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "the kernel does not stamp what it receives",
    ))
}

fn request(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_SOFTWARE
        | libc::SOF_TIMESTAMPING_TX_SOFTWARE
        | libc::SOF_TIMESTAMPING_RX_SOFTWARE
        | libc::SOF_TIMESTAMPING_OPT_ID
        | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    // SAFETY: the option is a number of this size, which the call copies.
    let set = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of::<libc::c_uint>() as libc::socklen_t,
        )
    };
    match set {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What the control messages said.
#[derive(Default)]
struct Found {
    real_ns: Option<u64>,
    /// The last byte (of a stream) or the datagram that a stamp of the error queue is of.
    last: Option<u32>,
}

/// Aligned as control messages must be.
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

#[inline]
fn receive_message(
    fd: BorrowedFd<'_>,
    into: &mut [u8],
    flags: i32,
) -> rustix::io::Result<(usize, Found)> {
    let mut control = Control([0; CONTROL]);
    let mut part = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    // SAFETY: all zero is a valid header without address, data and control messages.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL as _;
    // SAFETY: the header points to `part`, which describes `into`, and to `control`; all outlive the call.
    let received = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut header, flags) };
    if received < 0 {
        let error = io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    let mut found = Found::default();
    // SAFETY: the kernel filled `header` and the control messages, whose lengths the macros check.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while !message.is_null() {
            let data = libc::CMSG_DATA(message);
            match ((*message).cmsg_level, (*message).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                    let at: libc::timespec = std::ptr::read_unaligned(data.cast());
                    let ns = at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64;
                    found.real_ns = (ns > 0).then_some(ns);
                }
                (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                    let error: libc::sock_extended_err = std::ptr::read_unaligned(data.cast());
                    if error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING {
                        found.last = Some(error.ee_data);
                    }
                }
                _ => {}
            }
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
    }
    Ok((received as usize, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    /// What was stamped: bytes sent, bytes received, and times in order.
    #[derive(Default)]
    struct Seen {
        sent: u64,
        received: u64,
        last_ns: u64,
    }

    fn take(stamps: &mut Stamps, seen: &mut Seen) {
        stamps.take(|received, at_ns, bytes| {
            let count = if received {
                &mut seen.received
            } else {
                &mut seen.sent
            };
            *count += u64::from(bytes);
            assert!(at_ns >= seen.last_ns, "{at_ns} {}", seen.last_ns);
            seen.last_ns = at_ns;
        });
    }

    #[test]
    fn each_byte_of_a_connection_has_a_stamp_in_both_directions() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let near = Channel::new(near.into()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let (mut stamper, mut stamps) = Stamper::new(true).unwrap();
        stamper.begin(&near).unwrap();
        let mut exchange = |stamper: &mut Stamper, bytes: usize| {
            let sent =
                rustix::net::send(&near, &[7; 5000][..bytes], rustix::net::SendFlags::empty());
            stamper.sent(sent.unwrap());
            let mut echo = [0; 5000];
            io::Read::read_exact(&mut far, &mut echo[..bytes]).unwrap();
            io::Write::write_all(&mut far, &echo[..bytes]).unwrap();
            let mut rest = bytes;
            while rest > 0 {
                rest -= stamper
                    .receive(&near, &mut echo[..rest], true)
                    .unwrap()
                    .unwrap();
            }
        };
        let sizes = [1, 16, 1500, 5000];
        sizes
            .iter()
            .for_each(|&bytes| exchange(&mut stamper, bytes));
        let mut seen = Seen::default();
        take(&mut stamps, &mut seen);
        let total = sizes.iter().sum::<usize>() as u64;
        assert_eq!((seen.sent, seen.received), (total, total));
    }

    #[test]
    fn each_datagram_has_a_stamp_of_its_own() {
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        let near = UdpSocket::bind("127.0.0.1:0").unwrap();
        near.connect(far.local_addr().unwrap()).unwrap();
        let near = Channel::new(near.into()).unwrap();
        let (mut stamper, mut stamps) = Stamper::new(false).unwrap();
        stamper.begin(&near).unwrap();
        let exchange = |stamper: &mut Stamper, sizes: &[usize]| {
            let mut buffer = [7; 1000];
            for &bytes in sizes {
                let sent =
                    rustix::net::send(&near, &buffer[..bytes], rustix::net::SendFlags::empty());
                stamper.sent(sent.unwrap());
            }
            for _ in sizes {
                let (bytes, from) = far.recv_from(&mut buffer).unwrap();
                far.send_to(&buffer[..bytes], from).unwrap();
            }
            for &bytes in sizes {
                let received = stamper.receive(&near, &mut buffer, true);
                assert_eq!(received.unwrap(), Some(bytes));
            }
        };
        exchange(&mut stamper, &[10, 200, 1000]);
        let mut sizes = (Vec::new(), Vec::new());
        stamps.take(|received, _, bytes| match received {
            true => sizes.1.push(bytes),
            false => sizes.0.push(bytes),
        });
        assert_eq!(sizes, (vec![10, 200, 1000], vec![10, 200, 1000]));
    }
}
