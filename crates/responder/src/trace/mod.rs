//! Every packet of a modelled bus, written to a capture file. The thread that serves hands over what happened;
//! another one composes the packets and writes them.

mod composer;
#[cfg(test)]
mod composer_tests;
mod counter;
mod recorder;
mod wire;

pub use composer::{Endpoint, Event};
pub use counter::{Counter, DeviceCounter};
pub use recorder::{Recorder, Request, address_of};

use crate::bus::BusTiming;
use composer::Composer;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};
use wire::Wire;
use wiregauge_capture::Writer;
use wiregauge_link::host::Clock;
use wiregauge_link::limits::Bus;
use wiregauge_link::{LinkError, LinkErrorKind};

/// Events that wait for the writer at most; the responder waits then.
const WAITING: usize = 1 << 16;

/// Takes what happens on the bus.
#[derive(Clone, Debug)]
pub struct Trace {
    events: SyncSender<Event>,
    is_broken: Arc<AtomicBool>,
}

impl Trace {
    /// Adds what happened.
    pub fn add(&self, event: Event) {
        // The writer stops when the file fails.
        if self.events.send(event).is_err() {
            self.is_broken.store(true, Ordering::Relaxed);
        }
    }

    /// True if the file takes no more; [`TraceFile::finish`] says why.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }
}

/// A capture file that is being written.
#[derive(Debug)]
pub struct TraceFile {
    trace: Trace,
    writer: JoinHandle<io::Result<()>>,
    file: String,
}

impl TraceFile {
    /// Begins a file; an older one of that name is replaced.
    ///
    /// # Errors
    /// What the system says of the file.
    pub fn create(
        path: &Path,
        bus: Bus,
        timing: &BusTiming,
        clock: Clock,
    ) -> Result<TraceFile, LinkError> {
        let name = path.display().to_string();
        let failed = |error: io::Error| LinkError::from_io(format!("cannot write {name}"), &error);
        let file = File::create(path).map_err(|error| {
            let hint = "is there such a directory, and may you write to it?";
            failed(error).hint(hint)
        })?;
        let wire = Wire::of(bus, timing);
        let writer = Writer::new(BufWriter::new(file), wire.speed).map_err(failed)?;
        let composer = Composer::new(wire, timing.frame_ns);
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ns = since_epoch.map_or(0, |time| time.as_nanos() as u64);
        let zero_ns = now_ns.saturating_sub(clock.now());
        let (events, received) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("trace".into());
        let writer = thread
            .spawn(move || write_all(&received, composer, writer, zero_ns))
            .map_err(failed)?;
        Ok(TraceFile {
            trace: Trace {
                events,
                is_broken: Arc::default(),
            },
            writer,
            file: name.clone(),
        })
    }

    /// What events are added to.
    pub fn trace(&self) -> Trace {
        self.trace.clone()
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// What the system says of the file.
    pub fn finish(self) -> Result<(), LinkError> {
        self.trace.add(Event::End);
        let doing = format!("cannot write {}", self.file);
        match self.writer.join() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(LinkError::from_io(doing, &error)
                .hint("the capture is incomplete: write it where there is room")),
            Err(_) => Err(LinkError::new(
                LinkErrorKind::Io,
                doing,
                "its writer ended by itself",
            )),
        }
    }
}

fn write_all<W: Write>(
    events: &Receiver<Event>,
    mut composer: Composer,
    mut writer: Writer<W>,
    zero_ns: u64,
) -> io::Result<()> {
    let mut write = |at_ns: u64, bytes: &[u8]| writer.packet(zero_ns + at_ns, bytes);
    while let Ok(event) = events.recv() {
        if matches!(event, Event::End) {
            break;
        }
        composer.take(event, &mut write)?;
    }
    composer.finish(&mut write)?;
    writer.into_inner().flush()
}
