//! Data that flows without waiting for answers: the orders that begin and end a stream, its pattern,
//! which codes the position of every byte, and the check that tells what became of them.

mod bus_counts;
mod checker;
mod order;
mod pattern;

pub use bus_counts::BusCounts;
pub use checker::{StreamChecker, StreamCounts, Taken};
pub use order::{StreamOrder, StreamReport, Verb};
pub use pattern::fill_stream;

/// Bytes in a [`StreamOrder`], the payload of SINK and SOURCE requests.
pub const STREAM_ORDER: usize = 16;
/// Bytes in a [`StreamReport`], the payload of the answer to END.
pub const STREAM_REPORT: usize = 72;
/// Bytes in [`BusCounts`], which follow a [`StreamReport`] where the host has asked for them.
pub const BUS_COUNTS: usize = 56;
/// The largest frame, header included, that may stand within a stream. Whatever looks like a header
/// there and announces more is taken for damaged data.
pub const STREAM_FRAME: usize = 512;
