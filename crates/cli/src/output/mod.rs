//! What the user sees: tables with units, warnings with remedies, progress.

pub mod explained;
pub mod files;
pub mod modelled;
pub mod progress;
pub mod style;
