//! Warnings of runs whose samples are made here: what they say agrees with the rule behind them.

use crate::common;

use common::{Random, exchange, exchange_run, full_speed, plan};
use wiregauge_record::{
    BusLimit, Ending, Figure, Limit, Phase, Plan, Point, PointSummary, Protocol, ResourceUse,
    Sample, Schedule, Status, Summariser, Transfer,
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

/// A run of one point of which the delay is part of the RTT, or else of the start.
pub fn run(dir: &std::path::Path, plan: &Plan, n: u64, burst: u64, in_rtt: bool) -> AnyRun {
    exchange_run(dir, plan, |_| {
        let mut random = Random(7);
        bursts(n, burst).map(move |(sequence, delay)| {
            let intended_ns = sequence * 2_000_000;
            let (late, slow) = if in_rtt { (0, delay) } else { (delay, 0) };
            Sample {
                intended_ns,
                start_ns: intended_ns + late,
                rtt_ns: 20_000 + random.bits(12) + slow,
                bytes_out: 16,
                bytes_in: 48,
                ..exchange(sequence)
            }
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
    let few = run(&home.path().join("few"), &plan(1), 5_000, 40, true);
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
    let few = run(&home.path().join("few"), &one, 5_000, 40, true);
    let rtt = point(&few).rtt.expect("answers");
    assert!(rtt.p99.high.is_none() && rtt.n == 5_000, "{rtt:?}");
    let text = few_samples(&few).expect("a warning");
    let count = number_after(&text, "--count");
    assert!(count > 5_000, "more than there were: {text}");
    assert!(text.contains(": too few samples (--count "), "{text}");
    let enough = run(&home.path().join("enough"), &one, 2 * count, 40, true);
    assert_eq!(few_samples(&enough), None, "{count}");
    // A run by time gets a time.
    let timed = Plan {
        limit: Limit::DurationNs(10_000_000_000),
        ..one
    };
    let text = few_samples(&run(&home.path().join("timed"), &timed, 5_000, 40, true));
    let text = text.expect("a warning");
    assert!(number_after(&text, "--duration") >= 1, "{text}");
    assert!(!text.contains("--count"), "{text}");
}

#[test]
fn a_percentile_from_the_intended_start_alone_without_a_bound_is_reported() {
    let home = tempfile::tempdir().expect("a directory");
    let scheduled = Plan {
        schedule: Schedule::EveryNs(2_000_000),
        ..plan(1)
    };
    let run = run(&home.path().join("run"), &scheduled, 5_000, 40, false);
    let summary = point(&run);
    let open = |times: &Option<wiregauge_stats::Distribution>| {
        times.as_ref().expect("answers").p99.high.is_none()
    };
    assert!(!open(&summary.rtt) && open(&summary.from_intended));
    let text = few_samples(&run).expect("a warning");
    assert!(
        text.starts_with("p99 from the intended start has no upper confidence bound"),
        "{text}"
    );
    assert!(number_after(&text, "--count") > 5_000, "{text}");
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

/// The lines of the warnings with this code.
pub fn lines(file: &RunFile, code: &str) -> Vec<String> {
    let warnings = tables::of_exchange(file, false).warnings;
    let of_code = warnings.iter().filter(|warning| warning.code == code);
    of_code.map(ToString::to_string).collect()
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

#[test]
fn what_the_link_or_a_computation_explains_is_no_silence_of_the_device() {
    // A device that takes as long, but not always, computes.
    let computes = |sequence: u64| 200_000_000 + sequence * 37 % 100 * 1_000_000;
    assert!(lines(&echo(BOARD, &[&computes], 0), "W18").is_empty());
    let mut far = echo("tcp://10.0.0.5:7", &[&timeout], 0);
    assert_eq!(lines(&far, "W18").len(), 1);
    // The connection took as long: a network.
    far.points[0].open_ns = Some(297_000_000);
    assert!(lines(&far, "W18").is_empty());
    // 32 B at 110 baud take 2.9 s.
    let mut slow = echo(BOARD, &[&|sequence| 10 * timeout(sequence)], 0);
    assert_eq!(lines(&slow, "W18").len(), 1);
    slow.points[0].limit = Some(BusLimit {
        bytes_s: 11.0,
        shared: false,
        source: "UART".into(),
        used: 1.0,
    });
    assert!(lines(&slow, "W18").is_empty());
}

#[test]
fn echoes_that_all_come_after_the_timeout_are_named() {
    let mut file = echo(BOARD, &[&answered], 0);
    let plan = file.plan.clone();
    let mut late = Summariser::new(&plan, plan.points[0], None);
    for sequence in 0..20 {
        for status in [Status::Lost, Status::Late] {
            late.push(&Sample {
                sequence,
                rtt_ns: 1_000_000_000,
                status,
                ..Sample::default()
            });
        }
    }
    file.points[0] = late.finish(Ending::Complete, 0, None, ResourceUse::default());
    let found = lines(&file, "W18");
    assert!(
        found.len() == 1 && found[0].starts_with("all echoes came after the timeout: a device"),
        "{found:?}"
    );
    // Of some no echo came at all, or there are too few to tell.
    file.points[0].counts.exchanges += 1;
    assert!(lines(&file, "W18").is_empty());
    let counts = &mut file.points[0].counts;
    (counts.late, counts.exchanges) = (1, 1);
    assert!(lines(&file, "W18").is_empty());
}

#[test]
fn a_constant_surplus_of_each_echo_is_named_and_other_stray_bytes_are_not() {
    let says = "each echo has 2 B more than its request: the device";
    // With those of the first exchange, or without those of the last.
    for stray in [202, 200] {
        let found = lines(&echo(BOARD, &[&answered], stray), "W19");
        assert!(
            found.len() == 1 && found[0].starts_with(says),
            "{stray}: {found:?}"
        );
    }
    let mut warmed = echo(BOARD, &[&answered], 242);
    warmed.plan.warmup = 20;
    assert_eq!(lines(&warmed, "W19").len(), 1);
    // Now and then a line of a log is none of the echoes'; of a few echoes, any number is nearly a whole one for each.
    let mut few = echo(BOARD, &[&answered], 40);
    let counts = &mut few.points[0].counts;
    (counts.answered, counts.exchanges) = (8, 8);
    assert!(lines(&few, "W19").is_empty());
    for stray in [0, 40, 137, 198, 250] {
        let found = lines(&echo(BOARD, &[&answered], stray), "W19");
        assert!(found.is_empty(), "{stray}: {found:?}");
    }
    // Echoes that are not whole leave stray bytes as well.
    let mut lossy = echo(BOARD, &[&answered], 200);
    lossy.points[0].counts.lost = 20;
    lossy.points[0].counts.exchanges += 20;
    assert!(lines(&lossy, "W19").is_empty());
    // Only an echo has no bytes of its own.
    let mut other = echo(BOARD, &[&timeout], 200);
    other.plan.protocol = Protocol::Lines;
    assert!(!lines(&other, "W19").concat().contains("echo has"));
    assert!(lines(&other, "W18").is_empty());
}

#[test]
fn echoes_that_surplus_bytes_displace_are_not_called_damaged() {
    let mut file = echo(BOARD, &[&answered], 100 * 16 + 2);
    let counts = &mut file.points[0].counts;
    (counts.corrupted, counts.answered) = (counts.answered, 0);
    let found = lines(&file, "W19");
    assert!(
        found.len() == 1 && found[0].contains("displaced by surplus bytes"),
        "{found:?}"
    );
    assert!(lines(&file, "W02").is_empty());
    // On a line that damages them nothing whole is left.
    file.points[0].counts.stray_bytes = 10;
    assert!(lines(&file, "W19").is_empty());
    assert_eq!(lines(&file, "W02").len(), 1);
}

#[test]
fn the_answer_names_the_depth_of_saturation_and_the_share_of_the_limit() {
    let answer = |used: f64, rates: [f64; 2]| {
        let mut file = echo(BOARD, &[&answered, &answered], 0);
        for (point, rate) in file.points.iter_mut().zip(rates) {
            point.throughput.exchanges_s = rate;
            let trt = point.trt.as_mut().expect("starts");
            let times = [1.0, 0.99, 1.01].map(|of| of * 1e9 / rate);
            (trt.mean.value, trt.mean.low, trt.mean.high) =
                (times[0], Some(times[1]), Some(times[2]));
            point.limit = Some(full_speed(used * rate / rates[1]));
        }
        file.points[1].point.depth = 4;
        let brief = tables::of_exchange(&file, false).brief;
        brief.expect("an answer").answer
    };
    let faster = answer(0.4, [100.0, 200.0]);
    assert_eq!(
        faster,
        "Depth 4 is the fastest: 200.0 per s, 2.00 times as many as at depth 1; 40 % of the limit."
    );
    // Within 5 %: the share is that of the depth which is named.
    let both = answer(0.981, [192.0, 200.0]);
    assert_eq!(
        both,
        "Saturated at depth 1: 192.0 per s; 94.2 % of the limit."
    );
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
