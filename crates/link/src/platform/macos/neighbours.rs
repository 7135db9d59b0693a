//! The network: which hosts this one talks to is not known.

use crate::devices::NetworkDevice;
use std::net::Ipv4Addr;

/// What listens on this host is not known.
pub fn listeners() -> Vec<NetworkDevice> {
    Vec::new()
}

/// Which hosts this one talks to is not known.
pub fn neighbours() -> Vec<Ipv4Addr> {
    Vec::new()
}
