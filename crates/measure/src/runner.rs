//! The threads of a run, whatever its kind: one that measures, and the caller's, which takes what was
//! measured and looks after the other. They speak through a channel, and only between points.

use crate::sink::RunError;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use wiregauge_link::host::{self, Interrupter, Load};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::HostPlan;

/// How often the caller's thread looks after a point that runs.
const LOOK: Duration = Duration::from_millis(50);

/// What to look for if a device has closed the link.
pub(crate) const DISCONNECTED: &str =
    "was the device unplugged or reset, or its program restarted?";

/// What to try if it did so before it answered anything.
pub(crate) const CLOSED_AT_ONCE: &str = "a responder closes the connections of more clients than it serves at once: 64, or --max-clients of wiregauge \
     serve; many devices serve one";

/// The measuring thread's end of the conversation.
pub struct Measurer<W, P> {
    reports: mpsc::Sender<W>,
    may_go: mpsc::Receiver<P>,
}

impl<W, P> Measurer<W, P> {
    /// Tells the caller's thread.
    pub fn send(&self, word: W) {
        // Nobody hears it if the run is over; `may_go` tells.
        let _ = self.reports.send(word);
    }

    /// Waits until the next point may begin, and which that is; `None` if none will.
    pub fn next(&self) -> Option<P> {
        self.may_go.recv().ok()
    }
}

/// The end of the caller's thread.
pub struct Watcher<'a, W, P> {
    received: mpsc::Receiver<W>,
    go: mpsc::Sender<P>,
    flags: StopFlags<'a>,
}

/// How a run is ended and its measuring thread woken.
#[derive(Clone, Copy)]
pub struct StopFlags<'a> {
    /// The user's wish to end.
    pub stop: &'a AtomicBool,
    /// The measuring thread looks at this one.
    pub halt: &'a AtomicBool,
    /// Where it may sleep.
    pub sleeper: Option<&'a Interrupter>,
}

impl<W, P> Watcher<'_, W, P> {
    /// Waits a moment for a word. `Ok(None)` if none came, `Err` if none will ever come.
    pub fn receive(&self) -> Result<Option<W>, Gone> {
        if self.is_stopped() {
            self.flags.halt();
        }
        match self.received.recv_timeout(LOOK) {
            Ok(word) => Ok(Some(word)),
            Err(mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(Gone),
        }
    }

    /// Lets this point begin.
    pub fn go(&self, point: P) {
        let _ = self.go.send(point);
    }

    /// True once the user wants it to end.
    pub fn is_stopped(&self) -> bool {
        self.flags.stop.load(Ordering::Relaxed)
    }
}

/// The measuring thread has ended.
pub struct Gone;

impl StopFlags<'_> {
    fn halt(&self) {
        self.halt.store(true, Ordering::Relaxed);
        if let Some(sleeper) = self.sleeper {
            sleeper.wake();
        }
    }
}

/// Runs `measure` in a thread of that name and `take` in this one. Returns whether the run came to
/// its end (true) or was stopped by the flag (false).
pub fn run<W: Send, P: Send>(
    name: &str,
    plan: &HostPlan,
    flags: StopFlags<'_>,
    measure: impl FnOnce(&Measurer<W, P>) -> Result<(), LinkError> + Send,
    take: impl FnOnce(&Watcher<'_, W, P>) -> io::Result<()>,
) -> Result<bool, RunError> {
    std::thread::scope(|scope| {
        // The load's threads are made before any priority is raised.
        let load = Load::start(plan.load);
        let (reports, received) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        let measuring = std::thread::Builder::new()
            .name(name.into())
            .spawn_scoped(scope, move || {
                if let Some(sleeper) = flags.sleeper {
                    sleeper.here();
                }
                let measured = measure(&Measurer { reports, may_go });
                if let Some(sleeper) = flags.sleeper {
                    sleeper.gone();
                }
                measured
            })
            .map_err(|error| LinkError::from_io("cannot start the measuring thread", &error))?;
        if let Some(cpu) = plan.pin {
            host::keep_off(cpu);
        }
        let watcher = Watcher {
            received,
            go,
            flags,
        };
        let outcome = take(&watcher);
        drop(watcher);
        flags.halt.store(true, Ordering::Relaxed);
        while flags.sleeper.is_some() && !measuring.is_finished() {
            flags.halt();
            std::thread::sleep(Duration::from_millis(1));
        }
        let measured = measuring.join().unwrap_or_else(|_| {
            Err(LinkError::new(
                LinkErrorKind::Io,
                "measuring",
                "the measuring thread panicked",
            ))
        });
        drop(load);
        match (outcome, measured) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Err(error)) => Err(error.into()),
            (Ok(()), Ok(())) => Ok(!flags.stop.load(Ordering::Relaxed)),
        }
    })
}
