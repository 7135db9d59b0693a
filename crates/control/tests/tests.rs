//! All integration tests of this crate in one program, which links once.

mod any_order;
mod long_run;
mod loops;
mod margins;
