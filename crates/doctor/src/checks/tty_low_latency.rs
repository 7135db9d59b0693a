//! The low-latency flag of a tty, where it still does something, and the receiver's FIFO of a UART,
//! which is what delays today.

use super::check::Check;
use crate::topology::{Tty, ttys};
use crate::{Change, Finding, HostContext, Level};

pub(super) const CHECK: Check = Check {
    name: "tty-low-latency",
    about: "the low_latency flag of a tty, and the receive interrupt level of a UART",
    look: |context| {
        ttys(context)
            .iter()
            .filter_map(|tty| of(context, tty))
            .collect()
    },
};

/// `ASYNC_LOW_LATENCY`, include/uapi/linux/tty_flags.h.
const LOW_LATENCY: u64 = 1 << 13;

/// Since Linux 3.15 received bytes go to the reader by a work queue, flag or no flag.
const HINT: &str = "since Linux 3.15 it no longer controls how received bytes are passed on (commit \
                    a9c3f68f3cd8, \"tty: Fix low_latency BUG\")";

fn of(context: &HostContext, tty: &Tty) -> Option<Finding> {
    let name = &tty.name;
    let new = |level, title: String| Finding::new(CHECK.name, level, title);
    let driver = tty.driver(context);
    if driver.as_deref() == Some("cdc_acm") {
        return Some(
            new(
                Level::Good,
                format!("{name}: the cdc_acm driver does not use low_latency"),
            )
            .all_seen(["drivers/usb/class/cdc-acm.c, set_serial_info".into()]),
        );
    }
    // Only UARTs of the serial core tell it in a file; of others TIOCGSERIAL would.
    let text = context.read(tty.path("flags"))?;
    let Some(flags) = hexadecimal(&text) else {
        return Some(
            new(Level::Unknown, format!("{name}: unknown flags"))
                .all_seen([format!("{} = {text}", tty.path("flags").display())]),
        );
    };
    let state = match flags & LOW_LATENCY {
        0 => "off",
        _ => "on",
    };
    let saw = format!(
        "{} = {text}: low_latency is {state}; {HINT}",
        tty.path("flags").display()
    );
    let trigger = tty.path("rx_trig_bytes");
    match context.number(&trigger) {
        Some(level) if level > 1 => Some(
            new(
                Level::Note,
                format!("{name}: the last bytes of an answer wait in the UART for the time of 4 characters"),
            )
            .all_seen([saw, format!("{} = {level}", trigger.display())])
            .costs(
                format!(
                    "the UART interrupts at {level} bytes, or after an idle time of 4 characters: 40 bit \
                     times, 0.35 ms at 115,200 baud and 4.2 ms at 9,600. At a level of 1 each byte interrupts"
                ),
                "PC16550D data sheet, FIFO Interrupt Mode Operation; Linux, \
                 Documentation/ABI/stable/sysfs-tty",
            )
            .changes(vec![Change {
                path: trigger,
                from: level.to_string(),
                to: "1".into(),
            }]),
        ),
        _ => Some(
            new(
                Level::Good,
                format!("{name}: low_latency is {state}, which has no effect"),
            )
            .all_seen([saw]),
        ),
    }
}

/// The low_latency flag of a port, where the driver shows it.
pub(crate) fn is_low_latency(context: &HostContext, tty: &Tty) -> Option<bool> {
    let flags = hexadecimal(&context.read(tty.path("flags"))?)?;
    Some(flags & LOW_LATENCY != 0)
}

/// `0x10000000`, as the serial core prints it.
fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok()
}
