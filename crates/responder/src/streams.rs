//! The streams of one device: a sink that checks what comes, a source that makes data when it is
//! due, each at the pace of the model. Virtual time; bytes in, bytes out, nothing is kept.

use super::faults::{FaultInjector, Faulted};
use super::model::{LATE_NS, ModelledDevice};
use std::ops::Range;
use wiregauge_wire as wire;
use wiregauge_wire::{
    Kind, Request, Status, StreamChecker, StreamOrder, StreamReport, Taken, Verb,
};

/// A source on datagrams goes on so long after the last request: nothing else tells it that its
/// host is gone.
const UNHEARD_NS: u64 = 10_000_000_000;

/// Where a source stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pull {
    /// No stream flows to the host.
    Idle,
    /// Ask again at this time. If it is not later than now, only room was missing.
    NextAt(u64),
}

/// What a sink made of bytes.
pub(super) enum Sunk {
    /// So many were taken. If these are not all, it must wait: for the model, or for the rest of a
    /// request.
    Took(usize),
    /// A request stands among them.
    Request {
        header: Request,
        payload: Range<usize>,
    },
}

/// Both streams of a device.
#[derive(Default)]
pub(super) struct Streams {
    sink: Option<Sink>,
    source: Option<Source>,
    sunk: Past,
    sourced: Past,
    /// True once a datagram came.
    pub(super) datagrams: bool,
}

/// What is remembered of a direction.
#[derive(Default)]
struct Past {
    /// Number of the START of the last stream.
    started: Option<u32>,
    report: StreamReport,
}

impl Streams {
    /// Both streams are over, and a START of any number begins a new one.
    pub(super) fn forget(&mut self) {
        self.end(Kind::Sink);
        self.end(Kind::Source);
        self.sunk.started = None;
        self.sourced.started = None;
    }

    /// True if a START of this number begins a stream: it is not one that is repeated.
    pub(super) fn is_new(&self, kind: Kind, sequence: u32) -> bool {
        let past = match kind {
            Kind::Sink => &self.sunk,
            _ => &self.sourced,
        };
        past.started != Some(sequence)
    }

    /// Carries out an order that may be carried out, at `now_ns`.
    pub(super) fn obey(
        &mut self,
        kind: Kind,
        sequence: u32,
        order: &StreamOrder,
        now_ns: u64,
        modelled: Option<&mut ModelledDevice>,
    ) -> Option<StreamReport> {
        let past = match kind {
            Kind::Sink => &mut self.sunk,
            _ => &mut self.sourced,
        };
        match order.verb {
            Verb::End => {
                self.end(kind);
                return Some(match kind {
                    Kind::Sink => self.sunk.report,
                    _ => self.sourced.report,
                });
            }
            Verb::Start if past.started == Some(sequence) => return None,
            Verb::Start => *past = Past::default(),
        }
        past.started = Some(sequence);
        match kind {
            Kind::Sink => self.sink = Some(Sink::new(order, now_ns, modelled)),
            _ => self.source = Some(Source::new(order, now_ns)),
        }
        None
    }

    fn end(&mut self, kind: Kind) {
        match kind {
            Kind::Sink => {
                if let Some(sink) = self.sink.take() {
                    self.sunk.report = sink.end();
                }
            }
            _ => {
                if let Some(source) = self.source.take() {
                    self.sourced.report = source.report;
                }
            }
        }
    }

    /// A request was heard at `now_ns`.
    pub(super) fn heard(&mut self, now_ns: u64) {
        if let Some(source) = &mut self.source {
            source.heard_ns = now_ns;
        }
    }

    /// True if the last transfer before the device leaves is still to be sent.
    pub(super) fn owes(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(|source| source.next.is_some() || source.again)
    }

    /// True while what comes is a stream.
    pub(super) fn is_sinking(&self) -> bool {
        self.sink.is_some()
    }

    /// The sink takes nothing before this time; 0 if it does at any time.
    pub(super) fn full_until_ns(&self, modelled: Option<&ModelledDevice>) -> u64 {
        match (&self.sink, modelled) {
            (Some(sink), Some(model)) => sink.full_until_ns(model),
            _ => 0,
        }
    }

    /// When the sink takes more of what it left; `None` if it left nothing but the beginning of a
    /// request, whose rest has yet to come.
    pub(super) fn takes_more_ns(&self, modelled: Option<&ModelledDevice>) -> Option<u64> {
        let left_data = self.sink.as_ref().is_some_and(|sink| sink.left_data);
        left_data.then(|| self.full_until_ns(modelled))
    }

    /// When all that was taken is in the device.
    pub(super) fn arrived_ns(&self) -> u64 {
        self.sink.as_ref().map_or(0, |sink| sink.done_ns)
    }

    /// Bytes of a transfer of the sink, if there is one.
    pub(super) fn sink_bytes(&self) -> Option<usize> {
        self.sink.as_ref().map(|sink| sink.transfer_bytes as usize)
    }

    /// Bytes of a transfer of the source, if there is one.
    pub(super) fn source_bytes(&self) -> Option<usize> {
        self.source
            .as_ref()
            .map(|source| source.transfer_bytes as usize)
    }

    /// The source's START has been answered for the host to see at this time.
    pub(super) fn answered(&mut self, at_ns: u64) {
        if let Some(source) = &mut self.source
            && source.transfers_begun == 0
        {
            source.wire_ns = source.wire_ns.max(at_ns);
        }
    }

    /// Takes bytes of the stream to the sink, up to a request that stands among them.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        mut modelled: Option<&mut ModelledDevice>,
        mut injector: Option<&mut FaultInjector>,
    ) -> Sunk {
        let Some(sink) = &mut self.sink else {
            return Sunk::Took(0);
        };
        let before = sink.checker.counts().received;
        sink.left_data = false;
        let mut used = 0;
        let sunk = loop {
            if let Some(header) = sink.owed {
                let payload = used..used + header.out_payload as usize;
                let Some(bytes) = bytes.get(payload.clone()) else {
                    break Sunk::Took(used);
                };
                sink.owed = None;
                let order = matches!(header.kind, Kind::Sink | Kind::Source);
                if !order || StreamOrder::decode(bytes).is_some() {
                    break Sunk::Request { header, payload };
                }
                // Bytes of the order were lost, and the next frame may begin in their place.
                continue;
            }
            let rest = &bytes[used..];
            let full = modelled
                .as_deref()
                .is_some_and(|model| sink.full_until_ns(model) > now_ns);
            if full && self.datagrams && used == 0 {
                // What a device has no room for is gone.
                sink.report.overruns += 1;
                return Sunk::Took(bytes.len());
            }
            if rest.is_empty() || (full && !self.datagrams) {
                sink.drained_ns = if full { u64::MAX } else { now_ns };
                sink.left_data = !rest.is_empty();
                break Sunk::Took(used);
            }
            let most = modelled
                .as_deref_mut()
                .map_or(usize::MAX, |model| sink.most_at_once(model));
            let piece = &rest[..rest.len().min(most)];
            let taken = match sink.checker.take::<Request>(piece) {
                Taken::All => piece.len(),
                Taken::Frame { header, used } => {
                    sink.owed = Some(header);
                    used
                }
            };
            used += taken;
            let transfers = sink.carry(taken, now_ns, modelled.as_deref_mut());
            if let Some(injector) = &mut injector {
                (0..transfers).for_each(|_| injector.count_sunk());
                if injector.is_gone() {
                    break Sunk::Took(used);
                }
            }
        };
        if sink.checker.counts().received > before {
            sink.report.transfers += 1;
            let at_ns = sink.done_ns.max(now_ns);
            if before == 0 {
                sink.report.first_ticks = sink.begun_ns.unwrap_or(at_ns);
            }
            sink.report.last_ticks = at_ns;
        }
        sunk
    }

    /// Appends what the source has due, in whole transfers, at most `room` bytes of them.
    pub(super) fn pull(
        &mut self,
        now_ns: u64,
        room: usize,
        ready: &mut Vec<u8>,
        mut modelled: Option<&mut ModelledDevice>,
        mut injector: Option<&mut FaultInjector>,
    ) -> Pull {
        let Some(source) = &mut self.source else {
            return Pull::Idle;
        };
        if self.datagrams && now_ns.saturating_sub(source.heard_ns) > UNHEARD_NS {
            self.end(Kind::Source);
            return Pull::Idle;
        }
        let mut room = room as u64;
        loop {
            if source.next.is_none() && injector.as_ref().is_some_and(|injector| injector.is_gone())
            {
                return Pull::Idle;
            }
            let Some(next) = source.plan(now_ns, &mut modelled, &mut injector) else {
                return Pull::Idle;
            };
            if next.due_ns > now_ns {
                return Pull::NextAt(next.due_ns);
            }
            if next.bytes > room {
                return Pull::NextAt(now_ns);
            }
            room -= next.bytes;
            source.hand_over(next, now_ns, ready);
        }
    }
}

/// A stream from the host.
struct Sink {
    checker: StreamChecker,
    transfer_bytes: u64,
    report: StreamReport,
    /// A request whose header stood in the stream and whose payload has not come.
    owed: Option<Request>,
    /// Bytes of the transfer that is coming, and those of them that filled packets.
    come: u64,
    carried: u64,
    /// Until when the wire and the device are busy with what was taken.
    wire_ns: u64,
    done_ns: u64,
    /// When the wire began with the first byte.
    begun_ns: Option<u64>,
    /// When all that had come was taken; never while more waits.
    drained_ns: u64,
    /// The model was behind when it took last, and data is waiting.
    left_data: bool,
}

impl Sink {
    fn new(order: &StreamOrder, now_ns: u64, modelled: Option<&mut ModelledDevice>) -> Sink {
        let seen_ns = modelled
            .and_then(|model| model.bus().map(|bus| bus.seen_ns(now_ns)))
            .unwrap_or(now_ns);
        Sink {
            checker: StreamChecker::new(),
            transfer_bytes: u64::from(order.transfer_bytes),
            report: StreamReport::default(),
            owed: None,
            come: 0,
            carried: 0,
            wire_ns: seen_ns,
            done_ns: now_ns,
            begun_ns: None,
            drained_ns: now_ns,
            left_data: false,
        }
    }

    fn end(mut self) -> StreamReport {
        let counts = self.checker.finish();
        StreamReport {
            bytes: counts.received,
            lost: counts.lost,
            duplicated: counts.duplicated,
            corrupted: counts.corrupted,
            stray: counts.stray,
            ..self.report
        }
    }

    fn full_until_ns(&self, model: &ModelledDevice) -> u64 {
        self.done_ns
            .max(self.wire_ns)
            .saturating_sub(model.lead_ns())
    }

    /// Bytes that are planned in one go, so that the other direction gets its turn.
    fn most_at_once(&self, model: &mut ModelledDevice) -> usize {
        let left = self.transfer_bytes - self.come;
        let most = model.bus().map_or(left, |bus| bus.frame_bytes().min(left));
        most as usize
    }

    /// Lets so many bytes pass the wire, and the device compute for each transfer; returns how many
    /// transfers were completed.
    fn carry(&mut self, bytes: usize, now_ns: u64, modelled: Option<&mut ModelledDevice>) -> u64 {
        let come = self.come + bytes as u64;
        let (transfers, rest) = (come / self.transfer_bytes, come % self.transfer_bytes);
        self.come = rest;
        let Some(model) = modelled else {
            return transfers;
        };
        // `most_at_once` ends a piece where a transfer ends.
        let to = if transfers > 0 {
            self.transfer_bytes
        } else {
            rest
        };
        match model.bus() {
            // What waited was there when the device became free, however late this was called.
            None => {
                let waited = self.drained_ns == u64::MAX;
                let come_ns = now_ns.saturating_sub(if waited { LATE_NS } else { 0 });
                self.wire_ns = self.wire_ns.max(come_ns);
            }
            Some(bus) => {
                // Only a host that kept the device busy may make use of what has gone by.
                let idle = self.drained_ns.saturating_add(bus.frame_ns()) < now_ns;
                if idle || self.wire_ns + LATE_NS < now_ns {
                    self.wire_ns = self.wire_ns.max(bus.seen_ns(now_ns));
                }
                self.begun_ns.get_or_insert(self.wire_ns);
                let most = bus.packet_bytes();
                while self.carried + most <= to || (transfers > 0 && self.carried < to) {
                    let packet = most.min(to - self.carried);
                    self.wire_ns = bus.carry_packet(now_ns, self.wire_ns, packet);
                    self.carried += packet;
                }
            }
        }
        self.done_ns = self.done_ns.max(self.wire_ns);
        if transfers > 0 {
            self.carried = 0;
            self.done_ns = model.compute(self.wire_ns, 0);
        }
        transfers
    }
}

/// A stream to the host.
struct Source {
    transfer_bytes: u64,
    stop_after: u64,
    /// The first byte of the next transfer.
    position: u64,
    report: StreamReport,
    transfers_begun: u64,
    next: Option<Next>,
    /// The last transfer is to be sent again.
    again: bool,
    heard_ns: u64,
    /// When the wire began with the last transfer, and until when it is busy.
    begun_ns: u64,
    wire_ns: u64,
    /// When a modelled bus began with the first byte.
    first_ns: Option<u64>,
    scratch: Vec<u8>,
}

/// The transfer that is being made or carried.
#[derive(Clone, Copy)]
struct Next {
    bytes: u64,
    fault: Faulted,
    ready_ns: u64,
    carried: u64,
    /// When it is with the host, or when more is known.
    due_ns: u64,
}

impl Source {
    fn new(order: &StreamOrder, now_ns: u64) -> Source {
        Source {
            transfer_bytes: u64::from(order.transfer_bytes),
            stop_after: match order.stop_after {
                0 => u64::MAX,
                bytes => bytes,
            },
            position: 0,
            report: StreamReport::default(),
            transfers_begun: 0,
            next: None,
            again: false,
            heard_ns: now_ns,
            begun_ns: now_ns,
            wire_ns: now_ns,
            first_ns: None,
            scratch: Vec::new(),
        }
    }

    /// The next transfer, as far as it is known at `now_ns`; `None` at the end of the stream.
    fn plan(
        &mut self,
        now_ns: u64,
        modelled: &mut Option<&mut ModelledDevice>,
        injector: &mut Option<&mut FaultInjector>,
    ) -> Option<Next> {
        // What was not used while the host took nothing is gone.
        let earliest_ns = now_ns.saturating_sub(LATE_NS);
        let mut next = match self.next {
            Some(next) => next,
            None => {
                let bytes = self.transfer_bytes.min(self.stop_after - self.position);
                if bytes == 0 {
                    return None;
                }
                let fault = match injector {
                    Some(injector) if !self.again => injector.next(),
                    _ => Faulted::default(),
                };
                let ready_ns = match modelled {
                    None => now_ns,
                    // It makes one transfer while the one before it is on the wire.
                    Some(model) => {
                        let from_ns = match model.bus() {
                            Some(_) => self.begun_ns,
                            None => self.wire_ns,
                        };
                        model.compute(from_ns.max(earliest_ns), fault.stall_ns)
                    }
                };
                self.transfers_begun += 1;
                Next {
                    bytes,
                    fault,
                    ready_ns,
                    carried: 0,
                    due_ns: ready_ns,
                }
            }
        };
        if let Some(model) = modelled {
            let lead_ns = model.lead_ns();
            match model.bus() {
                None => self.wire_ns = next.ready_ns,
                Some(bus) => {
                    let mut from_ns = self.wire_ns.max(next.ready_ns).max(earliest_ns);
                    while next.carried < next.bytes && from_ns <= now_ns + lead_ns {
                        // A frame at a time, so that the other direction gets its turn.
                        let until = next.bytes.min(next.carried + bus.frame_bytes());
                        while next.carried < until {
                            let packet = bus.packet_bytes().min(until - next.carried);
                            from_ns = bus.carry_packet(now_ns, from_ns, packet);
                            if next.carried == 0 {
                                self.begun_ns = from_ns;
                                self.first_ns.get_or_insert(from_ns - bus.wire_ns(packet));
                            }
                            next.carried += packet;
                        }
                        self.wire_ns = from_ns;
                    }
                    next.due_ns = match next.carried == next.bytes {
                        true => bus.told_ns(self.wire_ns),
                        false => (from_ns - lead_ns).max(now_ns + 1),
                    };
                }
            }
        }
        self.next = Some(next);
        Some(next)
    }

    fn hand_over(&mut self, next: Next, now_ns: u64, ready: &mut Vec<u8>) {
        let bytes = next.bytes as usize;
        let at_ns = next.due_ns.min(now_ns);
        if next.fault.drop {
            // It is gone on the way.
        } else if next.fault == Faulted::default() {
            let begin = ready.len();
            ready.resize(begin + bytes, 0);
            wire::fill_stream(self.position, &mut ready[begin..]);
        } else {
            self.scratch.resize(bytes, 0);
            wire::fill_stream(self.position, &mut self.scratch);
            next.fault.mangle(&mut self.scratch);
            ready.extend_from_slice(&self.scratch);
        }
        self.next = None;
        if self.report.bytes == 0 {
            self.report.first_ticks = self.first_ns.unwrap_or(at_ns);
        }
        self.report.last_ticks = at_ns;
        // Counted with its first copy, as END may come before the second.
        if !self.again {
            self.report.bytes = self.position + next.bytes;
            self.report.transfers += 1;
        }
        self.again = next.fault.duplicate && !next.fault.drop;
        if !self.again {
            self.position += next.bytes;
        }
    }
}

/// What is to be said to an order that was asked for with so much trust.
pub(super) fn judge(order: Option<&StreamOrder>, most_bytes: u64) -> Status {
    match order {
        None => Status::Unsupported,
        Some(order) if order.verb == Verb::End => Status::Ok,
        Some(order) if order.transfer_bytes == 0 => Status::Unsupported,
        Some(order) if u64::from(order.transfer_bytes) > most_bytes => Status::TooLarge,
        Some(_) => Status::Ok,
    }
}
