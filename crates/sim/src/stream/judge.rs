//! The oracle of streams: sees every call of the two engines and every byte, and says what they must do and report.

use super::scenario::Streaming;
use super::truth::{AnswerTruth, Counts, HEADER, OrderTruth, Origin, StreamByte};
use super::world::{Arrived, World};
use crate::oracle::Fault;
use std::collections::VecDeque;
use wiregauge_record::{Direction, TransferStatus};
use wiregauge_session::stream::{Heard, Received, Row, SenderNext, StreamFailure, StreamSender};

const REPEAT_NS: u64 = 100_000_000;
const KEEP_ALIVE_NS: u64 = 2_000_000_000;
const BACKLOG_NS: u64 = 30_000_000_000;
const SHORT_NS: u64 = 1_000_000_000;

/// A transfer that pends.
#[derive(Clone, Copy, Debug)]
struct Pends {
    submit_ns: u64,
    count: u32,
    bytes: u32,
}

impl Pends {
    fn row(self, began_ns: u64, now_ns: u64, bytes: u32, status: TransferStatus) -> Row {
        Row {
            submit_ns: self.submit_ns.saturating_sub(began_ns),
            complete_ns: now_ns - began_ns,
            bytes,
            pending: self.count,
            status,
        }
    }
}

/// What the oracle knows of an order.
#[derive(Clone, Debug)]
struct Asked {
    order: OrderTruth,
    given_ns: Vec<u64>,
    /// The last answer that was delivered and not taken.
    delivered: Option<AnswerTruth>,
    /// The answer that the sender took, and when.
    taken: Option<(AnswerTruth, u64)>,
}

/// What both ends know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// The user wants an end.
    pub stopped: bool,
    /// An end failed.
    pub failed: bool,
    /// The link failed.
    pub link_lost: bool,
    /// As much came as is wanted.
    pub enough: bool,
}

/// The oracle.
pub struct Judge<'s> {
    scenario: &'s Streaming,
    orders: Vec<Asked>,
    starts: usize,
    pending: VecDeque<Pends>,
    submitting: u32,
    position: u64,
    handed_over: u64,
    moved_ns: u64,
    began_ns: Option<u64>,
    /// The sender knows that the stream began.
    flows: bool,
    flowed_to_ns: Option<u64>,
    keep_alives: u64,
    end_announced: bool,
    /// An order went out in part.
    cut_order: bool,
    /// When the sender learned that the link failed.
    left_ns: Option<u64>,
    sender_failed: bool,
    is_done: bool,
    receiving: VecDeque<Pends>,
    heard_ns: u64,
    /// The answer that is arriving, and how much of it came.
    arriving: Option<(u32, usize)>,
    counts: Counts,
    received: u64,
    /// Rows that were compared.
    pub rows: u64,
    /// Calls that were judged.
    pub calls: u64,
}

impl<'s> Judge<'s> {
    /// Of a stream that has not begun.
    pub fn new(scenario: &'s Streaming) -> Judge<'s> {
        // The sink begins before the source, and ends after it.
        let ways: &[bool] = match scenario.direction {
            Direction::In => &[true],
            Direction::Out => &[false],
            Direction::Both => &[false, true],
        };
        let order = |is_source: bool, ends, number: usize| Asked {
            order: OrderTruth {
                is_source,
                ends,
                sequence: scenario.sequence.wrapping_add(number as u32),
                transfer_bytes: scenario.transfer_bytes,
            },
            given_ns: Vec::new(),
            delivered: None,
            taken: None,
        };
        let starts = ways.iter().zip(0..).map(|(&way, n)| order(way, false, n));
        let ends = ways
            .iter()
            .rev()
            .zip(2..)
            .map(|(&way, n)| order(way, true, n));
        Judge {
            scenario,
            orders: starts.chain(ends).collect(),
            starts: ways.len(),
            pending: VecDeque::new(),
            submitting: 0,
            position: 0,
            handed_over: 0,
            moved_ns: 0,
            began_ns: None,
            flows: false,
            flowed_to_ns: None,
            keep_alives: 0,
            end_announced: false,
            cut_order: false,
            left_ns: None,
            sender_failed: false,
            is_done: false,
            receiving: VecDeque::new(),
            heard_ns: 0,
            arriving: None,
            counts: Counts::default(),
            received: 0,
            rows: 0,
            calls: 0,
        }
    }

    fn sends_data(&self) -> bool {
        self.scenario.direction != Direction::In
    }

    fn takes_data(&self) -> bool {
        self.scenario.direction != Direction::Out
    }

    fn left(&self) -> u64 {
        self.scenario
            .bytes
            .map_or(u64::MAX, |bytes| bytes - self.position)
    }

    /// Until when data flows, if it does at this time.
    fn flows_until(&self, now_ns: u64, known: Known) -> Option<u64> {
        let began_ns = self.began_ns.filter(|_| self.flows)?;
        let until_ns = began_ns.saturating_add(self.scenario.lasts_ns);
        let over = known.stopped || known.failed || self.flowed_to_ns.is_some();
        (!over && now_ns < until_ns).then_some(until_ns)
    }

    fn within_ns(&self, order: &OrderTruth) -> u64 {
        let backlog = order.ends && self.handed_over > 0 && !self.scenario.datagram;
        self.scenario.timeout_ns + if backlog { BACKLOG_NS } else { 0 }
    }

    // --- the sender ---

    /// What the sender does next.
    ///
    /// # Errors
    /// It must do something else.
    pub fn next(&mut self, now_ns: u64, next: &SenderNext, known: Known) -> Result<(), Fault> {
        self.calls += 1;
        let wrong = |what: &str| Err(Fault::new(now_ns, format!("{next:?}: {what}")));
        if self.left_ns.is_some() && !matches!(next, SenderNext::End | SenderNext::Done) {
            return wrong("after the link failed");
        }
        let until_ns = self.flows_until(now_ns, known);
        let queue = self.scenario.queue;
        let has_place = self.pending.len() < queue;
        if let (Some(began_ns), Some(_)) = (self.began_ns, until_ns)
            && self.scenario.datagram
            && self.takes_data()
            && has_place
            && now_ns > began_ns + (self.keep_alives + 1) * KEEP_ALIVE_NS
            && !matches!(next, SenderNext::Order(order) if order.sequence == self.orders[self.starts - 1].order.sequence)
        {
            return wrong("a source on datagrams must be kept alive");
        }
        let flow_over = match self.sends_data() {
            true => self.left() == 0,
            false => known.enough,
        };
        let is_order = matches!(next, SenderNext::Order(_));
        if self.flows && (until_ns.is_none() || flow_over && !is_order) {
            self.flowed_to_ns.get_or_insert(now_ns);
        }
        let until_ns = until_ns.filter(|_| self.flowed_to_ns.is_none());
        let failure = matches!(next, SenderNext::Fail(_));
        let stuck = now_ns - self.moved_ns > self.scenario.timeout_ns;
        if until_ns.is_some() && self.sends_data() && stuck && !failure && !is_order {
            return wrong("nothing was taken for too long");
        }
        if until_ns.is_some() && self.sends_data() && has_place && !failure {
            match next {
                SenderNext::Data { .. } | SenderNext::Order(_) => {}
                _ => return wrong("the queue has a place for data"),
            }
        }
        match next {
            SenderNext::Data { position, bytes } => {
                let most = u64::from(self.scenario.transfer_bytes).min(self.left());
                if until_ns.is_none() || !self.sends_data() {
                    return wrong("no data flows now");
                }
                if !has_place {
                    return wrong("more transfers than the queue has places");
                }
                if *position != self.position || *bytes as u64 != most {
                    return wrong("the wrong part of the stream");
                }
                self.submitting = *bytes as u32;
            }
            SenderNext::Order(order) => {
                let Some(read) = OrderTruth::read(&order.encode()) else {
                    return wrong("no order");
                };
                self.submitting = 0;
                return self.ordered(now_ns, &read, until_ns.is_some(), known);
            }
            SenderNext::Complete { at_most_ns } => {
                if self.pending.is_empty() || *at_most_ns > SHORT_NS {
                    return wrong("nothing pends, or not for so long");
                }
                let drains_ns = self.flowed_to_ns.map_or(0, |to_ns| now_ns - to_ns);
                let most_ns = SHORT_NS.min(self.scenario.timeout_ns);
                if known.stopped && !self.end_announced && drains_ns > most_ns {
                    return wrong("a stopped stream does not wait for what pends");
                }
            }
            SenderNext::Await {
                sequence,
                at_most_ns,
            } => {
                let asked = self.asked(*sequence).map(|asked| &self.orders[asked]);
                let Some((asked, &given_ns)) =
                    asked.and_then(|asked| Some((asked, asked.given_ns.last()?)))
                else {
                    return wrong("it was not given");
                };
                let since_ns = now_ns - given_ns;
                let most_ns = match self.scenario.datagram {
                    true => REPEAT_NS.saturating_sub(since_ns),
                    false => REPEAT_NS,
                };
                if *at_most_ns == 0 {
                    return Ok(());
                }
                if *at_most_ns > most_ns || since_ns > self.within_ns(&asked.order) {
                    return wrong("the order must be repeated by then");
                }
                if !self.pending.is_empty() {
                    return wrong("it has not gone out");
                }
            }
            SenderNext::Sleep { at_most_ns } => {
                let most_ns = until_ns.map(|until_ns| REPEAT_NS.min(until_ns - now_ns));
                if self.sends_data() || most_ns.is_none_or(|most_ns| *at_most_ns > most_ns) {
                    return wrong("there is something to do");
                }
            }
            SenderNext::Begin => return wrong("the device's answer begins the stream"),
            SenderNext::End => {
                if std::mem::replace(&mut self.end_announced, true) {
                    return wrong("the end is announced twice");
                }
            }
            SenderNext::Fail(failure) => {
                if known.failed || std::mem::replace(&mut self.sender_failed, true) {
                    return wrong("it has failed before");
                }
                return self.failed(now_ns, failure, known);
            }
            SenderNext::Cancel => {}
            SenderNext::Done => self.is_done = true,
        }
        Ok(())
    }

    fn asked(&self, sequence: u32) -> Option<usize> {
        let mut orders = self.orders.iter();
        orders.position(|asked| asked.order.sequence == sequence)
    }

    fn ordered(
        &mut self,
        now_ns: u64,
        order: &OrderTruth,
        flows: bool,
        known: Known,
    ) -> Result<(), Fault> {
        let wrong = |what: &str| Err(Fault::new(now_ns, format!("{order:?}: {what}")));
        let asked = self.orders.iter().position(|asked| asked.order == *order);
        let Some(index) = asked else {
            return wrong("no order of this stream");
        };
        if known.link_lost {
            return wrong("no order reaches the device any more");
        }
        let within_ns = self.within_ns(order);
        let given = self.orders[index].given_ns.last().copied();
        self.orders[index].given_ns.push(now_ns);
        if flows {
            let due_ns = self.began_ns.unwrap_or(0) + (self.keep_alives + 1) * KEEP_ALIVE_NS;
            self.keep_alives += 1;
            let keeps_alive = self.scenario.datagram && order.is_source && !order.ends;
            return match keeps_alive && now_ns > due_ns {
                true => Ok(()),
                false => wrong("it keeps no source alive"),
            };
        }
        if !self.pending.is_empty() {
            return wrong("something else pends");
        }
        if order.ends != self.end_announced {
            return wrong("before the end is announced, or after");
        }
        let before = &self.orders[..index];
        if !order.ends {
            let is_ok =
                |asked: &Asked| matches!(&asked.taken, Some((answer, _)) if answer.status == 0);
            if !before.iter().all(is_ok) {
                return wrong("the one before was not answered");
            }
            if known.failed || given.is_none() && known.stopped {
                return wrong("nothing is begun any more");
            }
        } else if !before[self.starts..]
            .iter()
            .all(|asked| !asked.given_ns.is_empty())
        {
            return wrong("the one before was not given");
        }
        let Some(given_ns) = given else {
            return Ok(());
        };
        let since_ns = now_ns - given_ns;
        let soonest_ns = match self.scenario.datagram {
            true => REPEAT_NS,
            false => within_ns + 1,
        };
        let was_refused =
            matches!(&self.orders[index].taken, Some((answer, _)) if answer.status == 3);
        if since_ns < soonest_ns.min(within_ns + 1) && !known.failed && !was_refused {
            return wrong("it is repeated too early");
        }
        let too_often = self.orders[index].given_ns.len() > 3 && !self.scenario.datagram;
        if too_often && !known.failed && !was_refused {
            return wrong("it is asked too often");
        }
        Ok(())
    }

    fn failed(&self, now_ns: u64, failure: &StreamFailure, known: Known) -> Result<(), Fault> {
        let wrong = |what: &str| Err(Fault::new(now_ns, format!("{failure:?}: {what}")));
        if known.stopped && !matches!(failure, StreamFailure::Refused { .. }) {
            return wrong("it was stopped");
        }
        match failure {
            StreamFailure::NothingTaken { within_ns } => {
                let is_late = now_ns - self.moved_ns > *within_ns;
                match is_late && *within_ns == self.scenario.timeout_ns {
                    true => Ok(()),
                    false => wrong("something was taken"),
                }
            }
            StreamFailure::NothingCame { .. } => wrong("the receiver says so"),
            StreamFailure::Refused { order, status } => {
                let asked = self.asked(order.sequence).map(|index| &self.orders[index]);
                let taken = asked.and_then(|asked| asked.taken.as_ref());
                match taken.is_some_and(|(answer, _)| answer.status == *status as u8) {
                    true => Ok(()),
                    false => wrong("it was not refused so"),
                }
            }
            StreamFailure::NoAnswer { order, within_ns } => {
                let Some(index) = self.asked(order.sequence) else {
                    return wrong("no such order");
                };
                let asked = &self.orders[index];
                let first_ns = asked.given_ns.first().copied().unwrap_or(now_ns);
                let silent_ns = now_ns - first_ns.max(self.heard_ns);
                let tried_ns = now_ns - first_ns;
                if asked.delivered.is_some() {
                    return wrong("it was answered");
                }
                if *within_ns != self.within_ns(&asked.order) {
                    return wrong("the wrong time");
                }
                let blocked = asked.given_ns.is_empty() && !self.pending.is_empty();
                match blocked || silent_ns >= *within_ns || tried_ns >= 3 * *within_ns {
                    true => Ok(()),
                    false => wrong("too early"),
                }
            }
        }
    }

    /// It was submitted.
    pub fn submitted(&mut self, now_ns: u64) {
        self.pending.push_back(Pends {
            submit_ns: now_ns,
            count: self.pending.len() as u32 + 1,
            bytes: self.submitting,
        });
        self.position += u64::from(self.submitting);
    }

    /// The oldest transfer ended; `row` is what the sender makes of it.
    ///
    /// # Errors
    /// The row is wrong.
    pub fn completed(&mut self, now_ns: u64, stalled: bool, row: Option<Row>) -> Result<(), Fault> {
        let over = self
            .pending
            .pop_front()
            .expect("the world completes what pends");
        self.moved_ns = now_ns;
        self.handed_over += u64::from(over.bytes);
        let began_ns = self.began_ns.filter(|_| over.bytes > 0);
        let expected = began_ns.map(|began_ns| match stalled {
            true => over.row(began_ns, now_ns, 0, TransferStatus::Stalled),
            false => over.row(began_ns, now_ns, over.bytes, TransferStatus::Ok),
        });
        self.same_row(now_ns, row, expected)
    }

    fn same_row(
        &mut self,
        now_ns: u64,
        row: Option<Row>,
        expected: Option<Row>,
    ) -> Result<(), Fault> {
        self.rows += u64::from(row.is_some());
        match row == expected {
            true => Ok(()),
            false => Err(Fault::new(now_ns, format!("row {row:?}, not {expected:?}"))),
        }
    }

    /// What pended was cancelled; so many bytes of data were handed over.
    pub fn cancelled(&mut self, all: u64, data: u64) {
        self.cut_order |= all > data;
        self.handed_over += data;
        self.pending.clear();
    }

    /// The sender learned that the link failed.
    pub fn link_failed(&mut self, now_ns: u64) {
        if self.flows {
            self.flowed_to_ns.get_or_insert(now_ns);
        }
        self.left_ns.get_or_insert(now_ns);
    }

    /// What answers the engine had for this order.
    ///
    /// # Errors
    /// It is not the one that was delivered.
    pub fn answered(
        &mut self,
        now_ns: u64,
        sequence: u32,
        answer: Option<(u8, Option<u64>)>,
        world: &World<'_>,
    ) -> Result<(), Fault> {
        let Some(index) = self.asked(sequence) else {
            return Err(Fault::new(now_ns, "no order has this number"));
        };
        let delivered = self.orders[index].delivered.take();
        let said = |truth: &AnswerTruth| (truth.status, truth.report.first().copied());
        if !world.damaged.1 && delivered.as_ref().map(said) != answer {
            let what = format!("order {sequence}: answer {answer:?}, not {delivered:?}");
            return Err(Fault::new(now_ns, what));
        }
        if let Some((status, report)) = answer {
            let truth = delivered.unwrap_or(AnswerTruth {
                kind: 0,
                sequence,
                status,
                report: report.into_iter().collect(),
            });
            if index + 1 == self.starts && truth.status == 0 {
                self.flows = true;
                self.moved_ns = now_ns;
            }
            self.orders[index].taken = Some((truth, now_ns));
        }
        Ok(())
    }

    // --- the receiver ---

    /// The receiver submits a transfer.
    ///
    /// # Errors
    /// Its queue is full.
    pub fn receiver_submits(&mut self, now_ns: u64, queue: usize) -> Result<(), Fault> {
        self.calls += 1;
        if self.receiving.len() >= queue {
            return Err(Fault::new(now_ns, "the receiver's queue is full"));
        }
        self.receiving.push_back(Pends {
            submit_ns: now_ns,
            count: self.receiving.len() as u32 + 1,
            bytes: 0,
        });
        Ok(())
    }

    /// The receiver waits.
    ///
    /// # Errors
    /// It must do something else.
    pub fn receiver_waits(&mut self, now_ns: u64, queue: usize) -> Result<(), Fault> {
        match self.receiving.len() == queue {
            true => Ok(()),
            false => Err(Fault::new(now_ns, "the receiver's queue has a place")),
        }
    }

    /// A transfer ended, and this came with it. `data`: what the receiver says of it.
    ///
    /// # Errors
    /// It was something else.
    pub fn received(
        &mut self,
        now_ns: u64,
        came: &[StreamByte],
        data: usize,
        heard: &[Heard],
        world: &World<'_>,
    ) -> Result<(), Fault> {
        let flows = self.began_ns.is_some() && !self.end_announced;
        let whole = |&(number, at): &(u32, usize)| {
            let truth = &world.answers[number as usize];
            at == HEADER + 8 * truth.report.len()
        };
        let is_answer = matches!(came.first().map(|b| b.origin), Some(Origin::Answer(_, 0)));
        let message = self.scenario.datagram && is_answer;
        let all_data = !self.scenario.check && flows && !message;
        if let Some((_, at)) = self.arriving.take_if(|_| all_data)
            && at < HEADER
        {
            // Its beginning was taken for the beginning of an answer, and its rest is not.
            self.received += at as u64;
        }
        let (mut expected, mut delivered, mut header) = (0, Vec::new(), 0);
        for byte in came {
            self.arriving = match (byte.origin, self.arriving) {
                (Origin::Answer(number, 0), _) => Some((number, 1)),
                (Origin::Answer(number, at), Some((same, came)))
                    if number == same && usize::from(at) == came =>
                {
                    Some((number, came + 1))
                }
                _ => None,
            };
            let is_answer = self.arriving.is_some();
            if !is_answer || all_data {
                expected += 1;
                self.received += 1;
            }
            if !is_answer && !all_data {
                self.counts.add(*byte);
            }
            match self.arriving {
                Some((_, HEADER)) => header = 0,
                Some((_, at)) if at < HEADER => header += 1,
                _ => {}
            }
            if let Some((number, _)) = self.arriving.take_if(|arriving| whole(arriving)) {
                delivered.push(number);
            }
        }
        if self.scenario.datagram {
            self.arriving = None;
        } else if !all_data {
            // A header that is cut in two is data at first.
            expected += header;
        }
        if all_data {
            // Nobody looks for answers there.
            self.arriving = None;
            delivered.clear();
        }
        self.heard_ns = now_ns;
        if world.damaged.1 {
            self.believe(now_ns, heard);
            return Ok(());
        }
        if data != expected {
            let what = format!("{data} bytes of data, not {expected}, of {}", came.len());
            return Err(Fault::new(now_ns, what));
        }
        let mut numbers = Vec::new();
        for number in delivered {
            let truth = world.answers[number as usize].clone();
            let kind = |order: &OrderTruth| if order.is_source { 3 } else { 2 };
            let index = self.asked(truth.sequence);
            let Some(index) = index.filter(|&index| kind(&self.orders[index].order) == truth.kind)
            else {
                continue;
            };
            numbers.push(truth.sequence);
            if index + 1 == self.starts && truth.status == 0 {
                self.began_ns.get_or_insert(now_ns);
            }
            self.orders[index].delivered = Some(truth);
        }
        let said: Vec<u32> = heard
            .iter()
            .map(|heard| heard.answer.header.sequence)
            .collect();
        match said == numbers {
            true => Ok(()),
            false => Err(Fault::new(
                now_ns,
                format!("heard answers {said:?}, not {numbers:?}"),
            )),
        }
    }

    /// Answers may be damaged: takes the engine's word.
    fn believe(&mut self, now_ns: u64, heard: &[Heard]) {
        for heard in heard {
            if heard.begins {
                self.began_ns.get_or_insert(now_ns);
            }
            let report = heard.answer.report;
            if let Some(index) = self.asked(heard.answer.header.sequence) {
                self.orders[index].delivered = Some(AnswerTruth {
                    kind: 0,
                    sequence: heard.answer.header.sequence,
                    status: heard.answer.header.status as u8,
                    report: report.iter().map(|report| report.bytes).collect(),
                });
            }
        }
    }

    /// The row that the receiver makes of it.
    ///
    /// # Errors
    /// The row is wrong.
    pub fn receiver_completed(
        &mut self,
        now_ns: u64,
        data: usize,
        stalled: bool,
        row: Option<Row>,
    ) -> Result<(), Fault> {
        self.heard_ns = now_ns;
        let over = self
            .receiving
            .pop_front()
            .expect("the world completes what pends");
        let began_ns = self
            .began_ns
            .filter(|_| self.takes_data() && (data > 0 || stalled));
        let status = match stalled {
            true => TransferStatus::Stalled,
            false => TransferStatus::Ok,
        };
        let expected = began_ns.map(|began_ns| over.row(began_ns, now_ns, data as u32, status));
        self.same_row(now_ns, row, expected)
    }

    /// The row of a transfer that pended to the end.
    ///
    /// # Errors
    /// The row is wrong.
    pub fn given_up(&mut self, now_ns: u64, row: Option<Row>) -> Result<(), Fault> {
        let over = self.receiving.pop_front();
        let began_ns = self.began_ns.filter(|_| self.takes_data());
        let expected = over
            .zip(began_ns)
            .map(|(over, began_ns)| over.row(began_ns, now_ns, 0, TransferStatus::Cancelled));
        self.same_row(now_ns, row, expected)
    }

    /// Nothing came for a while; whether the receiver fails for it.
    ///
    /// # Errors
    /// It must not, or it must.
    pub fn nothing_came(
        &mut self,
        now_ns: u64,
        failure: Option<StreamFailure>,
        known: Known,
    ) -> Result<(), Fault> {
        self.calls += 1;
        let within_ns = self.scenario.timeout_ns;
        let began_ns = self.began_ns.filter(|_| self.takes_data());
        let expected = began_ns.filter(|began_ns| {
            let since_ns = now_ns - self.heard_ns.max(*began_ns);
            since_ns > within_ns && !self.end_announced && !known.stopped
        });
        let expected = expected.map(|_| StreamFailure::NothingCame { within_ns });
        match failure == expected {
            true => Ok(()),
            false => Err(Fault::new(now_ns, format!("{failure:?}, not {expected:?}"))),
        }
    }

    // --- the end ---

    /// What was reported at the end.
    ///
    /// # Errors
    /// Something else is true.
    pub fn finish(
        &self,
        sender: &StreamSender,
        received: Received,
        world: &World<'_>,
    ) -> Result<(), Fault> {
        let now_ns = world.now_ns;
        let wrong = |what: String| Err(Fault::new(now_ns, what));
        if sender.handed_over() != self.handed_over {
            let (said, truth) = (sender.handed_over(), self.handed_over);
            return wrong(format!("{said} bytes handed over, not {truth}"));
        }
        if let (Some(began_ns), Some(to_ns)) = (self.began_ns, self.flowed_to_ns)
            && sender.lasted_ns() != to_ns - began_ns
        {
            let (said, truth) = (sender.lasted_ns(), to_ns - began_ns);
            return wrong(format!("it lasted {said} ns, not {truth}"));
        }
        // Of an answer that never came whole, the beginning of its header is no frame.
        let cut = self.arriving.filter(|(_, at)| *at < HEADER);
        let cut = cut.map_or(0, |(_, at)| at as u64);
        let truth = self.received + cut;
        if !world.damaged.1 && received.bytes != truth {
            let said = received.bytes;
            return wrong(format!("{said} bytes received, not {truth}"));
        }
        if let Some(counts) = received.counts
            && self.counts.is_certain()
            && cut == 0
            && !world.damaged.1
        {
            let said = [
                counts.received,
                counts.lost,
                counts.duplicated,
                counts.corrupted,
                counts.stray,
            ];
            if said != self.counts.numbers {
                return wrong(format!("counted {said:?}, not {:?}", self.counts.numbers));
            }
        }
        self.reports(sender, world)
    }

    fn reports(&self, sender: &StreamSender, world: &World<'_>) -> Result<(), Fault> {
        for asked in self.orders.iter().filter(|asked| asked.order.ends) {
            let way = usize::from(!asked.order.is_source);
            let (said, said_ns) = (sender.reports()[way], sender.reported_ns()[way]);
            let taken = asked.taken.as_ref();
            let taken = taken.filter(|(answer, _)| !answer.report.is_empty());
            let truth = taken.map(|(answer, _)| answer.report[0]);
            let since_ns = taken.map_or(0, |(_, at)| at - self.began_ns.unwrap_or(*at));
            if said.map(|report| report.bytes) != truth || taken.is_some() && said_ns != since_ns {
                let what = format!("reports {said:?} at {said_ns}, not {truth:?} at {since_ns}");
                return Err(Fault::new(world.now_ns, what));
            }
            if let (false, Some((answer, _))) = (asked.order.is_source, taken) {
                self.sink(answer, world)?;
            }
        }
        Ok(())
    }

    /// What the device says of its sink.
    fn sink(&self, answer: &AnswerTruth, world: &World<'_>) -> Result<(), Fault> {
        if world.damaged != (false, false) || world.was_reset() {
            return Ok(());
        }
        let mut arrivals = super::truth::Arrivals::default();
        for arrived in &world.arrived {
            match arrived {
                Arrived::Byte(byte) => {
                    let order = arrivals.take(*byte, super::device::MOST_TRANSFER);
                    if order.is_some_and(|order| order.ends && order.sequence == answer.sequence) {
                        break;
                    }
                }
                Arrived::End => arrivals.flush(),
                Arrived::Reset => return Ok(()),
            }
        }
        let truth = arrivals.last;
        let said = &answer.report[..5];
        if truth.is_certain() && said != truth.numbers {
            let what = format!("the device counted {said:?}, not {:?}", truth.numbers);
            return Err(Fault::new(world.now_ns, what));
        }
        let whole = !self.scenario.datagram && world.is_sound();
        let undamaged = self.scenario.faults.flip_up + self.scenario.faults.cut_up == 0;
        let all = self.scenario.faults.stall_transfer == 0 && !self.cut_order;
        if whole && undamaged && all && said[0] != self.handed_over {
            let what = format!("the device took {said:?}, not {}", self.handed_over);
            return Err(Fault::new(world.now_ns, what));
        }
        Ok(())
    }

    /// The device is not left streaming.
    ///
    /// # Errors
    /// It is.
    pub fn ends(&self, world: &World<'_>, known: Known) -> Result<(), Fault> {
        let wrong = |what: &str| Err(Fault::new(world.now_ns, what));
        if !self.is_done || known.link_lost {
            return Ok(());
        }
        let (starts, ends) = self.orders.split_at(self.starts);
        let may_run = starts.iter().any(|asked| {
            let refused = |(answer, _): &(AnswerTruth, u64)| answer.status != 0;
            !asked.given_ns.is_empty() && !asked.taken.as_ref().is_some_and(refused)
        });
        if may_run && ends.iter().any(|asked| asked.given_ns.is_empty()) {
            return wrong("the device was not told to end");
        }
        // What was cut takes the beginning of END for its own rest. A START that is late may overtake END.
        let is_over = |asked: &Asked| asked.taken.is_some() || asked.given_ns.is_empty();
        let in_order = self.scenario.delay_ns.1 == 0 || starts.iter().all(is_over);
        if !self.cut_order && in_order && world.is_sound() && world.device_flows() != [false, false]
        {
            return wrong("the device is left streaming");
        }
        Ok(())
    }

    /// Nothing lasts longer than this after it is certain that it must end.
    ///
    /// # Errors
    /// It has.
    pub fn check_time(&self, world: &World<'_>, broken_since: Option<u64>) -> Result<(), Fault> {
        let now_ns = world.now_ns;
        let late_ns = 60 * self.scenario.faults.oversleep_ns;
        let stop_at = self.scenario.faults.stop_at.filter(|_| world.is_stopped());
        let ends = [
            stop_at.map(|at| (at + 6 * SHORT_NS, "after the stop")),
            broken_since.map(|at| (at + SHORT_NS, "after the link failed")),
        ];
        for (most_ns, when) in ends.into_iter().flatten() {
            if now_ns > most_ns + late_ns {
                return Err(Fault::new(now_ns, format!("it does not end {when}")));
            }
        }
        Ok(())
    }
}
