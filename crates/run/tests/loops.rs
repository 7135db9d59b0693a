//! Runs of kind `loop`: stored, read, listed and exported as the others are.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{finished, read_all};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use wiregauge_record::{
    Aim, Block, Ending, HostPlan, LoopFacts, LoopPath, LoopPlan, LoopPoint, LoopSummariser,
    LoopSummary, LoopWait, Phase, Stage, Stall, Xrun,
};
use wiregauge_run::{AnyRun, Exchange, Loop, Run, RunError, list, write_csv, write_parquet};

pub fn loop_point(index: u32) -> LoopPoint {
    LoopPoint {
        index,
        rate_hz: 62_500_000 << index,
        channels: 2,
        notify_bytes: 65_536,
        ring_bytes: 1 << 24,
        preload_bytes: 131_072,
        aim: [Aim::Curve, Aim::Hold][index as usize],
        path: [LoopPath::Cpu, LoopPath::Streams(4)][index as usize],
    }
}

pub fn loop_plan() -> LoopPlan {
    LoopPlan {
        address: "virtual".to_owned(),
        points: vec![loop_point(0)],
        duration_ns: 1_000_000_000,
        settle_ns: 1_000_000,
        find: true,
        hold_ns: 60_000_000_000,
        process: vec![
            Stage::Copy,
            Stage::Gain { factor: 0.1 },
            Stage::Fir { taps: 64 },
            Stage::Biquad { corner: 0.25 },
            Stage::Threshold { level: -0.5 },
        ],
        wait: LoopWait::Hybrid { margin_ns: 50_000 },
        calibrate: true,
        gpu_device: 0,
        host: HostPlan::default(),
    }
}

fn block(sequence: u64) -> Block {
    let noise = sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50;
    let due_ns = (sequence + 1) * 262_144;
    Block {
        sequence,
        due_ns,
        begun_ns: due_ns + noise,
        done_ns: due_ns + 2 * noise,
        xrun: Xrun::ALL[sequence as usize % 4],
        phase: [Phase::First, Phase::WarmUp, Phase::Measured][sequence.min(2) as usize],
    }
}

fn blocks() -> Vec<Block> {
    (0..60).map(block).collect()
}

fn summed_up(point: LoopPoint, rows: &[Block]) -> LoopSummary {
    let mut summariser = LoopSummariser::new(point);
    rows.iter().for_each(|row| summariser.push(row));
    let facts = LoopFacts {
        overruns: 30,
        underruns: 30,
        stalls: vec![Stall {
            xrun: Xrun::Both,
            at_ns: 1_048_576,
            late_ns: 17,
        }],
        ..LoopFacts::default()
    };
    summariser.finish(Ending::Complete, facts)
}

/// A finished run of two points.
fn finished_run(home: &Path) -> PathBuf {
    let rows = blocks();
    let points = [0, 1].map(loop_point);
    let points = points.map(|point| (point, summed_up(point, &rows)));
    finished::<Loop>(home.join("run"), &loop_plan(), points, &rows)
}

#[test]
fn a_loop_run_is_read_as_it_was_written() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path());
    let run = Run::<Loop>::open(&dir).unwrap();
    assert_eq!((&*run.file.kind, &run.file.plan), ("loop", &loop_plan()));
    let expected = [0, 1].map(|i| summed_up(loop_point(i), &blocks()));
    assert_eq!(run.file.points, expected);
    assert!(!expected[0].curve.is_empty() && expected[1].curve.is_empty());
    assert_eq!(read_all::<Loop>(&dir).unwrap(), blocks());
    let any = AnyRun::open(&dir).unwrap();
    assert_eq!(any.as_kind::<Loop>(), Some(&run));
    assert!(any.as_kind::<Exchange>().is_none());
    // The preload under test is not a point of the plan.
    assert_eq!(any.stored().planned(), (1, 1));
    let error = Run::<Exchange>::open(&dir).unwrap_err();
    assert!(matches!(error, RunError::OtherKind { .. }), "{error}");
    let listed = list(home.path()).unwrap();
    let seen = (listed[0].kind, listed[0].measured, listed[0].rows);
    assert_eq!(seen, ("loop", 116, "blocks"));
}

#[test]
fn exports_hold_every_block() {
    let home = tempfile::tempdir().unwrap();
    let run = Run::<Loop>::open(&finished_run(home.path())).unwrap();
    let mut text = Vec::new();
    assert_eq!(write_csv(&run, &mut text, false).unwrap(), 120);
    let text = String::from_utf8(text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "point,rate_hz,channels,notify_bytes,preload_bytes,sequence,phase,xrun,due_us,begun_us,done_us,\
         path"
    );
    assert_eq!(
        lines[1],
        "0,62500000,2,65536,131072,0,first,none,262.144,262.144,262.144,cpu"
    );
    assert!(lines[120].starts_with("1,125000000,2,65536,131072,59,measured,both,15728.640,"));
    assert!(lines[120].ends_with(",gpu-streams:4"), "{}", lines[120]);
    let all = home.path().join("all.parquet");
    assert_eq!(write_parquet(&run, &all).unwrap(), 120);
}

fn any_block() -> impl Strategy<Value = Block> {
    let wide = || prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), 0..1_000_000_u64];
    let times = (wide(), wide(), wide(), wide());
    (times, 0..4_usize, 0..3_u8).prop_map(|(t, xrun, phase)| Block {
        sequence: t.0,
        due_ns: t.1,
        begun_ns: t.2,
        done_ns: t.3,
        xrun: Xrun::ALL[xrun],
        phase: Phase::from_number(phase).expect("0 to 2 are phases"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn blocks_written_are_blocks_read(rows in prop::collection::vec(any_block(), 0..200)) {
        let home = tempfile::tempdir().unwrap();
        let point = (loop_point(0), summed_up(loop_point(0), &[]));
        let dir = finished::<Loop>(home.path().join("run"), &loop_plan(), [point], &rows);
        prop_assert_eq!(read_all::<Loop>(&dir).unwrap(), rows);
    }
}
