//! What the user sees: tables with units, warnings with remedies, progress.

pub mod captured;
pub mod explained;
pub mod files;
pub mod findings;
pub mod modelled;
pub mod progress;

pub use wiregauge_program::style;
