//! The virtual device in a thread of this process.

use super::body::Body;
use super::memory::{Header, RingMemory};
use super::mover;
use super::shared::{Asked, wish};
use crate::platform;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use wiregauge_link::{LinkError, LinkErrorKind};

/// The thread; it ends when this is dropped.
pub(super) struct Thread {
    header: Arc<Header>,
    /// By which it is given its rings.
    give: mpsc::Sender<Arc<RingMemory>>,
    thread: Option<JoinHandle<()>>,
}

impl Thread {
    /// Starts it, of the priority of the calling thread at first.
    pub(super) fn start(asked: Asked) -> Result<Thread, LinkError> {
        let failed =
            |error: &io::Error| LinkError::from_io("cannot start the device's thread", error);
        let header = Arc::new(Header::anonymous().map_err(|error| failed(&error))?);
        header.ask(asked);
        let (give, given) = mpsc::channel::<Arc<RingMemory>>();
        let shared = Arc::clone(&header);
        let thread = std::thread::Builder::new()
            .name("device".into())
            .spawn(move || {
                mover::take_place(&shared, asked);
                mover::serve(&shared, |_point| {
                    let newest = given.try_iter().last();
                    newest.ok_or_else(|| io::Error::from_raw_os_error(platform::INVALID))
                });
            })
            .map_err(|error| failed(&error))?;
        Ok(Thread {
            header,
            give,
            thread: Some(thread),
        })
    }
}

impl Body for Thread {
    fn header(&self) -> Arc<Header> {
        Arc::clone(&self.header)
    }

    fn rings(&mut self, ring_bytes: u64) -> Result<Arc<RingMemory>, LinkError> {
        let rings = RingMemory::anonymous(ring_bytes).map_err(|error| {
            LinkError::from_io("cannot allocate the virtual device's rings", &error)
                .hint("use a smaller --ring")
        })?;
        Ok(Arc::new(rings))
    }

    fn lend(&mut self, rings: &Arc<RingMemory>) {
        // If the thread is gone, the next look tells.
        let _ = self.give.send(Arc::clone(rings));
    }

    fn look(&mut self) -> Result<(), LinkError> {
        match self.thread.as_ref().is_some_and(|t| !t.is_finished()) {
            true => Ok(()),
            false => {
                let doing = "cannot wait for the virtual device";
                let said = "its thread has ended";
                Err(LinkError::new(LinkErrorKind::Disconnected, doing, said))
            }
        }
    }

    fn what(&self) -> String {
        "virtual:thread: a thread of this process moves the samples".into()
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.header.wish.store(wish::QUIT, Ordering::Release);
        self.header.device_event.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
