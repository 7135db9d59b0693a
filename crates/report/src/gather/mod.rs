//! The samples of a run, read once and thinned to what a figure can show. Nothing that a reader
//! would look for is thinned away: the longest and every bad one stay, and what was left out is said.

use hdrhistogram::Histogram;
use wiregauge_record::{Status, Way};

/// The samples of a run of whatever kind.
#[derive(Clone, Debug)]
pub enum Gathered {
    /// Of an exchange run: one entry a point, in the order of `run.file.points`.
    Exchange(Vec<ExchangePoint>),
    /// Of a stream run: one entry a point, in the order of `run.file.points`.
    Stream(Vec<StreamPoint>),
}

/// What is drawn of one exchange point.
#[derive(Clone, Debug)]
pub struct ExchangePoint {
    /// RTT over time, measured part only.
    pub series: Series,
    /// Every measured RTT in nanoseconds, three significant digits.
    pub rtt: Histogram<u64>,
}

/// What is drawn of one stream point: one entry a flow, in the order of the summary's flows.
#[derive(Clone, Debug)]
pub struct StreamPoint {
    /// Its ways.
    pub flows: Vec<Flow>,
}

/// What is drawn of one way of a stream point.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Which.
    pub way: Way,
    /// Completion to completion over time.
    pub series: Series,
    /// Every such gap in nanoseconds, three significant digits.
    pub gap: Histogram<u64>,
    /// The buffer that a device needs, against the constant rate at which it fills or empties;
    /// ascending, up to the rate that the link sustained.
    pub buffer: Vec<Buffer>,
}

/// One point of the curve of buffer against rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// Bytes a second.
    pub rate_bytes_s: f64,
    /// Bytes held at the worst moment of this run.
    pub worst_bytes: f64,
}

/// A series over time, thinned: equal slices of time, each with its extremes, and every sample that
/// stands out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Samples that it stands for.
    pub of: u64,
    /// Slices that hold at least one sample, ascending.
    pub slices: Vec<Slice>,
    /// The longest samples, one by one, ascending in time.
    pub longest: Vec<Spot>,
    /// Exchanges without a right answer in time: when they started and how they ended. At most some
    /// thousands; `bad_in_all` says how many there were.
    pub bad: Vec<(u64, Status)>,
    /// See `bad`.
    pub bad_in_all: u64,
}

/// One slice of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Start of its first sample, in nanoseconds from the start of the point.
    pub at_ns: u64,
    /// Samples in it.
    pub n: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// The longest.
    pub max_ns: u64,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its start, in nanoseconds from the start of the point.
    pub at_ns: u64,
    /// Its value in nanoseconds.
    pub value_ns: u64,
}
