//! What the measuring loop says when it cannot go on.

use crate::error::{LinkError, LinkErrorKind};
use std::io;
use std::time::Duration;
use wiregauge_record::{Connect, Plan, Point};

/// The system reported an error while so many exchanges had been started.
pub fn broken(plan: &Plan, started: u64, error: &io::Error) -> LinkError {
    let doing = format!(
        "exchange {} with {}",
        started.saturating_sub(1),
        plan.address
    );
    let error = LinkError::from_io(doing, error);
    match error.kind() {
        LinkErrorKind::Vanished => {
            error.hint("was the device unplugged or reset, or its program restarted?")
        }
        LinkErrorKind::Unreachable => {
            error.hint("is the responder running? on the device: wiregauge serve ADDRESS")
        }
        _ => error,
    }
}

/// So many exchanges in a row were not answered; `trouble` is what the system said of one.
pub fn silent(
    plan: &Plan,
    point: Point,
    in_a_row: u64,
    trouble: Option<&io::Error>,
    answered_once: bool,
) -> LinkError {
    let doing = format!("waiting for an answer from {}", plan.address);
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let said = match trouble {
        Some(error) => format!("the last {} exchanges failed; {error}", in_a_row),
        None => format!("none to the last {} exchanges, {timeout:?} each", in_a_row),
    };
    // A new socket is a new address, which has proved nothing (docs/protocol.md, UDP: proof of address).
    let unproven = plan.connect == Connect::Each
        && plan.address.starts_with("udp")
        && point.in_bytes > point.out_bytes;
    let hint = if unproven {
        "many devices send no more to a new socket than came from it: --out as large as --in, or --connect once"
    } else if answered_once {
        "is the device still alive? a longer --timeout, or a higher --give-up"
    } else {
        "does anything answer there, at this size? a longer --timeout, or the other --protocol"
    };
    LinkError::new(LinkErrorKind::Silent, doing, said).hint(hint)
}

/// The device stopped reading in the middle of a request.
pub fn takes_nothing(plan: &Plan, (taken, size): (usize, usize)) -> LinkError {
    LinkError::new(
        LinkErrorKind::Silent,
        format!("sending to {}", plan.address),
        format!("the device took {taken} of {size} bytes of a request and then no more"),
    )
    .hint("is its program still reading?")
}

/// The device sends on and on what nobody asked for.
pub fn never_silent(plan: &Plan) -> LinkError {
    LinkError::new(
        LinkErrorKind::Rubbish,
        format!("waiting until {} has nothing more to say", plan.address),
        "it sends without end what it was not asked for",
    )
    .hint("is it an echo? for a serial line: the right --baud")
}

/// The device answered that it will not do it.
pub fn refused(plan: &Plan, point: Point, status: wiregauge_wire::Status) -> LinkError {
    use wiregauge_wire::Status as Wire;
    let Point {
        out_bytes,
        in_bytes,
        ..
    } = point;
    let (said, hint) = match status {
        Wire::TooLarge => (
            format!("it refuses --out {out_bytes} --in {in_bytes}: over its limit"),
            "smaller sizes",
        ),
        Wire::Unproven => (
            "it does not answer more than it was sent before this address is proved".into(),
            "run again: the proof may have expired while the host was held up",
        ),
        Wire::Version => (
            "it speaks another version of the protocol".into(),
            "the same version of wiregauge at both ends",
        ),
        _ => (
            "it does not know exchanges".into(),
            "--protocol echo, if it echoes",
        ),
    };
    LinkError::new(
        LinkErrorKind::Usage,
        format!("asking {}", plan.address),
        said,
    )
    .hint(hint)
}
