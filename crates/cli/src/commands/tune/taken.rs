//! What one setting gave.

use wiregauge_model::Observation;
use wiregauge_record::{Figure, FlowSummary, PointSummary, StreamSummary};
use wiregauge_stats::Estimate;
use wiregauge_tune::Candidate;

/// Two sides, and standard errors from a middle to an end of an interval of 95 %.
const ERRORS: f64 = 2.0 * 1.96;

/// What one setting gave.
#[derive(Clone, Debug)]
pub enum Taken {
    /// Exchanges.
    Exchanges {
        /// Their figures.
        point: Box<PointSummary>,
        /// True of a run that is stored: its figures are those that the run shows.
        stored: bool,
    },
    /// A stream.
    Stream(Box<StreamSummary>),
}

impl Taken {
    /// Exchanges, or transfers in all directions.
    pub fn n(&self) -> u64 {
        match self {
            Taken::Exchanges { point, .. } => point.counts.exchanges,
            Taken::Stream(point) => point.flows.iter().map(|flow| flow.transfers).sum(),
        }
    }

    /// The figure of what was taken. Rates of exchanges in a probe are those of the steady state, from the TRT: in a
    /// short run the time in which the last ones come in, and none is sent any more, would count against
    /// a large depth. Those of a stored run are the same as `show` and `report` give of it.
    pub fn figure(&self, figure: Figure) -> Option<Estimate> {
        match self {
            Taken::Exchanges { point, stored } => {
                let found = figure.of_point(point)?;
                let by = match figure {
                    Figure::Rate(_) | Figure::Exchanges | Figure::LimitUsed if !stored => {
                        steady(point)
                    }
                    _ => return Some(found),
                };
                Some(Estimate {
                    value: found.value * by,
                    low: found.low.map(|low| low * by),
                    high: found.high.map(|high| high * by),
                })
            }
            Taken::Stream(point) => figure.of_stream(point),
        }
    }

    /// What the model is fitted to; `None` if nothing was answered.
    pub fn observation(&self, at: &Candidate) -> Option<Observation> {
        let (trt, rtt) = match self {
            Taken::Exchanges { point, .. } => exchange_times(point)?,
            Taken::Stream(point) => stream_times(point)?,
        };
        let width = trt.high.zip(trt.low).map(|(high, low)| high - low);
        Some(Observation {
            at: at.setting,
            trt_ns: trt.value,
            rtt_ns: rtt,
            error: width.map_or(0.0, |width| width / ERRORS / trt.value),
        })
    }
}

/// Exchanges a second in the steady state over those of the whole point.
fn steady(point: &PointSummary) -> f64 {
    let counts = &point.counts;
    let whole = point.throughput.exchanges_s;
    match &point.trt {
        Some(trt) if whole > 0.0 && trt.mean.value > 0.0 => {
            let answered = counts.answered as f64 / counts.exchanges as f64;
            answered * 1e9 / trt.mean.value / whole
        }
        _ => 1.0,
    }
}

fn exchange_times(point: &PointSummary) -> Option<(Estimate, f64)> {
    let (trt, rtt) = (point.trt.as_ref()?, point.rtt.as_ref()?);
    Some((trt.mean, rtt.mean.value))
}

fn stream_times(point: &StreamSummary) -> Option<(Estimate, f64)> {
    // Both at once: the slower way is the one that limits.
    let flows = point.flows.iter();
    let slowest = flows.max_by(|a, b| {
        let gap = |flow: &&FlowSummary| {
            flow.gap
                .as_ref()
                .map_or(f64::INFINITY, |gap| gap.mean.value)
        };
        gap(a).total_cmp(&gap(b))
    })?;
    let gap = slowest.gap.as_ref()?.mean;
    let time = slowest.transfer_time.as_ref()?.mean.value;
    Some((gap, time))
}
