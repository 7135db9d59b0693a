//! Exchanges over a pair of endpoints: IN transfers are always pending, OUT transfers are queued
//! without waiting. What is sent after the answer has come back (the buffer for a later answer)
//! is sent while the device works on the next request, so that it stands in no RTT.

use super::address::UsbAddress;
use super::claim::Claim;
use super::detail;
use super::flow::{InFlow, OutFlow};
use super::pipe::Pipe;
use super::{choose::Choice, find};
use crate::error::{LinkError, LinkErrorKind};
use crate::flow::{FlowShape, Flows, ORDER_BYTES};
use crate::host::{Helper, UsbPlace, Woken};
use crate::{Link, MAX_WAIT, closed, platform};
use nusb::transfer::{Buffer, BulkOrInterrupt, In, Out};
use std::io;
use std::task::Waker;
use std::time::{Duration, Instant};
use wiregauge_record::{BusLimit, LinkDetail, Point};

/// Name of the library's thread.
pub const HELPER: &str = "nusb-events";

/// IN transfers pending before the sizes are known, of one packet each: a device that ends no answer
/// with an empty packet is understood all the same.
const UNKNOWN_TRANSFERS: usize = 16;

/// Bytes that a request may have before the sizes are known (HELLO has 104).
const UNKNOWN_OUT: usize = 4096;

/// Transfers pending in one direction at most. More outstanding requests wait in the link.
const MOST_TRANSFERS: usize = 256;

/// Bytes pending in one direction at most: with both, half of what usbfs gives all programs (16 MB).
const MOST_BYTES: usize = 4 << 20;

/// One transfer's bytes at most, unless the packets of an answer cannot be divided evenly.
const MOST_TRANSFER: usize = 1 << 20;

/// A link over endpoints of one kind.
pub struct UsbLink<T: BulkOrInterrupt> {
    address: UsbAddress,
    name: String,
    open: Option<Open<T>>,
    detail: LinkDetail,
    limit: Option<BusLimit>,
    place: Option<UsbPlace>,
    helper: Option<Helper>,
    /// The library's thread can only run if this one yields.
    yields: bool,
    receive_timeout: Option<Duration>,
    sizes: Option<Sizes>,
    /// Stalls before the link was last closed.
    stalls_before: u64,
}

/// What the transfers are laid out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of a request; 0 while they are not known.
    request: usize,
    out_transfers: usize,
    out_bytes: usize,
    in_transfers: usize,
    in_bytes: usize,
}

/// The order matters: transfers are cancelled before the interface is released.
struct Open<T: BulkOrInterrupt> {
    in_: Pipe<T, In>,
    out: Pipe<T, Out>,
    /// Received, and how much of it was handed over.
    arrived: Option<(Buffer, usize)>,
    /// Handed over whole, to be submitted again.
    spent: Option<Buffer>,
    /// The transfers are laid out and IN is pending.
    armed: bool,
    zlp: bool,
    _claim: Claim,
}

impl<T: BulkOrInterrupt> UsbLink<T> {
    /// A link over what was claimed.
    pub fn new(
        address: UsbAddress,
        name: String,
        claim: Claim,
        choice: &Choice,
        detail: LinkDetail,
    ) -> Result<Self, LinkError> {
        let limit = detail::limit(claim.identity(), choice);
        let place = claim
            .identity()
            .place(choice.in_.address, choice.out.address);
        let open = Open::new(claim, choice, &address, &name)?;
        let helper = Helper::named(HELPER);
        let yields = helper.is_some_and(|helper| !helper.outrank_caller());
        Ok(UsbLink {
            address,
            name,
            open: Some(open),
            detail,
            limit,
            place,
            helper,
            yields,
            receive_timeout: Some(MAX_WAIT),
            sizes: None,
            stalls_before: 0,
        })
    }

    /// The open link with its transfers laid out and IN pending.
    #[inline]
    fn armed(&mut self) -> io::Result<&mut Open<T>> {
        let sizes = self.sizes;
        let open = self.open.as_mut().ok_or_else(closed)?;
        if !open.armed {
            open.arm(sizes)?;
        }
        Ok(open)
    }
}

impl<T: BulkOrInterrupt> Open<T> {
    fn new(
        claim: Claim,
        choice: &Choice,
        address: &UsbAddress,
        name: &str,
    ) -> Result<Self, LinkError> {
        let doing = format!("cannot open {name}");
        let interface = claim.interface();
        let failed = |error: nusb::Error| {
            LinkError::new(LinkErrorKind::Io, doing.clone(), error.to_string())
        };
        let in_ = interface
            .endpoint::<T, In>(choice.in_.address)
            .map_err(failed)?;
        let out = interface
            .endpoint::<T, Out>(choice.out.address)
            .map_err(failed)?;
        Ok(Open {
            in_: Pipe::new(in_, claim.identity().clone()),
            out: Pipe::new(out, claim.identity().clone()),
            arrived: None,
            spent: None,
            armed: false,
            zlp: address.settings.zlp.unwrap_or(true),
            _claim: claim,
        })
    }

    /// Lays the transfers out and asks for answers.
    fn arm(&mut self, sizes: Option<Sizes>) -> io::Result<()> {
        let packet = self.in_.packet_bytes();
        let sizes = sizes.unwrap_or(Sizes {
            request: 0,
            out_transfers: 2,
            out_bytes: UNKNOWN_OUT,
            in_transfers: UNKNOWN_TRANSFERS,
            in_bytes: packet,
        });
        let bytes = sizes.in_transfers * sizes.in_bytes + sizes.out_transfers * sizes.out_bytes;
        platform::usb::check_memory(bytes as u64)?;
        self.disarm()?;
        self.out.lay_out(sizes.out_transfers, sizes.out_bytes);
        self.in_.lay_out(sizes.in_transfers, sizes.in_bytes);
        self.in_.submit_all();
        self.armed = true;
        Ok(())
    }

    /// Takes all transfers back. What comes after the end of a point answers nothing.
    fn disarm(&mut self) -> io::Result<()> {
        self.armed = false;
        if let Some((buffer, _)) = self.arrived.take() {
            self.in_.give_back(buffer);
        }
        if let Some(buffer) = self.spent.take() {
            self.in_.give_back(buffer);
        }
        self.in_.cancel(|_| {})?;
        self.out.cancel(|_| {})
    }

    /// Asks again with a buffer that was handed over.
    #[inline]
    fn ask_again(&mut self) {
        if let Some(buffer) = self.spent.take() {
            self.in_.submit(buffer, self.in_.buffer_bytes());
        }
    }

    /// True if something has arrived; otherwise the waker is called when it does.
    #[inline]
    fn look(&mut self, waker: &Waker) -> io::Result<bool> {
        if self.arrived.is_some() {
            return Ok(true);
        }
        self.ask_again();
        loop {
            let Some(ended) = self.in_.poll(waker)? else {
                return Ok(false);
            };
            if ended.bytes > 0 {
                self.arrived = Some((ended.buffer, 0));
                return Ok(true);
            }
            // An empty packet, or what a stall left: nothing but a buffer to ask again with.
            self.in_.submit(ended.buffer, self.in_.buffer_bytes());
        }
    }

    /// Hands over what has arrived.
    #[inline]
    fn hand_over(&mut self, into: &mut [u8]) -> usize {
        let Some((buffer, at)) = &mut self.arrived else {
            return 0;
        };
        let count = into.len().min(buffer.len() - *at);
        into[..count].copy_from_slice(&buffer[*at..*at + count]);
        *at += count;
        if *at == buffer.len() {
            self.spent = self.arrived.take().map(|(buffer, _)| buffer);
        }
        count
    }
}

impl Sizes {
    /// For the exchanges of a point over endpoints with packets of these sizes.
    pub fn of(point: Point, in_packet: usize) -> Sizes {
        let request = point.out_bytes as usize;
        let depth = point.depth as usize;
        let in_bytes = in_transfer(point.in_bytes as usize, in_packet);
        // Every answer may be one transfer, and some more let the next ones begin while the last
        // are handed over.
        let parts = (point.in_bytes as usize).div_ceil(in_bytes);
        let in_transfers = (parts * depth + depth / 2 + 2).clamp(4, MOST_TRANSFERS);
        Sizes {
            request,
            out_transfers: (depth + 1)
                .min(MOST_TRANSFERS)
                .min(MOST_BYTES / request.max(1))
                .max(2),
            out_bytes: request,
            in_transfers: in_transfers.min(MOST_BYTES / in_bytes).max(2),
            in_bytes,
        }
    }
}

/// Bytes of an IN transfer for answers of this size. An answer must end with the end of a transfer
/// even if its last packet is a full one and no empty packet follows; so a large answer is divided
/// into transfers of equal numbers of packets, where that can be.
fn in_transfer(answer: usize, packet: usize) -> usize {
    let packets = answer.max(1).div_ceil(packet);
    let most = (MOST_TRANSFER / packet).max(1);
    if packets <= most {
        return packets * packet;
    }
    let least = most / 16;
    (least.max(1)..=most)
        .rev()
        .find(|part| packets.is_multiple_of(*part))
        .map_or(packets * packet, |part| part * packet)
}

impl<T: BulkOrInterrupt + 'static> Link for UsbLink<T> {
    fn prepare(&mut self, point: Point) -> io::Result<()> {
        let Some(open) = self.open.as_mut() else {
            return Ok(());
        };
        let sizes = Sizes::of(point, open.in_.packet_bytes());
        if self.sizes != Some(sizes) || !open.armed {
            self.sizes = Some(sizes);
            open.arm(self.sizes)?;
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let request = self.sizes.map_or(0, |sizes| sizes.request);
        let open = self.armed()?;
        let packet = open.out.packet_bytes();
        let room = open.out.buffer_bytes();
        // Each request is a transfer of its own. What has another size (HELLO) goes whole.
        let unit = match request {
            0 => bytes.len(),
            request if bytes.len().is_multiple_of(request) => request,
            _ => bytes.len(),
        };
        // Larger than a buffer: in parts of whole packets, and no empty packet but at the end.
        let part = match unit <= room {
            true => unit,
            false => room / packet * packet,
        };
        let mut sent = 0;
        while sent < bytes.len() {
            open.out.reap(true, Waker::noop())?;
            if !open.out.has_free() {
                break;
            }
            let left_of_unit = unit - sent % unit;
            let piece = &bytes[sent..sent + part.min(left_of_unit)];
            open.out
                .submit_filled(piece.len(), |to| to.copy_from_slice(piece));
            sent += piece.len();
            if open.zlp && sent.is_multiple_of(unit) && piece.len().is_multiple_of(packet) {
                open.out.reap(false, Waker::noop())?;
                open.out.submit_empty();
            }
        }
        open.ask_again();
        Ok(sent)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let yields = self.yields;
        let open = self.armed()?;
        if !open.look(Waker::noop())? {
            open.out.reap(false, Waker::noop())?;
            if yields {
                std::thread::yield_now();
            }
            return Ok(0);
        }
        Ok(open.hand_over(into))
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
            // What became of the request; its end shall wake nobody.
            open.out.reap(false, Waker::noop())?;
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
            } else {
                open.out.reap(false, Waker::noop())?;
            }
            let Some(left) = at_most.checked_sub(begun.elapsed()) else {
                return Ok(());
            };
            if wake_event.wait(Some(left)) == Woken::Otherwise {
                return Ok(());
            }
        }
    }

    fn close(&mut self) {
        self.stalls_before = self.stalls();
        self.open = None;
    }

    fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
        self.close();
        let doing = format!("cannot open {}", self.name);
        let info = find::find(&self.address.which, &doing)?;
        let (claim, choice) = Claim::take(&info, &self.address.settings, &doing)?;
        self.open = Some(Open::new(claim, &choice, &self.address, &self.name)?);
        Ok(())
    }

    fn flows(&mut self, shape: FlowShape) -> io::Result<Flows<'_>> {
        let helper = self.helper;
        // The next exchange lays its own transfers out again.
        self.sizes = None;
        let open = self.open.as_mut().ok_or_else(closed)?;
        open.disarm()?;
        let packet = open.in_.packet_bytes();
        let wanted = shape.transfer_bytes.max(ORDER_BYTES);
        let in_bytes = wanted.next_multiple_of(packet);
        let both = shape.queue as u64 * (wanted + in_bytes) as u64;
        platform::usb::check_memory(both)?;
        open.in_.lay_out(shape.queue, in_bytes);
        open.out.lay_out(shape.queue, wanted);
        Ok(Flows {
            out: Box::new(OutFlow::new(&mut open.out, helper)),
            in_: Box::new(InFlow::new(&mut open.in_, helper)),
        })
    }

    fn packet_bytes(&self) -> Option<usize> {
        Some(self.open.as_ref()?.in_.packet_bytes())
    }

    fn stalls(&self) -> u64 {
        let open = self.open.as_ref();
        self.stalls_before + open.map_or(0, |open| open.in_.stalls() + open.out.stalls())
    }

    fn usb_place(&self) -> Option<UsbPlace> {
        self.place
    }

    fn detail(&self) -> LinkDetail {
        let mut detail = self.detail.clone();
        if let Some(open) = &self.open {
            let copies = match open.in_.is_zero_copy() && open.out.is_zero_copy() {
                true => "mapped, no copy",
                false => "copied by the kernel",
            };
            detail.settings.push(("USB buffers".into(), copies.into()));
        }
        detail
    }

    fn limit(&self) -> Option<BusLimit> {
        self.limit.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(out_bytes: u32, in_bytes: u32, depth: u32) -> Sizes {
        let point = Point {
            index: 0,
            out_bytes,
            in_bytes,
            depth,
            link: 0,
            together: false,
        };
        Sizes::of(point, 512)
    }

    #[test]
    fn an_answer_is_asked_for_in_whole_packets() {
        assert_eq!(in_transfer(1, 512), 512);
        assert_eq!(in_transfer(512, 512), 512);
        assert_eq!(in_transfer(513, 64), 576);
        assert_eq!(in_transfer(0, 8), 8);
    }

    #[test]
    fn a_large_answer_ends_with_the_end_of_a_transfer() {
        for answer in [1 << 20, 2 << 20, 3_000_000, 16 << 20] {
            let transfer = in_transfer(answer, 512);
            let whole = answer.next_multiple_of(512);
            assert_eq!(whole % transfer, 0, "{answer} in transfers of {transfer}");
        }
    }

    #[test]
    fn more_transfers_are_pending_than_answers_are_awaited() {
        for depth in [1, 2, 32, 100] {
            let sizes = sizes(64, 4096, depth);
            assert!(sizes.in_transfers > depth as usize, "{sizes:?}");
            assert!(sizes.out_transfers > depth as usize, "{sizes:?}");
        }
    }

    #[test]
    fn what_is_pending_stays_within_what_usbfs_gives() {
        for depth in [1, 32, 4096] {
            for bytes in [1, 65_536, 1 << 20] {
                let sizes = sizes(bytes, bytes, depth);
                let both =
                    sizes.in_transfers * sizes.in_bytes + sizes.out_transfers * sizes.out_bytes;
                assert!(both <= 16 << 20, "{sizes:?}");
            }
        }
    }
}
