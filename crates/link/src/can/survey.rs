//! The CAN interfaces of this host, for `wiregauge devices`.

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
