//! An open device, on every kind of link that exists without hardware, against the responder and against
//! peers that know nothing of wiregauge.

#![allow(clippy::unwrap_used)]

mod connecting;
mod exchanges;
mod foreign;
mod loops;
mod modbus;
mod parts;
mod text;
