//! Limits that points do not keep: those of --require and --subject-to.

use crate::Outcome;
use crate::caller::{Session, remark};
use crate::output::style::{BAD, RESET};

/// A limit that a point does not keep, or is not proven to keep.
pub struct Missed {
    /// The limit, what was found, and where.
    pub text: String,
    /// It was found that the point does not keep it.
    pub is_proven: bool,
}

impl Missed {
    /// Its text for a program, which sees no line that begins with what it is.
    pub fn whole(&self) -> String {
        match self.is_proven {
            true => self.text.clone(),
            false => format!("not proven: {}", self.text),
        }
    }
}

/// Names them; the outcome of the command.
pub fn outcome(missed: &[Missed], session: &Session<'_>) -> Outcome {
    for one in missed {
        session.caller.missed(&one.whole());
        let what = match one.is_proven {
            true => "limit missed:",
            false => "limit not proven:",
        };
        remark!(session, "{BAD}{what}{RESET} {}", one.text);
    }
    match missed.is_empty() {
        true => Outcome::Done,
        false => Outcome::Missed,
    }
}
