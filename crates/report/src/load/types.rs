//! What is left of the samples of a run.

use hdrhistogram::Histogram;
use wiregauge_record::Way;

/// The samples of a run of whatever kind.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// Of an exchange run: one entry a point, in the order of `run.file.points`.
    Exchange(Vec<ExchangePoint>),
    /// Of a stream run: one entry a point, in the order of `run.file.points`.
    Stream(Vec<StreamPoint>),
    /// Of a loop run: one entry a point, in the order of `run.file.points`.
    Loop(Vec<LoopPoint>),
    /// Of a run of a control loop: its one point, if it was finished.
    Control(Vec<ControlSignals>),
    /// Of a kind of run without figures.
    Nothing,
}

/// Values over time, every one counted, and the same counted from the intended start.
pub(crate) type Values<'a> = (&'a Series, &'a Histogram<u64>, Option<&'a Histogram<u64>>);

impl Loaded {
    /// The points whose samples could not be read, by their place in `run.file.points`, and why.
    pub fn missing(&self) -> Vec<(usize, &str)> {
        let reasons: Vec<Option<&str>> = match self {
            Loaded::Exchange(points) => points.iter().map(|p| p.missing.as_deref()).collect(),
            Loaded::Stream(points) => points.iter().map(|p| p.missing.as_deref()).collect(),
            Loaded::Loop(points) => points.iter().map(|p| p.missing.as_deref()).collect(),
            Loaded::Control(points) => points.iter().map(|p| p.missing.as_deref()).collect(),
            Loaded::Nothing => Vec::new(),
        };
        let reasons = reasons.into_iter().enumerate();
        reasons
            .filter_map(|(at, reason)| Some((at, reason?)))
            .collect()
    }

    /// Samples that the series stand for, all points together.
    pub fn samples(&self) -> u64 {
        match self {
            Loaded::Control(points) => points.iter().map(|p| p.of).sum(),
            _ => self.values().iter().map(|(series, ..)| series.of).sum(),
        }
    }

    /// The values of each point, or of each way of it: over time, counted, and those from the intended start.
    pub(crate) fn values(&self) -> Vec<Values<'_>> {
        match self {
            Loaded::Exchange(points) => {
                let points = points.iter();
                points
                    .map(|p| (&p.series, &p.rtt, Some(&p.from_intended)))
                    .collect()
            }
            Loaded::Stream(points) => {
                let flows = points.iter().flat_map(|point| &point.flows);
                flows.map(|flow| (&flow.series, &flow.gap, None)).collect()
            }
            Loaded::Loop(points) => {
                let points = points.iter();
                points.map(|p| (&p.series, &p.service, None)).collect()
            }
            Loaded::Control(_) | Loaded::Nothing => Vec::new(),
        }
    }
}

/// What is drawn of one exchange point.
#[derive(Clone, Debug)]
pub struct ExchangePoint {
    /// Why there are no samples: the sample file is missing, damaged or another's.
    pub missing: Option<String>,
    /// RTT over time, measured part only.
    pub series: Series,
    /// Every measured RTT in nanoseconds, three significant digits.
    pub rtt: Histogram<u64>,
    /// The same counted from the intended start; empty without a schedule.
    pub from_intended: Histogram<u64>,
    /// TRT over time: from the start of each exchange to the next start. Nothing went wrong in it.
    pub trt_series: Series,
    /// Every TRT in nanoseconds, three significant digits.
    pub trt: Histogram<u64>,
}

/// What is drawn of one stream point: one entry a flow, in the order of the summary's flows.
#[derive(Clone, Debug)]
pub struct StreamPoint {
    /// Why there are no samples: the sample file is missing, damaged or another's.
    pub missing: Option<String>,
    /// Its ways.
    pub flows: Vec<Flow>,
}

/// What is drawn of one way of a stream point.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Which.
    pub way: Way,
    /// Completion to completion over time; a gap is at the completion that it began with.
    pub series: Series,
    /// Every such gap in nanoseconds, three significant digits.
    pub gap: Histogram<u64>,
    /// The buffer that a device needs, against the constant rate at which it fills or empties;
    /// ascending, up to the rate that the link sustained. Empty if there are too few transfers.
    pub buffer: Vec<Buffer>,
}

/// What is drawn of one loop point.
#[derive(Clone, Debug)]
pub struct LoopPoint {
    /// Why there are no samples: the sample file is missing, damaged or another's.
    pub missing: Option<String>,
    /// From a block's last sample in to its output handed over, over time, measured part only; what
    /// went wrong is `overrun`, `underrun` or `both`.
    pub series: Series,
    /// Every such delay in nanoseconds, three significant digits.
    pub service: Histogram<u64>,
}

/// What is drawn of a run of a control loop: its signals in the cycles in which the controller ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlSignals {
    /// Why there are no samples: the sample file is missing, damaged or another's.
    pub missing: Option<String>,
    /// Cycles in which the controller ran.
    pub of: u64,
    /// Cycles of a slice of time.
    pub per_slice: u64,
    /// Reference of the first output.
    pub reference: Signal,
    /// Measured outputs.
    pub outputs: Vec<Signal>,
    /// Commands.
    pub commands: Vec<Signal>,
}

/// A signal: nanoseconds and values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signal {
    /// Since the first tick: the extremes of each slice of time, in time order.
    pub over_time: Vec<(f64, f64)>,
    /// Since the step of the reference: every value of some hundred cycles; empty without a step.
    pub step: Vec<(f64, f64)>,
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
    /// Samples that it stands for: all of the measured part with a right value.
    pub of: u64,
    /// Length of a slice of time in nanoseconds.
    pub slice_ns: u64,
    /// Slices that hold at least one sample, ascending.
    pub slices: Vec<Slice>,
    /// Every sample, ascending in time, if they are few: slices of one or two samples would show nothing
    /// that the samples do not. Else empty.
    pub each: Vec<Spot>,
    /// Samples that stand out, one by one, ascending in time: longer than `stands_out_ns`, the
    /// longest of them where they are many. Never a part of them of the same length as others left
    /// out is chosen by chance: the earlier stays.
    pub longest: Vec<Spot>,
    /// A sample stands out if it is longer: p75 + 3 (p75 - p25), Tukey's "far out".
    pub stands_out_ns: u64,
    /// How many stand out, to the resolution of the histogram.
    pub stand_out_in_all: u64,
    /// What went wrong, ascending in time; where it is much, evenly thinned for each status.
    /// `bad_in_all` says how much there was.
    pub bad: Vec<Bad>,
    /// How often each went wrong: the status and its number, those that never happened left out.
    pub bad_in_all: Vec<(&'static str, u64)>,
}

/// One thing that went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bad {
    /// When it started, in nanoseconds from the start of the point.
    pub at_ns: u64,
    /// How it ended, in the words of docs/run-format.md: `lost`, `late`, `stalled`, `underrun`, ...
    pub status: &'static str,
}

/// One slice of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Start of its first sample, in nanoseconds from the start of the point.
    pub at_ns: u64,
    /// Start of its last sample.
    pub last_ns: u64,
    /// Samples in it.
    pub n: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// The longest.
    pub max_ns: u64,
}

impl Slice {
    /// Of no samples.
    pub(super) const EMPTY: Slice = Slice {
        at_ns: u64::MAX,
        last_ns: 0,
        n: 0,
        min_ns: u64::MAX,
        mean_ns: 0.0,
        max_ns: 0,
    };

    /// Takes the samples of another one; loses no extreme.
    pub(super) fn join(&mut self, other: &Slice) {
        self.at_ns = self.at_ns.min(other.at_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.n += other.n;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.mean_ns += (other.mean_ns - self.mean_ns) * other.n as f64 / self.n.max(1) as f64;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// One slice for neighbours; `None` for none.
    pub(crate) fn joined(some: &[Slice]) -> Option<Slice> {
        let (first, others) = some.split_first()?;
        let mut all = *first;
        others.iter().for_each(|slice| all.join(slice));
        Some(all)
    }
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its start, in nanoseconds from the start of the point.
    pub at_ns: u64,
    /// Its value in nanoseconds.
    pub value_ns: u64,
}
