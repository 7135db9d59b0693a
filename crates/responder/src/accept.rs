//! Gives each peer that connects a thread, up to a bound.

use super::event::{Reported, ServeEvent};
use super::serve::Serve;
use super::stream;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use wiregauge_link::host::Clock;
use wiregauge_link::{AsSocket, LinkError, Socket, accepted, borrowed};

const LOOK: Duration = Duration::from_millis(100);

/// Gives each peer of the listener a thread until the stop flag is raised; beyond the bound it is turned away.
pub(crate) fn accept_all(
    what: &Serve,
    listener: &impl AsSocket,
    accept: impl Fn() -> io::Result<(Socket, String)>,
    clock: Clock,
    stop: &AtomicBool,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> io::Result<()> {
    let clients = AtomicUsize::new(0);
    let mut reported = Reported::default();
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            wiregauge_link::wait_readable(borrowed(listener), LOOK)?;
            let (fd, peer) = match accept() {
                Ok(accepted) => accepted,
                // Another signal, or a client that left before it was accepted.
                Err(error) if is_of_one_client(&error) => continue,
                // Without descriptors or memory the client stays queued, and the listener readable.
                Err(error) => {
                    if reported.is_first(&error) {
                        on_event(ServeEvent::CannotAccept(&error));
                    }
                    std::thread::sleep(LOOK);
                    continue;
                }
            };
            if clients.load(Ordering::Relaxed) >= what.max_clients {
                on_event(ServeEvent::TurnedAway(&peer));
                continue;
            }
            clients.fetch_add(1, Ordering::Relaxed);
            let clients = &clients;
            let served = std::thread::Builder::new().spawn_scoped(scope, move || {
                on_event(ServeEvent::Came(&peer));
                // How a client leaves is no failure of the responder.
                if let Ok(mut link) = accepted(fd) {
                    let _ = stream::serve_one(&mut link, &what.config, clock, None, stop);
                }
                clients.fetch_sub(1, Ordering::Relaxed);
                on_event(ServeEvent::Left(&peer));
            });
            if served.is_err() {
                clients.fetch_sub(1, Ordering::Relaxed);
            }
        }
        Ok(())
    })
}

/// True for what accept(2) says of one connection, or of none: the next one can be accepted at once.
fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::WouldBlock | Kind::Interrupted | Kind::ConnectionAborted
    )
}

/// What the system said while an address was served.
pub(crate) fn failed(address: &str, error: &io::Error) -> LinkError {
    LinkError::from_io(format!("cannot serve {address}"), error)
}
