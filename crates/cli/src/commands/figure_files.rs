//! Figures as files: one under the name that was given, or several in a directory.

use crate::args::FigureFormat;
use crate::caller::Session;
use crate::output::files::{self, size};
use anyhow::bail;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use wiregauge_report::figures::{Figure, NoPng};

/// Pixels of a PNG for each pixel of the SVG: 300 dpi at the width of a page.
const SCALE: f32 = 3.0;

/// The format of a figure by the name of its file. A file that cannot be written is better known before the work than after it.
pub fn check(path: &Path, force: bool) -> anyhow::Result<FigureFormat> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let format = match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => FigureFormat::Svg,
        Some("png") => FigureFormat::Png,
        _ => bail!(
            "cannot write a figure to {}: the name must end in .svg or .png",
            path.display()
        ),
    };
    if format == FigureFormat::Png {
        NoPng::check()?;
    }
    files::check(path, force)?;
    Ok(format)
}

/// Writes a figure; returns the line that says so.
pub fn write(
    (path, force): (&Path, bool),
    figure: &Figure,
    format: FigureFormat,
    session: &Session<'_>,
) -> anyhow::Result<String> {
    let bytes = match format {
        FigureFormat::Svg => figure.svg.clone().into_bytes(),
        FigureFormat::Png => figure.png(SCALE)?,
    };
    files::write(path, &bytes, force, session.caller)?;
    session.caller.wrote(path);
    Ok(format!("wrote {} ({})", path.display(), size(bytes.len())))
}

/// Writes every figure in every format, or none if a file is in the way; gives what to tell.
pub fn write_figures<'a>(
    (dir, force): (&Path, bool),
    figures: impl IntoIterator<Item = &'a Figure>,
    formats: &[FigureFormat],
    session: &Session<'_>,
) -> anyhow::Result<Vec<String>> {
    let formats = match (formats, NoPng::check()) {
        ([], Ok(())) => &[FigureFormat::Svg, FigureFormat::Png],
        ([], Err(NoPng)) => &[FigureFormat::Svg][..],
        (formats, can_png) => {
            if formats.contains(&FigureFormat::Png) {
                can_png?;
            }
            formats
        }
    };
    let mut drawn: Vec<(PathBuf, &Figure, FigureFormat)> = Vec::new();
    let mut names = HashSet::new();
    for figure in figures {
        for format in formats {
            let path = dir.join(format!("{}.{}", figure.name, format.ending()));
            // Names of figures differ; the same format may be asked for twice.
            if names.insert(path.clone()) {
                files::check(&path, force)?;
                drawn.push((path, figure, *format));
            }
        }
    }
    let mut lines = Vec::new();
    for (path, figure, format) in drawn {
        lines.push(write((&path, force), figure, format, session)?);
    }
    Ok(lines)
}
