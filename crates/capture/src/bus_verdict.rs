//! What limits a bus as a whole.

use crate::judged::{Judged, Shares};
use crate::verdict::{ENOUGH, FULL, Verdict, responds};
use wiregauge_quantity::percent;

/// Of the bus: that of the endpoint that carried most, unless the frames are full.
pub(crate) fn of(endpoints: &[Judged], shares: &Shares) -> (Option<Verdict>, String) {
    let carried = |judged: &&Judged| (judged.endpoint.counts.bytes, judged.endpoint.counts.packets);
    let busiest = endpoints
        .iter()
        .filter_map(|judged| judged.verdict.map(|verdict| (judged, verdict)))
        .max_by_key(|(judged, _)| carried(judged));
    // A host that waits for responses sends nothing meanwhile: the side that limits is that of the responses.
    let busiest = busiest.map(|(judged, verdict)| {
        let responder = endpoints.iter().find_map(|other| {
            let verdict = (other.verdict).filter(|_| responds(&other.endpoint, &judged.endpoint));
            Some((other, verdict?))
        });
        match verdict {
            Verdict::HostTooLate { .. } => responder.unwrap_or((judged, verdict)),
            _ => (judged, verdict),
        }
    });
    let use_of = format!(
        "on the wire: data {}, NAK {}, starts of frame {}, other {}; unused {}; busiest frame {} used",
        percent(shares.data),
        percent(shares.nak),
        percent(shares.sof),
        percent(shares.other),
        percent(shares.idle),
        percent(shares.busiest)
    );
    let packets: u64 = endpoints
        .iter()
        .map(|one| one.endpoint.counts.packets)
        .sum();
    if shares.data >= FULL && packets >= ENOUGH {
        let verdict = Verdict::Bus {
            share: shares.data,
            others: 0.0,
            behind_hub: false,
        };
        return (Some(verdict), format!("bus full: {use_of}"));
    }
    match busiest {
        Some((judged, verdict)) => {
            let by = match verdict {
                Verdict::HostTooLate { .. } => "the host",
                Verdict::DeviceTooLate { .. } => "the device (NAK)",
                Verdict::Bus {
                    behind_hub: false, ..
                } => "a full bus",
                Verdict::Bus { .. } => "the bus behind a hub",
            };
            let most = endpoints.iter().map(|one| carried(&one)).max();
            let why = match Some(carried(&judged)) == most {
                true => "carried most",
                false => "responds to the requests",
            };
            let words = format!(
                "{}; endpoint 0x{:02x} of device {}, which {why}, is limited by {by}; {use_of}",
                match shares.idle > 0.0 {
                    true => format!("not full: {} unused", percent(shares.idle)),
                    false => "in use all the time".into(),
                },
                judged.endpoint.endpoint,
                judged.endpoint.device,
            );
            (Some(verdict), words)
        }
        None => (None, format!("no verdict: too few data packets; {use_of}")),
    }
}
