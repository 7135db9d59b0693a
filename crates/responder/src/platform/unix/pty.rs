//! Serves on a pseudo-terminal made for this.

use crate::accept::failed;
use crate::event::ServeEvent;
use crate::serve::Serve;
use crate::stream;
use crate::trace::Trace;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use wiregauge_link::host::Clock;
use wiregauge_link::{LinkError, PtyMaster};

/// Serves until the stop flag is raised; `link_path` then names the tty, and is removed at the end.
pub(crate) fn serve_pty(
    what: &Serve,
    link_path: Option<&Path>,
    clock: Clock,
    trace: Option<Trace>,
    stop: &AtomicBool,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    let mut master = PtyMaster::open().map_err(|e| failed("a pseudo-terminal", &e))?;
    let name = match link_path {
        None => master.path().to_path_buf(),
        Some(link) => {
            // Only a link of an earlier responder is replaced, never a file.
            if link.is_symlink() {
                let _ = std::fs::remove_file(link);
            }
            std::os::unix::fs::symlink(master.path(), link).map_err(|error| {
                failed(
                    &format!("a pseudo-terminal named {}", link.display()),
                    &error,
                )
                .hint("use another name, or remove the existing file")
            })?;
            link.to_path_buf()
        }
    };
    let address = format!("serial://{}", name.display());
    on_event(ServeEvent::Ready {
        address: &address,
        remote: false,
    });
    let served = stream::serve_one(&mut master, &what.config, clock, trace, stop);
    if let Some(link) = link_path {
        let _ = std::fs::remove_file(link);
    }
    served.map_err(|e| failed(&address, &e))
}
