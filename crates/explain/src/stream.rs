//! The split of a stream run: each transfer's time into application, USB stack, and device and bus.

use crate::modelled::{self, Modelled};
use crate::verdict::{
    BEHIND, REAL, Verdict, VerdictKind as Kind, full_bus, gain, not_arrived, tries,
};
use serde::Serialize;
use wiregauge_quantity::{percent, rate as shown_rate, time, times};
use wiregauge_record::{
    BusLimit, Disturbance, FlowSummary, StreamPlan, StreamPoint, StreamSummary, Way,
};

/// An application's part below this is not worth a queue by itself.
const IDLE: f64 = 0.10;
/// A thread that computes this part of the time has none left.
const BUSY: f64 = 0.90;
/// A gain below this factor is within what two points of a run differ by anyway.
const GAIN: f64 = 1.25;
/// A gain below this factor is none: the scatter of short runs.
const WORTH: f64 = 1.05;
/// Two rates of one flow differ by less than this factor.
const SHARED: f64 = 1.05;
/// The device's clock may be slower than the host's by this part.
const CLOCKS_DIFFER: f64 = 0.05;

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
    /// Bytes a second, without those that buffers between host and device took, or that did not arrive.
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
            split.words.clone_from(&split.verdict.words);
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
        verdict: Verdict::default(),
        words: String::new(),
    }
}

/// Bytes a second of one way that the link carried.
fn carried(plan: &StreamPlan, summary: &StreamSummary, flow: &FlowSummary) -> f64 {
    let rate = rate(flow, summary.elapsed_ns);
    match not_arrived(flow) {
        Some(missing) => rate * (1.0 - missing),
        None => rate - buffered(plan, summary, flow),
    }
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
    match flow.rate {
        Some(rate) => rate.value,
        None if elapsed_ns == 0 => 0.0,
        None => flow.bytes as f64 * 1e9 / elapsed_ns as f64,
    }
}

/// Which side limits one way of a point: the first that holds.
fn verdict(
    plan: &StreamPlan,
    points: &[StreamSummary],
    summary: &StreamSummary,
    split: &FlowSplit,
    flow: &FlowSummary,
) -> Verdict {
    let (Some(application_ns), Some(device_bus_ns)) = (split.application_ns, split.device_bus_ns)
    else {
        return Verdict::new(Kind::Nothing, "nothing was measured at this point");
    };
    if let Some(missing) = not_arrived(flow) {
        return lossy(split, missing);
    }
    let larger = larger_transfers(plan, points, split);
    let unchecked = remedies(larger, ("--no-check", plan.check && split.way == Way::In));
    let faster_host = remedies(larger, ("--priority, --pin", true));
    let busy = flow.cpu_ns_per_mb * rate(flow, summary.elapsed_ns) / 1e15;
    if busy >= BUSY {
        let share = busy.min(1.0);
        let finding = format!(
            "the CPU of the host; the measuring thread is busy {} of the time",
            percent(share)
        );
        return host(Kind::Application, &finding, &unchecked).with("share", share);
    }
    let share = |ns: f64| ns / split.cycle_ns.max(1.0);
    let limit = limit_of(plan, summary, flow);
    if let Some(limit) = &limit
        && let Some(used) = full_bus(limit)
    {
        return bus(split.bytes_s.min(limit.bytes_s), used, limit);
    }
    let transfer_ns = split.transfer_ns.unwrap_or(split.cycle_ns);
    let carried = shown_rate(split.bytes_s);
    let device = || {
        let finding = format!(
            "the device or the bus, {carried} = {} per transfer",
            time(transfer_ns)
        );
        device_or_link(&finding, "device or bus", split, limit.as_ref(), larger)
    };
    if !split.queued {
        let between = share(application_ns);
        if between >= 0.5 {
            let finding = format!(
                "the host; the measuring thread spends {} of the time between its system calls",
                percent(between)
            );
            return host(Kind::Application, &finding, &unchecked).with("share", between);
        }
        let finding = format!(
            "the link or the other end, {carried}; {} of the time is spent in system calls",
            percent(share(device_bus_ns))
        );
        return device_or_link(&finding, "link or device", split, limit.as_ref(), larger);
    }
    let queue = f64::from(split.point.queue);
    if split.point.queue == 1 {
        let idle = share(application_ns + split.stack_ns.unwrap_or(0.0));
        let here = split.point;
        let queued = fastest(plan, points, split, |there| {
            there.queue > here.queue && there.transfer_bytes == here.transfer_bytes
        });
        let queued = queued.map(|(there, faster)| (there.queue, faster));
        // What a queue would gain if the host's pauses were all that it takes away.
        let hidden = 1.0 / (1.0 - idle).max(0.01);
        let is_worth_it = |(_, faster): (u32, f64)| {
            let is_for_pauses = idle >= IDLE && faster >= (1.0 + hidden) / 2.0;
            is_for_pauses || faster >= GAIN * hidden
        };
        return match queued.is_none_or(is_worth_it) {
            true => one_at_a_time(split, idle, queued),
            false => device(),
        };
    }
    if split.achieved_queue < BEHIND * queue {
        let finding = format!(
            "the host; {:.1} of {queue} transfers were pending on average, and a free slot stayed empty for {}",
            split.achieved_queue,
            time(application_ns)
        );
        let verdict = host(Kind::HostBehind, &finding, &faster_host);
        return verdict.with("achieved", split.achieved_queue);
    }
    if let Some(stack_ns) = split.stack_ns {
        // Little's law: URBs in flight are their time over the time between two of them.
        let in_flight = device_bus_ns / transfer_ns.max(1.0);
        if in_flight < BEHIND * queue && share(stack_ns) > 1.0 - BEHIND {
            let finding = format!(
                "the host; {in_flight:.1} of {queue} URBs were in flight on average; the others were complete and \
                 waited {} to be reaped",
                time(stack_ns)
            );
            let verdict = host(Kind::HostBehind, &finding, &faster_host);
            return verdict.with("achieved", in_flight);
        }
    }
    device()
}

/// The host sends more than arrives, so its own times say nothing of what limits.
fn lossy(split: &FlowSplit, missing: f64) -> Verdict {
    let words = format!(
        "the device or the link, {}; {} of the bytes sent did not arrive",
        shown_rate(split.bytes_s),
        percent(missing)
    );
    Verdict::new(Kind::Device, words)
        .short("device or way")
        .with("missing", missing)
}

/// The host: its measuring thread, or it submits, or collects, too slowly.
fn host(kind: Kind, finding: &str, remedies: &str) -> Verdict {
    Verdict::new(kind, format!("{finding}{remedies}")).short("host")
}

/// The bus carries what it can.
fn bus(bytes_s: f64, used: f64, limit: &BusLimit) -> Verdict {
    let (part, most) = (percent(used), shown_rate(limit.bytes_s));
    let used_by = match used * limit.bytes_s > SHARED * bytes_s {
        true => format!("both directions together use {part} of its {most}"),
        false => format!("{part} of its {most} is used"),
    };
    let words = format!(
        "the bus, {}; {used_by} ({})",
        shown_rate(bytes_s),
        limit.source
    );
    let verdict = Verdict::new(Kind::Bus, words).short("bus");
    verdict.with("used", used)
}

/// The host keeps enough pending, or its calls wait for the link: the device, or something between, takes no more.
fn device_or_link(
    finding: &str,
    side: &str,
    split: &FlowSplit,
    limit: Option<&BusLimit>,
    larger: Option<Larger>,
) -> Verdict {
    let beside = limit.map_or(String::new(), |limit| beside(split.bytes_s, limit));
    let larger = larger.filter(|(_, faster)| *faster >= WORTH);
    let more = larger.map_or(String::new(), gained);
    let words = format!("{finding}{beside}{more}");
    Verdict::new(Kind::Device, words).short(side)
}

/// Each transfer waits for the previous one.
fn one_at_a_time(split: &FlowSplit, idle: f64, queued: Option<(u32, f64)>) -> Verdict {
    // Without usbmon, the stack's part is not known and comes on top.
    let at_least = split.stack_ns.map_or("at least ", |_| "");
    let more = match queued {
        Some((queue, faster)) => format!("; with --queue {queue} it is {} as fast", times(faster)),
        None => ". Try --queue 1,4".to_owned(),
    };
    let words = format!(
        "one transfer at a time: device and bus are idle {at_least}{} of the time while the host prepares the next \
         one{more}",
        percent(idle)
    );
    Verdict::new(Kind::OneAtATime, words)
        .short("one at a time")
        .with("idle", idle)
        .with("queue", queued.map(|(queue, _)| f64::from(queue)))
        .with("faster", queued.map(|(_, faster)| faster))
}

/// The physical limit, and the part of it that is used.
fn beside(bytes_s: f64, limit: &BusLimit) -> String {
    let (most, part) = (shown_rate(limit.bytes_s), percent(limit.used));
    if limit.used > REAL {
        return format!(
            "; this exceeds the physical limit of {most}: buffers were still filling, or the limit is not that of what \
             carried the data"
        );
    }
    let used = match limit.used * limit.bytes_s > SHARED * bytes_s {
        true => format!("both directions together use {part}"),
        false => format!("{part} is used"),
    };
    format!("; the physical limit is {most}, of which {used}")
}

/// What larger transfers gain: of a point with such, its bytes per transfer, and how many times as many bytes a second it
/// has.
type Larger = (u32, f64);

fn gained((transfer_bytes, faster): Larger) -> String {
    match faster < WORTH {
        true => "; in this run, larger --transfer is no faster".to_owned(),
        false => format!(
            "; with --transfer {transfer_bytes}, throughput is {}",
            gain(faster)
        ),
    }
}

/// What larger transfers do, or that they are to be tried where the run has none; and another flag, if it is new.
fn remedies(larger: Option<Larger>, other: (&str, bool)) -> String {
    larger.map_or(String::new(), gained) + &tries(&[("larger --transfer", larger.is_none()), other])
}

/// What larger transfers gain by the points that differ from this one in that only: the fastest larger one;
/// of the largest, what it gained over the fastest smaller one, if that is nothing.
fn larger_transfers(
    plan: &StreamPlan,
    points: &[StreamSummary],
    split: &FlowSplit,
) -> Option<Larger> {
    let here = split.point;
    let is_like = |there: StreamPoint| there.queue == here.queue;
    let larger = fastest(plan, points, split, |there| {
        is_like(there) && there.transfer_bytes > here.transfer_bytes
    });
    if let Some((there, faster)) = larger {
        return Some((there.transfer_bytes, faster));
    }
    let (_, slower) = fastest(plan, points, split, |there| {
        is_like(there) && there.transfer_bytes < here.transfer_bytes
    })?;
    let faster = 1.0 / slower;
    (faster < WORTH).then_some((here.transfer_bytes, faster))
}

/// The fastest of those points that have direction and link in common with this one, and how many times as fast it is.
fn fastest(
    plan: &StreamPlan,
    points: &[StreamSummary],
    split: &FlowSplit,
    is_wanted: impl Fn(StreamPoint) -> bool,
) -> Option<(StreamPoint, f64)> {
    let key = |point: StreamPoint| (point.direction, point.link, point.together);
    let wanted = points.iter().filter(|other| {
        let there = other.point;
        key(there) == key(split.point) && is_wanted(there)
    });
    let rates = wanted.filter_map(|other| {
        let flow = other.flows.iter().find(|flow| flow.way == split.way)?;
        (flow.transfers > 0).then(|| (other.point, carried(plan, other, flow)))
    });
    let (point, bytes_s) = rates.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (split.bytes_s > 0.0).then(|| (point, bytes_s / split.bytes_s))
}

/// The host's rate OUT as a multiple of the device's, if the host sent faster because buffers between host and device took the
/// difference: the device was still receiving when the host had sent everything.
pub fn ahead_of_device(
    plan: &StreamPlan,
    point: &StreamSummary,
    flow: &FlowSummary,
) -> Option<f64> {
    let device = flow.device.as_ref().filter(|_| flow.way == Way::Out)?;
    let received = device.bytes_s().filter(|&bytes_s| bytes_s > 0.0)?;
    let sent = flow.rate?;
    // One transfer may lie outside the time that was measured.
    let one = 1.0 / flow.transfers.max(1) as f64;
    let least = sent.low.unwrap_or(sent.value) * (1.0 - one);
    let sending_ns = (plan.settle_ns + point.elapsed_ns) as f64;
    let is_ahead = least > received * (1.0 + CLOCKS_DIFFER);
    let receives_on = device.elapsed_ns as f64 > sending_ns * (1.0 + CLOCKS_DIFFER);
    (is_ahead && receives_on).then(|| sent.value / received)
}

/// Bytes a second that the host counted and buffers between host and device took.
fn buffered(plan: &StreamPlan, point: &StreamSummary, flow: &FlowSummary) -> f64 {
    let ahead = ahead_of_device(plan, point, flow).zip(flow.rate);
    ahead.map_or(0.0, |(times, sent)| sent.value - sent.value / times)
}
