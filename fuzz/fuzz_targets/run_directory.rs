//! A run directory from a stranger: a damaged `run.json` and a damaged sample file are refused with
//! a message, whatever is wrong with them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;
use wiregauge_fuzz::Recipe;
use wiregauge_record::{
    Conditions, Connect, Ending, HostPlan, Limit, LinkOptions, Phase, Plan, Point, Protocol,
    ResourceUse, Sample, Schedule, Summariser, Wait,
};
use wiregauge_run::{AnyRun, Run, RunKind, RunWriter, State};

/// Samples in the run that is damaged.
const SAMPLES: u64 = 64;

/// Samples read at most: a damaged file may claim any number.
const READ: usize = 100_000;

/// A sound run: its `run.json` and its one sample file, without and with the bytes of the answers.
static SOUND: LazyLock<[(Vec<u8>, Vec<u8>); 2]> =
    LazyLock::new(|| [sound_run(false), sound_run(true)]);

/// Where the damaged run lies; one directory for all, because making one costs more than reading.
static PLACE: LazyLock<TempDir> = LazyLock::new(|| {
    let place = tempfile::tempdir().expect("a place for the run");
    fs::create_dir(place.path().join("samples")).expect("a place for its samples");
    place
});

fuzz_target!(
    // The reader contains panics of the Parquet crate; libfuzzer's hook would abort at each. One
    // that is not contained still ends the fuzzing.
    init: std::panic::set_hook(Box::new(|_| {})),
    |bytes: &[u8]| {
        let mut recipe = Recipe::new(bytes);
        let how = recipe.byte().unwrap_or(0);
        let (mut run_json, mut samples) = SOUND[usize::from(how & 1)].clone();
        match how >> 1 & 3 {
            0 => run_json = recipe.bytes(usize::MAX).to_vec(),
            1 => samples = recipe.bytes(usize::MAX).to_vec(),
            2 => damage(&mut recipe, &mut run_json),
            _ => damage(&mut recipe, &mut samples),
        }
        let place = PLACE.path();
        replace(&place.join("run.json"), &run_json);
        replace(&place.join("samples/point-0000.parquet"), &samples);
        read(place);
    }
);

/// Removed first: some file systems wait for the disk where a file is cut to nothing and rewritten.
fn replace(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).expect("written");
}

fn read(place: &Path) {
    match AnyRun::open(place) {
        Ok(AnyRun::Exchange(run)) => read_points(&run),
        Ok(AnyRun::Stream(run)) => read_points(&run),
        Ok(AnyRun::Loop(run)) => read_points(&run),
        Ok(AnyRun::Control(run)) => read_points(&run),
        Err(error) => assert!(error.to_string().contains("run.json"), "{error}"),
    }
}

fn read_points<K: RunKind>(run: &Run<K>) {
    for point in 0..run.file.points.len().min(3) {
        let Ok(samples) = run.samples(point) else {
            continue;
        };
        let mut ended = false;
        for sample in samples.take(READ) {
            assert!(!ended, "after an error it ends");
            ended = sample.is_err();
        }
    }
    let _ = wiregauge_run::write_json(run, &mut std::io::sink());
}

/// Changes, cuts, removes and adds bytes; three to four bytes of the recipe for each.
fn damage(recipe: &mut Recipe<'_>, file: &mut Vec<u8>) {
    while let Some(step) = recipe.byte() {
        // From the end as well: that is where Parquet keeps what it says of itself.
        let at = usize::from(recipe.number());
        let at = if step & 0x80 == 0 {
            at
        } else {
            file.len().saturating_sub(at)
        };
        if file.is_empty() {
            return;
        }
        let at = at % file.len();
        match step % 5 {
            0 => file[at] ^= 1 << (step / 5 % 8),
            1 => file[at] = recipe.byte().unwrap_or(0xff),
            2 => file.insert(at, recipe.byte().unwrap_or(0)),
            3 => drop(file.drain(at..file.len().min(at + 1 + usize::from(step / 5 % 8)))),
            _ => file.truncate(at),
        }
    }
}

fn sound_run(keep_data: bool) -> (Vec<u8>, Vec<u8>) {
    let place = tempfile::tempdir().expect("a place for a run");
    let dir = place.path().join("run");
    let point = Point {
        index: 0,
        out_bytes: 16,
        in_bytes: 48,
        depth: 1,
        link: 0,
        together: false,
    };
    let plan = Plan {
        address: "tcp://127.0.0.1:7700".into(),
        more_links: Vec::new(),
        protocol: Protocol::Wiregauge,
        queries: None,
        connect: Connect::Once,
        points: vec![point],
        limit: Limit::Count(SAMPLES),
        warmup: 0,
        schedule: Schedule::EveryNs(1_000_000),
        batch: None,
        timeout_ns: 1_000_000_000,
        give_up: 10,
        wait: Wait::Block,
        below_ns: vec![6_000_000],
        keep_data,
        calibrate: true,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    };
    let mut summariser = Summariser::new(&plan, point, None);
    let begun = RunWriter::create(&dir, &plan, &Conditions::default());
    let mut run: RunWriter = begun.expect("a new run");
    let mut samples = run.begin_point(point).expect("a new point");
    for sequence in 0..SAMPLES {
        let sample = Sample {
            sequence,
            intended_ns: sequence * 1_000_000,
            start_ns: sequence * 1_000_000 + 700,
            rtt_ns: 45_000 + sequence * sequence % 977,
            bytes_out: 16,
            bytes_in: 48,
            outstanding: 1,
            phase: if sequence == 0 {
                Phase::First
            } else {
                Phase::Measured
            },
            ..Sample::default()
        };
        summariser.push(&sample);
        samples
            .push(&sample, &[7; 48][..if keep_data { 48 } else { 0 }])
            .expect("stored");
    }
    let summary = summariser.finish(Ending::Complete, 0, Some(1), ResourceUse::default());
    run.end_point(samples, summary).expect("stored");
    run.finish(State::Complete).expect("stored");
    let read = |name: &str| fs::read(dir.join(name)).expect("was written");
    (read("run.json"), read("samples/point-0000.parquet"))
}
