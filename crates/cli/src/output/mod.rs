//! What the user sees: tables with units, warnings with remedies, progress.

pub mod explained;
pub mod progress;
pub mod stream_tables;
pub mod stream_warnings;
pub mod style;
pub mod tables;
pub mod units;
pub mod warnings;
