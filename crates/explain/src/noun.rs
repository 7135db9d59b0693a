//! What one of a model is called, and which settings to measure for a better model: none that the plan, the link or the
//! device refuses.

use crate::depth::{most_outstanding, one_at_a_time};
use std::ops::RangeInclusive;
use wiregauge_record::{Conditions, Connect, Plan, Protocol};

/// The words of exchanges, or of transfers.
pub(crate) struct Noun {
    pub(crate) one: &'static str,
    pub(crate) depth: &'static str,
    /// What to say where one depth was measured: what measures more of them, or why there are none.
    pub(crate) one_depth: String,
    /// What measures enough settings for a model: `Try --in 64,256,1k --depth 1,2,4,8`.
    pub(crate) tries: String,
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

/// Of a stream; `is_queued`: its link has transfers that pend.
pub(crate) fn stream(is_queued: bool) -> Noun {
    let most = if is_queued { u32::MAX } else { 1 };
    let queues = flag("--queue", DEPTHS, 1..=most);
    let transfers = flag("--transfer", TRANSFERS, 1..=u32::MAX);
    let no_queue = "this kind of link has no queue, so only the size of a transfer can be changed";
    Noun {
        one: "transfer",
        depth: "queue",
        one_depth: match &queues {
            Some(flag) => unknown_stage("queue", &format!(". Try {flag}")),
            None => no_queue.to_owned(),
        },
        tries: proposal([transfers, queues], "Try several sizes"),
    }
}

/// Of a plan's exchanges with a device, which tries nothing that either refuses.
pub(crate) fn exchange(plan: &Plan, conditions: &Conditions, link: u32) -> Noun {
    let most = match plan.connect {
        Connect::Once => most_outstanding(plan, conditions, link),
        Connect::Each => 1,
    };
    let depths = flag("--depth", DEPTHS, 1..=most);
    let otherwise = match plan.queries {
        Some(_) => "Try queries with shorter and longer replies",
        None => "Try several sizes",
    };
    let tries = proposal([sizes(plan, conditions, link), depths.clone()], otherwise);
    Noun {
        one: "exchange",
        depth: "depth",
        one_depth: match depths {
            Some(flag) => unknown_stage("depth", &format!(". Try {flag}")),
            None => unknown_stage("depth", &format!(": {}", one_at_a_time(plan))),
        },
        tries: match request(plan) {
            Some(bytes) => tries.replacen("Try --", &format!("Try --out {bytes} --"), 1),
            None => tries,
        },
    }
}

/// The size of all requests of a run, where it is set apart from that of the responses, and not the one without a flag.
fn request(plan: &Plan) -> Option<u32> {
    let mut all = plan.points.iter().map(|point| point.out_bytes);
    let first = all.next().filter(|first| *first != REQUEST)?;
    (plan.protocol == Protocol::Wiregauge && all.all(|bytes| bytes == first)).then_some(first)
}

/// `None` where the queries decide the sizes, or the frames of a CAN bus.
fn sizes(plan: &Plan, conditions: &Conditions, link: u32) -> Option<String> {
    let address = plan.links().nth(link as usize).unwrap_or_default();
    let responder = conditions.responder_of(link);
    let stated = responder.map(|responder| responder.max_in_bytes);
    let (name, list, least, stated) = match plan.protocol {
        _ if address.starts_with("can:") => return None,
        Protocol::Lines => ("--out", LINES, 2, None),
        Protocol::Echo => ("--in", RESPONSES, 1, stated),
        Protocol::Wiregauge => ("--in", RESPONSES, RESPONSE, stated),
        Protocol::Text | Protocol::Scpi | Protocol::Modbus | Protocol::GetStatus => return None,
    };
    let mut of_link = LARGEST.iter();
    let of_link = of_link.find(|(scheme, _)| address.starts_with(scheme));
    let of_link = of_link.map_or(u32::MAX, |(_, most)| *most);
    let stated = stated.filter(|most| *most > 0).unwrap_or(u32::MAX);
    flag(name, list, least..=stated.min(of_link))
}

fn unknown_stage(depth: &str, why: &str) -> String {
    format!("only one {depth} was measured, so the time of the slowest stage is unknown{why}")
}

/// The flag with the values that are possible; `None` if fewer than two are.
fn flag(name: &str, list: &[u32], possible: RangeInclusive<u32>) -> Option<String> {
    let values = list.iter().filter(|value| possible.contains(*value));
    let values: Vec<String> = values.map(|value| size(*value)).collect();
    (values.len() > 1).then(|| format!("{name} {}", values.join(",")))
}

/// What to try; `otherwise` if there is neither another size nor another depth.
fn proposal(flags: [Option<String>; 2], otherwise: &str) -> String {
    let flags: Vec<String> = flags.into_iter().flatten().collect();
    match flags.is_empty() {
        true => otherwise.to_owned(),
        false => format!("Try {}", flags.join(" ")),
    }
}

/// A size as one writes it in a flag: 4k.
fn size(bytes: u32) -> String {
    match bytes % K {
        0 => format!("{}k", bytes / K),
        _ => bytes.to_string(),
    }
}
