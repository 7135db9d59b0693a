//! Where the RTT went, by the kernel's own records.

use super::columns::Columns;
use super::places::Places;
use super::point_columns::typical;
use super::table::Table;
use wiregauge_quantity::grouped;
use wiregauge_record::{Plan, PointSummary};
use wiregauge_stats::Distribution;

/// The mean parts of the RTT, where the kernel's records were requested.
pub(super) fn stages(plan: &Plan, points: &[PointSummary], places: &Places) -> Option<Table> {
    let found = || points.iter().filter_map(|point| point.stages.as_ref());
    if found().next().is_none() {
        // Why there are no URBs, a warning says.
        return plan.link.kernel_timestamps.then(|| without(points, places));
    }
    let unit = typical(points, |p| p.rtt.as_ref());
    let is_usb = found().any(|stages| stages.request.is_some());
    let has_device = points.iter().any(|p| p.device.is_some());
    let source = match is_usb {
        true => "URBs of usbmon",
        false => "time stamps of the kernel",
    };
    let title = format!(
        "Where the RTT goes ({source}): means in {}, which add up to the RTT",
        unit.name()
    );
    let mut columns = Columns::<&PointSummary>::new();
    columns.some("n", |point| Some(grouped(point.stages.as_ref()?.rtt.n)));
    let mut mean = |head: &str, of: fn(&PointSummary) -> Option<&Distribution>| {
        columns.some(head, move |point| Some(unit.show(of(point)?.mean.value)));
    };
    mean("RTT", |point| Some(&point.stages.as_ref()?.rtt));
    mean("host, sending", |point| {
        Some(&point.stages.as_ref()?.sending)
    });
    if is_usb {
        mean("bus, OUT", |point| point.stages.as_ref()?.request.as_ref());
    }
    let response = match is_usb {
        true => "device + bus, IN",
        false => "network + device",
    };
    mean(response, |point| Some(&point.stages.as_ref()?.response));
    if has_device {
        mean("of which device", |point| {
            point.device.as_ref().filter(|_| point.stages.is_some())
        });
    }
    mean("host, receiving", |point| {
        Some(&point.stages.as_ref()?.receiving)
    });
    Some(columns.table(title, places, points))
}

/// Stamps of what is received come from the kernel's stack, of what is sent from the driver.
fn without(points: &[PointSummary], places: &Places) -> Table {
    let title = "Where the RTT goes: not known, no exchange has both time stamps. Does the driver stamp what is \
                 sent (ethtool -T: software-transmit)?";
    let mut columns = Columns::<&PointSummary>::new();
    columns.add("n", |_| "0");
    columns.table(title, places, points)
}
