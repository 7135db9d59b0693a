//! `wiregauge tune` where it cannot go on: a link that fails, an end before its time, and what is refused.

use crate::common;
use crate::tune::{found, tune};

use common::{Background, Desk, Server};
use rustix::process::Signal;

/// An echo that takes 5 ms, and hangs up on whoever sends it more than so much at once.
const TOUCHY: &str = r#"
import socket, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while data := client.recv(65536):
            if len(data) > 1000:
                break
            time.sleep(0.005)
            client.sendall(data)
    except OSError:
        pass
    client.close()
"#;

#[test]
fn a_setting_at_which_the_link_fails_is_out_and_the_search_goes_on() {
    let desk = Desk::new();
    let server = Server::python(&desk, "tcp", TOUCHY);
    // A probe is some 20 exchanges: with less than 5 ms for each, a host that stops for a moment makes the small size
    // the faster one. And no exchange is given up, because two requests at once are more than it takes.
    let flags = "--maximise throughput --protocol echo --out 10,800,4000 --depth 1 --count 300 \
                 --timeout 20s";
    let printed = found(&desk, &server.address, flags);
    assert_eq!(printed["best"]["out_bytes"], 800, "{printed:#}");
    let failed = printed["failed"].as_array().expect("a list");
    assert!(
        !failed.is_empty() && failed.iter().all(|one| one["out_bytes"] == 4000),
        "{printed:#}"
    );
    assert!(
        failed[0]["error"]
            .as_str()
            .is_some_and(|error| !error.is_empty())
    );
}

#[test]
fn a_dead_link_is_exit_code_3_and_what_was_found_is_reported() {
    let desk = Desk::new();
    let mut server = desk.serve("tcp://:0 --service-time 10ms");
    let address = server.address.clone();
    let words = format!("tune {address} --minimise trt --depth 1..8 --count 400 --no-calibration");
    let run = Background::start(&mut desk.command(&words));
    further_clients(&mut server, 0);
    server.process.signal(Signal::KILL);
    let ended = run.ended();
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(
        ended.stdout.contains("the best setting found so far"),
        "{ended}"
    );
    assert!(ended.stdout.contains("Not confirmed"), "{ended}");
    assert!(ended.stdout.contains("The link failed at"), "{ended}");
    assert!(ended.stderr.contains("error:"), "{ended}");
    assert!(desk.stored().is_empty(), "{:?}", desk.stored());
}

/// What a responder has said of clients that came and left.
fn clients(stdout: &str, stderr: &str) -> usize {
    stdout.matches("127.0.0.1:").count() + stderr.matches("127.0.0.1:").count()
}

/// Waits until some probes were made: each comes as a client.
fn further_clients(server: &mut Server, before: usize) {
    server.process.until_said("four clients", |stdout, stderr| {
        (clients(stdout, stderr) > before + 8).then_some(())
    });
}

#[test]
fn ctrl_c_tells_what_was_found_until_then() {
    let desk = Desk::new();
    let mut server = desk.serve("tcp://:0 --service-time 10ms");
    let address = server.address.clone();
    for flags in ["", "--json"] {
        let words = format!("tune {address} --minimise trt --depth 1..8 --count 400 {flags}");
        let (stdout, stderr) = server.process.said();
        let run = Background::start(&mut desk.command(&words));
        further_clients(&mut server, clients(&stdout, &stderr));
        run.signal(Signal::INT);
        let ended = run.ended();
        assert_eq!(ended.code, Some(130), "{ended}");
        let printed = match flags {
            "" => "the best setting found so far",
            _ => "\"ended\": \"interrupted\"",
        };
        assert!(ended.stdout.contains(printed), "{ended}");
    }
}

#[test]
fn when_the_time_is_up_what_was_found_is_confirmed() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 10ms");
    let flags = "--minimise trt --depth 1..8 --count 1000 --budget 2s --confirm 20";
    let (printed, ended) = tune(&desk, &server.address, flags);
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(printed["ended"], "out-of-time");
    assert_eq!(printed["best"]["confirmed"], true);
    assert_eq!(printed["best"]["exchanges"], 20);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_opened() {
    let desk = Desk::new();
    // Nothing answers there: who opens it ends with 3.
    let nobody = "tune tcp://127.0.0.1:1";
    desk.refuses(
        nobody,
        2,
        "
                                                 => --maximise
        --maximise trt --minimise trt            => cannot be used with
        --maximise speed                         => unknown figure
        --minimise trt --subject-to p99<10       => is not a duration
        --minimise trt --subject-to p99>10ms     => needs an upper limit
        --minimise trt --subject-to lost<2ms     => not a share or a whole number
        --minimise trt --subject-to p98<2ms      => unknown figure
        --minimise trt --subject-to trt=2ms      => <= or >=
        --minimise trt --subject-to gap.p99<2ms  => figure of streams
        --minimise trt --subject-to in.lost=0    => figure of streams
        --minimise gap.p99                       => figure of streams
        --minimise p99 --transfer 64             => figure of exchanges
        --minimise gap.p99 --transfer 64 --in 48 => cannot be used with
        --minimise trt --in 9..5                 => is not a valid range
        --minimise trt --in 8..16                => is too small: a re
        --minimise trt --depth 0..3              => 0 is not valid: the minimum is 1
        --minimise trt --depth 2,4 --connect each => requires --depth 1
        --minimise trt --confirm 5s              => number of exchanges
        --minimise trt --confirm 0               => is not valid
        --maximise rate --transfer 64 --confirm 100 => must be a time
        --minimise control.cost                  => requires the model of a control loop
        --minimise trt --subject-to control.growth<1 => requires the model of a control loop
        --minimise trt --wait long               => block
        ",
    );
    desk.refuses(nobody, 3, "--minimise trt => cannot connect to");
    let server = desk.serve("tcp://:0");
    desk.refuses(
        &format!("tune {}", server.address),
        2,
        "
        --minimise access.p50   => --connect each | cannot tune tcp://
        --maximise limit-used   => limit of this link is unknown | cannot tune tcp://
        --minimise trt --subject-to from-intended.p99<1s => schedule | cannot tune tcp://
        ",
    );
    // A device that is silent is known at first contact.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("its address");
    let flags = "--protocol echo --minimise trt --timeout 100ms";
    desk.fails(&format!("tune tcp://{address} {flags}"), 3, &["error:"]);
    assert!(desk.stored().is_empty());
}
