//! Which figures have an interactive form.

use crate::figures::Figure;

/// Figures that have an interactive form: their name, the form, the kind of run that they show.
const LIVE: [(&str, &str, &str); 8] = [
    ("rtt-series", "series", "exchange"),
    ("rtt-percentiles", "curve", "exchange"),
    ("rtt-histogram", "histogram", "exchange"),
    ("trt-series", "series", "exchange-trt"),
    ("trt-histogram", "histogram", "exchange-trt"),
    ("gap-percentiles", "curve", "stream"),
    ("service-series", "series", "loop"),
    ("service-percentiles", "curve", "loop"),
];

/// The interactive form of a figure and the kind of run that it shows.
pub(super) fn live_form(figure: &Figure) -> Option<(&'static str, &'static str)> {
    LIVE.iter()
        .find(|(name, _, _)| figure.name == *name)
        .map(|(_, form, kind)| (*form, *kind))
}
