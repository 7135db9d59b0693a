//! What an answer is worth, where it differs from a right one in one respect only.

use wiregauge_record::{ModbusLine, Queries, Query as Request, ReplyEnd};
use wiregauge_session::{Codec, Exchange, Modbus, Parsed, Query, Verdict, Window};
use wiregauge_wire as wire;

/// One exchange is outstanding.
fn outstanding() -> Window {
    let mut window = Window::new(1);
    window.stage(0);
    window.start(1, 0);
    window
}

fn verdict(codec: &mut impl Codec, bytes: &[u8]) -> Verdict {
    match codec.parse(bytes, &outstanding()) {
        Parsed::Answer(answer) => answer.verdict,
        other => panic!("{other:?}"),
    }
}

fn queries(request: &[u8], reply: ReplyEnd, expect: Option<&str>) -> Queries {
    Queries {
        list: vec![Request {
            name: String::new(),
            bytes: request.to_vec(),
        }],
        reply,
        expect: expect.map(str::to_owned),
    }
}

#[test]
fn the_expected_reply_is_compared_without_its_end() {
    for datagram in [false, true] {
        let end = ReplyEnd::Until(b"\r\n".to_vec());
        let queries = queries(b"*STB?\n", end, Some("^[0-9]+$"));
        let mut codec = Query::new(&queries, datagram).expect("sound queries");
        assert_eq!(verdict(&mut codec, b"32\r\n"), Verdict::Intact);
        assert_eq!(verdict(&mut codec, b"32 \r\n"), Verdict::Unexpected);
    }
}

#[test]
fn an_escape_of_the_expected_reply_is_one_byte() {
    let queries = queries(b"?", ReplyEnd::Bytes(2), Some(r"^\xaa\x55$"));
    let mut codec = Query::new(&queries, false).expect("sound queries");
    assert_eq!(verdict(&mut codec, b"\xaa\x55"), Verdict::Intact);
    assert_eq!(verdict(&mut codec, b"\xc2\xaa"), Verdict::Unexpected);
}

#[test]
fn a_write_that_is_confirmed_for_another_register_or_value_is_unexpected() {
    // Registers or coils, one or several.
    for function in [5, 6, 15, 16] {
        let request = [1, function, 0, 7, 0, 1];
        let queries = queries(&request, ReplyEnd::Modbus(ModbusLine::Tcp), None);
        let mut codec = Modbus::new(0, &queries, false).expect("sound queries");
        let mut verdict_of = |at: usize, change: u8| {
            let mut reply = request;
            reply[at] ^= change;
            let frame = [&[0, 0, 0, 0, 0, 6][..], &reply].concat();
            verdict(&mut codec, &frame)
        };
        assert_eq!(verdict_of(3, 0), Verdict::Intact);
        for at in 2..6 {
            assert_eq!(verdict_of(at, 1), Verdict::Unexpected, "byte {at}");
        }
    }
}

#[test]
fn a_datagram_that_is_filled_up_behind_a_shorter_frame_is_damaged() {
    const IN_BYTES: usize = 64;
    let verdict_of = |payload: usize| {
        let mut bytes = vec![0; IN_BYTES];
        let (header, rest) = bytes.split_at_mut(wire::RESPONSE_HEADER);
        wire::Response {
            kind: wire::Kind::Exchange,
            sequence: 0,
            in_payload: payload as u32,
            status: wire::Status::Ok,
            flags: 0,
            rx_ticks: 0,
            tx_ticks: 0,
        }
        .encode(header.try_into().expect("split at the header's size"));
        wire::fill_pattern(0, &mut rest[..payload]);
        verdict(&mut Exchange::new(0, 16, IN_BYTES as u32, true), &bytes)
    };
    let whole = IN_BYTES - wire::RESPONSE_HEADER;
    assert_eq!(verdict_of(whole), Verdict::Intact);
    assert_eq!(verdict_of(whole - 8), Verdict::Damaged);
}
