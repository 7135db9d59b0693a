//! What the frame costs on the measuring path, in nanoseconds a call:
//! `cargo run --release -p wiregauge-wire --example cost`

use std::hint::black_box;
use std::time::Instant;

use wiregauge_wire::{
    Found, Kind, RESPONSE_HEADER, Request, Response, Status, check_pattern, fill_pattern,
    next_frame,
};

/// The best of several rounds: what is asked for is the code's cost, not the machine's mood.
fn time(what: &str, calls: u32, mut call: impl FnMut()) {
    let best = (0..20)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                call();
            }
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    let nanoseconds = best.as_secs_f64() * 1e9 / f64::from(calls);
    println!("{what:<44} {nanoseconds:>10.1} ns");
}

fn frame_of(length: usize) -> Vec<u8> {
    let response = Response {
        kind: Kind::Exchange,
        sequence: 77,
        in_payload: (length - RESPONSE_HEADER) as u32,
        status: Status::Ok,
        flags: 0,
        rx_ticks: 1,
        tx_ticks: 2,
    };
    let mut frame = vec![0; length];
    if let Some((header, payload)) = frame.split_first_chunk_mut() {
        response.encode(header);
        fill_pattern(response.sequence, payload);
    }
    frame
}

fn main() {
    for length in [32, 48, 100, 1_000, 8_000, 1_000_000] {
        let calls = (20_000_000 / length as u32).clamp(20, 100_000);
        let mut frame = frame_of(length);
        time(&format!("find a response of {length} B"), calls, || {
            let found = next_frame::<Response>(black_box(&frame), 1 << 24);
            assert!(matches!(found, Found::Frame { intact: true, .. }));
            black_box(&found);
        });
        time(&format!("fill {length} B"), calls, || {
            fill_pattern(black_box(3), black_box(&mut frame));
        });
        time(&format!("check {length} B"), calls, || {
            black_box(check_pattern(black_box(3), black_box(&frame)));
        });
    }
    time("nothing arrived", 100_000, || {
        black_box(next_frame::<Response>(black_box(&[]), 1 << 24));
    });
    let mut header = [0; 16];
    let mut sequence = 0;
    time("encode a request header", 100_000, || {
        let request = Request {
            kind: Kind::Exchange,
            sequence: black_box(sequence),
            out_payload: 84,
            in_bytes: 100,
        };
        request.encode(black_box(&mut header));
        sequence = sequence.wrapping_add(1);
    });
    time("decode a request header", 100_000, || {
        let _ = black_box(Request::decode(black_box(&header)));
    });
    let noise = frame_of(1_000_000).split_off(RESPONSE_HEADER);
    time("skip 1,000,000 B of payload as noise", 20, || {
        black_box(next_frame::<Response>(black_box(&noise), 1 << 24));
    });
}
