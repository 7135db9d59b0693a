//! Warnings of runs whose samples are made here: what they say agrees with the rule behind them.

use crate::common;

use common::{Random, exchange, exchange_run, plan};
use wiregauge_record::{
    Figure, Limit, Phase, Plan, Point, PointSummary, Protocol, Sample, Transfer,
};
use wiregauge_report::tables;
use wiregauge_run::{AnyRun, Exchange, RunFile};

/// Exchanges of some 20 us; now and then `burst` of them in a row have another delay, two in a hundred in all.
fn bursts(n: u64, burst: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let mut left = 0;
    (0..=n).map(move |sequence| {
        if left == 0 && random.bits(20) < (1 << 20) / 50 / burst {
            left = burst;
        }
        let delayed = left > 0;
        left = left.saturating_sub(1);
        let delay = match delayed {
            true => 1_000_000 + random.bits(16),
            false => 0,
        };
        (sequence, delay)
    })
}

/// A run of one point with such bursts.
pub fn run(dir: &std::path::Path, plan: &Plan, n: u64, burst: u64) -> AnyRun {
    exchange_run(dir, plan, |_| {
        let mut random = Random(7);
        bursts(n, burst).map(move |(sequence, delay)| Sample {
            intended_ns: sequence * 2_000_000,
            start_ns: sequence * 2_000_000,
            rtt_ns: 20_000 + random.bits(12) + delay,
            bytes_out: 16,
            bytes_in: 48,
            ..exchange(sequence)
        })
    })
}

fn point(run: &AnyRun) -> PointSummary {
    let run = run.as_kind::<Exchange>().expect("an exchange run");
    run.file.points[0].clone()
}

/// Finding and advice of the warning about p99, if there is one.
fn few_samples(run: &AnyRun) -> Option<String> {
    let warnings = tables::of(run, false).warnings;
    let found = warnings.iter().find(|warning| warning.code == "W05");
    found.map(ToString::to_string)
}

/// The number that follows a flag.
fn number_after(text: &str, flag: &str) -> u64 {
    let (_, rest) = text.split_once(flag).expect(flag);
    let digits = rest.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let end = end.expect("text after the number");
    digits[..end].parse().expect("a number")
}

#[test]
fn a_limit_that_is_open_has_the_reason_and_the_number_of_the_warning() {
    let home = tempfile::tempdir().expect("a directory");
    let few = run(&home.path().join("few"), &plan(1), 5_000, 40);
    let text = few_samples(&few).expect("a warning");
    let p99 = Figure::parse("rtt.p99").expect("a figure");
    let why = tables::no_bound(Limit::Count(5_000), &point(&few), p99).expect("a reason");
    let count = number_after(&text, "--count");
    assert!(
        why.starts_with(&format!("too few samples (--count {count})")),
        "{why}"
    );
    let mut drifting = point(&few);
    let times = drifting.rtt.as_mut().expect("answers");
    (times.effective_n, times.p50.high) = (5_000.0, None);
    let why = tables::no_bound(Limit::Count(5_000), &drifting, p99);
    assert_eq!(why.as_deref(), Some("the times drift"));
}

#[test]
fn the_number_of_exchanges_that_p99_requires_follows_from_the_dependence_and_is_enough() {
    let home = tempfile::tempdir().expect("a directory");
    let one = plan(1);
    let few = run(&home.path().join("few"), &one, 5_000, 40);
    let text = few_samples(&few).expect("a warning");
    let count = number_after(&text, "--count");
    assert!(count > 5_000, "more than there were: {text}");
    assert!(text.contains(": too few samples (--count "), "{text}");
    let enough = run(&home.path().join("enough"), &one, 2 * count, 40);
    assert_eq!(few_samples(&enough), None, "{count}");
    // A run by time gets a time.
    let timed = Plan {
        limit: Limit::DurationNs(10_000_000_000),
        ..one
    };
    let text = few_samples(&run(&home.path().join("timed"), &timed, 5_000, 40));
    let text = text.expect("a warning");
    assert!(number_after(&text, "--duration") >= 1, "{text}");
    assert!(!text.contains("--count"), "{text}");
}

/// An echo run of points with these RTTs, `stray` bytes more than the echoes of each.
pub fn echo(address: &str, points: &[&dyn Fn(u64) -> u64], stray: u64) -> RunFile {
    let plan = Plan {
        address: address.to_owned(),
        protocol: Protocol::Echo,
        points: (0..points.len() as u32)
            .map(|index| Point {
                in_bytes: 16,
                depth: 1,
                ..common::point(index)
            })
            .collect(),
        ..plan(1)
    };
    let dir = tempfile::tempdir().expect("a directory");
    let run = exchange_run(&dir.path().join("run"), &plan, |point| {
        let rtt = points[point.index as usize];
        (0..=100).map(move |sequence| Sample {
            start_ns: sequence * 1_000_000_000,
            intended_ns: sequence * 1_000_000_000,
            rtt_ns: rtt(sequence),
            bytes_out: 16,
            bytes_in: 16,
            ..exchange(sequence)
        })
    });
    let run = run.as_kind::<Exchange>().expect("an exchange run");
    let mut file = run.file.clone();
    for point in &mut file.points {
        point.counts.stray_bytes = stray;
    }
    file
}

pub const BOARD: &str = "serial:///dev/ttyACM0";

/// The timeout of a sketch, and what its loop adds.
pub fn timeout(sequence: u64) -> u64 {
    298_000_000 + sequence * 37 % 1_000 * 1_000
}

/// The time of a sketch that needs no line end.
pub fn answered(sequence: u64) -> u64 {
    980_000 + sequence * 37 % 100 * 1_000
}

/// Transfers of which the second half takes twice as long, and their number.
pub fn slower_in_the_end(n: u64) -> impl Iterator<Item = Transfer> {
    let mut at_ns = 0;
    (0..n).map(move |sequence| {
        let submit_ns = at_ns;
        at_ns += if sequence < n / 2 { 50_000 } else { 100_000 };
        Transfer {
            sequence,
            submit_ns,
            complete_ns: at_ns,
            bytes: 512,
            pending: 1,
            phase: match sequence {
                0 => Phase::First,
                _ => Phase::Measured,
            },
            ..Transfer::default()
        }
    })
}
