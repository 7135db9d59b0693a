//! What `--require` of `wiregauge deadline` finds at a point, and the number of responses of `--beyond`.

use crate::constraint::Constraint;
use crate::limit_value::{Held, beyond};
use crate::values::decimal;
use wiregauge_quantity::grouped;
use wiregauge_record::{Figure, Problem};
use wiregauge_report::load::DeadlinePoint;
use wiregauge_report::tables::missed_share;
use wiregauge_stats::Estimate;
use wiregauge_tune::Compliance;

/// `1e6`, `100000`, `5M`; one in how many.
pub fn one_in(text: &str) -> Result<f64, String> {
    let number = decimal(text).filter(|number| (2.0..=1e15).contains(number));
    number.ok_or_else(|| {
        format!("`{text}` is not a valid number of responses: use a number such as 1e6, 500k or 5M")
    })
}

/// What a point has where it should meet a limit. One without a cycle meets none.
pub fn judge(limit: &Constraint, point: &DeadlinePoint) -> Held {
    let cycles = &point.cycles;
    let seen = |number: u64| Estimate {
        value: number as f64,
        low: Some(number as f64),
        high: Some(number as f64),
    };
    let found = match limit.figure {
        _ if cycles.cycles == 0 => None,
        Figure::Share(Problem::Missed) => Some(cycles.share),
        Figure::Count(Problem::Missed) => Some(seen(cycles.missed)),
        Figure::Longest => Some(seen(cycles.longest_run)),
        _ => None,
    };
    let Some(found) = found else {
        return Held::missed(missed_share(point));
    };
    let held = Held::new(limit, limit.judge(Some(found)), &found, false, None);
    let text = match (limit.figure, cycles.longest_run) {
        (Figure::Longest, 1) => "1 cycle".into(),
        (Figure::Longest, longest) => format!("{} cycles", grouped(longest)),
        _ => missed_share(point),
    };
    Held {
        line: match held.compliance {
            Compliance::Violated => text + &beyond(limit, found.value),
            _ => text,
        },
        ..held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_responses_has_units() {
        assert_eq!(one_in("1e6"), Ok(1e6));
        assert_eq!(one_in("5M"), Ok(5e6));
        for text in ["", "M", "1", "-5", "nan", "1e99"] {
            assert!(one_in(text).is_err(), "{text}");
        }
    }
}
