//! Peaks of the RTT in the first sentence, against the samples.

use crate::common;

use common::*;
use wiregauge_record::*;
use wiregauge_report::tables;
use wiregauge_run::AnyRun;

/// What the terminal says first.
fn said_of(run: &AnyRun) -> String {
    tables::of(run, false).brief.expect("an answer").answer
}

#[test]
fn of_several_peaks_the_majority_is_named_first_and_a_single_one_is_not() {
    let dir = tempfile::tempdir().expect("a directory");
    let said = |name: &str, rare_ns: u64| {
        let run = exchange_run(&dir.path().join(name), &plan(1), |_| {
            paced(1, 1_000_000, 2_000, 0).map(move |sample| Sample {
                rtt_ns: match sample.sequence % 4 {
                    0 => rare_ns,
                    _ => 300_000,
                },
                ..sample
            })
        });
        said_of(&run)
    };
    let two = said("two", 1_000_000);
    let peaks: Vec<&str> = two
        .match_indices(" % take about ")
        .map(|(at, _)| &two[..at])
        .collect();
    assert!(
        peaks.len() == 2 && peaks[0].ends_with("75") && peaks[1].ends_with("25"),
        "{two}"
    );
    let one = said("one", 300_000);
    assert!(!one.contains("take about"), "{one}");
}

#[test]
fn a_peak_is_one_time_only_where_its_range_is_narrow() {
    let dir = tempfile::tempdir().expect("a directory");
    // Evenly over so many nanoseconds above 2.2 ms, and one in fifty after 50 ms.
    let said = |name: &str, width_ns: u64| {
        let run = exchange_run(&dir.path().join(name), &plan(1), |_| {
            paced(1, 100_000_000, 2_000, 0).map(move |sample| Sample {
                rtt_ns: match sample.sequence % 50 {
                    0 => 50_000_000,
                    _ => 2_200_000 + sample.sequence * width_ns / 1_999,
                },
                ..sample
            })
        });
        said_of(&run)
    };
    let wide = said("wide", 1_000_000);
    assert!(wide.contains("98 % take 2.2"), "{wide}");
    assert!(
        wide.contains(" to 3.200 ms, 2 % take about 50.00 ms"),
        "{wide}"
    );
    let narrow = said("narrow", 100_000);
    assert!(narrow.contains("98 % take about 2.2"), "{narrow}");
}

#[test]
fn of_several_points_those_with_a_slow_peak_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    // One response in fifty, at the depths above 1.
    let said = |name: &str, rare_ns: u64| {
        let run = exchange_run(&dir.path().join(name), &plan(3), |point| {
            paced(point.depth, 1_000_000, 2_000, 0).map(move |sample| Sample {
                rtt_ns: match point.depth > 1 && sample.sequence % 50 == 0 {
                    true => rare_ns,
                    false => 300_000,
                },
                ..sample
            })
        });
        said_of(&run)
    };
    let slow = said("slow", 16_000_000);
    let peak = "; slow RTT peak at depth 2 and 3: 2 % take about 16.00 ms.";
    assert!(slow.ends_with(peak), "{slow}");
    let near = said("near", 400_000);
    assert!(!near.contains("peak"), "{near}");
}
