//! `wiregauge devices`: what could be measured from here.

use crate::Outcome;
use crate::args::DevicesArgs;
use crate::caller::Session;
use crate::output::style::{HEADING, RESET};
use comfy_table::{ContentArrangement, Table};
use std::io::{self, Write};
use wiregauge_link::devices::{
    Answer, CanInterface, HidDevice, NetworkDevice, PORT, SerialPort, Survey, TmcDevice, UsbDevice,
    survey,
};
use wiregauge_measure::probe::probe;

/// A column of a table: its head, and the cell of a device; a dash where there is none.
type Column<T> = (&'static str, fn(&T) -> Option<String>);

const USB: [Column<UsbDevice>; 9] = [
    // Without an address a device can at least be identified by its ids.
    ("address", |one| {
        one.address.clone().or_else(|| Some(ids(one)))
    }),
    ("device", |one| Some(name(one))),
    ("serial", |one| one.serial.clone()),
    ("speed", |one| one.speed.clone()),
    ("driver", |one| joined(&one.drivers)),
    ("path", |one| Some(one.path.clone())),
    ("through hubs", |one| joined(&one.hubs)),
    ("controller", |one| one.controller.clone()),
    ("responder", |one| responder(&one.answer)),
];

const HID: [Column<HidDevice>; 8] = [
    ("address", |one| Some(one.address.clone())),
    ("device", |one| one.product.clone()),
    ("serial", |one| one.serial.clone()),
    ("usage", |one| one.usage.clone()),
    ("reports", |one| one.reports.clone()),
    ("polled every", |one| one.interval.clone()),
    ("bus", |one| Some(one.bus.clone())),
    ("file", |one| Some(one.path.clone())),
];

const USBTMC: [Column<TmcDevice>; 6] = [
    ("address", |one| Some(one.address.clone())),
    ("device", |one| one.product.clone()),
    ("serial", |one| one.serial.clone()),
    ("file", |one| one.file.clone()),
    ("driver", |one| one.driver.clone()),
    ("path", |one| Some(one.usb.clone())),
];

const SERIAL: [Column<SerialPort>; 6] = [
    ("address", |one| Some(one.address.clone())),
    ("driver", |one| one.driver.clone()),
    ("device", |one| one.product.clone()),
    ("USB path", |one| one.usb.clone()),
    ("by id", |one| one.by_id.clone()),
    ("responder", |one| responder(&one.answer)),
];

const CAN: [Column<CanInterface>; 7] = [
    ("address", |one| Some(one.address.clone())),
    ("kind", |one| one.kind.clone()),
    ("driver", |one| one.driver.clone()),
    ("bit rate", |one| bit_rate(one.bitrate)),
    ("data bit rate", |one| bit_rate(one.data_bitrate)),
    ("FD", |one| Some(if one.fd { "yes" } else { "no" }.into())),
    ("state", |one| Some(one.state.clone())),
];

const NETWORK: [Column<NetworkDevice>; 3] = [
    ("address", |one| Some(one.address.clone())),
    ("where", |one| Some(one.place.clone())),
    ("responder", |one| responder(&one.answer)),
];

/// Runs the command.
pub fn run(args: &DevicesArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let mut found = survey();
    if args.probe {
        probe(&mut found);
    }
    let mut out = session.caller.words();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &found).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(Outcome::Done);
    }
    usb(&mut out, &found)?;
    hid(&mut out, &found.hid)?;
    // A computer without an instrument, or without CAN, needs no line about it.
    if !found.usbtmc.is_empty() {
        writeln!(out, "{HEADING}USBTMC{RESET}")?;
        table(&mut out, &USBTMC, &found.usbtmc)?;
    }
    writeln!(out, "{HEADING}Serial{RESET}")?;
    match found.serial.is_empty() {
        true => writeln!(out, " no port")?,
        false => table(&mut out, &SERIAL, &found.serial)?,
    }
    if !found.can.is_empty() {
        writeln!(out, "{HEADING}CAN{RESET}")?;
        table(&mut out, &CAN, &found.can)?;
    }
    writeln!(out, "{HEADING}Network{RESET}")?;
    match (found.network.is_empty(), args.probe) {
        (false, _) => table(&mut out, &NETWORK, &found.network)?,
        (true, true) => writeln!(
            out,
            " no responder on port {PORT} of this host, its gateway or its neighbours"
        )?,
        (true, false) => writeln!(out, " nothing listens on port {PORT} of this host")?,
    }
    if !args.probe {
        writeln!(
            out,
            "no device was opened; --probe opens each device and sends it a HELLO"
        )?;
    }
    Ok(Outcome::Done)
}

fn usb(out: &mut dyn Write, found: &Survey) -> io::Result<()> {
    writeln!(out, "{HEADING}USB{RESET}")?;
    if let Some(problem) = &found.usb_problem {
        return writeln!(out, " {problem}");
    }
    if found.usb.is_empty() {
        return writeln!(out, " no device except the hubs of this computer");
    }
    table(out, &USB, &found.usb)?;
    if found.usb.iter().any(|device| device.address.is_none()) {
        writeln!(
            out,
            " in brackets: no usable pair of bulk or interrupt endpoints"
        )?;
    }
    Ok(())
}

/// Only devices of vendor usage pages: nobody exchanges data with a keyboard.
fn hid(out: &mut dyn Write, found: &[HidDevice]) -> io::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    writeln!(out, "{HEADING}HID{RESET}")?;
    let others = found.iter().filter(|hid| !hid.is_vendor).count();
    if others < found.len() {
        table(out, &HID, found.iter().filter(|hid| hid.is_vendor))?;
    }
    match others {
        0 => Ok(()),
        many => writeln!(
            out,
            " {many} of standard usage pages (keyboards, mice and others) not listed: see --json"
        ),
    }
}

fn table<'a, T: 'a>(
    out: &mut dyn Write,
    columns: &[Column<T>],
    devices: impl IntoIterator<Item = &'a T>,
) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|(head, _)| *head));
    for device in devices {
        let cells = columns.iter().map(|(_, cell)| cell(device));
        table.add_row(cells.map(|cell| cell.unwrap_or_else(|| "-".into())));
    }
    for line in table.to_string().lines() {
        writeln!(out, " {}", line.trim_end())?;
    }
    Ok(())
}

fn ids(device: &UsbDevice) -> String {
    format!("({}:{})", device.vendor_id, device.product_id)
}

fn name(device: &UsbDevice) -> String {
    let words = [&device.manufacturer, &device.product];
    let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
    let name = words.join(" ");
    match name.is_empty() {
        true => device.interfaces.join(", "),
        false => name,
    }
}

fn bit_rate(rate: Option<u32>) -> Option<String> {
    rate.map(|rate| format!("{} kbit/s", f64::from(rate) / 1e3))
}

fn responder(answer: &Answer) -> Option<String> {
    Some(match answer {
        Answer::NotAsked => "not probed".into(),
        Answer::SaysSo => "yes, by its name".into(),
        Answer::Responder { name } => format!("yes: {name}"),
        Answer::None { why } => format!("no: {why}"),
    })
}

fn joined(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(", "))
}
