//! Light and dark. Figures are drawn for white paper in a few fixed colours; here each of them gets a
//! twin for a dark screen, and rules that restyle the figures by the colour that they were drawn in.

use crate::figures::look;
use std::fmt::Write;

/// A colour of the page: the name of its variable, as it is on paper and on a dark screen.
const PAGE: [(&str, &str, &str); 8] = [
    ("raised", "#f6f7f8", "#202327"),
    ("line", "#c9ccd1", "#474c54"),
    ("accent", "#0b5cad", "#7db8f0"),
    ("caution", "#b26a00", "#e69f00"),
    ("bad", "#b3261e", "#ff8a7a"),
    ("select", "rgba(0, 0, 0, .1)", "rgba(255, 255, 255, .16)"),
    ("band", "55", "66"),
    // The shadow at the edge of what scrolls.
    ("cue", "rgba(0, 0, 0, .28)", "rgba(255, 255, 255, .3)"),
];

/// Every colour that is drawn with: the name of its variable, and as it is drawn.
fn figures() -> impl Iterator<Item = (String, &'static str)> {
    let fixed = [
        ("paper", look::PAPER),
        ("ink", look::INK),
        ("muted", look::MUTED),
        ("grid", look::GRID),
    ];
    let fixed = fixed
        .into_iter()
        .map(|(name, drawn)| (name.to_owned(), drawn));
    let series = look::SERIES.into_iter().enumerate();
    fixed.chain(series.map(|(at, drawn)| (format!("s{}", at + 1), drawn)))
}

/// The name of the variable of a colour that figures are drawn with.
pub(super) fn variable(colour: &str) -> String {
    let found = figures().find(|(_, drawn)| *drawn == colour);
    found.map_or_else(|| "ink".into(), |(name, _)| name)
}

/// A colour as it is on a dark screen.
fn on_screen(drawn: &'static str) -> &'static str {
    match drawn {
        look::PAPER => look::DARK,
        look::INK => "#e8e8e8",
        look::MUTED => "#a8adb3",
        look::GRID => "#34383e",
        series => {
            let place = look::SERIES.iter().position(|colour| *colour == series);
            place.map_or(series, |at| look::SERIES_ON_DARK[at])
        }
    }
}

/// The variables and the rules, as CSS.
pub(super) fn css() -> String {
    let mut light = String::from("color-scheme:light;");
    let mut dark = String::from("color-scheme:dark;");
    for (name, drawn) in figures() {
        let _ = write!(light, "--{name}:{drawn};");
        let _ = write!(dark, "--{name}:{};", on_screen(drawn));
    }
    for (name, on_paper, on_screen) in PAGE {
        let _ = write!(light, "--{name}:{on_paper};");
        let _ = write!(dark, "--{name}:{on_screen};");
    }
    let mut css = format!(
        ":root{{{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    );
    for (name, drawn) in figures() {
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
        for (name, drawn) in figures() {
            assert_ne!(drawn, on_screen(drawn), "{name}");
            assert!(css.contains(&format!("[fill=\"{drawn}\" i]{{fill:var(--{name})}}")));
        }
    }
}
