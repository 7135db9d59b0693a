//! The formula against the tables that the USB specification prints.

use wiregauge_limits::{Endpoint, Speed, Transfer};

/// `(speed, transfer)` of a row.
fn kind(row: &csv::StringRecord, at: usize) -> (Speed, Transfer) {
    let speed = match &row[at] {
        "low" => Speed::Low,
        "full" => Speed::Full,
        "high" => Speed::High,
        other => panic!("{other}"),
    };
    let name = &row[at + 1];
    let transfer = Transfer::ALL.into_iter().find(|t| t.name() == name);
    (speed, transfer.expect("a kind of transfer"))
}

fn rows(text: &str) -> Vec<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let rows = reader.records().map(|row| row.expect("a row of the table"));
    rows.collect()
}

fn number(row: &csv::StringRecord, at: usize) -> u64 {
    row[at].parse().expect("a number")
}

#[test]
fn every_row_of_tables_5_1_to_5_10_of_usb_2_follows_from_the_formula() {
    let rows = rows(include_str!("usb-2.0-tables.csv"));
    assert_eq!(rows.len(), 83);
    for row in &rows {
        let (speed, transfer) = kind(row, 1);
        let (packets, payload) = (number(row, 3), number(row, 4));
        let endpoint = Endpoint {
            packet_bytes: u32::try_from(payload / packets).unwrap(),
            packets: u32::try_from(packets).unwrap(),
            interval_ns: speed.frame_ns(),
            speed,
            transfer,
        };
        let frame = endpoint.frame().expect("USB 2.0 has a table of it");
        let ours = (frame.bytes_s, frame.transfers, frame.data_bytes);
        let printed = (number(row, 5), number(row, 7), number(row, 9));
        assert_eq!(ours, printed, "{row:?}");
        // Of two and three packets the tables count the overhead once, though each packet has it
        // (8.5.4, 8.5.5); no more and no fewer fit a microframe for it.
        if packets == 1 {
            assert_eq!(frame.percent, number(row, 6), "{row:?}");
            // 1500 - 32 x (45 + 1) is 28, where the table prints 23.
            let misprint = (&row[0], payload) == ("5-2", 1);
            let remaining = if misprint { 28 } else { number(row, 8) };
            assert_eq!(frame.bytes_remaining, remaining, "{row:?}");
        }
    }
}

#[test]
fn an_endpoint_at_its_best_carries_what_is_published() {
    for row in &rows(include_str!("published.csv")) {
        let (speed, transfer) = kind(row, 0);
        let endpoint = Endpoint::best(speed, transfer);
        assert_eq!(u64::from(endpoint.packet_bytes), number(row, 2), "{row:?}");
        let limit = endpoint.limit();
        assert_eq!(limit.bytes_s, number(row, 5) as f64, "{row:?}");
        let an_interval = limit.messages_s * number(row, 4) as f64 / 1e6;
        assert_eq!(an_interval, number(row, 3) as f64, "{row:?}");
    }
}

#[test]
fn a_low_speed_endpoint_that_asks_every_10_ms_is_served_every_8() {
    let limit = Endpoint::best(Speed::Low, Transfer::Interrupt).limit();
    assert_eq!(limit.bytes_s, 1000.0);
    let mut notes = limit.notes.iter();
    assert!(notes.any(|note| note.contains("actual interval 8 ms")));
}

#[test]
fn super_speed_is_bounded_by_its_line_code_and_framing() {
    let bulk = |speed| Endpoint::best(speed, Transfer::Bulk).limit();
    assert_eq!(bulk(Speed::Super5).bytes_s, 484_848_484.0);
    assert_eq!(bulk(Speed::Super10).bytes_s, 1_175_390_266.0);
    assert_eq!(bulk(Speed::Super20).bytes_s, 2_350_780_532.0);
    assert!(bulk(Speed::Super5).source.contains("upper bound") && !bulk(Speed::Super5).shared);
    let isochronous = Endpoint::best(Speed::Super5, Transfer::Isochronous);
    assert_eq!(isochronous.limit().bytes_s, 48.0 * 1024.0 * 8000.0);
}

#[test]
fn an_exchange_over_full_speed_bulk_takes_the_time_of_its_packets() {
    let bulk = Endpoint::best(Speed::Full, Transfer::Bulk);
    // (16 + 13 + 100 + 2 x 13) bytes of 8 bits at 12 Mbit/s.
    let ns = bulk.exchange_ns(16, 100).unwrap();
    assert!((ns - 155.0 * 8.0 * 1000.0 / 12.0).abs() < 1e-6, "{ns}");
    let interrupt = Endpoint::best(Speed::Full, Transfer::Interrupt);
    assert_eq!(interrupt.exchange_ns(16, 100), None);
}

#[test]
fn what_no_descriptor_may_ask_for_is_refused_with_what_it_may() {
    let refused = |endpoint: Endpoint| endpoint.check().unwrap_err().to_string();
    let best = Endpoint::best;
    let packet = |speed, transfer, packet_bytes| Endpoint {
        packet_bytes,
        ..best(speed, transfer)
    };
    assert_eq!(
        refused(packet(Speed::Full, Transfer::Bulk, 65)),
        "a packet of 65 B is not allowed at full speed, bulk: 1 to 64 B of data, endpoints of 8, 16, 32 \
         or 64 B (USB 2.0, 5.8.3)"
    );
    assert!(refused(packet(Speed::Full, Transfer::Isochronous, 1024)).contains("up to 1023 B"));
    assert!(refused(packet(Speed::High, Transfer::Interrupt, 0)).contains("up to 1024 B"));
    assert!(refused(best(Speed::Low, Transfer::Bulk)).contains("no bulk transfers"));
    let full = best(Speed::Full, Transfer::Interrupt);
    let asked = refused(Endpoint { packets: 2, ..full });
    let expected =
        "2 packets of 64 B per interval are not allowed at full speed, interrupt: 1 (more";
    assert!(asked.contains(expected), "{asked}");
    let each = |interval_ns, endpoint| Endpoint {
        interval_ns,
        ..endpoint
    };
    for interval_ns in [0, 1_500_000, 256_000_000] {
        let asked = refused(each(interval_ns, full));
        assert!(asked.contains("1 to 255 ms"), "{asked}");
    }
    let high = best(Speed::High, Transfer::Isochronous);
    for interval_ns in [375_000, 8_192_000_000] {
        assert!(refused(each(interval_ns, high)).contains("power of two"));
    }
    let small = high.with_packet(600);
    assert_eq!((small.packets, small.check()), (2, Ok(())));
    let three = |endpoint| Endpoint {
        packets: 3,
        ..endpoint
    };
    assert!(refused(three(small)).contains("1 to 2 (2 from 513 B"));
    let bulk = best(Speed::High, Transfer::Bulk);
    assert!(refused(three(bulk)).contains("no interval"));
    for speed in Speed::ALL {
        for transfer in Transfer::ALL.into_iter().filter(|&t| speed.has(t)) {
            let checked = best(speed, transfer).check();
            assert_eq!(checked, Ok(()), "{speed:?} {transfer:?}");
        }
    }
}
