//! A run handed to other programs.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Run, RunWriter, conditions, finished, plan, point, sample, samples, summary};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use wiregauge_record::{BusLimit, PointSummary, Sample, Status};
use wiregauge_run::{
    Exchange, RunError, RunFile, State, recompute, write_csv, write_json, write_parquet,
};

/// A run of two points: two samples, one of them lost, and one sample.
fn stored_run(home: &Path, keep_data: bool) -> Run {
    let dir = home.join("run");
    let mut plan = plan(keep_data);
    plan.link.kernel_timestamps = true;
    let mut run = RunWriter::create(&dir, &plan, &conditions()).unwrap();
    let odd = Sample {
        sequence: 1,
        intended_ns: 1_000_000,
        start_ns: 1_000_999,
        rtt_ns: u64::MAX,
        connect_ns: 7,
        access_ns: 1000,
        bytes_out: 16,
        bytes_in: 0,
        outstanding: 4,
        device_rx_ticks: u64::MAX,
        device_tx_ticks: 3,
        kernel_tx_ns: 5_000,
        kernel_tx_done_ns: 0,
        kernel_rx_ns: 40_001,
        status: Status::Lost,
        ..Sample::default()
    };
    for (index, samples) in (0..).zip([vec![sample(0), odd], vec![sample(5)]]) {
        let point = point(index);
        let mut writer = run.begin_point(point).unwrap();
        for sample in &samples {
            let answer = &[0x00, 0xAB, 0xFF][..sample.bytes_in.min(3) as usize];
            writer.push(sample, answer).unwrap();
        }
        let summary = summary(point, samples.len() as u64);
        run.end_point(writer, summary).unwrap();
    }
    run.finish(State::Complete).unwrap();
    Run::open(&dir).unwrap()
}

#[test]
fn csv_has_one_row_for_each_exchange() {
    let home = tempfile::tempdir().unwrap();
    let run = stored_run(home.path(), true);
    let mut text = Vec::new();
    assert_eq!(write_csv(&run, &mut text, true).unwrap(), 3);
    let expected = "\
point,depth,sequence,phase,delta_time_us,bytes_sent,bytes_received,status,start_us,intended_us,connect_us,access_us,outstanding,link,together,device_rx_ticks,device_tx_ticks,kernel_tx_us,kernel_tx_done_us,kernel_rx_us,data_hex
0,2,0,first,45.000,16,100,ok,0.000,0.000,,,1,0,0,0,0,,,,00abff
0,2,1,measured,18446744073709551.615,16,0,lost,1000.999,1000.000,0.007,1.000,4,0,0,18446744073709551615,3,5.000,,40.001,
1,2,5,measured,45.369,16,100,ok,250.369,250.369,,,1,0,0,0,0,,,,00abff
";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
    let mut short = Vec::new();
    assert_eq!(write_csv(&run, &mut short, false).unwrap(), 3);
    let short = String::from_utf8(short).unwrap();
    let mut columns = short.lines().map(|line| line.split(',').count());
    assert!(columns.all(|count| count == 20), "{short}");
}

#[test]
fn data_that_was_not_kept_cannot_be_exported() {
    let home = tempfile::tempdir().unwrap();
    let run = stored_run(home.path(), false);
    let error = write_csv(&run, &mut io::sink(), true).unwrap_err();
    assert!(matches!(error, RunError::NoData { .. }), "{error}");
}

#[test]
fn one_parquet_file_holds_all_points() {
    let home = tempfile::tempdir().unwrap();
    let run = stored_run(home.path(), true);
    let path = home.path().join("all.parquet");
    assert_eq!(write_parquet(&run, &path).unwrap(), 3);
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let rows: Vec<_> = rows.map(Result::unwrap).collect();
    let names = rows[0].get_column_iter().map(|(name, _)| name.as_str());
    let names: Vec<_> = names.collect();
    let expected = "point,out_bytes_asked,in_bytes_asked,depth,link,together,sequence,phase,status,\
        intended_ns,start_ns,rtt_ns,connect_ns,access_ns,device_rx_ticks,device_tx_ticks,bytes_out,\
        bytes_in,outstanding,kernel_tx_ns,kernel_tx_done_ns,kernel_rx_ns,data";
    assert_eq!(names.join(","), expected);
    let points: Vec<_> = rows.iter().map(|row| row.get_uint(0).unwrap()).collect();
    assert_eq!(points, [0, 0, 1]);
    assert_eq!(rows[2].get_uint(2).unwrap(), 200);
    assert_eq!(rows[1].get_ulong(11).unwrap(), u64::MAX);
    assert_eq!(rows[1].get_string(8).unwrap(), "lost");
    assert_eq!(rows[2].get_bytes(22).unwrap().data(), [0x00, 0xAB, 0xFF]);
}

#[test]
fn only_a_run_with_the_kernels_records_has_columns_for_them() {
    let home = tempfile::tempdir().unwrap();
    let points = [(point(0), summary(point(0), 1))];
    let dir = finished::<Exchange>(home.path().join("run"), &plan(false), points, &samples(1));
    let run: Run = Run::open(&dir).unwrap();
    let columns = ["rtt_ns", "kernel_rx_ns"];
    let mut samples = run.samples_of(0, &columns).unwrap();
    let (read, _) = samples.next().unwrap().unwrap();
    assert_eq!((read.rtt_ns, read.kernel_rx_ns), (sample(0).rtt_ns, 0));
    let path = home.path().join("all.parquet");
    write_parquet(&run, &path).unwrap();
    let file = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let kernel = columns.iter().filter(|c| c.name().starts_with("kernel_"));
    assert_eq!(kernel.count(), 0);
}

#[test]
fn json_is_the_run_file() {
    let home = tempfile::tempdir().unwrap();
    let run = stored_run(home.path(), false);
    let mut text = Vec::new();
    write_json(&run, &mut text).unwrap();
    assert_eq!(text, fs::read(run.dir.join("run.json")).unwrap());
    assert_eq!(serde_json::from_slice::<RunFile>(&text).unwrap(), run.file);
}

/// A reader that has gone.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_fails_keeps_its_kind() {
    let home = tempfile::tempdir().unwrap();
    let run = stored_run(home.path(), false);
    for error in [
        write_csv(&run, &mut Gone, false).unwrap_err(),
        write_json(&run, &mut Gone).unwrap_err(),
    ] {
        assert_eq!(error.io_kind(), Some(io::ErrorKind::BrokenPipe), "{error}");
    }
}

#[test]
fn a_failed_parquet_export_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let run = stored_run(home.path(), false);
    let path = home.path().join("nowhere/all.parquet");
    let error = write_parquet(&run, &path).unwrap_err();
    assert_eq!(error.io_kind(), Some(io::ErrorKind::NotFound));
    fs::remove_file(run.dir.join("samples/point-0001.parquet")).unwrap();
    let path = home.path().join("all.parquet");
    let error = write_parquet(&run, &path).unwrap_err();
    assert!(matches!(error, RunError::BadSamples { .. }), "{error}");
    let left = fs::read_dir(home.path()).unwrap().count();
    assert_eq!(left, 1, "only the run is left");
}

#[test]
fn figures_computed_again_are_those_of_the_samples_and_the_rest_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let limit = BusLimit {
        bytes_s: 1e6,
        shared: true,
        source: "a bus".to_owned(),
        used: 0.5,
    };
    let stored = PointSummary {
        limit: Some(limit),
        open_ns: Some(77),
        ..summary(point(0), 9)
    };
    let (samples, points) = (samples(100), [(point(0), stored)]);
    let dir = finished::<Exchange>(home.path().join("run"), &plan(false), points, &samples);
    let run = Run::open(&dir).unwrap();

    let again = &recompute(&run).unwrap().points[0];
    let rtt = again.rtt.as_ref().unwrap();
    // The first exchange is kept apart.
    let largest = samples[1..].iter().map(|sample| sample.rtt_ns).max();
    assert_eq!((rtt.n, Some(rtt.max as u64)), (99, largest));
    assert_eq!(again.counts.exchanges, 99);
    assert_eq!(again.first_rtt_ns, Some(samples[0].rtt_ns));
    assert_eq!(again.open_ns, Some(77));
    let rate = &again.throughput;
    let used = (rate.out_bytes_s + rate.in_bytes_s) / 1e6;
    assert_eq!(again.limit.as_ref().map(|limit| limit.used), Some(used));
}

#[test]
fn a_time_that_no_clock_shows_is_an_error_of_the_samples() {
    let home = tempfile::tempdir().unwrap();
    let error = recompute(&stored_run(home.path(), false)).expect_err("an RTT of 584 years");
    assert!(matches!(error, RunError::BadSamples { .. }), "{error}");
}
