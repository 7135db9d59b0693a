//! Which network interface carries what is sent to a peer, from the kernel's own tables.

use crate::{HostContext, Target};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The interface by which the target on the network is reached; `None` for this host itself, for other
/// targets, and where no route leads there.
pub(crate) fn interface(context: &HostContext) -> Option<String> {
    let Target::Network { peer, .. } = &context.target else {
        return None;
    };
    let found = match peer.to_canonical() {
        IpAddr::V4(peer) => route4(&context.read("/proc/net/route")?, peer),
        IpAddr::V6(peer) => route6(&context.read("/proc/net/ipv6_route")?, peer),
    }?;
    (!is_here(context, *peer) && found != "lo").then_some(found)
}

/// True for addresses of this host, whose traffic never leaves it.
pub(crate) fn is_here(context: &HostContext, peer: IpAddr) -> bool {
    match peer.to_canonical() {
        peer if peer.is_loopback() => true,
        IpAddr::V4(peer) => {
            // A trie printed as a tree: the address, and on the next line what it is.
            let trie = context.read("/proc/net/fib_trie").unwrap_or_default();
            let address = format!("|-- {peer}");
            let lines: Vec<&str> = trie.lines().map(str::trim).collect();
            lines
                .windows(2)
                .any(|two| two[0] == address && two[1] == "/32 host LOCAL")
        }
        IpAddr::V6(peer) => {
            let own = context.read("/proc/net/if_inet6").unwrap_or_default();
            own.lines().any(|line| {
                let address = line.split_whitespace().next().and_then(six);
                address == Some(peer)
            })
        }
    }
}

/// The longest prefix wins; of equal ones that with the lower metric (RFC 1812, 5.2.4.3).
fn route4(table: &str, peer: Ipv4Addr) -> Option<String> {
    let hex = |word: &str| u32::from_str_radix(word, 16).ok();
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            // Addresses stand there as the machine stores them, in the order of the network.
            let target = hex(words.get(1)?)?;
            let mask = hex(words.get(7)?)?;
            let metric: u32 = words.get(6)?.parse().ok()?;
            let peer = u32::from_ne_bytes(peer.octets());
            (peer & mask == target).then(|| {
                let name = words[0].to_owned();
                (mask.count_ones(), std::cmp::Reverse(metric), name)
            })
        })
        .max()
        .map(|(_, _, name)| name)
}

fn route6(table: &str, peer: Ipv6Addr) -> Option<String> {
    table
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let target = six(words.first()?)?;
            let length = u32::from_str_radix(words.get(1)?, 16).ok()?;
            let metric = u32::from_str_radix(words.get(5)?, 16).ok()?;
            let flags = u32::from_str_radix(words.get(8)?, 16).ok()?;
            // RTF_UP and not RTF_REJECT, include/uapi/linux/route.h.
            let usable = flags & 0x0001 != 0 && flags & 0x0200 == 0;
            let mask = u128::MAX
                .checked_shl(128_u32.checked_sub(length)?)
                .unwrap_or(0);
            let fits = peer.to_bits() & mask == target.to_bits() & mask;
            let name = (*words.get(9)?).to_owned();
            (usable && fits).then_some((length, std::cmp::Reverse(metric), name))
        })
        .max()
        .map(|(_, _, name)| name)
}

/// 32 hexadecimal digits.
fn six(digits: &str) -> Option<Ipv6Addr> {
    let bits = u128::from_str_radix(digits, 16).ok()?;
    (digits.len() == 32).then(|| Ipv6Addr::from_bits(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: &str = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
        eth0 00000000 0100000A 0003 0 0 100 00000000 0 0 0\n\
        wlan0 00000000 0100000A 0003 0 0 600 00000000 0 0 0\n\
        usb0 0007A8C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n\
        rubbish\n";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_longest_prefix_wins_and_then_the_lower_metric() {
        let way = |peer: [u8; 4]| route4(FOUR, Ipv4Addr::from(peer));
        assert_eq!(way([192, 168, 7, 2]).as_deref(), Some("usb0"));
        assert_eq!(way([192, 168, 8, 2]).as_deref(), Some("eth0"));
        assert_eq!(route4("", Ipv4Addr::LOCALHOST), None);
    }

    #[test]
    fn of_ipv6_routes_those_that_refuse_are_passed_over() {
        let zero = "0".repeat(32);
        let local = format!("fe80{}", "0".repeat(28));
        let table = format!(
            "{local} 40 {zero} 00 {zero} 00000100 00000001 00000000 00000001 eth1\n\
             {zero} 00 {zero} 00 {zero} ffffffff 00000001 00000000 00200200 lo\n\
             {zero} 00 {zero} 00 fe80 00000400 00000001 00000000 00000003 eth0\n"
        );
        let way = |peer: &str| route6(&table, peer.parse().unwrap());
        assert_eq!(way("fe80::1").as_deref(), Some("eth1"));
        assert_eq!(way("2001:db8::1").as_deref(), Some("eth0"));
    }
}
