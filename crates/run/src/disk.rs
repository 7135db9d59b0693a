//! The real file system, with a thread that waits for the disk and one that works at leisure.

use crate::platform;
use crate::storage::{self, Job, Storage, StoredFile, Work};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The file system of this computer.
pub(crate) struct Disk {
    begun: Instant,
    /// To the thread that does the jobs; started with the first of them.
    jobs: Mutex<Option<Sender<Job>>>,
    leisure: Arc<Leisure>,
}

/// Work that can wait. Who hands it over waits for none of it.
#[derive(Default)]
struct Leisure {
    waiting: Mutex<Waiting>,
    /// The work that was begun, held during each of its steps.
    current: Mutex<Option<Work>>,
}

#[derive(Default)]
struct Waiting {
    works: VecDeque<Work>,
    /// A thread is there for them.
    has_thread: bool,
}

impl Disk {
    pub(crate) fn new() -> Disk {
        Disk {
            begun: Instant::now(),
            jobs: Mutex::new(None),
            leisure: Arc::default(),
        }
    }

    /// Creates a directory and those above it, so that their names last.
    pub(crate) fn create_dirs(&self, dir: &Path) -> io::Result<()> {
        let missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
        let new: Vec<&Path> = dir.ancestors().take_while(missing).collect();
        fs::create_dir_all(dir)?;
        new.into_iter()
            .try_for_each(|dir| storage::sync_dir_of(self, dir))
    }
}

impl Storage for Disk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        Ok(Arc::new(File::create(path)?))
    }

    fn create_locked(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        Ok(Arc::new(platform::create_locked(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<(Box<dyn Read + Send>, u64)> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok((Box::new(file), length))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        platform::sync_directory(dir)
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn background(&self, job: Job) {
        let mut jobs = held(&self.jobs);
        if jobs.is_none() {
            *jobs = start_thread();
        }
        let refused = match &*jobs {
            Some(sender) => sender.send(job).err().map(|refused| refused.0),
            None => Some(job),
        };
        // Without a thread the caller waits for the disk.
        if let Some(job) = refused {
            job();
        }
    }

    fn at_leisure(&self, work: Work) {
        let mut waiting = held(&self.leisure.waiting);
        waiting.works.push_back(work);
        if !waiting.has_thread {
            let leisure = Arc::clone(&self.leisure);
            let thread = std::thread::Builder::new().name("leisure".into());
            // Without a thread `settle` does it.
            waiting.has_thread = thread.spawn(move || leisure.work()).is_ok();
        }
    }

    fn settle(&self, left: &mut dyn FnMut(usize)) {
        let (done, is_done) = mpsc::channel::<()>();
        let jobs = held(&self.jobs);
        if let Some(sender) = &*jobs {
            let sent = sender.send(Box::new(move || drop(done)));
            drop(jobs);
            if sent.is_ok() {
                // Ends with an error as soon as the job has dropped its end.
                let _ = is_done.recv();
            }
        }
        // What is left is done here: the other thread may get no processor. It waits for a step of that thread at most.
        let mut shown = 0;
        loop {
            let works = self.leisure.works();
            if works != shown {
                left(works);
                shown = works;
            }
            if !self.leisure.step() {
                return;
            }
        }
    }
}

impl Leisure {
    /// How many works are not done.
    fn works(&self) -> usize {
        // Held meanwhile, so that none is counted twice or not at all.
        let current = held(&self.current);
        usize::from(current.is_some()) + held(&self.waiting).works.len()
    }

    /// Does one step of the oldest work; false if there is none.
    fn step(&self) -> bool {
        let mut current = held(&self.current);
        if current.is_none() {
            *current = held(&self.waiting).works.pop_front();
        }
        let Some(work) = current.as_mut() else {
            return false;
        };
        if !work() {
            *current = None;
        }
        true
    }

    /// What the thread does; it ends when nothing waits.
    fn work(&self) {
        platform::lower_priority();
        loop {
            while self.step() {
                // Lets `settle` have the next step.
                std::thread::yield_now();
            }
            let mut waiting = held(&self.waiting);
            if waiting.works.is_empty() {
                waiting.has_thread = false;
                return;
            }
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread ends when the sender is dropped.
fn start_thread() -> Option<Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let thread = std::thread::Builder::new().name("storage".into());
    let started = thread.spawn(move || jobs.into_iter().for_each(|job| job()));
    started.ok().map(|_| sender)
}

impl StoredFile for File {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        (&*self).seek(SeekFrom::Start(length)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn whoever_waits_for_the_work_hears_how_much_is_left() {
        let (disk, steps) = (Disk::new(), Arc::new(AtomicU32::new(0)));
        for _ in 0..20 {
            let (steps, mut left) = (Arc::clone(&steps), 3);
            disk.at_leisure(Box::new(move || {
                steps.fetch_add(1, Ordering::Relaxed);
                left -= 1;
                left > 0
            }));
        }
        let mut heard = Vec::new();
        disk.settle(&mut |left| heard.push(left));
        assert_eq!(steps.load(Ordering::Relaxed), 60);
        // The other thread may have done some of it before.
        assert!(heard.is_sorted_by(|a, b| a > b), "{heard:?}");
        assert!(heard.first().is_none_or(|&most| most <= 20), "{heard:?}");
    }
}
