//! Who takes what a run yields, whatever its kind.

use crate::slices::Slice;
use std::io;
use std::time::Duration;
use wiregauge_link::LinkError;
use wiregauge_link::host::UsbPlace;
use wiregauge_record::{Calibration, HostState, LinkDetail, Responder};

/// What is known once the link is open.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The host, and the measuring thread as it will measure.
    pub host: HostState,
    /// The link.
    pub link: LinkDetail,
    /// The device, if it speaks the wiregauge protocol.
    pub responder: Option<Responder>,
    /// Where the device is on USB, if each transfer of the link is a URB there.
    pub usb: Option<UsbPlace>,
    /// What the user should know: something that was asked for cannot be had.
    pub warnings: Vec<String>,
    /// This host's floor before the first point.
    pub calibration: Option<Calibration>,
}

/// How far a point is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Rows that ended.
    pub ended: u64,
    /// Time since the point began.
    pub elapsed: Duration,
}

/// Takes what a run yields, in this order: `opened`, then for each point `begin_point`, its rows
/// (with `progress` between), `end_point`; then `calibrated_after`. An error ends the run.
pub trait Sink {
    /// One cell of the plan.
    type Point;
    /// What is measured again and again.
    type Row;
    /// What the rows of a point amount to.
    type Summary;

    /// The link is open and the device has introduced itself.
    fn opened(&mut self, _opened: &Opened) -> io::Result<()> {
        Ok(())
    }
    /// A point begins as soon as this returns.
    fn begin_point(&mut self, _point: Self::Point) -> io::Result<()> {
        Ok(())
    }
    /// The point goes on. Called every 50 ms or so, never by a measuring thread.
    fn progress(&mut self, _progress: Progress) {}
    /// How often [`Sink::slice`] is to be called; `None`: never, and no figures are computed.
    fn slice_time(&self) -> Option<Duration> {
        None
    }
    /// Figures of the rows that ended since the last slice. Called before `progress`, never by a measuring thread.
    fn slice(&mut self, _slice: Slice) {}
    /// One row, in the order in which they ended (of a stream: in each way); `data` holds the bytes
    /// of the answer if they are kept.
    fn row(&mut self, row: &Self::Row, data: &[u8]) -> io::Result<()>;
    /// The point has ended.
    fn end_point(&mut self, _summary: Self::Summary) -> io::Result<()> {
        Ok(())
    }
    /// This host's floor after the last point.
    fn calibrated_after(&mut self, _calibration: Calibration) -> io::Result<()> {
        Ok(())
    }
}

/// Why a run did not come to its end.
#[derive(Debug)]
pub enum RunError {
    /// The link or the host.
    Link(LinkError),
    /// The sink.
    Sink(io::Error),
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> RunError {
        RunError::Sink(error)
    }
}

impl From<LinkError> for RunError {
    fn from(error: LinkError) -> RunError {
        RunError::Link(error)
    }
}
