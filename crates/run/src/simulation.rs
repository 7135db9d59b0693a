//! Runs on the simulated disk, ended in every way at every moment: what a reader finds is a beginning of what was
//! pushed, and misses at most the last second.

use crate::place::Limits;
use crate::simulated_disk::{Faults, SimulatedDisk};
use crate::storage::Storage;
use crate::testing::{conditions, plan, point, sample, summary};
use crate::{Exchange, Life, PointWriter, Run, RunWriter, State};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wiregauge_record::Sample;

/// What is lost at most when the power is cut.
const LOST: Duration = Duration::from_secs(1);

/// Room for `run.json`, which has 5 kB here.
const RESERVE: usize = 16 << 10;

/// The caller looks after the writer so often.
const TICK: Duration = Duration::from_millis(50);

/// How a case ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Finished,
    Killed,
    PowerCut,
}

/// What a case did, as whoever drives it knows it.
#[derive(Default)]
struct Truth {
    /// For each point, when each of its rows was pushed.
    pushed: BTreeMap<u32, Vec<Duration>>,
    /// Rows that were refused: the first of them, of a point.
    refused: BTreeMap<u32, u64>,
    /// Before the first error, if there was one.
    failed_at: Option<Duration>,
    /// The run was created, so there must be one.
    is_created: bool,
    /// The end could be stored.
    is_finished: bool,
    /// After the end the power was cut.
    is_cut_after_end: bool,
}

struct Case {
    rng: Rng,
    disk: SimulatedDisk,
    truth: Truth,
    keep_data: bool,
}

fn dir() -> &'static Path {
    Path::new("/run")
}

fn data(of: u64) -> Vec<u8> {
    vec![of as u8; (of % 5) as usize]
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut rng = Rng::with_seed(seed);
        let mut faults = Faults {
            short_write: [0, 100_000][rng.usize(..2)],
            ..Faults::default()
        };
        // Half of the cases have a sound disk, so that nothing excuses a missing row.
        match rng.u8(..8) {
            0 => faults.room = Some(RESERVE as u64 + rng.u64(2_000..30_000)),
            1 => faults.write_fails = 20_000,
            2 => faults.sync_fails = 30_000,
            3 => {
                faults.write_fails = 10_000;
                faults.sync_fails = 10_000;
                faults.truncate_fails = 500_000;
            }
            _ => {}
        }
        Case {
            disk: SimulatedDisk::new(rng.u64(..), faults),
            keep_data: rng.u8(..) < 64,
            rng,
            truth: Truth::default(),
        }
    }

    /// An error of a call that began then.
    fn note_error(&mut self, begun: Duration) {
        self.truth.failed_at.get_or_insert(begun);
    }

    /// Drives a run until it ends.
    fn run(&mut self) -> End {
        let limits = Limits {
            row_group_rows: self.rng.usize(8..40),
            segment_rows: self.rng.u64(8..100),
            reserve: RESERVE,
            ..Limits::default()
        };
        let storage: Arc<dyn Storage> = Arc::new(self.disk.clone());
        let plan = plan(self.keep_data);
        let begun = RunWriter::<Exchange>::begin(storage, dir(), &plan, &conditions(), limits);
        let Ok(mut run) = begun else {
            return End::Killed;
        };
        self.truth.is_created = true;
        let end = [End::Finished, End::Killed, End::PowerCut][self.rng.usize(..3)];
        let steps = self.rng.usize(1..40);
        let mut writer: Option<PointWriter> = None;
        let mut next_point = 0;
        for _ in 0..steps {
            match &mut writer {
                None if next_point == 3 => break,
                None => {
                    writer = run.begin_point(point(next_point)).ok();
                    self.truth.pushed.insert(next_point, Vec::new());
                    next_point += 1;
                }
                Some(_) if self.rng.u8(..) < 10 => {
                    if let Some(writer) = writer.take() {
                        self.end_point(&mut run, writer);
                    }
                }
                Some(writer) => self.step(next_point - 1, writer),
            }
        }
        match end {
            End::Killed => self.disk.kill(),
            End::PowerCut => {
                // Perhaps while somebody waits for the disk.
                if let Some(writer) = writer.take().filter(|_| self.rng.bool()) {
                    self.disk.cut_power_in_work(self.rng.usize(..6));
                    self.end_point(&mut run, writer);
                }
                if !self.disk.is_dead() {
                    self.disk.cut_power();
                }
            }
            End::Finished => {
                drop(writer);
                let state = match self.truth.failed_at {
                    None => State::Interrupted,
                    Some(_) => State::Failed {
                        error: "input/output error".to_owned(),
                    },
                };
                self.truth.is_finished = run.finish(state).is_ok();
                // What the end stored lasts.
                if self.rng.bool() {
                    self.disk.cut_power();
                    self.truth.is_cut_after_end = true;
                }
                return End::Finished;
            }
        }
        end
    }

    fn end_point(&mut self, run: &mut RunWriter, writer: PointWriter) {
        let (begun, faults) = (self.disk.now(), self.disk.faults_seen());
        let (of, rows) = (writer.point(), writer.rows());
        let ended = run.end_point(writer, summary(of, rows));
        // Where the power was cut within the call, nobody heard of the error of the disk before it.
        let is_disk = !self.disk.is_dead() || self.disk.faults_seen() > faults;
        if ended.is_err() && is_disk {
            self.note_error(begun);
        }
    }

    /// Some rows at once, then time passes.
    fn step(&mut self, of: u32, writer: &mut PointWriter) {
        let rows = [0, 1, 3, 40][self.rng.usize(..4)];
        for _ in 0..self.rng.usize(..=rows) {
            let pushed = self.truth.pushed.entry(of).or_default();
            let number = pushed.len() as u64;
            let begun = self.disk.now();
            pushed.push(begun);
            if writer.push(&sample(number), &data(number)).is_err() {
                self.truth.refused.entry(of).or_insert(number);
                self.note_error(begun);
            }
        }
        let ticks = [1, 1, 2, 30][self.rng.usize(..4)];
        for _ in 0..ticks {
            let begun = self.disk.now();
            self.disk.pass(TICK);
            if writer.tick().is_err() {
                self.note_error(begun);
            }
        }
    }

    /// Reads what is on the disk and compares it with what was done.
    fn judge(&self, end: End, place: &Path) {
        let files = self.disk.files();
        let has_run = files
            .iter()
            .any(|(path, _)| path == &dir().join("run.json"));
        if !self.truth.is_created && !has_run {
            return;
        }
        for (path, bytes) in files {
            let path = place.join(path.strip_prefix("/").unwrap());
            fs::write(path, bytes).unwrap();
        }
        let run = Run::<Exchange>::open(&place.join("run")).expect("a run that can be opened");
        if self.truth.is_finished {
            assert_eq!(run.progress.life, Life::Ended);
        }
        let listed = crate::list(place).unwrap();
        assert_eq!(listed[0].ending, run.ending_line());
        let mut found = BTreeMap::new();
        let is_whole =
            end == End::Finished && !self.truth.is_cut_after_end && self.truth.is_finished;
        for (at, summary) in run.file.points.iter().enumerate() {
            let rows = self.rows(&run, at);
            if is_whole {
                let of = summary.point.index;
                let stored = run.file.stored.iter().find(|stored| stored.point == of);
                assert_eq!(stored.map(|stored| stored.rows), Some(rows as u64));
            }
            assert!(found.insert(summary.point.index, rows).is_none());
        }
        for (of, pushed) in &self.truth.pushed {
            let found = found.remove(of).unwrap_or(0);
            assert!(found <= pushed.len(), "point {of} has rows that never were");
            let expected = self.expected(end, *of, pushed);
            assert!(
                found >= expected,
                "point {of} has {found} rows of {}, expected {expected}: {end:?}, {:?}, failed at {:?}, {:?}",
                pushed.len(),
                self.disk,
                self.truth.failed_at,
                run.file.stored
            );
        }
        assert!(found.is_empty(), "points that never were: {found:?}");
    }

    /// How many rows of a point must be there.
    fn expected(&self, end: End, of: u32, pushed: &[Duration]) -> usize {
        let now = self.disk.now();
        let until = match (end, self.truth.failed_at) {
            // A disk that fails to synchronise may have lost what it had taken.
            (_, Some(failed_at)) => failed_at.saturating_sub(LOST),
            // The last synchronisation of a point that was given up may have failed without a word.
            (End::Finished, None) if self.truth.is_cut_after_end && self.disk.faults_seen() > 0 => {
                return 0;
            }
            (End::Finished, None) => Duration::MAX,
            (End::Killed, None) => now.saturating_sub(2 * TICK),
            (End::PowerCut, None) => now.saturating_sub(LOST),
        };
        let refused = self
            .truth
            .refused
            .get(&of)
            .map_or(usize::MAX, |&at| at as usize);
        pushed.iter().filter(|at| **at < until).count().min(refused)
    }

    /// The rows of a point, each compared with what was pushed.
    fn rows(&self, run: &Run, at: usize) -> usize {
        let mut rows = 0;
        for row in run.samples(at).into_iter().flatten() {
            match row {
                Ok((row, bytes)) => {
                    assert_eq!(row, self.pushed(rows));
                    assert_eq!(bytes, self.keep_data.then(|| data(rows)));
                    rows += 1;
                }
                Err(error) => {
                    assert!(self.disk.faults_seen() > 0, "{error}");
                    break;
                }
            }
        }
        rows as usize
    }

    fn pushed(&self, number: u64) -> Sample {
        sample(number)
    }
}

/// One case in a directory that is empty again afterwards.
fn one_case(seed: u64, place: &Path) {
    let mut case = Case::new(seed);
    let end = case.run();
    let samples = place.join("run/samples");
    fs::create_dir_all(&samples).unwrap();
    case.judge(end, place);
    for dir in [samples, place.join("run")] {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }
}

/// So many cases from a seed on, on all processors.
fn cases(count: u64, first: u64) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let place = tempfile::tempdir().unwrap();
                let mut seed = first + thread;
                while seed < first + count {
                    let tried = std::panic::catch_unwind(|| one_case(seed, place.path()));
                    assert!(tried.is_ok(), "case {seed} failed");
                    seed += threads;
                }
            });
        }
    });
}

fn number(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn whatever_the_disk_does_rows_are_a_beginning_of_what_was_pushed() {
    cases(500, 0);
}

#[test]
#[ignore = "long: `make simulate`"]
fn many_disks() {
    cases(number("SCENARIOS", 100_000), number("SEED", 0));
}
