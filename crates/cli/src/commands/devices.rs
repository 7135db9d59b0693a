//! `wiregauge devices`: what could be measured from here.

use crate::Outcome;
use crate::args::DevicesArgs;
use crate::caller::Session;
use crate::output::style::{HEADING, RESET};
use comfy_table::{ContentArrangement, Table};
use std::io::Write;
use wiregauge_link::devices::{Answer, Survey, survey};
use wiregauge_measure::probe::probe;

/// Runs the command.
pub fn run(args: &DevicesArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let mut found = survey();
    if args.probe {
        probe(&mut found);
    }
    let mut out = session.caller.words();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &found).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(Outcome::Done);
    }
    usb(&mut out, &found)?;
    hid(&mut out, &found)?;
    usbtmc(&mut out, &found)?;
    serial(&mut out, &found)?;
    can(&mut out, &found)?;
    network(&mut out, &found, args.probe)?;
    if !args.probe {
        writeln!(
            out,
            "no device was opened; --probe opens each device and sends it a HELLO"
        )?;
    }
    Ok(Outcome::Done)
}

fn usb(out: &mut dyn Write, found: &Survey) -> std::io::Result<()> {
    writeln!(out, "{HEADING}USB{RESET}")?;
    if let Some(problem) = &found.usb_problem {
        return writeln!(out, " {problem}");
    }
    if found.usb.is_empty() {
        return writeln!(out, " no device except the hubs of this computer");
    }
    let mut table = table(&[
        "address",
        "device",
        "serial",
        "speed",
        "driver",
        "path",
        "through hubs",
        "controller",
        "responder",
    ]);
    for device in &found.usb {
        let name = [&device.manufacturer, &device.product]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join(" ");
        let ids = format!("{}:{}", device.vendor_id, device.product_id);
        // Without an address a device can at least be identified by its ids.
        let address = device.address.clone().unwrap_or(format!("({ids})"));
        let name = match name.is_empty() {
            true => device.interfaces.join(", "),
            false => name,
        };
        table.add_row([
            address,
            name,
            or_dash(device.serial.clone()),
            or_dash(device.speed.clone()),
            or_dash(joined(&device.drivers)),
            device.path.clone(),
            or_dash(joined(&device.hubs)),
            or_dash(device.controller.clone()),
            responder(&device.answer),
        ]);
    }
    print(out, &table)?;
    if found.usb.iter().any(|device| device.address.is_none()) {
        writeln!(
            out,
            " in brackets: no usable pair of bulk or interrupt endpoints"
        )?;
    }
    Ok(())
}

/// Only devices of vendor usage pages: nobody exchanges data with a keyboard.
fn hid(out: &mut dyn Write, found: &Survey) -> std::io::Result<()> {
    if found.hid.is_empty() {
        return Ok(());
    }
    writeln!(out, "{HEADING}HID{RESET}")?;
    let (boards, others): (Vec<_>, Vec<_>) = found.hid.iter().partition(|hid| hid.is_vendor);
    if !boards.is_empty() {
        let header = [
            "address",
            "device",
            "serial",
            "usage",
            "reports",
            "polled every",
            "bus",
            "file",
        ];
        let mut table = table(&header);
        for hid in boards {
            table.add_row([
                hid.address.clone(),
                or_dash(hid.product.clone()),
                or_dash(hid.serial.clone()),
                or_dash(hid.usage.clone()),
                or_dash(hid.reports.clone()),
                or_dash(hid.interval.clone()),
                hid.bus.clone(),
                hid.path.clone(),
            ]);
        }
        print(out, &table)?;
    }
    match others.len() {
        0 => Ok(()),
        many => writeln!(
            out,
            " {many} of standard usage pages (keyboards, mice and others) not listed: see --json"
        ),
    }
}

/// A computer without an instrument needs no line about it.
fn usbtmc(out: &mut dyn Write, found: &Survey) -> std::io::Result<()> {
    if found.usbtmc.is_empty() {
        return Ok(());
    }
    writeln!(out, "{HEADING}USBTMC{RESET}")?;
    let mut table = table(&["address", "device", "serial", "file", "driver", "path"]);
    for instrument in &found.usbtmc {
        table.add_row([
            instrument.address.clone(),
            or_dash(instrument.product.clone()),
            or_dash(instrument.serial.clone()),
            or_dash(instrument.file.clone()),
            or_dash(instrument.driver.clone()),
            instrument.usb.clone(),
        ]);
    }
    print(out, &table)
}

fn serial(out: &mut dyn Write, found: &Survey) -> std::io::Result<()> {
    writeln!(out, "{HEADING}Serial{RESET}")?;
    if found.serial.is_empty() {
        return writeln!(out, " no port");
    }
    let mut table = table(&[
        "address",
        "driver",
        "device",
        "USB path",
        "by id",
        "responder",
    ]);
    for port in &found.serial {
        table.add_row([
            port.address.clone(),
            or_dash(port.driver.clone()),
            or_dash(port.product.clone()),
            or_dash(port.usb.clone()),
            or_dash(port.by_id.clone()),
            responder(&port.answer),
        ]);
    }
    print(out, &table)
}

/// A computer without a CAN interface needs no line about it.
fn can(out: &mut dyn Write, found: &Survey) -> std::io::Result<()> {
    if found.can.is_empty() {
        return Ok(());
    }
    writeln!(out, "{HEADING}CAN{RESET}")?;
    let mut table = table(&[
        "address",
        "kind",
        "driver",
        "bit rate",
        "data bit rate",
        "FD",
        "state",
    ]);
    for one in &found.can {
        let rate = |rate: Option<u32>| {
            or_dash(rate.map(|rate| format!("{} kbit/s", f64::from(rate) / 1e3)))
        };
        table.add_row([
            one.address.clone(),
            or_dash(one.kind.clone()),
            or_dash(one.driver.clone()),
            rate(one.bitrate),
            rate(one.data_bitrate),
            if one.fd { "yes" } else { "no" }.into(),
            one.state.clone(),
        ]);
    }
    print(out, &table)
}

fn network(out: &mut dyn Write, found: &Survey, probed: bool) -> std::io::Result<()> {
    writeln!(out, "{HEADING}Network{RESET}")?;
    if found.network.is_empty() {
        let port = wiregauge_link::devices::PORT;
        return match probed {
            true => writeln!(
                out,
                " no responder on port {port} of this host, its gateway or its neighbours"
            ),
            false => writeln!(out, " nothing listens on port {port} of this host"),
        };
    }
    let mut table = table(&["address", "where", "responder"]);
    for one in &found.network {
        table.add_row([
            one.address.clone(),
            one.place.clone(),
            responder(&one.answer),
        ]);
    }
    print(out, &table)
}

fn responder(answer: &Answer) -> String {
    match answer {
        Answer::NotAsked => "not probed".into(),
        Answer::SaysSo => "yes, by its name".into(),
        Answer::Responder { name } => format!("yes: {name}"),
        Answer::None { why } => format!("no: {why}"),
    }
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table
}

fn print(out: &mut dyn Write, table: &Table) -> std::io::Result<()> {
    for line in table.to_string().lines() {
        writeln!(out, " {}", line.trim_end())?;
    }
    Ok(())
}

fn joined(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(", "))
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}
