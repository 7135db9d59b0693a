//! Captures as a program writes and reads them.

mod made;
mod reading;
mod responders;
mod verdicts;
