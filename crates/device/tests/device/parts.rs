//! What the tests talk to: responders on every kind of link, and peers made by hand.

#![allow(clippy::unwrap_used, dead_code)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use wiregauge_device::{Device, DeviceOptions, DeviceProtocol, Framing, Replies, Requests, Timing};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{Protocol, Wait};
use wiregauge_responder::{DeviceConfig, Faults, Model, Serve, ServeAddress, ServeEvent, serve};

/// What a test waits for at most. A busy machine may take seconds for what takes milliseconds.
pub const MAX_WAIT: Duration = Duration::from_secs(240);

/// A responder that ends with the test.
pub struct Responder {
    pub address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Responder {
    pub fn plain(link: &str) -> Responder {
        Responder::faulty(link, |_| ())
    }

    pub fn faulty(link: &str, set: impl FnOnce(&mut Faults)) -> Responder {
        let mut faults = Faults::default();
        set(&mut faults);
        Responder::new(link, Protocol::Wiregauge, Model::default(), faults)
    }

    /// One that takes so long for each request.
    pub fn slow(link: &str, service_ns: u64) -> Responder {
        let model = Model {
            service_ns,
            ..Model::default()
        };
        Responder::new(link, Protocol::Wiregauge, model, Faults::default())
    }

    pub fn speaking(link: &str, protocol: Protocol) -> Responder {
        Responder::new(link, protocol, Model::default(), Faults::default())
    }

    pub fn new(link: &str, protocol: Protocol, model: Model, faults: Faults) -> Responder {
        let folder = tempfile::tempdir().unwrap();
        let address = match link {
            "tcp" => "tcp://127.0.0.1:0".to_string(),
            "udp" => "udp://127.0.0.1:0".to_string(),
            "unix" => format!("unix://{}", folder.path().join("s").display()),
            "pty" => "pty:".to_string(),
            other => panic!("{other}"),
        };
        let what = Serve {
            address: ServeAddress::parse(&address).unwrap(),
            config: DeviceConfig {
                modbus: match link {
                    "pty" => wiregauge_record::ModbusLine::Rtu {
                        silence_ns: 304_000,
                    },
                    _ => wiregauge_record::ModbusLine::Tcp,
                },
                protocol,
                name: "device test".into(),
                model,
                faults,
                ..DeviceConfig::default()
            },
            max_clients: 8,
            baud: None,
            trace: None,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, printed) = std::sync::mpsc::channel();
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                serve(&what, &stop, &|news| {
                    if let ServeEvent::Ready { address, .. } = news {
                        tell.send(address.to_string()).unwrap();
                    }
                })
                .unwrap();
            }
        });
        Responder {
            address: printed.recv_timeout(MAX_WAIT).unwrap(),
            stop,
            thread: Some(thread),
            _folder: folder,
        }
    }

    pub fn device(&self) -> Device {
        self.device_with(&options(None, MAX_WAIT))
    }

    pub fn device_with(&self, options: &DeviceOptions) -> Device {
        Device::open(&self.address, options).unwrap()
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

pub fn options(framing: Option<Framing>, timeout: Duration) -> DeviceOptions {
    DeviceOptions {
        protocol: framing.map_or(DeviceProtocol::Wiregauge, DeviceProtocol::Framing),
        timeout,
        ..DeviceOptions::default()
    }
}

/// The options of a device of the wiregauge protocol whose replies are awaited in this way.
pub fn waiting(wait: Wait) -> DeviceOptions {
    DeviceOptions {
        wait,
        ..options(None, MAX_WAIT)
    }
}

/// Messages that end with a newline.
pub fn lines() -> Framing {
    Framing::Terminator {
        end: b"\n".to_vec(),
    }
}

/// Holds that a device echoes this.
#[track_caller]
pub fn assert_echo(device: &mut Device, sent: &[u8]) {
    assert_eq!(device.exchange(sent, None).unwrap().payload, sent);
}

/// Holds that a call fails in this way and says this.
#[track_caller]
pub fn assert_fails<T>(done: Result<T, LinkError>, kind: LinkErrorKind, words: &str) {
    let error = done.err().expect("an error");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

/// What came of a batch.
pub struct Batch {
    pub done: Result<(), (usize, LinkError)>,
    pub rows: Vec<u8>,
    pub lengths: Vec<usize>,
    pub timings: Vec<Timing>,
}

/// Exchanges a batch of requests of `request` bytes each, whose replies are stored in rows of `row` bytes.
pub fn batch(
    device: &mut Device,
    bytes: &[u8],
    (request, row): (usize, usize),
    depth: u32,
) -> Batch {
    let ends: Vec<usize> = (request..=bytes.len()).step_by(request).collect();
    let count = ends.len();
    let (mut rows, mut lengths) = (vec![0; count * row], vec![0; count]);
    let mut timings = vec![Timing::default(); count];
    let replies = Replies {
        bytes: &mut rows,
        row_bytes: row,
        lengths: &mut lengths,
        timings: &mut timings,
    };
    let ends = &ends;
    let done = device.exchange_many(Requests { bytes, ends }, replies, depth);
    Batch {
        done,
        rows,
        lengths,
        timings,
    }
}

/// For a device that speaks this.
pub fn speaking(protocol: DeviceProtocol) -> DeviceOptions {
    let mut options = DeviceOptions {
        protocol,
        timeout: MAX_WAIT,
        ..DeviceOptions::default()
    };
    options.link.baud = Some(115_200);
    options
}

/// A peer made by hand, on TCP; its thread ends with the connection.
pub fn peer(serve: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        serve(stream);
    });
    address
}

/// Reads one line, its end included; `None` at the end of the connection.
pub fn line(from: &mut TcpStream) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.last() != Some(&b'\n') {
        if from.read(&mut byte).ok()? == 0 {
            return None;
        }
        line.push(byte[0]);
    }
    Some(line)
}

/// A program that nobody here wrote, as a peer; ends with the test.
pub struct Program(Child);

impl Program {
    pub fn start(program: &str, arguments: &[&str]) -> Program {
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        Program(child)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Bytes that differ from row to row and within each.
pub fn payload(n: usize, bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|at| (n * 31 + at * 7 + at / 256) as u8)
        .collect()
}

/// Sends all, and forgets that the other end may have gone.
pub fn say(to: &mut TcpStream, bytes: &[u8]) {
    let _ = to.write_all(bytes);
}
