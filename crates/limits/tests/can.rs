//! CAN against the formulas that others published.

use wiregauge_limits::{CAN_FD_SIZES, Can, CanBits, CanFrame, CanRates};

fn at(nominal: u32, data: Option<u32>, extended: bool, bytes: u32) -> Can {
    Can {
        rates: CanRates { nominal, data },
        extended,
        bytes,
    }
}

fn can(extended: bool, data: Option<u32>, bytes: u32) -> Can {
    at(500_000, data, extended, bytes)
}

#[test]
fn classic_frames_have_the_bits_of_davis_burns_bril_and_lukkien() {
    // Controller Area Network (CAN) schedulability analysis, Real-Time Systems 35 (2007), equations 1 to 3: 55 + 10 s
    // bits with 11-bit identifiers, 80 + 10 s with 29-bit ones; without stuff bits 47 + 8 s and 67 + 8 s.
    for s in 0..=8 {
        let (standard, extended) = (can(false, None, s), can(true, None, s));
        assert_eq!(standard.most().sum(), 55 + 10 * s);
        assert_eq!(extended.most().sum(), 80 + 10 * s);
        assert_eq!(standard.least().sum(), 47 + 8 * s);
        assert_eq!(extended.least().sum(), 67 + 8 * s);
    }
}

fn bits(id: u32, extended: bool, fd: bool, data: &[u8]) -> CanBits {
    let frame = CanFrame {
        id,
        extended,
        fd,
        data,
    };
    frame.bits()
}

/// Identifier, whether it has 29 bits, and data of each row, with the row itself.
fn frames(table: &str) -> Vec<(u32, bool, Vec<u8>, csv::StringRecord)> {
    let mut rows = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(table.as_bytes());
    let hex = |digits: &str| u32::from_str_radix(digits, 16).expect("hexadecimal digits");
    let read = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.expect("a row");
        let data = (0..row[1].len() / 2).map(|at| hex(&row[1][2 * at..2 * at + 2]) as u8);
        (hex(&row[0]), row[0].len() == 8, data.collect(), row)
    };
    rows.records().map(read).collect()
}

#[test]
fn given_frames_have_as_many_bits_as_can_utils_counts() {
    let rows = frames(include_str!("canframelen.csv"));
    assert!(rows.len() > 200);
    for (id, extended, data, row) in rows {
        let bits = bits(id, extended, false, &data);
        assert_eq!(bits.sum().to_string(), row[2], "{row:?}");
    }
}

#[test]
fn given_frames_of_fd_have_the_bits_of_the_standard_on_both_sides_of_the_switch() {
    let rows = frames(include_str!("canfd.csv"));
    assert!(rows.len() >= 150);
    for (id, extended, data, row) in rows {
        let bits = bits(id, extended, true, &data);
        assert_eq!(bits.nominal.to_string(), row[2], "{row:?}");
        assert_eq!(bits.data.to_string(), row[3], "{row:?}");
    }
}

#[test]
fn fd_frames_have_the_bits_that_linux_computes() {
    // include/linux/can/length.h: header 22 or 41, CRC field 28 or 33 with stuff count, fixed stuff bits and delimiter,
    // footer 9, intermission 3; the worst case has (n - 1) / 4 stuff bits in header and data.
    for bytes in CAN_FD_SIZES {
        for (extended, header) in [(false, 22), (true, 41)] {
            let one = can(extended, Some(2_000_000), bytes);
            let crc = if bytes <= 16 { 28 } else { 33 };
            let stuffed = header + 8 * bytes;
            assert_eq!(one.least().sum(), stuffed + crc + 9 + 3);
            assert_eq!(one.most().sum(), stuffed + (stuffed - 1) / 4 + crc + 9 + 3);
        }
    }
}

#[test]
fn the_known_rates_of_8_byte_frames_follow() {
    let frames_s = |nominal, extended| {
        let one = at(nominal, None, extended, 8);
        let worst = 1e9 / one.rates.ns(one.most());
        (one.limit().messages_s.floor(), worst.floor())
    };
    assert_eq!(frames_s(500_000, false), (4504.0, 3703.0));
    assert_eq!(frames_s(1_000_000, false), (9009.0, 7407.0));
    assert_eq!(frames_s(1_000_000, true), (7633.0, 6250.0));
}

#[test]
fn equal_rates_of_fd_take_the_time_of_all_bits_at_that_rate() {
    let one = can(false, Some(500_000), 64);
    let ns = |one: Can| one.rates.ns(one.least());
    assert_eq!(ns(one), f64::from(one.least().sum()) * 2_000.0);
    // 17 bits to the switch and 12 behind it; 5 + 512 + 33 at the faster rate.
    let faster = can(false, Some(2_000_000), 64);
    assert_eq!(ns(faster), 29.0 * 2_000.0 + 550.0 * 500.0);
}

#[test]
fn an_exchange_ends_with_its_response() {
    // Request 111 bits, response 108: nobody waits for the three bits behind it.
    let ns = can(false, None, 8).exchange_ns(8, 8);
    assert_eq!(ns, (111.0 + 108.0) * 2_000.0);
}

#[test]
fn what_is_no_frame_is_refused_with_what_is() {
    let refused = |one: Can| one.check().unwrap_err().to_string();
    assert!(refused(can(false, None, 9)).contains("0 to 8 B"));
    assert!(refused(can(false, Some(2_000_000), 10)).contains("8, 12, 16"));
    assert!(refused(can(false, Some(400_000), 8)).contains("500000 to 8M"));
    assert!(refused(at(2_000_000, None, false, 8)).contains("1 to 1M"));
    for bytes in CAN_FD_SIZES {
        assert_eq!(can(true, Some(8_000_000), bytes).check(), Ok(()));
    }
}
