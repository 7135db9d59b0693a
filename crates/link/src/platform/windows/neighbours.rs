//! The network as the tables of Windows have it: what listens on the responders' port, and hosts that this one already
//! talks to. Nobody is asked.

#![allow(unsafe_code)]

use crate::devices::{Answer, NetworkDevice, PORT};
use std::ffi::c_void;
use std::net::Ipv4Addr;
use windows_sys::Win32::Foundation::ERROR_INSUFFICIENT_BUFFER;
use windows_sys::Win32::NetworkManagement::IpHelper::{
    GetExtendedTcpTable, GetExtendedUdpTable, GetIpForwardTable, GetIpNetTable,
    MIB_IPNET_TYPE_DYNAMIC, MIB_IPNET_TYPE_STATIC, TCP_TABLE_BASIC_LISTENER, UDP_TABLE_BASIC,
};
use windows_sys::Win32::Networking::WinSock::{AF_INET, AF_INET6};

/// Neighbours asked at most.
const MOST_NEIGHBOURS: usize = 16;

/// Words of a row, and where its local address and port are: MIB_TCPROW, MIB_TCP6ROW, MIB_UDPROW, MIB_UDP6ROW.
const TCP: Row = (5, 1..2, 2);
const TCP_SIX: Row = (13, 1..5, 6);
const UDP: Row = (2, 0..1, 1);
const UDP_SIX: Row = (6, 0..4, 5);

type Row = (usize, std::ops::Range<usize>, usize);

/// Words of MIB_IPNETROW with the address and the type; of MIB_IPFORWARDROW with the target and the gateway.
const NEIGHBOUR: (usize, usize, usize) = (6, 4, 5);
const ROUTE: (usize, usize, usize) = (14, 0, 3);

/// What listens on the port of this host.
pub fn listeners() -> Vec<NetworkDevice> {
    let tcp = |family: u16| {
        // SAFETY: the system writes at most the number of bytes that it is given.
        table(|into, bytes| unsafe {
            GetExtendedTcpTable(into, bytes, 0, family.into(), TCP_TABLE_BASIC_LISTENER, 0)
        })
    };
    let udp = |family: u16| {
        // SAFETY: as above.
        table(|into, bytes| unsafe {
            GetExtendedUdpTable(into, bytes, 0, family.into(), UDP_TABLE_BASIC, 0)
        })
    };
    let mut found = Vec::new();
    for (scheme, four, six) in [
        (
            "tcp",
            listens(&tcp(AF_INET), TCP),
            listens(&tcp(AF_INET6), TCP_SIX),
        ),
        (
            "udp",
            listens(&udp(AF_INET), UDP),
            listens(&udp(AF_INET6), UDP_SIX),
        ),
    ] {
        let host = match (four, six) {
            (true, _) => "127.0.0.1",
            (false, true) => "[::1]",
            (false, false) => continue,
        };
        found.push(NetworkDevice {
            address: format!("{scheme}://{host}:{PORT}"),
            place: "this host".into(),
            answer: Answer::NotAsked,
        });
    }
    found
}

/// True if a table has a socket on the port that loopback reaches.
fn listens(table: &[u32], (words, address, port): Row) -> bool {
    rows(table, words).any(|row| {
        let local: Vec<u8> = row[address.clone()]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        let is_anywhere = local.iter().all(|&byte| byte == 0);
        let (last, rest) = (local.last(), &local[..local.len() - 1]);
        let is_loopback = match local.len() {
            4 => local[0] == 127,
            _ => last == Some(&1) && rest.iter().all(|&byte| byte == 0),
        };
        // The lower two bytes, in the order of the network.
        let port = u16::from_be(row[port] as u16);
        port == PORT && (is_anywhere || is_loopback)
    })
}

/// Hosts that this one already talks to: its gateways and what its ARP table has.
pub fn neighbours() -> Vec<Ipv4Addr> {
    // SAFETY: the system writes at most the number of bytes that it is given.
    let routes = table(|into, bytes| unsafe { GetIpForwardTable(into.cast(), bytes, 0) });
    // SAFETY: as above.
    let arp = table(|into, bytes| unsafe { GetIpNetTable(into.cast(), bytes, 0) });
    let mut all: Vec<Ipv4Addr> = gateways(&routes).chain(in_arp(&arp)).collect();
    all.sort();
    all.dedup();
    all.truncate(MOST_NEIGHBOURS);
    all
}

fn gateways(table: &[u32]) -> impl Iterator<Item = Ipv4Addr> {
    let (words, target, gateway) = ROUTE;
    let of_default = move |row: &&[u32]| row[target] == 0 && row[gateway] != 0;
    let found = rows(table, words).filter(of_default);
    found.map(move |row| Ipv4Addr::from(row[gateway].to_ne_bytes()))
}

fn in_arp(table: &[u32]) -> impl Iterator<Item = Ipv4Addr> {
    let (words, address, kind) = NEIGHBOUR;
    rows(table, words).filter_map(move |row| {
        let is_known =
            [MIB_IPNET_TYPE_DYNAMIC, MIB_IPNET_TYPE_STATIC].contains(&(row[kind] as i32));
        let found = Ipv4Addr::from(row[address].to_ne_bytes());
        let is_host = !found.is_multicast() && !found.is_broadcast() && found.octets()[3] != 255;
        (is_known && is_host).then_some(found)
    })
}

/// The rows behind the first word, which is their number.
fn rows(table: &[u32], words: usize) -> impl Iterator<Item = &[u32]> {
    let (count, rows) = table.split_first().unwrap_or((&0, &[]));
    rows.chunks_exact(words).take(*count as usize)
}

/// A table of the system; empty if there is none.
fn table(call: impl Fn(*mut c_void, *mut u32) -> u32) -> Vec<u32> {
    let mut words = vec![0_u32; 1 << 12];
    // It may grow between two calls.
    for _ in 0..4 {
        let mut bytes = size_of_val(&words[..]) as u32;
        match call(words.as_mut_ptr().cast(), &mut bytes) {
            0 => return words,
            ERROR_INSUFFICIENT_BUFFER => words = vec![0; bytes as usize / 4 + 256],
            _ => break,
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_listener_on_the_port_that_loopback_reaches_counts() {
        let port = u32::from(PORT.to_be());
        let has =
            |address: [u8; 4], port| listens(&[1, 2, u32::from_ne_bytes(address), port, 0, 0], TCP);
        assert!(has([127, 0, 0, 1], port));
        assert!(has([0; 4], port));
        assert!(!has([10, 0, 0, 5], port), "address");
        assert!(!has([0; 4], port + 1), "port");
        let loopback = u32::from_ne_bytes([0, 0, 0, 1]);
        assert!(listens(&[1, 0, 0, 0, loopback, 0, port], UDP_SIX));
        assert!(!listens(&[0, 0, 0, 0, loopback, 0, port], UDP_SIX), "count");
        assert!(!listens(&[], TCP));
    }

    #[test]
    fn neighbours_are_the_gateway_and_those_that_answered() {
        let word = |address: [u8; 4]| u32::from_ne_bytes(address);
        let mut routes = vec![0; 29];
        (routes[0], routes[4]) = (2, word([10, 0, 0, 1]));
        (routes[15], routes[18]) = (word([10, 0, 0, 0]), word([10, 0, 0, 7]));
        let found: Vec<_> = gateways(&routes).collect();
        assert_eq!(found, [Ipv4Addr::new(10, 0, 0, 1)]);
        let arp = [
            vec![3],
            vec![1, 6, 0, 0, word([10, 0, 0, 5]), 3],
            vec![1, 6, 0, 0, word([10, 0, 0, 6]), 2],
            vec![1, 6, 0, 0, word([224, 0, 0, 1]), 4],
        ];
        let found: Vec<_> = in_arp(&arp.concat()).collect();
        assert_eq!(found, [Ipv4Addr::new(10, 0, 0, 5)]);
    }
}
