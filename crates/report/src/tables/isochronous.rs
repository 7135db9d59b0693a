//! The packets of isochronous streams: how many moved no data, and how evenly transfers completed.

use super::columns::{Columns, MAX, P50, P99, under};
use super::flow_rows::Row;
use super::places::Places;
use super::table::Table;
use wiregauge_quantity::{TimeUnit, exact_time, grouped};
use wiregauge_record::IsochronousCounts;

fn counted<'a>(rows: &'a [Row<'a>]) -> impl Iterator<Item = (&'a Row<'a>, &'a IsochronousCounts)> {
    rows.iter()
        .filter_map(|row| Some((row, row.1.isochronous.as_ref()?)))
}

/// One row for each direction of each point.
pub(super) fn table(rows: &[Row<'_>], places: &Places) -> Option<Table> {
    let (_, first) = counted(rows).next()?;
    let jitters = counted(rows).filter_map(|(_, counts)| counts.jitter.as_ref());
    let most = jitters.map(|jitter| jitter.p99.value).fold(0.0, f64::max);
    let unit = TimeUnit::fitting(most);
    let title = format!(
        "Packets, one every {}; missed: empty, with an error, or not queued in time (skipped); jitter in {}: deviation of \
         the gap between completions from the time of the packets",
        exact_time(first.interval_ns),
        unit.name()
    );
    let mut columns = Columns::<Row<'_>>::new();
    type Counted = (&'static str, fn(&IsochronousCounts) -> u64);
    let counts: [Counted; 5] = [
        ("packets", |counts| counts.packets),
        ("missed", IsochronousCounts::missed),
        ("empty", |counts| counts.empty),
        ("errors", IsochronousCounts::failed),
        ("skipped", |counts| counts.skipped),
    ];
    for (head, count) in counts {
        columns.some(head, move |(_, flow)| {
            Some(grouped(count(flow.isochronous.as_ref()?)))
        });
    }
    columns.statistics(
        unit,
        |(_, flow)| flow.isochronous.as_ref()?.jitter.as_ref(),
        &[under("jitter p50", P50), P99, MAX],
    );
    let rows = counted(rows).map(|(row, _)| *row);
    Some(columns.table(title, places, rows))
}

/// `0 of 1,600 packets missed`.
pub(super) fn sentence(rows: &[Row<'_>]) -> Option<String> {
    counted(rows).next()?;
    let sum = |of: fn(&IsochronousCounts) -> u64| counted(rows).map(|(_, one)| of(one)).sum();
    let missed = sum(IsochronousCounts::missed);
    let all = sum(IsochronousCounts::intervals);
    Some(format!(
        "{} of {} packets missed",
        grouped(missed),
        grouped(all)
    ))
}
