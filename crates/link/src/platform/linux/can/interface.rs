//! CAN interfaces of this host: their names and state, from sysfs and from the kernel's netlink.

use crate::can::CanInterface;
use crate::can::timing::{INFO, MESSAGE, Timing, timing};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType};
use std::fs;
use std::io;

/// ARPHRD_CAN (`include/uapi/linux/if_arp.h`).
const CAN: &str = "280";

/// IFF_UP (`include/uapi/linux/if.h`).
const UP: u32 = 1;

/// MTU of an interface that takes frames of CAN FD.
const FD_MTU: u32 = 72;

/// Of `include/uapi/linux/rtnetlink.h` and `netlink.h`.
const RTM_GETLINK: u16 = 18;
const NLM_F_REQUEST: u16 = 1;

/// A CAN interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its number.
    pub index: u32,
    /// It is up.
    pub is_up: bool,
    /// It takes frames of CAN FD.
    pub has_fd: bool,
    /// What netlink says.
    pub timing: Timing,
}

/// Names of the CAN interfaces of this host.
pub fn names() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/sys/class/net") else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| attribute(name, "type").as_deref() == Some(CAN))
        .collect();
    names.sort();
    names
}

/// An interface; `None` if there is none of this name, or it is no CAN interface.
pub fn find(name: &str) -> Option<Interface> {
    if attribute(name, "type").as_deref() != Some(CAN) {
        return None;
    }
    let index = attribute(name, "ifindex")?.parse().ok()?;
    let flags = attribute(name, "flags")?;
    let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).ok()?;
    let mtu: u32 = attribute(name, "mtu")?.parse().ok()?;
    Some(Interface {
        index,
        is_up: flags & UP != 0,
        has_fd: mtu >= FD_MTU,
        timing: ask(index).unwrap_or_default(),
    })
}

/// True if there is any interface of this name.
pub fn exists(name: &str) -> bool {
    attribute(name, "ifindex").is_some()
}

/// The kernel's driver of a controller.
pub fn driver(name: &str) -> Option<String> {
    let link = fs::read_link(format!("/sys/class/net/{name}/device/driver")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

fn attribute(name: &str, attribute: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/sys/class/net/{name}/{attribute}")).ok()?;
    Some(text.trim().to_owned())
}

/// Asks the kernel about one interface.
fn ask(index: u32) -> io::Result<Timing> {
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    let mut request = [0; MESSAGE + INFO];
    request[..4].copy_from_slice(&((MESSAGE + INFO) as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&RTM_GETLINK.to_ne_bytes());
    request[6..8].copy_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    request[MESSAGE + 4..MESSAGE + 8].copy_from_slice(&index.to_ne_bytes());
    rustix::net::send(&socket, &request, SendFlags::empty())?;
    let mut reply = vec![0; 16 << 10];
    let (received, _) = rustix::net::recv(&socket, &mut reply[..], RecvFlags::empty())?;
    timing(&reply[..received]).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// All of them, as `wiregauge devices` lists them.
pub fn interfaces() -> Vec<CanInterface> {
    let of = |name: String| {
        let found = find(&name)?;
        let state = match (found.is_up, found.timing.state_name()) {
            (false, _) => "down",
            (true, Some(state)) => state,
            (true, None) => "up",
        };
        Some(CanInterface {
            address: format!("can://{name}"),
            driver: driver(&name),
            kind: found.timing.kind,
            bitrate: found.timing.bitrate,
            data_bitrate: found.timing.data_bitrate,
            fd: found.has_fd,
            state: state.into(),
        })
    };
    names().into_iter().filter_map(of).collect()
}
