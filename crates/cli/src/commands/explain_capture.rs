//! `wiregauge explain FILE.pcapng`: where the time of a USB bus went, by a capture of its packets or of a host's URBs.

use super::{figure_files, printed};
use crate::Outcome;
use crate::args::{ExplainArgs, FigureFormat};
use crate::caller::Session;
use crate::failure::StorageFailed;
use crate::output::captured;
use crate::output::files;
use anyhow::{anyhow, bail};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wiregauge_capture::{Explained, Picture, ReadError, Window, explain, picture};
use wiregauge_report::figures;

/// How captures are named.
const ENDINGS: [&str; 5] = ["pcapng", "pcap", "cap", "ntar", "csv"];
/// Rows of the figure, and of a page, which scrolls.
const FRAMES: usize = 32;
const FRAMES_OF_PAGE: usize = 200;
/// Columns of its text.
const WIDTH_OF_PAGE: usize = 110;

/// The capture that is meant, if it is one and not a run.
pub(super) fn file_of(run: &str) -> Option<PathBuf> {
    let path = PathBuf::from(run);
    let named = path.extension().is_some_and(|ending| {
        let ending = ending.to_string_lossy().to_lowercase();
        ENDINGS.contains(&ending.as_str())
    });
    // A run has a file of its own that ends so.
    let is_file = path.is_file() && path.extension().is_none_or(|ending| ending != "json");
    (named && !path.is_dir() || is_file).then_some(path)
}

/// Refuses what a run has no use for.
pub(super) fn refuse_flags(args: &ExplainArgs) -> anyhow::Result<()> {
    let given = [
        ("--endpoint", args.endpoint.is_some()),
        ("--begin", args.begin.is_some()),
        ("--end", args.end.is_some()),
        ("--figure", args.figure.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => bail!(
            "{flag} is for captures of a USB bus, and {} is not a file\n  hint: wiregauge explain FILE.pcapng {flag} ...",
            args.run
        ),
        None => Ok(()),
    }
}

/// Runs the command.
pub(super) fn run(
    file: &Path,
    args: &ExplainArgs,
    session: &Session<'_>,
) -> anyhow::Result<Outcome> {
    if !args.predict.is_empty() {
        bail!(
            "--predict needs a stored run of several settings, and {} is a capture",
            file.display()
        );
    }
    let figure = match args.figure.as_deref() {
        Some(figure) => Some((figure, check_figure(figure, args)?)),
        None => None,
    };
    let window = window(args)?;
    let mut explained =
        explain(|| File::open(file), window).map_err(|error| failed(file, error))?;
    only(&mut explained, args)?;
    if figure.is_some() && !matches!(explained, Explained::Bus(_)) {
        bail!("a capture of URBs has no packets to draw: --figure needs a capture of the bus");
    }
    let mut out = session.caller.words();
    if args.json {
        let mut value = serde_json::to_value(&explained)?;
        value["file"] = file.display().to_string().into();
        printed::json(&mut out, &value)?;
    } else {
        captured::print(&mut out, &explained, session.caller.width())?;
    }
    out.flush()?;
    drop(out);
    if let Some(figure) = figure {
        let frames = draw(file, figure, args, (window, &explained), session)?;
        if !args.json {
            let which = match args.begin {
                Some(_) => "from --begin on",
                None => "around the median data packet",
            };
            let out = &mut session.caller.words();
            writeln!(
                out,
                "\nwrote {} (frames {which}: {frames})",
                figure.0.display()
            )?;
        }
    }
    Ok(Outcome::Done)
}

fn window(args: &ExplainArgs) -> anyhow::Result<Window> {
    let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let window = Window {
        from_ns: args.begin.map_or(0, ns),
        to_ns: args.end.map_or(u64::MAX, ns),
    };
    if window.from_ns >= window.to_ns {
        let s = |ns: u64| ns as f64 / 1e9;
        bail!(
            "--begin {} s is not before --end {} s",
            s(window.from_ns),
            s(window.to_ns)
        );
    }
    Ok(window)
}

/// Leaves the endpoint that is wanted.
fn only(explained: &mut Explained, args: &ExplainArgs) -> anyhow::Result<()> {
    let Some(wanted) = args.endpoint else {
        return Ok(());
    };
    let there: Vec<u8> = match &*explained {
        Explained::Bus(bus) => bus
            .endpoints
            .iter()
            .map(|one| one.endpoint.endpoint)
            .collect(),
        Explained::Urbs(host) => host.endpoints.iter().map(|one| one.endpoint).collect(),
    };
    if !there.contains(&wanted) {
        let mut names: Vec<String> = there.iter().map(|one| format!("0x{one:02x}")).collect();
        names.dedup();
        bail!(
            "the capture has no endpoint 0x{wanted:02x}\n  hint: it has {}",
            names.join(", ")
        );
    }
    match explained {
        Explained::Bus(bus) => bus.endpoints.retain(|one| one.endpoint.endpoint == wanted),
        Explained::Urbs(host) => host.endpoints.retain(|one| one.endpoint == wanted),
    }
    Ok(())
}

fn failed(file: &Path, error: ReadError) -> anyhow::Error {
    let name = file.display();
    match error {
        ReadError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
            anyhow!(
                "cannot open {name}: {error}\n  hint: check the path; `wiregauge runs` lists stored runs"
            )
        }
        ReadError::Io { error, .. } => {
            anyhow::Error::new(StorageFailed(error)).context(format!("cannot read {name}"))
        }
        ReadError::Window { duration_ns } => anyhow!(
            "no packets between --begin and --end: the capture lasts {:.3} s",
            duration_ns as f64 / 1e9
        ),
        other => anyhow!("cannot read {name}: {other}"),
    }
}

/// The format of the figure, `None` of a page. Refuses one that cannot be written, before the capture is read.
fn check_figure(figure: &Path, args: &ExplainArgs) -> anyhow::Result<Option<FigureFormat>> {
    if args.endpoint.is_some() {
        bail!(
            "--figure draws all endpoints, and cannot be combined with --endpoint\n  hint: omit --endpoint, or choose the frames \
             with --begin"
        );
    }
    match figure.extension().is_some_and(|ending| ending == "html") {
        true => files::check(figure, args.force.force).map(|()| None),
        false => figure_files::check(figure, args.force.force).map(Some),
    }
}

/// Draws frames of the capture; returns how many.
fn draw(
    file: &Path,
    (figure, format): (&Path, Option<FigureFormat>),
    args: &ExplainArgs,
    (window, explained): (Window, &Explained),
    session: &Session<'_>,
) -> anyhow::Result<usize> {
    let most = match format {
        None => FRAMES_OF_PAGE,
        Some(_) => FRAMES,
    };
    let from_begin = args.begin.is_some();
    let drawn: Picture = picture(|| File::open(file), window, most, from_begin)
        .map_err(|error| failed(file, error))?;
    let force = args.force.force;
    if let Some(format) = format {
        figure_files::write((figure, force), &figures::of_bus(&drawn), format, session)?;
    } else {
        let mut words = Vec::new();
        captured::print(&mut words, explained, WIDTH_OF_PAGE)?;
        let words = anstream::adapter::strip_bytes(&words).into_vec();
        let name = file.file_name().unwrap_or(file.as_os_str());
        let (name, words) = (name.to_string_lossy(), String::from_utf8_lossy(&words));
        let page = wiregauge_report::page::bus_page(&name, &words, &drawn);
        files::write(figure, page.as_bytes(), force, session.caller)?;
        session.caller.wrote(figure);
    }
    Ok(drawn.rows.len())
}
