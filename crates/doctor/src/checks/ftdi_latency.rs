//! FTDI's adapters hold a short answer back until a timer in the chip runs out.

use super::check::Check;
use crate::topology::{Tty, ttys};
use crate::{Change, Finding, HostContext, Level};
use std::path::PathBuf;

pub(super) const CHECK: Check = Check {
    name: "ftdi-latency",
    about: "the latency timer of FTDI serial adapters, which delays short answers",
    look: |context| {
        ttys(context)
            .iter()
            .filter_map(|tty| of(context, tty))
            .collect()
    },
};

/// The least that the chip takes, in milliseconds (AN232B-04, 3.2).
pub(super) const LEAST_MS: i64 = 1;

/// The cost of a latency timer of this many milliseconds, and its source.
pub(super) fn cost(ms: i64) -> (String, &'static str) {
    (
        format!(
            "up to {ms} ms for each answer, or its last part, that does not fill a packet of 62 bytes; 1 ms with the \
             timer at its minimum"
        ),
        "FTDI AN232B-04, Small Amounts of Data and End of Buffer Conditions",
    )
}

fn of(context: &HostContext, tty: &Tty) -> Option<Finding> {
    let name = &tty.name;
    let path = PathBuf::from(format!("/sys/bus/usb-serial/devices/{name}/latency_timer"));
    if !context.exists(&path) {
        return None;
    }
    let new = |level, title: String| Finding::new(CHECK.name, level, title);
    let text = context.read(&path);
    let Some(ms) = text.as_ref().and_then(|text| text.parse::<i64>().ok()) else {
        let seen = text.unwrap_or_else(|| "cannot be read".into());
        return Some(
            new(
                Level::Unknown,
                format!("{name}: the latency timer setting is unknown"),
            )
            .all_seen([format!("{} = {seen}", path.display())]),
        );
    };
    let saw = format!("{} = {ms}", path.display());
    if ms <= LEAST_MS {
        return Some(
            new(
                Level::Good,
                format!("{name}: FTDI latency timer {ms} ms, the minimum"),
            )
            .all_seen([saw]),
        );
    }
    let (text, source) = cost(ms);
    let rule =
        r#"ACTION=="add", SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1""#;
    Some(
        new(
            Level::Hurts,
            format!("{name}: the FTDI chip delays short answers by up to {ms} ms"),
        )
        .all_seen([
            saw,
            "while wiregauge has the port open, the low_latency flag of the driver sets it to 1 ms; other \
             programs get the value above"
                .into(),
        ])
        .costs(
            text,
            format!("{source}; low_latency: drivers/usb/serial/ftdi_sio.c, write_latency_timer"),
        )
        .changes(vec![Change {
            path,
            from: ms.to_string(),
            to: "1".into(),
        }])
        .remedy(format!(
            "echo '{rule}' | sudo tee /etc/udev/rules.d/99-ftdi-latency.rules  # permanent"
        )),
    )
}
