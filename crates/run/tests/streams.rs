//! Runs of kind `stream`: stored, read, listed and exported as those of `exchange` are.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{finished, plan, point, read_all, samples, summary};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use proptest::prelude::*;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use wiregauge_record::{
    Direction, Ending, FlowFacts, HostPlan, LinkOptions, Phase, ResourceUse, StreamPlan,
    StreamPoint, StreamProtocol, StreamSummariser, StreamSummary, Transfer, TransferStatus, Way,
};
use wiregauge_run::{AnyRun, Exchange, Run, RunError, Stream, list, write_csv, write_parquet};

pub fn stream_point(index: u32) -> StreamPoint {
    StreamPoint {
        index,
        direction: Direction::Both,
        transfer_bytes: 512 << index,
        queue: 4,
        link: index,
        together: index == 1,
    }
}

pub fn stream_plan() -> StreamPlan {
    StreamPlan {
        address: "usb://1d6b:0104".to_owned(),
        protocol: StreamProtocol::Wiregauge,
        pattern: None,
        more_links: vec!["usb://1d6b:0105".to_owned()],
        points: (0..2).map(stream_point).collect(),
        duration_ns: 1_000_000_000,
        settle_ns: 100_000_000,
        check: true,
        timeout_ns: 1_000_000_000,
        rates_bytes_s: vec![24_000_000],
        loss: 1e-6,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

fn transfer(sequence: u64) -> Transfer {
    let noise = sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52;
    Transfer {
        sequence,
        submit_ns: sequence * 40_000,
        complete_ns: sequence * 40_000 + 100_000 + noise,
        bytes: 512,
        pending: 4,
        way: [Way::In, Way::Out][usize::from(sequence.is_multiple_of(3))],
        phase: [Phase::First, Phase::Measured][usize::from(sequence >= 3)],
        ..Transfer::default()
    }
}

fn summed_up(point: StreamPoint, rows: &[Transfer]) -> StreamSummary {
    let mut summariser = StreamSummariser::new(&stream_plan(), point);
    rows.iter().for_each(|row| summariser.push(row));
    let facts = FlowFacts::default();
    summariser.finish(Ending::Complete, 0, &[facts], ResourceUse::default())
}

/// A finished run of two points in `home`/`name`.
fn finished_run(home: &Path, name: &str) -> PathBuf {
    let rows = transfers();
    let points = [0, 1].map(stream_point);
    let points = points.map(|point| (point, summed_up(point, &rows)));
    finished::<Stream>(home.join(name), &stream_plan(), points, &rows)
}

fn transfers() -> Vec<Transfer> {
    (0..60).map(transfer).collect()
}

#[test]
fn a_stream_run_is_read_as_it_was_written() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path(), "run");
    let run = Run::<Stream>::open(&dir).unwrap();
    assert_eq!(run.file.kind, "stream");
    assert_eq!(run.file.plan, stream_plan());
    let rows = transfers();
    let expected = [0, 1].map(|i| summed_up(stream_point(i), &rows));
    assert_eq!(run.file.points, expected);
    let listed = &list(home.path()).unwrap()[0];
    assert_eq!((listed.measured, listed.rows), (2 * 57, "transfers"));
    assert_eq!(read_all::<Stream>(&dir).unwrap(), rows);
    // What is stored sums up to what is stored.
    let again = summed_up(stream_point(0), &read_all::<Stream>(&dir).unwrap());
    assert_eq!(again, run.file.points[0]);
}

#[test]
fn a_run_opens_as_the_kind_that_it_is_and_as_no_other() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path(), "run");
    assert!(matches!(AnyRun::open(&dir).unwrap(), AnyRun::Stream(_)));
    let error = Run::<Exchange>::open(&dir).unwrap_err();
    let RunError::OtherKind { kind, wanted, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((kind.as_str(), *wanted), ("stream", "exchange"));
    let path = dir.join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"stream\"", "\"tide\"", 1)).unwrap();
    for error in [
        AnyRun::open(&dir).unwrap_err(),
        Run::<Stream>::open(&dir).unwrap_err(),
    ] {
        assert!(matches!(error, RunError::UnknownKind { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("`exchange`, `stream`, `loop`"), "{text}");
    }
}

/// A finished run of one exchange.
fn exchange(dir: PathBuf) -> PathBuf {
    let points = [(point(0), summary(point(0), 1))];
    finished::<Exchange>(dir, &plan(false), points, &samples(1))
}

#[test]
fn csv_has_one_row_for_each_transfer() {
    let home = tempfile::tempdir().unwrap();
    let run = Run::<Stream>::open(&finished_run(home.path(), "run")).unwrap();
    let mut text = Vec::new();
    assert_eq!(write_csv(&run, &mut text, false).unwrap(), 120);
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "point,direction,transfer_bytes,queue,way,sequence,phase,status,submit_us,complete_us,\
         urb_submit_us,urb_complete_us,bytes,pending,link,together"
    );
    assert_eq!(
        lines.next().unwrap(),
        "0,both,512,4,out,0,first,ok,0.000,100.000,0.000,0.000,512,4,0,0"
    );
    // The second point ran together with another link.
    assert!(lines.last().unwrap().ends_with(",1"), "{text}");
    let error = write_csv(&run, &mut io::sink(), true).unwrap_err();
    assert!(matches!(error, RunError::NoData { .. }), "{error}");
}

#[test]
fn one_parquet_file_holds_all_points() {
    let home = tempfile::tempdir().unwrap();
    let run = Run::<Stream>::open(&finished_run(home.path(), "run")).unwrap();
    let path = home.path().join("all.parquet");
    assert_eq!(write_parquet(&run, &path).unwrap(), 120);
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let rows: Vec<_> = rows.map(Result::unwrap).collect();
    let names = rows[0].get_column_iter().map(|(name, _)| name.as_str());
    let names: Vec<_> = names.collect();
    let front = "point,direction,transfer_bytes,queue,link,together,way";
    assert_eq!((names[..7].join(","), names.len()), (front.into(), 16));
    assert_eq!(rows[0].get_string(1).unwrap(), "both");
    assert_eq!(rows[119].get_uint(2).unwrap(), 1024);
    assert_eq!(rows[119].get_uint(5).unwrap(), 1);
}

/// A file of exchanges under the name and with the point of a stream's is no file of transfers.
#[test]
fn samples_of_another_kind_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let dir = finished_run(home.path(), "run");
    let exchange = exchange(home.path().join("exchange"));
    let samples = "samples/point-0000.parquet";
    fs::copy(exchange.join(samples), dir.join(samples)).unwrap();
    let error = read_all::<Stream>(&dir).unwrap_err();
    assert!(matches!(error, RunError::BadSamples { .. }), "{error}");
}

fn any_transfer() -> impl Strategy<Value = Transfer> {
    let wide = || prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), 0..1_000_000_u64];
    let times = (wide(), wide(), wide(), wide(), wide());
    let names = (0..2_u8, 0..4_usize, 0..3_u8);
    (times, any::<u32>(), any::<u32>(), names).prop_map(
        |(t, bytes, pending, (way, status, phase))| Transfer {
            sequence: t.0,
            submit_ns: t.1,
            complete_ns: t.2,
            urb_submit_ns: t.3,
            urb_complete_ns: t.4,
            bytes,
            pending,
            way: Way::from_number(way).expect("0 and 1 are ways"),
            status: TransferStatus::ALL[status],
            phase: Phase::from_number(phase).expect("0 to 2 are phases"),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn transfers_written_are_transfers_read(
        rows in prop::collection::vec(any_transfer(), 0..200),
    ) {
        let home = tempfile::tempdir().unwrap();
        let point = (stream_point(0), summed_up(stream_point(0), &[]));
        let dir = finished::<Stream>(home.path().join("run"), &stream_plan(), [point], &rows);
        prop_assert_eq!(read_all::<Stream>(&dir).unwrap(), rows);
    }
}
