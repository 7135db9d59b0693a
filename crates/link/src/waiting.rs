//! What a link waits for, and how long.

use std::io;
use std::time::{Duration, Instant};

/// How long a sleep may last before it looks up, so that a stop is heeded.
pub const MAX_WAIT: Duration = Duration::from_millis(100);

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// There is something to receive.
    Readable,
    /// More can be sent.
    Writable,
    /// One of both.
    Either,
}

impl Ready {
    /// Something to receive, or (with `or_writable`) that more can be sent.
    #[inline]
    pub fn readable_or(or_writable: bool) -> Ready {
        match or_writable {
            true => Ready::Either,
            false => Ready::Readable,
        }
    }
}

/// How long a connect that has begun may still wait: at most [`MAX_WAIT`], so that an interruption is
/// heard.
pub struct Connecting {
    begun: Instant,
    timeout: Duration,
    receive_timeout: Option<Duration>,
}

impl Connecting {
    /// A connect that has failed after the timeout; without a receive timeout signals end each of its waits.
    pub fn begin(timeout: Duration, receive_timeout: Option<Duration>) -> Connecting {
        Connecting {
            begun: Instant::now(),
            timeout,
            receive_timeout,
        }
    }

    /// How long the first wait may last; `None` where a signal ends it.
    pub fn first_wait(&self) -> Option<Duration> {
        let at_most = self.timeout.clamp(Duration::from_micros(1), MAX_WAIT);
        self.receive_timeout.map(|_| at_most)
    }

    /// The next wait; an error once the time is over, or `is_interrupted` says so.
    pub fn next_wait(&self, is_interrupted: &mut dyn FnMut() -> bool) -> io::Result<Duration> {
        if is_interrupted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match self.timeout.checked_sub(self.begun.elapsed()) {
            Some(left) if !left.is_zero() => Ok(left.min(MAX_WAIT)),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}
