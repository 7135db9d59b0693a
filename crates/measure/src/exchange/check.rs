//! What cannot be measured is refused before anything is opened, or as soon as the device has told
//! its limits.

use wiregauge_link::Address;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::{Connect, Plan, Point, Protocol, Responder};

/// Refuses what cannot be measured, before anything is opened.
pub fn check(plan: &Plan) -> Result<Address, LinkError> {
    let address = Address::parse(&plan.address)?;
    let kind = address.kind();
    let refuse = |said: String, hint: &str| {
        let doing = format!("planning exchanges with {address}");
        Err(LinkError::new(LinkErrorKind::Usage, doing, said).hint(hint))
    };
    if kind.scheme == "null" && plan.protocol == Protocol::Wiregauge {
        return refuse("the null link only echoes".into(), "--protocol echo");
    }
    for point in &plan.points {
        let Point {
            out_bytes,
            in_bytes,
            depth,
            ..
        } = *point;
        let any_size = plan.protocol == Protocol::Lines;
        if out_bytes == 0 || (in_bytes == 0 && !any_size) {
            return refuse(
                "a size of 0 bytes cannot be exchanged".into(),
                "sizes from 1",
            );
        }
        let largest = out_bytes.max(in_bytes);
        if largest > kind.max_bytes {
            return refuse(
                format!(
                    "{largest} B is more than the {} B that {} carries",
                    kind.max_bytes, kind.scheme
                ),
                "smaller sizes",
            );
        }
        match plan.protocol {
            Protocol::Echo if out_bytes != in_bytes => {
                return refuse(
                    format!("an echo cannot answer {out_bytes} B with {in_bytes} B"),
                    "equal sizes (only --out), or --protocol wiregauge",
                );
            }
            Protocol::Wiregauge
                if (out_bytes as usize) < wiregauge_wire::REQUEST_HEADER
                    || (in_bytes as usize) < wiregauge_wire::RESPONSE_HEADER =>
            {
                return refuse(
                    format!("--out {out_bytes} --in {in_bytes} leaves no room for the headers"),
                    "--out from 16 and --in from 32, or --protocol echo for smaller sizes",
                );
            }
            Protocol::Lines if out_bytes < 2 => {
                return refuse("a line of 1 B is empty".into(), "--out from 2");
            }
            _ => {}
        }
        if depth == 0 {
            return refuse("a depth of 0 exchanges nothing".into(), "--depth from 1");
        }
        if depth > 1 && plan.connect == Connect::Each {
            return refuse(
                "--connect each requires --depth 1".into(),
                "--depth 1, or --connect once",
            );
        }
    }
    Ok(address)
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
                    format!("planning exchanges with {}", plan.address),
                    format!(
                        "{flag} {asked} is over the device's limit ({})",
                        responder.name
                    ),
                )
                .hint(format!("{flag} up to {most}")));
            }
        }
    }
    Ok(())
}
