//! The errors of an open device.

use std::fmt::Write;
use std::io;
use std::time::Duration;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_session::{Framing, Malformed, Messages, Outcome};
use wiregauge_wire::Status;

/// Bytes of what came that are shown.
const SHOWN: usize = 16;

/// Bytes as a person reads them.
fn shown(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes.iter().take(SHOWN) {
        let _ = write!(text, "{byte:02x} ");
    }
    text.truncate(text.trim_end().len());
    text
}

/// The system reported an error.
pub fn link_failed(doing: &str, address: &str, error: &io::Error) -> LinkError {
    let error = LinkError::from_io(format!("{doing} {address}"), error);
    match error.kind() {
        LinkErrorKind::Disconnected => {
            error.hint("was the device unplugged or reset, or its program restarted? open it again")
        }
        LinkErrorKind::Unreachable => error.hint(format!(
            "is the responder running? on the device: wiregauge serve {address}"
        )),
        _ => error,
    }
}

/// No whole reply within the timeout; `received` is what there is of it.
pub fn timeout(
    doing: &str,
    address: &str,
    timeout: Duration,
    received: &[u8],
    codec: &Messages,
) -> LinkError {
    let problem = match received.len() {
        0 => format!("no reply within {timeout:?}"),
        count => format!(
            "incomplete reply within {timeout:?}: received {count} bytes, beginning {}",
            shown(received)
        ),
    };
    let hint = match codec {
        Messages::Foreign(splitter) if !received.is_empty() => match splitter.framing() {
            Framing::Terminator { .. } => "does the device send this terminator?",
            Framing::LengthPrefix(_) => "does the device send this length field?",
            _ => "is the reply size correct?",
        },
        Messages::Text(queries) if !received.is_empty() => match queries.is_scpi() {
            true => "does the reply end with a newline? serial line: check the baud rate",
            false => "does the reply end as the device was opened for?",
        },
        Messages::Text(queries) if queries.is_scpi() => {
            "does the instrument know this query? read SYST:ERR?; else use a longer timeout"
        }
        Messages::Modbus(_) => {
            "a device that does not have the unit is silent: check it; serial line: check baud rate and parity"
        }
        _ => "is the device's program still running? use a longer timeout",
    };
    LinkError::new(
        LinkErrorKind::Timeout,
        format!("{doing} {address}"),
        problem,
    )
    .hint(hint)
}

/// The device stopped reading; `rest`: bytes left of a request that was begun.
pub fn send_timeout(
    doing: &str,
    address: &str,
    timeout: Duration,
    rest: Option<usize>,
) -> LinkError {
    let problem = match rest {
        None => format!("send timed out after {timeout:?}"),
        Some(rest) => {
            format!("send timed out after {timeout:?} with {rest} bytes of a request unsent")
        }
    };
    LinkError::new(
        LinkErrorKind::Timeout,
        format!("{doing} {address}"),
        problem,
    )
    .hint("is the device's program still reading?")
}

/// An exchange was answered, but not rightly.
pub fn failed(doing: &str, address: &str, outcome: Outcome) -> LinkError {
    let error = |problem: &str| {
        LinkError::new(
            LinkErrorKind::Protocol,
            format!("{doing} {address}"),
            problem,
        )
    };
    let cable = "serial line: use a lower baud rate, flow control or a better cable";
    match outcome {
        Outcome::RequestDamaged => {
            error("the device discarded the request: its checksum was wrong").hint(cable)
        }
        Outcome::Refused(Status::Unproven) => {
            error("the device discarded the request: it no longer knows this host's address")
                .hint("repeat the call: it sends HELLO first")
        }
        Outcome::Refused(Status::TooLarge) => error("the device rejected the request: too large")
            .hint("use a smaller request or reply"),
        Outcome::Refused(Status::Version) => {
            error("the device does not support this version of the protocol")
                .hint("use the same version of wiregauge on both ends")
        }
        // A device without messages is sent none: this one has a program that refuses what it was sent.
        Outcome::Refused(_) => {
            error("the device rejected the request: its program does not accept this payload")
                .hint("check its size and values")
        }
        _ => error("the reply is corrupted: its checksum is wrong").hint(cable),
    }
}

/// A Modbus device answered, but not as requested.
pub fn modbus(doing: &str, address: &str, problem: &str, exception: Option<u8>) -> LinkError {
    let doing = format!("{doing} {address}");
    let Some(code) = exception else {
        let hint =
            "serial line: check baud rate and parity, and that each unit has its own address";
        return LinkError::new(LinkErrorKind::Protocol, doing, problem).hint(hint);
    };
    let hint = match code {
        1 => "does the device have this function?",
        2 => "does the device have all of these addresses? they begin at 0",
        3 => "does the device take this count and these values?",
        5 | 6 => "the device is busy: repeat the call later",
        10 | 11 => "is the unit connected to the gateway, and switched on?",
        _ => "see the manual of the device",
    };
    LinkError::new(LinkErrorKind::Exception, doing, problem)
        .hint(hint)
        .exception(code)
}

/// A reply does not fit its row.
pub fn too_long(doing: &str, address: &str, n: usize, length: usize, row: usize) -> LinkError {
    LinkError::new(
        LinkErrorKind::Protocol,
        format!("{doing} {address}"),
        format!("the reply to request {n} has {length} B, but a row has {row} B"),
    )
    .hint("use longer rows")
}

/// What was received is no message of the framing.
pub fn malformed(doing: &str, address: &str, malformed: Malformed, received: &[u8]) -> LinkError {
    LinkError::new(
        LinkErrorKind::Protocol,
        format!("{doing} {address}"),
        format!("{malformed}; it begins {}", shown(received)),
    )
    .hint("does the device use this framing? serial line: check the baud rate")
}

/// The device keeps sending unsolicited data.
pub fn never_quiet(doing: &str, address: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Protocol,
        format!("{doing} {address}"),
        "the device keeps sending unsolicited data, so replies cannot be recognised",
    )
    .hint("does it send by itself? read its stream, or open it again")
}

/// The caller interrupted the call.
pub fn interrupted(doing: &str, address: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Interrupted,
        format!("{doing} {address}"),
        "interrupted",
    )
}

/// The device was closed.
pub fn closed(doing: &str, address: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Closed,
        format!("{doing} {address}"),
        "the device is closed",
    )
    .hint("open it again")
}

/// This process was forked from the one that opened the device.
pub fn forked(doing: &str, address: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Closed,
        format!("{doing} {address}"),
        "the device was opened before fork() and belongs to the parent process",
    )
    .hint("open it in the process that uses it (Python: start method `spawn`, or open it in the worker)")
}

/// The arguments of a call cannot be used.
pub fn usage(doing: &str, address: &str, problem: impl Into<String>, hint: &str) -> LinkError {
    LinkError::new(LinkErrorKind::Usage, format!("{doing} {address}"), problem).hint(hint)
}
