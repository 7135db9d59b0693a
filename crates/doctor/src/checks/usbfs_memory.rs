//! The memory that all usbfs transfers of the system may hold together.

use super::check::Check;
use crate::{Change, Finding, HostContext, Level, Target};
use wiregauge_run::Stream;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "memory limit for the transfers of USB programs",
    look,
};

const NAME: &str = "usbfs-memory";
const LIMIT: &str = "/sys/module/usbcore/parameters/usbfs_memory_mb";
const DEVICES: &str = "/sys/bus/usb/devices";

/// As the kernel has it from the start, and what is enough for several programs, in MiB.
const DEFAULT_MB: u64 = 16;
const AMPLE_MB: u64 = 256;

/// A full-speed device carries 1.2 MB/s: it needs no more. Mbit/s, as `speed` in sysfs has it.
const FAST_MBIT_S: i64 = 480;

fn look(context: &HostContext) -> Vec<Finding> {
    if !context.is_of_this_host() || !context.exists(LIMIT) || !matters(context) {
        return Vec::new();
    }
    let Some(limit_mb) = context
        .read(LIMIT)
        .and_then(|text| text.parse::<u64>().ok())
    else {
        return vec![
            Finding::new(NAME, Level::Unknown, "the limit of usbfs cannot be read")
                .seen(format!("{LIMIT}: not a number")),
        ];
    };
    let seen = format!("{LIMIT} = {limit_mb}");
    let wanted = wanted_bytes(context).unwrap_or(0);
    let wanted_mb = wanted.div_ceil(1 << 20);
    let is_short = limit_mb != 0 && (limit_mb <= DEFAULT_MB || 2 * wanted_mb > limit_mb);
    if !is_short {
        return vec![
            Finding::new(
                NAME,
                Level::Good,
                "the memory limit for USB transfers is sufficient",
            )
            .seen(seen),
        ];
    }
    let mut finding = Finding::new(
        NAME,
        Level::Note,
        format!("limit for all USB programs together: {limit_mb} MiB of transfers"),
    )
    .seen(seen);
    if wanted > 0 {
        finding = finding.seen(format!(
            "the run submitted transfers of {:.1} MiB at once",
            wanted as f64 / f64::from(1 << 20)
        ));
    }
    let most = limit_mb;
    vec![
        finding
            .costs(
                format!(
                    "more than {most} transfers of 1 MiB at once fail (ENOMEM), including those of other \
                     programs; fewer cost throughput if the host needs them to bridge its pauses"
                ),
                "Linux, Documentation/admin-guide/kernel-parameters.txt, usbcore.usbfs_memory_mb",
            )
            .changes(vec![Change {
                path: LIMIT.into(),
                from: limit_mb.to_string(),
                to: AMPLE_MB.max((2 * wanted_mb).next_power_of_two()).to_string(),
            }]),
    ]
}

/// True of a device that is fast enough, or if one of these is there; drivers of the kernel do not use
/// usbfs.
fn matters(context: &HostContext) -> bool {
    let is_fast = |name: &str| {
        let file = |file: &str| format!("{DEVICES}/{name}/{file}");
        // Of a hub nobody transfers that much: class 9, USB 2.0, 11.23.1.
        context
            .read(file("bDeviceClass"))
            .is_some_and(|class| class != "09")
            && context
                .number(file("speed"))
                .is_some_and(|speed| speed >= FAST_MBIT_S)
    };
    match &context.target {
        Target::Usb { name } => is_fast(name),
        Target::None => context.names(DEVICES).iter().any(|name| is_fast(name)),
        _ => false,
    }
}

/// The most that a stored stream had submitted at once.
fn wanted_bytes(context: &HostContext) -> Option<u64> {
    let run = context.run.as_ref()?.as_kind::<Stream>()?;
    let points = run.file.plan.points.iter();
    let of = |point: &wiregauge_record::StreamPoint| {
        let ways = point.direction.ways().len() as u64;
        ways * u64::from(point.transfer_bytes) * u64::from(point.queue)
    };
    points.map(of).max()
}
