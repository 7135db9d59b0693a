//! How every figure looks: colours, dashes, markers, sizes. The colours occur in the SVG as these
//! few fixed values and no others, so that a page can replace them for a dark screen.

/// Background.
pub(crate) const PAPER: &str = "#ffffff";
/// Text, and lines that are not data.
pub(crate) const INK: &str = "#222222";
/// Labels of axes, and what is less important.
pub(crate) const MUTED: &str = "#595959";
/// Grid.
pub(crate) const GRID: &str = "#dddddd";
/// Series: the hues of Okabe and Ito, "Color Universal Design" (2008), made dark enough for white paper, and
/// three more. `tests/colours.rs` computes their contrast, and that all differ, also for people with any common
/// colour blindness. Neighbours differ in lightness too.
pub(crate) const SERIES: [&str; 10] = [
    "#216fa9", "#903a00", "#009392", "#0b98f8", "#d55f03", "#cc71c0", "#788a59", "#000000",
    "#772dce", "#712200",
];
/// The same on a dark screen.
pub(crate) const SERIES_ON_DARK: [&str; 10] = [
    "#3ba9df", "#efdb80", "#06d39c", "#9dd6f7", "#fe893c", "#cc85ae", "#f0bf16", "#ffffff",
    "#9e6df0", "#b16040",
];
/// The background of a dark screen.
pub(crate) const DARK: &str = "#16181b";

/// Dashes, as in `stroke-dasharray`, in pixels. There are fewer than colours: series that share one differ clearly
/// in colour.
pub(crate) const DASHES: [&str; 7] = ["", "7 3", "2 3", "10 3 2 3", "4 2", "10 3 2 3 2 3", "16 4"];

/// The dash of limits and ideals.
pub(crate) const DASH_OF_LIMITS: usize = 4;

/// Size of text in pixels: 9.4 pt where a figure of `WIDTH` fills a text width of 6 inches.
pub(crate) const FONT_SIZE: f64 = 14.0;
/// Size of notes inside a figure.
pub(crate) const SMALL: f64 = 12.5;
/// Width of a figure in pixels.
pub(crate) const WIDTH: u32 = 640;
/// Height of a figure with one panel, in pixels, without its legend.
pub(crate) const HEIGHT: u32 = 360;
/// Width of a line of data.
pub(crate) const LINE: f64 = 1.8;
/// Radius of a marker.
pub(crate) const MARKER: f64 = 4.0;

/// Colour, width in pixels and index into `DASHES` of a line.
pub(crate) type Stroke<'a> = (&'a str, f64, usize);

/// Colour and opacity of an area.
pub(crate) type Fill<'a> = (&'a str, f64);

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
}

/// Markers in the order in which series take them; hollow ones after the full ones.
pub(crate) const MARKERS: [Marker; 4] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
];

/// How a series looks. Series that are neighbours never differ by their colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Series {
    /// One of `SERIES`, or `INK` and `MUTED` for what is not a series.
    pub(crate) colour: &'static str,
    /// Index into `DASHES`.
    pub(crate) dash: usize,
    pub(crate) marker: Marker,
    pub(crate) hollow: bool,
}

impl Series {
    /// The series of this number: its own colour, marker and dash.
    pub(crate) fn of(number: usize) -> Series {
        Series {
            colour: SERIES[number % SERIES.len()],
            dash: number % DASHES.len(),
            marker: MARKERS[number % MARKERS.len()],
            hollow: (number / MARKERS.len()) % 2 == 1,
        }
    }

    /// A series that shares its colour with others: colour by one number, dash and marker by the
    /// other. Where several runs are laid over each other, the colour tells the run; in grey print it
    /// is the lightness, and the hollow markers of every second run.
    pub(crate) fn with(colour: usize, pattern: usize) -> Series {
        Series {
            colour: SERIES[colour % SERIES.len()],
            hollow: !colour.is_multiple_of(2),
            ..Series::of(pattern)
        }
    }

    /// The series of this number of one of several runs, which colours tell apart; of a single run colours tell series apart.
    pub(crate) fn of_run(runs: usize, run: usize, number: usize) -> Series {
        match runs {
            1 => Series::of(number),
            _ => Series::with(run, number),
        }
    }

    /// Markers, and a line without dashes.
    pub(crate) fn mark(colour: &'static str, marker: Marker, hollow: bool) -> Series {
        Series {
            colour,
            dash: 0,
            marker,
            hollow,
        }
    }

    /// The same without dashes.
    pub(crate) fn solid(self) -> Series {
        Series { dash: 0, ..self }
    }

    /// A line that is no data: a limit, an ideal.
    pub(crate) fn limit() -> Series {
        Series {
            colour: INK,
            dash: DASH_OF_LIMITS,
            marker: Marker::Circle,
            hollow: false,
        }
    }

    /// Its line.
    pub(crate) fn line(self, width: f64) -> Stroke<'static> {
        (self.colour, width, self.dash)
    }
}

/// The corners of a marker as multiples of its radius, none of a circle.
pub(crate) fn corners(marker: Marker) -> &'static [(f64, f64)] {
    match marker {
        Marker::Circle => &[],
        Marker::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Marker::Triangle => &[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
        Marker::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    }
}

/// The width of a text in pixels, guessed: which font a reader has is not known. Somewhat wider than
/// Arial, narrower than Verdana.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | ' ' | '/' | '(' | ')'
            | 't' | 'f' | '-' => 0.34,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.9,
            'A'..='Z' => 0.7,
            c if c.is_ascii() => 0.58,
            _ => 1.0,
        })
        .sum();
    em * size
}

/// A text that fits a width, cut in the middle: both its begin and its end tell it from others.
pub(crate) fn fitting(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    for keep in (0..characters.len()).rev() {
        let (head, tail) = (keep.div_ceil(2), keep / 2);
        let cut: String = characters[..head]
            .iter()
            .chain(&['…'])
            .chain(&characters[characters.len() - tail..])
            .collect();
        if text_width(&cut, size) <= width {
            return cut;
        }
    }
    "…".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_series_differ_in_more_than_their_colour() {
        for number in 0..40 {
            let (a, b) = (Series::of(number), Series::of(number + 1));
            assert!(
                a.marker != b.marker || a.hollow != b.hollow,
                "{number}: {a:?} and {b:?}"
            );
            assert_ne!(a.dash, b.dash, "series {number}");
            for pattern in 0..8 {
                let (a, b) = (
                    Series::with(number, pattern),
                    Series::with(number + 1, pattern),
                );
                assert!(
                    a.hollow != b.hollow && a.colour != b.colour,
                    "{a:?} and {b:?}"
                );
            }
        }
    }

    #[test]
    fn a_long_text_keeps_its_begin_and_its_end() {
        assert_eq!(fitting("short", 14.0, 100.0), "short");
        let cut = fitting("tcp://a-long-name.example:7700", 14.0, 120.0);
        assert!(cut.starts_with("tcp") && cut.ends_with("700"), "{cut}");
        assert!(text_width(&cut, 14.0) <= 120.0);
        assert_eq!(fitting("anything", 14.0, 0.0), "…");
    }
}
