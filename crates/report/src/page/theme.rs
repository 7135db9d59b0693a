//! Light and dark. Figures are drawn for white paper in a few fixed colours; here each of them gets a
//! twin for a dark screen, and rules that restyle the figures by the colour that they were drawn in.

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
pub(super) const FIGURES: [(&str, &str, &str); 12] = [
    ("paper", "#ffffff", "#16181b"),
    ("ink", "#1a1a1a", "#e8e8e8"),
    ("muted", "#666666", "#a3a8ae"),
    ("grid", "#dddddd", "#33373d"),
    ("s1", "#0072b2", "#4aa8e0"),
    ("s2", "#d55e00", "#ff8a3d"),
    ("s3", "#009e73", "#2cc79b"),
    ("s4", "#cc79a7", "#e29ac4"),
    ("s5", "#56b4e9", "#8fd0f7"),
    ("s6", "#e69f00", "#f5b93a"),
    ("s7", "#000000", "#ffffff"),
    ("s8", "#999999", "#b8b8b8"),
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
