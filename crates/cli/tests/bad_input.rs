//! What users type or plug in wrongly: addresses, sizes, devices. Each ends with exit code 2 (usage)
//! or 3 (the link failed), names the address that it is about, and says what to try.

use crate::common;

use common::{Desk, EchoTty};
use predicates::prelude::*;
use predicates::str::contains;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

/// `exchange ADDRESS FLAGS` ends with this code, names the address, says this, and what to try; and
/// it leaves no run behind.
#[track_caller]
fn refused(desk: &Desk, address: &str, flags: &str, code: i32, says: &str) {
    let command = format!("exchange {address} {flags} --no-calibration --timeout 100ms");
    desk.wiregauge(&command)
        .assert()
        .code(code)
        .stdout("")
        .stderr(
            contains(address)
                .and(contains(says))
                .and(contains("hint: ")),
        );
    assert_eq!(desk.stored(), Vec::<String>::new(), "an empty run is left");
}

/// A TCP device that does this with each client, for as long as the test lives.
fn tcp_device(with_each: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let with_each = with_each.clone();
            std::thread::spawn(move || with_each(client));
        }
    });
    format!("tcp://{address}")
}

/// A port that nobody listens on.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

#[test]
fn a_limit_that_no_stream_of_the_plan_can_miss_is_refused() {
    let desk = Desk::new();
    for (limit, direction) in [("in.rate>1MB/s", "out"), ("out.lost=0", "in")] {
        let flags = format!("--direction {direction} --require {limit}");
        desk.fails(
            &format!("stream tcp://127.0.0.1:9 {flags}"),
            2,
            &[limit, "a direction that is not measured"],
        );
    }
}

#[test]
fn flags_without_an_effect_are_refused() {
    let desk = Desk::new();
    for (command, says) in [
        (
            "serve tcp://127.0.0.1:0 --baud 9600",
            "--baud requires a serial line",
        ),
        ("stream tcp://127.0.0.1:9 --loss 1e-3", "--rate <RATES>"),
        ("export last --json --data", "--csv"),
    ] {
        desk.fails(command, 2, &[says]);
    }
}

#[test]
fn an_unknown_scheme_is_answered_with_the_known_ones() {
    let desk = Desk::new();
    refused(
        &desk,
        "carrier-pigeon://roof",
        "",
        2,
        "unknown scheme `carrier-pigeon`",
    );
    desk.wiregauge("exchange carrier-pigeon://roof")
        .assert()
        .stderr(contains("tcp://").and(contains("serial:///dev/ttyACM0")));
    desk.fails(
        "serve carrier-pigeon://roof",
        2,
        &["carrier-pigeon", "hint: "],
    );
}

#[test]
fn an_address_that_lacks_something_is_answered_with_what_it_lacks() {
    let desk = Desk::new();
    refused(&desk, "/tmp/ttyACM0", "", 2, "serial:///tmp/ttyACM0");
    refused(&desk, "localhost", "", 2, "names no kind of link");
    let served = "hint: use the serial:// address that wiregauge serve prints";
    refused(&desk, "pty:/tmp/board", "", 2, served);
    for host in ["localhost", "192.168.1.5", "board.local"] {
        let hint = format!("hint: add a port: {host}:7700");
        refused(&desk, host, "", 2, &hint);
    }
    refused(&desk, "tcp://127.0.0.1", "", 2, "no port");
    refused(
        &desk,
        "tcp://127.0.0.1:99999",
        "",
        2,
        "not a valid port (1 to 65535)",
    );
    for scheme in ["tcp", "udp"] {
        let address = format!("{scheme}://127.0.0.1:0");
        refused(&desk, &address, "", 2, "port 0 is valid only for");
    }
    refused(&desk, "tcp://::1:7", "", 2, "brackets");
    refused(&desk, "unix://", "", 2, "no path");
    refused(&desk, "serial://", "", 2, "no path");
    refused(&desk, "null://something", "", 2, "takes no address");
    let long = format!("unix:///{}", "x".repeat(120));
    refused(&desk, &long, "", 2, "at most 107 bytes");
    std::fs::write(desk.path("plain"), "no socket").expect("a file");
    let plain = format!("unix://{}", desk.text("plain"));
    refused(&desk, &plain, "", 3, "this file is not a socket");
}

#[test]
fn a_baud_rate_requires_a_serial_line() {
    let desk = Desk::new();
    for command in ["exchange", "stream", "tune --minimise trt"] {
        desk.fails(
            &format!("{command} tcp://127.0.0.1:9 --baud 9600"),
            2,
            &["--baud requires a serial line", "tcp://127.0.0.1:9"],
        );
    }
}

#[test]
fn a_refused_connection_is_asked_whether_the_responder_runs() {
    let desk = Desk::new();
    let port = free_port();
    for address in [
        format!("tcp://127.0.0.1:{port}"),
        format!("udp://127.0.0.1:{port}"),
    ] {
        refused(&desk, &address, "", 3, "refused");
    }
    let tcp = format!("tcp://127.0.0.1:{port}");
    refused(&desk, &tcp, "--protocol echo", 3, "refused");
    // Over UDP it is the first request that is refused; the run shows it as lost.
    let udp =
        format!("exchange udp://127.0.0.1:{port} --protocol echo --no-calibration --no-store");
    desk.fails(&udp, 3, &["refused", "hint: "]);
    let each = format!("tcp://127.0.0.1:{port}");
    refused(&desk, &each, "--connect each", 3, "wiregauge serve");
}

#[test]
fn a_unix_socket_that_is_not_there_or_not_served_is_reported() {
    let desk = Desk::new();
    let address = format!("unix://{}", desk.text("nobody"));
    refused(&desk, &address, "", 3, "No such file");
    drop(std::os::unix::net::UnixListener::bind(desk.path("nobody")).expect("a socket"));
    refused(&desk, &address, "", 3, "refused");
}

#[test]
fn a_host_that_has_no_address_is_reported() {
    let desk = Desk::new();
    refused(&desk, "tcp://no-such-host.invalid:7", "", 3, "host name");
    refused(&desk, "udp://no-such-host.invalid:7", "", 3, "host name");
}

#[test]
fn a_tty_that_is_not_there_is_asked_whether_it_is_plugged_in() {
    let desk = Desk::new();
    refused(&desk, "serial:///dev/ttyNOPE7", "", 3, "plugged in");
    // A name of Windows: which names are those of here.
    refused(&desk, "COM3", "", 3, "/dev/ttyACM0");
    desk.fails(
        "serve serial:///dev/ttyNOPE7",
        3,
        &["/dev/ttyNOPE7", "hint: "],
    );
}

#[test]
fn a_file_is_no_tty() {
    let desk = Desk::new();
    std::fs::write(desk.path("file"), "not a tty").expect("a file");
    let address = format!("serial://{}", desk.text("file"));
    refused(&desk, &address, "", 2, "is not a tty");
    refused(&desk, "serial:///dev/null", "", 2, "is not a tty");
    let text = std::fs::read_to_string(desk.path("file")).expect("the file");
    assert_eq!(text, "not a tty");
}

#[test]
fn a_tty_that_somebody_locked_is_reported_by_which_sign() {
    let desk = Desk::new();
    let tty = EchoTty::new(false);
    let path = tty.address().replace("serial://", "");
    let file = std::fs::File::open(&path).expect("the tty");
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).expect("a lock");
    let own = format!("in use by process {} (", std::process::id());
    refused(&desk, &tty.address(), "", 3, &own);
    refused(&desk, &tty.address(), "", 3, "a lock (flock)");
    drop(file);
    let file = std::fs::File::open(&path).expect("the tty");
    rustix::termios::ioctl_tiocexcl(&file).expect("exclusive use");
    refused(&desk, &tty.address(), "", 3, "exclusive use (TIOCEXCL)");
}

#[test]
fn a_silent_device_is_given_up_in_bounded_time_on_every_kind() {
    let desk = Desk::new();
    let tcp = tcp_device(|client| {
        let _ = std::io::copy(&mut &client, &mut std::io::sink());
    });
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let udp = format!("udp://{}", socket.local_addr().expect("its address"));
    let path = desk.path("silent");
    let _listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    let tty = EchoTty::new(true);
    let unix = format!("unix://{}", path.display());
    for address in [&tcp, &udp, &unix, &tty.address()] {
        refused(&desk, address, "", 3, "no HELLO reply after 3 attempts");
    }
}

#[test]
fn a_silent_echo_is_given_up_with_its_losses_shown() {
    let desk = Desk::new();
    let tty = EchoTty::new(true);
    let (run, ended) = desk.try_measure(&tty.address(), "--protocol echo --timeout 50ms");
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains(&tty.address()) && ended.stderr.contains("hint: "));
    run.accounts_for_every_exchange();
    assert!(run.rows.len() >= 3 && run.rows.iter().all(|row| row.status == "lost"));
}

#[test]
fn a_device_that_takes_nothing_more_is_given_up() {
    let desk = Desk::new();
    // It accepts and never reads: requests fill its buffer and stay there.
    let address = tcp_device(|client| {
        std::thread::sleep(Duration::from_secs(60));
        drop(client);
    });
    let flags = "--protocol echo --out 1M --depth 8 --count 50 --timeout 100ms --give-up 1";
    let (run, ended) = desk.try_measure(&address, flags);
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains(&address) && ended.stderr.contains("hint: "));
    run.accounts_for_every_exchange();
}

#[test]
fn a_device_that_answers_rubbish_is_quoted() {
    let desk = Desk::new();
    let address = tcp_device(|mut client| {
        let mut buffer = [0; 1000];
        while let Ok(1..) = client.read(&mut buffer) {
            let _ = client.write_all(b"220 this is not the device that you want\r\n");
        }
    });
    // The beginning in hexadecimal: "220 t".
    refused(&desk, &address, "", 3, "32 32 30 20 74");
}

#[test]
fn a_device_that_talks_without_end_does_not_hold_the_program_up() {
    let desk = Desk::new();
    let address = tcp_device(|mut client| while client.write_all(&[0x55; 4096]).is_ok() {});
    refused(&desk, &address, "", 3, "55 55 55");
}

#[test]
fn an_echo_that_talks_without_end_does_not_hold_the_program_up() {
    let desk = Desk::new();
    let address = tcp_device(|mut client| while client.write_all(&[0x55; 4096]).is_ok() {});
    let flags = "--protocol echo --count 20 --timeout 100ms --no-calibration";
    desk.wiregauge(&format!("exchange {address} {flags}"))
        .assert()
        .code(3)
        .stderr(contains(&address).and(contains("unsolicited data")))
        .stderr(contains("hint: "));
}

#[test]
fn an_echo_that_answers_something_else_is_corrupted_throughout() {
    let desk = Desk::new();
    let address = tcp_device(|mut client| {
        let mut buffer = [0; 100];
        while client.read_exact(&mut buffer).is_ok() {
            let _ = client.write_all(&[0x55; 100]);
        }
    });
    let run = desk.measure(&address, "--protocol echo --out 100 --count 10");
    run.accounts_for_every_exchange();
    assert_eq!((run.counts().corrupted, run.counts().answered), (10, 0));
    assert!(run.point().rtt.is_none());
}

#[test]
fn an_echo_server_asked_in_the_wiregauge_protocol_is_told_how_to_measure_it() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --protocol echo");
    refused(&desk, &server.address, "", 3, "--protocol echo");
}

#[test]
fn a_device_that_closes_at_once_has_vanished() {
    let desk = Desk::new();
    let address = tcp_device(drop);
    refused(&desk, &address, "", 3, "HELLO");
}

#[test]
fn sizes_that_no_exchange_can_have_are_refused_before_anything_is_opened() {
    let desk = Desk::new();
    let nobody = format!("tcp://127.0.0.1:{}", free_port());
    for (flags, says) in [
        ("--out 0", "0"),
        ("--protocol echo --out 0", "0"),
        ("--out 15", "needs at least 16 B"),
        ("--in 31", "needs at least 32 B"),
        ("--in 17M", "smaller sizes"),
        (
            "--protocol echo --out 100 --in 200",
            "cannot answer 100 B with 200 B",
        ),
        ("--connect each --depth 2", "--depth 1"),
    ] {
        let command = format!("exchange {nobody} {flags}");
        desk.fails(&command, 2, &[says, "hint: "]);
    }
    let udp = format!("udp://127.0.0.1:{}", free_port());
    refused(&desk, &udp, "--in 70000", 2, "65507");
    assert_eq!(desk.stored(), Vec::<String>::new());
}

#[test]
fn a_size_over_the_limit_of_the_device_is_refused_with_the_limit() {
    let desk = Desk::new();
    for address in ["tcp://:0", "udp://:0", "pty:"] {
        let server = desk.serve(&format!("{address} --max-size 1000 --name thimble"));
        refused(&desk, &server.address, "--in 48,1001", 2, "--in up to 1000");
        refused(&desk, &server.address, "--out 1001", 2, "thimble");
        desk.measure(&server.address, "--in 1000 --out 1000 --count 3 --no-store")
            .is_clean();
    }
}

#[test]
fn lists_times_and_loads_that_cannot_be_read_are_shown_how_they_are_written() {
    let desk = Desk::new();
    for (flags, says) in [
        ("--in 48,,100", "such as 64, 4k or 1M"),
        ("--in 500..100", "such as 500..8000:500"),
        ("--in 1..100:0", "is not a valid range"),
        ("--in 1..4000000:1", "more than 10000 values"),
        ("--in -5", "-5"),
        ("--in 5G", "such as 64"),
        ("--depth one", "use a list such as 1,2,4"),
        ("--depth 0", "the minimum is 1"),
        ("--count 0", "the minimum is 1"),
        ("--count 1.5", "such as 1000"),
        ("--count 99999M", "such as 1000"),
        ("--duration 5", "such as 300ms"),
        ("--duration 0s", "out of range"),
        ("--timeout -1s", "-1"),
        ("--interval 3lightyears", "such as 300ms"),
        ("--rate 0", "such as 1000"),
        ("--rate inf", "such as 1000"),
        ("--rate NaN", "such as 1000"),
        ("--host-load disk=3", "such as cpu=4"),
        ("--host-load cpu=9999", "such as cpu=4"),
        ("--require p98<2ms", "unknown figure `p98`; figures are"),
        ("--require speed<2ms", "figures are p50, p90"),
        ("--require p99>2ms", "use < or <="),
        ("--below soon", "such as 300ms"),
        ("--give-up 0", "--give-up"),
        ("--priority 100", "--priority"),
        ("--count 5 --duration 5s", "cannot be used with"),
        ("--rate 5 --interval 5s", "cannot be used with"),
        ("--protocol morse", "wiregauge"),
    ] {
        let command = format!("exchange null:// {flags}");
        desk.fails(&command, 2, &[says]);
    }
    for (flags, says) in [
        ("--drop every=0", "0.01, 1%"),
        ("--drop 101%", "0.01, 1%"),
        ("--stall 400ms", "such as every=1000:400ms"),
        ("--max-clients 0", "--max-clients"),
        ("--bus token-ring", "full-speed"),
    ] {
        let command = format!("serve tcp://:0 {flags}");
        desk.fails(&command, 2, &[says]);
    }
}
