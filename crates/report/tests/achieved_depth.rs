//! The warning about an achieved depth, against samples that tell whether anything delayed a request.

use crate::common;

use common::{exchange, exchange_run, plan};
use wiregauge_record::{Plan, Point, Sample, Status};
use wiregauge_report::tables;

pub const RTT_NS: u64 = 100_000;
const TIMEOUT_NS: u64 = 500_000_000;

pub fn of_depth_two() -> Plan {
    let point = Point {
        depth: 2,
        ..common::point(0)
    };
    Plan {
        points: vec![point],
        timeout_ns: TIMEOUT_NS,
        ..plan(1)
    }
}

/// A thousand exchanges, two outstanding: each pair starts `pause_ns` after the one before it ended. Unless it is
/// `Ok`, the last but one lasts as long as the timeout.
pub fn pairs(pause_ns: u64, last_but_one: Status) -> impl Iterator<Item = Sample> {
    (0..=1000_u64).map(move |sequence| {
        let status = match sequence {
            999 => last_but_one,
            _ => Status::Ok,
        };
        let start_ns = sequence / 2 * (RTT_NS + pause_ns);
        Sample {
            intended_ns: start_ns,
            start_ns,
            rtt_ns: match status {
                Status::Ok => RTT_NS,
                _ => TIMEOUT_NS,
            },
            outstanding: 2,
            status,
            ..exchange(sequence)
        }
    })
}

/// The codes of the warnings about such a run, and its achieved depth.
fn warned(pause_ns: u64, last_but_one: Status) -> (Vec<String>, f64) {
    let home = tempfile::tempdir().expect("a directory");
    let run = exchange_run(&home.path().join("run"), &of_depth_two(), |_| {
        pairs(pause_ns, last_but_one)
    });
    let wiregauge_run::AnyRun::Exchange(run) = run else {
        panic!("an exchange run")
    };
    let warnings = tables::of_exchange(&run.file, false).warnings;
    let codes = warnings.iter().map(|warning| warning.code.to_string());
    (codes.collect(), run.file.points[0].achieved_depth)
}

#[test]
fn requests_that_started_late_are_warned_about() {
    let (codes, achieved) = warned(RTT_NS, Status::Ok);
    assert!(achieved < 1.1, "{achieved}");
    assert!(codes.contains(&"W04".to_owned()), "{codes:?}");
}

#[test]
fn waiting_for_a_last_exchange_without_a_correct_response_delays_no_request() {
    for (status, code) in [(Status::Lost, "W01"), (Status::Corrupted, "W02")] {
        let (codes, achieved) = warned(0, status);
        // While it was awaited there was nothing left to start.
        assert!(achieved < 1.3, "{achieved}");
        assert!(!codes.contains(&"W04".to_owned()), "{codes:?}");
        assert!(codes.contains(&code.to_owned()), "{codes:?}");
    }
}
