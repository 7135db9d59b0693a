//! A run directory from a stranger: a damaged `run.json` and a damaged sample file are refused with
//! a message, whatever is wrong with them; a damaged journal gives the rows before the damage.
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
use wiregauge_run::{AnyRun, Run, RunWriter, State, with_run};

/// Samples in the run that is damaged.
const SAMPLES: u64 = 64;

/// Samples read at most: a damaged file may claim any number.
const READ: usize = 100_000;

/// The files of a sound run: `run.json` and journal while it was written, `run.json` and sample file at its end.
#[derive(Clone)]
struct Files {
    begun_json: Vec<u8>,
    journal: Vec<u8>,
    run_json: Vec<u8>,
    samples: Vec<u8>,
}

/// Runs without and with the bytes of the answers.
static SOUND: LazyLock<[Files; 2]> = LazyLock::new(|| [sound_run(false), sound_run(true)]);

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
        let mut files = SOUND[usize::from(how & 1)].clone();
        let other = &SOUND[usize::from(!how & 1)];
        let (mut has_samples, mut has_journal) = (true, false);
        match how >> 1 & 7 {
            0 => files.run_json = recipe.bytes(usize::MAX).to_vec(),
            1 => files.samples = recipe.bytes(usize::MAX).to_vec(),
            2 => damage(&mut recipe, &mut files.run_json),
            3 => damage(&mut recipe, &mut files.samples),
            how => {
                files.run_json.clone_from(&files.begun_json);
                (has_samples, has_journal) = (false, true);
                match how {
                    4 => files.journal = recipe.bytes(usize::MAX).to_vec(),
                    5 => damage(&mut recipe, &mut files.journal),
                    6 => mix(&mut recipe, &mut files.journal, &other.journal),
                    // Both files of a segment, of a run that says nothing of the point.
                    _ => {
                        has_samples = true;
                        damage(&mut recipe, &mut files.samples);
                        damage(&mut recipe, &mut files.journal);
                    }
                }
            }
        }
        let place = PLACE.path();
        replace(&place.join("run.json"), Some(&files.run_json[..]));
        let samples = has_samples.then_some(&files.samples[..]);
        replace(&place.join("samples/point-0000.parquet"), samples);
        let journal = has_journal.then_some(&files.journal[..]);
        replace(&place.join("samples/point-0000.rows"), journal);
        read(place);
    }
);

/// Removed first: some file systems wait for the disk where a file is cut to nothing and rewritten.
fn replace(path: &Path, bytes: Option<&[u8]>) {
    let _ = fs::remove_file(path);
    if let Some(bytes) = bytes {
        fs::write(path, bytes).expect("written");
    }
}

/// Puts pieces of two journals together.
fn mix(recipe: &mut Recipe<'_>, file: &mut Vec<u8>, other: &[u8]) {
    let whole = std::mem::take(file);
    while let Some(which) = recipe.byte() {
        let source = if which & 1 == 0 { &whole[..] } else { other };
        let at = usize::from(recipe.number()) % source.len();
        let length = usize::from(recipe.number()) % (source.len() - at);
        file.extend_from_slice(&source[at..at + length]);
    }
}

fn read(place: &Path) {
    match AnyRun::open(place) {
        Ok(run) => with_run!(&run, run => read_points(run)),
        Err(error) => assert!(error.to_string().contains("run.json"), "{error}"),
    }
}

fn read_points<K: wiregauge_run::Files>(run: &Run<K>) {
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

fn sound_run(keep_data: bool) -> Files {
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
        if sequence % 16 == 15 {
            samples.flush().expect("stored");
        }
    }
    let read = |name: &str| fs::read(dir.join(name)).expect("was written");
    let (begun_json, journal) = (read("run.json"), read("samples/point-0000.rows"));
    let summary = summariser.finish(Ending::Complete, 0, Some(1), ResourceUse::default());
    run.end_point(samples, summary).expect("stored");
    run.finish(State::Complete).expect("stored");
    Files {
        begun_json,
        journal,
        run_json: read("run.json"),
        samples: read("samples/point-0000.parquet"),
    }
}
