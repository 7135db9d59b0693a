//! What a CAN link counted besides exchanges.

use super::places::Places;

use super::table::Table;
use wiregauge_quantity::{TimeUnit, grouped, percent};
use wiregauge_record::PointSummary;

/// Bus load, error frames, lost frames, and the wait between the kernel and the program; only columns that say something.
pub(super) fn can(points: &[PointSummary], places: &Places) -> Option<Table> {
    type Cell = fn(&wiregauge_record::CanCounts, &PointSummary) -> Option<String>;
    let all: [(&str, Cell); 8] = [
        ("own bus load", |can, point| {
            can.bus_load(point.counts.exchanges, point.elapsed_ns)
                .map(share)
        }),
        ("error frames", |can, _| counted(can.error_frames)),
        ("not acknowledged", |can, _| counted(can.unacknowledged)),
        ("remote frames", |can, _| counted(can.remote_frames)),
        ("lost at the socket", |can, _| counted(can.lost_frames)),
        ("failed messages", |can, _| counted(can.failed_messages)),
        ("kernel wait us, mean", |can, _| {
            Some(us(can.mean_wait_ns()?))
        }),
        ("max", |can, _| {
            let longest_ns = can.longest_wait_ns as f64;
            (can.timestamps > 0).then(|| us(longest_ns))
        }),
    ];
    let cell = |point: &PointSummary, cell: &Cell| cell(point.can.as_ref()?, point);
    let shown: Vec<_> = all
        .iter()
        .filter(|(_, of)| points.iter().any(|point| cell(point, of).is_some()))
        .collect();
    if shown.is_empty() {
        return None;
    }
    let heads: Vec<&str> = shown.iter().map(|(head, _)| *head).collect();
    let mut table = Table::new("CAN", &places.heads_and(&heads));
    for point in points {
        let mut cells = places.cells(point.point.index);
        cells.extend(
            shown
                .iter()
                .map(|(_, of)| cell(point, of).unwrap_or("-".into())),
        );
        table.row(cells);
    }
    Some(table)
}

fn counted(n: u64) -> Option<String> {
    (n > 0).then(|| grouped(n))
}

/// Without stuff bits, and with as many as there can be. No bus carries more than all of its bits.
fn share((least, most): (f64, f64)) -> String {
    format!("{} .. {}", percent(least.min(1.0)), percent(most.min(1.0)))
}

fn us(ns: f64) -> String {
    TimeUnit::Micro.show(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_bus_load_is_a_range_within_all_of_the_bus() {
        assert_eq!(share((0.1176, 0.1431)), "11.8 % .. 14.3 %");
        assert_eq!(share((0.9561, 1.1628)), "95.6 % .. 100 %");
    }
}
