//! What holds of every limit, whatever is asked for.

use proptest::prelude::*;
use wiregauge_limits::{Endpoint, Ethernet, Framing, Limit, Speed, Transfer, Transport, Uart};

fn speeds() -> impl Strategy<Value = Speed> {
    prop::sample::select(Speed::ALL.to_vec())
}

fn transfers() -> impl Strategy<Value = Transfer> {
    prop::sample::select(Transfer::ALL.to_vec())
}

fn ways() -> impl Strategy<Value = Ethernet> {
    let transport = prop::sample::select(vec![
        Transport::Tcp { timestamps: true },
        Transport::Tcp { timestamps: false },
        Transport::Udp,
    ]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (
        1_000_000u64..100_000_000_000,
        1280u32..=65_535,
        transport,
        flags,
    )
        .prop_map(
            |(bits_s, mtu, transport, (ipv6, vlan, half_duplex))| Ethernet {
                bits_s,
                mtu,
                transport,
                ipv6,
                vlan,
                half_duplex,
            },
        )
}

fn is_sound(limit: &Limit) {
    for figure in [limit.bytes_s, limit.message_ns] {
        assert!(figure > 0.0 && figure.is_finite(), "{limit:?}");
    }
    assert!(limit.efficiency() < 1.0, "{limit:?}");
    assert!(!limit.formula.is_empty() && !limit.source.is_empty());
}

proptest! {
    #[test]
    fn no_endpoint_carries_more_than_the_wire(
        speed in speeds(),
        transfer in transfers(),
        packet in 1u32..=1024,
        packets in 1u32..=300,
        exponent in 0u32..=15,
    ) {
        let endpoint = Endpoint {
            packet_bytes: packet,
            packets: if transfer.is_periodic() { packets } else { 1 },
            interval_ns: match transfer.is_periodic() {
                true => speed.frame_ns() << exponent,
                false => speed.frame_ns(),
            },
            ..Endpoint::best(speed, transfer)
        };
        if endpoint.check().is_ok() {
            is_sound(&endpoint.limit());
            if let Some(frame) = endpoint.frame() {
                prop_assert!(frame.transfers > 0);
                prop_assert!(frame.data_bytes + frame.bytes_remaining < speed.frame_bytes());
                prop_assert!(endpoint.limit().bytes_s <= frame.bytes_s as f64);
            }
        }
    }

    /// Larger packets carry more as long as as many fit; fewer never fit for smaller ones.
    #[test]
    fn with_as_many_packets_a_frame_larger_ones_carry_more(
        speed in prop::sample::select(vec![Speed::Low, Speed::Full, Speed::High]),
        transfer in transfers(),
        packet in 1u32..1024,
    ) {
        let endpoint = |packet_bytes| Endpoint { packets: 1, ..Endpoint::best(speed, transfer).with_packet(packet_bytes) };
        if endpoint(packet + 1).check().is_ok() {
            let (small, large) = (endpoint(packet).frame(), endpoint(packet + 1).frame());
            let (small, large) = (small.expect("a frame"), large.expect("a frame"));
            prop_assert!(large.transfers <= small.transfers);
            if large.transfers == small.transfers {
                prop_assert!(large.bytes_s > small.bytes_s);
            }
        }
    }

    /// Whatever a descriptor says, hostile ones included, there is a figure and no panic.
    #[test]
    fn any_descriptor_has_a_limit(
        speed in speeds(),
        packet in any::<u16>(),
        packets in any::<u8>(),
        interval in any::<u8>(),
    ) {
        let endpoint = Endpoint::interrupt(speed, u32::from(packet), u32::from(packets), interval);
        let limit = endpoint.limit();
        prop_assert!(limit.bytes_s >= 0.0 && limit.bytes_s.is_finite());
    }

    #[test]
    fn no_message_over_ethernet_is_faster_than_the_wire(way in ways(), payload in 1u32..=65_507) {
        let limit = way.limit(Some(payload));
        is_sound(&limit);
        prop_assert!(limit.message_ns >= f64::from(payload) * 8e9 / way.bits_s as f64);
        prop_assert!(way.message_ns(payload + 1) >= limit.message_ns);
        let best = way.limit(Some(way.best_message()));
        prop_assert!(limit.bytes_s <= best.bytes_s * (1.0 + 1e-12));
        prop_assert!(way.check(Some(way.best_message())).is_ok());
    }

    #[test]
    fn a_line_carries_less_than_its_baud_rate(baud in 1u32.., bytes in 1u64..1 << 40) {
        let line = Uart { baud, framing: Framing::EIGHT_N_ONE };
        is_sound(&line.limit());
        let twice = line.message_ns(2 * bytes);
        prop_assert!((twice - 2.0 * line.message_ns(bytes)).abs() <= twice * 1e-12);
    }
}
