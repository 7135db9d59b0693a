//! The measuring engine of wiregauge.
//!
//! Data goes one way: a plan (`wiregauge_record::Plan`) opens a [`link`], [`exchange`] or [`mod@stream`]
//! measures over it and hands samples to a sink, which summarises and stores them. [`serve`] is the other end
//! of the wire, [`host`] is this computer: its clock, its priorities, its load and its own floor.

pub mod bus;
pub mod closed_loop;
mod crew;
pub mod device;
pub mod devices;
pub mod error;
pub mod exchange;
pub mod host;
pub mod limits;
pub mod link;
pub mod nodes;
mod ring;
pub mod serve;
pub mod sink;
pub mod stream;

pub use error::{LinkError, LinkErrorKind};
