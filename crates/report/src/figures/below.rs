//! The share of exchanges below each `--below` limit, on a percentile axis: 99 % and 99.9 % are as far
//! apart as 90 % and 99 %, and the interval says how sure that is.

use super::Figure;
use super::axes::Axis;
use super::canvas::{Canvas, Entry, Key};
use super::cells::{distinct, few, links, listed_points, only};
use super::look::Series;
use crate::Subject;
use wiregauge_quantity::exact_time;
use wiregauge_record::PointSummary;

const MOST_POINTS: usize = 16;
const MOST_LIMITS: usize = 4;

pub(crate) fn draw(subjects: &[Subject]) -> Vec<Figure> {
    let is_drawn = |p: &PointSummary| !p.below.is_empty() && p.counts.exchanges > 0;
    let Some((drawn, y, left_out)) = listed_points(subjects, is_drawn, MOST_POINTS) else {
        return Vec::new();
    };
    let shares = || drawn.iter().flat_map(|cell| &cell.summary.below);
    let limits = distinct(shares().map(|share| share.limit));
    let (limits, limits_left_out) = few(&limits, MOST_LIMITS, "limits", |at| exact_time(*at));

    let entry = |(n, limit): (usize, &u64)| {
        Key::Mark(Series::of(n)).named(format!("below {}", exact_time(*limit)))
    };
    let legend: Vec<Entry> = limits.iter().enumerate().map(entry).collect();
    let most = drawn
        .iter()
        .map(|cell| cell.summary.counts.exchanges)
        .max()
        .unwrap_or(1);
    let canvas = Canvas::new(90 + 34 * drawn.len() as u32, &legend);
    let x = Axis::percentiles("Percentage below the limit (percentile axis)", most);
    let frame = canvas.frame(canvas.place(), "", x, y);
    for (n, limit) in limits.iter().enumerate() {
        // Beside each other, so that none hides another.
        let beside = (limits.len() as f64 / 2.0 - n as f64 - 0.5) * 0.2;
        let series = Series::of(n);
        frame.open("shares");
        for (slot, cell) in drawn.iter().rev().enumerate() {
            let y = slot as f64 + 0.5 + beside;
            frame.of_points(&cell.key(), || {
                for share in cell
                    .summary
                    .below
                    .iter()
                    .filter(|share| share.limit == *limit)
                {
                    if let Some((low, high)) = share.interval() {
                        frame.intervals_across(&[(low, high, y)], series.colour);
                    }
                    frame.markers(&[(share.share, y)], series);
                }
            });
        }
        frame.close();
    }
    let mut caption = String::from(
        "Bars: 95 % confidence interval. A mark at the right edge means all exchanges. An exchange without a \
         correct answer is not below; with a schedule, times start at the intended start.",
    );
    if shares().any(|share| share.interval().is_none()) {
        caption.push_str(
            " A mark without a bar has no interval: too few independent samples, or drift.",
        );
    }
    caption += &[only(&legend), left_out, limits_left_out, links(subjects)].concat();
    vec![canvas.finish("below", "Percentage of exchanges below a limit", &caption)]
}
