//! Ethernet against figures that are known from elsewhere.

use wiregauge_limits::{Ethernet, Transport};

const GIGABIT: u64 = 1_000_000_000;
const TCP: Transport = Transport::Tcp { timestamps: true };

fn mbit_s(way: Ethernet, payload: Option<u32>) -> f64 {
    way.limit(payload).bytes_s * 8.0 / 1e6
}

/// What iperf shows on an idle gigabit wire; e.g. RFC 7323's options make 1448 of 1460.
#[test]
fn tcp_over_gigabit_ethernet_carries_941_mbit_s_with_timestamps_and_949_without() {
    let with = Ethernet::new(GIGABIT, TCP);
    assert_eq!(mbit_s(with, None).floor(), 941.0);
    let without = Ethernet::new(GIGABIT, Transport::Tcp { timestamps: false });
    assert_eq!(mbit_s(without, None).floor(), 949.0);
    let udp = Ethernet::new(GIGABIT, Transport::Udp);
    assert_eq!(mbit_s(udp, None).floor(), 957.0);
    let six = Ethernet { ipv6: true, ..with };
    assert_eq!(mbit_s(six, None).floor(), 928.0);
    let jumbo = Ethernet { mtu: 9000, ..with };
    assert_eq!(mbit_s(jumbo, None).floor(), 990.0);
    assert!(mbit_s(Ethernet { vlan: true, ..with }, None) < mbit_s(with, None));
}

/// The smallest frames a second of RFC 1242 and RFC 2544 testers: 14,880 at 10 Mbit/s, 148,809 at 100.
#[test]
fn the_smallest_frames_pass_as_often_as_testers_of_switches_say() {
    for (rate, frames) in [
        (10_000_000, 14_880.0),
        (100_000_000, 148_809.0),
        (GIGABIT, 1_488_095.0),
    ] {
        let limit = Ethernet::new(rate, Transport::Udp).limit(Some(1));
        assert_eq!(limit.messages_s.floor(), frames);
    }
}

#[test]
fn an_exchange_takes_the_time_of_its_frames_and_no_gap() {
    let way = Ethernet::new(10_000_000, Transport::Udp);
    // Twice 72 bytes of 8 bits at 10 Mbit/s.
    assert_eq!(way.exchange_ns(1, 1), 2.0 * 72.0 * 800.0);
}

/// One datagram of 32,752 B in one frame takes a header of UDP for itself; the largest one, in two frames, takes one as well.
#[test]
fn the_best_datagram_is_of_full_fragments_or_the_largest() {
    let way = Ethernet::new(GIGABIT, Transport::Udp);
    let best = |mtu| Ethernet { mtu, ..way }.best_message();
    assert_eq!(best(1500), 65_112);
    assert_eq!(best(32_780), 65_507);
    assert_eq!(best(65_535), 65_507);
}

#[test]
fn what_does_not_fit_is_refused_with_what_does() {
    let way = Ethernet::new(GIGABIT, Transport::Udp);
    let refused = |way: Ethernet, payload| way.check(payload).unwrap_err().to_string();
    assert!(refused(way, Some(65_508)).contains("1 to 65507 B"));
    assert!(refused(way, Some(0)).contains("is not valid"));
    let six = Ethernet { ipv6: true, ..way };
    assert_eq!(six.check(Some(65_527)), Ok(()));
    assert!(refused(Ethernet { mtu: 1279, ..six }, None).contains("1280 to 65535"));
    assert!(refused(Ethernet { mtu: 67, ..way }, None).contains("68 to 65535"));
    assert_eq!(Ethernet { mtu: 68, ..way }.check(Some(65_507)), Ok(()));
    assert!(refused(Ethernet { bits_s: 0, ..way }, None).contains("0 bit/s"));
}

#[test]
fn the_formula_shown_gives_the_figure_shown() {
    let limit = Ethernet::new(GIGABIT, TCP).limit(None);
    assert_eq!(
        limit.formula,
        "125,000,000 B/s x 1448 / (8 + 14 + 1500 + 4 + 12) = 117,685,306 B/s"
    );
    let small = Ethernet::new(100_000_000, Transport::Udp).limit(Some(1));
    assert_eq!(
        small.formula,
        "12,500,000 B/s x 1 / (8 + 14 + 29 + 17 of padding + 4 + 12) = 148,810 B/s"
    );
}
