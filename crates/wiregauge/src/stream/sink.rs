//! Who takes what a stream run yields.

use crate::exchange::Opened;
use std::io;
use std::time::Duration;
use wiregauge_record::{StreamPoint, StreamSummary, Transfer};

/// How far a point is.
#[derive(Clone, Copy, Debug)]
pub struct StreamProgress {
    /// Transfers that ended.
    pub transfers: u64,
    /// Time since the point began.
    pub elapsed: Duration,
}

/// Takes what a stream run yields, in this order: `opened`, then for each point `begin_point`, its
/// transfers (with `progress` between), `end_point`. An error ends the run.
pub trait StreamSink {
    /// The link is open and the device has introduced itself.
    fn opened(&mut self, _opened: &Opened) -> io::Result<()> {
        Ok(())
    }
    /// A point begins as soon as this returns.
    fn begin_point(&mut self, _point: StreamPoint) -> io::Result<()> {
        Ok(())
    }
    /// The point goes on. Called every 50 ms or so, never by a measuring thread.
    fn progress(&mut self, _progress: StreamProgress) {}
    /// One transfer, for each way in the order in which they completed.
    fn transfer(&mut self, transfer: &Transfer) -> io::Result<()>;
    /// The point has ended.
    fn end_point(&mut self, _summary: StreamSummary) -> io::Result<()> {
        Ok(())
    }
}
