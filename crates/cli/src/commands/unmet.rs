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
