//! What a device says to a program when it cannot do as it is told.

use super::framing::{Framing, Wrong};
use super::speech::{Fate, Speech};
use crate::error::{LinkError, LinkErrorKind};
use std::fmt::Write;
use std::io;
use std::time::Duration;
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
pub fn broken(doing: &str, address: &str, error: &io::Error) -> LinkError {
    let error = LinkError::from_io(format!("{doing} {address}"), error);
    match error.kind() {
        LinkErrorKind::Vanished => {
            error.hint("was the device unplugged or reset, or its program restarted? open it again")
        }
        LinkErrorKind::Unreachable => {
            error.hint("is the responder running? on the device: wiregauge serve ADDRESS")
        }
        _ => error,
    }
}

/// No whole reply came in time; `came` is what there is of it.
pub fn silent(
    doing: &str,
    address: &str,
    timeout: Duration,
    came: &[u8],
    speech: &Speech,
) -> LinkError {
    let said = match came.len() {
        0 => format!("no reply within {timeout:?}"),
        count => format!(
            "no whole reply within {timeout:?}: {count} bytes came, beginning {}",
            shown(came)
        ),
    };
    let hint = match speech {
        Speech::Foreign(splitter) if !came.is_empty() => match splitter.framing() {
            Framing::Terminator { .. } => "is this the terminator that the device sends?",
            Framing::LengthPrefix(_) => "is this the length field that the device sends?",
            _ => "is the reply as long as was said?",
        },
        _ => "is its program still running? a longer timeout",
    };
    LinkError::new(LinkErrorKind::Silent, format!("{doing} {address}"), said).hint(hint)
}

/// The device stopped reading.
pub fn takes_nothing(
    doing: &str,
    address: &str,
    timeout: Duration,
    (begun, left): (usize, usize),
) -> LinkError {
    let said = match begun {
        0 => format!("the device takes nothing for {timeout:?}"),
        _ => format!(
            "the device takes nothing for {timeout:?}, {left} bytes before the end of a request"
        ),
    };
    LinkError::new(LinkErrorKind::Silent, format!("{doing} {address}"), said)
        .hint("is its program still reading?")
}

/// The exchange came to no good end.
pub fn failed(doing: &str, address: &str, fate: Fate) -> LinkError {
    let rubbish =
        |said: &str| LinkError::new(LinkErrorKind::Rubbish, format!("{doing} {address}"), said);
    let cable = "for a serial line: a lower baud rate, flow control, a better cable";
    match fate {
        Fate::Answered => rubbish("it was answered"),
        Fate::Damaged => {
            rubbish("the reply was damaged on its way: its check is wrong").hint(cable)
        }
        Fate::RequestDamaged => {
            rubbish("the request was damaged on its way; the device did not act on it").hint(cable)
        }
        Fate::Refused(Status::Unproven) => LinkError::new(
            LinkErrorKind::Rubbish,
            format!("{doing} {address}"),
            "the device no longer knows this host's address; the request was not acted on",
        )
        .hint("ask again: the next call says HELLO first"),
        Fate::Refused(Status::TooLarge) => rubbish("the device says that it is too large")
            .hint("a smaller request, or a smaller reply"),
        Fate::Refused(status) => rubbish(match status {
            Status::Version => "the device does not speak this version of the protocol",
            _ => "the device takes no messages",
        })
        .hint("the same version of wiregauge at both ends"),
    }
}

/// A reply does not fit its row.
pub fn too_long(doing: &str, address: &str, n: usize, length: usize, row: usize) -> LinkError {
    LinkError::new(
        LinkErrorKind::Rubbish,
        format!("{doing} {address}"),
        format!("the reply to request {n} has {length} B, a row {row} B"),
    )
    .hint("longer rows")
}

/// What came is no message of the framing.
pub fn wrong(doing: &str, address: &str, wrong: Wrong, came: &[u8]) -> LinkError {
    LinkError::new(
        LinkErrorKind::Rubbish,
        format!("{doing} {address}"),
        format!("{wrong}; it begins {}", shown(came)),
    )
    .hint("is this the framing that the device speaks? for a serial line: the right baud rate")
}

/// The device sends on and on what nobody asked for.
pub fn never_silent(doing: &str, address: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Rubbish,
        format!("{doing} {address}"),
        "after a reply that did not come, the device sends without a pause, so that no reply can be told from it",
    )
    .hint("does it send by itself? then read its stream, or open it again")
}

/// The caller asked for an end.
pub fn interrupted(doing: &str, address: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Interrupted,
        format!("{doing} {address}"),
        "interrupted",
    )
}

/// It was closed.
pub fn closed(doing: &str, address: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Closed,
        format!("{doing} {address}"),
        "the device was closed",
    )
    .hint("open it again")
}

/// This process was forked from the one that opened it.
pub fn forked(doing: &str, address: &str) -> LinkError {
    LinkError::new(
        LinkErrorKind::Closed,
        format!("{doing} {address}"),
        "the device was opened before this process was forked, and belongs to the parent",
    )
    .hint("open it in the process that uses it (in Python: start method `spawn`, or open it in the worker)")
}

/// What was asked for makes no sense.
pub fn usage(doing: &str, address: &str, said: impl Into<String>, hint: &str) -> LinkError {
    LinkError::new(LinkErrorKind::Usage, format!("{doing} {address}"), said).hint(hint)
}
