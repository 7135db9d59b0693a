//! ModemManager takes a USB serial port for a modem and talks to it.

use super::check::Check;
use crate::topology::{Tty, ttys};
use crate::{Finding, HostContext, Level};

pub(super) const CHECK: Check = Check {
    name: "modem-manager",
    about: "ModemManager, which opens USB serial ports and probes them for modems",
    look,
};

const SOURCE: &str = "ModemManager Reference Manual, Modem filter";

fn look(context: &HostContext) -> Vec<Finding> {
    let ports: Vec<Tty> = ttys(context)
        .into_iter()
        .filter(|tty| tty.name.starts_with("ttyACM"))
        .collect();
    if ports.is_empty() {
        return Vec::new();
    }
    let Some((process, command)) = running(context) else {
        return vec![Finding::new(
            CHECK.name,
            Level::Good,
            "no ModemManager is running",
        )];
    };
    let saw = format!("process {process}: {command}");
    ports.iter().map(|port| of(context, port, &saw)).collect()
}

/// Its process and how it was called.
fn running(context: &HostContext) -> Option<(String, String)> {
    let process = context
        .names("/proc")
        .into_iter()
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .find(|id| context.read(format!("/proc/{id}/comm")).as_deref() == Some("ModemManager"))?;
    let command = context.read(format!("/proc/{process}/cmdline"));
    let command = command.unwrap_or_default().replace('\0', " ");
    Some((process, command.trim().to_owned()))
}

fn of(context: &HostContext, port: &Tty, process: &str) -> Finding {
    let name = &port.name;
    let new = |level, title: String| Finding::new(CHECK.name, level, title);
    let usb = port.usb(context);
    // udev keeps what its rules said under the device's number.
    let own = format!(
        "/run/udev/data/c{}",
        device_number(context, &port.path("dev"))
    );
    let of_device = usb.as_ref().map(|usb| {
        let number = device_number(context, &usb.path("dev"));
        format!("/run/udev/data/c{number}")
    });
    let ignored = [Some(own), of_device]
        .into_iter()
        .flatten()
        .find_map(|path| {
            let text = context.read(&path)?;
            let line = text.lines().find(|line| {
                ["E:ID_MM_DEVICE_IGNORE=", "E:ID_MM_PORT_IGNORE="]
                    .iter()
                    .any(|key| {
                        line.strip_prefix(key)
                            .is_some_and(|v| v == "1" || v == "true")
                    })
            })?;
            Some(format!("{path}: {line}"))
        });
    if let Some(rule) = ignored {
        return new(Level::Good, format!("{name}: ModemManager ignores it"))
            .all_seen([process.to_owned(), rule]);
    }
    let protocol = port.path("device/bInterfaceProtocol");
    let speaks = context.read(&protocol);
    let number = speaks
        .as_deref()
        .and_then(|p| u8::from_str_radix(p, 16).ok());
    // USB CDC 1.2, table 5, has AT commands as protocols 1 to 6; the filter goes by them
    // (ModemManager, src/mm-filter.c, MM_FILTER_RULE_TTY_ACM_INTERFACE).
    let says_modem = number.is_none_or(|protocol| (1..=6).contains(&protocol));
    let (level, title) = match says_modem {
        true => (
            Level::Hurts,
            format!("{name}: ModemManager opens it and sends it AT commands"),
        ),
        false => (
            Level::Note,
            format!("{name}: ModemManager may open it; newer versions ignore such ports"),
        ),
    };
    let mut finding = new(level, title)
        .all_seen([process.to_owned()])
        .all_seen(speaks.map(|text| format!("{} = {text}", protocol.display())))
        .all_seen(["udev has no ID_MM_DEVICE_IGNORE for it".into()])
        .costs(
            "after the device is plugged in, its port is busy for some time and it receives bytes that your \
             program did not send; the duration was not measured here",
            SOURCE,
        );
    let of = |file: &str| usb.as_ref().and_then(|usb| usb.read(context, file));
    if let (Some(vendor), Some(product)) = (of("idVendor"), of("idProduct")) {
        let rule = format!(
            r#"ACTION!="remove", ATTRS{{idVendor}}=="{vendor}", ATTRS{{idProduct}}=="{product}", ENV{{ID_MM_DEVICE_IGNORE}}="1""#
        );
        finding = finding
            .remedy(format!(
                "echo '{rule}' | sudo tee /etc/udev/rules.d/78-mm-ignore-{vendor}-{product}.rules"
            ))
            .remedy("sudo udevadm control --reload && sudo udevadm trigger");
    }
    finding.remedy("sudo systemctl mask --now ModemManager  # on a computer without a modem")
}

/// `166:0`, as the file `dev` of a device has it.
fn device_number(context: &HostContext, path: &std::path::Path) -> String {
    context.read(path).unwrap_or_default()
}
