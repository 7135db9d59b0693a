//! One point of a stream: a thread that receives and one that sends, started together, and what both
//! ends counted.

use super::accounting;
use super::check::{shape_of, shape_refused};
use super::coordination::Coordination;
use super::plausible::{self, Known};
use super::receiver::{Receive, Received};
use super::recording::{RecordInput, Tap, Tapped};
use super::rows::{Rows, Window};
use super::sender::{Send, Sent};
use crate::ring::Log;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use wiregauge_link::Link;
use wiregauge_link::host::{ClockGaps, Helper, Watch};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{
    BusLimit, ByteCounts, Disturbance, Ending, FlowFacts, Pattern, ResourceUse, Responder,
    StreamPlan, StreamPoint, StreamProtocol, Transfer, Way,
};
use wiregauge_session::stream::{
    Orders, PatternBytes, PatternChecker, ReceiverConfig, SenderConfig, StreamReceiver,
};
use wiregauge_wire::{StreamReport, abilities};

/// What is the same for every point of a run.
pub struct Setting<'a> {
    /// The run.
    pub plan: &'a StreamPlan,
    /// Each transfer is one message.
    pub datagram: bool,
    /// The device; `None` where there is none to order.
    pub responder: Option<&'a Responder>,
    /// What the link can carry.
    pub limit: Option<&'a BusLimit>,
    /// The user wants an end.
    pub halt: &'a AtomicBool,
    /// What CLOCK_MONOTONIC read when the stream of a point began, from which its rows count.
    pub begun_ns: &'a AtomicU64,
}

/// Where the rows of both ways go.
pub struct Logs {
    /// IN.
    pub in_: Log<Transfer>,
    /// OUT.
    pub out: Log<Transfer>,
    /// Where the data received by the next point that receives goes, if it is recorded.
    pub record: Option<RecordInput>,
}

impl Logs {
    fn stalls(&self) -> u64 {
        self.in_.stalls + self.out.stalls
    }
}

/// A point that is over.
pub struct PointEnd {
    /// How it ended.
    pub ending: Ending,
    /// The failure, if it failed.
    pub error: Option<LinkError>,
    /// Each way of it.
    pub ways: Vec<FlowFacts>,
    /// When the measuring ended, in nanoseconds since the stream began.
    pub end_ns: u64,
    /// What the measuring threads used.
    pub resources: ResourceUse,
    /// What disturbed them.
    pub disturbances: Vec<Disturbance>,
    /// What was recorded of it.
    pub tapped: Option<Tapped>,
}

/// What one thread leaves behind, with the kernel's accounts of it.
struct Watched<T> {
    value: T,
    resources: ResourceUse,
    disturbances: Vec<Disturbance>,
}

/// Streams one point. The orders have the numbers from `sequence` on.
pub fn stream_point(
    link: &mut dyn Link,
    setting: &Setting<'_>,
    point: StreamPoint,
    sequence: u32,
    logs: &mut Logs,
) -> PointEnd {
    let mut end = flow(link, setting, point, sequence, logs);
    let isochronous = link.isochronous();
    for facts in &mut end.ways {
        facts.isochronous = isochronous.clone();
    }
    end
}

fn flow(
    link: &mut dyn Link,
    setting: &Setting<'_>,
    point: StreamPoint,
    sequence: u32,
    logs: &mut Logs,
) -> PointEnd {
    let plan = setting.plan;
    let shape = shape_of(&point);
    let stalls_before = logs.stalls();
    let has_device = link.has_device();
    let raw = plan.protocol == StreamProtocol::Raw;
    let pattern = pattern_of(plan, setting.datagram, link.packet_bytes());
    let flows = match link.flows(shape) {
        Ok(flows) => flows,
        Err(error) => return failed(shape_refused(&plan.address, shape, &error)),
    };
    let (mut out, mut in_) = (flows.out, flows.in_);
    let able = setting.responder.map_or(0, |device| device.abilities);
    let orders = (has_device && !raw).then(|| {
        Orders::new(point.direction, point.transfer_bytes, sequence)
            .asking_bus(able & abilities::BUS_COUNTS != 0)
    });
    let shared = Coordination::new(setting.halt, setting.begun_ns);
    let window = Window {
        from_ns: plan.settle_ns,
        to_ns: plan.settle_ns + plan.duration_ns,
    };
    let has = |way: Way| point.direction.ways().contains(&way);
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let input = logs.record.take_if(|_| has(Way::In));
    let receive = Receive {
        shared: &shared,
        address: &plan.address,
        transfer_bytes: shape.transfer_bytes,
        rows: has(Way::In).then(|| Rows::new(&mut logs.in_, Way::In, window)),
        engine: StreamReceiver::new(ReceiverConfig {
            orders: orders.clone(),
            takes_data: has(Way::In),
            check: plan.check && !raw,
            pattern: (pattern.clone().filter(|_| plan.check)).map(PatternChecker::new),
            datagram: setting.datagram,
            queue: if has(Way::In) { shape.queue } else { 1 },
            timeout_ns: plan.timeout_ns,
        }),
        timeout,
        may_end: raw,
        tap: input.map(|input| Tap::new(input, &shared)),
    };
    let send = Send {
        shared: &shared,
        address: &plan.address,
        config: SenderConfig {
            orders,
            sends_data: has(Way::Out),
            transfer_bytes: shape.transfer_bytes,
            queue: shape.queue,
            datagram: setting.datagram,
            timeout_ns: plan.timeout_ns,
            lasts_ns: window.to_ns,
            sends_bytes: u64::MAX,
        },
        pattern,
        rows: has(Way::Out).then(|| Rows::new(&mut logs.out, Way::Out, window)),
        timeout,
    };
    let pinned = plan.host.pin;
    let lent_to = in_.lent_to();
    let (received, sent) = std::thread::scope(|scope| {
        // It inherits the priority and the processor of this one.
        let receiving = std::thread::Builder::new()
            .name("receive".into())
            .spawn_scoped(scope, || {
                watched(pinned, lent_to, &shared, || {
                    let rows = receive.rows.is_some();
                    let received = if rows || has_device {
                        receive.run(in_.as_mut())
                    } else {
                        Received::default()
                    };
                    (received, received.transfers)
                })
            });
        let receiving = match receiving {
            Ok(receiving) => receiving,
            Err(error) => {
                shared.fail(LinkError::from_io(
                    "cannot start the receiving thread",
                    &error,
                ));
                return (None, None);
            }
        };
        let sent = watched(pinned, None, &shared, || {
            let sent = send.run(out.as_mut());
            (sent, sent.transfers)
        });
        (receiving.join().ok(), Some(sent))
    });
    drop((out, in_));
    if received.is_none() {
        shared.fail(LinkError::new(
            LinkErrorKind::Io,
            "receiving",
            "the receiving thread panicked",
        ));
    }
    let stalls = logs.stalls() - stalls_before;
    put_together(setting, point, &shared, has_device, stalls, received, sent)
}

fn put_together(
    setting: &Setting<'_>,
    point: StreamPoint,
    shared: &Coordination<'_>,
    has_device: bool,
    stalls: u64,
    received: Option<Watched<Received>>,
    sent: Option<Watched<Sent>>,
) -> PointEnd {
    let has = |way: Way| point.direction.ways().contains(&way);
    let mut resources = ResourceUse::default();
    let mut disturbances = Vec::new();
    let mut add = |used: ResourceUse, disturbed: &[Disturbance]| {
        resources = added(resources, used);
        for disturbance in disturbed {
            // What concerns the machine both threads have seen.
            let kind = std::mem::discriminant(disturbance);
            if !disturbances
                .iter()
                .any(|d| std::mem::discriminant(d) == kind)
            {
                disturbances.push(disturbance.clone());
            }
        }
    };
    if let Some(received) = received.as_ref().filter(|_| has(Way::In)) {
        add(received.resources, &received.disturbances);
    }
    if let Some(sent) = sent.as_ref().filter(|_| has(Way::Out)) {
        add(sent.resources, &sent.disturbances);
    }
    if stalls > 0 {
        disturbances.push(Disturbance::StorageTooSlow { times: stalls });
    }
    let received = received.map(|watched| watched.value).unwrap_or_default();
    let sent = sent.map(|watched| watched.value).unwrap_or_default();
    // A way on which nothing moved has no rate, and shall not look as if it had one of zero.
    let tapped = received.tapped;
    let idle = point.direction.ways().iter().find(|&&way| match way {
        Way::In => received.measured == 0,
        Way::Out => sent.measured == 0,
    });
    if let Some(&way) = idle.filter(|_| !shared.is_stopped()) {
        let report = sent.reports[way as usize].as_ref();
        shared.fail(match (way, received.closed) {
            (Way::In, true) => ended_early(setting, received.stream.bytes),
            (Way::In, _) if tapped.is_some_and(|tapped| tapped.waits > 0) => held_up(setting),
            _ => idle_way(setting, point, way, received.stream.bytes, report),
        });
    }
    let cut_off = shared.is_stopped() || shared.is_failed();
    let ways = point.direction.ways().iter().map(|&way| {
        let known = Known {
            way,
            bytes: match way {
                Way::In => accounting::reached(&received.stream),
                // What was cancelled may have arrived.
                Way::Out if cut_off => {
                    let pending = u64::from(point.transfer_bytes) * u64::from(point.queue);
                    sent.bytes + pending
                }
                Way::Out => sent.bytes,
            },
            host_ns: sent.reported_ns[way as usize],
            limit: setting.limit.filter(|_| !setting.datagram),
        };
        let report = sent.reports[way as usize];
        let mut report_error = report.and_then(|report| plausible::counts_error(&report, &known));
        let report = report.filter(|_| report_error.is_none());
        let (counts, cpu_ns) = match way {
            Way::In => {
                let counts = accounting::of_in(&received.stream, report.as_ref());
                (counts, received.cpu_ns)
            }
            Way::Out if !has_device => {
                let counts = ByteCounts {
                    sent: Some(sent.bytes),
                    received: Some(sent.bytes),
                    lost: Some(0),
                    ..ByteCounts::default()
                };
                (counts, sent.cpu_ns)
            }
            Way::Out => {
                let counts = accounting::of_out(sent.bytes, report.as_ref());
                (counts, sent.cpu_ns)
            }
        };
        let mut device =
            report.map(|report| accounting::of_device(&report, setting.responder, known.host_ns));
        if let Some(device) = &mut device
            && let Some(error) = plausible::clock_error(device, known.host_ns)
        {
            device.elapsed_ns = 0;
            report_error = Some(error);
        }
        if let Some(device) = &mut device {
            device.bus = sent.bus_counts[way as usize].map(accounting::of_bus);
        }
        FlowFacts {
            way,
            counts,
            jumps: (received.stream.pattern)
                .filter(|_| way == Way::In)
                .map(|found| found.jumps),
            device,
            report_error,
            cpu_ns,
            limit: setting.limit.cloned(),
            recording: None,
            isochronous: None,
        }
    });
    let ways = ways.collect();
    let whole_ns = setting.plan.settle_ns + setting.plan.duration_ns;
    let error = shared.failure();
    let ending = match &error {
        Some(error) => Ending::LinkFailed {
            error: error.to_string(),
        },
        None if shared.is_stopped() => Ending::Interrupted,
        None => Ending::Complete,
    };
    PointEnd {
        ending,
        error,
        ways,
        end_ns: sent.lasted_ns.min(whole_ns),
        resources,
        disturbances,
        tapped,
    }
}

/// The bytes that a raw stream sends, and those that it is compared with.
fn pattern_of(
    plan: &StreamPlan,
    datagram: bool,
    packet_bytes: Option<usize>,
) -> Option<PatternBytes> {
    let packet_bytes = match datagram {
        true => Some(usize::MAX),
        false => packet_bytes,
    };
    let raw = plan.protocol == StreamProtocol::Raw;
    raw.then(|| PatternBytes::new(plan.pattern.unwrap_or(Pattern::Zeros), packet_bytes))
}

/// The error of a device that ended its stream before it was measured.
fn ended_early(setting: &Setting<'_>, came: u64) -> LinkError {
    let plan = setting.plan;
    let settle = Duration::from_nanos(plan.settle_ns);
    LinkError::new(
        LinkErrorKind::Protocol,
        format!("cannot stream with {}", plan.address),
        format!("the device closed the connection after {came} B, within the first {settle:?}, which are not measured"),
    )
    .hint("use a smaller --settle, or a device that sends for longer")
}

/// The error of a receiver that waited for the storage during all of the measured time.
fn held_up(setting: &Setting<'_>) -> LinkError {
    let measured = Duration::from_nanos(setting.plan.duration_ns);
    LinkError::new(
        LinkErrorKind::Io,
        format!("cannot stream with {}", setting.plan.address),
        format!("the receiver waited for --record during all of the measured {measured:?}"),
    )
    .hint("record to faster storage or read the pipe faster, or use a longer --duration")
}

/// The error of a way that moved nothing while it was measured.
fn idle_way(
    setting: &Setting<'_>,
    point: StreamPoint,
    way: Way,
    came: u64,
    report: Option<&StreamReport>,
) -> LinkError {
    let plan = setting.plan;
    let (settle, measured) = (
        Duration::from_nanos(plan.settle_ns),
        Duration::from_nanos(plan.duration_ns),
    );
    let mut what = match (way, came) {
        (Way::In, 0) => format!("received nothing for {:?}", settle + measured),
        (Way::In, came) => {
            format!("received nothing in the measured {measured:?} ({came} B outside)")
        }
        (Way::Out, _) => format!(
            "no transfer of {} B was accepted in the measured {measured:?}",
            point.transfer_bytes
        ),
    };
    if let (Way::In, Some(report)) = (way, report) {
        what.push_str(&format!("; the device reports {} B sent", report.bytes));
    }
    LinkError::new(
        LinkErrorKind::Timeout,
        format!("cannot stream with {}", plan.address),
        what,
    )
    .hint("use a longer --duration, or smaller transfers")
}

/// Runs what one thread does, and keeps the kernel's accounts of just that: also of the thread that it
/// lends its work to.
fn watched<T>(
    pinned: Option<u32>,
    lent_to: Option<Helper>,
    shared: &Coordination<'_>,
    run: impl FnOnce() -> (T, u64),
) -> Watched<T> {
    let watch = Watch::start(pinned, lent_to);
    let begun = shared.clock.now();
    let (value, transfers) = run();
    let elapsed = shared.clock.now() - begun;
    let (resources, disturbances) = watch.finish(elapsed, transfers, ClockGaps::default());
    Watched {
        value,
        resources,
        disturbances,
    }
}

/// What two threads used together. The machine's own account is the same in both.
fn added(a: ResourceUse, b: ResourceUse) -> ResourceUse {
    ResourceUse {
        cpu_ns_per_exchange: a.cpu_ns_per_exchange + b.cpu_ns_per_exchange,
        voluntary_switches: a.voluntary_switches + b.voluntary_switches,
        involuntary_switches: a.involuntary_switches + b.involuntary_switches,
        run_delay_ns: a.run_delay_ns + b.run_delay_ns,
        steal_ns: a.steal_ns.max(b.steal_ns),
        minor_faults: a.minor_faults + b.minor_faults,
    }
}

fn failed(error: LinkError) -> PointEnd {
    PointEnd {
        ending: Ending::LinkFailed {
            error: error.to_string(),
        },
        error: Some(error),
        ways: Vec::new(),
        end_ns: 0,
        resources: ResourceUse::default(),
        disturbances: Vec::new(),
        tapped: None,
    }
}
