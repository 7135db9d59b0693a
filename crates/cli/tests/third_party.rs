//! Measured against things that nobody here wrote: socat and Python's standard library. What is
//! wrong on both sides of one's own program agrees with itself; here it would not.

use crate::common;

use common::{Desk, Server, has_all};

/// `socat LISTEN EXEC:cat`: a process a connection that echoes what it reads.
fn socat_echo(desk: &Desk, listen: &str, ready: &str, scheme: &str) -> Server {
    Server::socat(desk, &[listen, "EXEC:cat"], ready, |found| {
        format!("{scheme}://{}", found.trim_matches('"'))
    })
}

#[test]
fn socat_echoes_over_every_kind_of_link() {
    let desk = Desk::new();
    let [socket, board] = ["socket", "board"].map(|name| desk.text(name));
    let tcp = "TCP-LISTEN:0,bind=127.0.0.1,fork,nodelay";
    let unix: &str = &format!("UNIX-LISTEN:{socket},fork");
    // Without `fork`: what it forks for a peer over UDP never learns that the peer has gone. One at a time: socat and cat
    // join datagrams that wait.
    let udp = "UDP4-LISTEN:0,bind=127.0.0.1";
    for (listen, ready, scheme, flags) in [
        (tcp, "AF=2 ", "tcp", "--out 1,64,40000 --depth 1,8,64"),
        (tcp, "AF=2 ", "tcp", "--out 100 --connect each"),
        (udp, "UDP AF=2 ", "udp", "--out 1,20,500,1400"),
        (unix, "AF=1 ", "unix", "--out 1,64,20000 --depth 1,32"),
    ] {
        let ready = format!("listening on {ready}");
        let server = socat_echo(&desk, listen, &ready, scheme);
        let flags = format!("--protocol echo {flags} --count 100");
        let run = desk.measure(&server.address, &flags);
        run.is_clean();
        let connects = run.file.points.iter().all(|point| point.connect.is_some());
        assert_eq!(connects, flags.contains("--connect each"), "{listen}");
    }
    let pty = format!("PTY,raw,echo=0,link={board}");
    let mut server = socat_echo(&desk, &pty, "PTY is ", "serial");
    server.process.until_said("that it transfers", |_, stderr| {
        stderr.contains("starting data transfer").then_some(())
    });
    let flags = "--protocol echo --out 1,64,2000 --depth 1,16 --count 100";
    desk.measure(&format!("serial://{board}"), flags).is_clean();
}

#[test]
fn a_device_that_ends_its_echoes_with_a_line_end_is_named() {
    let desk = Desk::new();
    // As a sketch with println.
    let program = "
import socket
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1])
while True:
    peer, _ = listener.accept()
    try:
        while block := peer.recv(16):
            peer.sendall(block + b'\\r\\n')
    except OSError:
        pass
";
    let server = Server::python(&desk, "tcp", program);
    let flags = "--protocol echo --out 16 --count 50";
    let words = format!("exchange {} {flags} --no-calibration", server.address);
    let text = desk.output(&format!("{words} --connect each"));
    has_all(&text, &["W19: each echo has 2 B more than its request"]);
    let full = desk.output("show last --full");
    assert!(full.contains("--protocol lines"), "{full}");
    // What is left of one is before the next, and known from the first on.
    let run = desk.measure(&server.address, flags);
    run.is_clean();
    let surplus = run.point().surplus.as_ref().expect("a surplus");
    assert_eq!((&surplus.bytes[..], surplus.missing), (&b"\r\n"[..], 0));
    let text = desk.output("show last");
    let says = "W19: each response carries 2 extra bytes, CR LF";
    assert!(text.contains(says), "{text}");
    assert!(!text.contains("W02"), "{text}");
    // Echoes too short to be told from what follows them are displaced.
    let words = words.replace("--out 16", "--out 3");
    let text = desk.output(&format!("{words} --timeout 100ms"));
    assert!(text.contains("W02") || text.contains("W19"), "{text}");
}

/// Two ttys joined by socat: whatever goes into one comes out of the other.
fn null_modem(desk: &Desk) -> Server {
    let [host, device] =
        ["host", "device"].map(|name| format!("PTY,raw,echo=0,link={}", desk.text(name)));
    Server::socat(desk, &[&host, &device], "starting data transfer", |_| {
        format!("serial://{}", desk.text("host"))
    })
}

#[test]
fn a_responder_serves_on_a_tty_at_the_other_end_of_a_cable() {
    let desk = Desk::new();
    let cable = null_modem(&desk);
    let device = desk.serve(&format!("serial://{}", desk.text("device")));
    assert_eq!(device.address, format!("serial://{}", desk.text("device")));
    let run = desk.measure(
        &cable.address,
        "--in 32,500,8000 --depth 1,4,16 --count 100",
    );
    run.is_clean();
}

#[test]
fn the_wiregauge_protocol_passes_through_a_relay_that_cuts_it_as_it_likes() {
    let desk = Desk::new();
    let device = desk.serve("tcp://:0");
    // Blocks of 7 bytes: no header arrives in one piece.
    let to = format!("TCP:{},nodelay", device.host_port());
    let listen = "TCP-LISTEN:0,bind=127.0.0.1,fork,nodelay";
    let arguments = ["-b", "7", listen, to.as_str()];
    let relay = Server::socat(&desk, &arguments, "listening on AF=2 ", |at| {
        format!("tcp://{at}")
    });
    let run = desk.measure(&relay.address, "--in 32,100,1000 --depth 1,4 --count 60");
    run.is_clean();
}

const PYTHON_TCP: &str = "
import socketserver

class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)

with socketserver.ThreadingTCPServer(('127.0.0.1', 0), Echo) as server:
    print(server.server_address[1])
    server.serve_forever()
";

const PYTHON_UDP: &str = "
import asyncio

class Echo(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport
        print(transport.get_extra_info('sockname')[1])

    def datagram_received(self, data, address):
        self.transport.sendto(data, address)

async def main():
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(Echo, local_addr=('127.0.0.1', 0))
    await asyncio.Event().wait()

asyncio.run(main())
";

#[test]
fn a_python_server_echoes_over_tcp() {
    let desk = Desk::new();
    let server = Server::python(&desk, "tcp", PYTHON_TCP);
    let run = desk.measure(
        &server.address,
        "--protocol echo --out 1,100,30000 --depth 1,16 --count 100",
    );
    run.is_clean();
    let each = desk.measure(
        &server.address,
        "--protocol echo --out 100 --connect each --count 30",
    );
    each.is_clean();
}

#[test]
fn a_python_server_echoes_over_udp() {
    let desk = Desk::new();
    let server = Server::python(&desk, "udp", PYTHON_UDP);
    let run = desk.measure(
        &server.address,
        "--protocol echo --out 1,20,500,1400 --depth 1,8 --count 100",
    );
    run.is_clean();
}

#[test]
fn answers_in_two_small_writes_wait_for_an_acknowledgement_unless_it_is_sent_at_once() {
    let program = "
import socket
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1])
peer, _ = listener.accept()
while data := peer.recv(65536):
    peer.send(data[:4])
    peer.send(data[4:])
";
    let desk = Desk::new();
    let rtt = |flags: &str| {
        let server = Server::python(&desk, "tcp", program);
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
