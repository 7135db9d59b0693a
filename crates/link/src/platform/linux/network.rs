//! The limit of a socket, from the interface of this host that carries it: its speed, duplex and MTU as
//! Linux's sysfs tells them (Documentation/ABI/testing/sysfs-class-net). None where there is no wire whose
//! rate is known: loopback, wireless, virtual interfaces, USB devices that only speak like Ethernet.

use rustix::fd::AsFd;
use rustix::net::{getpeername, getsockname};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use wiregauge_limits::{Ethernet, Transport};
use wiregauge_record::BusLimit;

/// ARPHRD_ETHER, linux/if_arp.h.
const ETHERNET: &str = "1";

/// Drivers of USB devices that pass Ethernet's frames over USB: the wire is the USB bus.
const OVER_USB: [&str; 6] = [
    "cdc_ether",
    "cdc_ncm",
    "cdc_eem",
    "cdc_subset",
    "rndis_host",
    "ipheth",
];

/// What the interface carries that a connected socket uses.
pub fn of_socket(socket: impl AsFd, transport: Transport) -> Option<BusLimit> {
    let socket = socket.as_fd();
    let local = ip(SocketAddr::try_from(getsockname(socket).ok()?).ok()?);
    let peer = getpeername(socket).ok()??;
    let peer = ip(SocketAddr::try_from(peer).ok()?);
    // Packets to an address of this host's own pass through its loopback.
    if local == peer {
        return None;
    }
    let name = interface_of(local)?;
    let way = ethernet(Path::new("/sys/class/net"), &name, transport, local)?;
    let mut limit = match transport {
        Transport::Tcp { .. } => way.limit(None),
        Transport::Udp => way.limit(Some(way.best_message())),
    };
    limit.source += &format!(" ({name} of this host)");
    Some(limit.for_run())
}

/// The interface that has this address.
fn interface_of(local: IpAddr) -> Option<String> {
    let all = if_addrs::get_if_addrs().ok()?;
    let found = all.into_iter().find(|one| one.ip() == local)?;
    Some(found.name)
}

fn ip(address: SocketAddr) -> IpAddr {
    address.ip().to_canonical()
}

/// The Ethernet behind an interface in a tree such as /sys/class/net, if it is one whose rate is known.
fn ethernet(tree: &Path, name: &str, transport: Transport, local: IpAddr) -> Option<Ethernet> {
    let node = tree.join(name);
    if attribute(&node, "type")? != ETHERNET || node.join("phy80211").exists() {
        return None;
    }
    let wire = match is_vlan(&node) {
        true => below(&node)?,
        false => node.clone(),
    };
    // Only what is made of hardware has a device; what bridges and pairs of interfaces report as their
    // speed is made up.
    let driver = fs::canonicalize(wire.join("device/driver")).ok()?;
    let driver = driver.file_name()?.to_string_lossy();
    if OVER_USB.contains(&driver.as_ref()) || wire.join("phy80211").exists() {
        return None;
    }
    // Unknown is -1.
    let megabits: u64 = attribute(&wire, "speed")?.parse().ok()?;
    let way = Ethernet {
        mtu: attribute(&node, "mtu")?.parse().ok()?,
        ipv6: local.is_ipv6(),
        vlan: is_vlan(&node),
        half_duplex: attribute(&wire, "duplex").as_deref() == Some("half"),
        ..Ethernet::new(megabits.checked_mul(1_000_000)?, transport)
    };
    way.check(None).is_ok().then_some(way)
}

fn attribute(node: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(node.join(name)).ok()?;
    Some(text.trim().to_owned())
}

fn is_vlan(node: &Path) -> bool {
    let said = attribute(node, "uevent").unwrap_or_default();
    said.lines().any(|line| line == "DEVTYPE=vlan")
}

/// The interface that a VLAN's frames go through.
fn below(node: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(node).ok()?;
    let mut lower = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("lower_"));
    fs::canonicalize(lower.next()?.path()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    const TCP: Transport = Transport::Tcp { timestamps: false };
    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    /// A tree with an interface, driven by `driver`.
    fn tree(name: &str, driver: Option<&str>, attributes: &[(&str, &str)]) -> TempDir {
        let tree = TempDir::new().unwrap();
        add(&tree, name, driver, attributes);
        tree
    }

    fn add(tree: &TempDir, name: &str, driver: Option<&str>, attributes: &[(&str, &str)]) {
        let node = tree.path().join(name);
        fs::create_dir(&node).unwrap();
        for (attribute, text) in attributes {
            fs::write(node.join(attribute), format!("{text}\n")).unwrap();
        }
        if let Some(driver) = driver {
            let drivers = tree.path().join(format!("drivers/{driver}"));
            fs::create_dir_all(&drivers).unwrap();
            fs::create_dir(node.join("device")).unwrap();
            symlink(drivers, node.join("device/driver")).unwrap();
        }
    }

    const GIGABIT: [(&str, &str); 5] = [
        ("type", "1"),
        ("speed", "1000"),
        ("duplex", "full"),
        ("mtu", "1500"),
        ("uevent", "INTERFACE=eth0"),
    ];

    #[test]
    fn an_interface_with_a_wire_gives_its_rate_duplex_and_mtu() {
        let tree = tree("eth0", Some("e1000e"), &GIGABIT);
        let way = ethernet(tree.path(), "eth0", TCP, HERE).unwrap();
        assert_eq!(way, Ethernet::new(1_000_000_000, TCP));
        let half = tree_with("duplex", "half");
        let way = ethernet(half.path(), "eth0", TCP, HERE).unwrap();
        assert!(way.half_duplex && way.limit(None).shared);
    }

    fn tree_with(attribute: &str, text: &str) -> TempDir {
        let tree = tree("eth0", Some("e1000e"), &GIGABIT);
        fs::write(tree.path().join("eth0").join(attribute), text).unwrap();
        tree
    }

    #[test]
    fn without_a_wire_of_known_rate_there_is_no_limit() {
        for (attribute, text) in [
            ("speed", "-1"),
            ("speed", "0"),
            ("speed", ""),
            ("type", "772"),
            ("mtu", "40"),
            ("speed", "18446744073709551615"),
        ] {
            let tree = tree_with(attribute, text);
            let found = ethernet(tree.path(), "eth0", TCP, HERE);
            assert_eq!(found, None, "{attribute} {text}");
        }
        let wireless = tree("wlan0", Some("iwlwifi"), &GIGABIT);
        fs::create_dir(wireless.path().join("wlan0/phy80211")).unwrap();
        let pair = tree("veth0", None, &GIGABIT);
        let gadget = tree("usb0", Some("cdc_ether"), &GIGABIT);
        for (tree, name) in [(&wireless, "wlan0"), (&pair, "veth0"), (&gadget, "usb0")] {
            assert_eq!(ethernet(tree.path(), name, TCP, HERE), None, "{name}");
        }
        assert_eq!(ethernet(pair.path(), "eth7", TCP, HERE), None);
    }

    #[test]
    fn a_vlan_has_the_rate_of_what_is_below_it_and_a_tag_more() {
        let tree = tree("eth0", Some("e1000e"), &GIGABIT);
        let vlan = [("type", "1"), ("mtu", "1496"), ("uevent", "DEVTYPE=vlan")];
        add(&tree, "eth0.7", None, &vlan);
        let lower = tree.path().join("eth0.7/lower_eth0");
        symlink(tree.path().join("eth0"), lower).unwrap();
        let way = ethernet(tree.path(), "eth0.7", Transport::Udp, HERE).unwrap();
        assert_eq!((way.mtu, way.vlan, way.bits_s), (1496, true, 1_000_000_000));
    }

    #[test]
    fn an_address_leads_to_its_interface() {
        let name = interface_of(IpAddr::from([127, 0, 0, 1])).unwrap();
        assert!(name.starts_with("lo"), "{name}");
        // Of a network that is for documentation only (RFC 5737).
        assert_eq!(interface_of(IpAddr::from([192, 0, 2, 1])), None);
    }

    #[test]
    fn loopback_has_no_limit() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(of_socket(&stream, TCP), None);
    }
}
