//! Depths: which the device allows, when a larger one gains nothing, and which points show it.

use wiregauge_record::{
    Conditions, Connect, Counts, ModbusLine, Plan, PointSummary, Protocol, ReplyEnd,
};

/// Rates within this factor count as equal: the scatter of short runs.
pub(crate) const EQUAL: f64 = 0.95;

/// Of a point with more exchanges unanswered than this, the rate is that of timeouts.
const UNANSWERED: f64 = 1e-3;

/// Fewer exchanges than this at a depth say nothing: the first and the last of them weigh too much.
pub(crate) fn needed(depth: u32) -> u64 {
    10 * u64::from(depth)
}

/// Exchanges without a correct response in time.
pub(crate) fn unanswered(counts: &Counts) -> u64 {
    counts.exchanges.saturating_sub(counts.answered)
}

/// True where more than a few exchanges had no response in time: the rate is that of timeouts.
pub fn has_timeouts(counts: &Counts) -> bool {
    (counts.lost + counts.late) as f64 > UNANSWERED * counts.exchanges as f64
}

/// True where at most a few exchanges had no correct response in time.
pub(crate) fn is_answered(counts: &Counts) -> bool {
    unanswered(counts) as f64 <= UNANSWERED * counts.exchanges as f64
}

/// True where the rate of a point tells what its depth is worth.
pub(crate) fn is_telling(point: &PointSummary) -> bool {
    is_answered(&point.counts) && point.counts.exchanges >= needed(point.point.depth)
}

/// The number of outstanding requests that the device allows.
pub(crate) fn most_outstanding(plan: &Plan, conditions: &Conditions, link: u32) -> u32 {
    if !may_overlap(plan) {
        return 1;
    }
    let responder = conditions.responder_of(link);
    match responder.map_or(0, |responder| responder.max_outstanding) {
        0 => u32::MAX,
        most => most,
    }
}

/// What allows only one outstanding request: the flags of the run, its link, or else the device.
pub(crate) fn one_at_a_time(plan: &Plan) -> String {
    let address = plan.links().next().unwrap_or_default();
    let scheme = address.split(':').next().unwrap_or_default();
    let ends_by_silence = plan
        .queries
        .as_ref()
        .is_some_and(|queries| matches!(queries.reply, ReplyEnd::IdleNs(_)));
    let only = "only one exchange at a time is possible";
    match plan.connect {
        Connect::Each => format!("with --connect each, {only}"),
        Connect::Once if may_overlap(plan) => {
            "the device allows only one exchange at a time".to_owned()
        }
        Connect::Once if scheme == "usbtmc" => format!("on usbtmc: links, {only}"),
        Connect::Once if ends_by_silence && scheme != "can" => format!("with --idle, {only}"),
        Connect::Once => match plan.protocol {
            Protocol::Scpi => format!("with --protocol scpi, {only}"),
            protocol => format!(
                "with --protocol {} on {scheme}: links, {only}",
                protocol.name()
            ),
        },
    }
}

/// The silence that the plan requires between a reply and the next request, in nanoseconds. Neither the device nor the
/// host takes it.
pub fn silence_ns(plan: &Plan) -> u64 {
    let queries = plan.queries.as_ref();
    match queries.map(|queries| &queries.reply) {
        Some(ReplyEnd::IdleNs(silence_ns)) => *silence_ns,
        Some(ReplyEnd::Modbus(ModbusLine::Rtu { silence_ns })) => *silence_ns,
        _ => 0,
    }
}

/// False if replies can only be told apart with one request outstanding, or the link takes no more.
fn may_overlap(plan: &Plan) -> bool {
    if plan.links().any(|link| link.starts_with("usbtmc:")) {
        return false;
    }
    let Some(queries) = &plan.queries else {
        return true;
    };
    let is_datagram = plan.links().any(|link| link.starts_with("udp:"));
    match (plan.protocol, &queries.reply) {
        (Protocol::Scpi | Protocol::GetStatus, _) | (_, ReplyEnd::IdleNs(_)) => false,
        (_, ReplyEnd::Modbus(line)) => *line == ModbusLine::Tcp,
        _ => !is_datagram,
    }
}
