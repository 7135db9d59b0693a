//! The network interface that leads to a device, and what a program must set by itself.

use super::check::Check;
use crate::route::interface;
use crate::{Finding, HostContext, Level, Target};
use std::path::PathBuf;

pub(super) const CHECK: Check = Check {
    name: "network",
    about: "the network interface to the device: speed, duplex, wireless, errors",
    look,
};

fn look(context: &HostContext) -> Vec<Finding> {
    let Target::Network { is_tcp, .. } = &context.target else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if *is_tcp {
        found.push(nagle(CHECK.name));
    }
    if let Some(name) = interface(context).filter(|_| context.is_of_this_host()) {
        found.extend(of(context, &name));
    }
    found
}

/// What every program that uses TCP must set itself.
pub(super) fn nagle(check: &str) -> Finding {
    Finding::new(
        check,
        Level::Unknown,
        "cannot see whether your own program disables Nagle's algorithm",
    )
    .seen("set TCP_NODELAY on both ends; wiregauge does so on every TCP link")
    .costs(
        "a second small write waits until the first is acknowledged, which Linux delays by 40 to 200 ms",
        "RFC 896; RFC 1122, 4.2.3.2; Linux, include/net/tcp.h (TCP_DELACK_MIN, TCP_DELACK_MAX)",
    )
    .remedy(
        "in your program: setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), on both ends",
    )
}

fn of(context: &HostContext, name: &str) -> Vec<Finding> {
    let path = |file: &str| PathBuf::from(format!("/sys/class/net/{name}/{file}"));
    let saw = |file: &str| {
        let value = context.read(path(file)).filter(|text| !text.is_empty())?;
        Some(format!("{} = {value}", path(file).display()))
    };
    let new = |level, title: String| Finding::new(CHECK.name, level, title);
    if context.exists(path("wireless")) || context.exists(path("phy80211")) {
        return vec![
            new(
                Level::Hurts,
                format!("{name}, the interface to the device, is wireless"),
            )
            .all_seen([format!("{} exists", path("wireless").display())])
            .costs(
                "a station in power-save mode receives data only after a beacon, usually every 102.4 ms; also, \
                 the medium is shared and retransmits. The duration was not measured here",
                "IEEE 802.11-2020, 11.2.3",
            )
            .remedy(format!("sudo iw dev {name} set power_save off"))
            .remedy("use a cable"),
        ];
    }
    let mut found = Vec::new();
    let duplex = context.read(path("duplex"));
    let speed = context.number(path("speed"));
    if duplex.as_deref() == Some("half") {
        found.push(
            new(
                Level::Hurts,
                format!("{name}, the interface to the device, is half duplex"),
            )
            .all_seen(saw("duplex"))
            .all_seen(saw("speed"))
            .costs(
                "the two ends cannot send at the same time; after each collision both wait a random time, up \
                 to 1023 times 512 bit times: 52 ms at 10 Mbit/s, 5.2 ms at 100",
                "IEEE 802.3, 4.2.3.2.5",
            )
            .remedy(format!(
                "enable autonegotiation on both ends: sudo ethtool -s {name} autoneg on; or use a switch"
            )),
        );
    }
    if let Some(slow @ 1..=10) = speed {
        found.push(
            new(
                Level::Note,
                format!("{name}, the interface to the device, runs at {slow} Mbit/s"),
            )
            .all_seen(saw("speed"))
            .costs(
                "a full frame, 1538 bytes with all overhead, takes 1.23 ms at 10 Mbit/s, 0.12 ms at 100 and \
                 0.012 ms at 1000",
                "IEEE 802.3, 3.1.1 and 4.4.2",
            )
            .remedy(format!("sudo ethtool {name}  # link modes of both ends; then check the cable")),
        );
    }
    let errors: Vec<String> = ["rx_crc_errors", "rx_frame_errors", "collisions"]
        .iter()
        .map(|counter| format!("statistics/{counter}"))
        .filter(|file| context.number(path(file)).is_some_and(|count| count > 0))
        .filter_map(|file| saw(&file))
        .collect();
    if !errors.is_empty() {
        found.push(
            new(
                Level::Note,
                format!("{name} has received damaged frames since it was brought up"),
            )
            .all_seen(errors)
            .costs(
                "over UDP each is a lost exchange; over TCP, one that is resent after at least 200 ms",
                "Linux, include/net/tcp.h (TCP_RTO_MIN)",
            )
            .remedy("check the cable, its plugs and the duplex setting of the other end"),
        );
    }
    let known = [saw("speed"), saw("duplex")];
    if found.is_empty() && known.iter().any(Option::is_some) {
        let text = format!("{name} is the interface to the device");
        found.push(new(Level::Good, text).all_seen(known.into_iter().flatten()));
    }
    // Interfaces of hardware only: bridges, tunnels and the like have no such settings.
    if context.exists(path("device")) {
        found.push(
            new(
                Level::Unknown,
                format!("{name}: interrupt coalescing and energy-efficient Ethernet cannot be read from a file"),
            )
            .seen(format!(
                "ethtool --show-coalesce {name} and ethtool --show-eee {name} show them"
            ))
            .costs(
                "coalescing delays received data until more arrives or a timer expires; a sleeping link must \
                 wake up first. Not measured here",
                "ethtool(8), --coalesce and --set-eee",
            )
            .remedy(format!("ethtool --show-coalesce {name}; ethtool --show-eee {name}"))
            .remedy(format!(
                "sudo ethtool --coalesce {name} adaptive-rx off rx-usecs 0; sudo ethtool --set-eee {name} eee off"
            )),
        );
    }
    found
}
