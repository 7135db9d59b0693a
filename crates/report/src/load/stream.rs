//! One point of a stream run: for each way the gaps between its completions, as
//! `wiregauge_record::StreamSummariser` defines them, and the buffer needed against the rate.

use super::Room;
use super::points::{Collector, Gather};
use super::types::{Buffer, Flow, StreamPoint};
use wiregauge_record::{FlowSummary, Phase, Transfer, TransferStatus, Way};
use wiregauge_run::{RunFile, Stream};
use wiregauge_stats::Level;

/// The rates of the curve as parts of the rate that the link sustained: dense where it climbs.
const PARTS: [f64; 12] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0];

/// With fewer gaps the worst backlog says nothing of the next run. The caption of the figure says so.
const FEWEST_GAPS: u64 = 100;

pub(crate) struct Gatherer {
    /// From the first completion of any way to the end.
    elapsed_ns: u64,
    flows: Vec<FlowReader>,
}

impl Gather<Stream> for Gatherer {
    type Point = StreamPoint;

    fn new(file: &RunFile<Stream>, at: usize, room: Room) -> Gatherer {
        let summary = &file.points[at];
        let flows = summary.flows.iter();
        Gatherer {
            elapsed_ns: summary.elapsed_ns,
            flows: flows.map(|flow| FlowReader::new(room, flow)).collect(),
        }
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "way",
            "phase",
            "status",
            "submit_ns",
            "complete_ns",
            "bytes",
        ]
    }

    fn push(&mut self, transfer: &Transfer) {
        let mut flows = self.flows.iter_mut();
        if let Some(flow) = flows.find(|flow| flow.way == transfer.way) {
            flow.push(transfer);
        }
    }

    fn finish(self, missing: Option<String>) -> StreamPoint {
        let begin_ns = self.flows.iter().filter_map(|flow| flow.begin_ns).min();
        // All ways end together, whenever each began.
        let end_ns = begin_ns.unwrap_or(0).saturating_add(self.elapsed_ns);
        let flows = self.flows.into_iter().map(|flow| flow.finish(end_ns));
        StreamPoint {
            missing,
            flows: flows.collect(),
        }
    }
}

/// One way.
struct FlowReader {
    way: Way,
    measured: u64,
    begin_ns: Option<u64>,
    end_ns: u64,
    gaps: Collector,
    levels: Vec<Level>,
}

impl FlowReader {
    fn new(room: Room, flow: &FlowSummary) -> FlowReader {
        let sustained = flow.rate.map_or(0.0, |rate| rate.value);
        let has_curve = flow.transfers > FEWEST_GAPS && sustained >= 1.0;
        let parts: &[f64] = if has_curve { &PARTS } else { &[] };
        let mut levels: Vec<Level> = parts
            .iter()
            .map(|part| Level::new((part * sustained) as u64))
            .collect();
        levels.dedup_by_key(|level| level.rate_bytes_s());
        FlowReader {
            way: flow.way,
            measured: 0,
            begin_ns: None,
            end_ns: 0,
            gaps: Collector::new(room),
            levels,
        }
    }

    fn push(&mut self, transfer: &Transfer) {
        let at_ns = transfer.complete_ns;
        match transfer.status {
            TransferStatus::Ok => {}
            // At the end of a point the transfers still pending are cancelled: nothing went wrong.
            TransferStatus::Cancelled => return,
            TransferStatus::Stalled | TransferStatus::Failed => {
                self.gaps
                    .bad
                    .push(transfer.submit_ns, transfer.status.name());
                return;
            }
        }
        if transfer.phase != Phase::Measured {
            if self.measured == 0 {
                self.begin(at_ns);
            }
            return;
        }
        self.measured += 1;
        if self.begin_ns.is_none() {
            return self.begin(at_ns);
        }
        let gap_ns = at_ns.saturating_sub(self.end_ns);
        self.gaps.push(self.end_ns, gap_ns);
        self.end_ns = self.end_ns.max(at_ns);
        for level in &mut self.levels {
            level.complete(at_ns, transfer.bytes.into());
        }
    }

    fn begin(&mut self, at_ns: u64) {
        self.begin_ns = Some(at_ns);
        self.end_ns = at_ns;
        for level in &mut self.levels {
            level.begin(at_ns);
        }
    }

    /// `end_ns`: when the measured time ended, in which a link that fell silent for longer than every gap is still
    /// followed.
    fn finish(self, end_ns: u64) -> Flow {
        let (series, gap) = self.gaps.finish();
        let buffer = self.levels.into_iter().map(|mut level| {
            level.wait(end_ns);
            Buffer {
                rate_bytes_s: level.rate_bytes_s() as f64,
                worst_bytes: level.worst_bytes(),
            }
        });
        let buffer = if series.of > 0 {
            buffer.collect()
        } else {
            Vec::new()
        };
        Flow {
            way: self.way,
            series,
            gap,
            buffer,
        }
    }
}
