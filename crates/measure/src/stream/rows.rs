//! One way's rows on their way to the ring: their numbers, their phases, and the processor time of
//! the measured part.

use crate::ring::Log;
use wiregauge_record::{Phase, Transfer, Way};
use wiregauge_session::stream::Row;

/// When what is measured begins and ends, in nanoseconds since the stream began.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// What completes before is start-up.
    pub from_ns: u64,
    /// What completes after is the end of the point and left out too.
    pub to_ns: u64,
}

/// Takes the rows of one way.
pub struct Rows<'a> {
    log: &'a mut Log<Transfer>,
    way: Way,
    window: Window,
    count: u64,
    cancelled: u64,
    measured: u64,
    cpu_from_ns: Option<u64>,
    cpu_to_ns: Option<u64>,
}

impl<'a> Rows<'a> {
    /// For one way of one point.
    pub fn new(log: &'a mut Log<Transfer>, way: Way, window: Window) -> Rows<'a> {
        Rows {
            log,
            way,
            window,
            count: 0,
            cancelled: 0,
            measured: 0,
            cpu_from_ns: None,
            cpu_to_ns: None,
        }
    }

    /// Transfers so far, without those that were cancelled.
    pub fn count(&self) -> u64 {
        self.count - self.cancelled
    }

    /// Takes one that was still pending when the stream was over. Of a stream without a transfer
    /// nothing is reported.
    pub fn push_cancelled(&mut self, row: Row, cpu_ns: impl Fn() -> u64) {
        if self.count > 0 {
            self.push(row, cpu_ns);
            self.cancelled += 1;
        }
    }

    /// Those of them that carried data within the measured part.
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// Takes the next one. The processor's time is read only as the measured part begins and ends.
    #[inline]
    pub fn push(&mut self, row: Row, cpu_ns: impl Fn() -> u64) {
        let phase = if row.complete_ns < self.window.from_ns || row.complete_ns > self.window.to_ns
        {
            if self.cpu_from_ns.is_some() && self.cpu_to_ns.is_none() {
                self.cpu_to_ns = Some(cpu_ns());
            }
            Phase::WarmUp
        } else {
            if self.cpu_from_ns.is_none() {
                self.cpu_from_ns = Some(cpu_ns());
            }
            Phase::Measured
        };
        let phase = if self.count == 0 { Phase::First } else { phase };
        self.measured += u64::from(phase == Phase::Measured && row.bytes > 0);
        self.log.push(Transfer {
            sequence: self.count,
            submit_ns: row.submit_ns,
            complete_ns: row.complete_ns,
            urb_submit_ns: 0,
            urb_complete_ns: 0,
            bytes: row.bytes,
            pending: row.pending,
            way: self.way,
            status: row.status,
            phase,
        });
        self.count += 1;
    }

    /// Processor time of the measured part, in nanoseconds.
    pub fn cpu_ns(&self, cpu_ns: impl Fn() -> u64) -> u64 {
        let Some(from) = self.cpu_from_ns else {
            return 0;
        };
        let to = self.cpu_to_ns.unwrap_or_else(cpu_ns);
        to.saturating_sub(from)
    }
}
