//! Numbers and rules in words.

use crate::load::Controls;
use crate::units::time;
use wiregauge_control::{OnMiss, Order};
use wiregauge_record::LoopFigure;

/// A cost or another positive figure, with four digits that matter.
pub(super) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let digits = match value.abs() {
        0.0 => 0.0,
        value => value.log10().floor(),
    };
    let decimals = (3.0 - digits).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// A figure of a control loop, as all tables show it.
pub fn loop_figure(of: LoopFigure, value: f64) -> String {
    match of {
        LoopFigure::Cost => figure(value),
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

/// A share in percent, without the sign.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent.abs() < 1e5 => format!("{percent:.1}"),
        percent => figure(percent),
    }
}

/// What becomes of late and lost responses.
pub(super) fn rules(controls: &Controls) -> String {
    let rules = controls.rules;
    let order = match rules.order {
        Order::Newest => "a response that a newer one has overtaken is ignored (--order newest)",
        Order::Arrival => {
            "the response that arrived last counts, even if it is older (--order arrival)"
        }
    };
    let deadline = match rules.deadline_ns {
        Some(deadline_ns) => format!(
            "responses that take longer than {} are ignored (--deadline)",
            time(deadline_ns as f64)
        ),
        None => "a response counts regardless of its delay (no --deadline)".into(),
    };
    let miss = match rules.on_miss {
        OnMiss::Hold => "keeps the last command (--on-miss hold)".into(),
        OnMiss::ZeroAtDeadline => format!(
            "sets the command to zero {} after its start (--on-miss zero-at-deadline)",
            time(rules.deadline_ns.unwrap_or(controls.period_ns) as f64)
        ),
        OnMiss::ZeroAtOnce => {
            "sets the command to zero at its start (--on-miss zero-at-once)".into()
        }
        OnMiss::Skip => {
            "keeps the last command, and the controller does not run (--on-miss skip)".to_owned()
        }
    };
    format!("Rules: {order}; {deadline}; a cycle without a response {miss}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits_and_growth_is_1_only_if_it_is() {
        let shown = [
            12.8038,
            0.016_189,
            1234.56,
            0.0,
            3.2e-7,
            2.5e8,
            f64::INFINITY,
        ]
        .map(figure);
        assert_eq!(
            shown,
            [
                "12.80", "0.01619", "1235", "0.000", "3.200e-7", "2.500e8", "-"
            ]
        );
        assert_eq!(
            [0.851_03, 1.0, 0.999_999_6].map(growth),
            ["0.8510", "1.0000", "0.9999996"]
        );
        assert_eq!(times(14.16, 12.80), "1.11 x");
        assert_eq!(times(1.0, 0.0), "-");
        assert_eq!(times(4.08e15, 1.0), "4.1e15 x");
        assert_eq!(percent(0.636), "63.6");
        assert_eq!(percent(4.3e15), "4.300e17");
    }
}
