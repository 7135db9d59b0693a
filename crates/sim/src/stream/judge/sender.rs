//! What the sending end must do next, and the rows of what it sent.

use super::{Asked, Judge, KEEP_ALIVE_NS, Known, Pends, REPEAT_NS, SHORT_NS};
use crate::oracle::Fault;
use crate::stream::truth::{AnswerTruth, OrderTruth};
use crate::stream::world::World;
use wiregauge_record::TransferStatus;
use wiregauge_session::stream::{Row, SenderNext, StreamFailure};

impl Judge<'_> {
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
}
