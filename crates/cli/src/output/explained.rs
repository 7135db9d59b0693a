//! Where the time of a run went, as tables and sentences.

use super::style::{CAUTION, HEADING, RESET};
use std::io::{self, Write};
use wiregauge_compare::{Setting, Settings, alone_or_together};
use wiregauge_explain::{ExchangeSplit, FlowSplit, ModbusSplit, StreamExplanation, name_of_rest};
use wiregauge_quantity::{self as units, TimeUnit};
use wiregauge_record::{Calibration, Conditions, Plan, StreamPlan};
use wiregauge_report::tables::{Columns, Table};

/// Floors before and after a run that differ by more than this factor are those of two states of the host.
const FLOORS: f64 = 2.0;

/// A time in the table's unit, or a dash.
fn shown(unit: TimeUnit, ns: Option<f64>) -> String {
    ns.map_or("-".into(), |ns| unit.show(ns))
}

/// A share in whole percent, or a dash.
fn part(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.0}", share * 100.0))
}

fn print(out: &mut impl Write, table: Table) -> io::Result<()> {
    writeln!(out, "{HEADING}{}{RESET}", table.title)?;
    write!(out, "{}", table.text())
}

/// A stream run.
pub fn stream(
    out: &mut impl Write,
    plan: &StreamPlan,
    explained: &StreamExplanation,
) -> io::Result<()> {
    let flows = &explained.flows;
    let links = !plan.more_links.is_empty();
    print(out, parts(flows, links))?;
    writeln!(out, "\n{HEADING}Bottleneck{RESET}")?;
    for flow in flows {
        let settings = Settings::of_flow(&flow.point, flow.way);
        writeln!(out, "  {}: {}", name(settings, links), flow.words)?;
    }
    notes(out, explained)
}

fn parts(flows: &[FlowSplit], links: bool) -> Table {
    let unit = TimeUnit::of_median(flows.iter().map(|flow| flow.cycle_ns));
    let watched = flows.iter().any(|flow| flow.stack_ns.is_some());
    let queued = flows.iter().any(|flow| flow.queued);
    let rest = match (queued, watched) {
        (false, _) => "system call",
        (true, false) => "stack+device+bus",
        (true, true) => "device+bus",
    };
    let mut columns = Columns::<&FlowSplit>::new();
    if links {
        columns.add("link", |flow| link(flow.point.link, flow.point.together));
    }
    columns.add("direction", |flow| flow.point.direction.words_of(flow.way));
    columns.add("transfer B", |flow| flow.point.transfer_bytes);
    columns.add("queue", |flow| flow.point.queue);
    columns.add("achieved", |flow| format!("{:.2}", flow.achieved_queue));
    let mut timed = |head: &str, of: fn(&FlowSplit) -> Option<f64>| {
        columns.add(head, move |flow| shown(unit, of(flow)));
        columns.add("%", move |flow| part(flow.share(of(flow))));
    };
    timed("application", |flow| flow.application_ns);
    if watched {
        timed("stack", |flow| flow.stack_ns);
    }
    timed(rest, |flow| flow.device_bus_ns);
    columns.add("per transfer", |flow| shown(unit, flow.transfer_ns));
    columns.add("MB/s", |flow| format!("{:.3}", flow.bytes_s / 1e6));
    columns.some("bottleneck", |flow| flow.verdict.short.clone());
    let title = format!(
        "Where the time of a transfer goes: means in {}, and % of the total",
        unit.name()
    );
    columns.of_rows(title, flows)
}

/// The cell of a link, under a head that says what it is.
fn link(link: u32, together: bool) -> String {
    format!("{link} {}", alone_or_together(together))
}

/// A point, with its link where there are several.
fn name(settings: Settings, links: bool) -> String {
    let is_named = |setting: Setting| links || setting != Setting::Link;
    settings.only(is_named).name()
}

fn notes(out: &mut impl Write, explained: &StreamExplanation) -> io::Result<()> {
    let flows = &explained.flows;
    writeln!(
        out,
        "\napplication: wiregauge's measuring thread, from a completed transfer to the next submission; it \
         generates the data OUT, and checks the data IN (unless --no-check)."
    )?;
    let on_usb = flows
        .iter()
        .filter(|flow| flow.queued && flow.transfers > 0);
    let watched = on_usb.clone().filter_map(|flow| flow.watched).sum::<u64>();
    let transfers = on_usb.clone().map(|flow| flow.transfers).sum::<u64>();
    if on_usb.clone().any(|flow| flow.stack_ns.is_none()) {
        writeln!(
            out,
            "\n{CAUTION}note:{RESET} without usbmon, \"device+bus\" includes the time of the USB stack. To \
             separate them: sudo modprobe usbmon, then wiregauge stream ADDRESS --usbmon as root or with read \
             permission on /dev/usbmonN (docs/explain.md)"
        )?;
    }
    if watched > 0 && watched < transfers {
        write!(
            out,
            "\n{CAUTION}note:{RESET} usbmon recorded the URBs of {watched} of {transfers} transfers; stack and \
             device+bus are means over those"
        )?;
        let (full, set) = (
            explained.urb_events_overflowed,
            explained.urb_events_at_clock_set,
        );
        if full > 0 {
            write!(out, "; {full} events were lost because its ring was full")?;
        }
        if set > 0 {
            write!(out, "; {set} were dropped because the clock was set")?;
        }
        writeln!(out)?;
    }
    if flows.iter().any(|flow| flow.queued && flow.point.queue > 1) {
        writeln!(
            out,
            "\nWith a queue, device+bus includes the wait behind earlier transfers; the cost of one transfer \
             is in the column \"per transfer\"."
        )?;
    }
    Ok(())
}

/// What to know of interrupt endpoints.
pub fn interrupt_note(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "\n{CAUTION}note:{RESET} an interrupt endpoint is polled only once per bInterval: device+bus includes \
         the wait for the next poll. A smaller bInterval or a bulk endpoint avoids it (docs/explain.md)"
    )
}

/// Of a Modbus run on a serial line.
pub fn modbus(out: &mut impl Write, splits: &[ModbusSplit]) -> io::Result<()> {
    if splits.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{HEADING}Modbus{RESET}")?;
    for split in splits {
        writeln!(out, "  {split}")?;
    }
    Ok(())
}

/// An exchange run.
pub fn exchange(
    out: &mut impl Write,
    plan: &Plan,
    conditions: &Conditions,
    splits: &[ExchangeSplit],
) -> io::Result<()> {
    let unit = TimeUnit::of_median(splits.iter().filter_map(|split| split.rtt_ns));
    let links = !plan.more_links.is_empty();
    // With a new connection for each, it comes before the RTT.
    let each = splits.iter().any(|split| split.connect_ns.is_some());
    let mut columns = Columns::<&ExchangeSplit>::new();
    if links {
        columns.add("link", |split| link(split.point.link, split.point.together));
    }
    columns.add("OUT B", |split| split.point.out_bytes);
    columns.add("IN B", |split| match split.point.in_bytes {
        0 => "any".to_owned(),
        bytes => bytes.to_string(),
    });
    columns.add("depth", |split| split.point.depth);
    columns.add("achieved", |split| format!("{:.2}", split.achieved_depth));
    if each {
        columns.add("connect", |split| shown(unit, split.connect_ns));
        columns.add("%", |split| part(split.share(split.connect_ns)));
    }
    columns.add("RTT", |split| shown(unit, split.rtt_ns));
    let rest = name_of_rest(splits);
    let mut timed = |head: &str, of: fn(&ExchangeSplit) -> Option<f64>| {
        columns.add(head, move |split| shown(unit, of(split)));
        columns.add("%", move |split| part(split.share(of(split))));
    };
    timed("device", |split| split.device_ns);
    timed("host", |split| split.host_ns);
    timed(rest, |split| split.wire_ns);
    columns.add("TRT", |split| shown(unit, split.trt_ns));
    let title = format!(
        "Where the time of an exchange goes: means in {}, and % of {}{}",
        unit.name(),
        if each { "connect + RTT" } else { "the total" },
        match splits.iter().any(|split| split.host_ns.is_some()) {
            true => "; host: p50 of the floor before the run",
            false => "",
        }
    );
    let table = columns.of_rows(title, splits);
    print(out, table)?;
    writeln!(out, "\n{HEADING}Bottleneck{RESET}")?;
    for split in splits {
        let settings = Settings::of_exchange(&split.point);
        writeln!(out, "  {}: {}", name(settings, links), split.words)?;
    }
    match splits.iter().find_map(|split| split.floor.as_ref()) {
        Some(floor) => writeln!(
            out,
            "\nhost: time of an exchange on this host without the device ({floor}, p50 before the run), whatever \
             the sizes of a point, at most RTT - device. {rest}: the remainder, with drivers and waiting behind \
             other exchanges."
        ),
        None => writeln!(
            out,
            "\n{CAUTION}note:{RESET} this run has no calibration{}, so {rest} include the time of the host",
            match plan.calibrate {
                true => "",
                false => " (--no-calibration)",
            }
        ),
    }?;
    let p50 = |calibration: &Calibration| Some(calibration.floors.last()?.rtt.p50.value);
    let before = conditions.before.as_ref().and_then(p50);
    let after = conditions.after.as_ref().and_then(p50);
    let Some((before, after)) = before.zip(after).filter(|&(a, b)| differ(a, b)) else {
        return Ok(());
    };
    writeln!(
        out,
        "{CAUTION}note:{RESET} the floor was {} before the run and {} after it: the split between host and {rest} \
         is uncertain. Measure again on a quieter host",
        units::time(before),
        units::time(after)
    )
}

/// True of floors that are so far apart that the host was not the same all the time.
fn differ(before: f64, after: f64) -> bool {
    after > FLOORS * before || before > FLOORS * after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_differ_if_one_is_more_than_twice_the_other() {
        assert!(differ(10.0, 21.0) && differ(21.0, 10.0));
        assert!(!differ(10.0, 20.0) && !differ(20.0, 10.0));
    }
}
