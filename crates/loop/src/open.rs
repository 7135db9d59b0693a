//! From an address to a device: the table of the kinds of digitizer and generator.

use super::kind::{Kind, Opened};
use super::platform;
use super::virtual_clock::VirtualClock;
use super::virtual_device::VirtualDevice;
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::HostPlan;

/// The kinds that every system has.
const KINDS: &[Kind] = &[Kind {
    scheme: "virtual",
    form: "virtual, virtual:thread, virtual:process",
    lends: true,
    open: |rest, host| match rest {
        "" => Some(Ok(Box::new(VirtualClock::default()))),
        "thread" => Some(VirtualDevice::thread(host).map(|device| Box::new(device) as _)),
        "process" => Some(VirtualDevice::process(host).map(|device| Box::new(device) as _)),
        _ => None,
    },
}];

/// Every kind of this system.
fn kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().chain(platform::KINDS)
}

/// The kind of an address, and what stands behind the colon.
fn kind(address: &str) -> (Option<&'static Kind>, &str) {
    let (scheme, rest) = address.split_once(':').unwrap_or((address, ""));
    (kinds().find(|kind| kind.scheme == scheme), rest)
}

/// True if the device of an address lends its rings; an address of no device is an error when it is opened.
pub(super) fn lends(address: &str) -> bool {
    kind(address).0.is_none_or(|kind| kind.lends)
}

/// Opens the device of an address. Threads and processes that it needs are made here, before the
/// caller takes the priority that the plan gives it.
pub(super) fn open(address: &str, host: &HostPlan) -> Opened {
    let (kind, rest) = kind(address);
    let opened = kind.and_then(|kind| (kind.open)(rest, host));
    opened.unwrap_or_else(|| {
        let forms: Vec<&str> = kinds().map(|kind| kind.form).collect();
        let doing = format!("cannot open {address} for a loop");
        let said = "no such digitizer and generator";
        Err(LinkError::new(LinkErrorKind::Usage, doing, said)
            .hint(format!("use one of: {}", forms.join(", "))))
    })
}
