//! A USB device that runs slower than it can.

use super::check::Check;
use crate::topology::{Usb, usb_devices};
use crate::{Finding, HostContext, Level};
use std::fs;
use wiregauge_limits::Bus;

pub(super) const CHECK: Check = Check {
    name: "speed",
    about: "USB devices that run below their maximum speed",
    look: |context| {
        let all = usb_devices(context);
        all.iter().filter_map(|usb| of(context, usb)).collect()
    },
};

/// Speeds in Mbit/s, as sysfs has them.
const FULL: f64 = 12.0;
const HIGH: f64 = 480.0;
const SUPER: f64 = 5_000.0;
const SUPER_PLUS: f64 = 10_000.0;

/// `bcdUSB` from which on a device may be a super-speed one on USB 2.0 wires: such a device says 2.10
/// there (USB 3.2, 9.6).
const MAY_BE_SUPER: f64 = 2.1;

fn of(context: &HostContext, usb: &Usb) -> Option<Finding> {
    let called = usb.called(context);
    let new = |level, title: String| Finding::new(CHECK.name, level, title);
    let speed_file = usb.read(context, "speed")?;
    let evidence = [usb.saw(context, "speed"), usb.saw(context, "version")];
    let Some(speed) = usb.speed(context) else {
        return Some(
            new(Level::Unknown, format!("{called}: unknown speed"))
                .all_seen([format!("{} = {speed_file}", usb.path("speed").display())]),
        );
    };
    let seen = |finding: Finding| finding.all_seen(evidence.clone().into_iter().flatten());
    let version = usb
        .read(context, "version")
        .and_then(|text| text.parse::<f64>().ok());
    // sysfs has these since Linux 6.9.
    let bos = context.place(usb.path("bos_descriptors"));
    let bos = bos.and_then(|place| fs::read(place).ok());
    let at_best = bos.as_deref().and_then(fastest).filter(|&can| can > speed);
    if let Some(can) = at_best {
        let finding = seen(new(
            Level::Hurts,
            format!("{called} runs at {speed} Mbit/s but supports {can}"),
        ))
        .all_seen([format!(
            "{}: it declares {can} Mbit/s",
            usb.path("bos_descriptors").display()
        )])
        .all_seen(port_of(context, usb));
        return Some(remedy(costs(finding, speed), speed));
    }
    if speed == HIGH && bos.is_none() && version.is_some_and(|v| v >= MAY_BE_SUPER) {
        let finding = seen(new(
            Level::Unknown,
            format!("{called}: cannot see whether it supports super speed"),
        ))
        .all_seen([
            "a super-speed device on USB 2.0 wires reports 2.10 (USB 3.2, 9.6), and so does a high-speed \
             device with additional descriptors; bos_descriptors shows the difference (Linux 6.9)"
                .into(),
        ])
        .all_seen(port_of(context, usb));
        return Some(remedy(finding, speed));
    }
    let parent = usb.above().into_iter().next();
    let parent_speed = parent.as_ref().and_then(|hub| hub.speed(context));
    if let (Some(hub), Some(behind)) = (&parent, parent_speed)
        && behind <= FULL
        && version.is_some_and(|v| v >= 2.0)
    {
        // A device that can do high speed says so in a descriptor that sysfs does not have
        // (device_qualifier, USB 2.0, 9.6.2); the kernel asks for it and tells its log.
        let finding = seen(new(
            Level::Note,
            format!(
                "{called} is behind {}, which is limited to 12 Mbit/s",
                hub.name
            ),
        ))
        .all_seen(hub.saw(context, "speed"))
        .all_seen(["the kernel log shows whether the device supports more".into()])
        .remedy("sudo dmesg | grep 'not running at top speed'");
        return Some(remedy(costs(finding, speed), speed));
    }
    Some(seen(new(
        Level::Good,
        format!("{called} runs at {speed} Mbit/s; no sign that it supports more"),
    )))
}

/// What a bus carries of bulk data at best.
pub(super) fn bulk_mb_s(bus: Bus) -> f64 {
    bus.bytes_per_second() as f64 / 1e6
}

fn costs(finding: Finding, speed: f64) -> Finding {
    if speed <= FULL {
        return finding.costs(
            format!(
                "at most {} MB/s of bulk data at 12 Mbit/s, against {} at 480; frames of 1 ms instead of \
                 microframes of 125 us",
                bulk_mb_s(Bus::FullSpeed),
                bulk_mb_s(Bus::HighSpeed)
            ),
            "USB 2.0, tables 5-9 and 5-10, 5.3.3",
        );
    }
    finding.costs(
        format!(
            "at most {} MB/s of bulk data for both directions together, against over 480 in each at 5 Gbit/s",
            bulk_mb_s(Bus::HighSpeed)
        ),
        "USB 2.0, table 5-10; USB 3.2, 7.2.1: packets of 1024 B back to back",
    )
}

fn remedy(finding: Finding, speed: f64) -> Finding {
    match speed <= FULL {
        true => finding.remedy("plug it into a port or hub of USB 2.0 or later (lsusb -t shows the tree)"),
        false => finding.remedy(
            "use a USB 3 port (lsusb -t shows the tree), a USB 3 cable, and no USB 2 hub in between",
        ),
    }
}

/// The port that it is plugged into: one with a twin on the super-speed bus could do more.
fn port_of(context: &HostContext, usb: &Usb) -> Option<String> {
    let port = context.resolved(usb.path("port"))?;
    let name = port.file_name()?.to_string_lossy().into_owned();
    Some(match context.exists(port.join("peer")) {
        true => format!("its port {name} has super-speed wires: check the cable and the plug"),
        false => format!("its port {name} has no super-speed wires"),
    })
}

/// The highest speed in Mbit/s that the device capabilities name (USB 3.2, 9.6.2).
fn fastest(bos: &[u8]) -> Option<f64> {
    // DEVICE_CAPABILITY, table 9-6; SUPERSPEED_USB, 9.6.2.2; SUPERSPEED_PLUS, 9.6.2.5.
    const DEVICE_CAPABILITY: u8 = 0x10;
    const SUPERSPEED: u8 = 0x03;
    const SUPERSPEED_PLUS: u8 = 0x0a;
    let mut rest = bos;
    let mut fastest: Option<f64> = None;
    // Each begins with its length; anything shorter than its own head ends the list.
    while let [length, kind, ..] = *rest {
        if length < 2 {
            break;
        }
        let (this, next) = rest.split_at(usize::from(length).min(rest.len()));
        rest = next;
        if kind != DEVICE_CAPABILITY {
            continue;
        }
        let named = match this.get(2) {
            Some(&SUPERSPEED_PLUS) => Some(SUPER_PLUS),
            // wSpeedsSupported: bit 0 low, 1 full, 2 high speed, 3 5 Gbit/s.
            Some(&SUPERSPEED) => this.get(4).and_then(|speeds| match speeds {
                s if s & 8 != 0 => Some(SUPER),
                s if s & 4 != 0 => Some(HIGH),
                _ => None,
            }),
            _ => None,
        };
        fastest = fastest.into_iter().chain(named).reduce(f64::max);
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A BOS with a USB 2.0 extension and the SuperSpeed capability of an ordinary USB 3 device.
    const USB_3: [u8; 22] = [
        5, 15, 22, 0, 2, 7, 16, 2, 2, 0, 0, 0, 10, 16, 3, 0, 14, 0, 1, 10, 32, 0,
    ];

    #[test]
    fn the_capabilities_name_the_fastest_speed() {
        assert_eq!(fastest(&USB_3), Some(SUPER));
        assert_eq!(fastest(&USB_3[..12]), None);
        let mut plus = USB_3.to_vec();
        plus.extend([20, 16, 10, 0]);
        assert_eq!(fastest(&plus), Some(SUPER_PLUS));
    }

    #[test]
    fn rubbish_names_no_speed_and_ends() {
        assert_eq!(fastest(&[]), None);
        assert_eq!(fastest(&[0, 16, 3]), None);
        assert_eq!(fastest(&[255, 16]), None);
        assert_eq!(fastest(&[16; 300]), None);
    }
}
