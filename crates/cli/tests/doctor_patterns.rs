//! `wiregauge doctor --run` on runs that were measured: readers that sleep or read byte by byte, answers
//! in two writes, and links with nothing to object to.

use crate::common;

use common::{Desk, EchoTty, Server};
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
fn a_server_that_sleeps_between_two_looks_is_recognised() {
    let desk = Desk::new();
    // Long enough that a busy host's wake-ups are small beside it.
    let server = server(
        &desk,
        "\
c.setblocking(False)
while True:
    time.sleep(0.1)
    try:
        data = c.recv(65536)
        if not data: break
        c.send(data)
    except BlockingIOError:
        pass
",
    );
    let flags = "--protocol echo --out 16 --count 35";
    let printed = objections(&desk, &server.address, flags);
    assert_eq!(printed.len(), 1, "{printed:?}");
    assert!(
        printed[0].starts_with("polling: RTTs are just above 100 ms"),
        "{printed:?}"
    );
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
    let flags = "--protocol echo --out 64 --count 40";
    let slow = server(&desk, body);
    let printed = objections(&desk, &slow.address, flags);
    assert_eq!(printed.len(), 1, "{printed:?}");
    assert!(
        printed[0].starts_with("delayed-ack: answers over TCP arrive 40 ms late"),
        "{printed:?}"
    );
    let quick = server(&desk, body);
    let printed = objections(&desk, &quick.address, &format!("{flags} --quick-ack"));
    assert!(printed.is_empty(), "{printed:?}");
}

#[test]
fn clean_links_get_no_objection() {
    let desk = Desk::new();
    let sizes = "--in 32,64,128,512,2000 --count 60";
    let tcp = desk.serve("tcp://:0");
    let slow = desk.serve("tcp://:0 --service-time 10ms");
    let full = desk.serve("pty: --bus full-speed --service-time 700us --jitter 200us");
    let high = desk.serve("pty: --bus high-speed");
    for (address, flags) in [
        ("null://", sizes),
        (&tcp.address, sizes),
        // The device says itself that it took the time.
        (&slow.address, "--in 32,512 --count 40"),
        (&full.address, sizes),
        (&high.address, sizes),
    ] {
        let printed = objections(&desk, address, flags);
        assert!(printed.is_empty(), "{address}: {printed:?}");
    }
    let tty = EchoTty::new(false);
    let printed = objections(
        &desk,
        &tty.address(),
        "--protocol echo --out 16,64,128,512,2000 --count 100",
    );
    assert!(printed.is_empty(), "{printed:?}");
}
