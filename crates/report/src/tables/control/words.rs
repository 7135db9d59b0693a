//! Numbers and rules in words.

use crate::load::Controls;
use wiregauge_control::{OnMiss, Order};
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
            exact_time(deadline_ns)
        ),
        None => "a response counts regardless of its delay (no --deadline)".into(),
    };
    let miss = match rules.on_miss {
        OnMiss::Hold => "keeps the last command (--on-miss hold)".into(),
        OnMiss::ZeroAtDeadline => format!(
            "sets the command to zero {} after its start (--on-miss zero-at-deadline)",
            exact_time(rules.deadline_ns.unwrap_or(controls.period_ns))
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
