//! Stated limits that a result does not show to be met, and what they do to the exit code.

use crate::Outcome;
use crate::args::Undecided;
use crate::caller::{Session, remark};
use crate::limit_value::Held;
use crate::output::style::{BAD, CAUTION, RESET};
use wiregauge_tune::Compliance;

/// A limit that is missed, or that the samples do not decide.
pub struct Unmet {
    /// The limit, what was found, and where.
    pub text: String,
    /// The samples show that it is missed.
    pub is_decided: bool,
}

impl Unmet {
    /// A limit that is missed.
    pub fn missed(text: String) -> Unmet {
        Unmet {
            text,
            is_decided: true,
        }
    }

    /// A limit that may be met or not: its interval contains the limit, or there are too few samples for one.
    pub fn undecided(text: String) -> Unmet {
        Unmet {
            text,
            is_decided: false,
        }
    }

    /// The text for a program, which sees no line that begins with what it is.
    pub fn whole(&self) -> String {
        match self.is_decided {
            true => self.text.clone(),
            false => format!("undecided: {}", self.text),
        }
    }
}

/// A stated limit, and what became of it.
pub struct Judged {
    /// As it was stated.
    limit: String,
    /// At its worst place.
    compliance: Compliance,
    /// The value there.
    value: String,
    /// A line for each place where it is not met.
    pub unmet: Vec<Unmet>,
}

impl Judged {
    /// Of a limit at all its places.
    pub fn new(limit: &str, places: Vec<Held>) -> Judged {
        let unmet = places.iter().filter_map(|held| {
            let text = format!("{limit}: {}", held.line);
            match held.compliance {
                Compliance::Met => None,
                Compliance::Undecided => Some(Unmet::undecided(text)),
                Compliance::Violated => Some(Unmet::missed(text)),
            }
        });
        let unmet = unmet.collect();
        let worst = places.into_iter().max_by(Held::compare);
        let (compliance, value) = worst.map_or((Compliance::Met, String::new()), |worst| {
            (worst.compliance, worst.value)
        });
        Judged {
            limit: limit.to_owned(),
            compliance,
            value,
            unmet,
        }
    }

    /// `p99<2ms (0.31 ms)`.
    fn with_value(&self) -> String {
        match self.value.is_empty() {
            true => self.limit.clone(),
            false => format!("{} ({})", self.limit, self.value),
        }
    }
}

/// `Limits missed: p99<1us (20.1 us, 20.1 times the limit); met: lost=0 (0).`; `None` without a limit.
pub fn verdict(judged: &[Judged]) -> Option<String> {
    let parts = [
        ("missed", Compliance::Violated),
        ("undecided", Compliance::Undecided),
        ("met", Compliance::Met),
    ];
    let of_state = |(word, wanted): (&str, Compliance)| -> Option<String> {
        let those = judged.iter().filter(|one| one.compliance == wanted);
        let those: Vec<String> = those.map(Judged::with_value).collect();
        (!those.is_empty()).then(|| format!("{word}: {}", those.join(", ")))
    };
    let parts: Vec<String> = parts.into_iter().filter_map(of_state).collect();
    match judged.len() {
        0 => None,
        1 => Some(format!("Limit {}.", parts.concat())),
        _ => Some(format!("Limits {}.", parts.join("; "))),
    }
}

/// What a command's limits are called when they are not met.
#[derive(Clone, Copy)]
pub enum Stated {
    /// `--require` and `--subject-to`: what must hold.
    Limit,
    /// `--fail-if`: what must not hold.
    Condition,
}

/// Prints them; the outcome of the command.
pub fn outcome(
    stated: Stated,
    unmet: &[Unmet],
    undecided: Undecided,
    session: &Session<'_>,
) -> Outcome {
    let (missed, open) = match stated {
        Stated::Limit => ("limit missed:", "limit undecided:"),
        Stated::Condition => ("condition met:", "condition undecided:"),
    };
    let mut outcome = Outcome::Done;
    for one in unmet {
        let fails = one.is_decided || undecided == Undecided::Fail;
        let (colour, what) = match one.is_decided {
            true => (BAD, missed),
            false => (CAUTION, open),
        };
        remark!(session, "{colour}{what}{RESET} {}", one.text);
        if fails {
            session.caller.missed(&one.whole());
            outcome = Outcome::Missed;
        }
    }
    let is_open = !unmet.is_empty() && unmet.iter().all(|one| !one.is_decided);
    if is_open && undecided == Undecided::Fail {
        remark!(session, "  hint: --undecided pass makes this exit code 0");
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_names_each_limit_with_what_became_of_it_at_its_worst_place() {
        let held = |compliance, excess, value: &str| Held {
            compliance,
            excess,
            value: value.into(),
            line: format!("{value} (95 %)"),
        };
        let met = || Judged::new("lost=0", vec![held(Compliance::Met, -1.0, "0")]);
        assert_eq!(verdict(&[]), None);
        assert_eq!(verdict(&[met()]).as_deref(), Some("Limit met: lost=0 (0)."));
        let missed = |limit| {
            let places = [
                held(Compliance::Violated, 1.0, "2 us"),
                held(Compliance::Violated, 2.0, "3 us"),
                held(Compliance::Undecided, 3.0, "4 us"),
            ];
            Judged::new(limit, places.into())
        };
        let lines = missed("p99<1us").unmet;
        let lines: Vec<String> = lines.iter().map(Unmet::whole).collect();
        let first = ["p99<1us: 2 us (95 %)", "p99<1us: 3 us (95 %)"];
        assert_eq!(lines[..2], first);
        assert_eq!(lines[2], "undecided: p99<1us: 4 us (95 %)");
        let open = Judged::new("p90<1ms", vec![held(Compliance::Undecided, 0.1, "1 ms")]);
        let all = [missed("p99<1us"), met(), open, missed("max<2us")];
        assert_eq!(
            verdict(&all).as_deref(),
            Some(
                "Limits missed: p99<1us (3 us), max<2us (3 us); undecided: p90<1ms (1 ms); met: lost=0 (0)."
            )
        );
        // A verdict that is required says itself what was found.
        let held = Judged::new("held", vec![held(Compliance::Met, 0.0, "")]);
        assert_eq!(verdict(&[held]).as_deref(), Some("Limit met: held."));
    }
}
