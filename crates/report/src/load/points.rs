//! The one reader of rows; all points of a run, several at once; and what the kinds of run have in common.

use super::Room;
use super::bad::BadOnes;
use super::longest::Longest;
use super::slices::Slices;
use super::types::{Series, Spot};
use hdrhistogram::Histogram;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use wiregauge_run::{Files, Run, RunError, RunFile};

/// Columns that tell which exchange a row is of, and when it was.
pub(super) const TIMED: [&str; 5] = ["sequence", "phase", "status", "start_ns", "rtt_ns"];

/// More readers than this wait for the same disk.
const MOST_THREADS: usize = 8;

/// Progress is reported each time another thousandth is done.
const STEPS: u64 = 1000;

/// No time of a run comes near this (34 years); what a damaged file claims beyond it counts as this,
/// so that no histogram fails or grows for it.
const LONGEST_NS: u64 = 1 << 60;

/// What is drawn of a point, while its rows are read.
pub(crate) trait Gather<K: Files> {
    /// What it becomes.
    type Point: Send;

    /// Of the point at this place of `file.points`.
    fn new(file: &RunFile<K>, at: usize, room: Room) -> Self;

    /// The columns that it needs.
    fn columns(&self) -> Vec<&'static str>;

    /// Takes the next row.
    fn push(&mut self, row: &K::Row);

    /// `missing`: why there are no rows.
    fn finish(self, missing: Option<String>) -> Self::Point;
}

/// Hands over the rows of a point (by its place in `run.file.points`) with these columns, some thousands at once.
pub(super) fn read_rows<K: Files>(
    run: &Run<K>,
    at: usize,
    columns: &[&str],
    mut take: impl FnMut(&[K::Row]),
) -> Result<(), RunError> {
    let mut reader = run.samples_of(at, columns)?;
    while let Some(rows) = reader.next_rows() {
        take(rows?);
    }
    Ok(())
}

/// Reads a point; one that cannot be read to its end has nothing of what was read.
fn point<K: Files, G: Gather<K>>(
    run: &Run<K>,
    at: usize,
    room: Room,
    progress: &Progress,
) -> G::Point {
    let new = || G::new(&run.file, at, room);
    let mut point = new();
    let read = read_rows(run, at, &point.columns(), |rows| {
        rows.iter().for_each(|row| point.push(row));
        progress.add(rows.len() as u64);
    });
    match read {
        Ok(()) => point.finish(None),
        Err(error) => new().finish(Some(error.to_string())),
    }
}

/// How far the reading has come, all points together.
struct Progress<'a> {
    done: AtomicU64,
    all: u64,
    tell: &'a (dyn Fn(f64) + Sync),
}

impl Progress<'_> {
    /// So many rows more are read.
    fn add(&self, rows: u64) {
        let before = self.done.fetch_add(rows, Ordering::Relaxed);
        let step = |done: u64| done.min(self.all).saturating_mul(STEPS) / self.all;
        if step(before) != step(before + rows) {
            (self.tell)(step(before + rows) as f64 / STEPS as f64);
        }
    }
}

/// Gathers every point of a run, in the order of `run.file.points`.
pub(crate) fn each<K: Files, G: Gather<K>>(
    run: &Run<K>,
    progress: &(dyn Fn(f64) + Sync),
) -> Vec<G::Point>
where
    Run<K>: Sync,
{
    let points = run.file.points.len();
    let room = Room::for_points(points);
    let progress = Progress {
        done: AtomicU64::new(0),
        all: run.file.measured().max(1),
        tell: progress,
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let loaded: Mutex<Vec<(usize, G::Point)>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..threads.min(points).min(MOST_THREADS) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= points {
                        return;
                    }
                    let point = point::<K, G>(run, at, room, &progress);
                    let mut loaded = loaded.lock().unwrap_or_else(|e| e.into_inner());
                    loaded.push((at, point));
                }
            });
        }
    });
    let mut loaded = loaded.into_inner().unwrap_or_else(|e| e.into_inner());
    loaded.sort_by_key(|(at, _)| *at);
    loaded.into_iter().map(|(_, point)| point).collect()
}

/// Takes the values of one series.
pub(crate) struct Collector {
    slices: Slices,
    /// The first samples, one more than are kept.
    each: Vec<Spot>,
    most_of_each: usize,
    longest: Longest,
    pub(crate) bad: BadOnes,
    histogram: Histogram<u64>,
}

impl Collector {
    pub(crate) fn new(room: Room) -> Collector {
        Collector {
            slices: Slices::new(room.slices),
            each: Vec::new(),
            most_of_each: room.each,
            longest: Longest::new(room.longest),
            bad: BadOnes::new(room.bad),
            histogram: histogram(),
        }
    }

    pub(crate) fn push(&mut self, at_ns: u64, value_ns: u64) {
        self.slices.push(at_ns, value_ns);
        if self.each.len() <= self.most_of_each {
            self.each.push(Spot { at_ns, value_ns });
        }
        self.longest.push(at_ns, value_ns);
        record(&mut self.histogram, value_ns);
    }

    /// The series and the histogram of its values.
    pub(crate) fn finish(self) -> (Series, Histogram<u64>) {
        let histogram = self.histogram;
        let mut each = self.each;
        if each.len() > self.most_of_each {
            each.clear();
        }
        each.sort_unstable_by_key(|spot| (spot.at_ns, spot.value_ns));
        let (slice_ns, slices) = self.slices.finish();
        let (bad, bad_in_all) = self.bad.finish();
        let (p25, p75) = (
            histogram.value_at_quantile(0.25),
            histogram.value_at_quantile(0.75),
        );
        let stands_out_ns = p75.saturating_add(3 * (p75 - p25));
        let longer = histogram
            .iter_recorded()
            .filter(|step| step.value_iterated_to() > stands_out_ns)
            .map(|step| step.count_at_value());
        let series = Series {
            of: histogram.len(),
            slice_ns,
            slices,
            each,
            longest: self.longest.above(stands_out_ns),
            stands_out_ns,
            stand_out_in_all: longer.sum(),
            bad,
            bad_in_all,
        };
        (series, histogram)
    }
}

/// An empty histogram: three significant digits, as wide as need be.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are few enough")
}

/// Records a value.
pub(crate) fn record(histogram: &mut Histogram<u64>, value_ns: u64) {
    histogram
        .record(value_ns.min(LONGEST_NS))
        .expect("a histogram grows for every value below its own limit");
}
