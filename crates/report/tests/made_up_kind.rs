//! A kind of run that no crate knows: a scale that is read many times. It is declared here alone, and is then written, read,
//! listed, exported, shown, drawn on a page and compared by the functions that do so for all kinds. Only what finds the kind
//! of a directory by its name (`AnyRun`, `with_run!`) has a list of kinds, which this one is not in.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use wiregauge_compare::{
    Comparable, Comparison, Figure, Found, Key, Place, Read, Setting, Settings, Statistic, Verdict,
    compare_kind,
};
use wiregauge_record::{Better, Conditions, Unit};
use wiregauge_report::tables::{self, Brief, Columns, Tables};
use wiregauge_report::{Reported, Subject, figures, labels, page};
use wiregauge_run::{
    AnyRun, Column, ColumnKind, DefaultHandler, FileHandler, Files, FromRows, Listing, PointColumn,
    PointKind, Run, RunError, RunFile, RunKind, RunWriter, State, Stored,
};
use wiregauge_stats::{Confidence, Series};

const READINGS: u64 = 2000;

/// The kind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weigh;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WeighPlan {
    address: String,
    readings: u64,
    points: Vec<Pan>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Pan {
    index: u32,
}

impl fmt::Display for Pan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pan {}", self.index)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Weighed {
    at_ns: u64,
    grams: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WeighSummary {
    point: Pan,
    whole: bool,
    n: u64,
    mean_g: f64,
    max_g: f64,
}

impl RunKind for Weigh {
    const NAME: &'static str = "weigh";
    const TITLE: &'static str = "Scale";
    const ROWS: &'static str = "readings";

    type Plan = WeighPlan;
    type Point = Pan;
    type Summary = WeighSummary;
    type Row = Weighed;

    const COLUMNS: &'static [Column<Weighed>] = &[
        Column {
            name: "at_ns",
            kind: ColumnKind::Wide {
                get: |row| row.at_ns,
                set: |row, value| row.at_ns = value,
            },
        },
        Column {
            name: "grams",
            kind: ColumnKind::Real {
                get: |row| row.grams,
                set: |row, value| row.grams = value,
            },
        },
    ];

    const POINT_COLUMNS: &'static [PointColumn<Pan>] =
        &[("point", PointKind::Number(|pan| pan.index))];

    const CSV: &'static str = "point,at_us,grams";

    fn address(plan: &WeighPlan) -> &str {
        &plan.address
    }

    fn point(summary: &WeighSummary) -> Pan {
        summary.point
    }

    fn index(point: &Pan) -> u32 {
        point.index
    }

    fn settings(point: &Pan) -> Vec<(&'static str, String)> {
        vec![("point", point.index.to_string())]
    }

    fn measured(summary: &WeighSummary) -> u64 {
        summary.n
    }

    fn is_complete(summary: &WeighSummary) -> bool {
        summary.whole
    }

    fn planned(plan: &WeighPlan) -> usize {
        plan.points.len()
    }

    fn summariser(
        _plan: &WeighPlan,
        _conditions: &Conditions,
        point: Pan,
    ) -> Box<dyn FromRows<Weigh>> {
        Box::new(Weighing {
            point,
            n: 0,
            sum_g: 0.0,
            max_g: 0.0,
        })
    }

    fn csv_row(text: &mut Vec<u8>, point: &Pan, row: &Weighed) -> io::Result<()> {
        write!(text, "{},{},{}", point.index, row.at_ns / 1000, row.grams)
    }
}

/// A summary of the rows so far.
struct Weighing {
    point: Pan,
    n: u64,
    sum_g: f64,
    max_g: f64,
}

impl FromRows<Weigh> for Weighing {
    fn push(&mut self, row: &Weighed) {
        self.n += 1;
        self.sum_g += row.grams;
        self.max_g = self.max_g.max(row.grams);
    }

    fn finish(self: Box<Self>) -> WeighSummary {
        WeighSummary {
            point: self.point,
            whole: false,
            n: self.n,
            mean_g: self.sum_g / self.n.max(1) as f64,
            max_g: self.max_g,
        }
    }
}

impl Files for Weigh {
    fn handler() -> &'static dyn FileHandler<Weigh> {
        &DefaultHandler
    }
}

impl Reported for Weigh {
    fn tables(run: &Run<Weigh>, _confidence: bool) -> Tables {
        let (plan, points) = (&run.file.plan, &run.file.points);
        let mut columns = Columns::<&WeighSummary>::new();
        columns.add("pan", |pan| pan.point.index);
        columns.add("n", |pan| pan.n);
        columns.add("mean", |pan| format!("{:.1}", pan.mean_g));
        columns.add("max", |pan| format!("{:.1}", pan.max_g));
        let table = columns.of_rows("Weight in g", points);
        let means = points.iter().map(|pan| format!("{:.1} g", pan.mean_g));
        let means: Vec<String> = means.collect();
        let answer = format!("Mean weight {}.", means.join(" and "));
        Tables {
            heading: vec![format!("{}, {} readings", plan.address, plan.readings)],
            brief: Some(Brief::of_tables(answer, [table.clone()].into_iter())),
            tables: vec![table],
            ..tables::common(&run.file)
        }
    }

    fn csv(file: &RunFile<Weigh>) -> String {
        let mut columns = Columns::<&WeighSummary>::new();
        columns.add("point", |pan| pan.point.index);
        columns.add("n", |pan| pan.n);
        columns.add("mean_g", |pan| pan.mean_g);
        columns.add("max_g", |pan| pan.max_g);
        columns.write(file.points.iter().collect())
    }
}

const MEAN: Statistic = Statistic {
    name: "weight.mean",
    unit: Unit::Number,
    better: Better::Lower,
};

impl Comparable for Weigh {
    fn figures(_runs: &[&Run<Weigh>], _asked: &[Figure]) -> Vec<Figure> {
        vec![Figure::Own(MEAN)]
    }

    fn places(run: &Run<Weigh>) -> Vec<Place> {
        let place = |(at, pan): (usize, &WeighSummary)| {
            let words = Settings(vec![(Setting::Number, pan.point.index.to_string())]);
            (Key::new(Weigh::settings(&pan.point), words), at)
        };
        run.file.points.iter().enumerate().map(place).collect()
    }

    fn read(
        run: &Run<Weigh>,
        at: usize,
        figures: &[Figure],
        _scheduled: bool,
        sure: Confidence,
    ) -> Result<Read, RunError> {
        let mut micrograms = Series::new();
        let mut readings = run.samples_of(at, &["grams"])?;
        while let Some(rows) = readings.next_rows() {
            for row in rows? {
                micrograms.push((row.grams * 1e6) as u64);
            }
        }
        let mean = micrograms.read().map(|all| all.mean(sure));
        Ok(Read {
            found: figures.iter().map(|_| mean.map(Found::Known)).collect(),
            samples: micrograms.len(),
            notes: Vec::new(),
            disturbed: Vec::new(),
        })
    }
}

fn plan() -> WeighPlan {
    WeighPlan {
        address: "scale:///dev/scale0".to_owned(),
        readings: READINGS,
        points: vec![Pan { index: 0 }, Pan { index: 1 }],
    }
}

fn conditions() -> Conditions {
    Conditions {
        started: "2026-11-29T12:00:00Z".to_owned(),
        command: vec!["wiregauge".to_owned(), "weigh".to_owned()],
        version: "0.1.0".to_owned(),
        ..Conditions::default()
    }
}

/// Writes a run of this kind, in which the scale shows up to 9 mg more than this.
fn weighed(dir: &Path, grams: f64) -> Run<Weigh> {
    let (plan, conditions) = (plan(), conditions());
    let mut run =
        RunWriter::<Weigh>::create(dir, &plan, &conditions).expect("the directory can be written");
    for &point in &plan.points {
        let mut writer = run.begin_point(point).expect("a point begins");
        let mut weighing = Weigh::summariser(&plan, &conditions, point);
        for reading in 0..plan.readings {
            let row = Weighed {
                at_ns: reading * 1_000_000,
                grams: grams + (reading * 7 % 10) as f64 / 1000.0,
            };
            writer.push(&row, &[]).expect("there is room");
            weighing.push(&row);
        }
        let summary = WeighSummary {
            whole: true,
            ..weighing.finish()
        };
        run.end_point(writer, summary).expect("a point ends");
    }
    run.finish(State::Complete).expect("the run ends");
    Run::open(dir).expect("what was written can be read")
}

#[test]
fn a_made_up_kind_is_written_opened_and_listed() {
    let home = tempfile::tempdir().expect("a place for a run");
    let dir = home.path().join("run");
    let run = weighed(&dir, 1.0);
    assert_eq!(run.file.points.len(), 2);
    let rows = run.samples(1).expect("the point has samples");
    assert_eq!(rows.filter(Result::is_ok).count() as u64, READINGS);
    let listing = Listing::new("run".to_owned(), dir.clone(), &run);
    assert_eq!((listing.kind, &listing.state[..]), ("weigh", "complete"));
    assert_eq!((listing.measured, listing.rows), (2 * READINGS, "readings"));
    assert_eq!(listing.ending, None);
    // It is in no list of kinds.
    let unknown = AnyRun::open(&dir).expect_err("it has no name");
    let RunError::UnknownKind { kind, .. } = &unknown else {
        panic!("{unknown}");
    };
    assert_eq!(kind, "weigh");
    let listed = wiregauge_run::list(home.path()).expect("runs");
    assert_eq!(listed[0].problem, Some(unknown.to_string()));
}

#[test]
fn a_made_up_kind_that_was_cut_short_has_the_summary_of_its_rows() {
    let home = tempfile::tempdir().expect("a place for a run");
    let dir = home.path().join("run");
    let plan = plan();
    let mut run = RunWriter::<Weigh>::create(&dir, &plan, &conditions()).expect("a run begins");
    let mut writer = run.begin_point(plan.points[0]).expect("a point begins");
    for reading in 0..10 {
        let row = Weighed {
            at_ns: reading,
            grams: 1.0 + reading as f64,
        };
        writer.push(&row, &[]).expect("there is room");
    }
    writer.flush().expect("there is room");
    drop(writer);
    drop(run);
    let run = Run::<Weigh>::open(&dir).expect("what was written can be read");
    let [pan] = &run.file.points[..] else {
        panic!("{:?}", run.file.points);
    };
    let found = (pan.whole, pan.n, pan.mean_g, pan.max_g);
    assert_eq!(found, (false, 10, 5.5, 10.0));
    let ending = tables::of_kind(&run, false).ending;
    let ending = ending.expect("it did not end");
    assert!(
        ending.ends_with("after 10 readings, 0 of 2 points complete"),
        "{ending}"
    );
}

#[test]
fn a_made_up_kind_is_exported() {
    let home = tempfile::tempdir().expect("a place for a run");
    let run = weighed(&home.path().join("run"), 1.0);
    let stored: &dyn Stored = &run;
    let mut csv = Vec::new();
    let rows = stored.write_csv(&mut csv, false).expect("memory");
    assert_eq!(rows, 2 * READINGS);
    let csv = String::from_utf8(csv).expect("text");
    assert_eq!(csv.lines().count() as u64, 1 + rows);
    let first = "point,at_us,grams\n0,0,1\n0,1000,1.007\n";
    assert!(csv.starts_with(first), "{csv:.60}");
    let parquet = home.path().join("all.parquet");
    assert_eq!(stored.write_parquet(&parquet).expect("a file"), rows);
    let mut json = Vec::new();
    stored.write_json(&mut json).expect("memory");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["points"][1]["n"], READINGS);
    let summaries = Weigh::csv(&run.file);
    let pan = &run.file.points[1];
    let first = "point,n,mean_g,max_g\n0,";
    let last = format!("\n1,{READINGS},{},{}\n", pan.mean_g, pan.max_g);
    assert!(summaries.starts_with(first), "{summaries}");
    assert!(summaries.ends_with(&last), "{summaries}");
}

#[test]
fn a_made_up_kind_is_columns_and_records_for_other_languages() {
    let home = tempfile::tempdir().expect("a place for a run");
    let run = weighed(&home.path().join("run"), 1.0);
    let stored: &dyn Stored = &run;
    let mut grams = Vec::new();
    let mut take = |bits: &[u64]| grams.extend(bits.iter().map(|&bits| f64::from_bits(bits)));
    stored.column(1, "grams", &mut take).expect("a column");
    let max_g = grams.iter().copied().fold(0.0, f64::max);
    assert_eq!(max_g, run.file.points[1].max_g);
    let record = stored.record();
    let fields = record.fields.iter();
    let fields: Vec<_> = fields.map(|of| (of.name, of.form, of.place)).collect();
    let expected = [("point", "u4", 16), ("at_ns", "u8", 0), ("grams", "f8", 8)];
    assert_eq!((fields, record.bytes), (expected.to_vec(), 24));
    let records = stored.records(None).expect("rows");
    assert_eq!(records.len() as u64, 2 * READINGS * 24);
    let last = &records[records.len() - 24..];
    let at_ns = (READINGS - 1) * 1_000_000;
    assert_eq!(last[..8], at_ns.to_ne_bytes());
    assert_eq!(last[8..16], grams[grams.len() - 1].to_ne_bytes());
    assert_eq!(last[16..], [1_u32.to_ne_bytes(), [0; 4]].concat());
}

#[test]
fn a_made_up_kind_is_shown_in_every_format() {
    let home = tempfile::tempdir().expect("a place for a run");
    let run = weighed(&home.path().join("run"), 1.0);
    let shown = tables::of_kind(&run, false);
    let brief = shown.brief.as_ref().expect("an answer");
    assert_eq!(brief.answer, "Mean weight 1.0 g and 1.0 g.");
    let text: String = brief.tables(80).map(|table| table.text()).collect();
    assert!(text.contains("pan     n  mean  max"), "{text}");
    let markdown = tables::markdown(&run, &shown);
    let title = "## wiregauge weigh: scale:///dev/scale0\n";
    assert!(markdown.starts_with(title), "{markdown}");
    assert!(markdown.contains("### Weight in g\n"), "{markdown}");
    assert!(markdown.contains("4,000 readings"), "{markdown}");
    let latex = tables::latex(&run, &shown);
    assert!(latex.contains("\\caption{Weight in g}"), "{latex}");
    assert!(latex.contains("measured with: wiregauge weigh"), "{latex}");
}

/// What became of the first figure of each point.
fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    let points = comparison.points.iter();
    points.map(|point| point.figures[0].verdict).collect()
}

#[test]
fn a_made_up_kind_is_compared_and_has_a_page() {
    let home = tempfile::tempdir().expect("a place for runs");
    let before = weighed(&home.path().join("before"), 1.0);
    let after = weighed(&home.path().join("after"), 1.1);
    let same = compare_kind(&[&before], &[&before], &[], &|_| true, &|_| {});
    let same = verdicts(&same.expect("points in common"));
    assert_eq!(same, [Verdict::NoDifferenceShown; 2]);
    let comparison = compare_kind(&[&before], &[&after], &[], &|_| true, &|_| {});
    let comparison = comparison.expect("points in common");
    assert_eq!(verdicts(&comparison), [Verdict::Worse; 2]);
    let compared = tables::of_comparison(&comparison);
    let answer = &compared.answer[0];
    assert!(answer.contains("weight.mean"), "{answer}");
    assert!(answer.ends_with(": higher."), "{answer}");

    let stored: [&dyn Stored; 2] = [&before, &after];
    let labels = labels(stored);
    assert_eq!(labels, ["before", "after"]);
    let runs = labels.into_iter().zip([before, after]);
    let subject = |(label, run): (String, Run<Weigh>)| {
        let shown = tables::of_kind(&run, true);
        Subject::load_kind(label, run, shown, None, &|_| {})
    };
    let subjects: Vec<Subject> = runs.map(subject).collect();
    assert_eq!(figures::of(&subjects), []);
    let one = page::html(&subjects[..1], &[], &[]);
    let both = page::html(&subjects, &[], &[compared]);
    let title = "Scale with scale:///dev/scale0";
    for text in [title, "Mean weight 1.0 g", "Weight in g"] {
        assert!(one.contains(text), "{text} is not in {one}");
    }
    for text in ["2 runs: before, after", "weight.mean"] {
        assert!(both.contains(text), "{text} is not in {both}");
    }
}
