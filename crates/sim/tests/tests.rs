//! One program of all tests of this crate, so that what they use is linked once.

mod at_rest;
mod control_loops;
mod loop_scripts;
mod matrix;
mod responders;
mod stream_responders;
mod streams;
