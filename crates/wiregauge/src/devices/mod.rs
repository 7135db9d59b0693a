//! What could be measured from here: USB devices, serial ports, responders on the network. Looking
//! opens nothing and sends nothing; only a probe does.

mod network;
mod probe;
mod serial;
mod usb;

use serde::Serialize;

pub use network::{NetworkDevice, PORT};
pub use serial::SerialPort;
pub use usb::{UsbDevice, usb_port};

/// All that was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Survey {
    /// USB devices but root hubs.
    pub usb: Vec<UsbDevice>,
    /// Why there are no USB devices, where the system has none at all.
    pub usb_problem: Option<String>,
    /// Serial ports.
    pub serial: Vec<SerialPort>,
    /// What listens on the responders' port of this host; after a probe also of its neighbours.
    pub network: Vec<NetworkDevice>,
}

/// What is known of the program behind a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Answer {
    /// It was not asked.
    #[default]
    NotAsked,
    /// It was not asked, but its USB strings say that it is a wiregauge responder.
    SaysSo,
    /// It answered HELLO.
    Responder {
        /// The name that it gave.
        name: String,
    },
    /// It was asked and is no responder, or could not be asked.
    None {
        /// Why.
        why: String,
    },
}

/// Looks. With `probe` every USB and serial device that could be a responder is opened and asked
/// HELLO, and so are this host and its neighbours on the default port.
pub fn survey(probe: bool) -> Survey {
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
    survey.serial = serial::ports(&survey.usb);
    survey.network = network::listeners();
    if probe {
        probe::probe(&mut survey);
    }
    survey
}

/// True if the strings of a USB device say that a wiregauge responder runs on it.
fn says_so(manufacturer: Option<&str>, product: Option<&str>) -> bool {
    [manufacturer, product]
        .into_iter()
        .flatten()
        .any(|text| text.to_ascii_lowercase().contains("wiregauge"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_responder_is_known_by_its_strings() {
        assert!(says_so(Some("Wiregauge"), None));
        assert!(says_so(Some("Acme"), Some("wiregauge bulk")));
        assert!(!says_so(Some("Acme"), Some("gauge")));
        assert!(!says_so(None, None));
    }

    #[test]
    fn looking_finds_every_listener_once() {
        let survey = survey(false);
        let mut addresses: Vec<&String> = survey.network.iter().map(|n| &n.address).collect();
        let all = addresses.len();
        addresses.sort();
        addresses.dedup();
        assert_eq!(addresses.len(), all);
        assert!(survey.network.iter().all(|n| n.answer == Answer::NotAsked));
    }
}
