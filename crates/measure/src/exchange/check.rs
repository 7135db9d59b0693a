//! What cannot be measured is refused before anything is opened, or as soon as the device has reported
//! its limits.

use std::io;
use wiregauge_link::{Address, can};
use wiregauge_link::{Link, LinkError, LinkErrorKind, Most, Stamps};
use wiregauge_record::{Connect, Plan, Point, Protocol, Queries, ReplyEnd, Responder};
use wiregauge_session::{Modbus, Query, only_one_at_a_time};
use wiregauge_wire::{HELLO_REQUEST, REQUEST_HEADER, RESPONSE_HEADER};

/// Refuses what cannot be measured, before anything is opened.
pub fn check(plan: &Plan) -> Result<Address, LinkError> {
    let address = Address::parse(&plan.address)?;
    let kind = address.kind();
    let refuse = |said: String, hint: &str| {
        let doing = format!("cannot plan exchanges with {address}");
        Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
    };
    if kind.scheme == "null" && plan.protocol == Protocol::Wiregauge {
        return refuse("null:// only echoes".into(), "use --protocol echo");
    }
    if let Err(problem) = check_queries(plan, kind.datagram) {
        return refuse(problem, "see `wiregauge exchange --help`, Queries");
    }
    if kind.scheme == "can" {
        check_can(plan, &address)?;
    }
    for point in &plan.points {
        let Point {
            out_bytes,
            in_bytes,
            depth,
            ..
        } = *point;
        let any_size = plan.protocol == Protocol::Lines || plan.queries.is_some();
        // The smallest size of the wiregauge protocol is that of its headers.
        let has_headers = plan.protocol == Protocol::Wiregauge;
        if !has_headers && (out_bytes == 0 || (in_bytes == 0 && !any_size)) {
            return refuse(
                "a size of 0 bytes is not valid".into(),
                "use sizes from 1 B",
            );
        }
        let largest = out_bytes.max(in_bytes);
        if largest > kind.max_bytes {
            return refuse(
                format!(
                    "{largest} B exceeds the maximum of {} B over {}",
                    kind.max_bytes, kind.scheme
                ),
                "use smaller sizes",
            );
        }
        match plan.protocol {
            Protocol::Echo if out_bytes != in_bytes => {
                return refuse(
                    format!("an echo cannot answer {out_bytes} B with {in_bytes} B"),
                    "use equal sizes (only --out), or --protocol wiregauge",
                );
            }
            Protocol::Wiregauge
                if (out_bytes as usize) < REQUEST_HEADER
                    || (in_bytes as usize) < RESPONSE_HEADER =>
            {
                return refuse(
                    match (out_bytes as usize) < REQUEST_HEADER {
                        true => format!(
                            "--out {out_bytes} is too small: a request needs at least {REQUEST_HEADER} B (header)"
                        ),
                        false => format!(
                            "--in {in_bytes} is too small: a response needs at least {RESPONSE_HEADER} B (header)"
                        ),
                    },
                    "use a larger size, or --protocol echo",
                );
            }
            Protocol::Lines if out_bytes < 2 => {
                return refuse("a line of 1 B has no content".into(), "use --out 2 or more");
            }
            _ => {}
        }
        if depth == 0 {
            return refuse(
                "invalid --depth 0: the minimum is 1".into(),
                "use --depth 1 or more",
            );
        }
        if depth > 1
            && let Some(why) = kind.one_request
        {
            return refuse(
                format!("--depth {depth} is not possible: {why}"),
                "use --depth 1",
            );
        }
        if depth > 1
            && let Some((why, hint)) = only_one(plan, kind.datagram)
        {
            return refuse(format!("--depth {depth} is not possible: {why}"), hint);
        }
        if depth > 1 && plan.connect == Connect::Each {
            return refuse(
                "--connect each requires --depth 1".into(),
                "use --depth 1, or --connect once",
            );
        }
    }
    Ok(address)
}

/// Requests the kernel's time stamps of a link.
pub fn stamp(link: &mut dyn Link, address: &Address) -> Result<Stamps, LinkError> {
    link.stamp().map_err(|error| {
        let doing = format!("cannot take the kernel's time stamps of {address}");
        match error.kind() {
            io::ErrorKind::Unsupported => {
                LinkError::new(LinkErrorKind::Usage, doing, "only TCP and UDP have them")
                    .hint("use --usbmon for USB and for serial ports on USB, --kernel-wait for CAN")
            }
            _ => LinkError::from_io(doing, &error),
        }
    })
}

/// Refuses what no CAN bus carries: sizes, and protocols whose messages fit no frame.
fn check_can(plan: &Plan, address: &Address) -> Result<(), LinkError> {
    let options = can::check_options(address, &plan.link)?;
    let refuse = |said: String, hint: &str| {
        let doing = format!("cannot plan exchanges with {address}");
        Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
    };
    match plan.protocol {
        Protocol::Wiregauge if options.isotp.is_none() => {
            let most = options.max_bytes();
            return refuse(
                format!(
                    "HELLO of the wiregauge protocol has {HELLO_REQUEST} B, a frame at most {most} B"
                ),
                "use --isotp, or --protocol echo",
            );
        }
        Protocol::Modbus => {
            return refuse(
                "Modbus is not defined on CAN".into(),
                "use --protocol text with --isotp for UDS",
            );
        }
        _ => {}
    }
    let queries = plan.queries.iter().flat_map(|queries| &queries.list);
    let queries = queries.map(|query| query.bytes.len() as u32);
    let points = plan
        .points
        .iter()
        .flat_map(|point| [point.out_bytes, point.in_bytes]);
    for bytes in points.filter(|_| plan.queries.is_none()).chain(queries) {
        if let Err((said, hint)) = can::check_message(&options, bytes) {
            return refuse(said, hint);
        }
    }
    Ok(())
}

/// What is wrong with the queries of a plan, if anything.
fn check_queries(plan: &Plan, datagram: bool) -> Result<(), String> {
    match (&plan.queries, plan.protocol) {
        (Some(queries), Protocol::Modbus) => Modbus::new(0, queries, datagram).map(drop),
        (Some(queries), _) => Query::new(queries, datagram).map(drop),
        (None, Protocol::Text | Protocol::Scpi | Protocol::Modbus | Protocol::GetStatus) => {
            Err("there is no query".into())
        }
        (None, _) => Ok(()),
    }
}

/// Why replies could not be told apart if there were several requests outstanding, and what to do.
fn only_one(plan: &Plan, datagram: bool) -> Option<(&'static str, &'static str)> {
    let reply = &plan.queries.as_ref()?.reply;
    if plan.protocol == Protocol::GetStatus {
        return Some((
            "endpoint 0 carries one standard request at a time (USB 2.0, 8.5.3)",
            "use --depth 1",
        ));
    }
    let why = only_one_at_a_time(reply, datagram)?;
    let hint = match reply {
        ReplyEnd::Scpi => "use --depth 1, or --protocol text for an instrument that queues queries",
        ReplyEnd::IdleNs(_) => "use --depth 1, or --until, --reply-bytes or --reply-length",
        _ => "use --depth 1",
    };
    Some((why, hint))
}

/// Refuses sizes and depths that do not fit in what the link carries to this device.
pub(super) fn check_most(plan: &Plan, most: &Most) -> Result<(), LinkError> {
    let Most {
        out_bytes,
        in_bytes,
        outstanding,
        unit,
    } = *most;
    let refuse = |said: String, hint: String| {
        let doing = format!("cannot plan exchanges with {}", plan.address);
        Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
    };
    let hello = wiregauge_wire::HELLO_REQUEST.max(wiregauge_wire::HELLO_RESPONSE) as u32;
    if plan.protocol == Protocol::Wiregauge && out_bytes.min(in_bytes) < hello {
        let least = out_bytes.min(in_bytes);
        return refuse(
            format!(
                "the wiregauge protocol needs {unit}s of {hello} B (HELLO); this device has {least} B"
            ),
            "use --protocol echo, or --protocol text with --send and --reply-bytes".into(),
        );
    }
    let is_by_length = |queries: &Queries| matches!(queries.reply, ReplyEnd::Length(_));
    if plan.queries.as_ref().is_some_and(is_by_length) {
        return refuse(
            format!("--reply-length has no meaning in a {unit}, whose size is fixed"),
            format!("use --reply-bytes {in_bytes}, or fewer bytes if the rest is zero"),
        );
    }
    for point in &plan.points {
        for (what, flag, asked, most) in [
            ("a request", "--out", point.out_bytes, out_bytes),
            ("a response", "--in", point.in_bytes, in_bytes),
        ] {
            if asked > most {
                return refuse(
                    format!(
                        "{what} of {asked} B does not fit in a {unit} of this device ({most} B)"
                    ),
                    match plan.queries.is_some() {
                        true => "use a shorter --send, or a smaller --reply-bytes".into(),
                        false => format!("use {flag} up to {most}"),
                    },
                );
            }
        }
        if point.depth > outstanding {
            return refuse(
                format!(
                    "--depth {} is not possible: a device holds one {unit}",
                    point.depth
                ),
                "use --depth 1".into(),
            );
        }
    }
    Ok(())
}

/// Refuses sizes and depths that the device said it cannot take.
pub(super) fn check_limits(plan: &Plan, responder: &Responder) -> Result<(), LinkError> {
    // A device that does not state how many may be outstanding takes any number.
    let most_outstanding = match responder.max_outstanding {
        0 => u32::MAX,
        most => most,
    };
    for point in &plan.points {
        for (flag, asked, most) in [
            ("--out", point.out_bytes, responder.max_out_bytes),
            ("--in", point.in_bytes, responder.max_in_bytes),
            ("--depth", point.depth, most_outstanding),
        ] {
            if asked > most {
                return Err(LinkError::new(
                    LinkErrorKind::Usage,
                    format!("cannot plan exchanges with {}", plan.address),
                    format!(
                        "{flag} {asked} exceeds the limit of the device ({})",
                        responder.name
                    ),
                )
                .hint(format!("use {flag} up to {most}")));
            }
        }
    }
    Ok(())
}
