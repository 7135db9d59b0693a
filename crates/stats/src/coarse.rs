//! Which valleys matter. Neighbouring samples depend on each other (answers that come in one read
//! share their time to the nanosecond), so noise alone explains too little: a cut stands only if the
//! eye would see it too, at the resolution of a printed histogram.

/// Half width on the logarithmic axis of the window in which density is looked at: 4 %.
const RESOLUTION: f64 = 0.04;

/// Peaks nearer than this factor are one.
const APART: f64 = 1.15;

/// A valley is at most this part of the lower of the peaks beside it.
const VALLEY: f64 = 0.6;

/// Joins the parts of the ascending points `y` (each from one of `cuts` to the next) whose cut does
/// not stand, the faintest first.
pub(crate) fn join(y: &[f64], cuts: &mut Vec<usize>) {
    while cuts.len() > 2 {
        let parts: Vec<Peak> = cuts.windows(2).map(|w| Peak::of(y, w[0], w[1])).collect();
        let faintest = parts
            .windows(2)
            .map(|pair| faintness(y, &pair[0], &pair[1]))
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1));
        match faintest {
            Some((at, faintness)) if faintness > VALLEY => cuts.remove(at + 1),
            _ => return,
        };
    }
}

/// Where a part is densest, and how many points lie in the window there.
struct Peak {
    at: f64,
    points: usize,
}

impl Peak {
    fn of(y: &[f64], from: usize, to: usize) -> Peak {
        let mut end = from;
        let mut best = Peak {
            at: y[from],
            points: 0,
        };
        for begin in from..to {
            while end < to && y[end] <= y[begin] + 2.0 * RESOLUTION {
                end += 1;
            }
            if end - begin > best.points {
                best = Peak {
                    at: (y[begin] + y[end - 1]) / 2.0,
                    points: end - begin,
                };
            }
        }
        best
    }
}

/// The density in the deepest valley between two peaks as a part of that of the lower one; infinite
/// where the peaks are too near each other.
fn faintness(y: &[f64], left: &Peak, right: &Peak) -> f64 {
    if right.at - left.at < APART.ln() {
        return f64::INFINITY;
    }
    let within = |at: f64| {
        let low = y.partition_point(|&y| y < at - RESOLUTION);
        y.partition_point(|&y| y <= at + RESOLUTION) - low
    };
    let steps = ((right.at - left.at) / (RESOLUTION / 2.0))
        .ceil()
        .min(1000.0);
    let valley = (0..=steps as usize)
        .map(|step| within(left.at + (right.at - left.at) * step as f64 / steps))
        .min()
        .unwrap_or(0);
    valley as f64 / left.points.min(right.points).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(values: &[f64], cuts: &[usize]) -> Vec<usize> {
        let y: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let mut cuts = cuts.to_vec();
        join(&y, &mut cuts);
        cuts
    }

    #[test]
    fn ties_of_answers_that_came_together_are_no_peaks() {
        let values: Vec<f64> = (0..200).map(|i| 50.0 + f64::from(i / 20)).collect();
        let cuts: Vec<usize> = (0..=10).map(|i| 20 * i).collect();
        assert_eq!(joined(&values, &cuts), [0, 200]);
    }

    #[test]
    fn peaks_with_a_gap_between_them_stand() {
        let values: Vec<f64> = (0..200)
            .map(|i| if i < 150 { 8.0 } else { 32.0 } * (1.0 + f64::from(i % 10) / 200.0))
            .collect();
        let mut values = values;
        values.sort_by(f64::total_cmp);
        assert_eq!(joined(&values, &[0, 150, 200]), [0, 150, 200]);
    }
}
