//! The device over a link in memory that delivers what a script says, in pieces of any size.

use crate::{Device, DeviceOptions, DeviceProtocol, Framing, Replies, Requests};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use wiregauge_link::host;
use wiregauge_link::{Address, Link, LinkError, LinkErrorKind};
use wiregauge_record::Point;
use wiregauge_session::{LengthField, Message, Messages, Splitter};
use wiregauge_wire as wire;
use wiregauge_wire::{Found, HelloReply, Kind, Request, Response, Status};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(1);

/// What the device sends back for one send of the host.
type Answer = Box<dyn FnMut(&[u8]) -> Vec<Vec<u8>> + Send>;

/// The line between host and device.
struct Line {
    /// On its way to the host: what each receive returns.
    to_host: VecDeque<Vec<u8>>,
    /// What the device got.
    sent: Vec<u8>,
    /// Bytes that one send takes at most.
    room: usize,
    /// Bytes that it takes before it takes no more.
    left: usize,
    /// The most that was on its way to the host when something was sent.
    unread_at_send: usize,
    /// How long each send and receive takes.
    call: Duration,
    /// When the last send began, and when the last receive that gave something ended.
    sent_at: Option<Instant>,
    received_at: Option<Instant>,
    /// A blocking receive sleeps as long as it wants, and how often one was called.
    has_fixed_sleep: bool,
    blocking_receives: usize,
    /// Nothing comes but replies, so nothing is received while none is awaited.
    only_replies: bool,
    /// Bytes of a packet, where what comes is in transfers, and of a transfer: one that is not full ends with a packet
    /// that is not full.
    packet: Option<usize>,
    transfer: usize,
    answer: Answer,
}

impl Line {
    /// Lets the time of a call pass.
    fn pass(&self) {
        let begun = Instant::now();
        while begun.elapsed() < self.call {}
    }

    /// Nothing says that the transfer that has begun is over.
    fn is_inside_transfer(&self) -> bool {
        match (self.packet, self.to_host.front()) {
            (Some(packet), Some(piece)) => {
                piece.len().is_multiple_of(packet) && piece.len() < self.transfer
            }
            _ => false,
        }
    }
}

#[derive(Clone)]
struct Script(Arc<Mutex<Line>>);

impl Script {
    fn new(answer: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Script {
        Script(Arc::new(Mutex::new(Line {
            to_host: VecDeque::new(),
            sent: Vec::new(),
            room: usize::MAX,
            left: usize::MAX,
            unread_at_send: 0,
            call: Duration::ZERO,
            sent_at: None,
            received_at: None,
            has_fixed_sleep: false,
            blocking_receives: 0,
            only_replies: false,
            packet: None,
            transfer: 0,
            answer: Box::new(answer),
        })))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap()
    }

    /// A device of a foreign framing, or of the wiregauge protocol.
    fn device(&self, address: &str, framing: Option<Framing>, timeout: Duration) -> Device {
        let address = Address::parse(address).unwrap();
        let datagram = address.kind().datagram;
        let codec = match &framing {
            None => Messages::Wiregauge(Message::new(datagram)),
            Some(framing) => Messages::Foreign(Splitter::new(framing, datagram, 1 << 16).unwrap()),
        };
        let options = DeviceOptions {
            protocol: framing.map_or(DeviceProtocol::Wiregauge, DeviceProtocol::Framing),
            timeout,
            ..DeviceOptions::default()
        };
        let link = Box::new(self.clone());
        Device::over(link, &address, codec, &options, None, host::count_forks()).unwrap()
    }
}

impl Link for Script {
    fn prepare(&mut self, point: Point) -> io::Result<()> {
        let mut line = self.line();
        let bytes = point.in_bytes as usize;
        line.transfer = bytes.next_multiple_of(line.packet.unwrap_or(1));
        Ok(())
    }

    fn only_replies(&self) -> bool {
        self.line().only_replies
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut line = self.line();
        line.sent_at = Some(Instant::now());
        line.pass();
        let count = bytes.len().min(line.room).min(line.left);
        if count == 0 {
            return Ok(0);
        }
        line.left -= count;
        line.sent.extend_from_slice(&bytes[..count]);
        line.unread_at_send = line.unread_at_send.max(line.to_host.len());
        let answers = (line.answer)(&bytes[..count]);
        line.to_host.extend(answers);
        Ok(count)
    }

    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut line = self.line();
        line.pass();
        if line.is_inside_transfer() {
            return Ok(0);
        }
        let Some(piece) = line.to_host.pop_front() else {
            return Ok(0);
        };
        into[..piece.len()].copy_from_slice(&piece);
        line.received_at = Some(Instant::now());
        Ok(piece.len())
    }

    fn receive_blocking(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.line().blocking_receives += 1;
        self.receive(into)
    }

    fn set_receive_timeout(&mut self, _: Option<Duration>) -> io::Result<bool> {
        Ok(!self.line().has_fixed_sleep)
    }

    fn wait(&mut self, _: bool, _: Duration) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) {}

    fn reopen(&mut self, _: &mut dyn FnMut() -> bool) -> io::Result<()> {
        Ok(())
    }
}

fn lines() -> Option<Framing> {
    Some(Framing::Terminator {
        end: b"\n".to_vec(),
    })
}

/// Holds that a device echoes this.
#[track_caller]
fn assert_echo(device: &mut Device, sent: &[u8]) {
    assert_eq!(device.exchange(sent, None).unwrap().payload, sent);
}

/// An echo, but for what does not come back.
fn echo_but(lost: impl Fn(&[u8]) -> bool + Send + 'static) -> Script {
    Script::new(move |bytes| match lost(bytes) {
        true => vec![],
        false => vec![bytes.to_vec()],
    })
}

fn prefix(bytes: u8, counts_itself: bool) -> Framing {
    Framing::LengthPrefix(LengthField {
        bytes,
        big_endian: true,
        counts_itself,
    })
}

/// Byte by byte.
fn bytewise(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.iter().map(|byte| vec![*byte]).collect()
}

/// What a device of the wiregauge protocol answers to one request frame.
fn respond(frame: &[u8]) -> Vec<u8> {
    respond_with(Status::Ok, frame)
}

/// The same, where messages are answered with a status.
fn respond_with(status: Status, frame: &[u8]) -> Vec<u8> {
    let Found::Frame {
        header, payload, ..
    } = wire::next_frame::<Request>(frame, 1 << 20)
    else {
        panic!("no request: {frame:?}");
    };
    let answer = match header.kind {
        Kind::Hello => HelloReply {
            min_version: wire::VERSION,
            max_version: wire::VERSION,
            abilities: wire::abilities::MESSAGE,
            max_out: 1 << 16,
            max_in: 1 << 16,
            ..HelloReply::default()
        }
        .encode()
        .to_vec(),
        _ if status != Status::Ok => Vec::new(),
        _ => frame[payload].to_vec(),
    };
    let status = match header.kind {
        Kind::Hello => Status::Ok,
        _ => status,
    };
    let mut bytes = [0; wire::RESPONSE_HEADER];
    Response {
        kind: header.kind,
        sequence: header.sequence,
        in_payload: answer.len() as u32,
        status,
        flags: 0,
        rx_ticks: 0,
        tx_ticks: 0,
    }
    .encode(&mut bytes);
    [&bytes[..], &answer].concat()
}

/// A batch of requests of one byte, counted from `a`.
fn batch(device: &mut Device, count: usize, depth: u32) -> Result<Vec<u8>, (usize, LinkError)> {
    let bytes: Vec<u8> = (b'a'..).take(count).collect();
    let ends: Vec<usize> = (1..=count).collect();
    let (mut rows, mut lengths) = (vec![0; count], vec![0; count]);
    let requests = Requests {
        bytes: &bytes,
        ends: &ends,
    };
    let replies = Replies {
        bytes: &mut rows,
        row_bytes: 1,
        lengths: &mut lengths,
        timings: &mut [],
    };
    device.exchange_many(requests, replies, depth)?;
    assert_eq!(lengths, vec![1; count]);
    Ok(rows)
}

#[test]
fn a_line_that_takes_and_gives_one_byte_at_a_time_carries_every_call() {
    let fixed = Framing::Fixed { bytes: 1 };
    for framing in [lines().unwrap(), prefix(2, true), fixed, Framing::Raw] {
        let script = Script::new(bytewise);
        script.line().room = 1;
        let mut device = script.device("tcp://host:1", Some(framing), LONG);
        assert_echo(&mut device, b"x");
        assert_eq!(batch(&mut device, 7, 3).unwrap(), b"abcdefg");
        for n in b'0'..=b'9' {
            device.submit(&[n], None).unwrap();
        }
        for n in b'0'..=b'9' {
            assert_eq!(device.next_reply().unwrap().payload, [n]);
        }
    }
}

#[test]
fn an_rtt_is_from_just_before_the_send_to_just_after_the_receive() {
    for framing in [None, lines()] {
        let script = Script::new(match framing {
            None => |frame: &[u8]| vec![respond(frame)],
            Some(_) => |bytes: &[u8]| vec![bytes.to_vec()],
        });
        let mut device = script.device("tcp://host:1", framing, LONG);
        script.line().call = Duration::from_millis(2);
        for _ in 0..5 {
            let begun = Instant::now();
            let rtt = device.exchange(b"x", None).unwrap().timing.rtt_ns;
            let whole = begun.elapsed();
            let line = script.line();
            let link = line.received_at.unwrap() - line.sent_at.unwrap();
            let rtt = Duration::from_nanos(rtt);
            assert!(link <= rtt && rtt <= whole, "{link:?} {rtt:?} {whole:?}");
        }
    }
}

#[test]
fn a_reply_that_comes_in_a_pause_answers_no_later_request() {
    let fixed = Framing::Fixed { bytes: 1 };
    let cases = [
        ("tcp://host:1", lines().unwrap(), &b"2\n"[..]),
        ("tcp://host:1", prefix(1, false), b"\x012"),
        ("tcp://host:1", fixed.clone(), b"2"),
        ("tcp://host:1", Framing::Raw, b"2"),
        ("udp://host:1", fixed, b"2"),
    ];
    for (address, framing, late) in cases {
        let reply = late.to_vec();
        let script = echo_but(move |bytes| bytes == reply);
        let mut device = script.device(address, Some(framing), LONG);
        let ask = |n: u8, device: &mut Device| {
            let reply = device.exchange(&[n], None);
            reply.map(|reply| assert_eq!(reply.payload, [n]))
        };
        ask(b'1', &mut device).unwrap();
        device.set_timeout(SHORT).unwrap();
        ask(b'2', &mut device).unwrap_err();
        device.set_timeout(LONG).unwrap();
        ask(b'3', &mut device).unwrap();
        script.line().to_host.push_back(late.to_vec());
        for n in b'4'..=b'7' {
            ask(n, &mut device).unwrap();
        }
    }
}

#[test]
fn nothing_is_sent_while_the_reply_to_a_lost_request_may_come() {
    let script = echo_but(|bytes| bytes == b"lost\n");
    let mut device = script.device("tcp://host:1", lines(), SHORT);
    let error = device.exchange(b"lost", None).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Timeout);
    script.line().to_host.extend(bytewise(b"late\n"));
    device.set_timeout(LONG).unwrap();
    assert_echo(&mut device, b"next");
    assert_eq!(script.line().unread_at_send, 0);
}

#[test]
fn the_reply_to_an_interrupted_exchange_answers_nothing_else() {
    let script = echo_but(|bytes| bytes == b"slow\n");
    let mut device = script.device("tcp://host:1", lines(), LONG);
    device.set_interrupt(Some(Box::new(|| true)));
    let error = device.exchange(b"slow", None).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Interrupted);
    device.set_interrupt(None);
    script.line().to_host.push_back(b"slow\n".to_vec());
    assert_echo(&mut device, b"next");
    assert_eq!(script.line().unread_at_send, 0);
}

#[test]
fn a_batch_counts_the_replies_before_a_malformed_datagram() {
    let script = Script::new(|bytes| match bytes {
        b"c" => vec![b"cc".to_vec()],
        _ => vec![bytes.to_vec()],
    });
    let fixed = Some(Framing::Fixed { bytes: 1 });
    let mut device = script.device("udp://host:1", fixed, LONG);
    for depth in [1, 2] {
        let (answered, error) = batch(&mut device, 5, depth).unwrap_err();
        assert_eq!((answered, error.kind()), (2, LinkErrorKind::Protocol));
    }
    assert_echo(&mut device, b"x");
}

#[test]
fn a_lost_reply_costs_the_pipeline_no_other() {
    let script = Script::new(|frame| {
        let is_lost = frame.windows(4).any(|part| part == b"lost");
        match is_lost {
            true => vec![],
            false => vec![respond(frame)],
        }
    });
    let mut device = script.device("tcp://host:1", None, LONG);
    let requests = [&b"one"[..], b"lost", b"three", b"lost too", b"five"];
    for request in requests {
        device.submit(request, None).unwrap();
    }
    assert_eq!(device.next_reply().unwrap().payload, b"one");
    device.set_timeout(SHORT).unwrap();
    for request in &requests[1..] {
        match device.next_reply() {
            Ok(reply) => assert_eq!(reply.payload, *request),
            Err(error) => {
                assert!(request.starts_with(b"lost"), "{error}");
                assert_eq!(error.kind(), LinkErrorKind::Timeout);
            }
        }
    }
    assert_eq!(device.outstanding(), 0);
    device.set_timeout(LONG).unwrap();
    assert_echo(&mut device, b"on");
}

#[test]
fn a_reply_that_came_in_time_and_is_taken_late_is_not_lost() {
    let script = echo_but(|_| false);
    let mut device = script.device("tcp://host:1", lines(), SHORT);
    for n in [b"1", b"2", b"3"] {
        device.submit(n, None).unwrap();
    }
    let begin = Instant::now();
    while begin.elapsed() < 2 * SHORT {}
    for n in [b"1", b"2", b"3"] {
        assert_eq!(device.next_reply().unwrap().payload, n);
    }
}

#[test]
fn a_large_reply_is_no_unsolicited_data() {
    let bytes = 6 << 20;
    let script = Script::new(move |_| vec![vec![7; 65_536]; bytes / 65_536]);
    let mut device = script.device("tcp://host:1", Some(Framing::Raw), LONG);
    let reply = device.exchange(b"?", Some(bytes)).unwrap();
    assert_eq!(reply.payload.len(), bytes);
}

#[test]
fn a_request_that_has_begun_is_finished_before_the_next() {
    let mut got = Vec::new();
    let script = Script::new(move |bytes| {
        got.extend_from_slice(bytes);
        match got.ends_with(b"\n") {
            true => vec![std::mem::take(&mut got)],
            false => vec![],
        }
    });
    script.line().left = 3;
    let mut device = script.device("tcp://host:1", lines(), SHORT);
    let error = device.exchange(b"begun", None).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Timeout);
    script.line().left = usize::MAX;
    device.set_timeout(LONG).unwrap();
    assert_echo(&mut device, b"next");
    assert_eq!(script.line().sent, b"begun\nnext\n");
}

#[test]
fn a_device_that_forgot_this_host_gets_hello_before_the_next_exchange() {
    let mut messages = 0;
    let script = Script::new(move |frame| {
        let is_message = Request::decode(frame).is_ok_and(|header| header.kind == Kind::Message);
        messages += u32::from(is_message);
        match messages {
            2 => vec![respond_with(Status::Unproven, frame)],
            _ => vec![respond(frame)],
        }
    });
    let mut device = script.device("udp://host:1", None, LONG);
    assert_echo(&mut device, b"one");
    let error = device.exchange(b"two", None).unwrap_err();
    assert_eq!(error.kind(), LinkErrorKind::Protocol);
    script.line().sent.clear();
    assert_echo(&mut device, b"three");
    let sent = script.line().sent.clone();
    // A token is asked for and sent back, then the message goes.
    let kinds = [0, wire::HELLO_REQUEST, 2 * wire::HELLO_REQUEST]
        .map(|at| Request::decode(&sent[at..]).unwrap().kind);
    assert_eq!(kinds, [Kind::Hello, Kind::Hello, Kind::Message]);
}

/// The kinds of the requests in what was sent to a device of the wiregauge protocol.
fn kinds(mut sent: &[u8]) -> Vec<Kind> {
    let mut kinds = Vec::new();
    while let Found::Frame { header, end, .. } = wire::next_frame::<Request>(sent, 1 << 20) {
        kinds.push(header.kind);
        sent = &sent[end..];
    }
    kinds
}

/// HELLO is due because the device forgot this host, or because the proof of its address is old.
#[test]
fn a_hello_that_had_no_reply_is_due_until_one_has() {
    for is_forgotten in [true, false] {
        let is_silent = Arc::new(AtomicBool::new(false));
        let silent = Arc::clone(&is_silent);
        let script = Script::new(move |frame| match kinds(frame).as_slice() {
            [Kind::Message] if frame.windows(4).any(|part| part == b"who?") => {
                vec![respond_with(Status::Unproven, frame)]
            }
            _ if silent.load(Ordering::Relaxed) => vec![],
            _ => vec![respond(frame)],
        });
        let mut device = script.device("udp://host:1", None, LONG);
        let renews = device.driver.as_ref().unwrap().proof_lasts_ns;
        match is_forgotten {
            true => drop(device.exchange(b"who?", None).unwrap_err()),
            false => device.driver.as_mut().unwrap().proof_lasts_ns = 0,
        }
        script.line().sent.clear();
        is_silent.store(true, Ordering::Relaxed);
        device.set_timeout(SHORT).unwrap();
        let error = device.exchange(b"one", None).unwrap_err();
        assert_eq!(error.kind(), LinkErrorKind::Timeout);
        let sent = kinds(&script.line().sent);
        assert!(sent.iter().all(|kind| *kind == Kind::Hello), "{sent:?}");

        script.line().sent.clear();
        is_silent.store(false, Ordering::Relaxed);
        device.set_timeout(LONG).unwrap();
        device.driver.as_mut().unwrap().proof_lasts_ns = renews;
        assert_echo(&mut device, b"two");
        // A token is requested and sent back, then the message goes; nothing is due any more.
        assert_echo(&mut device, b"three");
        let sent = kinds(&script.line().sent);
        let expected = [Kind::Hello, Kind::Hello, Kind::Message, Kind::Message];
        assert_eq!(sent, expected, "forgotten: {is_forgotten}");
    }
}

/// A reply that fills its last packet ends no longer transfer.
#[test]
fn a_usb_transfer_is_no_longer_than_the_raw_reply_that_is_awaited() {
    let script = echo_but(|_| false);
    script.line().packet = Some(64);
    let mut device = script.device("usb://1d6b:0104", Some(Framing::Raw), LONG);
    for bytes in [64, 256, 128, 64] {
        assert_echo(&mut device, &vec![7; bytes]);
    }
}

#[test]
fn an_instrument_on_usbtmc_gets_one_request_at_a_time() {
    let script = echo_but(|_| false);
    let mut device = script.device("usbtmc:///dev/usbtmc0", lines(), LONG);
    device.submit(b"*IDN?", None).unwrap();
    let refused = device.submit(b"READ?", None).unwrap_err().to_string();
    assert!(refused.contains("Query INTERRUPTED"), "{refused}");
    device.next_reply().unwrap();
    let (_, refused) = batch(&mut device, 2, 2).unwrap_err();
    assert_eq!(refused.kind(), LinkErrorKind::Usage);
}

#[test]
fn what_a_transfer_has_behind_the_reply_answers_no_later_request() {
    let fixed = Framing::Fixed { bytes: 2 };
    for framing in [Framing::Raw, fixed, lines().unwrap()] {
        for only_replies in [false, true] {
            let script = Script::new(|bytes| vec![[bytes, b"x\n", bytes, b"y\n"].concat()]);
            script.line().packet = Some(64);
            script.line().only_replies = only_replies;
            let mut device = script.device("usb://1d6b:0104", Some(framing.clone()), LONG);
            for request in [*b"01", *b"23", *b"45", *b"67"] {
                let reply = device.exchange(&request, None).unwrap().payload;
                assert!(reply.starts_with(&request), "{framing:?}, {only_replies}");
            }
            device.submit(b"89", None).unwrap();
            assert!(device.next_reply().unwrap().payload.starts_with(b"89"));
        }
    }
}

#[test]
fn a_link_whose_receive_sleeps_too_long_is_polled_near_the_timeout() {
    for (timeout, may_sleep) in [(Duration::from_millis(40), false), (LONG, true)] {
        let script = echo_but(|_| false);
        script.line().has_fixed_sleep = true;
        let mut device = script.device("tcp://host:1", lines(), timeout);
        // The reply is there at once; only how it was waited for counts.
        let _ = device.exchange(b"x", None);
        assert_eq!(script.line().blocking_receives > 0, may_sleep);
    }
}

#[test]
fn malformed_bytes_of_a_reply_that_was_given_up_do_not_fail_the_next_call() {
    let script = echo_but(|bytes| bytes.ends_with(b"lost"));
    let mut device = script.device("tcp://host:1", Some(prefix(2, true)), SHORT);
    device.exchange(b"lost", None).unwrap_err();
    script.line().to_host.push_back(vec![0, 0]);
    device.set_timeout(LONG).unwrap();
    assert_echo(&mut device, b"next");
}
