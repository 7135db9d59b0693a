//! Size and speed of sample files: `cargo run --release --example write_speed [SAMPLES]`.
//!
//! Prints the bytes a sample takes and the samples that one thread takes, stores and reads a second, for
//! exchanges like those of a TCP link, of a link with a device clock, and with answers kept. Stored: with what the end of
//! the point waits for.

use std::fs;
use std::path::Path;
use std::time::Instant;
use wiregauge_record::*;
use wiregauge_run::{Exchange, Run, RunError, RunWriter, State, write_csv, write_parquet};

/// Which of the columns are busy.
#[derive(Clone, Copy, PartialEq)]
enum Link {
    Tcp,
    DeviceClock,
    KeepData,
}

fn main() -> Result<(), RunError> {
    let samples = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(4_000_000);
    let dir = std::env::temp_dir().join(format!("wiregauge-write-speed-{}", std::process::id()));
    let result = [
        ("TCP", Link::Tcp, 10_000),
        ("TCP", Link::Tcp, samples),
        ("device clock", Link::DeviceClock, samples),
        ("100 B answers kept", Link::KeepData, samples / 4),
    ]
    .into_iter()
    .try_for_each(|(name, link, samples)| measure(&dir, name, link, samples));
    let _ = fs::remove_dir_all(&dir);
    result
}

fn measure(dir: &Path, name: &str, link: Link, samples: u64) -> Result<(), RunError> {
    let _ = fs::remove_dir_all(dir);
    let point = Point {
        index: 0,
        out_bytes: 16,
        in_bytes: 100,
        depth: 1,
        link: 0,
        together: false,
    };
    let mut run = RunWriter::<Exchange>::create(dir, &plan(point, link), &Conditions::default())?;
    let mut writer = run.begin_point(point)?;
    let mut source = Source {
        state: 1,
        start_ns: 0,
    };
    let mut longest = 0.0_f64;
    let mut data = [0_u8; 100];
    let begin = Instant::now();
    for sequence in 0..samples {
        let sample = source.next(sequence, link);
        data[..8].copy_from_slice(&sample.rtt_ns.to_le_bytes());
        let at = (sequence % 1024 == 1023 || sequence % 131_072 == 131_071).then(Instant::now);
        writer.push(&sample, &data)?;
        longest = at.map_or(longest, |at| longest.max(at.elapsed().as_secs_f64()));
    }
    let taken = begin.elapsed().as_secs_f64();
    run.end_point(writer, summary(point, samples))?;
    let written = begin.elapsed().as_secs_f64();
    run.finish(State::Complete)?;
    let files = fs::read_dir(dir.join("samples")).into_iter().flatten();
    let size: u64 = files
        .filter_map(|file| Some(file.ok()?.metadata().ok()?.len()))
        .sum();

    let run = Run::<Exchange>::open(dir)?;
    let timed = |work: &dyn Fn() -> Result<u64, RunError>| {
        let begin = Instant::now();
        work().map(|rows| rows as f64 / begin.elapsed().as_secs_f64() / 1e6)
    };
    let read = timed(&|| run.samples(0)?.try_fold(0, |n, row| row.map(|_| n + 1)))?;
    let csv = timed(&|| write_csv(&run, &mut std::io::sink(), false))?;
    let parquet = timed(&|| write_parquet(&run, &dir.join("all.parquet")))?;
    println!(
        "{name:>18}, {samples:>9} samples: {:6.2} B/sample; taken {:5.2} M/s (longest push {:5.1} \
         ms), stored {:5.2} M/s, read {read:5.2} M/s, to CSV {csv:5.2} M/s, to Parquet {parquet:5.2} M/s",
        size as f64 / samples as f64,
        samples as f64 / taken / 1e6,
        longest * 1e3,
        samples as f64 / written / 1e6,
    );
    Ok(())
}

/// Exchanges with a jitter that a compressor cannot guess.
struct Source {
    state: u64,
    start_ns: u64,
}

impl Source {
    fn random(&mut self, bits: u32) -> u64 {
        // xorshift64, Marsaglia 2003.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state >> (64 - bits)
    }

    fn next(&mut self, sequence: u64, link: Link) -> Sample {
        let tail = if self.random(7) == 0 {
            self.random(16)
        } else {
            0
        };
        let rtt_ns = 20_000 + self.random(12) + self.random(12) + tail;
        let ticks = if link == Link::DeviceClock {
            self.start_ns / 10
        } else {
            0
        };
        let sample = Sample {
            sequence,
            intended_ns: self.start_ns,
            start_ns: self.start_ns,
            rtt_ns,
            device_rx_ticks: ticks,
            device_tx_ticks: if ticks > 0 {
                ticks + 100 + self.random(5)
            } else {
                0
            },
            bytes_out: 16,
            bytes_in: 100,
            outstanding: 1,
            status: if sequence % 100_000 == 7 {
                Status::Lost
            } else {
                Status::Ok
            },
            phase: if sequence == 0 {
                Phase::First
            } else {
                Phase::Measured
            },
            ..Sample::default()
        };
        self.start_ns += rtt_ns + 300 + self.random(6);
        sample
    }
}

fn plan(point: Point, link: Link) -> Plan {
    Plan {
        address: "tcp://127.0.0.1:7700".to_owned(),
        more_links: Vec::new(),
        protocol: Protocol::Wiregauge,
        queries: None,
        connect: Connect::Once,
        points: vec![point],
        limit: Limit::Count(10_000),
        warmup: 0,
        schedule: Schedule::AsFastAsPossible,
        batch: None,
        timeout_ns: 1_000_000_000,
        give_up: 10,
        wait: Wait::Block,
        below_ns: Vec::new(),
        keep_data: link == Link::KeepData,
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

fn summary(point: Point, exchanges: u64) -> PointSummary {
    PointSummary {
        point,
        ending: Ending::Complete,
        counts: Counts {
            exchanges,
            answered: exchanges,
            ..Counts::default()
        },
        elapsed_ns: 0,
        first_rtt_ns: None,
        open_ns: None,
        rtt: None,
        from_intended: None,
        start_delay: None,
        lateness: None,
        trt: None,
        below: Vec::new(),
        modes: Vec::new(),
        achieved_depth: 1.0,
        throughput: Throughput::default(),
        limit: None,
        device: None,
        connect: None,
        access: None,
        transfer: None,
        stages: None,
        batch: None,
        surplus: None,
        queries: Vec::new(),
        unexpected: Vec::new(),
        instrument_errors: Vec::new(),
        can: None,
        resources: ResourceUse::default(),
        disturbances: Vec::new(),
    }
}
