//! Times, rates and shares inside a sentence.

/// A time with its unit.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        v if v >= 1e9 => (ns / 1e9, "s"),
        v if v >= 1e6 => (ns / 1e6, "ms"),
        v if v >= 1e3 => (ns / 1e3, "us"),
        _ => (ns, "ns"),
    };
    format!("{} {unit}", digits(value))
}

/// Bytes a second with their unit, powers of ten.
pub(crate) fn rate(bytes_s: f64) -> String {
    let (value, unit) = match bytes_s {
        v if v >= 1e9 => (v / 1e9, "GB/s"),
        v if v >= 1e6 => (v / 1e6, "MB/s"),
        v if v >= 1e3 => (v / 1e3, "kB/s"),
        v => (v, "B/s"),
    };
    format!("{} {unit}", digits(value))
}

/// A part of 1 in percent.
pub(crate) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent > 0.0 && percent < 1.0 {
        "under 1 %".into()
    } else {
        format!("{percent:.0} %")
    }
}

/// How many times more.
pub(crate) fn times(factor: f64) -> String {
    format!("{} times", digits(factor))
}

/// Three digits, as many as these figures are worth.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.5 => 0,
        v if v >= 9.95 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}
