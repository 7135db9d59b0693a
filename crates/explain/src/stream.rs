//! The split of a stream run: each transfer's time into application, USB stack, and device and bus.

use crate::ahead::buffered;
use crate::busy::full_bus;
use crate::modelled::{self, Modelled};
use crate::verdict::{Larger, Queued, Verdict, WORTH};
use serde::Serialize;
use wiregauge_record::{
    BusLimit, Direction, Disturbance, FlowSummary, StreamPlan, StreamPoint, StreamSummary, Way,
};

/// An application's part below this is not worth a queue by itself.
const IDLE: f64 = 0.10;
/// Fewer pending than this part of the queue means that the host does not keep up.
const BEHIND: f64 = 0.75;
/// A thread that computes this part of the time has none left.
const BUSY: f64 = 0.90;
/// A gain below this factor is within what two points of a run differ by anyway.
const GAIN: f64 = 1.25;
/// A queue that hides most gaps of one transfer; what to try first.
const TRY_QUEUE: u32 = 4;

/// A stream run explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamExplanation {
    /// Each way of each point.
    pub flows: Vec<FlowSplit>,
    /// The link in a few numbers, each way.
    pub models: Vec<Modelled>,
    /// URB events that usbmon had no room for.
    pub urb_events_overflowed: u64,
    /// URB events dropped because the host's clock was set.
    pub urb_events_at_clock_set: u64,
}

/// Where the time of one way of one point went. Means, because they add up; in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSplit {
    /// Which point.
    pub point: StreamPoint,
    /// Which way of it.
    pub way: Way,
    /// True where the link has transfers that pend (USB); elsewhere a transfer is a system call.
    pub queued: bool,
    /// Transfers of the measured part.
    pub transfers: u64,
    /// Completion of a transfer to the next submission into its place: the application.
    pub application_ns: Option<f64>,
    /// From the application's submission to the stack's, and from giveback to the application;
    /// `None` where usbmon was not there to tell.
    pub stack_ns: Option<f64>,
    /// Submission of the URB to its giveback: device, bus and host controller, waiting behind others
    /// in the queue included. Without usbmon the whole time of the transfer, so with the stack.
    pub device_bus_ns: Option<f64>,
    /// Sum of the parts: from one submission into a place of the queue to the next.
    pub cycle_ns: f64,
    /// Completion to completion: the time that each transfer costs.
    pub transfer_ns: Option<f64>,
    /// Transfers whose URB was seen, where usbmon was there.
    pub watched: Option<u64>,
    /// Mean number of transfers pending.
    pub achieved_queue: f64,
    /// Bytes a second, without those that buffers between host and device took.
    pub bytes_s: f64,
    /// Which side limits.
    pub verdict: Verdict,
    /// The verdict in words.
    pub words: String,
}

impl FlowSplit {
    /// A part of the cycle, 0 to 1.
    pub fn share(&self, part_ns: Option<f64>) -> Option<f64> {
        (self.cycle_ns > 0.0).then(|| Some(part_ns? / self.cycle_ns))?
    }
}

/// Explains a stream run by its plan and the summaries of its points.
pub fn of_stream(plan: &StreamPlan, points: &[StreamSummary]) -> StreamExplanation {
    let mut flows: Vec<FlowSplit> = Vec::new();
    for summary in points {
        for flow in &summary.flows {
            let mut split = split(plan, summary, flow);
            split.verdict = verdict(plan, points, summary, &split, flow);
            split.words = split.verdict.to_string();
            flows.push(split);
        }
    }
    let (mut overflowed, mut at_clock_set) = (0, 0);
    for disturbance in points.iter().flat_map(|point| &point.disturbances) {
        if let Disturbance::UrbEventsLost {
            overflowed: more,
            clock_set,
        } = disturbance
        {
            overflowed += more;
            at_clock_set += clock_set;
        }
    }
    StreamExplanation {
        flows,
        models: modelled::of_stream(plan, points),
        urb_events_overflowed: overflowed,
        urb_events_at_clock_set: at_clock_set,
    }
}

fn split(plan: &StreamPlan, summary: &StreamSummary, flow: &FlowSummary) -> FlowSplit {
    let mean = |d: &Option<wiregauge_stats::Distribution>| d.as_ref().map(|d| d.mean.value);
    let point = summary.point;
    let (stack_ns, device_bus_ns) = match (mean(&flow.stack_time), mean(&flow.urb_time)) {
        (Some(stack), Some(urb)) => (Some(stack), Some(urb)),
        _ => (None, mean(&flow.transfer_time)),
    };
    let application_ns = mean(&flow.host_gap);
    let link = plan.links().nth(point.link as usize);
    let parts = [application_ns, stack_ns, device_bus_ns];
    FlowSplit {
        point,
        way: flow.way,
        queued: link.is_some_and(|address| address.starts_with("usb:")),
        transfers: flow.transfers,
        application_ns,
        stack_ns,
        device_bus_ns,
        cycle_ns: parts.into_iter().flatten().sum(),
        transfer_ns: mean(&flow.gap),
        watched: stack_ns.and(flow.urb_time.as_ref()).map(|urb| urb.n),
        achieved_queue: flow.achieved_queue,
        bytes_s: carried(plan, summary, flow),
        verdict: Verdict::Nothing,
        words: String::new(),
    }
}

/// Bytes a second of one way that the link carried.
fn carried(plan: &StreamPlan, summary: &StreamSummary, flow: &FlowSummary) -> f64 {
    rate(flow, summary.elapsed_ns) - buffered(plan, summary, flow)
}

/// The physical limit, with the part of it that the link used.
fn limit_of(plan: &StreamPlan, summary: &StreamSummary, flow: &FlowSummary) -> Option<BusLimit> {
    let limit = flow.limit.clone()?;
    let flows = if limit.shared {
        &summary.flows[..]
    } else {
        std::slice::from_ref(flow)
    };
    let kept: f64 = flows.iter().map(|one| buffered(plan, summary, one)).sum();
    Some(BusLimit {
        used: limit.used - kept / limit.bytes_s,
        ..limit
    })
}

/// Bytes a second of one way, by the count of the host.
fn rate(flow: &FlowSummary, elapsed_ns: u64) -> f64 {
    flow.rate
        .map_or_else(|| per_second(flow.bytes, elapsed_ns), |rate| rate.value)
}

fn per_second(bytes: u64, ns: u64) -> f64 {
    if ns == 0 {
        0.0
    } else {
        bytes as f64 * 1e9 / ns as f64
    }
}

fn verdict(
    plan: &StreamPlan,
    points: &[StreamSummary],
    summary: &StreamSummary,
    split: &FlowSplit,
    flow: &FlowSummary,
) -> Verdict {
    let (Some(application_ns), Some(device_bus_ns)) = (split.application_ns, split.device_bus_ns)
    else {
        return Verdict::Nothing;
    };
    let checked = plan.check && split.way == Way::In;
    let larger = larger_transfers(plan, points, split);
    let busy = flow.cpu_ns_per_mb * rate(flow, summary.elapsed_ns) / 1e15;
    if busy >= BUSY {
        return Verdict::Application {
            share: busy.min(1.0),
            between_calls: false,
            checked,
            larger,
        };
    }
    let share = |ns: f64| ns / split.cycle_ns.max(1.0);
    let limit = limit_of(plan, summary, flow);
    if let Some(limit) = &limit
        && let Some(used) = full_bus(limit)
    {
        return Verdict::Bus {
            bytes_s: split.bytes_s.min(limit.bytes_s),
            used,
            limit_bytes_s: limit.bytes_s,
            source: limit.source.clone(),
        };
    }
    let limit = limit.map(|limit| (limit.bytes_s, limit.used));
    let queue = split.point.queue;
    let transfer_ns = split.transfer_ns.unwrap_or(split.cycle_ns);
    let device = |in_calls: Option<f64>| Verdict::Device {
        bytes_s: split.bytes_s,
        transfer_ns,
        in_calls,
        limit,
        larger,
    };
    if !split.queued {
        let application = share(application_ns);
        return if application >= 0.5 {
            Verdict::Application {
                share: application,
                between_calls: true,
                checked,
                larger,
            }
        } else {
            device(Some(share(device_bus_ns)))
        };
    }
    if queue == 1 {
        let idle = share(application_ns + split.stack_ns.unwrap_or(0.0));
        let queued = larger_queue(points, split, transfer_ns);
        // What a queue would gain if the host's pauses were all that it takes away.
        let hidden = 1.0 / (1.0 - idle).max(0.01);
        let pauses = |faster: f64| faster >= (1.0 + hidden) / 2.0;
        let hides_more = |faster: f64| faster >= GAIN * hidden;
        return match queued {
            Some(Queued { faster, .. })
                if !hides_more(faster) && (idle < IDLE || !pauses(faster)) =>
            {
                device(None)
            }
            _ => Verdict::OneAtATime {
                idle,
                whole: split.stack_ns.is_some(),
                queued,
                try_queue: TRY_QUEUE,
            },
        };
    }
    if split.achieved_queue < BEHIND * f64::from(queue) {
        return Verdict::HostBehind {
            achieved: split.achieved_queue,
            queue,
            collects: false,
            waited_ns: application_ns,
            larger,
        };
    }
    if let Some(stack_ns) = split.stack_ns {
        // Little's law: URBs in flight are their time over the time between two of them.
        let in_flight = device_bus_ns / transfer_ns.max(1.0);
        if in_flight < BEHIND * f64::from(queue) && share(stack_ns) > 1.0 - BEHIND {
            return Verdict::HostBehind {
                achieved: in_flight,
                queue,
                collects: true,
                waited_ns: stack_ns,
                larger,
            };
        }
    }
    device(None)
}

/// The fastest point that differs from this one in a larger queue only.
fn larger_queue(points: &[StreamSummary], split: &FlowSplit, transfer_ns: f64) -> Option<Queued> {
    let here = split.point;
    let candidates = points.iter().filter(|other| {
        let there = other.point;
        there.queue > here.queue
            && there.transfer_bytes == here.transfer_bytes
            && key(there) == key(here)
    });
    let timed = candidates.filter_map(|other| {
        let flow = other.flows.iter().find(|flow| flow.way == split.way)?;
        Some((other.point.queue, flow.gap.as_ref()?.mean.value))
    });
    let (queue, queued_ns) = timed.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (queued_ns > 0.0).then(|| Queued {
        queue,
        faster: transfer_ns / queued_ns,
    })
}

/// What larger transfers gain by the points that differ from this one in that only: the fastest larger one;
/// of the largest, what it gained over the fastest smaller one, if that is nothing.
fn larger_transfers(
    plan: &StreamPlan,
    points: &[StreamSummary],
    split: &FlowSplit,
) -> Option<Larger> {
    let here = split.point;
    let alike = points.iter().filter(|other| {
        let there = other.point;
        there.queue == here.queue && key(there) == key(here)
    });
    let rates = alike.filter_map(|other| {
        let flow = other.flows.iter().find(|flow| flow.way == split.way)?;
        (flow.transfers > 0).then(|| (other.point.transfer_bytes, carried(plan, other, flow)))
    });
    let fastest = |larger: bool| {
        let side = rates.clone().filter(|(bytes, _)| match larger {
            true => *bytes > here.transfer_bytes,
            false => *bytes < here.transfer_bytes,
        });
        side.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    if split.bytes_s <= 0.0 {
        return None;
    }
    if let Some((transfer_bytes, bytes_s)) = fastest(true) {
        return Some(Larger {
            transfer_bytes,
            faster: bytes_s / split.bytes_s,
        });
    }
    let (_, bytes_s) = fastest(false)?;
    let gained = Larger {
        transfer_bytes: here.transfer_bytes,
        faster: split.bytes_s / bytes_s,
    };
    (gained.faster < WORTH).then_some(gained)
}

/// What two points must have in common to be compared.
fn key(point: StreamPoint) -> (Direction, u32, bool) {
    (point.direction, point.link, point.together)
}
