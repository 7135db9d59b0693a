//! The interface that carries a socket: its speed is known on Linux only.

use crate::platform::socket::Channel;
use wiregauge_limits::Transport;
use wiregauge_record::BusLimit;

/// Not known.
pub fn of_socket(_channel: &Channel, _transport: Transport) -> Option<BusLimit> {
    None
}
