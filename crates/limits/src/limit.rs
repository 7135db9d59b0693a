//! A limit as it is printed: the figures, how they come about, where that is written.

use serde::Serialize;
use wiregauge_record::BusLimit;

/// What a medium carries at best. A message is what it carries as one: a packet, a control transfer,
/// a byte of a UART, the payload of a TCP or UDP message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// Bytes of payload a second.
    pub bytes_s: f64,
    /// Messages a second.
    pub messages_s: f64,
    /// Least time in which one message passes, in nanoseconds.
    pub message_ns: f64,
    /// Bits a second as they are signalled, divided by 8.
    pub raw_bytes_s: f64,
    /// True where both directions share the limit (USB 2.0), false where each has its own.
    pub shared: bool,
    /// The formula with its numbers put in.
    pub formula: String,
    /// What the limit is and where it is written.
    pub source: String,
    /// What the figure leaves out, and what else is known of it.
    pub notes: Vec<String>,
}

impl Limit {
    /// Payload over what is signalled, 0 to 1.
    pub fn efficiency(&self) -> f64 {
        self.bytes_s / self.raw_bytes_s
    }

    /// As it is kept with a run.
    pub fn for_run(&self) -> BusLimit {
        BusLimit {
            bytes_s: self.bytes_s,
            shared: self.shared,
            source: self.source.clone(),
            used: 0.0,
        }
    }
}
