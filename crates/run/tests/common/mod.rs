//! Plans, summaries and samples to test with; used by the unit tests too.

#![allow(dead_code, clippy::unwrap_used)]

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use wiregauge_record::{
    Conditions, Connect, Counts, Ending, HostPlan, HostState, Limit, LinkOptions, Phase, Plan,
    Point, PointSummary, Protocol, ResourceUse, Sample, Schedule, Status, Throughput, Wait,
};

use wiregauge_run::{Files, RunError, State};

/// Most tests are of the first kind of run; what is not particular to it is the same code for all.
pub type Run = wiregauge_run::Run<wiregauge_run::Exchange>;
pub type RunWriter = wiregauge_run::RunWriter<wiregauge_run::Exchange>;

/// Stores a point that has these rows.
pub fn store<K: Files>(
    run: &mut wiregauge_run::RunWriter<K>,
    (point, summary): (K::Point, K::Summary),
    rows: &[K::Row],
) {
    let mut writer = run.begin_point(point).unwrap();
    rows.iter().for_each(|row| writer.push(row, &[]).unwrap());
    run.end_point(writer, summary).unwrap();
}

/// A finished run in `dir`, of points that have the same rows.
pub fn finished<K: Files>(
    dir: PathBuf,
    plan: &K::Plan,
    points: impl IntoIterator<Item = (K::Point, K::Summary)>,
    rows: &[K::Row],
) -> PathBuf {
    let mut run = wiregauge_run::RunWriter::<K>::create(&dir, plan, &conditions()).unwrap();
    for point in points {
        store(&mut run, point, rows);
    }
    run.finish(State::Complete).unwrap();
    dir
}

/// The rows of the first point.
pub fn read_all<K: Files>(dir: &Path) -> Result<Vec<K::Row>, RunError> {
    let run = wiregauge_run::Run::<K>::open(dir)?;
    let mut reader = run.samples(0)?;
    let rows = reader.by_ref().map(|row| Ok(row?.0)).collect();
    assert!(reader.next().is_none(), "a reader ends after an error");
    rows
}

pub fn samples(count: u64) -> Vec<Sample> {
    (0..count).map(sample).collect()
}

pub fn point(index: u32) -> Point {
    Point {
        index,
        out_bytes: 16,
        in_bytes: 100 * (index + 1),
        depth: 2,
        link: 0,
        together: false,
    }
}

pub fn plan(keep_data: bool) -> Plan {
    Plan {
        address: "tcp://127.0.0.1:7700".to_owned(),
        more_links: Vec::new(),
        protocol: Protocol::Wiregauge,
        queries: None,
        connect: Connect::Once,
        points: (0..3).map(point).collect(),
        limit: Limit::Count(100),
        warmup: 1,
        schedule: Schedule::AsFastAsPossible,
        timeout_ns: 1_000_000_000,
        give_up: 10,
        wait: Wait::Block,
        below_ns: vec![6_000_000],
        keep_data,
        batch: None,
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

pub fn conditions() -> Conditions {
    Conditions {
        started: "2026-11-21T14:36:05Z".to_owned(),
        command: vec!["wiregauge".to_owned(), "exchange".to_owned()],
        version: "0.1.0".to_owned(),
        host: HostState {
            load: Some([0.0; 3]),
            ..HostState::default()
        },
        ..Conditions::default()
    }
}

pub fn summary(point: Point, exchanges: u64) -> PointSummary {
    PointSummary {
        point,
        ending: Ending::Complete,
        counts: Counts {
            exchanges,
            answered: exchanges,
            ..Counts::default()
        },
        elapsed_ns: 123_456_789,
        first_rtt_ns: Some(60_000),
        open_ns: None,
        rtt: None,
        from_intended: None,
        start_delay: None,
        lateness: None,
        trt: None,
        below: Vec::new(),
        modes: Vec::new(),
        achieved_depth: 0.1 + 0.2,
        throughput: Throughput {
            exchanges_s: 1.0 / 3.0,
            out_bytes_s: 2.0e9 / 7.0,
            in_bytes_s: 5e-324,
        },
        limit: None,
        device: None,
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

/// A sample such as a steady TCP link gives.
pub fn sample(sequence: u64) -> Sample {
    let noise = sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52;
    let start_ns = sequence * 50_000 + noise;
    Sample {
        sequence,
        intended_ns: start_ns,
        start_ns,
        rtt_ns: 45_000 + noise,
        bytes_out: 16,
        bytes_in: 100,
        outstanding: 1,
        phase: [Phase::First, Phase::Measured][usize::from(sequence > 0)],
        ..Sample::default()
    }
}

/// Any integers, the extremes not least.
pub fn any_sample() -> impl Strategy<Value = Sample> {
    let wide = || prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), 0..1_000_000_u64];
    let narrow = || prop_oneof![any::<u32>(), Just(0), Just(u32::MAX)];
    let names = (0..Status::ALL.len(), 0..3_u8);
    let times = (
        wide(),
        wide(),
        wide(),
        wide(),
        wide(),
        wide(),
        wide(),
        wide(),
        (wide(), wide(), wide()),
    );
    (times, (narrow(), narrow(), narrow()), names).prop_map(|(t, n, (status, phase))| Sample {
        sequence: t.0,
        intended_ns: t.1,
        start_ns: t.2,
        rtt_ns: t.3,
        connect_ns: t.4,
        access_ns: t.5,
        device_rx_ticks: t.6,
        device_tx_ticks: t.7,
        kernel_tx_ns: t.8.0,
        kernel_tx_done_ns: t.8.1,
        kernel_rx_ns: t.8.2,
        bytes_out: n.0,
        bytes_in: n.1,
        outstanding: n.2,
        status: Status::ALL[status],
        phase: Phase::from_number(phase).expect("0 to 2 are phases"),
    })
}
