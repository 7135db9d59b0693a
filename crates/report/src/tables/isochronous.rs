//! The packets of isochronous streams: how many moved no data, and how evenly transfers completed.

use super::flow_rows::{Row, number};
use super::percentile::bounded;
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
    let names = [
        "packets",
        "missed",
        "empty",
        "errors",
        "skipped",
        "jitter p50",
        "p99",
        "max",
    ];
    let mut table = Table::new(title, &places.heads_and(&names));
    for (row, counts) in counted(rows) {
        let mut cells = places.cells(number(row));
        let numbers = [
            counts.packets,
            counts.missed(),
            counts.empty,
            counts.failed(),
            counts.skipped,
        ];
        cells.extend(numbers.map(grouped));
        match &counts.jitter {
            Some(jitter) => cells.extend([
                bounded(unit, &jitter.p50),
                bounded(unit, &jitter.p99),
                unit.show(jitter.max),
            ]),
            None => cells.extend(vec!["-".to_owned(); 3]),
        }
        table.row(cells);
    }
    Some(table)
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
