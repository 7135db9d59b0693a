//! Serves one peer over a byte stream until it leaves. What it holds is bounded: a peer that does not
//! take what is sent to it is not read from, and no data is made for it.

use super::bus_stream;
use super::device::{Device, DeviceConfig};
use super::streams::Pull;
use super::trace::Trace;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::Link;
use wiregauge_link::host::{self, Clock};

/// Bytes read at once.
const READ: usize = 64 << 10;

/// How long a wait lasts at most before the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How long it waits at first for a peer that takes nothing. Not as long as [`LOOK`]: a
/// pseudo-terminal does not always tell that there is room again.
const RETRY: Duration = Duration::from_millis(1);

/// How long a device that holds as many answers as it may waits before it looks again.
const FULL: Duration = Duration::from_micros(200);

/// How often a source that could go on sending looks for requests.
const SOURCE_LOOK_NS: u64 = 500_000;

/// Serves one peer as a device of its own.
pub(super) fn serve_one(
    link: &mut dyn Link,
    config: &DeviceConfig,
    clock: Clock,
    trace: Option<Trace>,
    stop: &AtomicBool,
) -> io::Result<()> {
    if let Some(usb) = config.model.usb() {
        return bus_stream::serve(link, config, usb, clock, trace, stop);
    }
    host::use_precise_timers();
    serve(link, &mut Device::new(config.clone(), clock), clock, stop)
}

/// Serves until the peer leaves, the device disconnects itself, or the stop flag is raised.
pub fn serve(
    link: &mut dyn Link,
    device: &mut Device,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut input: Vec<u8> = Vec::with_capacity(READ);
    let mut ready: Vec<u8> = Vec::new();
    let mut sent = 0;
    let mut buffer = vec![0; READ];
    let mut looked_ns = 0;
    let mut nudge = RETRY;
    while !stop.load(Ordering::Relaxed) {
        if device.next_due_ns().is_some() {
            let now = clock.now();
            while let Some(answer) = device.pop_due(now) {
                ready.extend_from_slice(&answer);
            }
        }
        // One transfer of a source is one write, and it is made when the one before is written.
        let mut source_due = None;
        if let (true, Some(room)) = (ready.is_empty(), device.source_bytes()) {
            let now = clock.now();
            if let Pull::NextAt(at) = device.pull(now, room, &mut ready) {
                source_due = Some(at);
            }
        }
        if sent < ready.len() {
            let taken = link.send(&ready[sent..])?;
            sent += taken;
            nudge = match taken {
                0 => (2 * nudge).min(LOOK),
                _ => RETRY,
            };
        }
        if sent == ready.len() {
            // What was left of a transfer has gone: the next one may be due at once.
            let go_on = !ready.is_empty() && source_due.is_none();
            ready.clear();
            sent = 0;
            if device.is_gone() {
                return Ok(());
            }
            if go_on && device.source_bytes().is_some() {
                continue;
            }
            if let Some(at) = source_due {
                let now = clock.now();
                if at <= now && now - looked_ns < SOURCE_LOOK_NS {
                    continue;
                }
                looked_ns = now;
            }
        }
        if !input.is_empty() && device.has_room(ready.len()) {
            take(device, &mut input, clock.now(), &mut ready);
            if !ready.is_empty() {
                continue;
            }
        }
        let due = [
            device.next_due_ns(),
            source_due.filter(|_| ready.is_empty()),
        ];
        let due = due.into_iter().flatten().min();
        let received = if !device.has_room(ready.len()) {
            // Reading on would hold ever more: the peer must take its answers first.
            std::thread::sleep(FULL);
            0
        } else if let Some(left) = full_for(device, clock) {
            // A sink that is slower than its peer leaves the data where it is.
            let due = due.map_or(LOOK, |due| Duration::from_nanos(due - due.min(clock.now())));
            let most = if ready.is_empty() { LOOK } else { FULL };
            std::thread::sleep(left.min(due).min(most));
            0
        } else if !input.is_empty() && device.takes_more_ns().is_some() {
            // Its time has come since it was asked: first what is here. The peer may have sent all
            // that it has, and wait for the answer.
            0
        } else if due.is_none() && ready.is_empty() {
            link.receive_blocking(&mut buffer)?
        } else {
            let now = clock.now();
            let left = due.map_or(LOOK, |due| Duration::from_nanos(due.saturating_sub(now)));
            let most = if ready.is_empty() { LOOK } else { nudge };
            if !left.is_zero() {
                link.wait(!ready.is_empty(), left.min(most))?;
            }
            link.receive(&mut buffer)?
        };
        if received == 0 {
            continue;
        }
        let now = clock.now();
        if input.is_empty() {
            let used = device.take_stream(&buffer[..received], now, &mut ready);
            input.extend_from_slice(&buffer[used..received]);
        } else {
            input.extend_from_slice(&buffer[..received]);
            take(device, &mut input, now, &mut ready);
        }
    }
    Ok(())
}

/// How long the device takes no data, if it does not.
fn full_for(device: &Device, clock: Clock) -> Option<Duration> {
    match device.full_until_ns() {
        0 => None,
        until => until.checked_sub(clock.now()).filter(|left| *left > 0),
    }
    .map(Duration::from_nanos)
}

fn take(device: &mut Device, input: &mut Vec<u8>, now: u64, ready: &mut Vec<u8>) {
    let used = device.take_stream(input, now, ready);
    input.drain(..used);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams_tests::{device, end, on, start};
    use crate::{Faults, Model};
    use std::collections::VecDeque;
    use wiregauge_link::limits::Bus;
    use wiregauge_wire as wire;
    use wiregauge_wire::{Kind, StreamReport};

    /// A peer that has sent all it ever sends; the responder receives it piece by piece, the first
    /// one at once and the others when the first is answered.
    struct Peer {
        pieces: VecDeque<Vec<u8>>,
        /// Pieces that are there without waiting.
        at_hand: usize,
        answers: Vec<u8>,
        /// The responder waited for more before it had answered everything.
        starved: bool,
        /// Looks for the last piece that did not wait for it.
        vain_looks: usize,
    }

    impl Peer {
        fn new(pieces: &[&[u8]], at_hand: usize) -> Peer {
            Peer {
                pieces: pieces.iter().map(|piece| piece.to_vec()).collect(),
                at_hand,
                answers: Vec::new(),
                starved: false,
                vain_looks: 0,
            }
        }

        fn give(&mut self, into: &mut [u8]) -> usize {
            let piece = self.pieces.pop_front().unwrap_or_default();
            self.at_hand = self.at_hand.saturating_sub(1);
            into[..piece.len()].copy_from_slice(&piece);
            piece.len()
        }

        /// The report that the END was answered with.
        fn report(&self) -> Option<StreamReport> {
            let report = self.answers.len().checked_sub(wire::STREAM_REPORT)?;
            StreamReport::decode(&self.answers[report..])
        }
    }

    impl Link for Peer {
        fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.answers.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let answered = !self.answers.is_empty();
            if self.at_hand == 0 || (self.at_hand == 1 && !answered) {
                self.vain_looks += usize::from(answered && !self.pieces.is_empty());
                return Ok(0);
            }
            Ok(self.give(into))
        }

        fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.pieces.is_empty() {
                self.starved = self.answers.len() <= wire::RESPONSE_HEADER;
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(self.give(into))
        }

        fn set_receive_timeout(&mut self, _timeout: Option<Duration>) -> io::Result<bool> {
            Ok(true)
        }

        fn wait(&mut self, _or_writable: bool, _at_most: Duration) -> io::Result<()> {
            Ok(())
        }

        fn close(&mut self) {}

        fn reopen(&mut self, _is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<()> {
            Ok(())
        }
    }

    fn served(peer: &mut Peer, model: Model) {
        let mut device = device(model, Faults::default());
        let served = serve(peer, &mut device, Clock::start(), &AtomicBool::new(false));
        assert_eq!(served.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    fn data(bytes: usize) -> Vec<u8> {
        let mut data = vec![0; bytes];
        wire::fill_stream(0, &mut data);
        data
    }

    #[test]
    fn a_modelled_sink_takes_all_that_is_in_hand_before_it_waits_for_its_peer() {
        let busy = Model {
            service_ns: 5_000,
            ..Model::default()
        };
        for model in [on(Bus::FullSpeed), busy] {
            let all = [data(3000), end(Kind::Sink, 2)].concat();
            let mut peer = Peer::new(&[&start(Kind::Sink, 1, 1), &all], 2);
            served(&mut peer, model);
            assert!(!peer.starved, "waited with input in hand: {model:?}");
            assert_eq!(peer.report().unwrap().counts().right(), 3000);
        }
    }

    #[test]
    fn a_sink_that_has_half_of_an_order_waits_for_the_rest_of_it_and_does_not_spin() {
        let (order, all) = (end(Kind::Sink, 2), data(300));
        let all = [&all[..], &order[..20]].concat();
        let pieces: [&[u8]; 3] = [&start(Kind::Sink, 1, 1), &all, &order[20..]];
        let mut peer = Peer::new(&pieces, 2);
        served(&mut peer, on(Bus::FullSpeed));
        assert_eq!(peer.report().unwrap().counts().right(), 300);
        assert_eq!(peer.vain_looks, 0);
    }
}
