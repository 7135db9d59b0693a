//! The oracle of streams: sees every call of the two engines and every byte, and says what they must do and report.

mod end;
mod receiver;
mod sender;

use super::scenario::Streaming;
use super::truth::{AnswerTruth, Counts, OrderTruth};
use crate::oracle::Fault;
use std::collections::VecDeque;
use wiregauge_record::{Direction, TransferStatus};
use wiregauge_session::stream::Row;

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

    fn asked(&self, sequence: u32) -> Option<usize> {
        let mut orders = self.orders.iter();
        orders.position(|asked| asked.order.sequence == sequence)
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
}
