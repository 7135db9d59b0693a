//! From transfers to a stream point's summary, one transfer at a time, in memory that does not grow
//! with the length of the run but for one figure a second.

use crate::direction::Way;
use crate::isochronous::IsochronousCounts;
use crate::point_summary::{BusLimit, Ending, ResourceUse};
use crate::stream_plan::{StreamPlan, StreamPoint};
use crate::stream_summary::{
    BufferNeed, ByteCounts, DeviceCount, FlowSummary, Recording, StreamSummary,
};
use crate::{Phase, Transfer, TransferStatus};
use std::collections::VecDeque;
use wiregauge_stats::{Backlog, Distribution, Estimate, Series};

/// Up to this duration of a point, rates are given for each tenth of a second.
const SHORT_NS: u64 = 3_000_000_000;

/// Steps kept of one way, 8 B each: twelve days of seconds.
const MOST_STEPS: usize = 1 << 20;

/// Blocks of time that one step is cut into for the confidence of the rate.
const BLOCKS_A_STEP: u64 = 10;

/// What the engine alone sees of one way of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowFacts {
    /// Which way.
    pub way: Way,
    /// What became of the bytes, both ends compared.
    pub counts: ByteCounts,
    /// Places where a pattern without positions jumps.
    pub jumps: Option<u64>,
    /// What the device counted.
    pub device: Option<DeviceCount>,
    /// Why what it reported cannot be true.
    pub report_error: Option<String>,
    /// CPU time of the measuring thread and of a helper of its link while the measured part ran,
    /// in nanoseconds.
    pub cpu_ns: u64,
    /// The physical limit of the link; the part used is filled in here.
    pub limit: Option<BusLimit>,
    /// The recording of what was received.
    pub recording: Option<Recording>,
    /// What became of the packets of isochronous transfers.
    pub isochronous: Option<IsochronousCounts>,
}

/// What the figures of one way are made of, for whoever wants other figures of it.
pub struct FlowSeries {
    /// Which way.
    pub way: Way,
    /// Completion to completion, in nanoseconds.
    pub gap: Series,
    /// Submission to completion, in nanoseconds.
    pub transfer_time: Series,
    /// Bytes of each block of time.
    pub block_bytes: Series,
    /// For each of the plan's rates, the device's buffer.
    pub backlogs: Vec<(u64, Backlog)>,
}

/// Takes the transfers of one point, those of each way in the order of completion.
pub struct StreamSummariser {
    point: StreamPoint,
    loss: f64,
    flows: Vec<Flow>,
}

impl StreamSummariser {
    /// A summariser for one point of a plan.
    pub fn new(plan: &StreamPlan, point: StreamPoint) -> StreamSummariser {
        let ways = point.direction.ways();
        StreamSummariser {
            point,
            loss: plan.loss,
            flows: ways
                .iter()
                .map(|&way| Flow::new(plan, point, way))
                .collect(),
        }
    }

    /// Takes one transfer. One of a way that the point does not have is ignored.
    pub fn push(&mut self, transfer: &Transfer) {
        if let Some(flow) = self.flows.iter_mut().find(|flow| flow.way == transfer.way) {
            flow.push(transfer);
        }
    }

    /// The same, to be read as series; the rate in blocks of so many nanoseconds.
    pub fn in_blocks(mut self, block_ns: u64) -> StreamSummariser {
        for flow in &mut self.flows {
            flow.blocks = Steps::of(block_ns.max(1));
        }
        self
    }

    /// The series instead of the summary.
    pub fn into_series(self) -> Vec<FlowSeries> {
        let series = |flow: Flow| FlowSeries {
            way: flow.way,
            gap: flow.gap,
            transfer_time: flow.transfer_time,
            block_bytes: flow.block_bytes,
            backlogs: flow.backlogs,
        };
        self.flows.into_iter().map(series).collect()
    }

    /// The summary. `end_ns` is when the measuring ended, in nanoseconds since the start of the
    /// point; `facts` (one for each way) and `resources` come from the engine, which alone sees
    /// them. The disturbances are added by whoever knows the host.
    pub fn finish(
        mut self,
        ending: Ending,
        end_ns: u64,
        facts: &[FlowFacts],
        resources: ResourceUse,
    ) -> StreamSummary {
        self.flows.iter_mut().for_each(|flow| flow.end(end_ns));
        let begin = self.flows.iter().filter_map(|flow| flow.begin_ns).min();
        let end = self.flows.iter().map(|flow| flow.end_ns).max();
        let together: f64 = self.flows.iter().map(Flow::bytes_s).sum();
        let flows = self.flows.into_iter().map(|flow| {
            let of_way = facts.iter().find(|facts| facts.way == flow.way);
            let facts = of_way.cloned().unwrap_or_default();
            flow.finish(facts, together, self.loss)
        });
        StreamSummary {
            point: self.point,
            ending,
            elapsed_ns: begin.zip(end).map_or(0, |(begin, end)| end - begin),
            flows: flows.collect(),
            resources,
            disturbances: Vec::new(),
        }
    }
}

/// One way of a point.
struct Flow {
    way: Way,
    transfers: u64,
    bytes: u64,
    stalls: u64,
    /// The completion that the measured time is counted from: the last one of the start-up, else
    /// the first measured one.
    begin_ns: Option<u64>,
    /// The last completion, or the end of a silence.
    end_ns: u64,
    longest_gap_ns: u64,
    /// Bytes completed after `begin_ns`.
    moved: u64,
    pending: Pending,
    places: Places,
    steps: Steps,
    blocks: Steps,
    block_bytes: Series,
    step_bytes: Vec<f64>,
    transfer_time: Series,
    gap: Series,
    host_gap: Series,
    stack_time: Series,
    urb_time: Series,
    backlogs: Vec<(u64, Backlog)>,
}

impl Flow {
    fn new(plan: &StreamPlan, point: StreamPoint, way: Way) -> Flow {
        let step_ns = if plan.duration_ns < SHORT_NS {
            100_000_000
        } else {
            1_000_000_000
        };
        let rates = plan.rates_bytes_s.iter();
        Flow {
            way,
            transfers: 0,
            bytes: 0,
            stalls: 0,
            begin_ns: None,
            end_ns: 0,
            longest_gap_ns: 0,
            moved: 0,
            pending: Pending::of(point.queue),
            places: Places::of(point.queue),
            steps: Steps::of(step_ns),
            blocks: Steps::of(step_ns / BLOCKS_A_STEP),
            block_bytes: Series::new(),
            step_bytes: Vec::new(),
            transfer_time: Series::new(),
            gap: Series::new(),
            host_gap: Series::new(),
            stack_time: Series::new(),
            urb_time: Series::new(),
            backlogs: rates.map(|&rate| (rate, Backlog::new(rate))).collect(),
        }
    }

    fn push(&mut self, transfer: &Transfer) {
        let host_gap_ns = self.places.take(transfer);
        self.pending.take(transfer);
        match transfer.status {
            TransferStatus::Ok => {}
            TransferStatus::Stalled => {
                self.stalls += 1;
                return;
            }
            TransferStatus::Cancelled | TransferStatus::Failed => return,
        }
        if transfer.phase != Phase::Measured {
            if self.transfers == 0 {
                self.begin(transfer.complete_ns);
            }
            return;
        }
        self.transfers += 1;
        self.bytes += u64::from(transfer.bytes);
        let transfer_ns = transfer.complete_ns.saturating_sub(transfer.submit_ns);
        self.transfer_time.push(transfer_ns);
        if let Some(host_gap_ns) = host_gap_ns {
            self.host_gap.push(host_gap_ns);
        }
        if transfer.urb_complete_ns > 0 {
            let urb_ns = transfer
                .urb_complete_ns
                .saturating_sub(transfer.urb_submit_ns);
            self.urb_time.push(urb_ns);
            self.stack_time.push(transfer_ns.saturating_sub(urb_ns));
        }
        match self.begin_ns {
            None => self.begin(transfer.complete_ns),
            Some(_) => {
                self.move_on(transfer.complete_ns, transfer.bytes);
            }
        }
    }

    /// Begins to count at a completion.
    fn begin(&mut self, at_ns: u64) {
        self.begin_ns = Some(at_ns);
        self.end_ns = at_ns;
        self.pending.begin(at_ns);
        self.steps.begin(at_ns);
        self.blocks.begin(at_ns);
        for (_, backlog) in &mut self.backlogs {
            backlog.begin(at_ns);
        }
    }

    fn move_on(&mut self, at_ns: u64, bytes: u32) {
        let gap_ns = at_ns.saturating_sub(self.end_ns);
        self.gap.push(gap_ns);
        self.longest_gap_ns = self.longest_gap_ns.max(gap_ns);
        self.end_ns = self.end_ns.max(at_ns);
        self.pending.pass(self.end_ns);
        self.moved += u64::from(bytes);
        self.pass(at_ns, bytes);
        for (_, backlog) in &mut self.backlogs {
            backlog.complete(at_ns, bytes.into());
        }
    }

    /// Enters so many bytes, spread evenly over the time since the completion before, into the
    /// rates.
    fn pass(&mut self, at_ns: u64, bytes: u32) {
        let (steps, blocks) = (&mut self.step_bytes, &mut self.block_bytes);
        self.steps.pass(at_ns, bytes, |bytes| {
            if steps.len() < MOST_STEPS {
                steps.push(bytes);
            }
        });
        self.blocks
            .pass(at_ns, bytes, |bytes| blocks.push(bytes.round() as u64));
    }

    /// The time since the last completion is part of no gap, and counts only where it is longer
    /// than every gap: the link had fallen silent.
    fn end(&mut self, end_ns: u64) {
        if self.begin_ns.is_none() {
            return;
        }
        for (_, backlog) in &mut self.backlogs {
            backlog.wait(end_ns);
        }
        if end_ns.saturating_sub(self.end_ns) > self.longest_gap_ns {
            self.end_ns = end_ns;
            self.pass(end_ns, 0);
        }
    }

    fn elapsed_ns(&self) -> u64 {
        self.end_ns - self.begin_ns.unwrap_or(self.end_ns)
    }

    fn bytes_s(&self) -> f64 {
        match self.elapsed_ns() {
            0 => 0.0,
            elapsed_ns => self.moved as f64 * 1e9 / elapsed_ns as f64,
        }
    }

    /// The rate, with the interval of the mean of its blocks; none where nothing moved.
    fn rate(&self) -> Option<Estimate> {
        let known = self.elapsed_ns() > 0 && self.transfers > 0;
        let value = Some(self.bytes_s()).filter(|_| known)?;
        let half = self.block_bytes.distribution().and_then(|blocks| {
            Some((blocks.mean.high? - blocks.mean.value) * 1e9 / self.blocks.length_ns as f64)
        });
        Some(Estimate {
            value,
            low: half.map(|half| (value - half).max(0.0)),
            high: half.map(|half| value + half),
        })
    }

    /// `together`: bytes a second of all ways of the point.
    fn finish(self, facts: FlowFacts, together: f64, loss: f64) -> FlowSummary {
        let elapsed_ns = self.elapsed_ns();
        let rate = self.rate();
        let bytes_s = self.bytes_s();
        let distribution = |series: &Series| -> Option<Distribution> { series.distribution() };
        FlowSummary {
            way: self.way,
            transfers: self.transfers,
            bytes: self.bytes,
            stalls: self.stalls,
            rate,
            rate_bytes_s: self
                .step_bytes
                .iter()
                .map(|bytes| bytes * 1e9 / self.steps.length_ns as f64)
                .collect(),
            rate_step_ns: self.steps.length_ns,
            counts: facts.counts,
            jumps: facts.jumps,
            device: facts.device,
            report_error: facts.report_error,
            transfer_time: distribution(&self.transfer_time),
            gap: distribution(&self.gap),
            host_gap: distribution(&self.host_gap),
            stack_time: distribution(&self.stack_time),
            urb_time: distribution(&self.urb_time),
            achieved_queue: self.pending.until(self.end_ns) as f64 / elapsed_ns.max(1) as f64,
            buffers: self
                .backlogs
                .iter()
                .map(|(rate, backlog)| buffer_need(*rate, backlog, loss))
                .collect(),
            cpu_ns_per_mb: match self.bytes {
                0 => 0.0,
                bytes => facts.cpu_ns as f64 * 1e6 / bytes as f64,
            },
            limit: facts.limit.map(|limit| BusLimit {
                used: if limit.shared { together } else { bytes_s } / limit.bytes_s,
                ..limit
            }),
            recording: facts.recording,
            isochronous: facts.isochronous,
        }
    }
}

fn buffer_need(rate_bytes_s: u64, backlog: &Backlog, loss: f64) -> BufferNeed {
    let buffer = backlog.need(loss);
    BufferNeed {
        rate_bytes_s,
        sustained: buffer.sustained,
        worst_bytes: buffer.worst_bytes,
        loss,
        for_loss_bytes: buffer.for_loss,
        extrapolated: buffer.extrapolated,
        observable_loss: buffer.observable_loss,
    }
}

/// The time that transfers pended, summed, of the measured time alone: of one that was submitted
/// before or completed after it, the part within. So the mean number pending is exact, and never
/// more than the queue.
struct Pending {
    queue: usize,
    begin_ns: u64,
    sum_ns: u128,
    /// When those were submitted and completed whose completion the measured time may not reach:
    /// no more than the queue can pend at its end.
    open: VecDeque<(u64, u64)>,
}

impl Pending {
    fn of(queue: u32) -> Pending {
        Pending {
            queue: queue.max(1) as usize,
            begin_ns: 0,
            sum_ns: 0,
            open: VecDeque::new(),
        }
    }

    fn take(&mut self, transfer: &Transfer) {
        if self.open.len() < self.queue {
            let times = (transfer.submit_ns, transfer.complete_ns);
            self.open.push_back(times);
        }
    }

    /// The measured time begins; what was taken so far is over.
    fn begin(&mut self, at_ns: u64) {
        self.begin_ns = at_ns;
        self.open.clear();
    }

    /// The measured time reaches to this completion.
    fn pass(&mut self, at_ns: u64) {
        while let Some(&(submit_ns, complete_ns)) = self.open.front()
            && complete_ns <= at_ns
        {
            self.sum_ns += u128::from(complete_ns.saturating_sub(submit_ns.max(self.begin_ns)));
            self.open.pop_front();
        }
    }

    /// The sum, if the measured time ends then.
    fn until(&self, end_ns: u64) -> u128 {
        let open = self.open.iter().map(|&(submit_ns, complete_ns)| {
            let (from_ns, to_ns) = (submit_ns.max(self.begin_ns), complete_ns.min(end_ns));
            u128::from(to_ns.saturating_sub(from_ns))
        });
        self.sum_ns + open.sum::<u128>()
    }
}

/// The places in the queue. Transfers complete in the order in which they were submitted, so each
/// takes the place of the one that lies a queue's length before it. A link that never has as many
/// pending as were asked for (a system call a transfer) has a shorter queue.
struct Places {
    asked: usize,
    /// Most transfers pending so far.
    queue: usize,
    /// The latest completions, at most `queue` of them.
    completed: VecDeque<u64>,
}

impl Places {
    fn of(queue: u32) -> Places {
        Places {
            asked: queue as usize,
            queue: 1,
            completed: VecDeque::new(),
        }
    }

    /// Nanoseconds from the completion that freed its place to its submission; `None` for the
    /// transfers that fill the queue for the first time.
    fn take(&mut self, transfer: &Transfer) -> Option<u64> {
        let pending = (transfer.pending as usize).min(self.asked);
        self.queue = self.queue.max(pending);
        let before = self.completed.len().checked_sub(self.queue);
        let freed_ns = before.map(|at| self.completed[at]);
        self.completed.push_back(transfer.complete_ns);
        while self.completed.len() > self.queue {
            self.completed.pop_front();
        }
        freed_ns.map(|freed_ns| transfer.submit_ns.saturating_sub(freed_ns))
    }
}

/// Bytes of each whole step of time.
struct Steps {
    length_ns: u64,
    /// Where the step in progress ends.
    ends_ns: u64,
    last_ns: u64,
    bytes: f64,
}

impl Steps {
    fn of(length_ns: u64) -> Steps {
        Steps {
            length_ns,
            ends_ns: 0,
            last_ns: 0,
            bytes: 0.0,
        }
    }

    fn begin(&mut self, at_ns: u64) {
        self.ends_ns = at_ns.saturating_add(self.length_ns);
        self.last_ns = at_ns;
        self.bytes = 0.0;
    }

    /// Bytes that passed since the call before, evenly; `done` is given every step that is over.
    fn pass(&mut self, at_ns: u64, bytes: u32, mut done: impl FnMut(f64)) {
        let at_ns = at_ns.max(self.last_ns);
        let span_ns = at_ns - self.last_ns;
        if span_ns == 0 {
            self.bytes += f64::from(bytes);
            return;
        }
        let a_ns = f64::from(bytes) / span_ns as f64;
        let mut steps = 0;
        // No silence is worth more steps than are kept.
        while at_ns >= self.ends_ns && steps < MOST_STEPS {
            self.bytes += a_ns * (self.ends_ns - self.last_ns) as f64;
            done(std::mem::take(&mut self.bytes));
            self.last_ns = self.ends_ns;
            self.ends_ns = self.ends_ns.saturating_add(self.length_ns);
            steps += 1;
        }
        self.bytes += a_ns * (at_ns - self.last_ns) as f64;
        self.last_ns = at_ns;
        self.ends_ns = self.ends_ns.max(at_ns.saturating_add(1));
    }
}
