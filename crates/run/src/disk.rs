//! The real file system, with one thread that waits for the disk.

use crate::platform;
use crate::storage::{self, Job, Storage, StoredFile};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The file system of this computer.
pub(crate) struct Disk {
    begun: Instant,
    /// To the thread that does the jobs; started with the first of them.
    jobs: Mutex<Option<Sender<Job>>>,
}

impl Disk {
    pub(crate) fn new() -> Disk {
        Disk {
            begun: Instant::now(),
            jobs: Mutex::new(None),
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
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
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

    fn settle(&self) {
        let (done, is_done) = mpsc::channel::<()>();
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*jobs {
            let sent = sender.send(Box::new(move || drop(done)));
            drop(jobs);
            if sent.is_ok() {
                // Ends with an error as soon as the job has dropped its end.
                let _ = is_done.recv();
            }
        }
    }
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
