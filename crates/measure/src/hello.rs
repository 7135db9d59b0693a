//! HELLO over a link: who the device is, and what it can do. What is sent and understood is
//! [`wiregauge_session::Hello`]; this drives it.

use crate::runner::CLOSED_AT_ONCE;
use std::io;
use std::time::Duration;
use wiregauge_link::host::Clock;
use wiregauge_link::{Link, LinkError, LinkErrorKind};
use wiregauge_record::Responder;
use wiregauge_session::{ATTEMPTS, Hello, HelloEnd};
use wiregauge_wire as wire;
use wiregauge_wire::{HelloReply, Request};

/// How long to wait at most before asking whether to stop.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// Reads before HELLO that drop old bytes, at most.
const STALE_READS: u32 = 1000;

/// Sends HELLO and returns what the device replied; over datagrams it also proves this host's address. Ends early
/// when `interrupted` returns true.
pub fn hello(
    link: &mut dyn Link,
    address: &str,
    datagram: bool,
    timeout: Duration,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Responder, LinkError> {
    match exchange_hello(link, datagram, timeout, interrupted) {
        Ok(HelloResult::Reply(reply)) => accept(&reply, address),
        Ok(HelloResult::None { seen, seen_count }) => {
            Err(no_reply(address, &seen, seen_count, timeout))
        }
        Ok(HelloResult::Interrupted) => Err(LinkError::new(
            LinkErrorKind::Interrupted,
            doing(address),
            "interrupted",
        )),
        Err(error) => Err(failed(address, &error)),
    }
}

/// The system reported an error.
fn failed(address: &str, error: &io::Error) -> LinkError {
    let error = LinkError::from_io(doing(address), error);
    match error.kind() {
        LinkErrorKind::Disconnected => error.hint(CLOSED_AT_ONCE),
        _ => error.hint(format!(
            "is the responder running? on the device: wiregauge serve {address}"
        )),
    }
}

fn doing(address: &str) -> String {
    format!("cannot send HELLO to {address}")
}

enum HelloResult {
    Reply(Box<HelloReply>),
    None { seen: Vec<u8>, seen_count: u64 },
    Interrupted,
}

fn exchange_hello(
    link: &mut dyn Link,
    datagram: bool,
    timeout: Duration,
    interrupted: &mut dyn FnMut() -> bool,
) -> io::Result<HelloResult> {
    let mut buffer = [0; 4096];
    drop_stale(link, &mut buffer)?;
    let clock = Clock::start();
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let mut hello = Hello::new(datagram, timeout_ns, clock.now());
    loop {
        match hello.poll(clock.now()) {
            Some(HelloEnd::Reply(reply)) => return Ok(HelloResult::Reply(reply)),
            Some(HelloEnd::NoReply) => {
                let (seen, seen_count) = hello.seen();
                let seen = seen.to_vec();
                return Ok(HelloResult::None { seen, seen_count });
            }
            None => {}
        }
        if interrupted() {
            return Ok(HelloResult::Interrupted);
        }
        if !hello.outgoing().is_empty() {
            let sent = link.send(hello.outgoing())?;
            hello.sent(sent);
        }
        let left = Duration::from_nanos(hello.wake_ns().saturating_sub(clock.now()));
        link.wait(!hello.outgoing().is_empty(), left.min(STOP_CHECK))?;
        let received = link.receive(&mut buffer)?;
        if received > 0 {
            hello.received(&buffer[..received], clock.now());
        }
    }
}

/// Drops what the device sent before.
fn drop_stale(link: &mut dyn Link, buffer: &mut [u8]) -> io::Result<()> {
    for _ in 0..STALE_READS {
        if link.receive(buffer)? == 0 {
            break;
        }
    }
    Ok(())
}

fn accept(reply: &HelloReply, address: &str) -> Result<Responder, LinkError> {
    if !(reply.min_version..=reply.max_version).contains(&wire::VERSION) {
        return Err(LinkError::new(
            LinkErrorKind::Protocol,
            doing(address),
            format!(
                "the device supports protocol versions {} to {}, this program version {}",
                reply.min_version,
                reply.max_version,
                wire::VERSION
            ),
        )
        .hint("use the same version of wiregauge on both ends"));
    }
    Ok(Responder {
        name: reply.name_str().to_string(),
        max_out_bytes: reply.max_out,
        max_in_bytes: reply.max_in,
        max_outstanding: reply.max_outstanding,
        tick_hz: if reply.abilities & wire::abilities::TIMESTAMPS == 0 {
            0
        } else {
            reply.tick_hz
        },
        tick_bits: u32::from(reply.tick_bits),
        bus: match reply.bus {
            1 => Some("low-speed".into()),
            2 => Some("full-speed".into()),
            3 => Some("high-speed".into()),
            4 => Some("super-speed".into()),
            _ => None,
        },
        abilities: reply.abilities,
    })
}

fn no_reply(address: &str, seen: &[u8], seen_count: u64, timeout: Duration) -> LinkError {
    match seen.first() {
        None => LinkError::new(
            LinkErrorKind::Timeout,
            doing(address),
            format!("no HELLO reply after {ATTEMPTS} attempts of {timeout:?}"),
        )
        .hint(
            "echo server: use wiregauge exchange --protocol echo; slow start: use a longer --timeout; \
             serial line: check --baud",
        ),
        // The magic byte of a request comes back only from an echo.
        Some(&Request::MAGIC) => LinkError::new(
            LinkErrorKind::Protocol,
            doing(address),
            "the device returned the request: it is an echo server",
        )
        .hint("measure an echo server with wiregauge exchange --protocol echo"),
        Some(_) => {
            let shown: Vec<String> = seen.iter().map(|byte| format!("{byte:02x}")).collect();
            LinkError::new(
                LinkErrorKind::Protocol,
                doing(address),
                format!(
                    "no HELLO reply after {ATTEMPTS} attempts; received {seen_count} bytes that are not a \
                     wiregauge frame, beginning {}",
                    shown.join(" ")
                ),
            )
            .hint("echo server: use wiregauge exchange --protocol echo; serial line: check --baud")
        }
    }
}
