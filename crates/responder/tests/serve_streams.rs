//! The responder's streams over real sockets and a real pseudo-terminal, driven by a host that is as
//! small as it can be.

#![allow(clippy::unwrap_used)]

use crate::plant::frame;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};
use wiregauge_link::limits::Bus;
use wiregauge_link::{Address, Link};
use wiregauge_record::LinkOptions;
use wiregauge_responder::{DeviceConfig, Model, Serve, ServeAddress, ServeEvent, serve};
use wiregauge_wire as wire;
use wiregauge_wire::{
    HelloRequest, Kind, Response, Status, StreamChecker, StreamOrder, StreamReport, Taken, Verb,
};

/// What a test waits for at most. A busy machine may take seconds for what takes milliseconds.
pub const MAX_WAIT: Duration = Duration::from_secs(240);

/// A responder that ends with the test.
pub struct Responder {
    pub address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    /// In a thread that calls `first` before; the errors of lost replies go to `lost`.
    pub fn of(
        address: &str,
        config: DeviceConfig,
        first: fn(),
        lost: Sender<Option<i32>>,
    ) -> Responder {
        let what = Serve {
            address: ServeAddress::parse(address).unwrap(),
            config,
            max_clients: 4,
            baud: None,
            trace: None,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, printed) = channel();
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                first();
                serve(&what, &stop, &|news| match news {
                    ServeEvent::Ready { address, .. } => tell.send(address.to_string()).unwrap(),
                    ServeEvent::ReplyLost { error, .. } => {
                        let _ = lost.send(error.raw_os_error());
                    }
                    _ => {}
                })
                .unwrap();
            }
        });
        Responder {
            address: printed.recv_timeout(MAX_WAIT).unwrap(),
            stop,
            thread: Some(thread),
        }
    }

    fn start(address: &str, model: Model) -> Responder {
        let config = DeviceConfig {
            model,
            ..DeviceConfig::default()
        };
        Responder::of(address, config, || (), channel().0)
    }

    fn on_unix(folder: &Path) -> Responder {
        let address = format!("unix://{}", folder.join("s").display());
        Responder::start(&address, Model::default())
    }

    fn host(&self) -> Host {
        let address = Address::parse(&self.address).unwrap();
        let link = address.open(&LinkOptions::default(), MAX_WAIT).unwrap();
        Host {
            link,
            checker: StreamChecker::new(),
            came: Vec::new(),
            out: Vec::new(),
        }
    }

    /// How long it takes to stop.
    fn stop(&mut self) -> Duration {
        let begin = Instant::now();
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || !matches!(ended, Some(Err(_))));
        begin.elapsed()
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A host.
struct Host {
    link: Box<dyn Link>,
    checker: StreamChecker,
    /// Bytes of an answer that has begun.
    came: Vec<u8>,
    /// Bytes that wait to be sent.
    out: Vec<u8>,
}

impl Host {
    fn say(&mut self, kind: Kind, sequence: u32, payload: &[u8]) {
        self.out.extend(frame(kind, sequence, payload, 104));
    }

    fn order(&mut self, kind: Kind, sequence: u32, verb: Verb, transfer_bytes: u32) {
        let stop_after = 0;
        let order = StreamOrder {
            verb,
            transfer_bytes,
            stop_after,
        };
        self.say(kind, sequence, &order.encode());
    }

    /// Sends what waits and takes what comes: the stream, and an answer that is whole.
    fn turn(&mut self, pouring: bool) -> Option<(Response, Vec<u8>)> {
        if !self.out.is_empty() {
            let sent = self.link.send(&self.out).unwrap();
            self.out.drain(..sent);
        }
        let more = pouring || !self.out.is_empty();
        self.link.wait(more, Duration::from_millis(5)).unwrap();
        let mut buffer = vec![0; 64 << 10];
        let length = self.link.receive(&mut buffer).unwrap();
        let mut bytes = &buffer[..length];
        if self.came.is_empty() {
            match self.checker.take::<Response>(bytes) {
                Taken::All => return None,
                Taken::Frame { header, used } => {
                    let mut whole = [0; wire::RESPONSE_HEADER];
                    header.encode(&mut whole);
                    self.came.extend(whole);
                    bytes = &bytes[used..];
                }
            }
        }
        let header = Response::decode(&self.came).unwrap();
        let missing = wire::RESPONSE_HEADER + header.in_payload as usize - self.came.len();
        let (more, rest) = bytes.split_at(missing.min(bytes.len()));
        self.came.extend(more);
        (more.len() == missing).then(|| {
            // Two answers never stand in one read here, but data may follow one.
            assert_eq!(self.checker.take::<Response>(rest), Taken::All);
            (
                header,
                self.came.split_off(0)[wire::RESPONSE_HEADER..].to_vec(),
            )
        })
    }

    fn answer(&mut self, sequence: u32) -> (Response, Vec<u8>) {
        let begin = Instant::now();
        while begin.elapsed() < MAX_WAIT {
            if let Some((header, payload)) = self.turn(false)
                && header.sequence == sequence
            {
                return (header, payload);
            }
        }
        panic!("no answer to {sequence}");
    }

    fn start(&mut self, kind: Kind, sequence: u32, transfer_bytes: u32) -> Status {
        self.order(kind, sequence, Verb::Start, transfer_bytes);
        self.answer(sequence).0.status
    }

    fn end(&mut self, kind: Kind, sequence: u32) -> StreamReport {
        self.order(kind, sequence, Verb::End, 0);
        StreamReport::decode(&self.answer(sequence).1).unwrap()
    }

    /// Sends this much data, and takes what comes meanwhile; returns where the stream is.
    fn pour(&mut self, from: u64, bytes: u64) -> u64 {
        let begin = Instant::now();
        let mut position = from;
        while position < from + bytes || !self.out.is_empty() {
            assert!(begin.elapsed() < MAX_WAIT, "stuck at {position}");
            if self.out.is_empty() {
                self.out.resize(8192, 0);
                wire::fill_stream(position, &mut self.out);
                position += 8192;
            }
            assert!(self.turn(true).is_none());
        }
        position
    }

    /// Takes what comes for so long.
    fn listen(&mut self, long: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < long {
            assert!(self.turn(false).is_none());
        }
    }
}

/// Everything that was sent came once and right.
fn clean(report: &StreamReport, bytes: u64) {
    assert_eq!(report.bytes, bytes, "{report:?}");
    assert_eq!(report.counts().right(), bytes, "{report:?}");
    assert_eq!(report.lost, 0, "{report:?}");
    assert!(report.transfers > 0 && report.first_ticks <= report.last_ticks);
}

#[test]
fn a_modelled_bus_behind_a_pseudo_terminal_is_not_exceeded_in_either_direction() {
    let model = Model {
        bus: Some(Bus::FullSpeed),
        ..Model::default()
    };
    let limit = Bus::FullSpeed.bytes_per_second() as f64;
    // The kernel holds some kilobytes each way, and the host reads the clock when it can.
    let slack = 64_000.0;
    let responder = Responder::start("pty:", model);
    let mut host = responder.host();

    assert_eq!(host.start(Kind::Source, 1, 16_384), Status::Ok);
    let begin = Instant::now();
    host.listen(Duration::from_millis(1500));
    let report = host.end(Kind::Source, 2);
    let most = limit * begin.elapsed().as_secs_f64() + slack;
    let counts = host.checker.finish();
    assert_eq!((counts.right(), counts.lost), (report.bytes, 0));
    assert!(
        (counts.received as f64) < most,
        "{} > {most}",
        counts.received
    );
    assert!(
        counts.received as f64 > 0.3 * most,
        "{} of {most}",
        counts.received
    );

    assert_eq!(host.start(Kind::Sink, 3, 8192), Status::Ok);
    let begin = Instant::now();
    let sent = host.pour(0, 1_000_000);
    let report = host.end(Kind::Sink, 4);
    clean(&report, sent);
    let most = limit * begin.elapsed().as_secs_f64() + slack;
    assert!((sent as f64) < most, "{sent} > {most}");
}

#[test]
fn a_peer_that_never_reads_neither_blocks_the_responder_nor_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut responder = Responder::on_unix(folder.path());
    let mut rude = responder.host();
    rude.order(Kind::Source, 1, Verb::Start, 1 << 20);
    let sent = rude.link.send(&rude.out).unwrap();
    assert_eq!(sent, rude.out.len());
    sleep(Duration::from_millis(100));
    let mut other = responder.host();
    assert_eq!(other.start(Kind::Source, 1, 1000), Status::Ok);
    other.listen(Duration::from_millis(50));
    assert!(other.end(Kind::Source, 2).bytes > 0);
    assert!(responder.stop() < Duration::from_secs(5));
}

#[test]
fn the_next_host_on_a_pseudo_terminal_finds_no_stream_of_the_one_before() {
    let responder = Responder::start("pty:", Model::default());
    let mut gone = responder.host();
    assert_eq!(gone.start(Kind::Source, 1, 1000), Status::Ok);
    drop(gone);
    let mut host = responder.host();
    host.say(Kind::Hello, 7, &HelloRequest::default().encode());
    let (hello, _) = host.answer(7);
    assert_eq!(hello.status, Status::Ok);
    let stray = host.checker.counts();
    host.listen(Duration::from_millis(100));
    assert_eq!(host.checker.counts(), stray);
}
