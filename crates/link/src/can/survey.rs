//! The CAN interfaces of this host, for `wiregauge devices`.

use super::interface;
use serde::Serialize;

/// A CAN interface.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CanInterface {
    /// What to give to wiregauge.
    pub address: String,
    /// `can` for a controller; `vcan`, `vxcan`, `slcan`.
    pub kind: Option<String>,
    /// Kernel driver of the controller.
    pub driver: Option<String>,
    /// Bits a second.
    pub bitrate: Option<u32>,
    /// Bits a second of the data phase of CAN FD.
    pub data_bitrate: Option<u32>,
    /// It takes frames of CAN FD.
    pub fd: bool,
    /// `down`, or the state of the controller; `up` where there is none.
    pub state: String,
}

/// All of them.
pub fn interfaces() -> Vec<CanInterface> {
    let of = |name: String| {
        let found = interface::find(&name)?;
        let state = match (found.is_up, found.timing.state_name()) {
            (false, _) => "down",
            (true, Some(state)) => state,
            (true, None) => "up",
        };
        Some(CanInterface {
            address: format!("can://{name}"),
            driver: interface::driver(&name),
            kind: found.timing.kind,
            bitrate: found.timing.bitrate,
            data_bitrate: found.timing.data_bitrate,
            fd: found.has_fd,
            state: state.into(),
        })
    };
    interface::names().into_iter().filter_map(of).collect()
}
