//! A disk in memory for tests, with a clock of its own: it fills up, writes a part of what it is given, fails to
//! synchronise, and loses what was not synchronised when the power is cut. What it does follows from a seed.

use crate::storage::{Job, Storage, StoredFile, Work};
use fastrand::Rng;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{self, Cursor, Read};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What can go wrong, each with a chance in a million per operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// Bytes that the disk holds at most.
    pub(crate) room: Option<u64>,
    /// A write takes a part of the bytes only, as a write may.
    pub(crate) short_write: u32,
    /// A write, creation or renaming fails.
    pub(crate) write_fails: u32,
    /// Synchronising fails, and what was not synchronised before may be lost.
    pub(crate) sync_fails: u32,
    /// Cutting a file fails.
    pub(crate) truncate_fails: u32,
}

/// The disk.
#[derive(Clone)]
pub(crate) struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for SimulatedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let files = state.names.iter();
        let files = files.map(|(path, &at)| (path, state.files[at].bytes.len()));
        write!(f, "at {:?}, {:?}, ", state.now, state.faults)?;
        f.debug_map().entries(files).finish()
    }
}

struct State {
    rng: Rng,
    now: Duration,
    faults: Faults,
    used: u64,
    files: Vec<Content>,
    names: BTreeMap<PathBuf, usize>,
    synced_names: BTreeMap<PathBuf, usize>,
    /// Changes of names since they were synchronised.
    unsynced: Vec<Change>,
    jobs: VecDeque<(Duration, Job)>,
    works: VecDeque<Work>,
    faults_seen: u32,
    /// The next write takes this many bytes and fails at the rest.
    tear: Option<usize>,
    /// The power is cut after so many further steps of work that somebody waits for.
    steps_left: Option<usize>,
    /// The process was ended: nothing it still does reaches the disk.
    is_dead: bool,
}

#[derive(Default)]
struct Content {
    bytes: Vec<u8>,
    synced: Vec<u8>,
}

#[derive(Clone)]
enum Change {
    Name(PathBuf, usize),
    Remove(PathBuf),
}

struct SimulatedFile {
    disk: SimulatedDisk,
    at: usize,
}

/// The disk is slow by so much at most.
const SLOWEST: Duration = Duration::from_millis(250);

/// A step of the work takes so long at most where somebody waits for it.
const SLOWEST_STEP: Duration = Duration::from_secs(1);

impl SimulatedDisk {
    pub(crate) fn new(seed: u64, faults: Faults) -> SimulatedDisk {
        SimulatedDisk {
            state: Arc::new(Mutex::new(State {
                rng: Rng::with_seed(seed),
                now: Duration::ZERO,
                faults,
                used: 0,
                files: Vec::new(),
                names: BTreeMap::new(),
                synced_names: BTreeMap::new(),
                unsynced: Vec::new(),
                jobs: VecDeque::new(),
                works: VecDeque::new(),
                faults_seen: 0,
                tear: None,
                steps_left: None,
                is_dead: false,
            })),
        }
    }

    /// Lets time pass; jobs whose time has come are done, and perhaps some work.
    pub(crate) fn pass(&self, time: Duration) {
        let (now, steps) = {
            let mut state = self.state();
            state.now += time;
            (state.now, state.rng.usize(..4))
        };
        self.work(|due| due <= now);
        for _ in 0..steps {
            self.step();
        }
    }

    /// A step of the oldest work; false if there is none.
    fn step(&self) -> bool {
        let work = self.state().works.pop_front();
        let Some(mut work) = work else {
            return false;
        };
        if work() {
            self.state().works.push_front(work);
        }
        true
    }

    fn work(&self, is_due: impl Fn(Duration) -> bool) {
        loop {
            let job = {
                let mut state = self.state();
                match state.jobs.front() {
                    Some((due, _)) if is_due(*due) => state.jobs.pop_front(),
                    _ => None,
                }
            };
            let Some((due, job)) = job else {
                return;
            };
            {
                let mut state = self.state();
                state.now = state.now.max(due);
            }
            job();
        }
    }

    /// Cuts the power while somebody waits for the disk, after so many steps of the work.
    pub(crate) fn cut_power_in_work(&self, steps: usize) {
        self.state().steps_left = Some(steps);
    }

    /// True once the process was ended or the power cut.
    pub(crate) fn is_dead(&self) -> bool {
        self.state().is_dead
    }

    /// Whoever waits for the work sees time pass with each step; true if the power is cut now.
    fn wait_a_step(&self) -> bool {
        let mut state = self.state();
        let slow = state.rng.u64(..=SLOWEST_STEP.as_micros() as u64);
        state.now += Duration::from_micros(slow);
        let left = state.steps_left.map(|steps| steps.checked_sub(1));
        state.steps_left = left.flatten();
        left == Some(None)
    }

    /// Lets the next write take this many bytes and fail at the rest.
    pub(crate) fn tear_next_write(&self, bytes: usize) {
        self.state().tear = Some(bytes);
    }

    /// How often something went wrong.
    pub(crate) fn faults_seen(&self) -> u32 {
        self.state().faults_seen
    }

    /// Ends the process: nothing that it does from now on reaches the disk.
    pub(crate) fn kill(&self) {
        let left = {
            let mut state = self.state();
            state.is_dead = true;
            (mem::take(&mut state.jobs), mem::take(&mut state.works))
        };
        // What they hold may write when it is dropped.
        drop(left);
    }

    /// Cuts the power: of what was not synchronised any part may be lost.
    pub(crate) fn cut_power(&self) {
        self.kill();
        let state = &mut *self.state();
        for file in &mut state.files {
            let unsynced = file.bytes.len().saturating_sub(file.synced.len());
            let kept = state.rng.usize(..=unsynced);
            let mut bytes = file.synced.clone();
            let from = bytes.len();
            bytes.extend_from_slice(&file.bytes[file.bytes.len().min(from)..][..kept]);
            // Blocks that were never written read as zeros.
            if kept > 0 && state.rng.u8(..) < 64 {
                let hole = from + state.rng.usize(..kept);
                let end = state.rng.usize(hole..=bytes.len());
                bytes[hole..end].fill(0);
            }
            file.bytes = bytes;
        }
        let mut names = state.synced_names.clone();
        for change in mem::take(&mut state.unsynced) {
            if state.rng.bool() {
                change.apply(&mut names);
            }
        }
        state.names = names;
    }

    /// The files as a reader finds them.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let state = self.state();
        let named = state.names.iter();
        named
            .map(|(path, &at)| (path.clone(), state.files[at].bytes.clone()))
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Change {
    fn apply(self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Change::Name(path, at) => drop(names.insert(path, at)),
            Change::Remove(path) => drop(names.remove(&path)),
        }
    }
}

impl State {
    fn fails(&mut self, chance: u32) -> bool {
        let fails = chance > 0 && self.rng.u32(..1_000_000) < chance;
        self.faults_seen += u32::from(fails);
        fails
    }

    fn alive(&self) -> io::Result<()> {
        match self.is_dead {
            true => Err(io::Error::other("the process has ended")),
            false => Ok(()),
        }
    }

    fn change(&mut self, change: Change) {
        self.unsynced.push(change.clone());
        change.apply(&mut self.names);
    }

    /// Gives the room back of files without a name. One that is still open is taken for closed.
    fn free(&mut self) {
        let named = self.names.values();
        self.used = named.map(|&at| self.files[at].bytes.len() as u64).sum();
    }
}

fn failure() -> io::Error {
    io::Error::other("input/output error")
}

impl Storage for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        let mut state = self.state();
        state.alive()?;
        let chance = state.faults.write_fails;
        if state.fails(chance) {
            return Err(failure());
        }
        state.files.push(Content::default());
        let at = state.files.len() - 1;
        state.change(Change::Name(path.to_owned(), at));
        Ok(Arc::new(SimulatedFile {
            disk: self.clone(),
            at,
        }))
    }

    fn create_locked(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        self.create(path)
    }

    fn open(&self, path: &Path) -> io::Result<(Box<dyn Read + Send>, u64)> {
        let state = self.state();
        state.alive()?;
        let Some(&at) = state.names.get(path) else {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        };
        let bytes = state.files[at].bytes.clone();
        let length = bytes.len() as u64;
        Ok((Box::new(Cursor::new(bytes)), length))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.alive()?;
        let chance = state.faults.write_fails;
        if state.fails(chance) {
            return Err(failure());
        }
        let Some(&at) = state.names.get(from) else {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        };
        state.change(Change::Name(to.to_owned(), at));
        state.change(Change::Remove(from.to_owned()));
        state.free();
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.alive()?;
        if !state.names.contains_key(path) {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        state.change(Change::Remove(path.to_owned()));
        state.free();
        Ok(())
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.alive()?;
        let chance = state.faults.sync_fails;
        if state.fails(chance) {
            return Err(failure());
        }
        state.synced_names = state.names.clone();
        state.unsynced.clear();
        Ok(())
    }

    fn now(&self) -> Duration {
        self.state().now
    }

    fn background(&self, job: Job) {
        let mut state = self.state();
        if state.is_dead {
            return;
        }
        let slow = state.rng.u64(..=SLOWEST.as_micros() as u64);
        let due = state.now + Duration::from_micros(slow);
        state.jobs.push_back((due, job));
    }

    fn at_leisure(&self, work: Work) {
        let mut state = self.state();
        if !state.is_dead {
            state.works.push_back(work);
        }
    }

    fn settle(&self, _left: &mut dyn FnMut(usize)) {
        self.work(|_| true);
        while self.step() {
            if self.wait_a_step() {
                self.cut_power();
            }
        }
    }
}

impl StoredFile for SimulatedFile {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        state.alive()?;
        let chance = state.faults.write_fails;
        if state.fails(chance) {
            return Err(failure());
        }
        let room = state
            .faults
            .room
            .map(|room| room.saturating_sub(state.used));
        let room = room.map_or(usize::MAX, |room| {
            usize::try_from(room).unwrap_or(usize::MAX)
        });
        if room == 0 && !bytes.is_empty() {
            state.faults_seen += 1;
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let mut taken = bytes.len().min(room);
        if let Some(left) = state.tear.take() {
            if left == 0 {
                state.faults_seen += 1;
                return Err(failure());
            }
            taken = taken.min(left);
            state.tear = Some(left - taken);
        }
        let chance = state.faults.short_write;
        if taken > 1 && chance > 0 && state.rng.u32(..1_000_000) < chance {
            taken = state.rng.usize(1..taken);
        }
        state.used += taken as u64;
        state.files[self.at]
            .bytes
            .extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.alive()?;
        let chance = state.faults.sync_fails;
        if state.fails(chance) {
            return Err(failure());
        }
        let file = &mut state.files[self.at];
        let from = file.synced.len().min(file.bytes.len());
        file.synced.truncate(from);
        let new = file.bytes[from..].to_vec();
        file.synced.extend_from_slice(&new);
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.alive()?;
        let chance = state.faults.truncate_fails;
        if state.fails(chance) {
            return Err(failure());
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let file = &mut state.files[self.at];
        file.bytes.truncate(length);
        // Cut and grown again, the old bytes may come back when the power is cut, but not behind synchronised ones.
        let kept = file.synced.len().min(file.bytes.len());
        file.synced.truncate(kept);
        state.free();
        Ok(())
    }
}
