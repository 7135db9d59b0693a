//! What the user sees: tables with units, warnings with remedies, progress.

pub mod progress;
pub mod stream_tables;
pub mod style;
pub mod tables;
pub mod units;
pub mod warnings;
