//! Files of every form, whole, cut off, damaged.

use crate::made::{Limit, bus};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{Endianness, TsResolution};
use proptest::prelude::*;
use std::borrow::Cow;
use std::time::Duration;
use wiregauge_capture::{
    Explained, Host, Pid, ReadError, Reader, Record, Speed, UrbType, UrbVerdict, Window, Writer,
    explain, packet,
};

/// What is found in a part of a capture of a bus.
pub fn bus_of(file: &[u8], window: Window) -> wiregauge_capture::Bus {
    match explain(|| Ok(file), window).expect("a whole capture") {
        Explained::Bus(bus) => bus,
        other => panic!("{other:?}"),
    }
}

type Packet = (u64, Vec<u8>, Option<Speed>);
type Classic = PcapWriter<Vec<u8>>;

/// A capture of this link type in the classic format.
fn classic(link: u32, order: Endianness, ts_resolution: TsResolution) -> Classic {
    let header = PcapHeader {
        datalink: DataLink::from(link),
        endianness: order,
        ts_resolution,
        ..PcapHeader::default()
    };
    PcapWriter::with_header(Vec::new(), header).expect("a vector takes everything")
}

fn put(writer: &mut Classic, at: Duration, bytes: &[u8]) {
    let packet = PcapPacket::new(at, bytes.len() as u32, bytes);
    (writer.write_packet(&packet)).expect("a vector takes everything");
}

fn order(big: bool) -> Endianness {
    [Endianness::Little, Endianness::Big][usize::from(big)]
}

fn interface(
    link: u32,
    options: Vec<InterfaceDescriptionOption<'_>>,
) -> InterfaceDescriptionBlock<'_> {
    InterfaceDescriptionBlock {
        linktype: DataLink::from(link),
        snaplen: 0,
        options,
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn urbs_of(file: &[u8]) -> Host {
    match explain(|| Ok(file), Window::default()).expect("a capture") {
        Explained::Urbs(host) => host,
        other => panic!("{other:?}"),
    }
}

/// All packets of a file, and where it is cut off.
fn packets(file: &[u8]) -> (Vec<Packet>, Option<u64>) {
    let mut reader = Reader::new(file).expect("a whole capture");
    let mut found = Vec::new();
    while let Some(record) = reader.next_record().expect("a whole capture") {
        match record {
            Record::Packet(packet) => {
                found.push((packet.at_ns, packet.bytes.to_vec(), packet.speed));
            }
            Record::Urb(urb) => panic!("{urb:?}"),
        }
    }
    (found, reader.cut_off())
}

/// Packets with times, in order.
fn any_packets() -> impl Strategy<Value = Vec<(u64, Vec<u8>)>> {
    let one = (0_u64..1 << 40, prop::collection::vec(any::<u8>(), 1..80));
    prop::collection::vec(one, 0..40)
}

proptest! {
    #[test]
    fn what_was_written_is_read(made in any_packets(), speed in 0..3_usize) {
        let speed = [Speed::Low, Speed::Full, Speed::High][speed];
        let mut writer = Writer::new(Vec::new(), speed).unwrap();
        for (at_ns, bytes) in &made {
            writer.packet(*at_ns, bytes).unwrap();
        }
        let (found, cut) = packets(&writer.into_inner());
        let made: Vec<Packet> = made.into_iter().map(|(at, bytes)| (at, bytes, Some(speed))).collect();
        prop_assert_eq!(found, made);
        prop_assert_eq!(cut, None);
    }

    #[test]
    fn classic_files_of_both_byte_orders_and_resolutions_are_read(
        made in any_packets(),
        big in any::<bool>(),
        nanoseconds in any::<bool>(),
    ) {
        let resolution = if nanoseconds { TsResolution::NanoSecond } else { TsResolution::MicroSecond };
        let mut writer = classic(288, order(big), resolution);
        for (at_ns, bytes) in &made {
            put(&mut writer, Duration::from_nanos(*at_ns), bytes);
        }
        let (found, _) = packets(&writer.into_writer());
        let unit = if nanoseconds { 1 } else { 1000 };
        let made: Vec<Packet> =
            made.into_iter().map(|(at, bytes)| (at / unit * unit, bytes, None)).collect();
        prop_assert_eq!(found, made);
    }

    #[test]
    fn interfaces_with_other_speeds_and_clocks_are_read(made in any_packets(), big in any::<bool>()) {
        let mut writer = PcapNgWriter::with_endianness(Vec::new(), order(big)).unwrap();
        // Microseconds are what an interface means that says nothing.
        writer.write_pcapng_block(interface(294, vec![])).unwrap();
        let nanoseconds = vec![InterfaceDescriptionOption::IfTsResol(9)];
        writer.write_pcapng_block(interface(295, nanoseconds)).unwrap();
        let mut expected = Vec::new();
        for (number, (at, bytes)) in made.iter().enumerate() {
            let interface = number % 2;
            let block = EnhancedPacketBlock {
                interface_id: interface as u32,
                // The writer takes ticks for nanoseconds.
                timestamp: Duration::from_nanos(*at),
                original_len: bytes.len() as u32,
                data: Cow::Borrowed(bytes.as_slice()),
                options: vec![],
            };
            writer.write_pcapng_block(block).unwrap();
            expected.push(match interface {
                0 => (at * 1000, bytes.clone(), Some(Speed::Full)),
                _ => (*at, bytes.clone(), Some(Speed::High)),
            });
        }
        let (found, _) = packets(&writer.into_inner());
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn bytes_of_any_kind_end_in_records_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..600), kind in 0..4_usize) {
        let begin: &[u8] = [
            &b""[..],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..],
            &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0xdc, 0, 0, 0][..],
            &b"# Level,Sp,Index,m:s.ms.us,Dur,Len,Err,Dev,Ep,Record,Data\n"[..],
        ][kind];
        let file = [begin, &bytes].concat();
        let _ = explain(|| Ok(file.as_slice()), Window::default());
    }

    #[test]
    fn a_damaged_file_ends_in_figures_or_an_error(at in 0_usize..4000, value in any::<u8>(), seed in 0_u64..4) {
        let mut file = bus(Limit::Host, seed).file;
        file[at] = value;
        if let Err(error) = explain(|| Ok(file.as_slice()), Window::default()) {
            prop_assert!(error.to_string().contains("byte "), "{error}");
        }
    }
}

#[test]
fn of_a_file_that_was_cut_off_all_whole_packets_are_read() {
    let file = bus(Limit::Device, 3).file;
    let (all, cut) = packets(&file);
    assert_eq!(cut, None);
    let mut last = 0;
    for length in (60..1200).chain([file.len() - 1]) {
        let (found, cut) = packets(&file[..length]);
        assert_eq!(found[..], all[..found.len()]);
        assert!(found.len() >= last);
        last = found.len();
        if let Some(cut) = cut {
            assert!(cut < length as u64);
        }
    }
    assert_eq!(last, all.len() - 1);
    let bus = bus_of(&file[..file.len() - 1], Window::default());
    assert!(bus.cut_off_at.is_some());
}

#[test]
fn the_speed_is_concluded_where_the_file_does_not_state_it() {
    for seed in 0..10 {
        let made = bus(Limit::Host, seed);
        let (found, _) = packets(&made.file);
        let mut writer = classic(288, Endianness::Little, TsResolution::NanoSecond);
        for (at_ns, bytes, _) in &found {
            put(&mut writer, Duration::from_nanos(*at_ns), bytes);
        }
        let bus = bus_of(&writer.into_writer(), Window::default());
        assert_eq!((bus.speed, bus.speed_assumed), (made.speed, true));
    }
}

/// A capture that packetry wrote: its events say the speed.
#[test]
fn an_event_of_packetry_says_the_speed() {
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let nanoseconds = vec![InterfaceDescriptionOption::IfTsResol(9)];
    writer
        .write_pcapng_block(interface(288, nanoseconds))
        .unwrap();
    let mut file = writer.into_inner();
    // A block of packetry with 20 bytes, then that of a packet.
    file.extend(words(&[0x4000_0bad, 32]));
    file.extend(words(&[62392, 0x3343_0000 | 8, 0, 0, 5, 32]));
    let packet = packet::handshake(Pid::Ack);
    file.extend(words(&[6, 36, 0, 0, 9, 1, 1, u32::from(packet[0]), 36]));
    let (found, _) = packets(&file);
    assert_eq!(found, [(9, packet.to_vec(), Some(Speed::High))]);
}

#[test]
fn a_capture_of_another_kind_is_named() {
    let of = |link| classic(link, Endianness::Big, TsResolution::MicroSecond).into_writer();
    for (bytes, expected) in [
        (&of(249)[..], "USBPcap is not supported"),
        (&of(1), "link type 1 (Ethernet)"),
        (&of(1), "hint: "),
        (b"\x1f\x8b\x08", "gunzip"),
        (b"", "empty"),
        (b"{}", "not a capture file"),
    ] {
        let error = Reader::new(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A record of usbmon with the header of 64 bytes.
fn usbmon(id: u64, stage: u8, status: i32, length: u32, big: bool) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let mut put = |at: usize, little: &[u8]| {
        let mut value = little.to_vec();
        if big {
            value.reverse();
        }
        bytes[at..at + value.len()].copy_from_slice(&value);
    };
    put(0, &id.to_le_bytes());
    put(8, &[stage]);
    put(9, &[3]);
    put(10, &[0x81]);
    put(11, &[7]);
    put(12, &2_u16.to_le_bytes());
    put(28, &status.to_le_bytes());
    put(32, &length.to_le_bytes());
    bytes
}

/// URBs of 100 us, each submitted `gap_us` after the one before was over.
fn urbs(gap_us: u64, big: bool) -> Vec<u8> {
    let mut writer = classic(220, order(big), TsResolution::MicroSecond);
    let mut at = Duration::from_secs(1_700_000_000);
    for number in 0..50 {
        for (stage, length, after_us) in [(b'S', 4096, 100), (b'C', 512, gap_us)] {
            let id = 0xffff_8880_0000_0000 + number % 4;
            put(&mut writer, at, &usbmon(id, stage, 0, length, big));
            at += Duration::from_micros(after_us);
        }
    }
    writer.into_writer()
}

#[test]
fn usbmon_separates_the_host_from_device_and_bus() {
    for (gap_us, big) in [(900, false), (900, true), (20, false)] {
        let host = urbs_of(&urbs(gap_us, big));
        let [endpoint] = host.endpoints.as_slice() else {
            panic!("{host:?}")
        };
        let address = (endpoint.bus, endpoint.device, endpoint.endpoint);
        assert_eq!(address, (2, 7, 0x81));
        assert_eq!(endpoint.transfer, UrbType::Bulk);
        assert_eq!((endpoint.transfers, endpoint.bytes), (50, 50 * 512));
        assert_eq!((endpoint.short, endpoint.unmatched), (50, 0));
        assert_eq!(endpoint.urb_time.unwrap().max_ns, 100_000);
        assert_eq!(endpoint.host_gap.unwrap().max_ns, gap_us * 1000);
        let late = matches!(endpoint.verdict, Some(UrbVerdict::HostTooLate { .. }));
        assert_eq!(late, gap_us == 900, "{:?}", endpoint.words);
    }
}

#[test]
fn urbs_that_the_host_took_back_are_not_failures() {
    let mut writer = classic(220, Endianness::Little, TsResolution::MicroSecond);
    let mut at = Duration::from_secs(1_700_000_000);
    for (id, status) in [(1, 0), (2, -2), (3, -104), (4, -71), (5, -121)] {
        for (stage, status) in [(b'S', -115_i32), (b'C', status)] {
            put(&mut writer, at, &usbmon(id, stage, status, 64, false));
            at += Duration::from_micros(10);
        }
    }
    let host = urbs_of(&writer.into_writer());
    let one = &host.endpoints[0];
    assert_eq!((one.transfers, one.cancelled, one.failed), (2, 2, 1));
}

#[test]
fn the_time_of_urbs_that_the_host_took_back_at_the_end_is_no_time_of_transfers() {
    let mut writer = classic(220, Endianness::Little, TsResolution::MicroSecond);
    let begin = Duration::from_secs(1_700_000_000);
    let mut write = |at_ms: u64, id: u64, stage: u8, status: i32| {
        let at = begin + Duration::from_millis(at_ms);
        put(&mut writer, at, &usbmon(id, stage, status, 64, false));
    };
    // Ten transfers of 1 ms, 3 ms apart; then 10 s in which a read that is cancelled was pending.
    for id in 0..10 {
        write(4 * id, id, b'S', -115);
        write(4 * id + 1, id, b'C', 0);
    }
    write(40, 10, b'S', -115);
    write(10_000, 10, b'C', -2);
    let host = urbs_of(&writer.into_writer());
    let one = &host.endpoints[0];
    assert_eq!((one.transfers, one.cancelled), (10, 1));
    assert!((one.idle - 27.0 / 37.0).abs() < 1e-9, "{}", one.idle);
    assert!((one.pending - 10.0 / 37.0).abs() < 1e-9, "{}", one.pending);
    let gap = one.transfer_gap.unwrap();
    assert_eq!((gap.count, gap.p50_ns), (9, 4_000_000));
}

#[test]
fn the_packet_at_which_time_goes_back_is_named() {
    let mut writer = Writer::new(Vec::new(), Speed::Full).unwrap();
    for at_us in [10_u64, 20, 5, 30, 25] {
        writer.packet(at_us * 1000, &packet::sof(1)).unwrap();
    }
    let bus = bus_of(&writer.into_inner(), Window::default());
    assert_eq!((bus.time_goes_back_at, bus.times_back), (Some(3), 2));
}

#[test]
fn a_window_without_packets_is_an_error_with_the_duration() {
    let made = bus(Limit::Host, 1);
    let from_ns = 1_000_000_000_000;
    let window = Window {
        from_ns,
        to_ns: u64::MAX,
    };
    let error = explain(|| Ok(made.file.as_slice()), window).unwrap_err();
    let ReadError::Window { duration_ns } = error else {
        panic!("{error}");
    };
    assert!((1..from_ns).contains(&duration_ns), "{duration_ns}");
}
