//! From what was typed to what will run: every default is filled in here and nowhere else.

use super::queries;
use crate::args::{
    ExchangeArgs, HostArgs, StreamArgs, StreamProtocolArg, StreamTypeArg, TimestampsArg,
    protocol_of,
};
use crate::values::{Count, Sizes};
use wiregauge_record::{
    CanOptions, Direction, HostPlan, IsochronousOptions, Limit, LinkOptions, ModbusLine, Pattern,
    Plan, Point, Protocol, Queries, ReplyEnd, Schedule, StreamPlan, StreamPoint, Way,
};

pub use wiregauge_program::flags::{check_baud, check_serial};

/// Exchanges at a point when nothing is said.
const COUNT: u64 = 1000;

/// Bytes of an echo when nothing is said; a classic CAN frame has 8.
const ECHO: u32 = 64;

/// Bytes of a line when nothing is said.
pub const LINE: u32 = 16;

/// Bytes of a transfer of a stream when nothing is said.
const TRANSFER: u32 = 4096;

/// Transfers at once over USB when nothing is said: one on the wire, one that waits for it, and two
/// in the hands of the host.
const USB_QUEUE: u32 = 4;

/// The plan for `wiregauge exchange`.
pub fn of_exchange(args: &ExchangeArgs) -> anyhow::Result<Plan> {
    let null = args.addresses.iter().find(|a| a.starts_with("null:"));
    let can = args.can.options(&args.addresses, args.kernel_wait)?;
    let protocol = match (args.protocol, &can) {
        // HELLO fits no frame.
        (None, Some(can)) if can.isotp.is_none() => Protocol::Echo,
        (given, _) => protocol_of(given, null.map_or("", String::as_str)),
    };
    let addresses = addresses(&args.addresses, protocol)?;
    let queries = queries::of(&args.query, protocol, &addresses, args.baud)?;
    let limit = match (args.duration, args.count) {
        (Some(duration), _) => Limit::DurationNs(duration.as_nanos() as u64),
        (None, Some(Count(count))) => Limit::Count(count),
        (None, None) => Limit::Count(COUNT),
    };
    let schedule = match args.interval.or(args.rate) {
        Some(time) => Schedule::EveryNs(time.as_nanos() as u64),
        None => Schedule::AsFastAsPossible,
    };
    Ok(Plan {
        address: addresses.first().cloned().unwrap_or_default(),
        more_links: addresses.iter().skip(1).cloned().collect(),
        protocol,
        connect: args.connect.into(),
        points: points(
            args,
            protocol,
            queries.as_ref(),
            can.as_ref(),
            addresses.len(),
        )?,
        queries,
        limit,
        warmup: args.warmup.0,
        schedule,
        timeout_ns: args.timeout.as_nanos() as u64,
        give_up: args.give_up,
        wait: args.wait.into(),
        below_ns: args
            .below
            .iter()
            .map(|limit| limit.as_nanos() as u64)
            .collect(),
        keep_data: args.keep_data,
        batch: args.batch,
        calibrate: !args.no_calibration,
        host: host(&args.host),
        link: LinkOptions {
            baud: args.baud,
            framing: args.framing.map(|framing| framing.to_string()),
            no_low_latency: args.no_low_latency,
            quick_ack: args.quick_ack,
            usbmon: args.usbmon,
            kernel_timestamps: args.timestamps == Some(TimestampsArg::Kernel),
            can,
            isochronous: None,
        },
    })
}

/// The addresses of all links. A standard request goes to endpoint 0: the last of several settings counts.
fn addresses(given: &[String], protocol: Protocol) -> anyhow::Result<Vec<String>> {
    if protocol != Protocol::GetStatus {
        return Ok(given.to_vec());
    }
    let of = |address: &String| {
        if !address.starts_with("usb:") {
            anyhow::bail!(
                "--protocol get-status requires a USB device, such as usb://1d6b:0104, not {address}"
            );
        }
        let settings = address.rsplit_once('#').map(|(_, settings)| settings);
        let separator = match settings.is_some_and(|settings| settings.contains('=')) {
            true => ',',
            false => '#',
        };
        Ok(format!("{address}{separator}type=get-status"))
    };
    given.iter().map(of).collect()
}

/// The sweep: depth within size, so that the rows to compare stand together.
fn points(
    args: &ExchangeArgs,
    protocol: Protocol,
    queries: Option<&Queries>,
    can: Option<&CanOptions>,
    links: usize,
) -> anyhow::Result<Vec<Point>> {
    let given = |sizes: &Option<Sizes>| sizes.as_ref().map(|Sizes(list)| list.clone());
    let (out, in_) = (given(&args.out), given(&args.in_));
    let pairs = |out: Vec<u32>, in_: Vec<u32>| -> Vec<(u32, u32)> {
        let of_out = |&out| in_.iter().map(move |&in_| (out, in_));
        out.iter().flat_map(of_out).collect()
    };
    let sizes = match protocol {
        Protocol::Wiregauge => pairs(out.unwrap_or(vec![16]), in_.unwrap_or(vec![48])),
        // What an echo sends back is what it got. Where both lists are given, they must agree;
        // the engine refuses pairs that do not.
        Protocol::Echo => match (out, in_) {
            (Some(out), Some(in_)) if out != in_ => pairs(out, in_),
            (Some(both), _) | (None, Some(both)) => both.into_iter().map(|b| (b, b)).collect(),
            (None, None) => {
                let frame = can.map_or(ECHO, |can| can.max_bytes().min(ECHO));
                vec![(frame, frame)]
            }
        },
        // Unless a size is given, an answer may be a line of any length.
        Protocol::Lines => pairs(out.unwrap_or(vec![LINE]), in_.unwrap_or(vec![0])),
        Protocol::Text | Protocol::Scpi | Protocol::Modbus | Protocol::GetStatus => {
            if out.is_some() || in_.is_some() {
                anyhow::bail!(
                    "--out and --in have no effect with --protocol {}: the requests decide the sizes",
                    protocol.name()
                );
            }
            vec![queries.map_or((0, 0), query_sizes)]
        }
    };
    let mut cells = Vec::new();
    for (out_bytes, in_bytes) in sizes {
        cells.extend(args.depth.0.iter().map(|&depth| Point {
            index: 0,
            out_bytes,
            in_bytes,
            depth,
            link: 0,
            together: false,
        }));
    }
    Ok(over_links(&cells, links, |point, index, link, together| {
        (point.index, point.link, point.together) = (index, link, together);
    }))
}

/// Bytes of the longest request, and of every reply where that is known (else 0).
fn query_sizes(queries: &Queries) -> (u32, u32) {
    let longest = queries.list.iter().map(|query| query.bytes.len()).max();
    let added = match queries.reply {
        ReplyEnd::Modbus(ModbusLine::Tcp) => 6,
        ReplyEnd::Modbus(ModbusLine::Rtu { .. }) => 2,
        _ => 0,
    };
    let reply = match queries.reply {
        ReplyEnd::Bytes(bytes) => bytes,
        _ => 0,
    };
    (longest.unwrap_or(0) as u32 + added, reply)
}

/// The same cells for each link alone, and then, cell by cell, for all of them together. `set` sets number, link, and
/// whether it is together with others.
fn over_links<P: Copy>(cells: &[P], links: usize, set: impl Fn(&mut P, u32, u32, bool)) -> Vec<P> {
    let links = u32::try_from(links).unwrap_or(u32::MAX);
    let mut points = Vec::new();
    let mut add = |cell: &P, link, together| {
        let mut point = *cell;
        set(&mut point, points.len() as u32, link, together);
        points.push(point);
    };
    for link in 0..links {
        cells.iter().for_each(|cell| add(cell, link, false));
    }
    if links > 1 {
        for cell in cells {
            (0..links).for_each(|link| add(cell, link, true));
        }
    }
    points
}

pub fn host(args: &HostArgs) -> HostPlan {
    HostPlan {
        priority: args.priority,
        pin: args.pin,
        lock_memory: args.lock_memory,
        load: args.host_load.unwrap_or_default(),
    }
}

/// The plan for `wiregauge stream`.
pub fn of_stream(args: &StreamArgs) -> StreamPlan {
    StreamPlan {
        address: args.addresses.first().cloned().unwrap_or_default(),
        more_links: args.addresses.iter().skip(1).cloned().collect(),
        points: stream_points(args),
        duration_ns: args.duration.as_nanos() as u64,
        settle_ns: args.settle.as_nanos() as u64,
        protocol: protocol_of_stream(args).into(),
        pattern: args.pattern.map(Pattern::from),
        check: match protocol_of_stream(args) {
            StreamProtocolArg::Wiregauge => !args.no_check,
            StreamProtocolArg::Raw => args.check,
        },
        timeout_ns: args.timeout.as_nanos() as u64,
        rates_bytes_s: args.rate.clone(),
        loss: args.loss,
        host: host(&args.host),
        link: LinkOptions {
            baud: args.baud,
            no_low_latency: args.no_low_latency,
            usbmon: args.usbmon,
            isochronous: isochronous_of(args),
            ..LinkOptions::default()
        },
    }
}

/// What the ends agree on: an isochronous device has no responder, because packets may be lost.
fn protocol_of_stream(args: &StreamArgs) -> StreamProtocolArg {
    args.protocol.unwrap_or(match args.transfer_type {
        Some(StreamTypeArg::Isochronous) => StreamProtocolArg::Raw,
        None => StreamProtocolArg::Wiregauge,
    })
}

fn directions(args: &StreamArgs) -> Vec<Direction> {
    match (&args.direction[..], args.transfer_type) {
        ([], Some(StreamTypeArg::Isochronous)) => vec![Direction::In],
        ([], None) => vec![Direction::In, Direction::Out],
        (given, _) => given.iter().map(|&of| Direction::from(of)).collect(),
    }
}

/// What isochronous transfers need to know; of several directions the first, as the others are refused.
fn isochronous_of(args: &StreamArgs) -> Option<IsochronousOptions> {
    let (Some(StreamTypeArg::Isochronous), Some(packet_bytes)) = (args.transfer_type, args.packet)
    else {
        return None;
    };
    let way = *directions(args).first()?.ways().first()?;
    Some(IsochronousOptions { packet_bytes, way })
}

/// Bytes of the transfers.
fn transfers(args: &StreamArgs) -> Vec<u32> {
    match (&args.transfer, args.packet) {
        (Some(Sizes(list)), _) => list.clone(),
        (None, Some(packet)) => vec![packet.saturating_mul(IsochronousOptions::PACKETS)],
        (None, None) => vec![TRANSFER],
    }
}

/// Refuses flags of a stream that would have no effect.
pub fn check_raw(args: &StreamArgs) -> anyhow::Result<()> {
    let has = |way: Way| {
        let mut directions = directions(args).into_iter();
        directions.any(|direction| direction.ways().contains(&way))
    };
    let is_raw = protocol_of_stream(args) == StreamProtocolArg::Raw;
    if !is_raw && (args.pattern.is_some() || args.check) {
        anyhow::bail!(
            "--pattern and --check are for --protocol raw: a responder sends the pattern of wiregauge, which is \
             checked unless --no-check is given"
        );
    }
    if is_raw && args.no_check {
        anyhow::bail!(
            "--no-check has no effect with --protocol raw: content is checked only with --check"
        );
    }
    if args.check && !has(Way::In) {
        anyhow::bail!("--check needs received data: use --direction in or both");
    }
    if args.pattern.is_some() && !args.check && !has(Way::Out) {
        anyhow::bail!("--pattern has no effect on received data without --check");
    }
    Ok(())
}

/// The matrix: queue within transfer within direction, so that the rows to compare stand together.
fn stream_points(args: &StreamArgs) -> Vec<StreamPoint> {
    let only_usb = args.addresses.iter().all(|a| a.starts_with("usb:"));
    let queues = match &args.queue {
        Some(Sizes(list)) => list.clone(),
        None if only_usb => vec![USB_QUEUE],
        None => vec![1],
    };
    let mut cells = Vec::new();
    for direction in directions(args) {
        for transfer_bytes in transfers(args) {
            cells.extend(queues.iter().map(|&queue| StreamPoint {
                index: 0,
                direction,
                transfer_bytes,
                queue,
                link: 0,
                together: false,
            }));
        }
    }
    over_links(
        &cells,
        args.addresses.len(),
        |point, index, link, together| {
            (point.index, point.link, point.together) = (index, link, together);
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standard_request_goes_to_endpoint_0_of_any_device() {
        for (given, expected) in [
            ("usb://1-1", "usb://1-1#type=get-status"),
            (
                "usb://1d6b:0104/a#b#interface=1",
                "usb://1d6b:0104/a#b#interface=1,type=get-status",
            ),
        ] {
            let found = addresses(&[given.to_owned()], Protocol::GetStatus);
            assert_eq!(found.expect("a USB device"), [expected]);
        }
    }
}
