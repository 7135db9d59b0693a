//! Hubs on the way to a USB device, above all the transaction translator that carries a full-speed
//! device over high-speed wires.

use super::check::Check;
use super::speed::bulk_mb_s;
use crate::topology::{Usb, all_usb, usb_devices};
use crate::{Finding, HostContext, Level};
use wiregauge_limits::Bus;

pub(super) const CHECK: Check = Check {
    name: "hub",
    about: "hubs between this computer and a USB device, and devices that share their transaction \
            translator",
    look: |context| {
        let all = usb_devices(context);
        all.iter().filter_map(|usb| of(context, usb)).collect()
    },
};

/// Speeds in Mbit/s up to this one go through a translator behind a high-speed hub.
const FULL: f64 = 12.0;
const HIGH: f64 = 480.0;

fn of(context: &HostContext, usb: &Usb) -> Option<Finding> {
    let called = usb.called(context);
    let new = |level, title: String| Finding::new(CHECK.name, level, title);
    let speed = usb.speed(context)?;
    let mut hubs = usb.above();
    // The root hub is the computer's own.
    hubs.pop()?;
    if hubs.is_empty() {
        return Some(new(
            Level::Good,
            format!("{called} is plugged directly into the computer"),
        ));
    }
    let names: Vec<&str> = hubs.iter().rev().map(|hub| hub.name.as_str()).collect();
    let row = format!("hubs, starting at the computer: {}", names.join(", "));
    let behind = (speed <= FULL).then(|| translator(context, usb)).flatten();
    let Some(hub) = behind else {
        let count = match hubs.len() {
            1 => "one hub".to_owned(),
            n => format!("{n} hubs in a row"),
        };
        let title = format!("{called} is behind {count} without a transaction translator");
        return Some(new(Level::Good, title).all_seen([row]));
    };
    // bDeviceProtocol, USB 2.0, 11.23.1: 1 is one translator for all ports, 2 one for each port.
    let protocol = hub.read(context, "bDeviceProtocol");
    let each_port = protocol.as_deref() == Some("02");
    let sharers: Vec<String> = match each_port {
        true => Vec::new(),
        false => all_usb(context)
            .into_iter()
            .filter(|other| {
                other.name != usb.name
                    && other.speed(context).is_some_and(|speed| speed <= FULL)
                    && translator(context, other).as_ref() == Some(&hub)
            })
            .map(|other| other.called(context))
            .collect(),
    };
    let title = match (each_port, sharers.len()) {
        (true, _) => format!(
            "{called} has its own transaction translator in hub {}",
            hub.name
        ),
        (false, 0) => format!(
            "{called} is alone on the transaction translator of hub {}",
            hub.name
        ),
        (false, n) => format!(
            "{called} shares the only transaction translator of hub {} with {n} more",
            hub.name
        ),
    };
    Some(
        new(Level::Note, title)
            .all_seen([row])
            .all_seen(usb.saw(context, "speed"))
            .all_seen(hub.saw(context, "speed"))
            .all_seen(hub.saw(context, "bDeviceProtocol"))
            .all_seen(sharers.into_iter().map(|other| format!("also behind it: {other}")))
            .costs(
                format!(
                    "each transaction is carried as a start and a completion in microframes of 125 us, and all \
                     devices on one translator share 12 Mbit/s, at most {} MB/s of bulk data. Alone on it, a \
                     full-speed device answered no later than without one: 8.13 ms through EHCI, where a \
                     translator carries it, 9.47 ms through UHCI",
                    bulk_mb_s(Bus::FullSpeed)
                ),
                "USB 2.0, 11.14 and table 5-9; J. Augustyn and A. Tutaj, table 2 (48 B, R = 0)",
            )
            .remedy("plug it into a port of the computer, or into its own hub (lsusb -t shows the tree)"),
    )
}

/// The nearest hub above that runs at high speed where the device does not: that hub translates. A root
/// hub's controller does it by itself.
fn translator(context: &HostContext, usb: &Usb) -> Option<Usb> {
    let mut hubs = usb.above();
    hubs.pop()?;
    hubs.into_iter()
        .find(|hub| hub.speed(context) == Some(HIGH))
}
