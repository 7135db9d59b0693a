//! Servers that read byte by byte or answer in two writes. What `doctor --run` recognises by times alone is tested on
//! made-up runs, in crates/doctor/tests/patterns.rs: a busy host moves real ones.

use crate::common;

use common::{Desk, Server};
use serde_json::Value;

const PATTERNS: &str = "polling,byte-wise,delayed-ack,zero-length";

/// A TCP server for one client; `{body}` gets the connection as `c`.
const SERVER: &str = "\
import socket, time
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1])
c, _ = listener.accept()
";

fn server(desk: &Desk, body: &str) -> Server {
    Server::python(desk, "tcp", &format!("{SERVER}{body}"))
}

/// What the checks of patterns find in a run that is measured with these flags.
#[track_caller]
fn found(desk: &Desk, address: &str, flags: &str) -> Vec<Value> {
    let run = desk.text("measured");
    desk.output(&format!(
        "exchange {address} --no-calibration --quiet --store {run} {flags}"
    ));
    let printed = desk.json(&format!("doctor --run {run} --only {PATTERNS} --json"));
    std::fs::remove_dir_all(&run).expect("the run is removed");
    printed["findings"].as_array().expect("findings").clone()
}

/// The findings that object, as `check: title`.
#[track_caller]
fn objections(desk: &Desk, address: &str, flags: &str) -> Vec<String> {
    let objects = |one: &Value| one["level"] == "note" || one["level"] == "problem";
    let words = |one: Value| format!("{}: {}", one["check"], one["title"]).replace('"', "");
    let found = found(desk, address, flags);
    found.into_iter().filter(objects).map(words).collect()
}

#[test]
fn a_server_that_reads_and_writes_byte_by_byte_is_recognised() {
    let desk = Desk::new();
    let server = server(
        &desk,
        "\
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
while True:
    data = c.recv(1)
    if not data: break
    c.send(data)
",
    );
    let flags = "--protocol echo --out 64,512,1024,2048 --count 100";
    let printed = objections(&desk, &server.address, flags);
    assert!(
        printed
            .iter()
            .any(|one| one.starts_with("byte-wise: each byte takes")),
        "{printed:?}"
    );
}

#[test]
fn answers_in_two_small_writes_wait_for_an_acknowledgement_unless_it_is_sent_at_once() {
    let body = "\
while True:
    data = c.recv(65536)
    if not data: break
    c.send(data[:4])
    c.send(data[4:])
";
    let desk = Desk::new();
    let rtt = |flags: &str| {
        let server = server(&desk, body);
        let flags = format!("--protocol echo --out 64 --count 40 --no-calibration {flags}");
        let run = desk.json(&format!("exchange {} {flags} --json", server.address));
        run["points"][0]["rtt"].clone()
    };
    // An acknowledgement that waits does so for 40 ms or more on any host, after the first few of a connection, which do not.
    let (waited, at_once) = (rtt(""), rtt("--quick-ack"));
    let [p90, min] =
        [&waited["p90"]["value"], &at_once["min"]].map(|ns| ns.as_f64().expect("a time"));
    assert!(p90 > 35e6 && min < 35e6, "{waited} {at_once}");
}
