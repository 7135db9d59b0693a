//! Serial ports and USB devices of Windows, from the registry.

use super::com_ports::{plain, present};
use super::host::WindowsHost;
use crate::{HostContext, Target};
use std::path::Path;

/// The key of every device that was ever attached, by bus, ids and instance.
const ENUM: &str = r"SYSTEM\CurrentControlSet\Enum";
const USB: &str = "USB";
/// FTDI's driver has a bus of its own.
const FTDIBUS: &str = "FTDIBUS";

/// A serial port of a USB device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    /// Such as `COM3`.
    pub(crate) name: String,
    /// Its key.
    pub(crate) key: String,
    /// Its instance id, such as `FTDIBUS\VID_0403+PID_6001+A50285BIA\0000`.
    instance: String,
    /// What the system calls it.
    called: Option<String>,
    /// The driver.
    driver: Option<String>,
}

impl Port {
    /// True if FTDI's driver made it.
    pub(crate) fn is_ftdi(&self) -> bool {
        self.instance.starts_with(FTDIBUS)
    }

    /// The latency timer of an FTDI adapter.
    pub(crate) fn latency_timer(&self, host: &dyn WindowsHost) -> Option<u32> {
        let parameters = format!(r"{}\Device Parameters", self.key);
        host.number(&parameters, "LatencyTimer")
            .filter(|_| self.is_ftdi())
    }

    /// The instance id of its USB device.
    fn usb(&self) -> Option<String> {
        let Some(port) = self.instance.strip_prefix(FTDIBUS) else {
            return Some(self.instance.clone());
        };
        // `VID_0403+PID_6001+A50285BIA`: the serial number, and a letter for the port.
        let mut parts = port.trim_start_matches('\\').split('\\').next()?.split('+');
        let (vendor, product, serial) = (parts.next()?, parts.next()?, parts.next()?);
        let serial = serial
            .char_indices()
            .next_back()
            .map(|(at, _)| &serial[..at])?;
        Some(format!(r"{USB}\{vendor}&{product}\{serial}"))
    }
}

/// The port that is asked about, or all that are there; only those of USB devices. None of another host's run.
pub(crate) fn ports(context: &HostContext, host: &dyn WindowsHost) -> Vec<Port> {
    if !context.is_of_this_host() {
        return Vec::new();
    }
    let names = match &context.target {
        Target::Tty { path } => vec![plain(path)],
        Target::None => present(host),
        _ => return Vec::new(),
    };
    let is_named = |port: &Port| {
        let mut names = names.iter();
        names.any(|name| name.eq_ignore_ascii_case(&port.name))
    };
    let mut ports: Vec<Port> = [USB, FTDIBUS]
        .iter()
        .flat_map(|bus| instances(host, bus))
        .filter_map(|instance| port(host, instance))
        .filter(is_named)
        .collect();
    // Windows may reuse the number of a device that was removed: the attached device has it.
    ports.sort_by_key(|port| !host.is_attached(&port.instance));
    let mut seen: Vec<String> = Vec::new();
    ports.retain(|port| {
        let name = port.name.to_ascii_uppercase();
        let is_new = !seen.contains(&name);
        seen.push(name);
        is_new
    });
    ports
}

/// Instance ids of all devices of a bus.
fn instances(host: &dyn WindowsHost, bus: &str) -> Vec<String> {
    let keys = |key: &str| host.keys(key).unwrap_or_default();
    let ids = keys(&format!(r"{ENUM}\{bus}")).into_iter();
    ids.flat_map(|id| {
        let below = keys(&format!(r"{ENUM}\{bus}\{id}")).into_iter();
        below
            .map(|instance| format!(r"{bus}\{id}\{instance}"))
            .collect::<Vec<_>>()
    })
    .collect()
}

fn port(host: &dyn WindowsHost, instance: String) -> Option<Port> {
    let key = format!(r"{ENUM}\{instance}");
    Some(Port {
        name: host.text(&format!(r"{key}\Device Parameters"), "PortName")?,
        called: host.text(&key, "FriendlyName"),
        driver: host.text(&key, "Service"),
        key,
        instance,
    })
}

/// The parameters' keys of USB devices that are attached: those behind the port that is asked about, or all. Hubs are
/// left out.
pub(crate) fn attached_usb(context: &HostContext, host: &dyn WindowsHost) -> Vec<String> {
    let instances: Vec<String> = match &context.target {
        _ if !context.is_of_this_host() => Vec::new(),
        Target::Tty { .. } => ports(context, host).iter().filter_map(Port::usb).collect(),
        Target::None | Target::Usb { .. } => instances(host, USB),
        Target::Here | Target::Network { .. } => Vec::new(),
    };
    let is_device = |instance: &String| instance.starts_with(r"USB\VID_");
    let is_hub = |instance: &String| {
        let service = host.text(&format!(r"{ENUM}\{instance}"), "Service");
        service.is_some_and(|name| name.to_ascii_uppercase().starts_with("USBHUB"))
    };
    let attached = instances
        .into_iter()
        .filter(|instance| is_device(instance) && host.is_attached(instance) && !is_hub(instance));
    attached
        .map(|instance| format!(r"{ENUM}\{instance}\Device Parameters"))
        .collect()
}

/// What is between this host and the device.
pub(crate) fn connection(context: &HostContext, host: &dyn WindowsHost) -> Option<String> {
    match &context.target {
        Target::Tty { path } => Some(of_port(context, host, path)),
        Target::Network { peer, .. } if peer.to_canonical().is_loopback() => Some(format!(
            "{peer} is this host: no network interface to check"
        )),
        _ => None,
    }
}

fn of_port(context: &HostContext, host: &dyn WindowsHost, path: &Path) -> String {
    let name = plain(path);
    let Some(port) = ports(context, host).into_iter().next() else {
        return format!("{name}: not a port of a known USB device");
    };
    let timer = port.latency_timer(host);
    let parts = [
        port.called.clone(),
        port.driver.clone().map(|driver| format!("driver {driver}")),
        timer.map(|ms| format!("latency timer {ms} ms")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => format!("{name}: {}", port.instance),
        false => format!("{name}: {}", parts.join(", ")),
    }
}
