//! All integration tests of this crate in one program, which links once.

mod bus;
mod hub;
mod models;
mod plant;
mod refused_replies;
mod serve_refusals;
mod serve_streams;
mod virtual_host;
mod writes;
