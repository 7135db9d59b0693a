//! The first words with a device that speaks the wiregauge protocol: who it is and what it can
//! take. Over UDP they also prove this host's address, without which a responder sends no more
//! bytes than it got.

use crate::error::{LinkError, LinkErrorKind};
use crate::host::Clock;
use crate::link::Link;
use std::time::Duration;
use wiregauge_record::Responder;
use wiregauge_wire as wire;
use wiregauge_wire::{Found, HelloReply, HelloRequest, Request, Response};

/// A datagram may be lost, so the question is asked more than once.
const TRIES: u32 = 3;

/// A wait is no longer than this before whoever may interrupt is asked.
const ASK: Duration = Duration::from_millis(100);

/// Asks the device who it is, unless `interrupted` says meanwhile that nobody waits for it any more.
pub fn hello(
    link: &mut dyn Link,
    address: &str,
    datagram: bool,
    timeout: Duration,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Responder, LinkError> {
    let failed = |error: &std::io::Error| {
        LinkError::from_io(format!("saying HELLO to {address}"), error)
            .hint("is the responder running? on the device: wiregauge serve ADDRESS")
    };
    discard(link).map_err(|error| failed(&error))?;
    let mut seen = Vec::new();
    for attempt in 0..TRIES {
        let mut token = [0; 8];
        // Over datagrams the second question carries the token of the first answer.
        for proving in [false, true] {
            let number = u32::MAX - 2 * attempt - u32::from(proving);
            let question = Question { number, token };
            let answer = ask(link, question, datagram, timeout, &mut seen, interrupted);
            match answer.map_err(|error| failed(&error))? {
                Answer::Reply(reply) if datagram && !proving => token = reply.token,
                Answer::Reply(reply) => return accept(&reply, address),
                Answer::Silence => break,
                Answer::Interrupted => {
                    let doing = format!("saying HELLO to {address}");
                    let kind = LinkErrorKind::Interrupted;
                    return Err(LinkError::new(kind, doing, "interrupted"));
                }
            }
        }
    }
    Err(no_hello(address, &seen, timeout))
}

fn accept(reply: &HelloReply, address: &str) -> Result<Responder, LinkError> {
    if !(reply.min_version..=reply.max_version).contains(&wire::VERSION) {
        return Err(LinkError::new(
            LinkErrorKind::Rubbish,
            format!("saying HELLO to {address}"),
            format!(
                "it speaks versions {} to {} of the protocol, this is {}",
                reply.min_version,
                reply.max_version,
                wire::VERSION
            ),
        )
        .hint("the same version of wiregauge at both ends"));
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

/// Throws away what the device said before it was asked.
fn discard(link: &mut dyn Link) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    for _ in 0..1000 {
        if link.receive(&mut buffer)? == 0 {
            break;
        }
    }
    Ok(())
}

struct Question {
    number: u32,
    token: [u8; 8],
}

enum Answer {
    Reply(HelloReply),
    Silence,
    Interrupted,
}

fn ask(
    link: &mut dyn Link,
    Question { number, token }: Question,
    datagram: bool,
    timeout: Duration,
    seen: &mut Vec<u8>,
    interrupted: &mut dyn FnMut() -> bool,
) -> std::io::Result<Answer> {
    let mut question = [0; wire::HELLO_REQUEST];
    let (header, payload) = question.split_at_mut(wire::REQUEST_HEADER);
    Request {
        kind: wire::Kind::Hello,
        sequence: number,
        out_payload: payload.len() as u32,
        in_bytes: wire::HELLO_RESPONSE as u32,
    }
    .encode(header.try_into().expect("split at the header's size"));
    payload.copy_from_slice(&HelloRequest { token }.encode());
    let clock = Clock::start();
    let end = timeout.as_nanos() as u64;
    let mut rest = &question[..];
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let now = clock.now();
        if now >= end {
            seen.extend_from_slice(&bytes);
            return Ok(Answer::Silence);
        }
        if interrupted() {
            return Ok(Answer::Interrupted);
        }
        if !rest.is_empty() {
            rest = &rest[link.send(rest)?..];
        }
        link.wait(!rest.is_empty(), Duration::from_nanos(end - now).min(ASK))?;
        let received = link.receive(&mut buffer)?;
        bytes.extend_from_slice(&buffer[..received]);
        while !bytes.is_empty() {
            match wire::next_frame::<Response>(&bytes, wire::MAX_FRAME as usize) {
                Found::Incomplete { .. } => break,
                Found::Garbage { skip } => {
                    seen.extend(bytes.drain(..skip.max(1)));
                }
                Found::Frame {
                    header,
                    payload,
                    end,
                    ..
                } => {
                    let ours = header.kind == wire::Kind::Hello && header.sequence == number;
                    let reply = HelloReply::decode(&bytes[payload]).filter(|_| ours);
                    if let Some(reply) = reply {
                        return Ok(Answer::Reply(reply));
                    }
                    bytes.drain(..end.max(1));
                }
            }
        }
        if datagram {
            seen.append(&mut bytes);
        }
    }
}

fn no_hello(address: &str, seen: &[u8], timeout: Duration) -> LinkError {
    let doing = format!("saying HELLO to {address}");
    if seen.is_empty() {
        return LinkError::new(
            LinkErrorKind::Silent,
            doing,
            format!("no answer to {TRIES} questions, {timeout:?} each"),
        )
        .hint(
            "if it is a plain echo: --protocol echo; if it is slow to start: a longer --timeout; \
             for a serial line: the right --baud",
        );
    }
    // The magic byte of a request comes back only from an echo.
    if seen[0] == Request::MAGIC {
        return LinkError::new(
            LinkErrorKind::Rubbish,
            doing,
            "it sends back what it gets: it is an echo",
        )
        .hint("--protocol echo");
    }
    let shown: Vec<String> = seen
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    LinkError::new(
        LinkErrorKind::Rubbish,
        doing,
        format!(
            "it answered {} bytes that are no wiregauge frame, beginning {}",
            seen.len(),
            shown.join(" ")
        ),
    )
    .hint("if it is a plain echo: --protocol echo; for a serial line: the right --baud")
}
