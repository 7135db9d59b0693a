//! USB 3.2's super speeds: upper bounds, because the specification has no tables. Packets stand back to
//! back, with the line code and what frames each; link commands, skips and the host take more.

use crate::endpoint::Endpoint;
use crate::limit::Limit;
use crate::speed::{FRAMING, Speed, Transfer, periodic_percent, symbols_s};
use wiregauge_quantity::grouped;

/// A transaction packet, such as an acknowledgement, with its framing (USB 3.2, 7.2.1.1).
const HEADER_PACKET: u64 = 20;

/// The eight bytes of a setup packet (USB 3.2, 9.3).
const SETUP: u64 = 8;

pub(crate) fn limit(endpoint: &Endpoint) -> Limit {
    let symbols = symbols_s(endpoint.speed);
    let rate = grouped(symbols.round() as u64);
    let payload = u64::from(endpoint.packet_bytes);
    let mut notes = vec![
        "An upper bound: link commands, skips, acknowledgements and the host controller take additional time."
            .to_owned(),
    ];
    let gigabits = endpoint.speed.bits_s() / 1_000_000_000;
    let (bytes_s, message_symbols, formula, source) = match endpoint.transfer {
        Transfer::Bulk => {
            let bytes_s = (symbols * payload as f64 / (payload + FRAMING) as f64).floor();
            let formula = format!(
                "{rate} symbols/s x {payload} / ({payload} + {FRAMING}) = {} B/s",
                grouped(bytes_s.round() as u64)
            );
            let source = format!(
                "USB {gigabits} Gbit/s bulk, upper bound: {payload} B packets back to back, USB 3.2, 7.2.1"
            );
            (bytes_s, payload + FRAMING, formula, source)
        }
        Transfer::Control => {
            notes.push(
                "A read with one data packet. Towards the host: acknowledgement of the setup packet, \
                 the data, acknowledgement of the status; away from it: setup packet, request, \
                 acknowledgement, status (USB 3.2, 8.12.2). The longer of the two counts."
                    .to_owned(),
            );
            let to_host = payload + FRAMING + 2 * HEADER_PACKET;
            let from_host = SETUP + FRAMING + 3 * HEADER_PACKET;
            let longer = to_host.max(from_host);
            let bytes_s = (symbols * payload as f64 / longer as f64).floor();
            let formula = format!(
                "{rate} symbols/s x {payload} / max({payload} + {FRAMING} + 2 x {HEADER_PACKET}, {SETUP} \
                 + {FRAMING} + 3 x {HEADER_PACKET}) = {} B/s",
                grouped(bytes_s.round() as u64)
            );
            let source =
                format!("USB {gigabits} Gbit/s control, upper bound, USB 3.2, 7.2.1 and 8.12.2");
            (bytes_s, to_host + from_host, formula, source)
        }
        Transfer::Interrupt | Transfer::Isochronous => {
            let every = endpoint.served_ns() as f64;
            let bytes_s = f64::from(endpoint.packets) * payload as f64 * 1e9 / every;
            notes.push(format!(
                "Periodic endpoints together may use {} % of the time (USB 3.2, 4.4.7 and 4.4.8).",
                periodic_percent(endpoint.speed)
            ));
            if endpoint.transfer == Transfer::Isochronous && endpoint.speed != Speed::Super5 {
                notes.push(
                    "As many packets as fit in that share; the companion descriptors of an endpoint limit it \
                     further (USB 3.2, 9.6.7 and 9.6.8)."
                        .to_owned(),
                );
            }
            let formula = endpoint.periodic_formula(bytes_s);
            (
                bytes_s,
                payload + FRAMING,
                formula,
                endpoint.periodic_source(),
            )
        }
    };
    Limit {
        bytes_s,
        messages_s: bytes_s / payload as f64,
        message_ns: message_symbols as f64 * 1e9 / symbols,
        raw_bytes_s: endpoint.speed.bits_s() as f64 / 8.0,
        shared: false,
        formula,
        source,
        notes,
    }
}
