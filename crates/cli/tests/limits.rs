//! `wiregauge limits`: figures that are known, lists, and what it refuses.

use crate::common;

use common::{Desk, has_all};
use serde_json::Value;

fn json(command: &str) -> Vec<Value> {
    let desk = Desk::new();
    let printed = desk.wiregauge(&format!("limits {command} --json")).assert();
    let printed = printed.success().get_output().stdout.clone();
    serde_json::from_slice(&printed).expect("a list of limits")
}

fn figures(command: &str, key: &str) -> Vec<f64> {
    let all = json(command);
    all.iter()
        .map(|one| one[key].as_f64().expect("a figure"))
        .collect()
}

#[test]
fn a_full_speed_bulk_endpoint_is_reported_with_formula_source_and_what_is_left_out() {
    let desk = Desk::new();
    has_all(
        &desk.output("limits usb --speed full --type bulk"),
        &[
            "1,216,000",
            "floor(1500 / (13 + 64)) x 64 B x 1000/s = 19 x 64 B x 1000/s = 1,216,000 B/s",
            "USB 2.0 table 5-9",
            "Bit stuffing",
            "90 % of a frame",
        ],
    );
}

#[test]
fn no_two_columns_have_the_same_figures() {
    let desk = Desk::new();
    for medium in ["usb", "uart", "can", "tcp", "udp"] {
        let text = desk.output(&format!("limits {medium}"));
        let rows: Vec<Vec<&str>> = text
            .lines()
            .skip(1)
            .take_while(|line| line.starts_with("  ") && !line.starts_with("  -:"))
            .map(|line| {
                line.split("  ")
                    .filter(|cell| !cell.is_empty())
                    .map(str::trim)
                    .collect()
            })
            .collect();
        let columns = rows[0].len();
        assert!(rows.len() > 2 && columns > 3, "{text}");
        for (one, other) in (0..columns).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert!(
                rows[1..].iter().any(|row| row[one] != row[other]),
                "{} and {}: {text}",
                rows[0][one],
                rows[0][other]
            );
        }
    }
}

#[test]
fn lists_give_a_row_each() {
    let packets = "usb --speed full --type bulk --packet 8..64";
    assert_eq!(
        figures(packets, "bytes_s"),
        [568_000.0, 816_000.0, 1_056_000.0, 1_216_000.0]
    );
    assert_eq!(
        figures("uart --baud 9600,115200 --framing 8E1", "bytes_s"),
        [9_600.0 / 11.0, 115_200.0 / 11.0]
    );
    assert_eq!(
        figures("udp --rate 10M,100M --payload 1,18", "messages_s")
            .iter()
            .map(|frames| frames.floor())
            .collect::<Vec<_>>(),
        [14_880.0, 14_880.0, 148_809.0, 148_809.0]
    );
}

#[test]
fn an_overview_has_every_medium_and_every_speed() {
    let all = json("");
    let media = |name: &str| all.iter().filter(|one| one["medium"] == name).count();
    assert_eq!(
        ["usb", "uart", "can", "tcp", "udp"].map(media),
        [22, 4, 8, 3, 3]
    );
    let desk = Desk::new();
    has_all(
        &desk.output("limits"),
        &["117,685,306", "53,248,000", "11,520"],
    );
}

#[test]
fn an_exchange_takes_at_least_its_time_on_the_wire() {
    let uart = figures("uart --baud 1000000 --out 16 --in 64", "exchange_ns");
    assert_eq!(uart, [800_000.0]);
    let tcp = "tcp --rate 10M --out 16 --in 48";
    // The frames: 8 + 14 + 68 + 4 and 8 + 14 + 100 + 4 bytes.
    assert_eq!(figures(tcp, "exchange_ns"), [(94.0 + 126.0) * 800.0]);
}

#[test]
fn what_a_speed_forbids_is_refused_with_what_it_allows() {
    let desk = Desk::new();
    desk.refuses(
        "limits",
        2,
        "
        usb --speed full --type bulk --packet 65    => endpoints of 8, 16, 32 or 64 B (USB 2.0, 5.8.3)
        usb --speed low --type bulk                 => control and interrupt
        usb --speed low --type interrupt --interval 1ms => 10 to 255 ms
        usb --speed high --type isochronous --packet 600 --packets 3 => 1 to 2
        usb --packet 1025                           => 1 to 1024 B
        usb --speed 480                             => possible values: low, full, high
        usb --speed full --type interrupt --out 8 --in 8 => require bulk transfers
        uart --baud 0                               => 0 baud
        uart --framing 8N3                          => such as 8N1
        uart --rate 10M                             => --rate requires `wiregauge limits tcp` and `udp`
        can --bitrate 2M                            => 1 to 1M
        can --bitrate 500k --bytes 64               => CAN FD has up to 64 B
        can --data-bitrate 2M --bytes 10            => 8, 12, 16
        can --bitrate 500k --data-bitrate 250k      => 500000 to 8M
        can --baud 500000                           => --baud requires `wiregauge limits uart`
        --packet 64                                 => --packet requires `wiregauge limits usb`
        udp --payload 65508                         => 1 to 65507 B
        udp --out 65508 --in 1                      => 1 to 65507 B
        tcp --payload 0                             => the minimum is 1 B
        tcp --mtu 67                                => 68 to 65535
        tcp --rate ten                              => such as 10M
        tcp --rate 10                               => 10 bit/s, below 1 Mbit/s
        spi                                         => possible values: usb, uart, can, tcp, udp
        ",
    );
}

#[test]
fn a_can_bus_at_500_kbit_s_carries_4504_frames_of_8_bytes_at_best_and_3703_at_worst() {
    let desk = Desk::new();
    has_all(
        &desk.output("limits can --bitrate 500k --bytes 8 --out 8 --in 8"),
        &[
            "500,000 bit/s / 111 bits = 4,504 frames/s at best; with 24 stuff bits 135 bits, 3,703",
            "Davis",
            "438.0",
        ],
    );
}
