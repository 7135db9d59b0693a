//! Unix stream sockets: the wire between two programs on one host.

use super::{Kind, platform};

/// The kind.
pub static KIND: Kind = Kind {
    scheme: "unix",
    about: "a Unix stream socket",
    example: "unix:///tmp/device.sock",
    datagram: false,
    max_bytes: wiregauge_wire::MAX_FRAME,
    check,
    open: platform::unix_socket::open,
    floor: platform::unix_socket::FLOOR,
    helped: false,
    separate: false,
    one_request: None,
    no_stream: None,
};

fn check(rest: &str) -> Result<(), String> {
    match rest.len() {
        0 => Err("it has no path".into()),
        // sun_path holds 108 bytes with its closing NUL (unix(7)).
        108.. => Err("a socket path has at most 107 bytes".into()),
        _ => Ok(()),
    }
}
