//! Serial lines: any serial port, tty or pseudo-terminal, for one user, put back as it was.

use super::{Kind, platform};

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "serial",
    about: "a serial line, USB-CDC port or pseudo-terminal",
    example: platform::serial::EXAMPLE,
    datagram: false,
    max_bytes: wiregauge_wire::MAX_FRAME,
    check: |rest| {
        if rest.is_empty() {
            Err("it has no path".into())
        } else {
            Ok(())
        }
    },
    open: platform::serial::open,
    floor: platform::serial::FLOOR,
    helped: false,
    separate: false,
    one_request: None,
    no_stream: None,
};
