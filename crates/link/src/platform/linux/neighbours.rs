//! The network: what listens on the responders' port of this host, and which neighbours may be
//! asked. Neighbours are those that this host already talks to; ranges are never searched.

use crate::devices::{Answer, NetworkDevice, PORT};
use std::fs;
use std::net::Ipv4Addr;

/// Neighbours asked at most.
const MOST_NEIGHBOURS: usize = 16;

/// TCP_LISTEN, include/net/tcp_states.h, and the state of an unconnected UDP socket.
const TCP_LISTENS: &str = "0A";
const UDP_OPEN: &str = "07";

/// What listens on the port of this host, from the kernel's tables; nobody is asked.
pub fn listeners() -> Vec<NetworkDevice> {
    let table = |name: &str| fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
    let mut found = Vec::new();
    for (scheme, four, six, state) in [
        ("tcp", "tcp", "tcp6", TCP_LISTENS),
        ("udp", "udp", "udp6", UDP_OPEN),
    ] {
        if listens(&table(four), state) {
            found.push(this_host(scheme, "127.0.0.1"));
        } else if listens(&table(six), state) {
            found.push(this_host(scheme, "[::1]"));
        }
    }
    found
}

fn this_host(scheme: &str, host: &str) -> NetworkDevice {
    NetworkDevice {
        address: format!("{scheme}://{host}:{PORT}"),
        place: "this host".into(),
        answer: Answer::NotAsked,
    }
}

/// True if a table of /proc/net has a socket in this state on the port that loopback reaches.
fn listens(table: &str, state: &str) -> bool {
    table.lines().skip(1).any(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (Some(local), Some(_), Some(is)) = (words.next(), words.next(), words.next()) else {
            return false;
        };
        let Some((address, port)) = local.split_once(':') else {
            return false;
        };
        let anywhere = address.bytes().all(|digit| digit == b'0');
        // 127.0.0.1, ::1 and ::ffff:127.0.0.1, each word as this (little-endian) machine stores it.
        let loopback = address.ends_with("0100007F") || address == LOOPBACK_SIX;
        is == state && (anywhere || loopback) && u16::from_str_radix(port, 16) == Ok(PORT)
    })
}

const LOOPBACK_SIX: &str = "00000000000000000000000001000000";

/// Hosts that this one already talks to: its gateway and what its ARP table has.
pub fn neighbours() -> Vec<Ipv4Addr> {
    let route = fs::read_to_string("/proc/net/route").unwrap_or_default();
    let arp = fs::read_to_string("/proc/net/arp").unwrap_or_default();
    let mut all: Vec<Ipv4Addr> = gateways(&route).chain(in_arp(&arp)).collect();
    all.sort();
    all.dedup();
    all.truncate(MOST_NEIGHBOURS);
    all
}

fn gateways(table: &str) -> impl Iterator<Item = Ipv4Addr> {
    table.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (target, gateway) = (words.next()?, words.next()?);
        let gateway = u32::from_str_radix(gateway, 16).ok()?;
        (target == "00000000" && gateway != 0).then(|| Ipv4Addr::from(gateway.to_ne_bytes()))
    })
}

fn in_arp(table: &str) -> impl Iterator<Item = Ipv4Addr> {
    table.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = words.next()?.parse().ok()?;
        // Flag 0x2, ATF_COM: the entry is complete, so the host has answered.
        let flags = u32::from_str_radix(words.nth(1)?.trim_start_matches("0x"), 16).ok()?;
        (flags & 2 != 0).then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue\n";

    #[test]
    fn only_a_listener_on_the_port_that_loopback_reaches_counts() {
        let has = |line: &str| listens(&format!("{HEAD}{line}\n"), TCP_LISTENS);
        assert!(has("   0: 0100007F:1E14 00000000:0000 0A 0:0"));
        assert!(has("   0: 00000000:1E14 00000000:0000 0A 0:0"));
        assert!(has(&format!(
            "   0: {LOOPBACK_SIX}:1E14 00000000:0000 0A 0:0"
        )));
        assert!(!has("   0: 0100007F:1E15 00000000:0000 0A 0:0"), "port");
        assert!(!has("   0: 0100007F:1E14 0100007F:8888 01 0:0"), "state");
        assert!(!has("   0: 0500000A:1E14 00000000:0000 0A 0:0"), "address");
        assert!(!listens("rubbish\nmore of it", TCP_LISTENS));
    }

    #[test]
    fn neighbours_are_the_gateway_and_those_that_answered() {
        let route = "Iface Destination Gateway Flags\n\
                     eth0 00000000 0100000A 0003\n\
                     eth0 0000000A 00000000 0001\n";
        if cfg!(target_endian = "little") {
            let found: Vec<_> = gateways(route).collect();
            assert_eq!(found, [Ipv4Addr::new(10, 0, 0, 1)]);
        }
        let arp = "IP address HW type Flags HW address Mask Device\n\
                   10.0.0.5 0x1 0x2 aa:bb:cc:dd:ee:ff * eth0\n\
                   10.0.0.6 0x1 0x0 00:00:00:00:00:00 * eth0\n";
        let found: Vec<_> = in_arp(arp).collect();
        assert_eq!(found, [Ipv4Addr::new(10, 0, 0, 5)]);
    }
}
