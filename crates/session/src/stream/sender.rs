//! The sending end: gives the orders of a point, sends the data of a sink, and ends the streams.

use super::ask::{Ask, Asked, SHORT_NS};
use super::{Answer, ORDER, Order, Orders, Pending, Row, Shared, StreamFailure};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use wiregauge_record::{TransferStatus, Way};
use wiregauge_wire::{BusCounts, Status, StreamReport};

/// How often a source on datagrams is reminded that it is still wanted (docs/protocol.md).
const KEEP_ALIVE_NS: u64 = 2_000_000_000;

/// How long a wait lasts at most before the stop flag is read again.
const LOOK_NS: u64 = 100_000_000;

/// How much longer the answer to END may take while the device still works off what buffers on the
/// way hold: megabytes, where the system has them, and the device may be a slow one.
const BACKLOG_NS: u64 = 30_000_000_000;

/// What a sender is made for.
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// The orders; `None` where there is no device to order.
    pub orders: Option<Orders>,
    /// Data goes to the device; else only orders are sent.
    pub sends_data: bool,
    /// Bytes of each transfer.
    pub transfer_bytes: usize,
    /// Transfers kept pending.
    pub queue: usize,
    /// Each transfer is one message.
    pub datagram: bool,
    /// Without a completed transfer or an answer for this long, the link has failed.
    pub timeout_ns: u64,
    /// How long the stream lasts at most.
    pub lasts_ns: u64,
    /// How many bytes are sent at most.
    pub sends_bytes: u64,
}

/// What the driver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderNext {
    /// Submit this order, then report [`StreamSender::submitted`].
    Order(Order),
    /// Submit a transfer of the stream, then report [`StreamSender::submitted`].
    Data {
        /// Place of its first byte in the stream.
        position: u64,
        /// Its size.
        bytes: usize,
    },
    /// Wait for the oldest pending transfer; if it ended, report [`StreamSender::completed`].
    Complete {
        /// How long at most.
        at_most_ns: u64,
    },
    /// Wait for the answer to an order; if it came, report [`StreamSender::answered`].
    Await {
        /// Number of the order.
        sequence: u32,
        /// How long at most.
        at_most_ns: u64,
    },
    /// Only the device sends: sleep.
    Sleep {
        /// How long at most.
        at_most_ns: u64,
    },
    /// There is no device whose answer begins the stream: report [`Shared::begin`].
    Begin,
    /// From here on answers to END may stand in the stream to the host: report [`Shared::end`].
    End,
    /// Cancel what is pending, then report [`StreamSender::cancelled`].
    Cancel,
    /// The stream failed. Report [`Shared::fail`], and go on: the device is still to be ended.
    Fail(StreamFailure),
    /// Nothing is left to do: report [`Shared::finish`].
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The START with this index is asked.
    Start(usize),
    Flow,
    Drain,
    /// END is announced.
    AnnounceEnd,
    Cancel,
    /// The END with this index is asked.
    End(usize),
    /// The END with this index is given once to a device that failed, and not waited for.
    LeaveWith(usize),
    Done,
}

/// The sending end of one point.
#[derive(Debug)]
pub struct StreamSender {
    config: SenderConfig,
    phase: Phase,
    ask: Option<Ask>,
    /// What was submitted and is not over; one order more than data.
    pending: VecDeque<Pending>,
    /// What the driver was asked to submit: bytes of the stream, 0 for an order.
    submitting: u32,
    position: u64,
    handed_over: u64,
    /// When a transfer was last over.
    moved_ns: u64,
    began_ns: u64,
    end_ns: u64,
    keep_alive_ns: u64,
    drained_since_ns: u64,
    lasted_ns: u64,
    /// The last wait was one for a transfer.
    looked: bool,
    reports: [Option<StreamReport>; 2],
    bus_counts: [Option<BusCounts>; 2],
    reported_ns: [u64; 2],
}

impl StreamSender {
    /// Lays out all memory.
    pub fn new(config: SenderConfig) -> StreamSender {
        StreamSender {
            phase: Phase::Start(0),
            ask: None,
            pending: VecDeque::with_capacity(config.queue + 1),
            submitting: 0,
            position: 0,
            handed_over: 0,
            moved_ns: 0,
            began_ns: 0,
            end_ns: 0,
            keep_alive_ns: 0,
            drained_since_ns: 0,
            lasted_ns: 0,
            looked: false,
            reports: [None; 2],
            bus_counts: [None; 2],
            reported_ns: [0; 2],
            config,
        }
    }

    /// When those reports came, in nanoseconds since the stream began.
    pub fn reported_ns(&self) -> [u64; 2] {
        self.reported_ns
    }

    /// What the device reported of each way, IN first.
    pub fn reports(&self) -> [Option<StreamReport>; 2] {
        self.reports
    }

    /// What the device counted of each way on its modelled bus, IN first.
    pub fn bus_counts(&self) -> [Option<BusCounts>; 2] {
        self.bus_counts
    }

    /// Bytes of the stream handed over.
    pub fn handed_over(&self) -> u64 {
        self.handed_over
    }

    /// How long the stream lasted.
    pub fn lasted_ns(&self) -> u64 {
        self.lasted_ns
    }

    /// What to do at `now_ns`.
    #[inline]
    pub fn next(&mut self, now_ns: u64, shared: &Shared<'_>) -> SenderNext {
        if self.phase == Phase::Flow {
            if let Some(next) = self.flow(now_ns, shared) {
                return next;
            }
            self.stop_flowing(now_ns);
        }
        self.begin_or_end(now_ns, shared)
    }

    /// What was to be submitted is, and was complete at `now_ns`.
    #[inline]
    pub fn submitted(&mut self, now_ns: u64) {
        self.pending.push_back(Pending {
            submit_ns: now_ns,
            pending: self.pending.len() as u32 + 1,
            bytes: self.submitting,
        });
        self.position += u64::from(self.submitting);
    }

    /// The oldest pending transfer is over; its row, if it carried data. One that stalled was handed over as
    /// well: its bytes are missed at the other end.
    #[inline]
    pub fn completed(&mut self, now_ns: u64, stalled: bool, shared: &Shared<'_>) -> Option<Row> {
        self.moved_ns = now_ns;
        let over = self.pending.pop_front().filter(|over| over.bytes > 0)?;
        self.handed_over += u64::from(over.bytes);
        let (status, bytes) = match stalled {
            true => (TransferStatus::Stalled, 0),
            false => (TransferStatus::Ok, over.bytes),
        };
        Some(over.row(shared.began_ns()?, now_ns, bytes, status))
    }

    /// The answer that was awaited.
    pub fn answered(&mut self, answer: Answer) {
        if let Some(ask) = &mut self.ask {
            ask.answered(answer);
        }
    }

    /// What was pending is cancelled; `bytes` of it were handed over.
    pub fn cancelled(&mut self, bytes: u64) {
        let mut left = bytes;
        for pending in self.pending.drain(..) {
            let is_order = pending.bytes == 0;
            let whole = if is_order {
                ORDER as u32
            } else {
                pending.bytes
            };
            let part = left.min(u64::from(whole));
            left -= part;
            self.handed_over += if is_order { 0 } else { part };
        }
    }

    /// The link failed: the system reported an error.
    pub fn link_failed(&mut self, now_ns: u64) {
        self.ask = None;
        if self.phase == Phase::Flow {
            self.stop_flowing(now_ns);
        }
        self.phase = match self.phase {
            Phase::Drain => Phase::AnnounceEnd,
            _ => Phase::Done,
        };
    }

    #[inline]
    fn submit_order(&mut self, order: Order) -> SenderNext {
        self.submitting = 0;
        SenderNext::Order(order)
    }

    /// While data flows; `None` once it is over.
    #[inline]
    fn flow(&mut self, now_ns: u64, shared: &Shared<'_>) -> Option<SenderNext> {
        if now_ns >= self.end_ns || shared.is_stopped() || shared.is_failed() {
            return None;
        }
        let config = &self.config;
        let has_place = self.pending.len() < config.queue;
        if now_ns > self.keep_alive_ns && has_place {
            self.keep_alive_ns += KEEP_ALIVE_NS;
            if let Some(order) = self.source_start() {
                return Some(self.submit_order(order));
            }
        }
        if config.sends_data {
            let left = config.sends_bytes - self.position;
            if left == 0 {
                return None;
            }
            if now_ns.saturating_sub(self.moved_ns) > config.timeout_ns {
                let within_ns = config.timeout_ns;
                return Some(SenderNext::Fail(StreamFailure::NothingTaken { within_ns }));
            }
            if !has_place {
                let at_most_ns = LOOK_NS;
                return Some(SenderNext::Complete { at_most_ns });
            }
            let bytes = left.min(config.transfer_bytes as u64);
            self.submitting = bytes as u32;
            return Some(SenderNext::Data {
                position: self.position,
                bytes: bytes as usize,
            });
        }
        if shared.has_enough() {
            return None;
        }
        self.looked = !self.looked && !self.pending.is_empty();
        Some(match self.looked {
            true => SenderNext::Complete { at_most_ns: 0 },
            false => SenderNext::Sleep {
                at_most_ns: LOOK_NS.min(self.end_ns - now_ns),
            },
        })
    }

    fn stop_flowing(&mut self, now_ns: u64) {
        self.lasted_ns = now_ns.saturating_sub(self.began_ns);
        self.drained_since_ns = now_ns;
        self.phase = Phase::Drain;
    }

    /// The order that a source on datagrams must hear from time to time.
    fn source_start(&self) -> Option<Order> {
        let orders = self.config.orders.as_ref()?;
        let mut starts = orders.starts.iter().filter(|_| self.config.datagram);
        starts.find(|order| order.way == Way::In).copied()
    }

    #[inline(never)]
    fn begin_or_end(&mut self, now_ns: u64, shared: &Shared<'_>) -> SenderNext {
        loop {
            let next = match self.phase {
                Phase::Start(index) => self.start(index, now_ns, shared),
                Phase::Flow => {
                    let next = self.flow(now_ns, shared);
                    if next.is_none() {
                        self.stop_flowing(now_ns);
                    }
                    next
                }
                Phase::Drain => self.drain(now_ns, shared),
                Phase::AnnounceEnd => {
                    self.phase = match &self.config.orders {
                        Some(_) if !shared.is_link_lost() => Phase::Cancel,
                        _ => Phase::Done,
                    };
                    Some(SenderNext::End)
                }
                Phase::Cancel => {
                    self.looked = false;
                    self.phase = match shared.is_failed() {
                        false => Phase::End(0),
                        true => Phase::LeaveWith(0),
                    };
                    Some(SenderNext::Cancel)
                }
                Phase::End(index) => self.end(index, now_ns, shared),
                Phase::LeaveWith(index) => self.leave(index, shared),
                Phase::Done => return SenderNext::Done,
            };
            if let Some(next) = next {
                return next;
            }
        }
    }

    fn start(&mut self, index: usize, now_ns: u64, shared: &Shared<'_>) -> Option<SenderNext> {
        let Some(orders) = &self.config.orders else {
            // The first call says so, the second finds it begun.
            if shared.began_ns().is_none() {
                return Some(SenderNext::Begin);
            }
            self.begin(now_ns, shared);
            return None;
        };
        let Some(&order) = orders.starts.get(index) else {
            self.begin(now_ns, shared);
            return None;
        };
        let given = self.ask.as_ref().is_some_and(Ask::is_given);
        let answer = match given || !shared.is_stopped() && !shared.is_failed() {
            false => {
                self.ask = None;
                None
            }
            true => match self.ask(order, self.config.timeout_ns, now_ns, shared) {
                ControlFlow::Continue(next) => return Some(next),
                ControlFlow::Break(answer) => answer.map(|answer| answer.header.status),
            },
        };
        if answer == Some(Status::Ok) {
            self.phase = Phase::Start(index + 1);
            return None;
        }
        // What was given and not refused may have begun.
        self.phase = match index > 0 || given && answer.is_none() {
            true => Phase::AnnounceEnd,
            false => Phase::Done,
        };
        let within_ns = self.config.timeout_ns;
        match answer {
            _ if shared.is_failed() => None,
            Some(status) => Some(SenderNext::Fail(StreamFailure::Refused { order, status })),
            None if shared.is_stopped() => None,
            None => Some(SenderNext::Fail(StreamFailure::NoAnswer {
                order,
                within_ns,
            })),
        }
    }

    fn begin(&mut self, now_ns: u64, shared: &Shared<'_>) {
        let began_ns = shared.began_ns().unwrap_or(now_ns);
        self.began_ns = began_ns;
        self.moved_ns = now_ns;
        self.end_ns = began_ns.saturating_add(self.config.lasts_ns);
        self.keep_alive_ns = began_ns + KEEP_ALIVE_NS;
        self.phase = Phase::Flow;
    }

    /// Until what is pending is over.
    fn drain(&mut self, now_ns: u64, shared: &Shared<'_>) -> Option<SenderNext> {
        if self.pending.is_empty() || shared.is_failed() {
            self.phase = Phase::AnnounceEnd;
            return None;
        }
        let stopped = shared.is_stopped();
        let (since, most) = match stopped {
            true => (self.drained_since_ns, SHORT_NS.min(self.config.timeout_ns)),
            false => (
                self.drained_since_ns.max(self.moved_ns),
                self.config.timeout_ns,
            ),
        };
        if now_ns.saturating_sub(since) <= most {
            let at_most_ns = LOOK_NS;
            return Some(SenderNext::Complete { at_most_ns });
        }
        self.phase = Phase::AnnounceEnd;
        let within_ns = self.config.timeout_ns;
        (!stopped).then_some(SenderNext::Fail(StreamFailure::NothingTaken { within_ns }))
    }

    fn end(&mut self, index: usize, now_ns: u64, shared: &Shared<'_>) -> Option<SenderNext> {
        let orders = self.config.orders.as_ref();
        let Some(&order) = orders.and_then(|orders| orders.ends.get(index)) else {
            self.phase = Phase::Done;
            return None;
        };
        if self.ask.is_none() && shared.is_failed() {
            self.phase = Phase::LeaveWith(index);
            return None;
        }
        let backlog_ns = match self.handed_over > 0 && !self.config.datagram {
            true => BACKLOG_NS,
            false => 0,
        };
        let within_ns = self.config.timeout_ns + backlog_ns;
        let given = self.ask.as_ref().is_some_and(Ask::is_given);
        let answer = match self.ask(order, within_ns, now_ns, shared) {
            ControlFlow::Continue(next) => return Some(next),
            ControlFlow::Break(answer) => answer,
        };
        self.phase = Phase::End(index + 1);
        if let Some(answer) = answer {
            let began_ns = shared.began_ns().unwrap_or(now_ns);
            self.reports[order.way as usize] = answer.report;
            self.bus_counts[order.way as usize] = answer.bus;
            self.reported_ns[order.way as usize] = now_ns.saturating_sub(began_ns);
            return None;
        }
        // One that waited behind another order was not given yet.
        let has_failed = shared.is_failed() || !shared.is_stopped();
        if has_failed || !given {
            self.phase = Phase::LeaveWith(index + usize::from(given));
        }
        let is_new = has_failed && !shared.is_failed();
        is_new.then_some(SenderNext::Fail(StreamFailure::NoAnswer {
            order,
            within_ns,
        }))
    }

    /// A device that is still there shall not be left streaming. Nobody waits for its answer.
    fn leave(&mut self, index: usize, shared: &Shared<'_>) -> Option<SenderNext> {
        let is_blocked = !self.pending.is_empty();
        if shared.is_link_lost() || is_blocked && self.looked {
            self.phase = Phase::Done;
            return None;
        }
        self.looked = is_blocked;
        if is_blocked {
            let at_most_ns = SHORT_NS;
            return Some(SenderNext::Complete { at_most_ns });
        }
        let orders = self.config.orders.as_ref();
        let order = orders.and_then(|orders| orders.ends.get(index)).copied();
        self.phase = match order {
            Some(_) => Phase::LeaveWith(index + 1),
            None => Phase::Done,
        };
        order.map(|order| self.submit_order(order))
    }

    /// What is next until an order is answered, or its time is over.
    fn ask(
        &mut self,
        order: Order,
        within_ns: u64,
        now_ns: u64,
        shared: &Shared<'_>,
    ) -> ControlFlow<Option<Answer>, SenderNext> {
        let datagram = self.config.datagram;
        let pending = !self.pending.is_empty();
        let new = || Ask::new(within_ns, datagram, now_ns);
        let ask = self.ask.get_or_insert_with(new);
        let answer = match ask.next(now_ns, shared, pending) {
            Asked::Give => return ControlFlow::Continue(self.submit_order(order)),
            Asked::Complete { at_most_ns } => {
                return ControlFlow::Continue(SenderNext::Complete { at_most_ns });
            }
            Asked::Await { at_most_ns } => {
                return ControlFlow::Continue(SenderNext::Await {
                    sequence: order.sequence,
                    at_most_ns,
                });
            }
            Asked::Answered(answer) => Some(answer),
            Asked::Unanswered => None,
        };
        self.ask = None;
        ControlFlow::Break(answer)
    }
}
