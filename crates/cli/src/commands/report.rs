//! `wiregauge report`: a page of stored runs, or their figures as files.

use super::cycles::{self, Requested};
use super::figure_files::write_figures;
use super::{ending, explain_capture, loop_assessment};
use crate::Outcome;
use crate::args::ReportArgs;
use crate::caller::{Session, remark};
use crate::loop_model::{self, LoopModel};
use crate::output::files::{self, address_of, size};
use crate::output::progress::Meter;
use crate::output::style::{CAUTION, RESET};
use anyhow::{Context, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use wiregauge_compare::Comparison;
use wiregauge_report::figures::{self, Figure};
use wiregauge_report::load::ControlLoop;
use wiregauge_report::{ControlReport, Subject, labels, page, tables};
use wiregauge_run::{AnyRun, Exchange};

/// What the page and the bar on the way to it are called.
const PAGE: &str = "report.html";

/// Runs the command.
pub fn run(args: &ReportArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    if let Some(capture) = args
        .runs
        .iter()
        .find_map(|run| explain_capture::file_of(run))
    {
        let name = capture.display();
        bail!(
            "{name} is a capture of a bus, not a run\n  hint: wiregauge explain {name} --figure bus.html draws a page of its frames"
        );
    }
    let home = wiregauge_run::runs_home();
    let runs = args.runs.iter().map(|run| wiregauge_run::find(&home, run));
    let mut runs = runs.collect::<Result<Vec<AnyRun>, _>>()?;
    let piped = place(args, &runs).is_some_and(|place| files::is_stdout(&place));
    ending::print(
        runs.iter().map(AnyRun::stored),
        piped || args.quiet,
        session,
    )?;
    let has_deeper = |run: &AnyRun| run.as_kind::<Exchange>().is_some_and(cycles::has_deeper);
    // Also at points that are left out here.
    let deeper: Vec<bool> = runs.iter().map(has_deeper).collect();
    let mut chosen = Vec::new();
    if let Some(points) = &args.points {
        points.check(runs.iter())?;
        for run in &mut runs {
            chosen.push(points.apply(run)?);
        }
    }
    let place = place(args, &runs);
    // What cannot be written is better known before the samples are read than after.
    if let Some(place) = &place {
        files::check(place, may_replace(place, args))?;
    }
    if let Some(dir) = &args.figures {
        files::directory(dir)?;
    }
    let loops = loops(args, &runs)?;
    let cycles = cycles(args, (&runs, &deeper), &loops, session)?;
    let mut subjects = load(runs, &cycles, session.caller.meter(args.quiet));
    if !loops.is_empty() {
        compute(&mut subjects, &loops, args, session)?;
    }
    for (subject, which) in subjects.iter_mut().zip(&chosen) {
        subject.tables.heading.push(which.clone());
    }
    let mut drawn = figures::of(&subjects);
    if let [which, ..] = &chosen[..] {
        for figure in &mut drawn {
            figure.caption.push(' ');
            figure.caption.push_str(which);
        }
    }
    let compared = compared(&subjects);
    let tell = |line: String| -> std::io::Result<()> {
        match (args.quiet, piped) {
            (true, _) => Ok(()),
            (false, true) => writeln!(session.caller.remarks(), "{line}"),
            (false, false) => writeln!(session.caller.words(), "{line}"),
        }
    };
    complain(&subjects, session);
    if let Some(dir) = &args.figures {
        let of_loops = subjects.iter().filter_map(|one| one.control.as_ref());
        let of_loops = of_loops.flat_map(ControlReport::figures);
        let files: Vec<&Figure> = of_loops.chain(&drawn).collect();
        if files.is_empty() {
            let why = format!(
                "these runs have nothing to draw: no figure was written to {}",
                dir.display()
            );
            if place.is_none() {
                bail!(why);
            }
            remark!(session, "{CAUTION}warning:{RESET} {why}");
        }
        for line in write_figures((dir, args.force.force), files, &args.format, session)? {
            tell(line)?;
        }
    }
    if let Some(place) = &place {
        let comparisons: Vec<_> = compared.iter().map(tables::of_comparison).collect();
        let html = page::html(&subjects, &drawn, &comparisons);
        files::write(
            place,
            html.as_bytes(),
            may_replace(place, args),
            session.caller,
        )?;
        if !piped {
            session.caller.wrote(place);
        }
        if !piped {
            let (name, size) = (place.display(), size(html.len()));
            tell(format!("wrote {name} ({size})\n  {}", address_of(place)))?;
        }
    }
    Ok(Outcome::Done)
}

/// True if the page may take the place of a file with content: that of an earlier page, or of anything with --force.
fn may_replace(place: &Path, args: &ReportArgs) -> bool {
    args.force.force || files::is_page(place)
}

/// Where the page goes; `None` if only figures are wanted.
fn place(args: &ReportArgs, runs: &[AnyRun]) -> Option<PathBuf> {
    match (&args.output, &args.figures, runs) {
        (Some(file), _, _) => Some(file.clone()),
        (None, Some(_), _) => None,
        (None, None, [only]) => Some(only.stored().dir().join(PAGE)),
        // It belongs to none of them more than to the others.
        (None, None, _) => Some(PathBuf::from(PAGE)),
    }
}

/// The cycles that were asked for of each run; `None`: those of its schedule. With a control loop they are its cycles,
/// in which a response after the deadline is ignored.
fn cycles(
    args: &ReportArgs,
    (runs, deeper): (&[AnyRun], &[bool]),
    loops: &[LoopModel],
    session: &Session<'_>,
) -> anyhow::Result<Vec<Option<ControlLoop>>> {
    let of_flags = Requested {
        period: args.model.period,
        deadline: args.misses.deadline,
        jitter: args.jitter,
        beyond: None,
    };
    let control_loop = |(run, &deeper): (&AnyRun, &bool), requested| {
        let run = cycles::exchange_run(run)?;
        let all: Vec<usize> = (0..run.file.points.len()).collect();
        cycles::control_loop(requested, run, &all, deeper, "--points")
    };
    let runs = runs.iter().zip(deeper);
    if !loops.is_empty() {
        let of_loop = |((run, deeper), of): ((&AnyRun, &bool), &LoopModel)| {
            let requested = Requested {
                period: Some(Duration::from_nanos(of.model.period_ns())),
                deadline: of.rules.deadline_ns.map(Duration::from_nanos),
                ..of_flags
            };
            control_loop((run, deeper), requested)
                .inspect_err(|error| {
                    remark!(
                        session,
                        "{CAUTION}warning:{RESET} {}: cannot count missed cycles of the loop: {error}",
                        run.stored().name()
                    );
                })
                .ok()
        };
        return Ok(runs.zip(loops).map(of_loop).collect());
    }
    let is_given = [of_flags.period, of_flags.deadline, of_flags.jitter];
    match is_given.iter().any(Option::is_some) {
        true => runs
            .map(|run| control_loop(run, of_flags).map(Some))
            .collect(),
        false => Ok(vec![None; runs.len()]),
    }
}

/// Reads the samples of all runs.
fn load(runs: Vec<AnyRun>, cycles: &[Option<ControlLoop>], meter: Box<dyn Meter>) -> Vec<Subject> {
    let labels = labels(runs.iter().map(AnyRun::stored));
    let rows = |run: &AnyRun| run.stored().measured().max(1) as f64;
    let all: f64 = runs.iter().map(rows).sum();
    // What gathers the samples tells of it from several threads.
    let meter = Mutex::new(meter);
    let tell = |f: &dyn Fn(&mut dyn Meter)| {
        if let Ok(mut meter) = meter.lock() {
            f(meter.as_mut());
        }
    };
    let mut done = 0.0;
    let mut subjects = Vec::new();
    for ((label, run), &cycles) in labels.into_iter().zip(runs).zip(cycles) {
        let part = rows(&run) / all;
        tell(&|meter| meter.says(format!("reading {label}")));
        let printed = tables::of(&run, true);
        let subject = Subject::load(label, run, printed, cycles, &|within| {
            tell(&|meter| meter.update(done + part * within));
        });
        done += part;
        subjects.push(subject);
    }
    tell(&|meter| meter.clear());
    subjects
}

/// The control loop of each run; empty if none was given.
fn loops(args: &ReportArgs, runs: &[AnyRun]) -> anyhow::Result<Vec<LoopModel>> {
    if !loop_model::is_given(&args.model, &args.misses) {
        return Ok(Vec::new());
    }
    let of_run = |run: &AnyRun| {
        let run = loop_assessment::exchange_run(run)?;
        let period = loop_assessment::period_of(run);
        loop_model::resolve(&args.model, &args.misses, period).with_context(|| run.name())
    };
    runs.iter().map(of_run).collect()
}

/// Computes what the delays of every run do to its loop.
fn compute(
    subjects: &mut [Subject],
    loops: &[LoopModel],
    args: &ReportArgs,
    session: &Session<'_>,
) -> anyhow::Result<()> {
    let described = loop_model::described(&args.model, &args.misses)?;
    let has_several = subjects.len() > 1;
    let mut meter = session.caller.meter(args.quiet);
    let all = subjects.len() as f64;
    for (at, (subject, asked)) in subjects.iter_mut().zip(loops).enumerate() {
        // `loops` has refused all others.
        let Some(run) = subject.run.as_kind::<Exchange>() else {
            continue;
        };
        let points: Vec<usize> = (0..run.file.points.len()).collect();
        meter.says(format!("computing the control loop of {}", subject.label));
        let controls = loop_assessment::assess(run, &points, asked, &mut |part| {
            meter.update((at as f64 + part) / all);
        })?;
        let ending = match has_several {
            true => format!("-run{}", at + 1),
            false => String::new(),
        };
        let report = ControlReport::of(&run.file, &controls, described.clone(), &ending);
        subject.control = Some(report);
    }
    meter.clear();
    Ok(())
}

/// The first run against each of the others that is of its kind and has points in common with it.
fn compared(subjects: &[Subject]) -> Vec<Comparison> {
    let Some((first, others)) = subjects.split_first() else {
        return Vec::new();
    };
    let compare = |other: &Subject| {
        let (before, after) = (&*first.run, &*other.run);
        // Where there is nothing to compare, the page says so beside the figures.
        let compared =
            wiregauge_compare::compare(&[before], &[after], &[], &|_| true, &|_| {}).ok()?;
        (!compared.points.is_empty()).then_some(compared)
    };
    others.iter().filter_map(compare).collect()
}

/// Says what is missing in the figures, so that nobody takes a part for the whole.
fn complain(subjects: &[Subject], session: &Session<'_>) {
    for subject in subjects {
        let run = &subject.run;
        let missing = subject.loaded.missing();
        if let Some((at, why)) = missing.first() {
            let more = match missing.len() {
                1 => String::new(),
                several => format!(" (and of {} more rows)", several - 1),
            };
            remark!(
                session,
                "{CAUTION}warning:{RESET} {}: cannot draw the samples of row {}{more}: {why}",
                run.name(),
                at + 1
            );
        }
        if run.points() == 0 {
            remark!(
                session,
                "{CAUTION}warning:{RESET} {}: no point was finished: there is nothing to draw",
                run.name()
            );
        }
    }
}
