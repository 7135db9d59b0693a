//! A hundred million exchanges must fit. Ignored by default: it needs a release build and a quiet machine.

use crate::common;

use common::Random;
use std::time::Instant;
use wiregauge_stats::Series;

/// Most resident memory of this process so far, in KiB (Linux).
fn most_resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = most.and_then(|rest| rest.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse().ok())
        .expect("a number of kB")
}

#[test]
#[ignore = "seconds in release, minutes in debug; Linux only"]
fn a_hundred_million_values_take_bounded_memory() {
    let (mut random, mut series) = (Random::new(1), Series::new());
    let before = most_resident_kib();
    let begin = Instant::now();
    let mut longest = std::time::Duration::ZERO;
    for _ in 0..100_000_000u64 / 1000 {
        let batch = Instant::now();
        for _ in 0..1000 {
            series.push((1e6 + 2e5 * random.exponential()) as u64);
        }
        longest = longest.max(batch.elapsed());
    }
    let pushed = begin.elapsed();
    let begin = Instant::now();
    let d = series.distribution().unwrap();
    let read = begin.elapsed();
    let grown = most_resident_kib() - before;
    println!(
        "{pushed:?} to push, longest pause {longest:?}, {read:?} to read, {grown} KiB: {d:#?}"
    );
    assert_eq!(d.n, 100_000_000);
    assert!((d.mean.value / 1.2e6 - 1.0).abs() < 1e-3);
    assert!((d.p99.value / (1e6 + 2e5 * 100f64.ln()) - 1.0).abs() < 2e-3);
    assert!(grown < 64 << 10, "{grown} KiB");
}
