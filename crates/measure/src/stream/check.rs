//! What cannot be streamed is refused before anything is opened, or as soon as the device and the
//! link have reported their limits.

use std::io;
use wiregauge_link::{Address, FlowShape, Link};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{
    IsochronousOptions, Responder, StreamPlan, StreamPoint, StreamProtocol, Way,
};
use wiregauge_wire::abilities;

/// Refuses what cannot be streamed, before anything is opened.
pub fn check(plan: &StreamPlan) -> Result<Vec<Address>, LinkError> {
    let addresses = std::iter::once(&plan.address).chain(&plan.more_links);
    let addresses: Vec<Address> = addresses
        .map(|address| Address::parse(address))
        .collect::<Result<_, _>>()?;
    for address in &addresses {
        let kind = address.kind();
        let refuse = |said: String, hint: &str| {
            let doing = format!("cannot plan a stream with {address}");
            Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
        };
        if let Some((why, hint)) = kind.no_stream {
            return refuse(why.into(), hint);
        }
        let has_in = |point: &StreamPoint| point.direction.ways().contains(&Way::In);
        if plan.protocol == StreamProtocol::Raw && kind.datagram && plan.points.iter().any(has_in) {
            return refuse(
                "nothing asks a device on UDP to send a raw stream, and it does not know where to"
                    .into(),
                "use --direction out",
            );
        }
        if let Some(isochronous) = plan.link.isochronous {
            if kind.scheme != "usb" {
                return refuse(
                    format!(
                        "--type isochronous is for usb:// only, not for {}://",
                        kind.scheme
                    ),
                    "remove --type and --packet",
                );
            }
            if let Err((said, hint)) = check_isochronous(plan, isochronous) {
                return refuse(said, hint);
            }
        }
        for point in &plan.points {
            let bytes = point.transfer_bytes;
            if bytes == 0 {
                return refuse(
                    "a transfer of 0 bytes is not valid".into(),
                    "use --transfer 1 or more",
                );
            }
            if bytes > kind.max_bytes {
                return refuse(
                    format!(
                        "{bytes} B exceed the maximum of {} B for a transfer over {}",
                        kind.max_bytes, kind.scheme
                    ),
                    "use a smaller --transfer",
                );
            }
            if point.queue == 0 {
                return refuse("queue 0 is not valid".into(), "use --queue 1 or more");
            }
        }
        if plan.duration_ns == 0 {
            return refuse(
                "a duration of 0 is not valid".into(),
                "use a longer --duration",
            );
        }
    }
    Ok(addresses)
}

/// Refuses what isochronous transfers cannot do: what is wrong, and what to try.
fn check_isochronous(
    plan: &StreamPlan,
    isochronous: IsochronousOptions,
) -> Result<(), (String, &'static str)> {
    let packet = isochronous.packet_bytes;
    if packet == 0 {
        return Err((
            "a packet of 0 bytes is not valid".into(),
            "use --packet 1 or more",
        ));
    }
    if plan.protocol != StreamProtocol::Raw {
        return Err((
            "isochronous packets are not repeated if they are lost, which the wiregauge protocol needs".into(),
            "use --protocol raw",
        ));
    }
    let own = [isochronous.way];
    if plan
        .points
        .iter()
        .any(|point| point.direction.ways() != own)
    {
        return Err((
            "an isochronous stream has one direction".into(),
            "use --direction in or --direction out",
        ));
    }
    for point in &plan.points {
        let (bytes, most) = (point.transfer_bytes, IsochronousOptions::MOST_PACKETS);
        if !bytes.is_multiple_of(packet) || bytes / packet > most {
            return Err((
                format!(
                    "a transfer of {bytes} B is not 1 to {most} packets of {packet} B, one for each interval of the endpoint"
                ),
                "use a --transfer that is a multiple of --packet",
            ));
        }
    }
    Ok(())
}

/// Refuses a stream that the only direction of a device does not carry.
pub(super) fn check_ways(plan: &StreamPlan, only: Option<Way>) -> Result<(), LinkError> {
    let Some(only) = only else {
        return Ok(());
    };
    let (own, other) = match only {
        Way::In => ("in", "OUT"),
        Way::Out => ("out", "IN"),
    };
    let refuse = |said: String| {
        let doing = format!("cannot plan a stream with {}", plan.address);
        let hint = format!("use --protocol raw --direction {own}");
        Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
    };
    let mut ways = plan.points.iter().flat_map(|p| p.direction.ways());
    if plan.protocol == StreamProtocol::Wiregauge {
        return refuse(format!(
            "it has no {other} endpoint, and the wiregauge protocol needs both directions"
        ));
    }
    match ways.any(|&way| way != only) {
        true => refuse(format!("it has no {other} endpoint")),
        false => Ok(()),
    }
}

/// Refuses a device that cannot do what is planned.
pub(super) fn check_abilities(plan: &StreamPlan, responder: &Responder) -> Result<(), LinkError> {
    let (name, able) = (&responder.name, responder.abilities);
    let lacks = |way: Way| match way {
        Way::In => able & abilities::SOURCE == 0,
        Way::Out => able & abilities::SINK == 0,
    };
    let mut ways = plan.points.iter().flat_map(|p| p.direction.ways());
    let Some(way) = ways.find(|way| lacks(**way)) else {
        return Ok(());
    };
    let ability = match way {
        Way::In => "SOURCE (streams to the host)",
        Way::Out => "SINK (streams from the host)",
    };
    let said = format!("the device ({name}) does not support {ability}");
    let doing = format!("cannot plan a stream with {}", plan.address);
    let other = match way {
        Way::In if able & abilities::SINK != 0 => "use --direction out, or a newer responder",
        Way::Out if able & abilities::SOURCE != 0 => "use --direction in, or a newer responder",
        _ => "use a newer responder on the device, or wiregauge exchange",
    };
    Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(other))
}

/// Refuses shapes that the link does not have, before the first point is measured.
pub(super) fn check_shapes(link: &mut dyn Link, plan: &StreamPlan) -> Result<(), LinkError> {
    let mut tried: Vec<FlowShape> = Vec::new();
    for point in &plan.points {
        let shape = shape_of(point);
        if !tried.contains(&shape) {
            tried.push(shape);
            let made = link.flows(shape).map(drop);
            made.map_err(|error| shape_refused(&plan.address, shape, &error))?;
        }
    }
    Ok(())
}

/// The shape of a point.
pub(super) fn shape_of(point: &StreamPoint) -> FlowShape {
    FlowShape {
        transfer_bytes: point.transfer_bytes as usize,
        queue: point.queue as usize,
    }
}

/// Why the link does not flow in a shape.
pub(super) fn shape_refused(address: &str, shape: FlowShape, error: &io::Error) -> LinkError {
    let (bytes, queue) = (shape.transfer_bytes, shape.queue);
    let doing = format!("cannot prepare transfers of {bytes} B, {queue} at once, with {address}");
    match error.kind() {
        io::ErrorKind::Unsupported => {
            let (said, hint) = match queue > 1 {
                true => (
                    "--queue above 1 works only over USB".to_owned(),
                    "use --queue 1",
                ),
                false => (error.to_string(), "use another kind of link"),
            };
            LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint)
        }
        io::ErrorKind::OutOfMemory => {
            LinkError::from_io(doing, error).hint("use smaller transfers, or a shorter queue")
        }
        _ => LinkError::from_io(doing, error),
    }
}
