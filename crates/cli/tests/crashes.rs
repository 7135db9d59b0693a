//! Runs of all kinds that are ended at random moments, by signals, a closed output and a closed terminal, while the device
//! (of this test) notes what passed, and when. What is stored must have passed, in order and without a gap; of what passed,
//! nothing may be missing that is over a second old.

use crate::common;

use common::{Desk, Server, WIREGAUGE};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wiregauge_record::{Block, ControlCycle, Sample, Status, Transfer};
use wiregauge_run::{Control, Exchange, Files, Life, Loop, Run, State, Stream};

/// Rows may be missing that are younger.
const AGE: Duration = Duration::from_secs(1);

/// Runs are ended at random moments within this time.
const LONGEST_MS: u64 = 2000;

/// Runs at a time.
const AT_ONCE: usize = 8;

const PLANT: &str = "--plant 1000/(s^2+s) --pid 0.96,0,0.049 --period 5ms";

#[test]
fn whatever_ends_a_run_only_the_last_second_may_be_missing() {
    end_runs(40, 1);
}

/// As above, but more of them.
#[test]
#[ignore = "takes minutes"]
fn whatever_ends_a_run_only_the_last_second_may_be_missing_500_times() {
    end_runs(500, 1000);
}

fn end_runs(count: u64, seed: u64) {
    let next = AtomicU64::new(0);
    let delays = Delays::watch();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= count {
                        return;
                    }
                    Case::new(case, seed).run(&delays);
                }
            });
        }
    });
}

/// A run, and its end.
#[derive(Clone, Copy, Debug)]
struct Case {
    kind: Kind,
    end: End,
    after: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Exchange,
    Stream,
    Loop,
    Control,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Kill,
    Hangup,
    Terminate,
    ClosedOutput,
    ClosedTerminal,
}

impl Case {
    fn new(number: u64, seed: u64) -> Case {
        let kinds = [Kind::Exchange, Kind::Stream, Kind::Loop, Kind::Control];
        let ends = [
            End::Kill,
            End::Hangup,
            End::Kill,
            End::Terminate,
            End::Kill,
            End::ClosedTerminal,
            End::Kill,
            End::ClosedOutput,
        ];
        Case {
            kind: kinds[number as usize % kinds.len()],
            end: ends[number as usize / kinds.len() % ends.len()],
            after: Duration::from_millis(mixed(seed + number) % LONGEST_MS),
        }
    }

    fn run(self, delays: &Delays) {
        let desk = Desk::new();
        let device = Device::start(self.kind, &desk);
        // Nothing ends a run whose output is closed.
        let duration = match self.end {
            End::ClosedOutput => "900ms",
            _ => "60s",
        };
        let words = self.command(&device.address, duration);
        let begun = Instant::now();
        let (mut child, terminal) = self.start(&desk, &words);
        if self.kind == Kind::Loop {
            device.watch_rows(&desk, begun + self.after);
        }
        std::thread::sleep(self.after.saturating_sub(begun.elapsed()));
        let ended = Instant::now();
        match self.end {
            End::Kill => signal(&child, Signal::KILL),
            End::Hangup => signal(&child, Signal::HUP),
            End::Terminate => signal(&child, Signal::TERM),
            End::ClosedOutput => drop(child.stdout.take()),
            End::ClosedTerminal => drop(terminal),
        }
        let code = code_of(&mut child, self);
        let passed = device.finish();
        let young = AGE + 2 * delays.longest();
        let found = match self.kind {
            Kind::Exchange => self.read::<Exchange>(&desk, answered),
            Kind::Stream => self.read::<Stream>(&desk, carried),
            Kind::Loop => self.read::<Loop>(&desk, blocks),
            Kind::Control => self.read::<Control>(&desk, cycles),
        };
        let stored = found.as_ref().map_or(0, |found| found.amount);
        let what = format!(
            "{self:?}, code {code:?}: {stored} stored, {} passed, {found:?}",
            passed.total()
        );
        if self.kind != Kind::Loop {
            assert!(stored <= passed.total(), "{what}");
        }
        // Signals that come before the program handles them kill it.
        let is_killed = code.is_none();
        // A source goes on until it sees that nobody reads; what a loop has done was computed.
        let goes_on = matches!(self.kind, Kind::Stream | Kind::Loop);
        let old = match is_killed || goes_on {
            true => passed.before(ended.checked_sub(young)),
            false => passed.total(),
        };
        assert!(stored + self.under_way() >= old, "{old} had to be, {what}");
        match self.end {
            End::Kill => assert_eq!(code, None, "{what}"),
            End::ClosedOutput => assert_eq!(code, Some(0), "{what}"),
            _ => assert!(is_killed || code == Some(130), "{what}"),
        }
        let Some(found) = found else {
            return;
        };
        let line = found.line.as_deref().unwrap_or_default();
        let (state, begins) = match (self.end, is_killed) {
            (_, true) => (
                State::Running,
                "was killed (SIGKILL, a crash or a power cut) after ",
            ),
            (End::ClosedOutput, _) => (State::Complete, ""),
            (End::Terminate, _) => (State::Interrupted, "ended by SIGTERM after "),
            _ => (State::Interrupted, "ended by SIGHUP after "),
        };
        assert_eq!(found.state, state, "{what}");
        assert!(line.starts_with(begins), "{what}");
        assert_eq!(found.is_killed, is_killed, "{what}");
    }

    fn command(self, address: &str, duration: &str) -> String {
        match self.kind {
            Kind::Exchange => format!(
                "exchange {address} --protocol echo --out 48 --rate 500 --duration {duration} --timeout 10s --no-calibration"
            ),
            Kind::Stream => format!(
                "stream {address} --protocol raw --direction in --transfer 1000 --duration {duration} \
                 --settle 1ms --timeout 10s"
            ),
            Kind::Loop => format!(
                "loop virtual --rate 100k --notify 1k --ring 256k --preload 64k --duration {duration} --settle 50ms \
                 --no-calibration"
            ),
            Kind::Control => {
                format!("loop-control {address} {PLANT} --duration {duration} --timeout 10s")
            }
        }
    }

    /// What may have passed without a row: what was under way.
    fn under_way(self) -> u64 {
        match self.kind {
            Kind::Exchange => 1,
            Kind::Stream => 1000,
            Kind::Loop | Kind::Control => 2,
        }
    }

    fn start(self, desk: &Desk, words: &str) -> (Child, Option<OwnedFd>) {
        let spawn = |command: &mut Command| command.spawn().expect("it starts");
        if self.end != End::ClosedTerminal {
            let child = spawn(
                desk.command(words)
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null()),
            );
            return (child, None);
        }
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let window = openpt(flags).expect("a pseudo-terminal");
        grantpt(&window).expect("grantpt");
        unlockpt(&window).expect("unlockpt");
        let name = ptsname(&window, Vec::new()).expect("ptsname");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = || File::from(rustix::fs::open(&name, flags, Mode::empty()).expect("its end"));
        let mut command = desk.command_of("setsid", ["--ctty", WIREGAUGE]);
        command.args(words.split_whitespace());
        let child = spawn(command.stdin(open()).stdout(open()).stderr(open()));
        // A terminal that is closed before is one that setsid cannot take.
        let program = format!("/proc/{}/exe", child.id());
        while std::fs::read_link(&program).expect("a process") != Path::new(WIREGAUGE) {
            std::thread::sleep(Duration::from_millis(1));
        }
        (child, Some(window))
    }

    /// The run, if there is one, and how much its rows amount to.
    fn read<K: Files>(self, desk: &Desk, amount: impl Fn(&[K::Row]) -> u64) -> Option<Found> {
        let dir = only_run(desk)?;
        let run = Run::<K>::open(&dir).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let mut rows = Vec::new();
        for point in 0..run.file.points.len() {
            let samples = run.samples(point).expect("its samples");
            rows.extend(
                samples.map(|row| row.unwrap_or_else(|error| panic!("{self:?}: {error}")).0),
            );
        }
        Some(Found {
            amount: amount(&rows),
            state: run.file.state.clone(),
            is_killed: run.progress.life == Life::Killed,
            line: run.ending_line(),
        })
    }
}

/// What is stored.
#[derive(Debug)]
struct Found {
    amount: u64,
    state: State,
    is_killed: bool,
    line: Option<String>,
}

fn only_run(desk: &Desk) -> Option<PathBuf> {
    let dir = desk.runs().join(desk.stored().first()?);
    // A program that is killed while it begins leaves a directory at most.
    dir.join("run.json").exists().then_some(dir)
}

/// Exchanges that were answered; each has a row, in order.
fn answered(rows: &[Sample]) -> u64 {
    for (sequence, row) in (0..).zip(rows) {
        assert_eq!(row.sequence, sequence);
        assert_eq!(row.status, Status::Ok, "{row:?}");
    }
    rows.len() as u64
}

/// Bytes of all transfers.
fn carried(rows: &[Transfer]) -> u64 {
    for (sequence, row) in (0..).zip(rows) {
        assert_eq!(row.sequence, sequence);
    }
    rows.iter().map(|row| u64::from(row.bytes)).sum()
}

fn blocks(rows: &[Block]) -> u64 {
    for (sequence, row) in (0..).zip(rows) {
        assert_eq!(row.sequence, sequence);
    }
    rows.len() as u64
}

fn cycles(rows: &[ControlCycle]) -> u64 {
    for (sequence, row) in (0..).zip(rows) {
        assert_eq!(row.sequence, sequence);
    }
    rows.iter().filter(|row| row.ran()).count() as u64
}

/// How much had passed by when.
#[derive(Clone, Default)]
struct Passed(Arc<Mutex<Vec<(Instant, u64)>>>);

impl Passed {
    fn add(&self, amount: u64) {
        let mut log = self.0.lock().expect("no thread has panicked");
        let before = log.last().map_or(0, |(_, total)| *total);
        log.push((Instant::now(), before + amount));
    }

    fn total(&self) -> u64 {
        let log = self.0.lock().expect("no thread has panicked");
        log.last().map_or(0, |(_, total)| *total)
    }

    fn before(&self, at: Option<Instant>) -> u64 {
        let log = self.0.lock().expect("no thread has panicked");
        let mut latest_first = log.iter().rev();
        let early = latest_first.find(|(when, _)| at.is_some_and(|at| *when < at));
        early.map_or(0, |(_, total)| *total)
    }
}

/// The device of one run.
struct Device {
    address: String,
    passed: Passed,
    thread: Option<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
    /// Of loop-control: what simulates the plant.
    _plant: Option<Server>,
}

impl Device {
    fn start(kind: Kind, desk: &Desk) -> Device {
        let passed = Passed::default();
        let is_over = Arc::new(AtomicBool::new(false));
        let plant =
            (kind == Kind::Control).then(|| desk.serve("tcp://127.0.0.1:0 --plant 1000/(s^2+s)"));
        let mut device = Device {
            address: String::new(),
            passed: passed.clone(),
            thread: None,
            is_over: Arc::clone(&is_over),
            _plant: None,
        };
        if kind != Kind::Loop {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            device.address = format!("tcp://{}", listener.local_addr().expect("its address"));
            let place = plant.as_ref().map(|plant| plant.host_port().to_owned());
            let runs = desk.runs();
            device.thread = Some(std::thread::spawn(move || {
                let Some(link) = accepted(&listener, &is_over) else {
                    return;
                };
                match place {
                    Some(place) => forward(link, &place, &passed),
                    None if kind == Kind::Exchange => echo(link, &passed),
                    None => {
                        // What waits in sockets before the run is stored was not measured yet.
                        while !measures(&runs) && !is_over.load(Ordering::Relaxed) {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                        source(link, &passed);
                    }
                }
            }));
        }
        device._plant = plant;
        device
    }

    /// Computes the blocks of a loop, which has no device outside its own program, from the first that are stored: the
    /// virtual device has one every 5.12 ms.
    fn watch_rows(&self, desk: &Desk, until: Instant) {
        const BLOCK_NS: u128 = 5_120_000;
        while Instant::now() < until {
            let rows =
                only_run(desk).and_then(|dir| Some(Run::<Loop>::open(&dir).ok()?.progress.rows));
            if let Some(rows @ 1..) = rows {
                let seen = Instant::now();
                self.passed.add(rows);
                while Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(20));
                    let due = rows + (seen.elapsed().as_nanos() / BLOCK_NS) as u64;
                    self.passed.add(due.saturating_sub(self.passed.total()));
                }
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What passed until the link was closed.
    fn finish(mut self) -> Passed {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the device did not panic");
        }
        self.passed.clone()
    }
}

/// True once a run in this folder has begun its first point.
fn measures(runs: &Path) -> bool {
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let mut journals = entries.map(|entry| entry.path().join("samples/point-0000.rows"));
    journals.any(|journal| journal.exists())
}

/// The only connection; none if the program ended before.
fn accepted(listener: &TcpListener, is_over: &AtomicBool) -> Option<TcpStream> {
    listener.set_nonblocking(true).expect("set");
    loop {
        // Asked before: who connected before the end is accepted.
        let is_over = is_over.load(Ordering::Relaxed);
        match listener.accept() {
            Ok((link, _)) => {
                link.set_nonblocking(false).expect("set");
                link.set_nodelay(true).expect("set");
                return Some(link);
            }
            Err(_) if is_over => return None,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn echo(mut link: TcpStream, passed: &Passed) {
    let mut request = [0; 48];
    while link.read_exact(&mut request).is_ok() && link.write_all(&request).is_ok() {
        passed.add(1);
    }
}

/// Sends a transfer every 2 ms.
fn source(mut link: TcpStream, passed: &Passed) {
    while link.write_all(&[0; 1000]).is_ok() {
        passed.add(1000);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Forwards to the responder that simulates the plant, and counts cycles: a sample and a command each, after the two
/// messages that check the plant.
fn forward(mut host: TcpStream, place: &str, passed: &Passed) {
    const HEADER: usize = 32;
    const MESSAGE: u8 = 0x14;
    let mut plant = TcpStream::connect(place).expect("the responder");
    plant.set_nodelay(true).expect("set");
    let (mut from_host, mut to_plant) = (
        host.try_clone().expect("cloned"),
        plant.try_clone().expect("cloned"),
    );
    let requests = std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_host, &mut to_plant);
        let _ = to_plant.shutdown(Shutdown::Both);
    });
    let mut messages = 0_u64;
    let mut header = [0; HEADER];
    while plant.read_exact(&mut header).is_ok() {
        let length = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        let mut frame = header.to_vec();
        frame.resize(HEADER + length as usize, 0);
        let is_whole = plant.read_exact(&mut frame[HEADER..]).is_ok();
        if !is_whole || host.write_all(&frame).is_err() {
            break;
        }
        if header[1] == MESSAGE {
            messages += 1;
            if messages > 2 && messages.is_multiple_of(2) {
                passed.add(1);
            }
        }
    }
    let _ = (
        host.shutdown(Shutdown::Both),
        plant.shutdown(Shutdown::Both),
    );
    requests.join().expect("it did not panic");
}

/// How late a thread of this machine may be: that of this test is no different from those of the program.
struct Delays {
    longest_ns: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Delays {
    fn watch() -> Delays {
        const PAUSE: Duration = Duration::from_millis(10);
        let delays = Delays {
            longest_ns: Arc::default(),
            is_over: Arc::default(),
        };
        let (longest, is_over) = (Arc::clone(&delays.longest_ns), Arc::clone(&delays.is_over));
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                let begin = Instant::now();
                std::thread::sleep(PAUSE);
                let late = begin.elapsed().saturating_sub(PAUSE);
                longest.fetch_max(late.as_nanos() as u64, Ordering::Relaxed);
            }
        });
        delays
    }

    fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest_ns.load(Ordering::Relaxed))
    }
}

impl Drop for Delays {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("sent");
}

fn code_of(child: &mut Child, case: Case) -> Option<i32> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("its state") {
            return status.code();
        }
        if begin.elapsed() > common::BOUND {
            let _ = child.kill();
            panic!("{case:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// A number that looks random (SplitMix64).
fn mixed(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
