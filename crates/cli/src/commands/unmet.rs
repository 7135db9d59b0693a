//! Stated limits that a result does not show to be met, and what they do to the exit code.

use crate::Outcome;
use crate::args::Undecided;
use crate::caller::{Session, remark};
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

    /// One that is not met; its text is made only then.
    pub fn unless_met(compliance: Compliance, text: impl FnOnce() -> String) -> Option<Unmet> {
        match compliance {
            Compliance::Met => None,
            Compliance::Violated => Some(Unmet::missed(text())),
            Compliance::Undecided => Some(Unmet::undecided(text())),
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

/// A stated limit, and where a result does not show it to be met.
pub struct Judged {
    /// As it was stated.
    pub limit: String,
    /// A line for each place.
    pub unmet: Vec<Unmet>,
}

/// `Limits missed: p99<1us; met: lost=0.`; `None` without a limit.
pub fn verdict(judged: &[Judged]) -> Option<String> {
    let state = |one: &Judged| match one.unmet.iter().any(|unmet| unmet.is_decided) {
        true => "missed",
        false if one.unmet.is_empty() => "met",
        false => "undecided",
    };
    let of_state = |wanted: &&str| -> Option<String> {
        let those = judged.iter().filter(|one| state(one) == *wanted);
        let those: Vec<&str> = those.map(|one| one.limit.as_str()).collect();
        (!those.is_empty()).then(|| format!("{wanted}: {}", those.join(", ")))
    };
    let parts = ["missed", "undecided", "met"];
    let parts: Vec<String> = parts.iter().filter_map(of_state).collect();
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
    fn the_verdict_names_each_limit_with_what_became_of_it() {
        let judged = |limit: &str, unmet: Vec<Unmet>| Judged {
            limit: limit.into(),
            unmet,
        };
        let met = || judged("lost=0", Vec::new());
        assert_eq!(verdict(&[]), None);
        assert_eq!(verdict(&[met()]).as_deref(), Some("Limit met: lost=0."));
        let missed = |limit| {
            judged(
                limit,
                vec![Unmet::undecided("a".into()), Unmet::missed("b".into())],
            )
        };
        let open = judged("p90<1ms", vec![Unmet::undecided("c".into())]);
        let all = [missed("p99<1us"), met(), open, missed("max<2us")];
        assert_eq!(
            verdict(&all).as_deref(),
            Some("Limits missed: p99<1us, max<2us; undecided: p90<1ms; met: lost=0.")
        );
    }
}
