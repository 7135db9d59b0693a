//! What replies say that were not the expected ones.

use wiregauge_record::{Plan, ReplyEnd, Sample, escape};
use wiregauge_session::modbus;

/// Bytes of a reply that are shown.
const SHOWN: usize = 48;

/// A kept reply in a few words.
pub fn describe(plan: &Plan, sample: &Sample, reply: &[u8]) -> String {
    if let Some(queries) = &plan.queries
        && let ReplyEnd::Modbus(line) = queries.reply
    {
        return modbus::describe(line, &queries.of(sample.sequence).bytes, reply);
    }
    let more = if reply.len() > SHOWN { "..." } else { "" };
    format!("{}{more}", escape(&reply[..reply.len().min(SHOWN)]))
}
