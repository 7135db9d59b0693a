//! Which side limits an endpoint: the host, the device or the bus. docs/explain.md states the rules.

use crate::endpoint::Endpoint;
use crate::read::UrbType;
use crate::show::{count, percent, time};
use serde::Serialize;

/// Below this many data packets there is no verdict.
pub const ENOUGH: u64 = 20;
/// The share of the time from which a bus is full.
pub const FULL: f64 = 0.9;

/// Which side limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Verdict {
    /// Too few packets to say.
    TooFew {
        /// Data packets that there are.
        packets: u64,
    },
    /// The bus is idle, because the host does not ask.
    HostTooLate {
        /// Share of the time, 0 to 1.
        share: f64,
    },
    /// The host asks, and the device answers NAK.
    DeviceTooLate {
        /// Share of the time, 0 to 1.
        share: f64,
    },
    /// The frames are used, by this endpoint or by others.
    BusFull {
        /// Share of the time, 0 to 1.
        share: f64,
        /// The part of it that others use.
        others: f64,
    },
    /// The wait is for the bus behind a hub, which runs at full or low speed.
    HubTooLate {
        /// Share of the time, 0 to 1.
        share: f64,
    },
}

impl Verdict {
    /// A short name.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::TooFew { .. } => "too few packets",
            Verdict::HostTooLate { .. } => "host too late",
            Verdict::DeviceTooLate { .. } => "device too late",
            Verdict::BusFull { .. } => "bus full",
            Verdict::HubTooLate { .. } => "bus behind a hub",
        }
    }
}

/// Of an endpoint that carries data.
pub(crate) fn of_endpoint(endpoint: &Endpoint) -> Verdict {
    let (counts, parts) = (&endpoint.counts, &endpoint.parts);
    if counts.packets < ENOUGH || parts.total_ns <= 0.0 {
        return Verdict::TooFew {
            packets: counts.packets,
        };
    }
    let share = |ns: f64| ns / parts.total_ns;
    let used = share(parts.data_ns + parts.other_ns);
    if used >= FULL {
        return Verdict::BusFull {
            share: used,
            others: share(parts.other_ns),
        };
    }
    let (idle, nak, hub) = (
        share(parts.idle_ns),
        share(parts.nak_ns),
        share(parts.hub_ns),
    );
    if hub > idle && hub > nak {
        Verdict::HubTooLate { share: hub }
    } else if nak > idle {
        Verdict::DeviceTooLate { share: nak }
    } else {
        Verdict::HostTooLate { share: idle }
    }
}

/// The verdict in a sentence, with its evidence.
pub(crate) fn words(endpoint: &Endpoint, verdict: &Verdict) -> String {
    let (counts, parts) = (&endpoint.counts, &endpoint.parts);
    let naks = format!("{} of {} tokens", count(counts.naks), count(counts.tokens));
    let share = |ns: f64| percent(ns / parts.total_ns.max(1.0));
    let median = |times: Option<crate::Times>| times.map_or("-".into(), |times| time(times.p50_ns));
    let rest = |nak: bool, idle: bool| {
        let mut rest = Vec::new();
        if nak && parts.nak_ns > 0.0 {
            rest.push(format!(
                "{} of the time the device had answered NAK ({naks})",
                share(parts.nak_ns)
            ));
        }
        if idle {
            rest.push(format!("{} the host did not ask", share(parts.idle_ns)));
        }
        rest.push(format!("{} data", share(parts.data_ns)));
        rest.push(format!("{} other traffic", share(parts.other_ns)));
        rest.join(", ")
    };
    match *verdict {
        Verdict::TooFew { packets: 0 } if counts.naks > 0 => {
            format!("no verdict: no data passed; the device answered NAK to {naks}")
        }
        Verdict::TooFew { packets } => format!(
            "no verdict: data packets: {}, {ENOUGH} are needed",
            count(packets)
        ),
        Verdict::HostTooLate { share: idle } => {
            let polled = match endpoint.transfer {
                Some(UrbType::Interrupt | UrbType::Isochronous) => {
                    "; the host asks once an interval (bInterval)"
                }
                _ => "",
            };
            format!(
                "host too late: for {} of the time the bus was idle and the host did not ask; {}; from the end of a \
                 transaction to the next token {} (median){polled}",
                percent(idle),
                rest(true, false),
                median(endpoint.next_token),
            )
        }
        Verdict::DeviceTooLate { share: nak } => format!(
            "device too late: for {} of the time the device had answered NAK ({naks}); {}",
            percent(nak),
            rest(false, true),
        ),
        Verdict::BusFull {
            share: used,
            others,
        } => {
            let by = match others > used / 2.0 {
                true => ", most of it for other traffic",
                false => "",
            };
            format!(
                "bus full: {} of the time was used{by}; {}",
                percent(used),
                rest(true, true)
            )
        }
        Verdict::HubTooLate { share: hub } => format!(
            "bus behind a hub: for {} of the time a hub had the transaction ({} of {} tokens are split transactions); {}",
            percent(hub),
            count(counts.splits),
            count(counts.tokens),
            rest(true, true)
        ),
    }
}
