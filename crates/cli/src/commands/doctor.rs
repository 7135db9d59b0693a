//! `wiregauge doctor`: find what slows this host and the way to a device, and what mends it.

use super::printed;
use crate::Outcome;
use crate::args::DoctorArgs;
use crate::caller::{Session, remark};
use crate::failure::StorageFailed;
use crate::output::findings;
use crate::platform;
use anyhow::{Context, bail};
use std::env;
use std::io::{self, Write};
use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use wiregauge_command_line::quoted;
use wiregauge_doctor::{Change, Ended, FixError, HostContext, Settings, Step, Target, Undone};
use wiregauge_link::Address;
use wiregauge_link::{LinkError, LinkErrorKind};

/// For tests: a directory with the `/sys`, `/proc` and `/dev` of a simulated computer, or with its `windows.json`.
const ROOT: &str = "WIREGAUGE_DOCTOR_ROOT";

/// Runs the command.
pub fn run(args: &DoctorArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    if let Some(reason) = platform::NO_DOCTOR {
        bail!("cannot examine this host: {reason}");
    }
    let mut context = match env::var_os(ROOT) {
        Some(root) => HostContext::made_up(Path::new(&root)).context(ROOT)?,
        None => HostContext::this_host(),
    };
    if args.undo {
        return undo(args, session, &*context.settings());
    }
    context.run = match &args.run {
        Some(name) => Some(wiregauge_run::find(&wiregauge_run::runs_home(), name)?),
        None => None,
    };
    context.target = match &args.address {
        Some(address) => target(&context, address)?,
        None => of_run(&context, session),
    };
    let found = wiregauge_doctor::examine(&context, &args.only);
    let changes: Vec<Change> = found.iter().flat_map(|one| one.changes.clone()).collect();
    let mut out = session.caller.words();
    // Single checks are about themselves only.
    let connection = match args.only.is_empty() {
        true => wiregauge_doctor::connection(&context),
        false => None,
    };
    if !args.json {
        findings::connection(&mut out, connection.as_deref())?;
        findings::findings(&mut out, &found)?;
    }
    let mut value = serde_json::json!({ "connection": connection, "findings": found });
    let mut outcome = Outcome::Done;
    if args.fix {
        let steps = wiregauge_doctor::fix(&*context.settings(), &changes, &undo_place()?);
        let steps = steps.map_err(failed)?;
        outcome = missed(session, &steps, |step| {
            !matches!(step.ended, Ended::Written | Ended::WasSo)
        });
        if !args.json {
            findings::fixed(&mut out, &steps, &again(session))?;
        }
        value["changes"] = serde_json::to_value(&steps)?;
    } else if !args.json {
        findings::fixable(&mut out, &changes, &again(session))?;
    }
    if args.json {
        printed::json(&mut out, &value)?;
    }
    out.flush()?;
    Ok(outcome)
}

fn undo(
    args: &DoctorArgs,
    session: &Session<'_>,
    settings: &dyn Settings,
) -> anyhow::Result<Outcome> {
    let place = undo_place()?;
    let undone = wiregauge_doctor::undo(settings, &place).map_err(failed)?;
    let outcome = match &undone {
        Undone::Steps { steps } => missed(session, steps, Step::failed),
        _ => Outcome::Done,
    };
    let mut out = session.caller.words();
    match args.json {
        true => printed::json(&mut out, &serde_json::json!({ "undone": undone }))?,
        false => findings::undone(&mut out, &undone, &place, &again(session))?,
    }
    out.flush()?;
    Ok(outcome)
}

/// Tells the caller what did not become what it should.
fn missed(session: &Session<'_>, steps: &[Step], is_missed: fn(&Step) -> bool) -> Outcome {
    let missed: Vec<&Step> = steps.iter().filter(|step| is_missed(step)).collect();
    for step in &missed {
        session.caller.missed(&findings::step(step));
    }
    match missed.is_empty() {
        true => Outcome::Done,
        false => Outcome::Missed,
    }
}

fn undo_place() -> anyhow::Result<PathBuf> {
    wiregauge_doctor::undo_place().with_context(|| {
        format!(
            "cannot choose a directory for the undo file: {}",
            platform::NO_STATE_DIRECTORY
        )
    })
}

fn failed(error: FixError) -> anyhow::Error {
    match error {
        FixError::Read { .. } | FixError::Write { .. } => {
            StorageFailed(io::Error::other(error.to_string())).into()
        }
        _ => error.into(),
    }
}

/// What was typed, to be typed as root or administrator.
fn again(session: &Session<'_>) -> String {
    let words = session.command().into_iter().skip(1);
    let words: Vec<String> = words.filter(|word| word != "--json").collect();
    format!("{}wiregauge {}", platform::AS_ADMINISTRATOR, quoted(&words))
}

/// The device of the run, if it was one of this host's and is there; what is stored of the run can be shown
/// without it.
fn of_run(context: &HostContext, session: &Session<'_>) -> Target {
    let Some(run) = &context.run else {
        return Target::None;
    };
    if !context.is_of_this_host() {
        remark!(
            session,
            "note: the run was measured on another computer; only its stored conditions are checked"
        );
        return Target::Here;
    }
    // It may be unplugged by now, and a loop's device has no address of a link.
    target(context, run.stored().address()).unwrap_or(Target::Here)
}

/// What an address stands for on this host.
fn target(context: &HostContext, text: &str) -> anyhow::Result<Target> {
    let address = Address::parse(text)?;
    let doing = format!("cannot find {address}");
    Ok(match address.kind().scheme {
        "serial" => {
            let Some(port) = context.serial_port(address.rest()) else {
                let said = format!("{} does not exist", address.rest());
                return Err(LinkError::new(LinkErrorKind::NotFound, doing, said)
                    .hint("is the device plugged in? its name may have changed: wiregauge devices")
                    .into());
            };
            port
        }
        "usb" => {
            let name = wiregauge_link::devices::usb_port(&address)?;
            if !context.has_usb(&name) {
                let said = format!("no device is attached to port {name}");
                return Err(LinkError::new(LinkErrorKind::NotFound, doing, said)
                    .hint("is the device plugged in? wiregauge devices lists the ports")
                    .into());
            }
            Target::Usb { name }
        }
        scheme @ ("tcp" | "udp") => {
            let found = address.rest().to_socket_addrs();
            let mut found = found.map_err(|error| {
                LinkError::new(LinkErrorKind::Unreachable, &doing, error.to_string())
                    .hint("is the name right? a numeric address needs no name server")
            })?;
            let Some(peer) = found.next() else {
                bail!("{doing}: the name does not resolve to an address");
            };
            Target::Network {
                peer: peer.ip(),
                is_tcp: scheme == "tcp",
            }
        }
        _ => Target::Here,
    })
}
