//! The connection to the device that is asked about, in one sentence: what it is, its settings, and
//! which programs have it open. A port is not opened for this: that alone resets many boards.

use crate::checks::is_low_latency;
use crate::route;
use crate::topology::{Tty, Usb, ttys};
use crate::{HostContext, Target, windows};
use std::fs;
use std::path::Path;

/// Programs that are named; of more, the number.
const MOST_NAMED: usize = 3;

/// What is between this host and the device; `None` without a device, and of another host's run.
pub fn connection(context: &HostContext) -> Option<String> {
    if !context.is_of_this_host() {
        return None;
    }
    if let Some(host) = context.windows() {
        return windows::connection(context, host);
    }
    match &context.target {
        Target::None | Target::Here => None,
        Target::Tty { path } => Some(of_tty(context, path)),
        Target::Usb { name } => Some(of_usb(context, &Usb { name: name.clone() })),
        Target::Network { .. } => Some(of_network(context)),
    }
}

fn of_tty(context: &HostContext, path: &Path) -> String {
    let device = path.display();
    let openers = opened_by(context, path);
    if path.starts_with("/dev/pts") {
        return format!(
            "{device} is a pseudo-terminal: the device is a program on this host, without port, adapter or \
             cable to check; {openers}"
        );
    }
    let mut parts = Vec::new();
    for tty in ttys(context) {
        parts.extend(tty.driver(context).map(|name| format!("driver {name}")));
        parts.extend(tty.usb(context).map(|usb| of_usb(context, &usb)));
        parts.extend(settings(context, &tty));
    }
    parts.push(openers);
    format!("{device}: {}", parts.join(", "))
}

/// What sysfs shows of a port; its baud rate and framing are not among it.
fn settings(context: &HostContext, tty: &Tty) -> Vec<String> {
    let low_latency = is_low_latency(context, tty).map(|on| match on {
        true => "low_latency on".to_owned(),
        false => "low_latency off".to_owned(),
    });
    let timer = format!("/sys/bus/usb-serial/devices/{}/latency_timer", tty.name);
    let timer = context.number(timer);
    let timer = timer.map(|ms| format!("latency timer {ms} ms"));
    low_latency.into_iter().chain(timer).collect()
}

fn of_usb(context: &HostContext, usb: &Usb) -> String {
    let mut parts = vec![usb.called(context)];
    parts.extend(usb.speed(context).map(|speed| format!("{speed} Mbit/s")));
    // The last one is the root hub, which is part of the host.
    parts.push(match usb.above().len().saturating_sub(1) {
        0 => "no hub in between".into(),
        1 => "1 hub in between".into(),
        hubs => format!("{hubs} hubs in between"),
    });
    parts.join(", ")
}

fn of_network(context: &HostContext) -> String {
    let Some(name) = route::interface(context) else {
        return match context.target {
            Target::Network { peer, .. } if route::is_here(context, peer) => {
                format!("{peer} is this host: no network interface to check")
            }
            _ => "this host, or an address without a route: no network interface to check".into(),
        };
    };
    let file = |file: &str| format!("/sys/class/net/{name}/{file}");
    let speed = context.number(file("speed")).filter(|speed| *speed > 0);
    let speed = speed.map(|speed| format!("{speed} Mbit/s"));
    let duplex = context.read(file("duplex"));
    let duplex = duplex.map(|duplex| format!("{duplex} duplex"));
    let mtu = context.number(file("mtu")).map(|mtu| format!("MTU {mtu}"));
    let parts: Vec<String> = [speed, duplex, mtu].into_iter().flatten().collect();
    match parts.is_empty() {
        true => format!("network interface {name}"),
        false => format!("network interface {name}: {}", parts.join(", ")),
    }
}

/// Which programs have a file open, as far as this user may see that.
fn opened_by(context: &HostContext, path: &Path) -> String {
    let place = context.place(path);
    let real = |file: &str| {
        context
            .place(file)
            .and_then(|place| fs::read_dir(place).ok())
    };
    let (mut openers, mut hidden) = (Vec::new(), false);
    let numbers = context.names("/proc").into_iter();
    for id in numbers.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
        let Some(files) = real(&format!("/proc/{id}/fd")) else {
            hidden = true;
            continue;
        };
        let mut targets = files
            .flatten()
            .filter_map(|file| fs::read_link(file.path()).ok());
        if targets.any(|target| target == path || Some(&target) == place.as_ref()) {
            let name = context.read(format!("/proc/{id}/comm"));
            let name = name.unwrap_or_else(|| "a program".into());
            openers.push(format!("{name} (process {id})"));
        }
    }
    let others = if hidden {
        " that this user may see"
    } else {
        ""
    };
    match openers.len() {
        0 => format!("open in no program{others}"),
        count if count > MOST_NAMED => format!("open in {count} programs"),
        _ => format!("open in {}", openers.join(", ")),
    }
}
