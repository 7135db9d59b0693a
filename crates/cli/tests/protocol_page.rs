//! The responder that was written from docs/protocol.md alone, measured by the real program.

use crate::common;

use common::{Background, Desk, Server};
use wiregauge_record::Way;

/// docs/vectors/responder/serve.py, over TCP.
fn responder(desk: &Desk) -> Server {
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/vectors/responder/serve.py"
    );
    let mut command = desk.command_of("python3", ["-B", program]);
    let mut process = Background::start(&mut command);
    let address = process.until_said("its address", |stdout, _| {
        Some(stdout.strip_suffix('\n')?.to_string())
    });
    Server { process, address }
}

#[test]
fn it_answers_exchanges_of_any_size() {
    let desk = Desk::new();
    let server = responder(&desk);
    let flags = "--protocol wiregauge --out 16,1000,70000 --in 32,5000 --depth 4 --count 50";
    let run = desk.measure(&server.address, flags);
    assert_eq!(run.file.points.len(), 6);
    for point in &run.file.points {
        assert!(point.counts.is_clean(), "{:?}", point.counts);
        assert_eq!(point.counts.answered, 50);
    }
}

#[test]
fn it_takes_a_new_connection_after_each_reset() {
    let desk = Desk::new();
    let server = responder(&desk);
    let flags = "--protocol wiregauge --connect each --count 30";
    let run = desk.measure(&server.address, flags);
    assert!(run.counts().is_clean(), "{:?}", run.counts());
}

#[test]
fn it_streams_both_ways() {
    let desk = Desk::new();
    let server = responder(&desk);
    let run = desk.stream(
        &server.address,
        "--direction in,out,both --transfer 4096 --duration 600ms",
    );
    run.is_clean();
    assert_eq!(run.of(Way::In).len(), 2);
    assert_eq!(run.of(Way::Out).len(), 2);
}
