//! What could be measured from here: USB devices, HID devices, USBTMC instruments, serial ports, responders on the network. Looking
//! opens nothing and sends nothing; only a probe does (`wiregauge_measure::probe`).

mod answer;
mod hid;
mod network;
mod serial;
mod usb;
mod usbtmc;

use serde::Serialize;

pub use crate::can::CanInterface;
pub use answer::Answer;
pub use hid::{HidDevice, devices as hid_devices};
pub use network::{NetworkDevice, PORT, neighbours};
pub use serial::SerialPort;
pub use usb::{UsbDevice, usb_port};
pub use usbtmc::TmcDevice;

/// All that was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Survey {
    /// USB devices but root hubs.
    pub usb: Vec<UsbDevice>,
    /// Why there are no USB devices, where the system has none at all.
    pub usb_problem: Option<String>,
    /// HID devices, those of vendor usage pages first.
    pub hid: Vec<HidDevice>,
    /// USBTMC instruments.
    pub usbtmc: Vec<TmcDevice>,
    /// Serial ports.
    pub serial: Vec<SerialPort>,
    /// CAN interfaces.
    pub can: Vec<CanInterface>,
    /// What listens on the responders' port of this host; after a probe also of its neighbours.
    pub network: Vec<NetworkDevice>,
}

/// Lists what is attached and what listens, without opening it.
pub fn survey() -> Survey {
    let mut survey = match usb::devices() {
        Ok(usb) => Survey {
            usb,
            ..Survey::default()
        },
        Err(problem) => Survey {
            usb_problem: Some(problem),
            ..Survey::default()
        },
    };
    survey.hid = hid::devices();
    survey.usbtmc = usbtmc::devices();
    survey.serial = serial::ports(&survey.usb);
    survey.can = crate::can::interfaces();
    survey.network = network::listeners();
    survey
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_finds_every_listener_once() {
        let survey = survey();
        let mut addresses: Vec<&String> = survey.network.iter().map(|n| &n.address).collect();
        let all = addresses.len();
        addresses.sort();
        addresses.dedup();
        assert_eq!(addresses.len(), all);
        assert!(survey.network.iter().all(|n| n.answer == Answer::NotAsked));
    }
}
