//! What the medium of a link can carry at best: the figure that every throughput is shown beside. Here it is
//! found out what the medium is; what it carries, `wiregauge_limits` computes.

pub use wiregauge_limits::Bus;

use wiregauge_limits::{Endpoint, Speed, Transfer};
use wiregauge_record::BusLimit;

/// The limit of bulk transfers at the speed that sysfs gives in Mbit/s.
pub fn of_usb_bulk(megabits: &str) -> Option<BusLimit> {
    let speed = Speed::from_megabits(megabits)?;
    let has_bulk = speed.has(Transfer::Bulk);
    has_bulk.then(|| Endpoint::best(speed, Transfer::Bulk).limit().for_run())
}

/// The limit of control transfers at the speed that sysfs gives in Mbit/s.
pub fn of_usb_control(megabits: &str) -> Option<BusLimit> {
    let speed = Speed::from_megabits(megabits)?;
    Some(Endpoint::best(speed, Transfer::Control).limit().for_run())
}

/// The limit of an interrupt endpoint: so many packets in each service interval.
pub fn of_usb_interrupt(
    megabits: &str,
    packet_bytes: usize,
    packets: u32,
    interval: u8,
) -> Option<BusLimit> {
    let speed = Speed::from_megabits(megabits)?;
    let packet_bytes = u32::try_from(packet_bytes).ok()?;
    let endpoint = Endpoint::interrupt(speed, packet_bytes, packets, interval);
    Some(endpoint.limit().for_run())
}

/// The limit of an isochronous endpoint: so many bytes in each interval, in so many packets.
pub fn of_usb_isochronous(
    megabits: &str,
    bytes: usize,
    packets: u32,
    interval: u8,
) -> Option<BusLimit> {
    let speed = Speed::from_megabits(megabits)?;
    let packet_bytes = u32::try_from(bytes).ok()?.div_ceil(packets.max(1));
    let endpoint = Endpoint::isochronous(speed, packet_bytes, packets, interval);
    endpoint.check().ok()?;
    Some(endpoint.limit().for_run())
}

/// The narrower of what the way to a device carries and what the device says of a bus behind it.
pub fn narrower(way: Option<BusLimit>, said: Option<BusLimit>) -> Option<BusLimit> {
    match (way, said) {
        (Some(way), Some(said)) if said.bytes_s < way.bytes_s => Some(said),
        (way, said) => way.or(said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_that_sysfs_gives_decides_the_limit_of_bulk() {
        assert_eq!(of_usb_bulk("5000").unwrap().bytes_s, 484_848_484.0);
        assert_eq!(of_usb_bulk("480").unwrap().bytes_s, 53_248_000.0);
        assert_eq!(of_usb_bulk("1.5"), None);
    }

    #[test]
    fn control_transfers_have_the_limit_of_their_table() {
        // USB 2.0, tables 5-1 to 5-3: 832,000 B/s in 64 B at full speed.
        assert_eq!(of_usb_control("12").unwrap().bytes_s, 832_000.0);
        assert_eq!(of_usb_control("480").unwrap().bytes_s, 15_872_000.0);
        assert_eq!(of_usb_control("0"), None);
    }

    #[test]
    fn an_interrupt_endpoint_carries_its_packets_once_an_interval() {
        let bytes_s = |m: &str, packet, packets, interval| {
            of_usb_interrupt(m, packet, packets, interval)
                .unwrap()
                .bytes_s
        };
        assert_eq!(bytes_s("12", 64, 1, 1), 64_000.0);
        // 10 ms are served every 8.
        assert_eq!(bytes_s("1.5", 8, 1, 10), 1_000.0);
        assert_eq!(bytes_s("480", 1024, 3, 1), 24_576_000.0);
        assert_eq!(bytes_s("480", 64, 1, 4), 64_000.0);
        assert_eq!(of_usb_interrupt("0", 64, 1, 1), None);
    }

    #[test]
    fn an_isochronous_endpoint_carries_its_bytes_once_an_interval() {
        let bytes_s = |m: &str, bytes, packets, interval| {
            of_usb_isochronous(m, bytes, packets, interval).map(|limit| limit.bytes_s)
        };
        // A sound card: 48 frames of stereo in 16 bits each millisecond.
        assert_eq!(bytes_s("12", 192, 1, 1), Some(192_000.0));
        assert_eq!(bytes_s("12", 1023, 1, 1), Some(1_023_000.0));
        assert_eq!(bytes_s("12", 1023, 1, 2), Some(511_500.0));
        assert_eq!(bytes_s("480", 3072, 3, 1), Some(24_576_000.0));
        assert_eq!(bytes_s("480", 192, 1, 4), Some(192_000.0));
        assert_eq!(bytes_s("12", 1024, 1, 1), None, "no such packets");
        assert_eq!(bytes_s("1.5", 8, 1, 1), None, "not at low speed");
    }

    #[test]
    fn of_the_way_and_the_bus_behind_it_the_narrower_counts() {
        let (full, high) = (Bus::FullSpeed.limit(), Bus::HighSpeed.limit());
        for (way, said) in [(&full, &high), (&high, &full)] {
            let found = narrower(Some(way.clone()), Some(said.clone()));
            assert_eq!(found.as_ref(), Some(&full));
        }
        assert_eq!(narrower(None, Some(full.clone())), Some(full.clone()));
        assert_eq!(narrower(Some(full.clone()), None), Some(full));
        assert_eq!(narrower(None, None), None);
    }
}
