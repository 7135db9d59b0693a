//! An instrument without a kernel driver in between: its bulk endpoints through `nusb`. A message and the request for its
//! reply are queued at once, so that the reply comes without a turn of this thread in between.

use super::class::{Progress, Requests};
use super::errors;
use super::header::{HEADER, Tags, ToInstrument, padding};
use super::incoming::{Incoming, Piece};
use super::interface::{self, CLASS, SUBCLASS};
use crate::error::{LinkError, LinkErrorKind};
use crate::host::{Helper, Woken};
use crate::usb::{self, Choice, Claim, Pipe, Settings, TransferKind, Which};
use crate::{Link, MAX_WAIT, closed};
use nusb::DeviceInfo;
use nusb::transfer::{Buffer, Bulk, In, Out};
use std::io;
use std::ops::Range;
use std::task::Waker;
use std::time::{Duration, Instant};
use wiregauge_record::{BusLimit, LinkDetail, Point};

/// Bytes of a reply that are asked for at once; a longer one is asked for again.
const ASKED: u32 = 1 << 20;

/// Bytes of one IN transfer, and how many there may be at once. A multiple of every packet size.
const IN_BYTES: usize = 64 << 10;
const IN_TRANSFERS: usize = 4;

/// Bytes that a message may have in one OUT transfer before the sizes are known, and how many transfers there may be.
const UNKNOWN_OUT: usize = 4096;
const OUT_TRANSFERS: usize = 4;

/// One OUT transfer's bytes at most; a longer message takes several.
const MOST_OUT: usize = 1 << 20;

/// How long an instrument may take to send what is left of an aborted reply.
const LEFT_OVER: Duration = Duration::from_millis(200);

/// A link over the bulk endpoints.
pub struct BulkLink {
    which: Which,
    settings: Settings,
    name: String,
    open: Option<Open>,
    detail: LinkDetail,
    limit: Option<BusLimit>,
    /// The library's thread can only run if this one yields.
    yields: bool,
    receive_timeout: Option<Duration>,
    /// Bytes of a message.
    message: usize,
    stalls_before: u64,
    /// A reply was due when the link was closed.
    was_due: bool,
}

/// The order matters: transfers are cancelled before the interface is released.
struct Open {
    in_: Pipe<Bulk, In>,
    out: Pipe<Bulk, Out>,
    tags: Tags,
    incoming: Incoming,
    /// Received, and the part that was not handed over.
    arrived: Option<(Buffer, Range<usize>)>,
    /// The last OUT transfer did not end its message.
    is_inside: bool,
    /// A message was sent whose reply is not over.
    is_due: bool,
    /// The request for it was sent: its tag.
    asked: Option<u8>,
    is_armed: bool,
    choice: Choice,
    claim: Claim,
}

impl BulkLink {
    /// Opens the device and takes its interface.
    pub fn open(
        which: Which,
        interface: Option<u8>,
        name: String,
        doing: &str,
    ) -> Result<BulkLink, LinkError> {
        let info = usb::find(&which, doing)?;
        let (interface, is_usb488) = interface_of(&info, interface, doing)?;
        let settings = Settings {
            interface: Some(interface),
            kind: Some(TransferKind::Bulk),
            ..Settings::default()
        };
        let mut open = Open::new(&info, &settings, doing)?;
        open.clear()
            .map_err(|error| LinkError::from_io(doing, &error))?;
        let identity = open.claim.identity();
        let mut detail = usb::detail(&info, &open.choice, identity);
        let kind = interface::kind_name(is_usb488);
        detail.settings.push(("instrument".into(), kind));
        let helper = Helper::named(usb::HELPER);
        Ok(BulkLink {
            limit: usb::limit(identity, &open.choice),
            detail,
            which,
            settings,
            name,
            open: Some(open),
            yields: helper.is_some_and(|helper| !helper.outrank_caller()),
            receive_timeout: Some(MAX_WAIT),
            message: 0,
            stalls_before: 0,
            was_due: false,
        })
    }

    /// The open link with its buffers laid out.
    #[inline]
    fn armed(&mut self) -> io::Result<&mut Open> {
        let message = self.message;
        let open = self.open.as_mut().ok_or_else(closed)?;
        if !open.is_armed {
            open.arm(message);
        }
        Ok(open)
    }
}

/// The number of the USBTMC interface of a device, and whether it knows USB488.
fn interface_of(
    info: &DeviceInfo,
    wanted: Option<u8>,
    doing: &str,
) -> Result<(u8, bool), LinkError> {
    let mut fitting = info.interfaces().filter(|interface| {
        (interface.class(), interface.subclass()) == (CLASS, SUBCLASS)
            && wanted.is_none_or(|wanted| wanted == interface.interface_number())
    });
    match fitting.next() {
        Some(found) => Ok((found.interface_number(), found.protocol() == 1)),
        None => {
            let names = info.interfaces().map(|one| usb::class_name(one.class()));
            let names: Vec<String> = names.collect();
            Err(errors::no_interface(doing, wanted, &names.join(", ")))
        }
    }
}

impl Open {
    fn new(info: &DeviceInfo, settings: &Settings, doing: &str) -> Result<Open, LinkError> {
        let (claim, choice) = Claim::take(info, settings, doing)?;
        let failed =
            |error: nusb::Error| LinkError::new(LinkErrorKind::Io, doing, error.to_string());
        let interface = claim.interface();
        let in_ = interface.endpoint(choice.in_.address).map_err(failed)?;
        let out = interface.endpoint(choice.out.address).map_err(failed)?;
        let identity = claim.identity();
        Ok(Open {
            in_: Pipe::new(in_, identity.clone()),
            out: Pipe::new(out, identity.clone()),
            tags: Tags::default(),
            incoming: Incoming::default(),
            arrived: None,
            is_inside: false,
            is_due: false,
            asked: None,
            is_armed: false,
            choice,
            claim,
        })
    }

    fn arm(&mut self, message: usize) {
        let room = HEADER + message.clamp(UNKNOWN_OUT, MOST_OUT);
        self.out.lay_out(OUT_TRANSFERS, room + padding(room));
        self.in_.lay_out(IN_TRANSFERS, IN_BYTES);
        self.is_armed = true;
    }

    /// Takes everything back that is under way.
    fn rest(&mut self) -> io::Result<()> {
        self.incoming.give_up();
        self.asked = None;
        self.is_due = false;
        if let Some((buffer, _)) = self.arrived.take() {
            self.in_.give_back(buffer);
        }
        self.in_.cancel(|_| {})
    }

    fn requests(&self) -> Requests<'_> {
        Requests {
            interface: self.claim.interface(),
            number: self.choice.interface,
            bulk_in: self.choice.in_.address,
        }
    }

    /// Empties what an earlier program or exchange left in the instrument. One that does not know this is left as it is.
    fn clear(&mut self) -> io::Result<()> {
        self.rest()?;
        self.is_inside = false;
        self.out.cancel(|_| {})?;
        self.arm(0);
        if !matches!(self.requests().begin_clear(), Ok(true)) {
            return Ok(());
        }
        while let Ok(Progress::ReadFirst) = self.requests().check_clear() {
            if !self.swallow()? {
                break;
            }
        }
        // The specification has the instrument halt it, and the host continue it.
        let _ = self.out.clear_halt();
        Ok(())
    }

    /// Tells the instrument that the reply to the request of this tag is not awaited any more.
    fn abort(&mut self, tag: u8) -> io::Result<()> {
        self.rest()?;
        if !matches!(self.requests().begin_abort(tag), Ok(true)) {
            return Ok(());
        }
        // An aborted transfer ends with a packet that is not full.
        self.swallow()?;
        while let Ok(Progress::ReadFirst) = self.requests().check_abort() {
            if !self.swallow()? {
                break;
            }
        }
        Ok(())
    }

    /// Reads on bulk IN up to a packet that is not full; false if none came in time.
    fn swallow(&mut self) -> io::Result<bool> {
        let (wake_event, waker) = self.in_.wake_event();
        let begun = Instant::now();
        while let Some(left) = LEFT_OVER.checked_sub(begun.elapsed()) {
            wake_event.clear();
            if self.in_.pending() == 0 {
                self.in_.submit_free(IN_BYTES);
            }
            match self.in_.poll(&waker)? {
                Some(ended) => {
                    let is_last = ended.bytes < IN_BYTES;
                    self.in_.give_back(ended.buffer);
                    if is_last {
                        return Ok(true);
                    }
                }
                None => {
                    wake_event.wait(Some(left));
                }
            }
        }
        self.in_.cancel(|_| {})?;
        Ok(false)
    }

    /// Sends as much of a message as there are buffers for; whether these are its last bytes is known by their number.
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_inside && self.is_due {
            match self.asked {
                Some(tag) => self.abort(tag)?,
                None => self.rest()?,
            }
        }
        let room = self.out.buffer_bytes() - HEADER;
        let mut sent = 0;
        while sent < bytes.len() {
            self.out.reap(true, Waker::noop())?;
            if !self.out.has_free() {
                break;
            }
            let piece = &bytes[sent..bytes.len().min(sent + room)];
            sent += piece.len();
            let end = sent == bytes.len();
            let header = ToInstrument::Message {
                tag: self.tags.advance(),
                bytes: piece.len() as u32,
                end,
            };
            self.put(header, piece);
            (self.is_inside, self.is_due) = (!end, end);
        }
        if self.is_due {
            self.ask(Waker::noop())?;
        }
        Ok(sent)
    }

    /// Queues one OUT transfer; there is a free buffer.
    #[inline]
    fn put(&mut self, header: ToInstrument, payload: &[u8]) {
        let used = HEADER + payload.len();
        self.out.submit_filled(used + padding(used), |to| {
            to[..HEADER].copy_from_slice(&header.encode());
            to[HEADER..used].copy_from_slice(payload);
            to[used..].fill(0);
        });
    }

    /// Asks for the reply that is due, once there is a buffer for the request.
    #[inline]
    fn ask(&mut self, waker: &Waker) -> io::Result<()> {
        if !self.is_due || self.asked.is_some() {
            return Ok(());
        }
        self.out.reap(true, waker)?;
        if self.out.has_free() {
            let tag = self.tags.advance();
            let header = ToInstrument::Request {
                tag,
                bytes: ASKED,
                until: None,
            };
            self.put(header, &[]);
            self.asked = Some(tag);
            self.incoming.asked(tag, ASKED);
            self.in_.submit_free(IN_BYTES);
        }
        Ok(())
    }

    /// True if some of a reply has arrived; otherwise the waker is called when it does.
    #[inline]
    fn look(&mut self, waker: &Waker) -> io::Result<bool> {
        if self.arrived.is_some() {
            return Ok(true);
        }
        self.ask(waker)?;
        loop {
            let Some(ended) = self.in_.poll(waker)? else {
                self.out.reap(false, Waker::noop())?;
                return Ok(false);
            };
            let (buffer, bytes) = (ended.buffer, ended.bytes);
            if self.take(buffer, bytes)? {
                return Ok(true);
            }
            self.ask(waker)?;
        }
    }

    /// Takes an IN transfer that is over; true if it has bytes of a reply.
    #[inline]
    fn take(&mut self, buffer: Buffer, bytes: usize) -> io::Result<bool> {
        let piece = self.incoming.take(&buffer[..bytes], bytes < IN_BYTES);
        let range = match piece {
            Ok(Piece::Nothing) => {
                self.in_.submit(buffer, IN_BYTES);
                return Ok(false);
            }
            Ok(Piece::More(range)) => {
                let left = (self.incoming.left() as usize).div_ceil(IN_BYTES);
                for _ in self.in_.pending()..left.min(IN_TRANSFERS - 1) {
                    self.in_.submit_free(IN_BYTES);
                }
                range
            }
            Ok(Piece::Last(range, end)) => {
                self.asked = None;
                self.is_due = !end;
                range
            }
            Err(error) => {
                self.in_.give_back(buffer);
                return Err(errors::broken(error));
            }
        };
        if range.is_empty() {
            self.in_.give_back(buffer);
            return Ok(false);
        }
        self.arrived = Some((buffer, range));
        Ok(true)
    }

    #[inline]
    fn hand_over(&mut self, into: &mut [u8]) -> usize {
        let Some((buffer, range)) = &mut self.arrived else {
            return 0;
        };
        let count = into.len().min(range.len());
        into[..count].copy_from_slice(&buffer[range.start..range.start + count]);
        range.start += count;
        if range.start == range.end
            && let Some((buffer, _)) = self.arrived.take()
        {
            self.in_.give_back(buffer);
            // A transfer longer than the buffers goes on in the one that is free now.
            let left = (self.incoming.left() as usize).div_ceil(IN_BYTES);
            if self.in_.pending() < left.min(IN_TRANSFERS) {
                self.in_.submit_free(IN_BYTES);
            }
        }
        count
    }
}

impl Link for BulkLink {
    fn prepare(&mut self, point: Point) -> io::Result<()> {
        let message = point.out_bytes as usize;
        if let Some(open) = self.open.as_mut()
            && (self.message != message || !open.is_armed)
        {
            open.out.cancel(|_| {})?;
            open.arm(message);
        }
        self.message = message;
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.armed()?.send(bytes)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let yields = self.yields;
        let open = self.armed()?;
        if open.look(Waker::noop())? {
            return Ok(open.hand_over(into));
        }
        if yields {
            std::thread::yield_now();
        }
        Ok(0)
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let receive_timeout = self.receive_timeout;
        let open = self.armed()?;
        let (wake_event, waker) = open.in_.wake_event();
        loop {
            wake_event.clear();
            if open.look(&waker)? {
                return Ok(open.hand_over(into));
            }
            if wake_event.wait(receive_timeout) == Woken::Otherwise {
                return Ok(0);
            }
        }
    }

    fn set_receive_timeout(&mut self, receive_timeout: Option<Duration>) -> io::Result<bool> {
        self.receive_timeout = receive_timeout;
        Ok(true)
    }

    fn wait(&mut self, or_writable: bool, at_most: Duration) -> io::Result<()> {
        let open = self.armed()?;
        let (wake_event, waker) = open.in_.wake_event();
        let begun = Instant::now();
        loop {
            wake_event.clear();
            if open.look(&waker)? {
                return Ok(());
            }
            if or_writable {
                open.out.reap(true, &waker)?;
                if open.out.has_free() {
                    return Ok(());
                }
            }
            let Some(left) = at_most.checked_sub(begun.elapsed()) else {
                return Ok(());
            };
            if wake_event.wait(Some(left)) == Woken::Otherwise {
                return Ok(());
            }
        }
    }

    fn only_replies(&self) -> bool {
        true
    }

    fn close(&mut self) {
        self.stalls_before = self.stalls();
        self.was_due = self.open.as_ref().is_some_and(|open| open.is_due);
        self.open = None;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        let failed = self.open.is_some();
        self.close();
        let doing = format!("cannot open {}", self.name);
        let info = usb::find(&self.which, &doing)?;
        let mut open = Open::new(&info, &self.settings, &doing)?;
        if failed || self.was_due {
            open.clear()?;
            open.is_armed = false;
        }
        self.open = Some(open);
        Ok(())
    }

    fn stalls(&self) -> u64 {
        let open = self.open.as_ref();
        self.stalls_before + open.map_or(0, |open| open.in_.stalls() + open.out.stalls())
    }

    fn detail(&self) -> LinkDetail {
        self.detail.clone()
    }

    fn limit(&self) -> Option<BusLimit> {
        self.limit.clone()
    }
}
