//! Measured against things that nobody here wrote: socat and Python's standard library. What is
//! wrong on both sides of one's own program agrees with itself; here it would not.

use crate::common;

use common::{Background, Desk, Server, has_all};

/// `socat LISTEN EXEC:cat`: a process a connection that echoes what it reads.
fn socat_echo(desk: &Desk, listen: &str, ready: &str, scheme: &str) -> Server {
    Server::socat(desk, &[listen, "EXEC:cat"], ready, |found| {
        format!("{scheme}://{}", found.trim_matches('"'))
    })
}

#[test]
fn socat_echoes_over_tcp() {
    let desk = Desk::new();
    let listen = "TCP-LISTEN:0,bind=127.0.0.1,fork,nodelay";
    let server = socat_echo(&desk, listen, "listening on AF=2 ", "tcp");
    let flags = "--protocol echo --out 1,64,1000,40000 --depth 1,8,64 --count 150";
    let run = desk.measure(&server.address, flags);
    run.is_clean();
    assert_eq!(run.file.points.len(), 12);
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

#[test]
fn socat_takes_a_connection_for_each_exchange() {
    let desk = Desk::new();
    let listen = "TCP-LISTEN:0,bind=127.0.0.1,fork,nodelay";
    let server = socat_echo(&desk, listen, "listening on AF=2 ", "tcp");
    let run = desk.measure(
        &server.address,
        "--protocol echo --connect each --out 100 --count 40",
    );
    run.is_clean();
    let point = run.point();
    assert_eq!(point.connect.as_ref().map(|times| times.n), Some(40));
}

#[test]
fn socat_echoes_over_udp() {
    let desk = Desk::new();
    // Without `fork`: what it forks for a peer over UDP never learns that the peer has gone.
    let listen = "UDP4-LISTEN:0,bind=127.0.0.1";
    let server = socat_echo(&desk, listen, "listening on UDP AF=2 ", "udp");
    // One at a time: socat and cat join datagrams that wait.
    let run = desk.measure(
        &server.address,
        "--protocol echo --out 1,20,500,1400 --count 100",
    );
    run.is_clean();
}

#[test]
fn socat_echoes_over_a_unix_socket() {
    let desk = Desk::new();
    let listen = format!("UNIX-LISTEN:{},fork", desk.text("socket"));
    let server = socat_echo(&desk, &listen, "listening on AF=1 ", "unix");
    let run = desk.measure(
        &server.address,
        "--protocol echo --out 1,64,20000 --depth 1,32 --count 150",
    );
    run.is_clean();
}

#[test]
fn socat_echoes_over_a_pty() {
    let desk = Desk::new();
    let pty = format!("PTY,raw,echo=0,link={}", desk.text("board"));
    let mut server = socat_echo(&desk, &pty, "PTY is ", "serial");
    server.process.until_said("that it transfers", |_, stderr| {
        stderr.contains("starting data transfer").then_some(())
    });
    let address = format!("serial://{}", desk.text("board"));
    let run = desk.measure(
        &address,
        "--protocol echo --out 1,64,2000 --depth 1,16 --count 100",
    );
    run.is_clean();
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

const PYTHON_RESPONDER: &str = "
import socket, struct

def check(data):
    crc = 0xffff
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc

def response(kind, sequence, payload):
    header = struct.pack('<BBHIIHHQQ', 0x7a, 0x10 | kind, 0, sequence, len(payload), 0, 0, 0, 0)
    return header[:2] + struct.pack('<H', check(header)) + header[4:] + payload

HELLO = struct.pack('<BBBBIIIIIQ32s8s', 1, 1, 0, 0, 1, 4096, 4096, 4, 0, 0, b'from the page', b'')

def serve(stream):
    while header := stream.read(16):
        magic, kind, crc, sequence, out_payload, in_bytes = struct.unpack('<BBHIII', header)
        assert magic == 0xa7 and check(header[:2] + bytes(2) + header[4:]) == crc
        payload = stream.read(out_payload)
        if kind == 0x10:
            stream.write(response(0, sequence, HELLO))
        else:
            assert payload == bytes((sequence + i) % 251 for i in range(out_payload))
            pattern = bytes((sequence + i) % 251 for i in range(in_bytes - 32))
            stream.write(response(1, sequence, pattern))
        stream.flush()

with socket.create_server(('127.0.0.1', 0)) as server:
    print(server.getsockname()[1])
    while True:
        client, _ = server.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client, client.makefile('rwb') as stream:
            try:
                serve(stream)
            except OSError:
                pass
";

#[test]
fn a_responder_written_from_the_protocol_page_alone_is_understood() {
    let desk = Desk::new();
    let server = Server::python(&desk, "tcp", PYTHON_RESPONDER);
    let run = desk.measure(
        &server.address,
        "--out 16,300 --in 32,500,4096 --depth 1,4 --count 40",
    );
    run.is_clean();
    let responder = run.file.conditions.responder.as_ref();
    let responder = responder.expect("it introduced itself");
    assert_eq!(responder.name, "from the page");
    assert_eq!(responder.max_in_bytes, 4096);
    // It has no clock, and none is made up for it.
    assert!(run.file.points.iter().all(|point| point.device.is_none()));
}

#[test]
fn its_limits_are_heeded() {
    let desk = Desk::new();
    let server = Server::python(&desk, "tcp", PYTHON_RESPONDER);
    for (asked, printed) in [
        ("--in 48,4097", "--in up to 4096"),
        ("--depth 4,5", "--depth up to 4"),
    ] {
        let exchange = format!("exchange {} {asked}", server.address);
        let ended = Background::start(&mut desk.command(&exchange)).ended();
        assert_eq!(ended.code, Some(2), "{ended}");
        assert!(ended.stderr.contains(printed), "{ended}");
        assert!(desk.stored().is_empty());
    }
}
