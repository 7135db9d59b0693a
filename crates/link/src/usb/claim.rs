//! An opened device whose interface is ours: kernel drivers are taken off it and put back when it
//! is dropped.

use super::address::Settings;
use super::choose::{self, Choice, InterfaceFact, OneWayChoice};
use super::identity::Identity;
use crate::error::{LinkError, LinkErrorKind};
use crate::platform;
use nusb::descriptors::ConfigurationDescriptor;
use nusb::transfer::{ControlOut, ControlType, Recipient};
use nusb::{Device, DeviceInfo, Interface, MaybeFuture};
use std::sync::Arc;
use std::time::Duration;

/// SET_CONTROL_LINE_STATE and its bits, USB PSTN 1.2, 6.3.12: DTR and RTS.
const SET_CONTROL_LINE_STATE: u8 = 0x22;
const DTR_AND_RTS: u16 = 3;

/// A control request to a healthy device takes milliseconds.
const CONTROL: Duration = Duration::from_millis(500);

/// What was chosen of a device.
pub enum Chosen {
    /// Endpoints of both directions.
    Pair(Choice),
    /// One endpoint.
    One(OneWayChoice),
}

/// The error of a device without endpoints that fit.
fn no_choice(doing: &str, facts: &[InterfaceFact], said: String) -> LinkError {
    let mut isochronous = facts.iter().flat_map(|fact| &fact.isochronous);
    LinkError::new(LinkErrorKind::Usage, doing, said).hint(match isochronous.next() {
        Some(_) => {
            "isochronous endpoints stream: wiregauge stream --type isochronous --packet BYTES"
        }
        None => "select them after the address, such as #interface=1,in=0x81,out=0x01",
    })
}

/// The interface, and all that has to be put back.
pub struct Claim {
    /// The interface with the endpoints first.
    interfaces: Vec<Interface>,
    device: Device,
    identity: Arc<Identity>,
    drivers_before: Vec<(u8, String)>,
    configuration_before: Option<u8>,
    /// The CDC control interface whose DTR was raised.
    raised: Option<u8>,
}

impl Claim {
    /// Opens the device and claims what the settings choose.
    pub fn take(
        info: &DeviceInfo,
        settings: &Settings,
        doing: &str,
    ) -> Result<(Claim, Choice), LinkError> {
        let (mut claim, facts) = Claim::open(info, settings, doing)?;
        let choice =
            choose::choose(&facts, settings).map_err(|said| no_choice(doing, &facts, said))?;
        claim.occupy(&choice, doing)?;
        Ok((claim, choice))
    }

    /// As [`Claim::take`]; of a device that has no pair of endpoints, one of them.
    pub fn take_any(
        info: &DeviceInfo,
        settings: &Settings,
        doing: &str,
    ) -> Result<(Claim, Chosen), LinkError> {
        let (mut claim, facts) = Claim::open(info, settings, doing)?;
        let said = match choose::choose(&facts, settings) {
            Ok(choice) => {
                claim.occupy(&choice, doing)?;
                return Ok((claim, Chosen::Pair(choice)));
            }
            Err(said) => said,
        };
        let choice =
            choose::choose_one(&facts, settings).ok_or_else(|| no_choice(doing, &facts, said))?;
        claim.claim(choice.interface, doing)?;
        claim.select(choice.setting, doing)?;
        Ok((claim, Chosen::One(choice)))
    }

    /// Opens the device and selects its configuration; gives its interfaces.
    fn open(
        info: &DeviceInfo,
        settings: &Settings,
        doing: &str,
    ) -> Result<(Claim, Vec<InterfaceFact>), LinkError> {
        let identity = Arc::new(Identity::of(info));
        let device = info
            .open()
            .wait()
            .map_err(|error| platform::usb::opening(&identity, doing, &error))?;
        let mut claim = Claim {
            interfaces: Vec::new(),
            drivers_before: platform::usb::drivers(&identity.path),
            device,
            identity,
            configuration_before: None,
            raised: None,
        };
        if let Some(wanted) = settings.configuration {
            claim.configure(wanted, doing)?;
        }
        let facts = {
            let active = claim.device.active_configuration().map_err(|error| {
                LinkError::new(LinkErrorKind::Usage, doing, error.to_string())
                    .hint("select a configuration: #configuration=1")
            })?;
            choose::facts(&active)
        };
        Ok((claim, facts))
    }

    /// Claims the interface of a pair and the one that controls it.
    fn occupy(&mut self, choice: &Choice, doing: &str) -> Result<(), LinkError> {
        self.claim(choice.interface, doing)?;
        if let Some(control) = choice.controlled_by {
            self.claim(control, doing)?;
        }
        self.select(choice.setting, doing)?;
        if let Some(control) = choice.controlled_by {
            self.set_lines(control, DTR_AND_RTS);
            self.raised = Some(control);
        }
        Ok(())
    }

    /// Selects an alternate setting of the claimed interface.
    fn select(&self, setting: u8, doing: &str) -> Result<(), LinkError> {
        if setting == 0 {
            return Ok(());
        }
        let selected = self.interface().set_alt_setting(setting).wait();
        selected.map_err(|error| {
            let said = format!("cannot select setting {setting}: {error}");
            LinkError::new(LinkErrorKind::Io, doing, said)
        })
    }

    /// The interface with the endpoints.
    pub fn interface(&self) -> &Interface {
        &self.interfaces[0]
    }

    /// Which device it is.
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    fn claim(&mut self, interface: u8, doing: &str) -> Result<(), LinkError> {
        let claimed = self
            .device
            .detach_and_claim_interface(interface)
            .wait()
            .map_err(|error| platform::usb::claiming(&self.identity, interface, doing, &error))?;
        self.interfaces.push(claimed);
        Ok(())
    }

    fn configure(&mut self, wanted: u8, doing: &str) -> Result<(), LinkError> {
        let values: Vec<u8> = self
            .device
            .configurations()
            .map(|c: ConfigurationDescriptor<'_>| c.configuration_value())
            .collect();
        if !values.contains(&wanted) {
            let there: Vec<String> = values.iter().map(u8::to_string).collect();
            let said = format!(
                "it has no configuration {wanted}; it has: {}",
                there.join(", ")
            );
            return Err(LinkError::new(LinkErrorKind::Usage, doing, said));
        }
        let active = self.device.active_configuration();
        let active = active.map_or(0, |active| active.configuration_value());
        if active == wanted {
            return Ok(());
        }
        // The kernel changes no configuration while a driver holds an interface.
        for (interface, _) in &self.drivers_before {
            let _ = self.device.detach_kernel_driver(*interface);
        }
        self.configuration_before = Some(active);
        self.device
            .set_configuration(wanted)
            .wait()
            .map_err(|error| {
                let said = format!("cannot select configuration {wanted}: {error}");
                LinkError::new(LinkErrorKind::Io, doing, said)
            })
    }

    /// Firmware often sends nothing until a terminal seems to be there. A device that knows no
    /// such lines refuses, which does no harm.
    fn set_lines(&self, control: u8, lines: u16) {
        let request = ControlOut {
            control_type: ControlType::Class,
            recipient: Recipient::Interface,
            request: SET_CONTROL_LINE_STATE,
            value: lines,
            index: control.into(),
            data: &[],
        };
        let _ = self.interface().control_out(request, CONTROL).wait();
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(control) = self.raised {
            self.set_lines(control, 0);
        }
        self.interfaces.clear();
        if let Some(before) = self.configuration_before {
            // With the configuration the kernel finds drivers for it again.
            let _ = self.device.set_configuration(before).wait();
        } else {
            platform::usb::put_drivers_back(
                &self.device,
                &self.identity.path,
                &self.drivers_before,
            );
        }
    }
}
