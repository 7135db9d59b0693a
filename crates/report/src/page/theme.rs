//! Light and dark. Figures are drawn for white paper in a few fixed colours; here each of them gets a
//! twin for a dark screen, and rules that restyle the figures by the colour that they were drawn in.

use crate::figures::look;
use std::fmt::Write;

/// A colour of the page: the name of its variable, as it is on paper and on a dark screen.
const PAGE: [(&str, &str, &str); 7] = [
    ("raised", "#f6f7f8", "#202327"),
    ("line", "#c9ccd1", "#474c54"),
    ("accent", "#0b5cad", "#7db8f0"),
    ("caution", "#b26a00", "#e69f00"),
    ("bad", "#b3261e", "#ff8a7a"),
    ("select", "rgba(0, 0, 0, .1)", "rgba(255, 255, 255, .16)"),
    ("band", "55", "66"),
];

/// Colours of the figures: the name of the variable, as drawn, on a dark screen.
const FIGURES: [(&str, &str, &str); 12] = [
    ("paper", look::PAPER, "#16181b"),
    ("ink", look::INK, "#e8e8e8"),
    ("muted", look::MUTED, "#a8adb3"),
    ("grid", look::GRID, "#34383e"),
    ("s1", look::SERIES[0], "#4aa8e0"),
    ("s2", look::SERIES[1], "#f0b030"),
    ("s3", look::SERIES[2], "#2cc79b"),
    ("s4", look::SERIES[3], "#e29ac4"),
    ("s5", look::SERIES[4], "#ff8a3d"),
    ("s6", look::SERIES[5], "#9bd6f8"),
    ("s7", look::SERIES[6], "#ffffff"),
    ("s8", look::SERIES[7], "#f7ee7a"),
];

/// The variables and the rules, as CSS.
pub(super) fn css() -> String {
    let mut light = String::from("color-scheme:light;");
    let mut dark = String::from("color-scheme:dark;");
    for (name, on_paper, on_screen) in FIGURES.iter().chain(&PAGE) {
        let _ = write!(light, "--{name}:{on_paper};");
        let _ = write!(dark, "--{name}:{on_screen};");
    }
    let mut css = format!(
        ":root{{{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    );
    for (name, drawn, _) in FIGURES {
        for part in ["fill", "stroke"] {
            let _ = writeln!(css, ".drawn [{part}=\"{drawn}\" i]{{{part}:var(--{name})}}");
        }
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_of_a_figure_has_a_twin_for_the_dark() {
        let css = css();
        for (name, drawn, dark) in FIGURES {
            assert_ne!(drawn, dark, "{name}");
            assert!(css.contains(&format!("[fill=\"{drawn}\" i]{{fill:var(--{name})}}")));
        }
    }
}
