//! The same device measured from two hosts: which is slower, and how much of that is the host's own
//! floor, which is measured without the device.

use crate::figure::Figure;
use crate::outcome::{ComparedPoint, HostDifference, HostSide};
use wiregauge_record::{Calibration, Conditions, Figure as Named, Floor, Part, Times};
use wiregauge_run::{Exchange, Run};

/// The figure that hosts are compared by: a floor's percentiles are known, its mean is not.
const P50: Figure = Figure::Named(Named::Time(Times::Answer, Part::P50));

/// `None` unless each side ran on one host, the hosts differ, and the names of the devices do not.
pub(crate) fn of_exchange(
    before: &[&Run<Exchange>],
    after: &[&Run<Exchange>],
    points: &[ComparedPoint],
) -> Option<HostDifference> {
    let (host_before, host_after) = (host(before)?, host(after)?);
    if host_before == host_after || device(before)? != device(after)? {
        return None;
    }
    let bytes = |point: &ComparedPoint| -> Option<u64> {
        let number = |name| point.point.value(name)?.parse::<u64>().ok();
        Some(number("out")? + number("in")?)
    };
    let single = points.iter().filter(|point| {
        point.point.value("depth") == Some("1") && point.point.value("together") == Some("no")
    });
    let point = single.min_by_key(|point| bytes(point))?;
    let compared = point.figures.iter().find(|one| one.figure == P50)?;
    let difference = compared.difference.as_ref()?;
    let floor = floor_of_both(before, after);
    let floor_ns = |runs: &[&Run<Exchange>]| {
        let name = floor.as_ref()?;
        mean(runs.iter().filter_map(|run| lowest(run, name)))
    };
    let side = |(name, system): (String, String), p50_ns, runs| HostSide {
        name,
        system,
        p50_ns,
        floor_ns: floor_ns(runs),
    };
    Some(HostDifference {
        point: point.point.clone(),
        verdict: compared.verdict,
        before: side(host_before, difference.before.value, before),
        after: side(host_after, difference.after.value, after),
        floor,
    })
}

/// The value that all have in common.
fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// Name and system; one computer may run two systems.
fn host(runs: &[&Run<Exchange>]) -> Option<(String, String)> {
    common(runs.iter().map(|run| {
        let host = &run.file.conditions.host;
        let words: Vec<&str> = host.kernel.split_whitespace().take(2).collect();
        (host.name.clone(), words.join(" "))
    }))
}

/// The kind of link and the name of the responder, if it is one.
fn device(runs: &[&Run<Exchange>]) -> Option<(String, Option<String>)> {
    common(runs.iter().map(|run| {
        let (scheme, _) = run.file.plan.address.split_once("://")?;
        let responder = run.file.conditions.responder.as_ref();
        Some((scheme.to_owned(), responder.map(|is| is.name.clone())))
    }))?
}

fn calibrations(conditions: &Conditions) -> impl Iterator<Item = &Calibration> {
    conditions.before.iter().chain(&conditions.after)
}

fn floors(run: &Run<Exchange>) -> impl Iterator<Item = &Floor> {
    calibrations(&run.file.conditions).flat_map(|calibration| &calibration.floors)
}

/// The last floor that all runs have: that of the link's kind comes after that of no link.
fn floor_of_both(before: &[&Run<Exchange>], after: &[&Run<Exchange>]) -> Option<String> {
    let first: Vec<&Floor> = floors(before.first()?).collect();
    let has = |run: &&Run<Exchange>, name: &str| floors(run).any(|floor| floor.name == name);
    let names = first.iter().rev().map(|floor| &floor.name);
    names
        .into_iter()
        .find(|name| before.iter().chain(after).all(|run| has(run, name)))
        .cloned()
}

/// The lower of the medians before and after the run, as a burst of load may have disturbed one.
fn lowest(run: &Run<Exchange>, name: &str) -> Option<f64> {
    let named = floors(run).filter(|floor| floor.name == name);
    named.map(|floor| floor.rtt.p50.value).reduce(f64::min)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}
