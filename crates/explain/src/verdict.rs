//! A verdict: its kind, the figures that say so, and its words; and what verdicts on exchanges and streams have in common.

use serde::Serialize;
use std::collections::BTreeMap;
use wiregauge_quantity::{percent, times};
use wiregauge_record::{BusLimit, FlowSummary, PointSummary, Way};

/// What flows beyond the physical limit by more than this flows over no such bus.
pub(crate) const REAL: f64 = 1.05;
/// A bus of which this part is used is full.
const FULL: f64 = 0.90;
/// A device that needs this part of the TRT has no time left.
const BUSY: f64 = 0.80;
/// Where this part of the bytes sent did not arrive, the host's rate says nothing of the link.
const MISSING: f64 = 0.10;
/// Fewer outstanding than this part of the depth (or queue) means that the host does not keep up.
pub(crate) const BEHIND: f64 = 0.75;

/// What limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// Nothing was measured.
    #[default]
    Nothing,
    /// Too few exchanges for a verdict.
    TooFew,
    /// The schedule of the plan says when an exchange starts.
    Schedule,
    /// The schedule was not kept.
    Behind,
    /// Responses that do not arrive take the time.
    Losses,
    /// The bus carries what it can.
    Bus,
    /// Responses wait for the latency timer of an FTDI adapter.
    LatencyTimer,
    /// The device, or of a stream the device, the bus or the link: the host keeps enough outstanding.
    Device,
    /// The link is opened for each exchange, so they cannot overlap.
    Connection,
    /// A larger depth was faster in this run.
    FasterDepth,
    /// The run does not show whether a larger depth is faster.
    DepthUnknown,
    /// Enough are outstanding: the slowest of device, bus and host needs the TRT for each.
    SlowestStage,
    /// Fewer were outstanding than were asked for: the host is too slow.
    HostBehind,
    /// The measuring thread itself takes the time.
    Application,
    /// One at a time: each transfer waits for the previous one.
    OneAtATime,
}

/// What limits a point, and by which figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// Which it is.
    pub kind: VerdictKind,
    /// The figures by their names; times in nanoseconds, shares 0 to 1.
    #[serde(flatten)]
    pub figures: BTreeMap<&'static str, Option<f64>>,
    /// In words that name what to try.
    #[serde(skip)]
    pub words: String,
    /// In a few words: of an exchange for an answer, of a stream for a table. `None` where it is about a schedule or
    /// other points, which the answer names itself.
    #[serde(skip)]
    pub short: Option<String>,
}

impl Verdict {
    pub(crate) fn new(kind: VerdictKind, words: impl Into<String>) -> Verdict {
        Verdict {
            kind,
            words: words.into(),
            ..Verdict::default()
        }
    }

    pub(crate) fn with(mut self, name: &'static str, figure: impl Into<Option<f64>>) -> Verdict {
        self.figures.insert(name, figure.into());
        self
    }

    pub(crate) fn short(mut self, words: impl Into<String>) -> Verdict {
        self.short = Some(words.into());
        self
    }

    /// One of its figures; `None` if it is not known.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied().flatten()
    }
}

/// Much faster as a factor, else in percent.
pub(crate) fn gain(faster: f64) -> String {
    match faster >= 2.0 {
        true => format!("{} as high", times(faster)),
        false => format!("{} higher", percent(faster - 1.0)),
    }
}

/// `. Try --pin, --wait spin`: those flags that are new to the run; nothing if none is.
pub(crate) fn tries(flags: &[(&str, bool)]) -> String {
    let flags = flags.iter().filter(|(_, is_new)| *is_new);
    let flags: Vec<&str> = flags.map(|(flag, _)| *flag).collect();
    match flags.is_empty() {
        true => String::new(),
        false => format!(". Try {}", flags.join(", ")),
    }
}

/// The part of its limit that a full bus carries: all of it at most. What the host counted beyond it is in buffers, or
/// its clock is slower.
pub(crate) fn full_bus(limit: &BusLimit) -> Option<f64> {
    (FULL..=REAL)
        .contains(&limit.used)
        .then_some(limit.used.min(1.0))
}

/// The part of the bytes OUT that did not arrive by the device's count, where that is a tenth or more.
pub(crate) fn not_arrived(flow: &FlowSummary) -> Option<f64> {
    let sent = flow.counts.sent.filter(|sent| *sent > 0)?;
    let received = flow.device.and(flow.counts.received)?;
    let missing = 1.0 - received as f64 / sent as f64;
    (flow.way == Way::Out && missing >= MISSING).then_some(missing)
}

/// What a device needs for each exchange, in nanoseconds, where that is nearly the whole TRT. Requests that wait
/// inside the device count as its time; the shortest one hardly waited. More than the TRT would mean that the
/// device works on several at once.
pub(crate) fn busy_device(summary: &PointSummary) -> Option<f64> {
    let needs_ns = summary.device.as_ref()?.min;
    let part = needs_ns / summary.trt.as_ref()?.mean.value.max(1.0);
    (summary.point.depth > 1 && (BUSY..=1.05).contains(&part)).then_some(needs_ns)
}
