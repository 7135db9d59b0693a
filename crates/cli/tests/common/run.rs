//! A run as a test sees it: the summary that `--json` printed, and every row of its CSV file.

use super::Ended;
use std::collections::BTreeSet;
use std::path::Path;
use wiregauge_record::{Counts, PointSummary};
use wiregauge_run::RunFile;

/// One exchange (or a further answer to one) as it stands in the CSV file.
#[derive(Clone, Debug)]
pub struct Row {
    pub point: u32,
    pub sequence: u64,
    pub phase: String,
    pub status: String,
    pub rtt_us: f64,
    pub start_us: f64,
    pub intended_us: f64,
    pub bytes_sent: u32,
    pub bytes_received: u32,
    pub outstanding: u32,
    pub data_hex: Option<String>,
}

/// A run.
pub struct Run {
    pub file: RunFile,
    pub rows: Vec<Row>,
}

impl Run {
    /// Reads what `exchange --json --csv FILE` left.
    pub fn read(ended: &Ended, csv: &Path) -> Run {
        let file = serde_json::from_str(&ended.stdout)
            .unwrap_or_else(|error| panic!("no run was printed ({error}): {ended}"));
        let text = std::fs::read_to_string(csv).expect("the CSV file");
        Run {
            file,
            rows: rows(&text),
        }
    }

    /// The only point.
    pub fn point(&self) -> &PointSummary {
        assert_eq!(self.file.points.len(), 1, "this run has one point");
        &self.file.points[0]
    }

    /// How the exchanges of the only point ended.
    pub fn counts(&self) -> Counts {
        self.point().counts
    }

    /// Rows of the only point with this status, of the measured phase.
    pub fn with_status(&self, status: &str) -> Vec<&Row> {
        let rows = self.rows.iter();
        rows.filter(|row| row.status == status && row.phase == "measured")
            .collect()
    }

    /// Their sequence numbers, in order.
    pub fn sequences_of(&self, status: &str) -> Vec<u64> {
        let mut sequences: Vec<u64> = self
            .with_status(status)
            .iter()
            .map(|r| r.sequence)
            .collect();
        sequences.sort_unstable();
        sequences
    }

    /// Rows of a phase.
    pub fn in_phase(&self, phase: &str) -> usize {
        self.rows.iter().filter(|row| row.phase == phase).count()
    }

    /// Holds for every run of any kind: no exchange is missing, none stands there twice, and the
    /// counts of the summary are those of the rows. Returns self, so that it can be chained.
    pub fn accounts_for_every_exchange(&self) -> &Run {
        for point in &self.file.points {
            let index = point.point.index;
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.point == index).collect();
            let further = |row: &Row| row.status == "late" || row.status == "duplicated";
            let first: Vec<u64> = rows
                .iter()
                .filter(|row| !further(row))
                .map(|row| row.sequence)
                .collect();
            let unique: BTreeSet<u64> = first.iter().copied().collect();
            assert_eq!(
                unique.len(),
                first.len(),
                "an exchange has two rows at point {index}"
            );
            let next = first.len() as u64;
            assert!(
                unique.iter().copied().eq(0..next),
                "an exchange has no row at point {index}"
            );
            assert!(
                rows.iter().all(|row| row.sequence < next),
                "a row of no exchange"
            );

            let measured = |status: &str| {
                let rows = rows.iter().filter(|row| row.phase == "measured");
                rows.filter(|row| row.status == status).count() as u64
            };
            let counts = point.counts;
            let [ok, reordered] = [measured("ok"), measured("reordered")];
            assert_eq!(counts.answered, ok + reordered);
            assert_eq!(counts.reordered, reordered);
            assert_eq!(counts.corrupted, measured("corrupted"));
            assert_eq!(counts.duplicated, measured("duplicated"));
            assert_eq!(counts.late, measured("late"));
            assert_eq!(counts.lost + counts.late, measured("lost"));
            assert_eq!(counts.unexpected, measured("unexpected"));
            let failed = counts.corrupted + counts.unexpected + counts.lost + counts.late;
            assert_eq!(counts.exchanges, counts.answered + failed);
        }
        self
    }

    /// Every exchange was answered once, right, in order and in time, with nothing left over.
    pub fn is_clean(&self) {
        self.accounts_for_every_exchange();
        for point in &self.file.points {
            assert!(point.counts.is_clean(), "{:?}", point.counts);
        }
    }
}

/// The rows of a CSV file, whatever the order of its columns.
pub fn rows(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name);
    let must = |name: &str| at(name).unwrap_or_else(|| panic!("no column {name} in {header:?}"));
    let number = |field: &str| -> f64 { field.parse().expect("a number") };
    let whole = |field: &str| -> u32 { field.parse().expect("a whole number") };
    let columns = [
        "point",
        "sequence",
        "phase",
        "status",
        "delta_time_us",
        "start_us",
        "intended_us",
        "bytes_sent",
        "bytes_received",
        "outstanding",
    ];
    if text.is_empty() {
        return Vec::new();
    }
    let places = columns.map(must);
    let data = at("data_hex");
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields.len(), header.len(), "a torn row: {line}");
            let [
                point,
                sequence,
                phase,
                status,
                rtt,
                start,
                intended,
                sent,
                received,
                outstanding,
            ] = places.map(|place| fields[place]);
            Row {
                point: whole(point),
                sequence: sequence.parse().expect("a sequence number"),
                phase: phase.to_string(),
                status: status.to_string(),
                rtt_us: number(rtt),
                start_us: number(start),
                intended_us: number(intended),
                bytes_sent: whole(sent),
                bytes_received: whole(received),
                outstanding: whole(outstanding),
                data_hex: data.map(|place| fields[place].to_string()),
            }
        })
        .collect()
}
