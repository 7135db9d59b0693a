//! The sending end: gives the orders of a point and repeats them, sends the data of a sink, and ends the streams.

use super::{Answer, Coordination, Order, Orders, StreamFailure};
use std::collections::VecDeque;
use wiregauge_record::Way;
use wiregauge_wire::{Status, StreamReport};

/// How often a datagram's order is given again until it is answered (docs/protocol.md).
pub const REPEAT_NS: u64 = 100_000_000;

/// How often a source on datagrams is told that it is still wanted (docs/protocol.md).
pub const KEEP_ALIVE_NS: u64 = 2_000_000_000;

/// How long a wait lasts at most before the stop flag is read again.
const LOOK_NS: u64 = 100_000_000;

/// How long a stopped or failed point tries to end the device's streams.
const SHORT_NS: u64 = 1_000_000_000;

/// Times that an order is given to a device that goes on sending and does not answer. All of them may be
/// repeated (docs/protocol.md, States).
const TRIES: u32 = 3;

/// How much longer the answer to END may take while the device still works off what buffers on the
/// way hold: megabytes, where the system has them, and the device may be a slow one.
pub const BACKLOG_NS: u64 = 30_000_000_000;

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
    /// How long the stream lasts.
    pub lasts_ns: u64,
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
    /// There is no device whose answer begins the stream: it begins now.
    Begin,
    /// From here on answers to END may stand in the stream to the host.
    End,
    /// Cancel what is pending, then report [`StreamSender::cancelled`].
    Cancel,
    /// The stream failed. Make it known to [`Coordination`], and go on: the device is still to be ended.
    Fail(StreamFailure),
    /// Nothing is left to do.
    Done,
}

/// A transfer with data that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// When it was submitted.
    pub submit_ns: u64,
    /// Transfers pending just after that.
    pub pending: u32,
    /// Its size.
    pub bytes: u32,
}

/// A transfer that is pending.
#[derive(Clone, Copy, Debug)]
struct Pending {
    submit_ns: u64,
    pending: u32,
    /// Bytes of the stream; 0 for an order.
    bytes: u32,
}

/// An order until it is answered.
#[derive(Clone, Copy, Debug)]
struct Ask {
    began_ns: u64,
    given_ns: u64,
    given: u32,
    step: Step,
    answer: Option<Answer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Give it, or give it again.
    Give,
    /// It is on its way.
    Complete,
    /// Its answer is awaited.
    Await,
}

/// What becomes of an order.
enum Asked {
    Next(SenderNext),
    Answered(Answer),
    Unanswered,
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
    /// A failed point is cancelled.
    CancelFailed,
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
    /// What the driver was told to submit: bytes of the stream, 0 for an order.
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
    pub fn next(&mut self, now_ns: u64, known: &impl Coordination) -> SenderNext {
        if self.phase == Phase::Flow {
            if let Some(next) = self.flow(now_ns, known) {
                return next;
            }
            self.stop_flowing(now_ns);
        }
        self.begin_or_end(now_ns, known)
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

    /// The oldest pending transfer is over; what it was, if it carried data. One that stalled was handed over as
    /// well: its bytes are missed at the other end.
    #[inline]
    pub fn completed(&mut self, now_ns: u64) -> Option<Transferred> {
        self.moved_ns = now_ns;
        let over = self.pending.pop_front().filter(|over| over.bytes > 0)?;
        self.handed_over += u64::from(over.bytes);
        Some(Transferred {
            submit_ns: over.submit_ns,
            pending: over.pending,
            bytes: over.bytes,
        })
    }

    /// The answer that was awaited.
    pub fn answered(&mut self, answer: Answer) {
        if let Some(ask) = &mut self.ask {
            ask.answer = Some(answer);
        }
    }

    /// What was pending is cancelled; `bytes` of it were handed over.
    pub fn cancelled(&mut self, bytes: u64) {
        self.handed_over += bytes;
        self.pending.clear();
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
    fn flow(&mut self, now_ns: u64, known: &impl Coordination) -> Option<SenderNext> {
        if now_ns >= self.end_ns || known.is_stopped() || known.is_failed() {
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
            if now_ns.saturating_sub(self.moved_ns) > config.timeout_ns {
                let within_ns = config.timeout_ns;
                return Some(SenderNext::Fail(StreamFailure::NothingTaken { within_ns }));
            }
            if !has_place {
                let at_most_ns = LOOK_NS;
                return Some(SenderNext::Complete { at_most_ns });
            }
            self.submitting = config.transfer_bytes as u32;
            return Some(SenderNext::Data {
                position: self.position,
                bytes: config.transfer_bytes,
            });
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
    fn begin_or_end(&mut self, now_ns: u64, known: &impl Coordination) -> SenderNext {
        loop {
            let next = match self.phase {
                Phase::Start(index) => self.start(index, now_ns, known),
                Phase::Flow => {
                    let next = self.flow(now_ns, known);
                    if next.is_none() {
                        self.stop_flowing(now_ns);
                    }
                    next
                }
                Phase::Drain => self.drain(now_ns, known),
                Phase::AnnounceEnd => {
                    self.phase = match (&self.config.orders, known.is_failed()) {
                        (None, _) => Phase::Done,
                        (Some(_), false) => Phase::Cancel,
                        (Some(_), true) if known.is_link_lost() => Phase::Done,
                        (Some(_), true) => Phase::CancelFailed,
                    };
                    Some(SenderNext::End)
                }
                Phase::Cancel => {
                    self.phase = Phase::End(0);
                    Some(SenderNext::Cancel)
                }
                Phase::End(index) => self.end(index, now_ns, known),
                Phase::CancelFailed => {
                    self.looked = false;
                    self.phase = Phase::LeaveWith(0);
                    Some(SenderNext::Cancel)
                }
                Phase::LeaveWith(index) => self.leave(index),
                Phase::Done => return SenderNext::Done,
            };
            if let Some(next) = next {
                return next;
            }
        }
    }

    fn start(
        &mut self,
        index: usize,
        now_ns: u64,
        known: &impl Coordination,
    ) -> Option<SenderNext> {
        let Some(orders) = &self.config.orders else {
            // The first call says so, the second finds it begun.
            if known.began_ns().is_none() {
                return Some(SenderNext::Begin);
            }
            self.begin(now_ns, known);
            return None;
        };
        let Some(&order) = orders.starts.get(index) else {
            self.begin(now_ns, known);
            return None;
        };
        let answer = match self.ask(&order, self.config.timeout_ns, now_ns, known) {
            Asked::Next(next) => return Some(next),
            Asked::Answered(answer) => Some(answer.header.status),
            Asked::Unanswered => None,
        };
        self.phase = Phase::Done;
        if known.is_failed() || known.is_stopped() && answer.is_none() {
            return None;
        }
        match answer {
            Some(Status::Ok) => {
                self.phase = Phase::Start(index + 1);
                None
            }
            Some(status) => Some(SenderNext::Fail(StreamFailure::Refused { order, status })),
            None => Some(SenderNext::Fail(StreamFailure::NoAnswer {
                order,
                within_ns: self.config.timeout_ns,
            })),
        }
    }

    fn begin(&mut self, now_ns: u64, known: &impl Coordination) {
        let began_ns = known.began_ns().unwrap_or(now_ns);
        self.began_ns = began_ns;
        self.moved_ns = began_ns;
        self.end_ns = began_ns + self.config.lasts_ns;
        self.keep_alive_ns = began_ns + KEEP_ALIVE_NS;
        self.phase = Phase::Flow;
    }

    /// Until what is pending is over.
    fn drain(&mut self, now_ns: u64, known: &impl Coordination) -> Option<SenderNext> {
        if self.pending.is_empty() || known.is_failed() {
            self.phase = Phase::AnnounceEnd;
            return None;
        }
        let stopped = known.is_stopped();
        let most = match stopped {
            true => SHORT_NS.min(self.config.timeout_ns),
            false => self.config.timeout_ns,
        };
        let since = self.drained_since_ns.max(self.moved_ns);
        if now_ns.saturating_sub(since) <= most {
            let at_most_ns = LOOK_NS;
            return Some(SenderNext::Complete { at_most_ns });
        }
        self.phase = Phase::AnnounceEnd;
        let within_ns = self.config.timeout_ns;
        (!stopped).then_some(SenderNext::Fail(StreamFailure::NothingTaken { within_ns }))
    }

    fn end(&mut self, index: usize, now_ns: u64, known: &impl Coordination) -> Option<SenderNext> {
        let orders = self.config.orders.as_ref();
        let Some(&order) = orders.and_then(|orders| orders.ends.get(index)) else {
            self.phase = Phase::Done;
            return None;
        };
        let backlog_ns = match self.handed_over > 0 && !self.config.datagram {
            true => BACKLOG_NS,
            false => 0,
        };
        let within_ns = self.config.timeout_ns + backlog_ns;
        let answer = match self.ask(&order, within_ns, now_ns, known) {
            Asked::Next(next) => return Some(next),
            Asked::Answered(answer) => Some(answer),
            Asked::Unanswered => None,
        };
        self.phase = Phase::End(index + 1);
        if known.is_failed() {
            self.phase = Phase::Done;
        }
        match answer {
            Some(answer) => {
                let began_ns = known.began_ns().unwrap_or(now_ns);
                self.reports[order.way as usize] = answer.report;
                self.reported_ns[order.way as usize] = now_ns.saturating_sub(began_ns);
                None
            }
            None if known.is_stopped() || known.is_failed() => None,
            None => {
                self.phase = Phase::Done;
                Some(SenderNext::Fail(StreamFailure::NoAnswer {
                    order,
                    within_ns,
                }))
            }
        }
    }

    /// A device that is still there shall not be left streaming. Nobody waits for its answer.
    fn leave(&mut self, index: usize) -> Option<SenderNext> {
        let orders = self.config.orders.as_ref();
        let order = orders.and_then(|orders| orders.ends.get(index)).copied();
        let Some(order) = order else {
            self.phase = Phase::Done;
            return None;
        };
        if self.looked && !self.pending.is_empty() {
            // It does not even take this.
            self.phase = Phase::Done;
            return None;
        }
        if self.pending.is_empty() && !self.looked {
            return Some(self.submit_order(order));
        }
        if !self.looked {
            self.looked = true;
            let at_most_ns = SHORT_NS;
            return Some(SenderNext::Complete { at_most_ns });
        }
        self.looked = false;
        self.phase = Phase::LeaveWith(index + 1);
        None
    }

    /// Gives an order until it is answered or its time is over.
    fn ask(
        &mut self,
        order: &Order,
        at_most_ns: u64,
        now_ns: u64,
        known: &impl Coordination,
    ) -> Asked {
        let is_over = |ask: &Ask| is_over(ask.began_ns, at_most_ns, now_ns, known);
        let ask = self.ask.get_or_insert(Ask {
            began_ns: now_ns,
            given_ns: now_ns,
            given: 0,
            step: Step::Give,
            answer: None,
        });
        if let Some(answer) = ask.answer {
            self.ask = None;
            return Asked::Answered(answer);
        }
        if ask.given > 0 && is_over(ask) {
            self.ask = None;
            return Asked::Unanswered;
        }
        if ask.step == Step::Await {
            // It was awaited in vain.
            ask.step = Step::Give;
        }
        if ask.step == Step::Give {
            // A device that goes on sending is heard all the time: an order that it lost must not wait for silence.
            let missed = now_ns.saturating_sub(ask.given_ns) > at_most_ns;
            if missed && ask.given >= TRIES {
                self.ask = None;
                return Asked::Unanswered;
            }
            let first = ask.given == 0;
            if first || missed {
                (ask.given, ask.given_ns) = (ask.given + 1, now_ns);
            }
            ask.step = Step::Complete;
            if first || missed || self.config.datagram {
                return Asked::Next(self.submit_order(*order));
            }
        }
        let at_most_ns = REPEAT_NS;
        if !self.pending.is_empty() {
            return Asked::Next(SenderNext::Complete { at_most_ns });
        }
        ask.step = Step::Await;
        Asked::Next(SenderNext::Await {
            sequence: order.sequence,
            at_most_ns,
        })
    }
}

/// True when an answer need not be waited for any longer: time counts from the order, or from
/// the last sign of life of a device that still has to get there.
fn is_over(began_ns: u64, at_most_ns: u64, now_ns: u64, known: &impl Coordination) -> bool {
    let (since, most) = match known.is_stopped() {
        true => (began_ns, at_most_ns.min(SHORT_NS)),
        false => (known.heard_ns().max(began_ns), at_most_ns),
    };
    known.is_failed() || now_ns.saturating_sub(since) > most
}
