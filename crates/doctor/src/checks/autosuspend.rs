//! A USB device that the kernel puts to sleep when nothing is said for a while.

use super::check::Check;
use crate::topology::{Usb, usb_devices};
use crate::{Change, Finding, HostContext, Level};

pub(super) const CHECK: Check = Check {
    name: "autosuspend",
    about: "USB autosuspend of idle devices",
    look: |context| {
        let all = usb_devices(context);
        all.iter().filter_map(|usb| of(context, usb)).collect()
    },
};

fn of(context: &HostContext, usb: &Usb) -> Option<Finding> {
    let called = usb.called(context);
    let new = |level, title: String| Finding::new(CHECK.name, level, title);
    let control = usb.read(context, "power/control")?;
    let saw = |file: &str| usb.saw(context, file);
    let delay = usb.read(context, "power/autosuspend_delay_ms");
    let evidence = [
        "power/control",
        "power/autosuspend_delay_ms",
        "power/runtime_status",
    ];
    let delay_ms = delay.and_then(|text| text.parse::<i64>().ok());
    match (control.as_str(), delay_ms) {
        ("on", _) => Some(
            new(Level::Good, format!("{called}: autosuspend is off"))
                .all_seen(saw("power/control")),
        ),
        // Documentation/driver-api/usb/power-management.rst: a negative delay prevents autosuspend.
        ("auto", Some(..0)) => Some(
            new(Level::Good, format!("{called} is never suspended"))
                .all_seen(evidence.into_iter().filter_map(saw)),
        ),
        ("auto", delay) => {
            let after = match delay {
                Some(ms) => format!("after {ms} ms without traffic"),
                None => "when idle".into(),
            };
            let hubs = usb
                .above()
                .into_iter()
                .filter(|hub| hub.read(context, "power/control").as_deref() == Some("auto"));
            let hubs: Vec<String> = hubs.map(|hub| hub.name).collect();
            let hubs = (!hubs.is_empty()).then(|| {
                format!(
                    "hubs above it that may be suspended too: {}",
                    hubs.join(", ")
                )
            });
            Some(
                new(Level::Note, format!("{called} may be suspended {after}"))
                    .all_seen(evidence.into_iter().filter_map(saw))
                    .all_seen(hubs)
                    .costs(
                        "at least 50 ms before the first exchange after a pause: 40 ms of resume signalling \
                         and 10 ms recovery. Depends on the driver: programs that use usbfs keep the device \
                         active while it is open, cdc_acm does not",
                        "Linux, include/linux/usb.h (USB_RESUME_TIMEOUT), drivers/usb/core/devio.c \
                         (usbdev_open), drivers/usb/class/cdc-acm.c (acm_port_activate); USB 2.0, 7.1.7.7",
                    )
                    .changes(vec![Change {
                        path: usb.path("power/control"),
                        from: "auto".into(),
                        to: "on".into(),
                    }]),
            )
        }
        (other, _) => Some(
            new(
                Level::Unknown,
                format!("{called}: cannot see whether it may be suspended"),
            )
            .all_seen([format!("{} = {other}", usb.path("power/control").display())]),
        ),
    }
}
