//! What the checks of a run's pattern share: the run, its points, the medium of a link, words.

use crate::HostContext;
use wiregauge_record::{LinkDetail, Point, PointSummary, Responder};
use wiregauge_run::{Exchange, Run, Stored};

/// The run, if it is one of exchanges: only these have answers to be late.
pub(crate) fn exchanges(context: &HostContext) -> Option<&Run<Exchange>> {
    context.run.as_ref()?.as_kind()
}

/// The address of a link of the run.
pub(crate) fn address(run: &Run<Exchange>, link: u32) -> &str {
    run.file.plan.links().nth(link as usize).unwrap_or_default()
}

/// What is known of a link of the run and of the device behind it.
fn link(run: &Run<Exchange>, link: u32) -> (Option<&LinkDetail>, Option<&Responder>) {
    let conditions = &run.file.conditions;
    match link.checked_sub(1) {
        None => (Some(&conditions.link), conditions.responder.as_ref()),
        Some(more) => {
            let found = conditions.more_links.get(more as usize);
            (
                found.map(|found| &found.link),
                found.and_then(|found| found.responder.as_ref()),
            )
        }
    }
}

/// A setting of a link as the run stored it.
pub(crate) fn setting<'a>(run: &'a Run<Exchange>, number: u32, name: &str) -> Option<&'a str> {
    let (detail, _) = link(run, number);
    let settings = &detail?.settings;
    let found = settings.iter().find(|(key, _)| key == name)?;
    Some(&found.1)
}

/// The USB bus of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsbBus {
    /// Bytes of a full packet.
    pub(crate) packet: u32,
    /// Length of a frame or microframe.
    pub(crate) frame_ns: u64,
}

impl UsbBus {
    /// Bulk endpoints of full speed, and of high speed (USB 2.0, 5.8.3).
    const FULL: UsbBus = UsbBus {
        packet: 64,
        frame_ns: 1_000_000,
    };
    const HIGH: UsbBus = UsbBus {
        packet: 512,
        frame_ns: 125_000,
    };
    /// Bulk endpoints of super speed (USB 3.2, 4.4.6.1).
    const SUPER: UsbBus = UsbBus {
        packet: 1024,
        frame_ns: 125_000,
    };

    /// That of a link, if it is a USB endpoint or a CDC port. What lies behind an adapter's driver of its
    /// own (ttyUSB) cuts its packets itself.
    pub(crate) fn of(run: &Run<Exchange>, number: u32) -> Option<UsbBus> {
        let (_, responder) = link(run, number);
        let get = |name| setting(run, number, name);
        if let Some(driver) = get("driver")
            && driver != "cdc_acm"
        {
            return None;
        }
        let speed = get("USB speed (Mbit/s)")
            .or_else(|| get("USB speed"))
            .or_else(|| responder?.bus.as_deref())?;
        let mut bus = match speed {
            "12" | "full-speed" => UsbBus::FULL,
            "480" | "high-speed" => UsbBus::HIGH,
            "5000" | "10000" | "20000" | "super-speed" | "super-speed-plus" => UsbBus::SUPER,
            _ => return None,
        };
        // Of endpoints the run has the size itself: `0x81 bulk, packets of 512 B`.
        let packet = get("USB endpoint IN")
            .and_then(|text| text.split("packets of ").nth(1)?.split(' ').next())
            .and_then(|bytes| bytes.parse().ok());
        bus.packet = packet.filter(|&bytes| bytes > 0).unwrap_or(bus.packet);
        Some(bus)
    }
}

/// Points that differ in size alone: one link, one depth, alone or together.
pub(crate) fn series(run: &Run<Exchange>) -> Vec<Vec<&PointSummary>> {
    let key = |point: &Point| (point.link, point.together, point.depth);
    let mut all: Vec<Vec<&PointSummary>> = Vec::new();
    for point in &run.file.points {
        let same = all.iter_mut().find(|group| {
            group
                .first()
                .is_some_and(|one| key(&one.point) == key(&point.point))
        });
        match same {
            Some(group) => group.push(point),
            None => all.push(vec![point]),
        }
    }
    all
}

/// The median RTT less the time that the device says it needed: what is left is way and waiting.
pub(crate) fn outside_device_ns(point: &PointSummary) -> Option<f64> {
    let rtt = point.rtt.as_ref()?.p50.value;
    let device = point.device.as_ref().map_or(0.0, |device| device.p50.value);
    Some((rtt - device).max(0.0))
}

/// `run NAME`, to begin a piece of evidence with.
pub(crate) fn named(run: &Run<Exchange>) -> String {
    format!("run {}", Stored::name(run))
}
