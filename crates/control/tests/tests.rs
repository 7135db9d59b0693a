//! All integration tests of this crate in one program, which links once.

mod any_order;
mod assessed;
mod long_run;
mod loops;
mod margins;
mod mean_cost;
mod plant;
mod published;
mod replayed;
mod speed;
