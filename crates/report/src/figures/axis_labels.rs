//! Which labels below an axis are shown where there is no room for all.

/// A label below an axis, in pixels: its tick, where the label stands, how much room it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Label<'a> {
    pub(super) tick: f64,
    pub(super) at: f64,
    pub(super) width: f64,
    pub(super) text: &'a str,
}

impl Label<'_> {
    fn is_clear_of(&self, other: &Label<'_>) -> bool {
        (self.at - other.at).abs() >= (self.width + other.width) / 2.0
    }
}

/// The labels that have room. Of ticks at equal distances every one, every second, every third ...; of others as many
/// as possible, the first and the last among them.
pub(super) fn roomy<'a>(all: &[Label<'a>]) -> Vec<Label<'a>> {
    let is_clear = |some: &[Label<'_>]| some.windows(2).all(|pair| pair[1].is_clear_of(&pair[0]));
    if is_clear(all) {
        return all.to_vec();
    }
    let step = |pair: &[Label<'_>]| pair[1].tick - pair[0].tick;
    let even = |pair: &[Label<'_>]| (step(pair) - step(all)).abs() < 1.0;
    if all.len() > 3 && all.windows(2).all(even) {
        // Two are enough to read a scale.
        for every in 2..=all.len() / 2 {
            let ends_with_last = (all.len() - 1) % every;
            for first in [0, ends_with_last] {
                let some: Vec<Label<'a>> = all.iter().skip(first).step_by(every).copied().collect();
                if is_clear(&some) {
                    return some;
                }
            }
        }
    }
    let mut shown: Vec<Label<'a>> = Vec::new();
    for label in all.iter().rev() {
        if shown.last().is_none_or(|next| next.is_clear_of(label)) {
            shown.push(*label);
        }
    }
    if let Some(first) = all.first()
        && shown.len() > 1
        && shown.last() != Some(first)
    {
        shown.pop();
        if shown.last().is_none_or(|next| next.is_clear_of(first)) {
            shown.push(*first);
        }
    }
    shown.reverse();
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of labels at these places and of these widths are shown.
    fn shown(ticks: &[(f64, f64)]) -> Vec<f64> {
        let label = |&(tick, width): &(f64, f64)| Label {
            tick,
            at: tick,
            width,
            text: "",
        };
        let all: Vec<Label<'_>> = ticks.iter().map(label).collect();
        roomy(&all).iter().map(|label| label.tick).collect()
    }

    #[test]
    fn labels_of_even_ticks_are_shown_in_even_steps() {
        let decades: Vec<(f64, f64)> = (0..8).map(|n| (f64::from(n) * 30.0, 45.0)).collect();
        assert_eq!(shown(&decades), [0.0, 60.0, 120.0, 180.0]);
        let wide: Vec<(f64, f64)> = (0..5).map(|n| (f64::from(n) * 30.0, 29.0)).collect();
        assert_eq!(shown(&wide).len(), 5);
    }

    #[test]
    fn of_uneven_ticks_no_label_is_missing_that_has_room() {
        // 48, 100, 200, 400, 800, 1,600, 3,200, 6,400.
        let places = [0.0, 32.0, 62.0, 92.0, 122.0, 152.0, 182.0, 212.0];
        let widths = [22.0, 30.0, 30.0, 30.0, 30.0, 43.0, 43.0, 43.0];
        let sizes: Vec<(f64, f64)> = places.into_iter().zip(widths).collect();
        let shown = shown(&sizes);
        assert!(shown.contains(&0.0) && shown.contains(&212.0), "{shown:?}");
        assert!(shown.contains(&152.0), "{shown:?}");
    }
}
