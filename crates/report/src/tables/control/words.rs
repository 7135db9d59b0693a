//! Numbers and rules in words.

use crate::load::Controls;
use crate::tables::csv::named;
use wiregauge_quantity::{exact_time, number};
use wiregauge_record::LoopFigure;

/// A figure of a control loop, as all tables show it.
pub fn loop_figure(of: LoopFigure, value: f64) -> String {
    match of {
        LoopFigure::Cost => number(value),
        LoopFigure::Growth => growth(value),
    }
}

/// A growth per cycle: four decimals, more where 1 would be printed for another number.
pub(super) fn growth(value: f64) -> String {
    match (value - 1.0).abs() {
        near if near > 0.0 && near < 5e-5 => format!("{value:.7}"),
        _ => format!("{value:.4}"),
    }
}

/// How many times as large.
pub(super) fn times(value: f64, reference: f64) -> String {
    match value / reference {
        ratio if !ratio.is_finite() => "-".into(),
        ratio if ratio >= 1e6 => format!("{ratio:.1e} x"),
        ratio if ratio >= 100.0 => format!("{ratio:.0} x"),
        ratio if ratio >= 10.0 => format!("{ratio:.1} x"),
        ratio => format!("{ratio:.2} x"),
    }
}

/// The flags that say what becomes of late and lost responses.
pub(super) fn rules(controls: &Controls) -> String {
    let rules = controls.rules;
    let (order, miss) = (named(&rules.order, ""), named(&rules.on_miss, ""));
    let deadline = match rules.deadline_ns {
        Some(deadline_ns) => format!("--deadline {}", exact_time(deadline_ns)),
        None => "no --deadline".to_owned(),
    };
    format!("Rules: --order {order}, {deadline}, --on-miss {miss}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growth_is_1_only_if_it_is() {
        assert_eq!(
            [0.851_03, 1.0, 0.999_999_6].map(growth),
            ["0.8510", "1.0000", "0.9999996"]
        );
        assert_eq!(times(14.16, 12.80), "1.11 x");
        assert_eq!(times(1.0, 0.0), "-");
        assert_eq!(times(4.08e15, 1.0), "4.1e15 x");
    }
}
