//! Summaries made by hand, with the figures that a test is about.
#![allow(dead_code, missing_docs)]

use wiregauge_record::*;
use wiregauge_stats::{Distribution, Series};

/// A distribution of so many equal values.
pub fn always(ns: f64, n: u64) -> Option<Distribution> {
    let mut series = Series::new();
    (0..n).for_each(|_| series.push(ns as u64));
    series.distribution()
}

/// Holds a text to a part of it.
#[track_caller]
pub fn says(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in `{text}`");
}

pub fn stream_plan(address: &str) -> StreamPlan {
    StreamPlan {
        address: address.into(),
        protocol: StreamProtocol::Wiregauge,
        pattern: None,
        more_links: Vec::new(),
        points: Vec::new(),
        duration_ns: 1_000_000_000,
        settle_ns: 0,
        check: true,
        timeout_ns: 1_000_000_000,
        rates_bytes_s: Vec::new(),
        loss: 1e-6,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

/// One way of a point, in microseconds.
pub struct Times {
    pub bytes: u32,
    pub queue: u32,
    pub achieved: f64,
    pub application_us: f64,
    pub transfer_us: f64,
    /// The part of the transfer in which its URB was under way, with usbmon.
    pub urb_us: Option<f64>,
    /// Part of a physical limit used.
    pub used: Option<f64>,
    pub cpu_us_per_mb: f64,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            bytes: 512,
            queue: 1,
            achieved: 0.9,
            application_us: 5.0,
            transfer_us: 50.0,
            urb_us: None,
            used: None,
            cpu_us_per_mb: 100.0,
        }
    }
}

pub fn stream_point(times: &Times) -> StreamSummary {
    let n = 1_000;
    let us = |us: f64| always(us * 1e3, n);
    let gap_us = (times.application_us + times.transfer_us) / f64::from(times.queue);
    let elapsed_ns = (gap_us * 1e3) as u64 * n;
    let flow = FlowSummary {
        way: Way::In,
        transfers: n,
        bytes: u64::from(times.bytes) * n,
        stalls: 0,
        rate: None,
        rate_bytes_s: Vec::new(),
        rate_step_ns: 0,
        counts: ByteCounts::default(),
        jumps: None,
        device: None,
        report_error: None,
        transfer_time: us(times.transfer_us),
        gap: us(gap_us),
        host_gap: us(times.application_us),
        stack_time: times.urb_us.and_then(|urb| us(times.transfer_us - urb)),
        urb_time: times.urb_us.and_then(us),
        achieved_queue: times.achieved,
        buffers: Vec::new(),
        cpu_ns_per_mb: times.cpu_us_per_mb * 1e3,
        limit: times.used.map(|used| BusLimit {
            bytes_s: 53_248_000.0,
            shared: true,
            source: "USB high-speed bulk, USB 2.0 table 5-10".into(),
            used,
        }),
        recording: None,
        isochronous: None,
    };
    StreamSummary {
        point: StreamPoint {
            index: 0,
            direction: Direction::In,
            transfer_bytes: times.bytes,
            queue: times.queue,
            link: 0,
            together: false,
        },
        ending: Ending::Complete,
        elapsed_ns,
        flows: vec![flow],
        resources: ResourceUse::default(),
        disturbances: Vec::new(),
    }
}

pub fn plan() -> Plan {
    Plan {
        address: "serial:///dev/ttyACM0".into(),
        more_links: Vec::new(),
        protocol: Protocol::Wiregauge,
        queries: None,
        connect: Connect::Once,
        points: Vec::new(),
        limit: Limit::Count(1_000),
        warmup: 0,
        schedule: Schedule::AsFastAsPossible,
        timeout_ns: 1_000_000_000,
        give_up: 10,
        wait: Wait::Block,
        below_ns: Vec::new(),
        keep_data: false,
        batch: None,
        calibrate: true,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

/// The last exchange began so late; over a millisecond, the lateness grew to the end.
pub fn ended_late(end_us: f64) -> Option<Lateness> {
    Some(Lateness {
        late: 7,
        end_ns: (end_us * 1e3) as u64,
        grows: end_us > 1e3,
    })
}

pub fn exchange_point(depth: u32, rtt_us: f64, device_us: Option<f64>) -> PointSummary {
    let n = 1_000;
    let us = |us: f64| always(us * 1e3, n);
    let trt_us = rtt_us / f64::from(depth);
    PointSummary {
        point: Point {
            index: 0,
            out_bytes: 16,
            in_bytes: 48,
            depth,
            link: 0,
            together: false,
        },
        ending: Ending::Complete,
        counts: Counts {
            exchanges: n,
            answered: n,
            ..Counts::default()
        },
        elapsed_ns: (trt_us * 1e3) as u64 * n,
        first_rtt_ns: None,
        open_ns: None,
        rtt: us(rtt_us),
        from_intended: None,
        start_delay: None,
        lateness: None,
        trt: us(trt_us),
        below: Vec::new(),
        modes: Vec::new(),
        achieved_depth: f64::from(depth),
        throughput: Throughput {
            exchanges_s: 1e6 / trt_us,
            out_bytes_s: 0.0,
            in_bytes_s: 0.0,
        },
        limit: None,
        device: device_us.and_then(us),
        connect: None,
        access: None,
        transfer: None,
        stages: None,
        batch: None,
        surplus: None,
        queries: Vec::new(),
        unexpected: Vec::new(),
        instrument_errors: Vec::new(),
        can: None,
        resources: ResourceUse::default(),
        disturbances: Vec::new(),
    }
}

pub fn conditions_with_floor(floor_us: f64) -> Conditions {
    let floor = |name: &str, us: f64| Floor {
        name: name.into(),
        bytes: 64,
        rtt: always(us * 1e3, 100).expect("some values"),
    };
    Conditions {
        before: Some(Calibration {
            floors: vec![
                floor("null link", 0.1),
                floor("serial echo on this host", floor_us),
            ],
            wake_up: WakeUp::default(),
        }),
        ..Conditions::default()
    }
}

/// An exchange with these sizes, in microseconds.
pub fn exchange(out_bytes: u32, in_bytes: u32, depth: u32, rtt_us: f64) -> PointSummary {
    let mut point = exchange_point(depth, rtt_us, None);
    (point.point.out_bytes, point.point.in_bytes) = (out_bytes, in_bytes);
    point
}

/// Exchanges of 16 B with responses of these sizes at each of these depths: `rtt_us` of the size and the depth.
pub fn grid(sizes: &[u32], depths: &[u32], rtt_us: impl Fn(f64, f64) -> f64) -> Vec<PointSummary> {
    let mut points = Vec::new();
    for &in_bytes in sizes {
        for &depth in depths {
            let rtt_us = rtt_us(f64::from(in_bytes), f64::from(depth));
            points.push(exchange(16, in_bytes, depth, rtt_us));
        }
    }
    points
}

/// Mean TRTs in microseconds: of each size of a response those at these depths.
pub fn measured(depths: &[u32], sizes: &[(u32, &[f64])]) -> Vec<PointSummary> {
    let mut points = Vec::new();
    for &(in_bytes, trts_us) in sizes {
        for (&depth, trt_us) in depths.iter().zip(trts_us) {
            points.push(exchange(16, in_bytes, depth, trt_us * f64::from(depth)));
        }
    }
    points
}

/// Transfers of `fixed_us` and `ns_a_byte` alone, of which the slowest stage needs all but half of `fixed_us`.
pub fn transfers(
    sizes: &[u32],
    queues: &[u32],
    fixed_us: f64,
    ns_a_byte: f64,
) -> Vec<StreamSummary> {
    let idle_us = 0.5 * fixed_us;
    let mut points = Vec::new();
    for &bytes in sizes {
        for &queue in queues {
            let alone = fixed_us + ns_a_byte * f64::from(bytes) / 1e3;
            let each = (alone / f64::from(queue)).max(alone - idle_us);
            points.push(stream_point(&Times {
                bytes,
                queue,
                achieved: f64::from(queue),
                application_us: 0.0,
                transfer_us: each * f64::from(queue),
                ..Times::default()
            }));
        }
    }
    points
}
