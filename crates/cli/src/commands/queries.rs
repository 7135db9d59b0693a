//! The queries of `wiregauge exchange`: from the flags to what is sent and where replies end.

use crate::args::QueryArgs;
use crate::query_values::{self, Bytes, Pdu};
use anyhow::{Context, bail};
use std::path::Path;
use wiregauge_record::{ModbusLine, Protocol, Queries, Query, ReplyEnd};
use wiregauge_session::pdu;

/// More lines than this are no list of queries.
const MOST_QUERIES: usize = 100_000;

/// The queries for a protocol, `None` where it makes its own requests. Refuses flags without an effect.
pub fn of(
    args: &QueryArgs,
    protocol: Protocol,
    addresses: &[String],
    baud: Option<u32>,
) -> anyhow::Result<Option<Queries>> {
    refuse_others(args, protocol)?;
    let (list, reply) = match protocol {
        Protocol::Echo | Protocol::Wiregauge | Protocol::Lines => return Ok(None),
        Protocol::Text => (texts(args, "")?, end_of(args, addresses)),
        Protocol::Scpi => (texts(args, "\n")?, ReplyEnd::Scpi),
        Protocol::Modbus => (
            requests(args)?,
            ReplyEnd::Modbus(modbus_line(addresses, baud)?),
        ),
        Protocol::GetStatus => (vec![get_status()], ReplyEnd::Bytes(2)),
    };
    if list.is_empty() {
        let (flags, example) = match protocol {
            Protocol::Modbus => ("--read or --write", "--read holding:0+10"),
            // Its newlines are added.
            Protocol::Scpi => ("--send or --send-file", "--send '*IDN?'"),
            _ => ("--send or --send-file", "--send '*IDN?\\n'"),
        };
        bail!(
            "--protocol {} requires {flags}\n  hint: such as {example}",
            protocol.name()
        );
    }
    Ok(Some(Queries {
        list,
        reply,
        expect: args.expect.clone(),
    }))
}

/// A flag that belongs to another protocol would have no effect.
fn refuse_others(args: &QueryArgs, protocol: Protocol) -> anyhow::Result<()> {
    let is_text = protocol == Protocol::Text;
    let sends = is_text || protocol == Protocol::Scpi;
    let is_modbus = protocol == Protocol::Modbus;
    let length = args.reply_length.is_some();
    for (flag, is_given, has_effect, of) in [
        ("--send", !args.send.is_empty(), sends, "text or scpi"),
        (
            "--send-file",
            args.send_file.is_some(),
            sends,
            "text or scpi",
        ),
        ("--until", args.until.is_some(), is_text, "text"),
        ("--reply-bytes", args.reply_bytes.is_some(), is_text, "text"),
        ("--reply-length", length, is_text, "text"),
        ("--idle", args.idle.is_some(), is_text, "text"),
        ("--expect", args.expect.is_some(), sends, "text or scpi"),
        ("--unit", args.unit.is_some(), is_modbus, "modbus"),
        ("--read", !args.read.is_empty(), is_modbus, "modbus"),
        ("--write", !args.write.is_empty(), is_modbus, "modbus"),
    ] {
        if is_given && !has_effect {
            bail!(
                "{flag} has no effect with --protocol {}\n  hint: use --protocol {of}, or omit {flag}",
                protocol.name()
            );
        }
    }
    Ok(())
}

/// The standard request GET_STATUS to the device, as a setup packet (USB 2.0, 9.4.5).
fn get_status() -> Query {
    Query {
        name: "GET_STATUS".into(),
        bytes: vec![0x80, 0, 0, 0, 0, 0, 2, 0],
    }
}

/// The texts to send, each followed by `end`.
fn texts(args: &QueryArgs, end: &str) -> anyhow::Result<Vec<Query>> {
    let of = |text: &Bytes| Query {
        name: text.text.clone(),
        bytes: match text.bytes.ends_with(end.as_bytes()) {
            true => text.bytes.clone(),
            false => [&text.bytes, end.as_bytes()].concat(),
        },
    };
    match &args.send_file {
        None => Ok(args.send.iter().map(of).collect()),
        Some(path) => Ok(lines(path)?.iter().map(of).collect()),
    }
}

fn lines(path: &Path) -> anyhow::Result<Vec<Bytes>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the queries from {}", path.display()))?;
    let mut queries = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let query = query_values::bytes(line)
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("{}, line {number}", path.display()))?;
        queries.push(query);
    }
    match queries.len() {
        0 => bail!("{} contains no query", path.display()),
        many if many > MOST_QUERIES => {
            bail!(
                "{} contains {many} queries: the maximum is {MOST_QUERIES}",
                path.display()
            )
        }
        _ => Ok(queries),
    }
}

/// The silence behind a reply over CAN, where each message is a reply and no silence is waited for.
const ANY_MESSAGE_NS: u64 = 1_000_000;

fn end_of(args: &QueryArgs, addresses: &[String]) -> ReplyEnd {
    match (&args.until, args.reply_bytes, args.reply_length, args.idle) {
        (Some(until), ..) => ReplyEnd::Until(until.bytes.clone()),
        (_, Some(bytes), ..) => ReplyEnd::Bytes(bytes),
        (_, _, Some(field), _) => ReplyEnd::Length(field),
        (.., Some(idle)) => ReplyEnd::IdleNs(idle.as_nanos() as u64),
        _ if addresses.iter().all(|a| a.starts_with("can:")) => ReplyEnd::IdleNs(ANY_MESSAGE_NS),
        _ => ReplyEnd::Until(b"\n".to_vec()),
    }
}

/// The Modbus requests: what is read, then what is written.
fn requests(args: &QueryArgs) -> anyhow::Result<Vec<Query>> {
    let unit = args.unit.unwrap_or(1);
    if let Err(problem) = pdu::check_unit(unit) {
        bail!("--{problem}");
    }
    let of = |pdu: &Pdu| Query {
        name: pdu.name.clone(),
        bytes: [&[unit], &pdu.bytes[..]].concat(),
    };
    Ok(args.read.iter().chain(&args.write).map(of).collect())
}

/// RTU on serial lines; else the frames of Modbus on TCP.
fn modbus_line(addresses: &[String], baud: Option<u32>) -> anyhow::Result<ModbusLine> {
    let serial = addresses
        .iter()
        .filter(|a| a.starts_with("serial:"))
        .count();
    if serial == 0 {
        return Ok(ModbusLine::Tcp);
    }
    if serial < addresses.len() {
        bail!(
            "--protocol modbus cannot mix serial lines with other links\n  hint: measure them in two runs"
        );
    }
    let Some(baud) = baud.filter(|baud| *baud > 0) else {
        bail!(
            "--protocol modbus on a serial line requires --baud\n  hint: the silence between frames depends on it; \
             many devices use 9600 or 19200"
        );
    };
    Ok(ModbusLine::Rtu {
        silence_ns: wiregauge_limits::modbus_silence_ns(baud),
    })
}
