//! Records the payload that is received. The receiving thread copies it into a buffer ([`Tap`]); a thread of its own
//! writes it to a file or a pipe. If that is slower, the buffer fills and the receiver waits: nothing is dropped.

mod file;
mod tap;

use file::Failure;
pub use file::RecordFile;
pub use tap::{RecordInput, Tap, Tapped};

use rtrb::{Consumer, RingBuffer};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};
use wiregauge_link::host::{self, Interrupter, SignalGuard};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{HostPlan, Recording};

/// Bytes that may wait to be written.
const BUFFER_BYTES: usize = 64 << 20;

/// Bytes of one write, at most.
const WRITE_BYTES: usize = 1 << 20;

/// Fewer bytes than this wait for more, for [`NAP`].
const SMALL_BYTES: usize = 256 << 10;

/// How long the writer sleeps while little is there.
const NAP: Duration = Duration::from_millis(1);

/// How long a run that the user has ended waits for storage that takes nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the caller's thread looks after a writer that has yet to finish.
const LOOK: Duration = Duration::from_millis(20);

/// The failure of the storage, for both threads.
#[derive(Debug, Default)]
pub struct RecordError(Mutex<Option<(io::ErrorKind, LinkError)>>);

impl RecordError {
    fn set(&self, failure: &Failure) {
        let (kind, said) = (failure.error.kind(), failure.error.to_string());
        let error = LinkError::new(LinkErrorKind::Io, failure.doing.clone(), said);
        *self.locked() = Some((kind, error.hint(hint(kind))));
    }

    /// As the failure of a point.
    fn link_error(&self) -> LinkError {
        let error = self.locked().clone().map(|(_, error)| error);
        error.unwrap_or_else(|| {
            LinkError::new(
                LinkErrorKind::Io,
                "cannot record",
                "the writing thread ended",
            )
        })
    }

    fn io_error(&self) -> Option<io::Error> {
        let (kind, error) = self.locked().clone()?;
        Some(io::Error::new(kind, error.to_string()))
    }

    fn locked(&self) -> MutexGuard<'_, Option<(io::ErrorKind, LinkError)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, use another file system, or a shorter --duration"
        }
        io::ErrorKind::FileTooLarge => "divide the recording: --record - | split -b 1G - FILE.",
        io::ErrorKind::BrokenPipe => "the program that reads the pipe ended before the stream did",
        _ => "check the path of --record and its file system",
    }
}

/// What the writer and the caller's thread share.
#[derive(Default)]
struct Progress {
    written: AtomicU64,
    /// Nobody wants the rest any more.
    give_up: AtomicBool,
    begun: AtomicBool,
    writer: Interrupter,
}

/// What the writer leaves behind.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    bytes: u64,
    peak_bytes: u64,
}

/// A recording under way. Dropped before it is finished, it ends as soon as the storage lets it.
pub struct Recorder {
    name: String,
    progress: Arc<Progress>,
    error: Arc<RecordError>,
    thread: Option<JoinHandle<Written>>,
    writing: Thread,
    _signal: SignalGuard,
}

impl Recorder {
    /// Lays out the buffer and starts the writing thread, which waits for [`Recorder::begin`]. To be called before any
    /// priority is raised.
    pub fn start(file: RecordFile, plan: &HostPlan) -> Result<(Recorder, RecordInput), LinkError> {
        Recorder::start_with(file, plan, BUFFER_BYTES)
    }

    fn start_with(
        file: RecordFile,
        plan: &HostPlan,
        buffer_bytes: usize,
    ) -> Result<(Recorder, RecordInput), LinkError> {
        let (mut input, mut output) = RingBuffer::<u8>::new(buffer_bytes);
        // Every page is touched, so that none is fetched while the stream runs.
        let page = [0; 4096];
        while !input.push_partial_slice(&page).0.is_empty() {}
        if let Ok(all) = output.read_chunk(output.slots()) {
            all.commit_all();
        }
        let signal = SignalGuard::begin();
        let (progress, error) = <(Arc<Progress>, Arc<RecordError>)>::default();
        let name = file.name().to_owned();
        let writer = Writer {
            ring: output,
            file,
            progress: Arc::clone(&progress),
            error: Arc::clone(&error),
        };
        let pinned = plan.pin;
        let thread = std::thread::Builder::new()
            .name("record".into())
            .spawn(move || {
                if let Some(cpu) = pinned {
                    host::keep_off(cpu);
                }
                writer.run()
            })
            .map_err(|error| LinkError::from_io("cannot start the recording thread", &error))?;
        let recorder = Recorder {
            name,
            progress,
            error: Arc::clone(&error),
            writing: thread.thread().clone(),
            thread: Some(thread),
            _signal: signal,
        };
        let input = RecordInput { ring: input, error };
        Ok((recorder, input))
    }

    /// The point that is recorded begins.
    pub fn begin(&self) {
        self.progress.begun.store(true, Ordering::Release);
        self.writing.unpark();
    }

    /// Waits until all is written, or the storage has failed, or the user has ended the run and the storage takes
    /// nothing any more. `wait` is called now and then. The receiver must have ended.
    pub fn finish(
        mut self,
        tapped: Tapped,
        is_stopped: impl Fn() -> bool,
        mut wait: impl FnMut(),
    ) -> (Recording, io::Result<()>) {
        self.begin();
        let mut last = (
            self.progress.written.load(Ordering::Relaxed),
            Instant::now(),
        );
        while self
            .thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
        {
            std::thread::sleep(LOOK);
            wait();
            let written = self.progress.written.load(Ordering::Relaxed);
            if written != last.0 {
                last = (written, Instant::now());
            }
            if is_stopped() && last.1.elapsed() > PATIENCE {
                self.progress.give_up.store(true, Ordering::Relaxed);
                self.progress.writer.wake();
            }
        }
        let written = self.thread.take().map(JoinHandle::join);
        let (written, panicked) = match written {
            Some(Ok(written)) => (written, false),
            _ => (Written::default(), true),
        };
        let recording = Recording {
            file: self.name.clone(),
            bytes: written.bytes,
            missing_bytes: tapped.bytes.saturating_sub(written.bytes),
            buffer_bytes: BUFFER_BYTES as u64,
            peak_waiting_bytes: written.peak_bytes,
            waits: tapped.waits,
            waited_ns: tapped.waited_ns,
        };
        let failed = match panicked {
            true => Some(io::Error::other("the recording thread panicked")),
            false => self.error.io_error(),
        };
        (recording, failed.map_or(Ok(()), Err))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.progress.give_up.store(true, Ordering::Relaxed);
        self.begin();
        while !thread.is_finished() {
            self.progress.writer.wake();
            std::thread::sleep(NAP);
        }
        let _ = thread.join();
    }
}

/// The thread that writes.
struct Writer {
    ring: Consumer<u8>,
    file: RecordFile,
    progress: Arc<Progress>,
    error: Arc<RecordError>,
}

impl Writer {
    fn run(mut self) -> Written {
        let progress = Arc::clone(&self.progress);
        while !progress.begun.load(Ordering::Acquire) {
            std::thread::park();
        }
        progress.writer.here();
        let mut written = Written::default();
        if let Err(failure) = self.write_all(&mut written) {
            self.error.set(&failure);
        }
        progress.writer.gone();
        // From here on the receiver knows that nobody writes.
        drop(self.ring);
        if written.bytes == 0 {
            self.file.remove_if_empty();
        }
        written
    }

    /// Until the receiver has ended and all is written.
    fn write_all(&mut self, written: &mut Written) -> Result<(), Failure> {
        let mut napped = false;
        loop {
            if self.progress.give_up.load(Ordering::Relaxed) {
                return Ok(());
            }
            // In this order: what was put before the end is seen.
            let is_over = self.ring.is_abandoned();
            let waiting = self.ring.slots();
            if waiting == 0 && is_over {
                return Ok(());
            }
            if waiting == 0 || waiting < SMALL_BYTES && !napped && !is_over {
                napped = true;
                std::thread::sleep(NAP);
                continue;
            }
            napped = false;
            let Ok(chunk) = self.ring.read_chunk(waiting.min(WRITE_BYTES)) else {
                continue;
            };
            let done = match self.file.write(chunk.as_slices().0) {
                Ok(done) => done,
                Err(failure) if failure.error.kind() == io::ErrorKind::Interrupted => 0,
                Err(failure) => return Err(failure),
            };
            chunk.commit(0);
            // Nothing was taken out meanwhile, so no more ever waited since the last look.
            written.peak_bytes = written.peak_bytes.max(self.ring.slots() as u64);
            if let Ok(chunk) = self.ring.read_chunk(done) {
                chunk.commit_all();
            }
            written.bytes += done as u64;
            self.progress
                .written
                .store(written.bytes, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
