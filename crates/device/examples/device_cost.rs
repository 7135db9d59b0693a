//! What `device` adds to a pair of system calls, and how it stands beside the measuring engine: cases in
//! turns, ratios within a turn, medians over the turns. `device_cost [TURNS]`; docs/library.md has the table.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wiregauge_device::{
    ControlPlan, Cycle, Device, DeviceOptions, DeviceProtocol, Framing, Replies, Requests, Timing,
};
use wiregauge_link::host::Raised;
use wiregauge_measure::sink::Sink;
use wiregauge_record::{
    Connect, HostPlan, Limit, LinkOptions, Plan, Point, PointSummary, Protocol, Sample, Schedule,
    Wait,
};
use wiregauge_responder::{DeviceConfig, Faults, Model, Serve, ServeAddress, serve};

const BYTES: usize = 100;
const SINGLE: usize = 3_000;
const MANY: usize = 20_000;

type Failure = Box<dyn std::error::Error>;
type Case<'a> = Box<dyn FnMut() -> Result<f64, Failure> + 'a>;

/// Where the last measured exchange of a run ended, from the start of the first.
#[derive(Default)]
struct Span(Option<u64>, u64);

impl Sink for Span {
    type Point = Point;
    type Row = Sample;
    type Summary = PointSummary;
    fn row(&mut self, row: &Sample, _: &[u8]) -> std::io::Result<()> {
        if row.sequence > 0 {
            self.0.get_or_insert(row.start_ns);
            self.1 = self.1.max(row.start_ns + row.rtt_ns);
        }
        Ok(())
    }
}

/// Nanoseconds an exchange of the measuring engine.
fn engine(address: &str, protocol: Protocol, depth: u32) -> Result<f64, Failure> {
    let (out, in_) = match protocol {
        Protocol::Wiregauge => (BYTES + 18, BYTES + 34),
        _ => (BYTES, BYTES),
    };
    let plan = Plan {
        address: address.into(),
        more_links: Vec::new(),
        protocol,
        queries: None,
        connect: Connect::Once,
        points: vec![Point {
            index: 0,
            out_bytes: out as u32,
            in_bytes: in_ as u32,
            depth,
            link: 0,
            together: false,
        }],
        limit: Limit::Count(MANY as u64),
        warmup: 0,
        schedule: Schedule::AsFastAsPossible,
        timeout_ns: 1_000_000_000,
        give_up: 10,
        wait: Wait::Block,
        below_ns: Vec::new(),
        keep_data: false,
        batch: None,
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    };
    let mut span = Span::default();
    wiregauge_measure::exchange::run(&plan, &AtomicBool::new(false), &mut span)
        .map_err(|error| format!("{error:?}"))?;
    Ok((span.1 - span.0.unwrap_or(0)) as f64 / MANY as f64)
}

/// Nanoseconds of one of `count` calls.
fn each(count: usize, mut call: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let begun = Instant::now();
    for _ in 0..count {
        call()?;
    }
    Ok(begun.elapsed().as_nanos() as f64 / count as f64)
}

fn raw(mut stream: UnixStream, polls: bool) -> impl FnMut() -> Result<f64, Failure> {
    let mut buffer = [7; BYTES];
    move || {
        each(SINGLE, || {
            stream.write_all(&buffer)?;
            if polls {
                wiregauge_link::wait_readable(
                    std::os::fd::AsFd::as_fd(&stream),
                    Duration::from_secs(1),
                )?;
            }
            stream.read_exact(&mut buffer)?;
            Ok(())
        })
    }
}

fn single(mut device: Device) -> impl FnMut() -> Result<f64, Failure> {
    let request = [7; BYTES];
    move || {
        each(SINGLE, || {
            device.exchange(&request, None)?;
            Ok(())
        })
    }
}

fn many(mut device: Device, depth: u32) -> impl FnMut() -> Result<f64, Failure> {
    let (requests, mut rows) = (vec![7; BYTES * MANY], vec![0; BYTES * MANY]);
    let ends: Vec<usize> = (1..=MANY).map(|n| n * BYTES).collect();
    let (mut lengths, mut timings) = (vec![0; MANY], vec![Timing::default(); MANY]);
    move || {
        let begun = Instant::now();
        let replies = Replies {
            bytes: &mut rows,
            row_bytes: BYTES,
            lengths: &mut lengths,
            timings: &mut timings,
        };
        let (bytes, ends) = (&requests[..], &ends[..]);
        device
            .exchange_many(Requests { bytes, ends }, replies, depth)
            .map_err(|(_, error)| error)?;
        Ok(begun.elapsed().as_nanos() as f64 / MANY as f64)
    }
}

fn control(mut device: Device, depth: u32) -> impl FnMut() -> Result<f64, Failure> {
    let mut cycles = vec![Cycle::default(); MANY];
    let plan = ControlPlan {
        depth,
        ..ControlPlan::default()
    };
    move || {
        let begun = Instant::now();
        device
            .control(&plan, &mut |_, _, _| Some(BYTES), &mut cycles)
            .map_err(|(_, error)| error)?;
        Ok(begun.elapsed().as_nanos() as f64 / MANY as f64)
    }
}

fn measure(turns: usize) -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("device-cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (echo, serving) = (folder.join("echo"), folder.join("serve"));
    // All on one processor: the same work in every turn.
    let processor = wiregauge_link::host::allowed().last().copied();
    let _raised = Raised::begin(None, processor)?;
    let listener = UnixListener::bind(&echo)?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || -> std::io::Result<()> {
                let (mut stream, mut buffer) = (stream, [0; 4096]);
                loop {
                    match stream.read(&mut buffer)? {
                        0 => return Ok(()),
                        count => stream.write_all(&buffer[..count])?,
                    }
                }
            });
        }
    });
    let served = format!("unix://{}", serving.display());
    let (stop, what) = (
        Arc::new(AtomicBool::new(false)),
        Serve {
            address: ServeAddress::parse(&served)?,
            config: DeviceConfig {
                protocol: Protocol::Wiregauge,
                name: "device_cost".into(),
                max_frame: 1 << 20,
                model: Model::default(),
                modbus: wiregauge_record::ModbusLine::Tcp,
                faults: Faults::default(),
                seed: 1,
                plant: None,
            },
            max_clients: 16,
            baud: None,
            trace: None,
        },
    );
    let stopping = Arc::clone(&stop);
    let responder = std::thread::spawn(move || serve(&what, &stopping, &|_| {}));
    while !serving.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let echoes = format!("unix://{}", echo.display());
    let open = |address: &str, framing: Option<Framing>| {
        Device::open(
            address,
            &DeviceOptions {
                protocol: framing.map_or(DeviceProtocol::Wiregauge, DeviceProtocol::Framing),
                ..DeviceOptions::default()
            },
        )
    };
    let lines = Framing::Terminator {
        end: b"\n".to_vec(),
    };
    let timed = UnixStream::connect(&echo)?;
    timed.set_read_timeout(Some(Duration::from_millis(100)))?;
    // Each with the case that it is compared with.
    let mut cases: Vec<(&str, usize, Case<'_>)> = vec![
        (
            "write, read",
            0,
            Box::new(raw(UnixStream::connect(&echo)?, false)),
        ),
        (
            "write, read with a timeout of the socket",
            0,
            Box::new(raw(timed, false)),
        ),
        (
            "write, poll, read",
            0,
            Box::new(raw(UnixStream::connect(&echo)?, true)),
        ),
        (
            "exchange, raw",
            0,
            Box::new(single(open(&echoes, Some(Framing::Raw))?)),
        ),
        (
            "exchange, terminator",
            0,
            Box::new(single(open(&echoes, Some(lines))?)),
        ),
        (
            "engine, depth 1",
            5,
            Box::new(|| engine(&served, Protocol::Wiregauge, 1)),
        ),
        (
            "exchange, wiregauge",
            5,
            Box::new(single(open(&served, None)?)),
        ),
        (
            "engine, depth 2",
            7,
            Box::new(|| engine(&served, Protocol::Wiregauge, 2)),
        ),
        (
            "control, depth 2",
            7,
            Box::new(control(open(&served, None)?, 2)),
        ),
        (
            "engine, depth 16",
            9,
            Box::new(|| engine(&served, Protocol::Wiregauge, 16)),
        ),
        (
            "exchange_many, depth 16",
            9,
            Box::new(many(open(&served, None)?, 16)),
        ),
        (
            "engine, echo, depth 16",
            11,
            Box::new(|| engine(&echoes, Protocol::Echo, 16)),
        ),
        (
            "exchange_many, raw, depth 16",
            11,
            Box::new(many(open(&echoes, Some(Framing::Raw))?, 16)),
        ),
        (
            "engine, echo, depth 64",
            13,
            Box::new(|| engine(&echoes, Protocol::Echo, 64)),
        ),
        (
            "exchange_many, raw, depth 64",
            13,
            Box::new(many(open(&echoes, Some(Framing::Raw))?, 64)),
        ),
    ];
    let mut all = vec![Vec::new(); cases.len()];
    for _ in 0..=turns {
        for (case, times) in cases.iter_mut().zip(&mut all) {
            times.push((case.2)()?);
        }
    }
    println!(
        "{:42} {:>10} {:>8} {:>10} {:>8}",
        "", "us each", "ratio", "least us", "ratio"
    );
    let least = |n: usize| all[n][1..].iter().copied().fold(f64::INFINITY, f64::min);
    for (n, (name, beside, _)) in cases.iter().enumerate() {
        // The first turn warms up.
        let times = &all[n][1..];
        let ratios: Vec<f64> = times
            .iter()
            .zip(&all[*beside][1..])
            .map(|(a, b)| a / b)
            .collect();
        let (usual, ratio) = (median(times) / 1e3, median(&ratios));
        let (least, of_least) = (least(n) / 1e3, least(n) / least(*beside));
        println!("{name:42} {usual:10.2} {ratio:8.3} {least:10.2} {of_least:8.3}");
    }
    drop(cases);
    stop.store(true, Ordering::Relaxed);
    responder.join().map_err(|_| "the responder panicked")??;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> ExitCode {
    let turns = std::env::args().nth(1).and_then(|turns| turns.parse().ok());
    match measure(turns.unwrap_or(15)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}
