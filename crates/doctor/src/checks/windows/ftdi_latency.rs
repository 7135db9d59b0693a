//! FTDI's adapters hold a short answer back until a timer in the chip runs out.

use super::super::check::Check;
use super::super::ftdi_latency::{LEAST_MS, cost};
use crate::windows::{Port, Setting, WindowsHost, ports};
use crate::{Finding, HostContext, Level};

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "the latency timer of FTDI serial adapters, which delays short answers",
    look,
};

const NAME: &str = "ftdi-latency";

fn look(context: &HostContext) -> Vec<Finding> {
    let Some(host) = context.windows() else {
        return Vec::new();
    };
    let ports = ports(context, host).into_iter();
    ports
        .filter(Port::is_ftdi)
        .map(|port| of(host, &port))
        .collect()
}

fn of(host: &dyn WindowsHost, port: &Port) -> Finding {
    let name = &port.name;
    let setting = Setting::latency_timer(&port.key);
    let Some(ms) = port.latency_timer(host) else {
        let title = format!("{name}: the latency timer setting is unknown");
        return Finding::new(NAME, Level::Unknown, title)
            .seen(format!("{} cannot be read as a number", setting.name()));
    };
    let saw = format!("{} = {ms}", setting.name());
    if i64::from(ms) <= LEAST_MS {
        let title = format!("{name}: FTDI latency timer {ms} ms, the minimum");
        return Finding::new(NAME, Level::Good, title).seen(saw);
    }
    let (text, source) = cost(i64::from(ms));
    let title = format!("{name}: the FTDI chip delays short answers by up to {ms} ms");
    Finding::new(NAME, Level::Hurts, title)
        .seen(saw)
        .seen("the driver reads this value when the adapter is attached")
        .costs(
            text,
            format!("{source}; FTDI, Setting a Custom Default Latency Timer Value"),
        )
        .change_by(setting.change(ms, LEAST_MS), setting.command(LEAST_MS))
        .remedy("then unplug the adapter and plug it in again; or Device Manager, Port Settings, Advanced")
}
