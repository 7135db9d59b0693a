//! What every opened link can do.

use crate::flow::{FlowShape, Flows};
use crate::host::UsbPlace;
use crate::platform::stamps::Stamps;
use std::io;
use std::time::Duration;
use wiregauge_record::{BusLimit, CanCounts, IsochronousCounts, LinkDetail, Point, Way};

/// The most that one device takes, where it is less than its kind allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// Bytes of a request.
    pub out_bytes: u32,
    /// Bytes of a response.
    pub in_bytes: u32,
    /// Requests outstanding.
    pub outstanding: u32,
    /// What holds a request or response, such as `report`.
    pub unit: &'static str,
}

/// One opened way to one device. Called from one thread. Nothing here allocates once it is open.
pub trait Link: Send {
    /// Told the sizes of the exchanges that follow, before the first of a point; nothing is
    /// outstanding. A kind that keeps receives pending lays them out.
    fn prepare(&mut self, _point: Point) -> io::Result<()> {
        Ok(())
    }

    /// Hands over as many bytes as the system takes now, without waiting; 0 if it takes none. A
    /// datagram goes whole or not at all.
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Receives without waiting; 0 if there is nothing. A device that has closed the link is an
    /// error of kind `UnexpectedEof`.
    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize>;

    /// Receives, sleeping in the system call until there is something, a signal comes, or the
    /// timeout set by [`Link::set_receive_timeout`] is over; in the last two cases 0.
    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize>;

    /// How long `receive_blocking` sleeps at most; at first [`crate::MAX_WAIT`]. `None` lets it sleep
    /// until a signal comes and spares the kernel a timer for each receive. Returns false where
    /// the kind cannot wait that short a time in the call itself (a tty counts tenths of seconds):
    /// then [`Link::wait`] must be used.
    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool>;

    /// Sleeps until there is something to receive, or (with `or_writable`) until more can be sent,
    /// or for `at_most`.
    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()>;

    /// Closes the link; a device that serves one client at a time is then free for the next one.
    fn close(&mut self);

    /// Opens the closed link again to the same device. Where that has to wait, `is_interrupted` is
    /// asked every 100 ms (without a receive timeout: whenever a signal comes); once it returns true, the error is
    /// of kind `Interrupted`.
    fn reopen(&mut self, is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()>;

    /// Both directions for a stream of this shape. The link must be open and at rest: nothing sent
    /// that is not answered. An error of kind `Unsupported` says why the link cannot do it (more
    /// than one transfer at once on a socket).
    fn flows(&mut self, _shape: FlowShape) -> io::Result<Flows<'_>> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this kind of link cannot stream",
        ))
    }

    /// False where nothing is at the other end that could be asked: then a stream begins without
    /// orders, OUT is swallowed, and IN is the pattern from its beginning.
    fn has_device(&self) -> bool {
        true
    }

    /// True where the device can only reply: while no request is outstanding, nothing comes, and nothing need be
    /// received.
    fn only_replies(&self) -> bool {
        false
    }

    /// The direction of its data, where it has one only.
    fn only_way(&self) -> Option<Way> {
        None
    }

    /// Bytes of a full packet, where transfers are cut into packets.
    fn packet_bytes(&self) -> Option<usize> {
        None
    }

    /// What this device takes at most, where it is less than the kind allows.
    fn most(&self) -> Option<Most> {
        None
    }

    /// How often an endpoint of it stalled and was cleared so far.
    fn stalls(&self) -> u64 {
        0
    }

    /// What a CAN link has counted since the last [`Link::prepare`].
    fn can_counts(&mut self) -> Option<CanCounts> {
        None
    }

    /// What became of the packets since [`Link::flows`] was last called, if its transfers are isochronous.
    fn isochronous(&self) -> Option<IsochronousCounts> {
        None
    }

    /// Where the device is on USB, if the link's bytes pass through two endpoints there.
    fn usb_place(&self) -> Option<UsbPlace> {
        None
    }

    /// Requests time stamps of the kernel for each request and response from now on; what is read from it are
    /// those times. An error of kind `Unsupported` on a link that has none.
    fn stamp(&mut self) -> io::Result<Stamps> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Settings worth keeping with the run.
    fn detail(&self) -> LinkDetail {
        LinkDetail::default()
    }

    /// What the medium can carry, where it is known from this end; `used` is left 0.
    fn limit(&self) -> Option<BusLimit> {
        None
    }
}

/// The error of a link whose other end closed it.
pub(crate) fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the device closed the link")
}
