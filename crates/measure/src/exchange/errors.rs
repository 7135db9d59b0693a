//! Why the measuring loop cannot go on, in words.

use crate::runner::{CLOSED_AT_ONCE, DISCONNECTED};
use std::io;
use std::time::Duration;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{Connect, Plan, Point, Protocol, ReplyEnd};
use wiregauge_session::Failure;

/// The error of a point that failed when `started` exchanges had been started and `stray` bytes received that belong
/// to no answer; `error` is the last one that the system reported.
pub fn explain(
    (plan, point): (&Plan, Point),
    failure: &Failure,
    (started, stray): (u64, u64),
    error: Option<&io::Error>,
) -> LinkError {
    match *failure {
        Failure::Silent {
            in_a_row,
            answered_once: false,
        } if stray > 0 && error.is_none() && plan.queries.is_some() => {
            no_end(plan, in_a_row, stray)
        }
        Failure::Silent {
            in_a_row,
            answered_once,
        } => silent(plan, point, in_a_row, error, answered_once),
        Failure::Blocked { rest } => blocked(plan, point, rest),
        Failure::NeverQuiet => never_quiet(plan),
        Failure::Refused(status) => refused(plan, point, status),
        Failure::NoProof => no_proof(plan),
        Failure::Link => match error {
            Some(error) => broken(plan, started, error),
            None => LinkError::new(LinkErrorKind::Io, &plan.address, "the link failed"),
        },
    }
}

/// The system reported an error.
fn broken(plan: &Plan, started: u64, error: &io::Error) -> LinkError {
    let doing = format!(
        "exchange {} with {} failed",
        started.saturating_sub(1),
        plan.address
    );
    let error = LinkError::from_io(doing, error);
    match error.kind() {
        _ if plan.address.starts_with("can:") => {
            error.hint("check bit rates, termination and wiring; the state of the interface: ip -details link show")
        }
        LinkErrorKind::Disconnected if started <= 1 => error.hint(CLOSED_AT_ONCE),
        LinkErrorKind::Disconnected => error.hint(DISCONNECTED),
        LinkErrorKind::Unreachable => error.hint(format!(
            "is the responder running? on the device: wiregauge serve {}",
            plan.address
        )),
        _ => error,
    }
}

/// The flag that says where a reply ends; `None` where the protocol itself does.
fn ends_by_a_flag(plan: &Plan) -> Option<&'static str> {
    match plan.queries.as_ref()?.reply {
        ReplyEnd::Until(_) => Some("--until"),
        ReplyEnd::Bytes(_) => Some("--reply-bytes"),
        ReplyEnd::Length(_) => Some("--reply-length"),
        ReplyEnd::IdleNs(_) => Some("--idle"),
        ReplyEnd::Scpi | ReplyEnd::Modbus(_) => None,
    }
}

/// The device sends, but no reply has an end.
fn no_end(plan: &Plan, in_a_row: u64, stray: u64) -> LinkError {
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let (end, hint) = match (ends_by_a_flag(plan), plan.protocol) {
        (Some(flag), _) => (
            format!("the end of a reply by {flag}"),
            match flag {
                "--until" => {
                    "the device may end its replies otherwise: use another --until, or --idle 10ms"
                }
                "--idle" => {
                    "the device sends without such a pause: use a shorter --idle, or --until"
                }
                _ => "the replies may be shorter: correct it, or use --idle 10ms",
            },
        ),
        (None, Protocol::Modbus) => (
            "a whole reply of Modbus".into(),
            "serial line: check --baud and parity; is it Modbus RTU on a serial line, Modbus TCP otherwise?",
        ),
        (None, _) => (
            "the newline at the end of a reply".into(),
            "the device may end its replies otherwise: use --protocol text with --until; serial line: check --baud",
        ),
    };
    LinkError::new(
        LinkErrorKind::Timeout,
        format!("no complete reply from {}", plan.address),
        format!(
            "at least {stray} B were received for the first {in_a_row} exchanges within {timeout:?} each, without {end}"
        ),
    )
    .hint(format!("{hint}; slow device: use a longer --timeout"))
}

/// Too many exchanges in a row were lost.
fn silent(
    plan: &Plan,
    point: Point,
    in_a_row: u64,
    error: Option<&io::Error>,
    answered_once: bool,
) -> LinkError {
    let doing = format!("no answer from {}", plan.address);
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let said = match error {
        Some(error) => format!("the last {in_a_row} exchanges failed; {error}"),
        None if answered_once => {
            format!("the last {in_a_row} exchanges timed out after {timeout:?} each")
        }
        None => format!("no answer to the first {in_a_row} exchanges within {timeout:?} each"),
    };
    // A new socket is a new address, which has proved nothing (docs/protocol.md, UDP: proof of address).
    let unproven = plan.connect == Connect::Each
        && plan.address.starts_with("udp")
        && point.in_bytes > point.out_bytes;
    let hint = if unproven {
        "many devices send no more bytes to a new socket than they received from it: use --out as large as \
         --in, or --connect once"
    } else if answered_once {
        "is the device still running? use a longer --timeout or a higher --give-up"
    } else if plan.address.starts_with("can:") {
        "check --request-id and --response-id, the bit rate, and that the device answers such messages (candump \
         shows what is on the bus), or use a longer --timeout"
    } else if plan.protocol == Protocol::Modbus {
        "check --unit, --baud and the address, or use a longer --timeout; devices do not answer requests to other \
         units or with a wrong CRC"
    } else if let Some(flag) = ends_by_a_flag(plan) {
        let hint = format!(
            "does the query end as the device expects (\\n, \\r\\n), and the reply as {flag} says? check the address, or \
             use a longer --timeout"
        );
        return LinkError::new(LinkErrorKind::Timeout, doing, said).hint(hint);
    } else if plan.queries.is_some() {
        "does the query end as the device expects (\\n, \\r\\n)? check the address, or use a longer --timeout"
    } else if plan.protocol == Protocol::Echo {
        "does the device run `wiregauge serve`? then omit --protocol echo. Otherwise check the address and \
         sizes, or use a longer --timeout"
    } else {
        "check the address, --protocol and sizes, or use a longer --timeout"
    };
    LinkError::new(LinkErrorKind::Timeout, doing, said).hint(hint)
}

/// The device takes nothing more.
fn blocked(plan: &Plan, point: Point, rest: Option<usize>) -> LinkError {
    let waited = Duration::from_nanos(plan.timeout_ns.saturating_mul(2));
    let size = point.out_bytes as usize;
    let said = match rest {
        Some(rest) => format!(
            "send timed out after {waited:?}: the device accepted {} of {size} bytes of a request",
            size.saturating_sub(rest)
        ),
        None => format!("send timed out after {waited:?}"),
    };
    LinkError::new(
        LinkErrorKind::Timeout,
        format!("cannot send to {}", plan.address),
        said,
    )
    .hint("is its program still reading?")
}

/// The device sends on and on what nobody asked for.
fn never_quiet(plan: &Plan) -> LinkError {
    LinkError::new(
        LinkErrorKind::Protocol,
        format!("cannot resynchronise with {}", plan.address),
        "it keeps sending unsolicited data",
    )
    .hint("is it an echo server? serial line: check --baud")
}

/// HELLO, which proves this host's address, was not answered.
fn no_proof(plan: &Plan) -> LinkError {
    LinkError::new(
        LinkErrorKind::Timeout,
        format!("cannot renew the proof of address with {}", plan.address),
        format!(
            "no HELLO reply after {} attempts, {:?} each",
            wiregauge_session::ATTEMPTS,
            Duration::from_nanos(plan.timeout_ns)
        ),
    )
    .hint("is the device still running? use a longer --timeout")
}

/// The device answered that it will not do it.
fn refused(plan: &Plan, point: Point, status: wiregauge_wire::Status) -> LinkError {
    use wiregauge_wire::Status as Wire;
    let Point {
        out_bytes,
        in_bytes,
        ..
    } = point;
    let (said, hint) = match status {
        Wire::TooLarge => (
            format!("the device rejects --out {out_bytes} --in {in_bytes}: too large"),
            "use smaller sizes",
        ),
        Wire::Unproven => (
            "the device does not send more bytes than it received until this address is proved"
                .into(),
            "run again: the proof may have expired during a stall of this host",
        ),
        Wire::Version => (
            "the device uses another version of the protocol".into(),
            "use the same version of wiregauge on both ends",
        ),
        _ => (
            "the device does not support exchanges".into(),
            "use --protocol echo if it echoes",
        ),
    };
    LinkError::new(
        LinkErrorKind::Usage,
        format!("asking {}", plan.address),
        said,
    )
    .hint(hint)
}
