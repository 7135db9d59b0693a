//! The threads of a run, whatever its kind: one that measures, and the caller's, which takes what was
//! measured and looks after the other. They speak through a channel, and only between points.

use crate::sink::RunError;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use wiregauge_link::host::{self, Load, Sleeper};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::HostPlan;

/// How often the caller's thread looks after a point that runs.
const LOOK: Duration = Duration::from_millis(50);

/// The measuring thread's end of the conversation.
pub struct Measurer<W, P> {
    say: mpsc::Sender<W>,
    may_go: mpsc::Receiver<P>,
}

impl<W, P> Measurer<W, P> {
    /// Tells the caller's thread.
    pub fn say(&self, word: W) {
        // Nobody hears it if the run is over; `may_go` tells.
        let _ = self.say.send(word);
    }

    /// Waits until the next point may begin, and which that is; `None` if none will.
    pub fn next(&self) -> Option<P> {
        self.may_go.recv().ok()
    }
}

/// The end of the caller's thread.
pub struct Watcher<'a, W, P> {
    words: mpsc::Receiver<W>,
    go: mpsc::Sender<P>,
    signs: Signs<'a>,
}

/// How a run is ended and its measuring thread woken.
#[derive(Clone, Copy)]
pub struct Signs<'a> {
    /// The user's wish to end.
    pub stop: &'a AtomicBool,
    /// The measuring thread looks at this one.
    pub halt: &'a AtomicBool,
    /// Where it may sleep.
    pub sleeper: Option<&'a Sleeper>,
}

impl<W, P> Watcher<'_, W, P> {
    /// Waits a moment for a word. `Ok(None)` if none came, `Err` if none will ever come.
    pub fn listen(&self) -> Result<Option<W>, Gone> {
        if self.is_stopped() {
            self.signs.halt();
        }
        match self.words.recv_timeout(LOOK) {
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
        self.signs.stop.load(Ordering::Relaxed)
    }
}

/// The measuring thread has ended.
pub struct Gone;

impl Signs<'_> {
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
    signs: Signs<'_>,
    measure: impl FnOnce(&Measurer<W, P>) -> Result<(), LinkError> + Send,
    take: impl FnOnce(&Watcher<'_, W, P>) -> io::Result<()>,
) -> Result<bool, RunError> {
    std::thread::scope(|scope| {
        // The load's threads are made before any priority is raised.
        let load = Load::start(plan.load);
        let (say, words) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        let measuring = std::thread::Builder::new()
            .name(name.into())
            .spawn_scoped(scope, move || {
                if let Some(sleeper) = signs.sleeper {
                    sleeper.here();
                }
                let measured = measure(&Measurer { say, may_go });
                if let Some(sleeper) = signs.sleeper {
                    sleeper.gone();
                }
                measured
            })
            .map_err(|error| LinkError::from_io("cannot start the measuring thread", &error))?;
        if let Some(cpu) = plan.pin {
            host::keep_off(cpu);
        }
        let watcher = Watcher { words, go, signs };
        let outcome = take(&watcher);
        drop(watcher);
        signs.halt.store(true, Ordering::Relaxed);
        while signs.sleeper.is_some() && !measuring.is_finished() {
            signs.halt();
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
            (Ok(()), Ok(())) => Ok(!signs.stop.load(Ordering::Relaxed)),
        }
    })
}
