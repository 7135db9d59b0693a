//! The points of an exchange run that the flags choose.

use crate::args::PointArgs;
use crate::values::Sizes;
use anyhow::bail;
use wiregauge_record::Point;
use wiregauge_run::{Exchange, Run};

/// The chosen points, by their place in the run.
pub(super) fn chosen(args: &PointArgs, run: &Run<Exchange>) -> anyhow::Result<Vec<usize>> {
    let points = &run.file.points;
    if points.is_empty() {
        bail!(
            "{}: no point was finished: there is nothing to report",
            run.name()
        );
    }
    let among =
        |asked: &Option<Sizes>, value| asked.as_ref().is_none_or(|sizes| sizes.0.contains(&value));
    let wanted = |point: &Point| {
        (args.point.is_empty() || args.point.contains(&point.index))
            && among(&args.in_sizes, point.in_bytes)
            && among(&args.out_sizes, point.out_bytes)
            && among(&args.depth, point.depth)
    };
    let places = points.iter().enumerate();
    let chosen: Vec<usize> = places
        .filter(|(_, summary)| wanted(&summary.point))
        .map(|(at, _)| at)
        .collect();
    if chosen.is_empty() {
        let there: Vec<String> = points
            .iter()
            .take(8)
            .map(|summary| format!("--point {} ({})", summary.point.index, summary.point))
            .collect();
        let more = match points.len() > there.len() {
            true => format!("; and {} more", points.len() - there.len()),
            false => String::new(),
        };
        bail!(
            "{} has no such point; it has {}{more}",
            run.name(),
            there.join("; ")
        );
    }
    Ok(chosen)
}
