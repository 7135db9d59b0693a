//! The command: flags become a device, its model and its faults, which is served until it is ended.

use crate::args::{BusArg, ProfileArg, ServeArgs, ServeProtocolArg, VirtualArgs};
use crate::{plant, profiles};
use std::io::Write;
use wiregauge_command_line::quoted;
use wiregauge_link::host::Load;
use wiregauge_link::limits::Bus;
use wiregauge_program::console::Console;
use wiregauge_program::files;
use wiregauge_program::flags::check_baud;
use wiregauge_program::style::{CAUTION, RESET};
use wiregauge_record::{CanOptions, ModbusLine};
use wiregauge_responder::bus::UsbModel;
use wiregauge_responder::gadget::Function;
use wiregauge_responder::{DeviceConfig, Faults, Model, Serve, ServeAddress, ServeEvent, serve};

/// Serves an address until the console ends it. `program` is what a user types before the address.
pub fn run(args: &ServeArgs, console: &dyn Console, program: &str) -> anyhow::Result<()> {
    let nanoseconds = |time: Option<std::time::Duration>| time.map_or(0, |t| t.as_nanos() as u64);
    let mut model = Model {
        service_ns: nanoseconds(args.service_time),
        jitter_ns: nanoseconds(args.jitter),
        bus: args.bus.map(|bus| match bus {
            BusArg::FullSpeed => Bus::FullSpeed,
            BusArg::HighSpeed => Bus::HighSpeed,
        }),
        usb: None,
    };
    let (gadget, usb_virtual) = (&args.gadget, &args.usb_virtual);
    if usb_virtual.profile == Some(ProfileArg::List) {
        console.bytes().write_all(profiles::list().as_bytes())?;
        return Ok(());
    }
    let Some(address_given) = &args.address else {
        anyhow::bail!(
            "--profile requires an address to serve the device at\n  hint: {program} pty: --profile NAME"
        );
    };
    let mut address = ServeAddress::parse(address_given)?;
    let can = args.can.options([address_given], false)?;
    if let ServeAddress::Can(_, options) = &mut address {
        *options = can;
    }
    let protocol = match (args.protocol, &can) {
        (Some(protocol), _) => protocol,
        // HELLO fits no frame.
        (None, Some(can)) if can.isotp.is_none() => ServeProtocolArg::Echo,
        (None, _) if gadget.is_instrument() => ServeProtocolArg::Scpi,
        (None, _) => ServeProtocolArg::Wiregauge,
    };
    match (&mut address, gadget.given(), usb_virtual.given()) {
        (ServeAddress::UsbVirtual(_), ..) if args.bus.is_some() => {
            anyhow::bail!(
                "usb-virtual always models a bus: use --speed or --profile instead of --bus"
            )
        }
        (ServeAddress::UsbVirtual(plan), ..) => {
            **plan = usb_virtual.plan(gadget, protocol.into(), program)?
        }
        (address, _, Some(flag)) => {
            model.usb = Some(usb_on_byte_stream(
                address,
                usb_virtual,
                model.bus,
                flag,
                program,
            )?);
            if let Some(flag) = gadget.given() {
                anyhow::bail!("{flag} requires `{program} usb-gadget`, `usb-virtual` or `uhid`")
            }
        }
        (ServeAddress::UsbGadget(plan), ..) => **plan = gadget.plan(protocol.into(), program)?,
        (ServeAddress::Uhid(plan), ..) => **plan = gadget.uhid_plan(protocol.into())?,
        (_, Some(flag), _) => {
            anyhow::bail!("{flag} requires `{program} usb-gadget`, `usb-virtual` or `uhid`")
        }
        _ => {}
    }
    check_baud(args.baud, [address_given])?;
    let plant = match (&can, protocol) {
        (Some(can), ServeProtocolArg::Echo)
            if can.isotp.is_none() && args.plant.plant.is_some() =>
        {
            anyhow::bail!("--plant requires the wiregauge protocol\n  hint: on CAN use --isotp")
        }
        _ => plant::served(&args.plant, protocol.into())?,
    };
    let (plant, simulates) = match plant {
        Some(plant) => (Some(plant.model), Some(plant.description)),
        None => (None, None),
    };
    let is_isochronous = matches!(&address, ServeAddress::UsbVirtual(plan) if plan.functions.contains(&Function::Iso));
    if is_isochronous {
        check_isochronous(args)?;
    }
    let name = match address {
        ServeAddress::UsbVirtual(_) => usb_virtual.name(),
        _ if usb_virtual.profile().is_some() => usb_virtual.name(),
        _ if plant.is_some() && model == Model::default() => "simulated plant".into(),
        _ => name_of(model),
    };
    let is_serial = matches!(address, ServeAddress::Serial(_) | ServeAddress::Pty(_));
    let is_connected = matches!(address, ServeAddress::Tcp(_) | ServeAddress::Unix(_));
    let is_foreign = matches!(protocol, ServeProtocolArg::Scpi | ServeProtocolArg::Modbus);
    if let ServeAddress::Can(..) = address {
        check_can(protocol, can.as_ref(), args)?;
    }
    let is_can = matches!(address, ServeAddress::Can(..));
    // Frames without a transport are echoed by default, on both sides.
    let is_plain_can = can.is_some_and(|can| can.isotp.is_none());
    let is_instrument = gadget.is_instrument();
    if is_instrument && protocol == ServeProtocolArg::Modbus {
        anyhow::bail!("--function tmc does not speak Modbus\n  hint: use --protocol scpi or echo");
    }
    if is_foreign && !is_serial && !is_connected && !is_can && !is_instrument {
        // Over UDP an answer could be larger than its request, from an address that nobody proved.
        anyhow::bail!(
            "--protocol scpi and modbus require tcp://, unix://, serial:// or pty:; scpi also usb-gadget --function tmc"
        );
    }
    let what = Serve {
        address,
        config: DeviceConfig {
            protocol: protocol.into(),
            name: args.name.clone().unwrap_or(name),
            // No frame is larger on the wire, and none smaller holds a HELLO.
            max_frame: args.max_size.clamp(104, wiregauge_wire::MAX_FRAME),
            model,
            modbus: match is_serial {
                true => ModbusLine::Rtu { silence_ns: 0 },
                false => ModbusLine::Tcp,
            },
            faults: Faults {
                drop: args.drop,
                corrupt: args.corrupt,
                duplicate: args.duplicate,
                reorder: args.reorder,
                lose_byte: args.lose_byte,
                insert_byte: args.insert_byte,
                stall: args.stall,
                disconnect_after: args.disconnect_after,
            },
            seed: args.seed,
            plant,
        },
        max_clients: args.max_clients as usize,
        baud: args.baud,
        trace: args.trace.clone(),
    };
    if let Some(trace) = &what.trace {
        files::check(trace, args.force.force)?;
    }
    let stop = console.stop()?;
    let quiet = args.quiet;
    let gadget = matches!(what.address, ServeAddress::UsbGadget(_));
    let remark = |text: std::fmt::Arguments<'_>| {
        // Where nobody reads them, remarks are lost.
        let _ = writeln!(console.remarks(), "{text}");
    };
    let on_event = move |event: ServeEvent<'_>| match event {
        ServeEvent::Ready { address, remote } => {
            // To standard output and at once, so that a script can wait for it and read it.
            console.serving(address);
            let mut out = console.bytes();
            let _ = writeln!(out, "serving {address}").and_then(|()| out.flush());
            if remote {
                remark(format_args!(
                    "{CAUTION}note:{RESET} other hosts can reach this responder; use 127.0.0.1 as the host to \
                     allow only local clients"
                ));
            }
            if !quiet {
                if let Some(simulates) = &simulates {
                    remark(format_args!("{simulates}"));
                }
                let address = quoted(&[address.to_owned()]);
                let mut hint = match is_isochronous {
                    true => format!(
                        "measure it with: wiregauge stream {address} --type isochronous --packet 192"
                    ),
                    false => how_to_measure(&address, gadget) + flags_of(protocol, is_plain_can),
                };
                if is_serial && protocol == ServeProtocolArg::Modbus {
                    hint += &format!(" --baud {}", what.baud.unwrap_or(19_200));
                }
                if let Some(can) = &can {
                    hint += &can_flags(can);
                }
                remark(format_args!("{hint}   (stop with Ctrl-C)"));
            }
        }
        ServeEvent::Came(peer) if !quiet => remark(format_args!("{peer} connected")),
        ServeEvent::Left(peer) if !quiet => remark(format_args!("{peer} disconnected")),
        ServeEvent::TurnedAway(peer) => {
            remark(format_args!(
                "{CAUTION}rejected:{RESET} {peer} (see --max-clients)"
            ));
        }
        ServeEvent::CannotAccept(error) => {
            remark(format_args!(
                "{CAUTION}cannot accept clients:{RESET} {error}; will retry (reported once)"
            ));
        }
        ServeEvent::ReplyLost { peer, error } => {
            remark(format_args!(
                "{CAUTION}reply lost:{RESET} cannot send to {peer}: {error} (reported once)"
            ));
        }
        ServeEvent::Came(_) | ServeEvent::Left(_) => {}
    };
    let load = args.device_load.map(Load::start);
    let served = serve(&what, &stop, &on_event);
    drop(load);
    Ok(served?)
}

/// The bus, device and host of a byte stream, which is what a modelled bus can be put behind.
fn usb_on_byte_stream(
    address: &ServeAddress,
    flags: &VirtualArgs,
    bus: Option<Bus>,
    flag: &str,
    program: &str,
) -> anyhow::Result<UsbModel> {
    let is_byte_stream = matches!(
        address,
        ServeAddress::Tcp(_)
            | ServeAddress::Unix(_)
            | ServeAddress::Serial(_)
            | ServeAddress::Pty(_)
    );
    if let Some(flag) = flags.given_for_usb() {
        anyhow::bail!("{flag} requires `{program} usb-virtual`");
    }
    if !is_byte_stream {
        anyhow::bail!("{flag} requires pty:, tcp://, unix://, serial:// or usb-virtual");
    }
    match (flags.profile(), bus) {
        (Some(profile), _) => flags.usb(profile.speed),
        (None, Some(speed)) => flags.usb(speed),
        (None, None) => {
            anyhow::bail!(
                "{flag} requires a bus\n  hint: add --bus full-speed, --bus high-speed or --profile NAME"
            )
        }
    }
}

/// Refuses what a source and a sink of isochronous packets do not have.
fn check_isochronous(args: &ServeArgs) -> anyhow::Result<()> {
    let model = &args.usb_virtual;
    let flags = [
        (args.protocol.is_some(), "--protocol"),
        (args.plant.plant.is_some(), "--plant"),
        (args.trace.is_some(), "--trace"),
        (model.profile.is_some(), "--profile"),
        (model.device_time.is_some(), "--device-time"),
        (model.packet_time.is_some(), "--packet-time"),
        (model.nak_retry.is_some(), "--nak-retry"),
        (model.hub, "--hub"),
        (args.service_time.is_some(), "--service-time"),
        (args.jitter.is_some(), "--jitter"),
        (args.corrupt.is_some(), "--corrupt"),
        (args.duplicate.is_some(), "--duplicate"),
        (args.reorder.is_some(), "--reorder"),
        (args.lose_byte.is_some(), "--lose-byte"),
        (args.insert_byte.is_some(), "--insert-byte"),
        (args.stall.is_some(), "--stall"),
        (args.disconnect_after.is_some(), "--disconnect-after"),
    ];
    match flags
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    {
        Some(flag) => anyhow::bail!(
            "{flag} has no effect with --function iso, which only sends and takes packets\n  hint: of the faults it has --drop"
        ),
        None => Ok(()),
    }
}

/// Refuses what no CAN bus carries.
fn check_can(
    protocol: ServeProtocolArg,
    can: Option<&CanOptions>,
    args: &ServeArgs,
) -> anyhow::Result<()> {
    if args.bus.is_some() {
        anyhow::bail!("--bus models USB: for a CAN bus use --bitrate");
    }
    match (protocol, can) {
        (ServeProtocolArg::Modbus, _) => anyhow::bail!("Modbus is not defined on CAN"),
        (ServeProtocolArg::Wiregauge, Some(can)) if can.isotp.is_none() => anyhow::bail!(
            "HELLO of the wiregauge protocol has {} B, a frame at most {} B\n  hint: use --isotp, or --protocol echo",
            wiregauge_wire::HELLO_REQUEST,
            can.max_bytes()
        ),
        _ => Ok(()),
    }
}

/// The flags of a host that measures this.
fn can_flags(can: &CanOptions) -> String {
    let flag = |is_given: bool, flag: &'static str| if is_given { flag } else { "" };
    format!(
        " --request-id {} --response-id {}{}{}",
        can.request_id,
        can.response_id,
        flag(can.fd, " --fd"),
        flag(can.isotp.is_some(), " --isotp")
    )
}

/// The flags of an exchange with this protocol.
fn flags_of(protocol: ServeProtocolArg, is_default: bool) -> &'static str {
    match protocol {
        ServeProtocolArg::Wiregauge => "",
        ServeProtocolArg::Echo if is_default => "",
        ServeProtocolArg::Echo => " --protocol echo",
        ServeProtocolArg::Scpi => " --protocol scpi --send '*IDN?'",
        ServeProtocolArg::Modbus => " --protocol modbus --read holding:0+10",
    }
}

fn how_to_measure(address: &str, gadget: bool) -> String {
    if gadget && address.starts_with("serial:") {
        // What the host calls its end is the host's business.
        return "measure it from the host (the number may differ) with: wiregauge exchange serial:///dev/ttyACM0".into();
    }
    let from = if gadget { " from the host" } else { "" };
    format!("measure it{from} with: wiregauge exchange {address}")
}

fn name_of(model: Model) -> String {
    match model.bus {
        Some(bus) => format!("modelled {} device", bus.name()),
        None if model == Model::default() => "wiregauge serve".into(),
        None => "modelled device".into(),
    }
}
