//! Where the RTT went, by the kernel's own records.

use super::places::Places;
use super::point_columns::{dashes, typical};
use super::table::Table;
use wiregauge_quantity::grouped;
use wiregauge_record::{Plan, PointSummary};

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
    let mut rest = vec!["n", "RTT", "host, sending"];
    rest.extend(is_usb.then_some("bus, OUT"));
    rest.push(match is_usb {
        true => "device + bus, IN",
        false => "network + device",
    });
    rest.extend(has_device.then_some("of which device"));
    rest.push("host, receiving");
    let title = format!(
        "Where the RTT goes ({source}): means in {}, which add up to the RTT",
        unit.name()
    );
    let mut table = Table::new(title, &places.heads_and(&rest));
    for point in points {
        let mut cells = places.cells(point.point.index);
        let Some(stages) = &point.stages else {
            cells.extend(dashes(rest.len()));
            table.row(cells);
            continue;
        };
        cells.push(grouped(stages.rtt.n));
        cells.extend([&stages.rtt, &stages.sending].map(|part| unit.show(part.mean.value)));
        if is_usb {
            let request = stages.request.as_ref();
            cells.push(request.map_or("-".into(), |part| unit.show(part.mean.value)));
        }
        cells.push(unit.show(stages.response.mean.value));
        if has_device {
            let device = point.device.as_ref();
            cells.push(device.map_or("-".into(), |part| unit.show(part.mean.value)));
        }
        cells.push(unit.show(stages.receiving.mean.value));
        table.row(cells);
    }
    Some(table)
}

/// Stamps of what is received come from the kernel's stack, of what is sent from the driver.
fn without(points: &[PointSummary], places: &Places) -> Table {
    let title = "Where the RTT goes: not known, no exchange has both time stamps. Does the driver stamp what is \
                 sent (ethtool -T: software-transmit)?";
    let mut table = Table::new(title, &places.heads_and(&["n"]));
    for point in points {
        let mut cells = places.cells(point.point.index);
        cells.push("0".into());
        table.row(cells);
    }
    table
}
