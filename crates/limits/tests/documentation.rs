//! The tables of docs/limits.md are made here, so that they cannot differ from what the program says:
//! `WIREGAUGE_WRITE_TABLES=1 cargo test -p wiregauge-limits --test tests documentation` writes them anew.

use std::fmt::Write;
use wiregauge_limits::{
    Can, CanRates, Endpoint, Ethernet, Framing, Speed, Transfer, Transport, Uart,
};

fn grouped(number: f64) -> String {
    wiregauge_record::grouped_digits(&format!("{number:.0}"))
}

fn table(head: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rule = " --- |".repeat(head.split(" | ").count());
    let mut text = format!("| {head} |\n|{rule}\n");
    for row in rows {
        writeln!(text, "| {} |", row.join(" | ")).expect("a string takes it");
    }
    text
}

/// Every speed and kind of transfer.
fn endpoints() -> impl Iterator<Item = Endpoint> {
    Speed::ALL.into_iter().flat_map(|speed| {
        let transfers = Transfer::ALL.into_iter();
        transfers
            .filter(move |&transfer| speed.has(transfer))
            .map(move |transfer| Endpoint::best(speed, transfer))
    })
}

fn usb() -> String {
    let head = "speed | transfers | packet, B | packets an interval | one endpoint, B/s \
         | all together, B/s | one takes, us | source";
    let row = |endpoint: Endpoint| {
        let limit = endpoint.limit();
        let periodic = endpoint.transfer.is_periodic();
        let together = endpoint.frame().map(|frame| grouped(frame.bytes_s as f64));
        vec![
            endpoint.speed.name().into(),
            endpoint.transfer.name().into(),
            endpoint.packet_bytes.to_string(),
            match periodic {
                true => format!("{} / {} us", endpoint.packets, endpoint.served_ns() / 1000),
                false => "-".into(),
            },
            grouped(limit.bytes_s),
            together.unwrap_or("-".into()),
            format!("{:.2}", limit.message_ns / 1e3),
            match limit.source.split_once("USB 3.2, ") {
                Some((_, section)) => format!("USB 3.2, {section}"),
                None => limit.source.split(", ").last().unwrap_or_default().into(),
            },
        ]
    };
    table(head, endpoints().map(row))
}

/// Bytes a second that a bus carries by packet size: what tables 5-1 to 5-10 print.
fn by_packet() -> String {
    let kinds: Vec<Endpoint> = endpoints()
        .filter(|endpoint| endpoint.frame().is_some())
        .collect();
    let name = |e: &Endpoint| format!("{} {}", e.speed.name(), e.transfer.name());
    let names = kinds.iter().map(name);
    let head: Vec<String> = std::iter::once("data, B".to_owned()).chain(names).collect();
    let row = |packet_bytes: u32| {
        let cell = |endpoint: &Endpoint| {
            let endpoint = Endpoint {
                packets: 1,
                ..endpoint.with_packet(packet_bytes)
            };
            match (endpoint.check(), endpoint.frame()) {
                (Ok(()), Some(frame)) => grouped(frame.bytes_s as f64),
                _ => String::new(),
            }
        };
        let size = std::iter::once(packet_bytes.to_string());
        size.chain(kinds.iter().map(cell)).collect()
    };
    let sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1023, 1024];
    table(&head.join(" | "), sizes.into_iter().map(row))
}

fn ethernet() -> String {
    let head = "protocol | MTU | message, B | 10 Mbit/s: B/s | 100 Mbit/s: B/s \
         | 1 Gbit/s: B/s | % of line rate | messages/s at 100 Mbit/s | us per message at 100 Mbit/s";
    let tcp = Transport::Tcp { timestamps: true };
    let plain = Transport::Tcp { timestamps: false };
    let row = |(name, transport, ipv6, mtu, payload): (&str, Transport, bool, u32, Option<u32>)| {
        let limit = |bits_s| {
            let way = Ethernet {
                ipv6,
                mtu,
                ..Ethernet::new(bits_s, transport)
            };
            way.check(payload).expect("it is allowed");
            way.limit(payload)
        };
        let fast = limit(100_000_000);
        vec![
            name.into(),
            mtu.to_string(),
            payload.map_or("full frames".into(), |bytes| bytes.to_string()),
            grouped(limit(10_000_000).bytes_s),
            grouped(fast.bytes_s),
            grouped(limit(1_000_000_000).bytes_s),
            format!("{:.1} %", fast.efficiency() * 100.0),
            grouped(fast.messages_s.floor()),
            format!("{:.2}", fast.message_ns / 1e3),
        ]
    };
    table(
        head,
        [
            ("TCP", tcp, false, 1500, None),
            ("TCP, no timestamps", plain, false, 1500, None),
            ("TCP, IPv6", tcp, true, 1500, None),
            ("TCP", tcp, false, 9000, None),
            ("UDP", Transport::Udp, false, 1500, None),
            ("TCP", tcp, false, 1500, Some(16)),
            ("TCP", tcp, false, 1500, Some(100)),
            ("TCP", tcp, false, 1500, Some(1000)),
            ("UDP", Transport::Udp, false, 1500, Some(16)),
            ("UDP", Transport::Udp, false, 1500, Some(100)),
            ("UDP", Transport::Udp, false, 1500, Some(1000)),
            ("UDP", Transport::Udp, false, 1500, Some(8000)),
        ]
        .map(row),
    )
}

fn uart() -> String {
    let framings = ["8N1", "8E1", "8N2"];
    let rates = framings
        .map(|framing| format!("{framing}: B/s"))
        .join(" | ");
    let head = format!("baud | {rates} | 100 B take at 8N1, us");
    let row = |baud: u32| {
        let line = |framing: Framing| Uart { baud, framing };
        let mut cells = vec![grouped(baud.into())];
        cells.extend(framings.map(|framing| {
            let framing = framing.parse().expect("a framing");
            grouped(line(framing).limit().bytes_s)
        }));
        let time = line(Framing::EIGHT_N_ONE).message_ns(100);
        cells.push(grouped(time / 1e3));
        cells
    };
    let bauds = [9_600, 115_200, 460_800, 921_600, 3_000_000];
    table(&head, bauds.map(row))
}

fn can() -> String {
    let head = "frames | identifier, bits | data, B | bit rates | bits, best | bits, worst \
         | us, best | us, worst | frames/s, best | frames/s, worst | B/s, best";
    let row = |(nominal, data, extended, bytes): (u32, Option<u32>, bool, u32)| {
        let one = Can {
            rates: CanRates { nominal, data },
            extended,
            bytes,
        };
        one.check().expect("it is allowed");
        let (best, worst) = (one.rates.ns(one.least()), one.rates.ns(one.most()));
        let k = |bits: u32| format!("{}k", bits / 1000);
        vec![
            if data.is_some() { "FD" } else { "classic" }.into(),
            if extended { "29" } else { "11" }.into(),
            bytes.to_string(),
            data.map_or(k(nominal), |data| format!("{} and {}", k(nominal), k(data))),
            one.least().sum().to_string(),
            one.most().sum().to_string(),
            format!("{:.1}", best / 1e3),
            format!("{:.1}", worst / 1e3),
            grouped((1e9 / best).floor()),
            grouped((1e9 / worst).floor()),
            grouped(one.limit().bytes_s),
        ]
    };
    let (half, whole, two) = (500_000, 1_000_000, Some(2_000_000));
    let rows = [
        (125_000, None, false, 8),
        (half, None, false, 0),
        (half, None, false, 8),
        (half, None, true, 8),
        (whole, None, false, 8),
        (whole, None, true, 8),
        (half, two, false, 8),
        (half, two, false, 16),
        (half, two, false, 64),
        (half, two, true, 64),
        (half, Some(half), false, 64),
        (whole, Some(5_000_000), false, 64),
    ];
    table(head, rows.map(row))
}

#[test]
fn the_tables_of_the_documentation_are_those_of_the_formula() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/limits.md");
    let mut text = std::fs::read_to_string(path).expect("docs/limits.md");
    let write = std::env::var_os("WIREGAUGE_WRITE_TABLES").is_some();
    for (name, table) in [
        ("usb", usb()),
        ("usb-by-packet", by_packet()),
        ("uart", uart()),
        ("can", can()),
        ("ethernet", ethernet()),
    ] {
        let begin = format!("<!-- table {name} -->\n");
        let from = text.find(&begin).expect(&begin) + begin.len();
        let to = from + text[from..].find("<!-- end -->").expect("its end");
        if write {
            text.replace_range(from..to, &table);
        } else {
            assert_eq!(&text[from..to], table, "{name}");
        }
    }
    if write {
        std::fs::write(path, text).expect("docs/limits.md is written");
    }
}
