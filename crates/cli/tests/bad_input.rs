//! What users type or plug in wrongly: addresses, sizes, devices. Each ends with exit code 2 (usage)
//! or 3 (the link failed), names the address that it is about, and says what to try.

use crate::common;

use common::{Desk, EchoTty};
use predicates::prelude::*;
use predicates::str::contains;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};

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
fn flags_without_an_effect_are_refused() {
    let desk = Desk::new();
    desk.refuses(
        "",
        2,
        "
        serve tcp://127.0.0.1:0 --baud 9600             => --baud requires a serial line
        exchange tcp://127.0.0.1:9 --baud 9600          => --baud requires a serial line | tcp://127.0.0.1:9
        stream tcp://127.0.0.1:9 --baud 9600            => --baud requires a serial line | tcp://127.0.0.1:9
        tune tcp://127.0.0.1:9 --minimise trt --baud 9600 => --baud requires a serial line | tcp://127.0.0.1:9
        stream tcp://127.0.0.1:9 --loss 1e-3            => --rate <RATES>
        stream tcp://127.0.0.1:9 --direction out --require in.rate>1MB/s => a direction that is not measured
        stream tcp://127.0.0.1:9 --direction in --require out.lost=0     => a direction that is not measured
        export last --json --data                       => --csv
        ",
    );
}

#[test]
fn an_address_that_is_wrong_is_answered_with_what_is_right() {
    let desk = Desk::new();
    desk.refuses(
        "exchange",
        2,
        "
        carrier-pigeon://roof  => unknown scheme `carrier-pigeon` | hint: | tcp:// | serial:///dev/ttyACM0
        /tmp/ttyACM0           => hint: | serial:///tmp/ttyACM0
        localhost              => names no kind of link | hint: add a port: localhost:7700
        192.168.1.5            => hint: add a port: 192.168.1.5:7700
        pty:/tmp/board         => hint: use the serial:// address that wiregauge serve prints
        tcp://127.0.0.1        => no port | hint:
        tcp://127.0.0.1:99999  => not a valid port (1 to 65535) | hint:
        tcp://127.0.0.1:0      => port 0 is valid only for | hint:
        udp://127.0.0.1:0      => port 0 is valid only for | hint:
        tcp://::1:7            => brackets | hint:
        unix://                => no path | hint:
        serial://              => no path | hint:
        serial:///dev/null     => is not a tty | hint:
        null://something       => takes no address | hint:
        ",
    );
    desk.refuses("serve", 2, "carrier-pigeon://roof => carrier-pigeon");
    let long = format!("unix:///{}", "x".repeat(120));
    refused(&desk, &long, "", 2, "at most 107 bytes");
    std::fs::write(desk.path("plain"), "no socket").expect("a file");
    let plain = format!("unix://{}", desk.text("plain"));
    refused(&desk, &plain, "", 3, "this file is not a socket");
    let plain = format!("serial://{}", desk.text("plain"));
    refused(&desk, &plain, "", 2, "is not a tty");
    let text = std::fs::read_to_string(desk.path("plain")).expect("the file");
    assert_eq!(text, "no socket");
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
fn what_is_not_there_is_reported_with_what_to_check() {
    let desk = Desk::new();
    let address = format!("unix://{}", desk.text("nobody"));
    refused(&desk, &address, "", 3, "No such file");
    drop(std::os::unix::net::UnixListener::bind(desk.path("nobody")).expect("a socket"));
    refused(&desk, &address, "", 3, "refused");
    desk.refuses(
        "",
        3,
        "
        exchange tcp://no-such-host.invalid:7 => host name | hint:
        exchange udp://no-such-host.invalid:7 => host name | hint:
        exchange serial:///dev/ttyNOPE7       => /dev/ttyNOPE7 | plugged in | hint:
        exchange COM3                         => COM3 | /dev/ttyACM0 | hint:
        serve serial:///dev/ttyNOPE7          => /dev/ttyNOPE7 | hint:
        ",
    );
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
fn an_echo_server_asked_in_the_wiregauge_protocol_is_told_how_to_measure_it() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --protocol echo");
    refused(&desk, &server.address, "", 3, "--protocol echo");
}

#[test]
fn sizes_that_no_exchange_can_have_are_refused_before_anything_is_opened() {
    let desk = Desk::new();
    desk.refuses(
        "exchange",
        2,
        "
        tcp://127.0.0.1:9 --out 0                             => 0 | hint:
        tcp://127.0.0.1:9 --protocol echo --out 0             => 0 | hint:
        tcp://127.0.0.1:9 --out 15                            => needs at least 16 B | hint:
        tcp://127.0.0.1:9 --in 31                             => needs at least 32 B | hint:
        tcp://127.0.0.1:9 --in 17M                            => smaller sizes | hint:
        tcp://127.0.0.1:9 --protocol echo --out 100 --in 200  => cannot answer 100 B with 200 B | hint:
        tcp://127.0.0.1:9 --connect each --depth 2            => --depth 1 | hint:
        udp://127.0.0.1:9 --in 70000                          => 65507 | hint:
        ",
    );
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
    desk.refuses(
        "exchange null://",
        2,
        "
        --in 48,,100              => such as 64, 4k or 1M
        --in 500..100             => such as 500..8000:500
        --in 1..100:0             => is not a valid range
        --in 1..4000000:1         => more than 10000 values
        --in 5G                   => such as 64
        --depth one               => use a list such as 1,2,4
        --depth 0                 => the minimum is 1
        --count 1.5               => such as 1000
        --count 99999M            => such as 1000
        --duration 5              => such as 300ms
        --duration 0s             => out of range
        --timeout -1s             => -1
        --rate 0                  => such as 1000
        --rate inf                => such as 1000
        --host-load disk=3        => such as cpu=4
        --host-load cpu=9999      => such as cpu=4
        --require p98<2ms         => unknown figure `p98`; figures are
        --require p99>2ms         => use < or <=
        --below soon              => such as 300ms
        --give-up 0               => --give-up
        --priority 100            => --priority
        --count 5 --duration 5s   => cannot be used with
        --rate 5 --interval 5s    => cannot be used with
        --protocol morse          => wiregauge
        ",
    );
    desk.refuses(
        "serve tcp://:0",
        2,
        "
        --drop every=0    => 0.01, 1%
        --drop 101%       => 0.01, 1%
        --stall 400ms     => such as every=1000:400ms
        --max-clients 0   => --max-clients
        --bus token-ring  => full-speed
        ",
    );
}
