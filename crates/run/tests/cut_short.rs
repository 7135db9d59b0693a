//! Runs whose writer was ended in the middle of a point: what was pushed is read, and the state says what happened.

#![allow(clippy::unwrap_used)]

use crate::common;
use crate::loops::loop_plan;
use crate::streams::{stream_plan, stream_point};

use common::{Run, conditions, plan, point, sample, samples, summary};
use std::fs;
use std::path::{Path, PathBuf};
use wiregauge_record::{
    Aim, Block, ControlCycle, ControlModel, ControlPlan, ControlPoint, CycleStatus, Direction,
    Ending, HostPlan, LinkOptions, LoopPath, LoopPlan, LoopPoint, Phase, StreamPlan, StreamPoint,
    Transfer, Xrun,
};
use wiregauge_run::{
    AnyRun, Control, Files, Life, Loop, RunWriter, State, Stored, Stream, list, write_csv,
};

const ROWS: u64 = 100;

/// What SIGKILL leaves of a run in this moment: its files as they are, and nobody who holds the lock.
fn killed(dir: &Path, home: &Path) -> PathBuf {
    let copy = home.join("killed");
    fs::create_dir_all(copy.join("samples")).unwrap();
    for from in [dir.to_owned(), dir.join("samples")] {
        for entry in fs::read_dir(&from).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let to = copy.join(entry.path().strip_prefix(dir).unwrap());
                fs::copy(entry.path(), to).unwrap();
            }
        }
    }
    copy
}

/// A run with a finished point and one in progress.
fn begun(home: &Path) -> (common::RunWriter, wiregauge_run::PointWriter) {
    let dir = home.join("run");
    let mut run = common::RunWriter::create(&dir, &plan(false), &conditions()).unwrap();
    let first = (point(0), summary(point(0), ROWS));
    common::store(&mut run, first, &samples(ROWS));
    let mut writer = run.begin_point(point(1)).unwrap();
    (0..ROWS).for_each(|i| writer.push(&sample(i), &[]).unwrap());
    writer.flush().unwrap();
    (run, writer)
}

fn rows(run: &Run, at: usize) -> Vec<wiregauge_record::Sample> {
    run.samples(at).unwrap().map(|row| row.unwrap().0).collect()
}

#[test]
fn a_killed_run_has_the_rows_of_the_point_in_progress() {
    let home = tempfile::tempdir().unwrap();
    let (writer, point_writer) = begun(home.path());
    let dir = killed(writer.dir(), home.path());
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.file.state, State::Running);
    assert_eq!(run.progress.life, Life::Killed);
    assert_eq!((run.progress.finished, run.file.points.len()), (1, 2));
    let cut = &run.file.points[1];
    assert_eq!((cut.point, &cut.ending), (point(1), &Ending::Interrupted));
    assert_eq!(cut.counts.exchanges, ROWS - 1, "the first is kept apart");
    assert_eq!(rows(&run, 1), samples(ROWS));
    assert_eq!(
        run.ending_line().unwrap(),
        "was killed (SIGKILL, a crash or a power cut) after 200 exchanges, 1 of 3 points complete"
    );
    let mut csv = Vec::new();
    assert_eq!(write_csv(&run, &mut csv, false).unwrap(), 2 * ROWS);
    drop((writer, point_writer));
}

#[test]
fn a_run_is_read_while_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    let (mut writer, mut point_writer) = begun(home.path());
    let run = Run::open(writer.dir()).unwrap();
    assert_eq!(run.progress.life, Life::Running);
    assert_eq!(run.state_word(), "running");
    assert_eq!(
        run.ending_line().unwrap(),
        "still running: 200 exchanges so far, 1 of 3 points complete"
    );
    assert_eq!(rows(&run, 1), samples(ROWS));
    // What comes later is no part of what was opened, wherever it is by then.
    (ROWS..2 * ROWS).for_each(|i| point_writer.push(&sample(i), &[]).unwrap());
    point_writer.flush().unwrap();
    assert_eq!(rows(&run, 1), samples(ROWS));
    let summary = summary(point(1), 2 * ROWS);
    writer.end_point(point_writer, summary).unwrap();
    assert_eq!(rows(&run, 1), samples(ROWS));
    let run = Run::open(writer.dir()).unwrap();
    assert_eq!(rows(&run, 1), samples(2 * ROWS));
}

/// What the column shows and the sentence below it must be the same number.
#[test]
fn the_list_tells_running_from_killed_and_counts_the_rows_that_the_sentence_on_the_ending_counts() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("first");
    let mut run = common::RunWriter::create(&dir, &plan(false), &conditions()).unwrap();
    let mut first = run.begin_point(point(0)).unwrap();
    (0..ROWS).for_each(|i| first.push(&sample(i), &[]).unwrap());
    first.flush().unwrap();
    let killed_in_the_first = home.path().join("copy");
    fs::rename(killed(&dir, home.path()), &killed_in_the_first).unwrap();
    let (writer, point_writer) = begun(home.path());
    killed(writer.dir(), home.path());
    let runs = list(home.path()).unwrap();
    for (name, state, points, rows) in [
        ("copy", "killed", 0, ROWS),
        ("killed", "killed", 1, 2 * ROWS),
        ("run", "running", 1, 2 * ROWS),
    ] {
        let listed = runs.iter().find(|run| run.name == name).unwrap();
        let ending = listed.ending.as_deref().unwrap();
        let found = (listed.state.as_str(), listed.points, listed.measured);
        assert_eq!(found, (state, points, rows), "{name}: {ending}");
        assert!(ending.contains(&format!(" {rows} exchanges")), "{ending}");
        if name == "killed" {
            let opened = Run::open(&listed.dir).unwrap();
            assert_eq!(Some(ending), opened.ending_line().as_deref());
        }
    }
    drop((run, first, writer, point_writer));
}

#[test]
fn a_journal_that_was_cut_gives_the_rows_before_the_cut() {
    let home = tempfile::tempdir().unwrap();
    let (writer, mut point_writer) = begun(home.path());
    for i in ROWS..2 * ROWS {
        point_writer.push(&sample(i), &[]).unwrap();
        point_writer.flush().unwrap();
    }
    let dir = killed(writer.dir(), home.path());
    let path = dir.join("samples/point-0001.rows");
    let whole = fs::read(&path).unwrap();
    let mut before = 2 * ROWS;
    for length in (0..whole.len()).rev().step_by(11) {
        fs::write(&path, &whole[..length]).unwrap();
        let run = Run::open(&dir).unwrap();
        let count = match run.file.points.len() {
            1 => 0,
            _ => {
                let read = rows(&run, 1);
                assert_eq!(read, samples(read.len() as u64));
                read.len() as u64
            }
        };
        let lost = before.checked_sub(count);
        assert!(lost.is_some_and(|lost| lost <= ROWS), "{count} {before}");
        before = count;
    }
    assert_eq!(before, 0);
    drop((writer, point_writer));
}

#[test]
fn a_byte_that_changed_ends_the_journal_there() {
    let home = tempfile::tempdir().unwrap();
    let (writer, mut point_writer) = begun(home.path());
    for i in ROWS..ROWS + 5 {
        point_writer.push(&sample(i), &[]).unwrap();
        point_writer.flush().unwrap();
    }
    let dir = killed(writer.dir(), home.path());
    let path = dir.join("samples/point-0001.rows");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= [0xFF, 0x80, 0x01, 0x10][at % 4];
        fs::write(&path, &changed).unwrap();
        let run = Run::open(&dir).unwrap();
        if run.file.points.len() == 2 {
            let read = rows(&run, 1);
            let noticed = read.len() < ROWS as usize + 5;
            assert!(noticed, "the change at {at}");
            assert_eq!(read, samples(read.len() as u64));
        }
    }
    drop((writer, point_writer));
}

#[test]
fn frames_of_another_journal_are_not_taken() {
    let home = tempfile::tempdir().unwrap();
    let (writer, point_writer) = begun(home.path());
    let dir = killed(writer.dir(), home.path());
    let path = dir.join("samples/point-0001.rows");
    let whole = fs::read(&path).unwrap();
    // The same frame again, and the journal of a point under another's name.
    let head = 16 + u32::from_le_bytes(whole[8..12].try_into().unwrap()) as usize;
    let again = [&whole[..], &whole[head..]].concat();
    fs::write(&path, again).unwrap();
    assert_eq!(rows(&Run::open(&dir).unwrap(), 1), samples(ROWS));
    fs::rename(&path, dir.join("samples/point-0002.rows")).unwrap();
    assert_eq!(Run::open(&dir).unwrap().file.points.len(), 1);
    drop((writer, point_writer));
}

#[test]
fn a_journal_whose_segment_is_complete_is_not_read_again() {
    let home = tempfile::tempdir().unwrap();
    let (mut writer, point_writer) = begun(home.path());
    let journal = writer.dir().join("samples/point-0001.rows");
    let kept = fs::read(&journal).unwrap();
    let summary = summary(point(1), ROWS);
    writer.end_point(point_writer, summary).unwrap();
    assert!(!journal.exists());
    // As if the power had been cut before the journal was removed.
    fs::write(&journal, kept).unwrap();
    let run = Run::open(writer.dir()).unwrap();
    assert_eq!(rows(&run, 1), samples(ROWS));
    assert_eq!(run.progress.rows, 2 * ROWS);
}

#[test]
fn a_run_that_ends_with_a_point_begun_keeps_its_rows() {
    let home = tempfile::tempdir().unwrap();
    let (mut writer, point_writer) = begun(home.path());
    drop(point_writer);
    writer.set_ended_by("SIGTERM");
    writer.finish(State::Interrupted).unwrap();
    let run = Run::open(writer.dir()).unwrap();
    assert_eq!(rows(&run, 1), samples(ROWS));
    assert_eq!(
        run.ending_line().unwrap(),
        "ended by SIGTERM after 200 exchanges, 1 of 3 points complete"
    );
    let AnyRun::Exchange(any) = AnyRun::open_brief(writer.dir()).unwrap() else {
        panic!("it is an exchange run");
    };
    assert_eq!(any.ending_line(), run.ending_line());
}

#[test]
fn a_directory_without_a_lock_file_claims_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (writer, point_writer) = begun(home.path());
    let dir = killed(writer.dir(), home.path());
    fs::remove_file(dir.join("run.lock")).unwrap();
    let run = Run::open(&dir).unwrap();
    assert_eq!(run.progress.life, Life::Unknown);
    assert_eq!(run.state_word(), "running or killed");
    drop((writer, point_writer));
}

/// Writes rows of a point and kills the writer.
fn killed_run<K: Files>(
    home: &Path,
    plan: &K::Plan,
    point: K::Point,
    rows: &[K::Row],
) -> wiregauge_run::Run<K> {
    let dir = home.join(K::NAME);
    let mut run = RunWriter::<K>::create(&dir, plan, &conditions()).unwrap();
    let mut writer = run.begin_point(point).unwrap();
    rows.iter().for_each(|row| writer.push(row, &[]).unwrap());
    writer.flush().unwrap();
    let copy = killed(&dir, &home.join(format!("copy of {}", K::NAME)));
    let run = wiregauge_run::Run::open(&copy).unwrap();
    let read: Vec<K::Row> = run.samples(0).unwrap().map(|row| row.unwrap().0).collect();
    assert_eq!(read, rows);
    assert_eq!(Stored::life(&run), Life::Killed);
    run
}

#[test]
fn a_killed_stream_has_a_summary_of_its_transfers() {
    let home = tempfile::tempdir().unwrap();
    let point = StreamPoint {
        direction: Direction::In,
        ..stream_point(0)
    };
    let plan = StreamPlan {
        points: vec![point],
        settle_ns: 0,
        rates_bytes_s: Vec::new(),
        ..stream_plan()
    };
    let rows: Vec<Transfer> = (0..ROWS)
        .map(|sequence| Transfer {
            sequence,
            submit_ns: sequence * 1000,
            complete_ns: sequence * 1000 + 900,
            bytes: 512,
            pending: 4,
            phase: Phase::Measured,
            ..Transfer::default()
        })
        .collect();
    let run = killed_run::<Stream>(home.path(), &plan, point, &rows);
    let flow = &run.file.points[0].flows[0];
    assert_eq!(flow.transfers, ROWS);
}

#[test]
fn a_killed_loop_has_a_summary_of_its_blocks() {
    let home = tempfile::tempdir().unwrap();
    let point = LoopPoint {
        index: 0,
        rate_hz: 1_000_000,
        channels: 1,
        notify_bytes: 4096,
        ring_bytes: 1 << 20,
        preload_bytes: 8192,
        aim: Aim::Curve,
        path: LoopPath::Cpu,
    };
    let plan = LoopPlan {
        points: vec![point],
        find: false,
        ..loop_plan()
    };
    let rows: Vec<Block> = (0..ROWS)
        .map(|sequence| Block {
            sequence,
            due_ns: (sequence + 1) * 2_048_000,
            begun_ns: (sequence + 1) * 2_048_000 + 10_000,
            done_ns: (sequence + 1) * 2_048_000 + 50_000,
            xrun: [Xrun::None, Xrun::Underrun][usize::from(sequence == 7)],
            phase: Phase::Measured,
        })
        .collect();
    let run = killed_run::<Loop>(home.path(), &plan, point, &rows);
    let cut = &run.file.points[0];
    assert_eq!((cut.blocks, cut.underruns, cut.overruns), (ROWS, 1, 0));
}

#[test]
fn a_killed_control_loop_has_a_summary_of_its_cycles() {
    let home = tempfile::tempdir().unwrap();
    let point = ControlPoint {
        index: 0,
        period_ns: 1_000_000,
        depth: 1,
        step: 1.0,
    };
    let plan = ControlPlan {
        address: "tcp://127.0.0.1:7700".to_owned(),
        link: LinkOptions::default(),
        host: HostPlan::default(),
        cycles: ROWS,
        timeout_ns: 1_000_000,
        model: ControlModel::default(),
        point,
    };
    let rows: Vec<ControlCycle> = (0..ROWS)
        .map(|sequence| ControlCycle {
            sequence,
            status: [CycleStatus::Ok, CycleStatus::SampleLost][usize::from(sequence == 3)],
            sample_device_ns: 1000 * sequence,
            command_device_ns: 1000 * sequence + 300,
            y1: 0.1 * sequence as f64,
            ..ControlCycle::default()
        })
        .collect();
    let run = killed_run::<Control>(home.path(), &plan, point, &rows);
    let cut = &run.file.points[0];
    assert_eq!((cut.cycles, cut.samples_lost, cut.unsent), (ROWS, 1, 0));
    assert_eq!(cut.delay.as_ref().unwrap().max, 300.0);
    assert_eq!(cut.cost, None, "it takes the model of the loop");
}
