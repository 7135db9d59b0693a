//! What one of a model is called, and which settings to measure for a better model: none that the plan or the device
//! refuses.

use crate::depth::{most_outstanding, responder_of};
use wiregauge_record::{Conditions, Connect, Plan, Protocol};

/// The words of exchanges, or of transfers.
pub(crate) struct Noun {
    pub(crate) one: &'static str,
    pub(crate) depth: &'static str,
    /// What to say where one depth was measured: what measures more of them, or why there are none.
    pub(crate) one_depth: String,
    /// What would make more settings.
    pub(crate) try_more: String,
    /// The same where that many were not enough.
    try_many: String,
}

/// Settings that `try_more` measures: with as many or more, `try_many` is proposed.
const TRIED: usize = 6;

impl Noun {
    /// What measures more settings than this many.
    pub(crate) fn try_beyond(&self, settings: usize) -> &str {
        match settings < TRIED {
            true => &self.try_more,
            false => &self.try_many,
        }
    }
}

pub(crate) fn transfer() -> Noun {
    Noun {
        one: "transfer",
        depth: "queue",
        one_depth: unknown_stage("queue", "Try --queue 1,2,4,8"),
        try_more: "Try --transfer 512,4k,64k --queue 1,4".into(),
        try_many: "Try --transfer 64,512,4k,16k,64k --queue 1,2,4,8".into(),
    }
}

pub(crate) fn system_call() -> Noun {
    Noun {
        one: "transfer",
        depth: "queue",
        one_depth: "this kind of link has no queue, so only the size of a transfer can be changed"
            .into(),
        try_more: "Try --transfer 512,4k,64k".into(),
        try_many: "Try --transfer 64,256,1k,4k,16k,64k,256k".into(),
    }
}

/// Of a plan's exchanges with a device, which tries nothing that either refuses.
pub(crate) fn exchange(plan: &Plan, conditions: &Conditions, link: u32) -> Noun {
    let most = match plan.connect {
        Connect::Once => most_outstanding(plan, conditions, link),
        Connect::Each => 1,
    };
    let depths = |wanted: &[u32]| {
        let allowed = wanted.iter().filter(|&&depth| depth <= most);
        let allowed: Vec<String> = allowed.map(u32::to_string).collect();
        (allowed.len() > 1).then(|| format!("--depth {}", allowed.join(",")))
    };
    let sizes = |wanted: &[u32]| {
        let (flag, most) = match plan.protocol {
            Protocol::Lines => ("--out", u32::MAX),
            Protocol::Echo | Protocol::Wiregauge => ("--in", largest_response(conditions, link)),
            // The queries decide the sizes.
            Protocol::Text | Protocol::Scpi | Protocol::Modbus | Protocol::GetStatus => {
                return None;
            }
        };
        // Those of CAN depend on its frames.
        let address = plan.links().nth(link as usize);
        if address.is_some_and(|address| address.starts_with("can:")) {
            return None;
        }
        let allowed = wanted.iter().filter(|&&bytes| bytes <= most);
        let allowed: Vec<String> = allowed.map(|&bytes| size(bytes)).collect();
        (allowed.len() > 1).then(|| format!("{flag} {}", allowed.join(",")))
    };
    let (few, many): (&[u32], &[u32]) = match plan.protocol {
        Protocol::Lines => (&[16, 64, 256], &[8, 16, 32, 64, 128, 256]),
        _ => (&[64, 512, 4 * K], &[64, 256, K, 4 * K, 16 * K]),
    };
    // A model requires three settings: without sizes they are depths.
    let more = match sizes(few) {
        Some(_) => depths(&[1, 4]).or_else(|| depths(&[1, 2])),
        None => depths(&[1, 2, 4]).or_else(|| depths(&[1, 2])),
    };
    let of = |sizes: Option<String>, depths: Option<String>| match (sizes, depths) {
        (Some(sizes), Some(depths)) => format!("Try {sizes} {depths}"),
        (Some(sizes), None) => format!("Try {sizes}"),
        (None, Some(depths)) => format!("Try {depths}"),
        (None, None) if plan.queries.is_some() => {
            "Try queries with shorter and longer replies".into()
        }
        (None, None) => "Try several sizes".into(),
    };
    Noun {
        one: "exchange",
        depth: "depth",
        one_depth: match (depths(&[1, 2, 4, 8]), plan.connect) {
            (Some(flag), _) => unknown_stage("depth", &format!("Try {flag}")),
            (None, Connect::Each) => {
                unknown_stage("depth", "With --connect each, exchanges cannot overlap")
            }
            (None, Connect::Once) => {
                unknown_stage("depth", "Only one request at a time is possible")
            }
        },
        try_more: of(sizes(few), more),
        try_many: of(sizes(many), depths(&[1, 2, 4, 8])),
    }
}

const K: u32 = 1024;

/// A size as one writes it in a flag: 4k.
fn size(bytes: u32) -> String {
    match bytes % K {
        0 => format!("{}k", bytes / K),
        _ => bytes.to_string(),
    }
}

/// The largest response that the device allows.
fn largest_response(conditions: &Conditions, link: u32) -> u32 {
    match responder_of(conditions, link).map_or(0, |responder| responder.max_in_bytes) {
        0 => u32::MAX,
        most => most,
    }
}

fn unknown_stage(depth: &str, why: &str) -> String {
    format!("only one {depth} was measured, so the time of the slowest stage is unknown. {why}")
}
