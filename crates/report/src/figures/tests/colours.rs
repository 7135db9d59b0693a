//! The colours of series are visible on their background and distinguishable, also for the colour-blind.

use crate::figures::look::{DARK, DASHES, PAPER, SERIES, SERIES_ON_DARK};

/// WCAG 2, 1.4.11: parts of a figure.
const CONTRAST: f64 = 3.0;
/// In OKLab, where black and white are 1 apart. 0.02 is what is just seen side by side.
const DISTANCE: f64 = 0.08;

/// The same for lines of one dash that may cross: colour alone tells them apart.
const DISTANCE_OF_DASH: f64 = 0.16;

/// What a dichromat sees, in linear RGB: Machado, Oliveira and Fernandes, "A physiologically-based model for
/// simulation of color vision deficiency" (2009), severity 1.
const VISION: [(&str, [[f64; 3]; 3]); 4] = [
    (
        "normal",
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    (
        "protanopia",
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ),
];

fn linear(colour: &str) -> [f64; 3] {
    [1_usize, 3, 5].map(|at| {
        let part = u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour is #rrggbb");
        let part = f64::from(part) / 255.0;
        match part <= 0.04045 {
            true => part / 12.92,
            false => ((part + 0.055) / 1.055).powf(2.4),
        }
    })
}

fn times(matrix: &[[f64; 3]; 3], of: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(of).map(|(a, b)| a * b).sum())
}

fn luminance(colour: &str) -> f64 {
    let [r, g, b] = linear(colour);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Colours of series that are drawn with the same dash.
fn of_one_dash(colours: [&'static str; 10]) -> Vec<(&'static str, &'static str)> {
    let all = (0..colours.len()).flat_map(|at| (0..at).map(move |before| (before, at)));
    let same = all.filter(|(before, at)| before % DASHES.len() == at % DASHES.len());
    same.map(|(before, at)| (colours[before], colours[at]))
        .collect()
}

/// Björn Ottosson's OKLab (2020).
fn oklab(linear: [f64; 3]) -> [f64; 3] {
    let to_cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ];
    let to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ];
    times(&to_lab, times(&to_cones, linear).map(f64::cbrt))
}

fn seen(colour: &str, vision: &[[f64; 3]; 3]) -> [f64; 3] {
    oklab(times(vision, linear(colour)).map(|part| part.clamp(0.0, 1.0)))
}

fn distance(one: &str, other: &str, vision: &[[f64; 3]; 3]) -> f64 {
    let (one, other) = (seen(one, vision), seen(other, vision));
    let squares = one.iter().zip(other).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

#[test]
fn series_can_be_seen_on_their_background() {
    for colour in SERIES {
        assert!(contrast(colour, PAPER) >= CONTRAST, "{colour} on white");
    }
    for colour in SERIES_ON_DARK {
        for background in [DARK, "#000000"] {
            let found = contrast(colour, background);
            assert!(found >= CONTRAST, "{colour} on {background}: {found}");
        }
    }
    assert!(contrast("#f0e442", PAPER) < 1.5, "a pale yellow cannot");
}

#[test]
fn neighbouring_series_differ_in_grey_print() {
    for pair in SERIES.windows(2) {
        let difference = (luminance(pair[0]) - luminance(pair[1])).abs();
        assert!(difference > 0.05, "{pair:?}");
    }
}

#[test]
fn series_differ_also_for_the_colour_blind() {
    for colours in [SERIES, SERIES_ON_DARK] {
        for (at, one) in colours.iter().enumerate() {
            for other in &colours[..at] {
                for (name, vision) in &VISION {
                    let found = distance(one, other, vision);
                    assert!(found >= DISTANCE, "{one} and {other}, {name}: {found}");
                }
            }
        }
    }
    let red_and_green = distance("#d04030", "#6f7d00", &VISION[2].1);
    assert!(
        red_and_green < DISTANCE,
        "these two do not: {red_and_green}"
    );
}

#[test]
fn matlab_draws_in_the_same_colours() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../matlab/+wiregauge/+internal/colours.m"
    );
    let text = std::fs::read_to_string(path).expect("the package for MATLAB is in this repository");
    let found: Vec<&str> = text
        .split('\'')
        .filter(|part| part.starts_with('#'))
        .collect();
    assert_eq!(found, SERIES);
}

#[test]
fn lines_of_one_dash_differ_clearly_in_colour() {
    for colours in [SERIES, SERIES_ON_DARK] {
        for (one, other) in of_one_dash(colours) {
            for (name, vision) in &VISION {
                let found = distance(one, other, vision);
                assert!(
                    found >= DISTANCE_OF_DASH,
                    "{one} and {other}, {name}: {found}"
                );
            }
        }
    }
}
