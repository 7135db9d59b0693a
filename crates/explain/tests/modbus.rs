//! Where the time of a Modbus exchange on a serial line goes.

use crate::common::{exchange_point, plan};
use wiregauge_explain::of_modbus;
use wiregauge_record::{
    Conditions, LinkDetail, ModbusLine, Plan, PointSummary, Queries, Query, ReplyEnd, Throughput,
};

/// Reads of 10 registers at 19,200 baud, 8E1: 8 bytes out and 25 in, as the line reports itself.
fn reads(rtt_us: f64) -> (Plan, Conditions, PointSummary) {
    let query = Query {
        name: "read holding:0+10".into(),
        bytes: vec![1, 3, 0, 0, 0, 10],
    };
    let plan = Plan {
        queries: Some(Queries {
            list: vec![query],
            reply: ReplyEnd::Modbus(ModbusLine::Rtu { silence_ns: 0 }),
            expect: None,
        }),
        ..plan()
    };
    let settings = [("baud", "19200"), ("framing", "8E1")];
    let conditions = Conditions {
        link: LinkDetail {
            settings: settings
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
        },
        ..Conditions::default()
    };
    let point = PointSummary {
        throughput: Throughput {
            exchanges_s: 10.0,
            out_bytes_s: 80.0,
            in_bytes_s: 250.0,
        },
        ..exchange_point(1, rtt_us, None)
    };
    (plan, conditions, point)
}

#[test]
fn the_rtt_is_split_into_bits_silence_and_the_rest() {
    let (plan, conditions, point) = reads(30_000.0);
    let [split] = of_modbus(&plan, &conditions, &[point])[..] else {
        panic!("one point")
    };
    let us = [
        split.request_ns,
        split.silence_ns,
        split.reply_ns,
        split.rest_ns,
    ];
    // 8 and 25 characters of 11 bits, and 3.5 of silence.
    let expected = [4_583.3, 2_005.2, 14_322.9, 9_088.5];
    for (ns, expected) in us.iter().zip(expected) {
        assert!((ns / 1e3 - expected).abs() < 0.1, "{us:?}");
    }
    assert_eq!(
        split.to_string(),
        "of the mean RTT of 30.00 ms: request 4.583 ms (15.3 %), silence 2.005 ms (6.7 %), reply 14.32 ms (47.7 %); \
         device, adapter and host 9.089 ms (30.3 %)"
    );
}

#[test]
fn a_line_faster_than_its_baud_rate_is_no_real_one() {
    let (plan, conditions, point) = reads(100.0);
    let said = of_modbus(&plan, &conditions, &[point])[0].to_string();
    assert!(
        said.contains("it is not a real line of this baud rate"),
        "{said}"
    );
}

#[test]
fn of_a_line_that_does_not_report_its_rate_nothing_is_said() {
    let (plan, _, point) = reads(30_000.0);
    assert_eq!(of_modbus(&plan, &Conditions::default(), &[point]), []);
}
