//! Serves on a Unix socket.

use crate::accept::{accept_all, failed};
use crate::event::ServeEvent;
use crate::serve::Serve;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, LinkErrorKind, Socket};

/// Serves until the stop flag is raised, and removes the socket's file.
pub(crate) fn serve_unix(
    what: &Serve,
    path: &Path,
    clock: Clock,
    stop: &AtomicBool,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    let address = format!("unix://{}", path.display());
    // A socket file outlives a responder that was killed; one that nobody answers is removed. A
    // plain file refuses a connection just the same and must stay.
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    if is_socket
        && let Err(error) = UnixStream::connect(path)
        && error.kind() == io::ErrorKind::ConnectionRefused
    {
        let _ = std::fs::remove_file(path);
    }
    let listener = UnixListener::bind(path).map_err(|error| {
        let explained = failed(&address, &error);
        match explained.kind() {
            LinkErrorKind::Busy => explained.hint(match is_socket {
                true => "another responder uses it: use another path",
                false => "a file that is not a socket exists there: use another path",
            }),
            _ => explained,
        }
    })?;
    on_event(ServeEvent::Ready {
        address: &address,
        remote: false,
    });
    listener
        .set_nonblocking(true)
        .map_err(|e| failed(&address, &e))?;
    let accept = || {
        Ok((
            Socket::from(listener.accept()?.0),
            "a local program".to_string(),
        ))
    };
    let served = accept_all(what, &listener, accept, clock, stop, on_event);
    let _ = std::fs::remove_file(path);
    served.map_err(|e| failed(&address, &e))
}
