//! What limits a bus as a whole.

use crate::judged::{Judged, Shares};
use crate::show::percent;
use crate::verdict::{ENOUGH, FULL, Verdict};

/// Of the bus: that of the endpoint that carried most, unless the frames are full.
pub(crate) fn of(endpoints: &[Judged], shares: &Shares) -> (Verdict, String) {
    let carried = |judged: &&Judged| (judged.endpoint.counts.bytes, judged.endpoint.counts.packets);
    let busiest = endpoints
        .iter()
        .filter_map(|judged| judged.verdict.map(|verdict| (judged, verdict)))
        .filter(|(_, verdict)| !matches!(verdict, Verdict::TooFew { .. }))
        .max_by_key(|(judged, _)| carried(judged));
    let use_of = format!(
        "data {}, NAK {}, starts of frame {}, other {}, idle {}; busiest frame {}",
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
        let verdict = Verdict::BusFull {
            share: shares.data,
            others: 0.0,
        };
        return (verdict, format!("bus full: {use_of}"));
    }
    match busiest {
        Some((judged, verdict)) => {
            let words = format!(
                "{}, by endpoint 0x{:02x} of device {}, which carried most; {use_of}",
                verdict.name(),
                judged.endpoint.endpoint,
                judged.endpoint.device
            );
            (verdict, words)
        }
        None => {
            let packets = endpoints
                .iter()
                .filter(|judged| judged.verdict.is_some())
                .map(|judged| judged.endpoint.counts.packets)
                .max()
                .unwrap_or(0);
            let words = format!("no verdict: too few data packets; {use_of}");
            (Verdict::TooFew { packets }, words)
        }
    }
}
