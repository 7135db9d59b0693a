//! From the flags of `wiregauge limits` to what is to be computed: every combination of the lists.

use super::best::{Best, Kind};
use super::can;
use crate::args::{LimitsArgs, MediumArg};
use anyhow::bail;
use wiregauge_limits::{
    Endpoint, Ethernet, Framing, ModbusTime, Refused, Speed, Transfer, Transport, Uart,
};
use wiregauge_quantity::time;

/// The lowest rate of Ethernet in bit/s (1BASE5; IEEE 802.3, clause 12).
const SLOWEST: u64 = 1_000_000;

/// Usual baud rates, for the overview.
const BAUDS: [u32; 4] = [9_600, 115_200, 921_600, 3_000_000];

/// Usual rates of Ethernet, for the overview.
const RATES: [u64; 3] = [10_000_000, 100_000_000, 1_000_000_000];

/// Every combination that was asked for.
pub fn resolve(args: &LimitsArgs) -> anyhow::Result<Vec<Best>> {
    refuse_foreign_flags(args)?;
    let mut all = Vec::new();
    if matches!(args.medium, None | Some(MediumArg::Usb)) {
        all.extend(usb(args)?);
    }
    if matches!(args.medium, None | Some(MediumArg::Uart)) {
        all.extend(uart(args)?);
    }
    if matches!(args.medium, None | Some(MediumArg::Can)) {
        all.extend(can::resolve(args)?);
    }
    if matches!(args.medium, None | Some(MediumArg::Tcp)) {
        let timestamps = !args.no_timestamps;
        all.extend(ethernet(args, Transport::Tcp { timestamps })?);
    }
    if matches!(args.medium, None | Some(MediumArg::Udp)) {
        all.extend(ethernet(args, Transport::Udp)?);
    }
    Ok(all)
}

fn refuse_foreign_flags(args: &LimitsArgs) -> anyhow::Result<()> {
    use MediumArg::{Can, Tcp, Uart, Udp, Usb};
    let given: [(&str, bool, &[MediumArg]); 19] = [
        ("--speed", args.speed.is_some(), &[Usb]),
        ("--type", args.transfer.is_some(), &[Usb]),
        ("--packet", args.packet.is_some(), &[Usb]),
        ("--packets", args.packets.is_some(), &[Usb]),
        ("--interval", args.interval.is_some(), &[Usb]),
        ("--baud", !args.baud.is_empty(), &[Uart]),
        ("--framing", args.framing.is_some(), &[Uart]),
        ("--protocol", args.protocol.is_some(), &[Uart]),
        ("--read", args.read.is_some(), &[Uart]),
        ("--bitrate", !args.bitrate.is_empty(), &[Can]),
        ("--data-bitrate", args.data_bitrate.is_some(), &[Can]),
        ("--bytes", args.bytes.is_some(), &[Can]),
        ("--rate", !args.rate.is_empty(), &[Tcp, Udp]),
        ("--mtu", args.mtu.is_some(), &[Tcp, Udp]),
        ("--payload", args.payload.is_some(), &[Tcp, Udp]),
        ("--ipv6", args.ipv6, &[Tcp, Udp]),
        ("--vlan", args.vlan, &[Tcp, Udp]),
        ("--no-timestamps", args.no_timestamps, &[Tcp]),
        (
            "--out",
            args.out_size.is_some(),
            &[Usb, Uart, Can, Tcp, Udp],
        ),
    ];
    for (flag, _, media) in given.iter().filter(|(_, is_given, _)| *is_given) {
        if args.medium.is_none_or(|medium| !media.contains(&medium)) {
            let names: Vec<&str> = media.iter().map(|medium| name(*medium)).collect();
            bail!(
                "{flag} requires `wiregauge limits {}`",
                names.join("` and `")
            );
        }
    }
    Ok(())
}

fn name(medium: MediumArg) -> &'static str {
    match medium {
        MediumArg::Usb => "usb",
        MediumArg::Uart => "uart",
        MediumArg::Can => "can",
        MediumArg::Tcp => "tcp",
        MediumArg::Udp => "udp",
    }
}

fn usb(args: &LimitsArgs) -> anyhow::Result<Vec<Best>> {
    let speeds = args.speed.map(|speed| vec![speed.into()]);
    let transfers = args.transfer.map(|transfer| vec![transfer.into()]);
    let is_one = speeds.is_some() && transfers.is_some();
    let mut all = Vec::new();
    let mut refused = None;
    for speed in speeds.unwrap_or(Speed::ALL.to_vec()) {
        for transfer in transfers.clone().unwrap_or(Transfer::ALL.to_vec()) {
            let packets = args.packet.as_ref().map(|sizes| sizes.0.clone());
            for packet in packets.unwrap_or(vec![speed.largest_packet(transfer)]) {
                match endpoint(args, speed, transfer, packet) {
                    Ok(endpoint) => all.push(one_of_usb(args, endpoint)?),
                    // What is asked for by name is refused; of all, those that exist are shown.
                    Err(why) if is_one => return Err(why.into()),
                    Err(why) => refused = Some(why),
                }
            }
        }
    }
    match refused {
        Some(why) if all.is_empty() => Err(why.into()),
        _ => Ok(all),
    }
}

fn endpoint(
    args: &LimitsArgs,
    speed: Speed,
    transfer: Transfer,
    packet_bytes: u32,
) -> Result<Endpoint, Refused> {
    let mut endpoint = Endpoint::best(speed, transfer).with_packet(packet_bytes);
    if let Some(packets) = args.packets {
        endpoint.packets = packets;
    }
    if let Some(interval) = args.interval {
        endpoint.interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
    }
    if (args.packets.is_some() || args.interval.is_some()) && !transfer.is_periodic() {
        return Err(Refused::NotPeriodic { transfer });
    }
    endpoint.check().map(|()| endpoint)
}

fn one_of_usb(args: &LimitsArgs, endpoint: Endpoint) -> anyhow::Result<Best> {
    let exchange_ns = sizes(args).and_then(|(out, in_)| endpoint.exchange_ns(out, in_));
    if args.out_size.is_some() && args.transfer.is_some() && exchange_ns.is_none() {
        bail!(
            "--out and --in require bulk transfers: the time of {} transfers depends on the schedule of the \
             host",
            endpoint.transfer.name()
        );
    }
    Ok(Best {
        limit: endpoint.limit(),
        kind: Kind::Usb(endpoint),
        exchange_ns,
        exchange_parts: None,
    })
}

fn sizes(args: &LimitsArgs) -> Option<(u64, u64)> {
    Some((args.out_size?.into(), args.in_size?.into()))
}

fn uart(args: &LimitsArgs) -> anyhow::Result<Vec<Best>> {
    if args.read.is_some() && args.out_size.is_some() {
        bail!("--read has the sizes of its frames: omit --out and --in");
    }
    let framing = args.framing.unwrap_or(Framing::EIGHT_N_ONE);
    let bauds = match args.baud.as_slice() {
        [] => &BAUDS,
        bauds => bauds,
    };
    let mut all = Vec::new();
    for &baud in bauds {
        let line = Uart { baud, framing };
        line.check()?;
        let modbus = args
            .read
            .map(|registers| ModbusTime::of_read(baud, framing, registers.into()));
        all.push(Best {
            limit: line.limit(),
            kind: Kind::Uart(line),
            exchange_ns: match modbus {
                Some(modbus) => Some(modbus.period_ns()),
                None => sizes(args).map(|(out, in_)| line.exchange_ns(out, in_)),
            },
            exchange_parts: modbus.map(|modbus| {
                format!(
                    "request {}, reply {}, silence of 3.5 characters behind each {}",
                    time(modbus.request_ns),
                    time(modbus.reply_ns),
                    time(modbus.silence_ns / 2.0)
                )
            }),
        });
    }
    Ok(all)
}

fn ethernet(args: &LimitsArgs, transport: Transport) -> anyhow::Result<Vec<Best>> {
    let rates = match args.rate.as_slice() {
        [] => &RATES,
        rates => rates,
    };
    if let Some(slow) = rates.iter().find(|&&bits_s| bits_s < SLOWEST) {
        bail!(
            "--rate {slow} is {slow} bit/s, below 1 Mbit/s, the lowest rate of Ethernet: use a unit, such as 10M"
        );
    }
    let payloads = match &args.payload {
        None => vec![None],
        Some(sizes) => sizes.0.iter().map(|&size| Some(size)).collect(),
    };
    let mut all = Vec::new();
    for &bits_s in rates {
        let way = Ethernet {
            mtu: args.mtu.unwrap_or(1500),
            ipv6: args.ipv6,
            vlan: args.vlan,
            ..Ethernet::new(bits_s, transport)
        };
        let exchange_ns = match (args.out_size, args.in_size) {
            (Some(out), Some(in_)) => {
                way.check(Some(out))?;
                way.check(Some(in_))?;
                Some(way.exchange_ns(out, in_))
            }
            _ => None,
        };
        for &payload in &payloads {
            way.check(payload)?;
            all.push(Best {
                limit: way.limit(payload),
                kind: Kind::Ethernet(way, payload),
                exchange_ns,
                exchange_parts: None,
            });
        }
    }
    Ok(all)
}
