//! All integration tests of this crate in one program, which links once.

mod bus;
mod hello_tokens;
mod hub;
mod models;
mod plant;
mod refused_replies;
mod serve_streams;
mod virtual_host;
mod writes;
