//! The table of the parts of the RTT.

use crate::common;

use common::{exchange, exchange_run, plan};
use wiregauge_record::{Plan, Sample};
use wiregauge_report::tables;

/// The tables of 100 exchanges of 200 us with these times of the kernel.
fn shown(times: impl Fn(u64) -> Sample, requested: bool) -> String {
    let home = tempfile::tempdir().expect("a directory");
    let mut plan: Plan = plan(1);
    plan.link.kernel_timestamps = requested;
    let run = exchange_run(&home.path().join("run"), &plan, |_| {
        (0..=100).map(|sequence| Sample {
            start_ns: sequence * 200_000,
            intended_ns: sequence * 200_000,
            rtt_ns: 200_000,
            ..times(sequence)
        })
    });
    let tables = tables::of(&run, false).tables;
    let text = |table: &tables::Table| format!("{}\n{}", table.title, table.text());
    tables.iter().map(text).collect()
}

/// The cells of the row below the table's heads.
fn parts(text: &str) -> Vec<&str> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.contains("Where the RTT goes"));
    let row = lines.find(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    row.expect("a row").split_whitespace().collect()
}

#[test]
fn a_socket_has_the_parts_of_host_and_network_and_usb_those_of_the_bus_too() {
    let socket = |sequence| Sample {
        kernel_tx_ns: 10_000,
        kernel_rx_ns: 150_000,
        ..exchange(sequence)
    };
    let text = shown(socket, true);
    assert!(text.contains("network + device"), "{text}");
    let cells = parts(&text);
    assert_eq!(cells, ["100", "200.0", "10.00", "140.0", "50.00"], "{text}");
    let usb = |sequence| Sample {
        kernel_tx_done_ns: 70_000,
        ..socket(sequence)
    };
    let text = shown(usb, true);
    assert!(text.contains("device + bus, IN"), "{text}");
    let cells = parts(&text);
    assert_eq!(
        cells,
        ["100", "200.0", "10.00", "60.00", "80.00", "50.00"],
        "{text}"
    );
}

#[test]
fn exchanges_without_the_times_are_in_no_part() {
    let half = |sequence: u64| Sample {
        kernel_tx_ns: 10_000 * (sequence % 2),
        kernel_rx_ns: 150_000 * (sequence % 2),
        ..exchange(sequence)
    };
    let text = shown(half, true);
    assert_eq!(parts(&text)[0], "50", "{text}");
}

#[test]
fn time_stamps_that_were_requested_and_never_came_are_explained() {
    let text = shown(exchange, true);
    assert!(text.contains("ethtool -T"), "{text}");
    assert!(!shown(exchange, false).contains("Where the RTT goes"));
}
