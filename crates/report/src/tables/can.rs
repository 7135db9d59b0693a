//! What a CAN link counted besides exchanges.

use super::columns::Columns;
use super::places::Places;
use super::table::Table;
use wiregauge_quantity::{TimeUnit, grouped, percent};
use wiregauge_record::PointSummary;

/// Bus load, error frames, lost frames, and the wait between the kernel and the program; only columns that say something.
pub(super) fn can(points: &[PointSummary], places: &Places) -> Option<Table> {
    let mut columns = Columns::<&PointSummary>::new();
    columns.some("own bus load", |p| {
        let load = p.can.as_ref()?.bus_load(p.counts.exchanges, p.elapsed_ns);
        load.map(share)
    });
    columns.some("error frames", |p| counted(p.can.as_ref()?.error_frames));
    columns.some("not acknowledged", |p| {
        counted(p.can.as_ref()?.unacknowledged)
    });
    columns.some("remote frames", |p| counted(p.can.as_ref()?.remote_frames));
    columns.some("lost at the socket", |p| {
        counted(p.can.as_ref()?.lost_frames)
    });
    columns.some("failed messages", |p| {
        counted(p.can.as_ref()?.failed_messages)
    });
    columns.some("kernel wait us, mean", |p| {
        Some(us(p.can.as_ref()?.mean_wait_ns()?))
    });
    columns.some("max", |p| {
        let can = p.can.as_ref()?;
        (can.timestamps > 0).then(|| us(can.longest_wait_ns as f64))
    });
    columns
        .0
        .retain(|(_, cell)| points.iter().any(|point| cell(point).is_some()));
    (!columns.0.is_empty()).then(|| columns.table("CAN", places, points))
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
