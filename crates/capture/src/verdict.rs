//! Which side limits an endpoint: the host, the device or the bus. docs/explain.md states the rules.

use crate::endpoint::Endpoint;
use crate::read::UrbType;
use crate::requests;
use serde::Serialize;
use wiregauge_quantity::{grouped, percent, time};

/// Below this many data packets there is no verdict.
pub const ENOUGH: u64 = 20;
/// The share of the time from which a bus is full.
pub const FULL: f64 = 0.9;

/// Which side limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Verdict {
    /// The host sends no token, or has not requested anything that the device could send.
    HostTooLate {
        /// Share of the time, 0 to 1.
        share: f64,
    },
    /// The device has something to do, and answers NAK.
    DeviceTooLate {
        /// Share of the time, 0 to 1.
        share: f64,
    },
    /// The frames are used, by this endpoint or by others; or the wait is for the bus behind a hub.
    Bus {
        /// Share of the time, 0 to 1.
        share: f64,
        /// The part of it that others use.
        others: f64,
        /// True if it is the bus behind a hub, which runs at full or low speed.
        behind_hub: bool,
    },
}

impl Verdict {
    /// A short name.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::HostTooLate { .. } => "host",
            Verdict::DeviceTooLate { .. } => "device (NAK)",
            Verdict::Bus {
                behind_hub: false, ..
            } => "bus full",
            Verdict::Bus { .. } => "bus behind a hub",
        }
    }
}

/// Of an endpoint that carries data; `None` if its packets are too few to say.
pub(crate) fn of_endpoint(endpoint: &Endpoint) -> Option<Verdict> {
    let (counts, parts) = (&endpoint.counts, &endpoint.parts);
    if counts.packets < ENOUGH || parts.total_ns <= 0.0 {
        return None;
    }
    let share = |ns: f64| ns / parts.total_ns;
    let used = share(parts.data_ns + parts.other_ns);
    if used >= FULL {
        return Some(Verdict::Bus {
            share: used,
            others: share(parts.other_ns),
            behind_hub: false,
        });
    }
    let (host, nak, hub) = (
        share(parts.idle_ns + parts.unrequested_ns),
        share(parts.nak_ns),
        share(parts.hub_ns),
    );
    Some(if hub > host && hub > nak {
        Verdict::Bus {
            share: hub,
            others: 0.0,
            behind_hub: true,
        }
    } else if nak > host {
        Verdict::DeviceTooLate { share: nak }
    } else {
        Verdict::HostTooLate { share: host }
    })
}

/// True if the IN endpoint responds to requests, which the other one takes: often, and about once for each transfer.
pub(crate) fn responds(to_host: &Endpoint, out: &Endpoint) -> bool {
    let transfers = to_host.counts.transfers.max(out.counts.transfers);
    out.device == to_host.device
        && out.endpoint & 0x80 == 0
        && out.endpoint != 0
        && to_host.responses >= ENOUGH
        && requests::are_most(to_host.responses, transfers)
}

/// A part of the time in a sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    None,
    Nak,
    Unrequested,
    Idle,
    Traffic,
}

/// The verdict in a sentence, with its evidence. `responder` is an endpoint that responds to the data of this one.
pub(crate) fn words(
    endpoint: &Endpoint,
    verdict: Option<Verdict>,
    responder: Option<u8>,
) -> String {
    let (counts, parts) = (&endpoint.counts, &endpoint.parts);
    let naks = format!(
        "{} of {} tokens",
        grouped(counts.naks),
        grouped(counts.tokens)
    );
    let share = |ns: f64| percent(ns / parts.total_ns.max(1.0));
    let rest = |without: Part| {
        let nak = format!("of the time the device had answered NAK ({naks})");
        let all = [
            (Part::Nak, parts.nak_ns, nak.as_str()),
            (
                Part::Unrequested,
                parts.unrequested_ns,
                "no request was outstanding",
            ),
            (Part::Idle, parts.idle_ns, "the host sent no token"),
            (Part::Traffic, parts.data_ns, "data"),
            (Part::Traffic, parts.other_ns, "other traffic"),
        ];
        let shown = all
            .iter()
            .filter(|(part, ns, _)| *part != without && (*ns > 0.0 || *part == Part::Traffic));
        let shown: Vec<String> = shown
            .map(|(_, ns, meaning)| format!("{} {meaning}", share(*ns)))
            .collect();
        shown.join(", ")
    };
    let host = || {
        let median = |times: Option<crate::Times>, what: &str| {
            times.map_or(String::new(), |times| {
                format!("; median pause {what} {}", time(times.p50_ns as f64))
            })
        };
        if parts.unrequested_ns > parts.idle_ns {
            return format!(
                "for {} of the time no request was outstanding{}; {}",
                share(parts.unrequested_ns),
                median(endpoint.request_pause, "before the next OUT packet"),
                rest(Part::Unrequested),
            );
        }
        let before = match counts.transfers > 1 {
            true => "before a transfer",
            false => "after a data packet",
        };
        format!(
            "for {} of the time the bus was idle and the host sent no token{}; {}",
            share(parts.idle_ns),
            median(endpoint.pause, before),
            rest(Part::Idle),
        )
    };
    let Some(verdict) = verdict else {
        return match counts.packets {
            0 if counts.naks > 0 => {
                format!("no verdict: no data passed; the device answered NAK to {naks}")
            }
            packets => format!(
                "no verdict: data packets: {}, {ENOUGH} are needed",
                grouped(packets)
            ),
        };
    };
    match verdict {
        Verdict::HostTooLate { .. } => {
            let polled = match endpoint.transfer {
                Some(UrbType::Interrupt | UrbType::Isochronous) => {
                    "; the endpoint is polled once an interval (bInterval)"
                }
                _ => "",
            };
            let responses = responder.map_or(String::new(), |endpoint| {
                format!(
                    "; a host that waits for responses sends nothing: see endpoint 0x{endpoint:02x}"
                )
            });
            format!("limited by the host: {}{polled}{responses}", host())
        }
        Verdict::DeviceTooLate { share: nak } => format!(
            "limited by the device (NAK): for {} of the time the device had answered NAK ({naks}); {}",
            percent(nak),
            rest(Part::Nak),
        ),
        Verdict::Bus {
            share: used,
            others,
            behind_hub: false,
        } => {
            let by = match others > used / 2.0 {
                true => ", most of it for other traffic",
                false => "",
            };
            format!(
                "bus full: {} of the time was used{by}; {}",
                percent(used),
                rest(Part::None)
            )
        }
        Verdict::Bus { share: hub, .. } => format!(
            "bus behind a hub: for {} of the time a hub had the transaction ({} of {} tokens are split transactions); {}",
            percent(hub),
            grouped(counts.splits),
            grouped(counts.tokens),
            rest(Part::None)
        ),
    }
}
