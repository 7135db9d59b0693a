//! What one of a model is called, and which settings can be measured for a better model.

use crate::depth::most_outstanding;
use crate::tries::{Request, Tries, Values};
use wiregauge_record::{Conditions, Connect, Plan, Protocol};

/// The words of exchanges, or of transfers.
pub(crate) struct Noun {
    pub(crate) one: &'static str,
    pub(crate) depth: &'static str,
    /// What to say where one depth was measured: what measures more of them, or why there are none.
    pub(crate) one_depth: String,
    /// What would make more settings.
    pub(crate) tries: Tries,
}

const K: u32 = 1024;
/// Values to try.
const DEPTHS: &[u32] = &[1, 2, 4, 8];
const TRANSFERS: &[u32] = &[64, 512, 4 * K, 16 * K, 64 * K];
const RESPONSES: &[u32] = &[64, 256, K, 4 * K, 16 * K];
const LINES: &[u32] = &[8, 16, 32, 64, 128, 256];
/// The sizes of requests and responses of the wiregauge protocol: their headers, and a request without --out.
const REQUEST: u32 = 16;
const RESPONSE: u32 = 32;
/// The largest messages of links that carry fewer bytes than the protocols.
const LARGEST: [(&str, u32); 2] = [("udp:", 65_507), ("hid:", 16_383)];

pub(crate) fn transfer() -> Noun {
    Noun {
        one: "transfer",
        depth: "queue",
        one_depth: unknown_stage("queue", "Try --queue 1,2,4,8"),
        tries: transfers(u32::MAX),
    }
}

pub(crate) fn system_call() -> Noun {
    Noun {
        one: "transfer",
        depth: "queue",
        one_depth: "this kind of link has no queue, so only the size of a transfer can be changed"
            .into(),
        tries: transfers(1),
    }
}

fn transfers(most_queued: u32) -> Tries {
    Tries {
        request: None,
        sizes: Some(Values {
            flag: "--transfer",
            list: TRANSFERS,
            least: 1,
            most: u32::MAX,
        }),
        are_of_both: false,
        depths: Values {
            flag: "--queue",
            list: DEPTHS,
            least: 1,
            most: most_queued,
        },
        otherwise: "Try several sizes",
        wanted: Vec::new(),
    }
}

/// Of a plan's exchanges with a device, which tries nothing that either refuses.
pub(crate) fn exchange(plan: &Plan, conditions: &Conditions, link: u32) -> Noun {
    let depths = Values {
        flag: "--depth",
        list: DEPTHS,
        least: 1,
        most: match plan.connect {
            Connect::Once => most_outstanding(plan, conditions, link),
            Connect::Each => 1,
        },
    };
    Noun {
        one: "exchange",
        depth: "depth",
        one_depth: match (depths.around(std::iter::empty()), plan.connect) {
            (Some(flag), _) => unknown_stage("depth", &format!("Try {flag}")),
            (None, Connect::Each) => {
                unknown_stage("depth", "With --connect each, exchanges cannot overlap")
            }
            (None, Connect::Once) => {
                unknown_stage("depth", "Only one request at a time is possible")
            }
        },
        tries: Tries {
            request: (plan.protocol == Protocol::Wiregauge)
                .then(|| request(plan, conditions, link)),
            sizes: sizes(plan, conditions, link),
            are_of_both: plan.protocol != Protocol::Wiregauge,
            depths,
            otherwise: match plan.queries {
                Some(_) => "Try queries with shorter and longer replies",
                None => "Try several sizes",
            },
            wanted: Vec::new(),
        },
    }
}

fn request(plan: &Plan, conditions: &Conditions, link: u32) -> Request {
    let mut all = plan.points.iter().map(|point| point.out_bytes);
    let first = all.next();
    let responder = conditions.responder_of(link);
    let stated = responder.map(|responder| responder.max_out_bytes);
    Request {
        default: REQUEST,
        of_run: first.filter(|first| all.all(|bytes| bytes == *first)),
        most: largest(plan, link, stated),
    }
}

/// `None` where the queries decide the sizes, or the frames of a CAN bus.
fn sizes(plan: &Plan, conditions: &Conditions, link: u32) -> Option<Values> {
    if address(plan, link).starts_with("can:") {
        return None;
    }
    let responder = conditions.responder_of(link);
    let stated = responder.map(|responder| responder.max_in_bytes);
    let (flag, list, least, stated) = match plan.protocol {
        Protocol::Lines => ("--out", LINES, 2, None),
        Protocol::Echo => ("--in", RESPONSES, 1, stated),
        Protocol::Wiregauge => ("--in", RESPONSES, RESPONSE, stated),
        Protocol::Text | Protocol::Scpi | Protocol::Modbus | Protocol::GetStatus => return None,
    };
    Some(Values {
        flag,
        list,
        least,
        most: largest(plan, link, stated),
    })
}

fn address(plan: &Plan, link: u32) -> &str {
    plan.links().nth(link as usize).unwrap_or_default()
}

/// The largest message that the link carries, and the device allows.
fn largest(plan: &Plan, link: u32, stated: Option<u32>) -> u32 {
    let address = address(plan, link);
    let of_link = LARGEST
        .iter()
        .find(|(scheme, _)| address.starts_with(scheme));
    let of_link = of_link.map_or(u32::MAX, |(_, most)| *most);
    stated
        .filter(|most| *most > 0)
        .unwrap_or(u32::MAX)
        .min(of_link)
}

fn unknown_stage(depth: &str, why: &str) -> String {
    format!("only one {depth} was measured, so the time of the slowest stage is unknown. {why}")
}
