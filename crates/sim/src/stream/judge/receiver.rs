//! What the receiving end must find among the bytes that came, and its rows.

use super::{Judge, Known, Pends};
use crate::oracle::Fault;
use crate::stream::truth::{AnswerTruth, HEADER, OrderTruth, Origin, StreamByte};
use crate::stream::world::World;
use wiregauge_record::TransferStatus;
use wiregauge_session::stream::{Heard, Row, StreamFailure};

impl Judge<'_> {
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
}
