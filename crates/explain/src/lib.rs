//! Where the time of a run went, from the summaries that it stored: the application's part, the USB
//! stack's, the device's and the bus's; which of them limits, and what to try; the link in a few numbers.
//! Opens nothing, measures nothing. docs/explain.md defines every figure.

#![forbid(unsafe_code)]

mod depth;
mod exchange;
mod exchange_verdict;
mod meaning;
mod modbus;
mod modelled;
mod noun;
mod stream;
mod verdict;

pub use depth::{has_timeouts, silence_ns};
pub use exchange::{ExchangeSplit, name_of_rest};
pub use exchange_verdict::of_exchange;
pub use modbus::{ModbusSplit, of_modbus};
pub use modelled::{Modelled, Predicted, models_of_exchange};
pub use stream::{FlowSplit, StreamExplanation, ahead_of_device, of_stream};
pub use verdict::{Verdict, VerdictKind};

use wiregauge_record::Conditions;

/// True if the run used an interrupt endpoint, according to the settings that the link reported.
pub fn has_interrupt_endpoints(conditions: &Conditions) -> bool {
    conditions
        .link
        .settings
        .iter()
        .any(|(name, value)| name.contains("endpoint") && value.contains("interrupt"))
}
