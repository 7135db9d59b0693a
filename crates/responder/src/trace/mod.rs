//! Every packet of a modelled bus, written to a capture file. The thread that serves hands over what happened;
//! another one composes the packets and writes them.

mod composer;
#[cfg(test)]
mod composer_tests;
mod wire;

pub use composer::{Endpoint, Event};

use crate::bus::BusTiming;
use composer::Composer;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
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

/// A capture file that is being written.
#[derive(Debug)]
pub struct Trace {
    events: Option<SyncSender<Event>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    file: String,
}

impl Trace {
    /// Begins a file; an older one of that name is replaced.
    ///
    /// # Errors
    /// What the system says of the file.
    pub fn create(
        path: &Path,
        bus: Bus,
        timing: &BusTiming,
        clock: Clock,
    ) -> Result<Trace, LinkError> {
        let name = path.display().to_string();
        let failed = |error: io::Error| LinkError::from_io(format!("cannot write {name}"), &error);
        let file = File::create(path).map_err(failed)?;
        let wire = Wire::of(bus, timing);
        let writer = Writer::new(BufWriter::new(file), wire.speed).map_err(failed)?;
        let composer = Composer::new(wire, timing.frame_ns);
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        let zero_ns = since_epoch.map_or(0, |time| time.as_nanos() as u64) - clock.now();
        let (events, received) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("trace".into());
        let writer = thread
            .spawn(move || write_all(&received, composer, writer, zero_ns))
            .map_err(failed)?;
        Ok(Trace {
            events: Some(events),
            writer: Some(writer),
            file: name.clone(),
        })
    }

    /// Adds what happened.
    pub fn add(&self, event: Event) {
        // The writer stops when the file fails, which `finish` reports.
        if let Some(events) = &self.events {
            let _ = events.send(event);
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// What the system says of the file.
    pub fn finish(mut self) -> Result<(), LinkError> {
        self.events = None;
        let ended = self.writer.take().map(JoinHandle::join);
        match ended {
            Some(Ok(Err(error))) => Err(LinkError::from_io(
                format!("cannot write {}", self.file),
                &error,
            )),
            Some(Err(_)) => Err(LinkError::new(
                LinkErrorKind::Io,
                format!("cannot write {}", self.file),
                "its writer ended by itself",
            )),
            Some(Ok(Ok(()))) | None => Ok(()),
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.events = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
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
        composer.take(event, &mut write)?;
    }
    composer.finish(&mut write)?;
    writer.into_inner().flush()
}
