//! The kinds of run that this version knows.

use crate::closed_loop::Loop;
use crate::control::Control;
use crate::exchange::Exchange;
use crate::kind::RunKind;
use crate::stream::Stream;

/// Hands all kinds to a macro.
macro_rules! for_every_kind {
    ($make:ident) => {
        $make!(Exchange, Stream, Loop, Control);
    };
}

macro_rules! names {
    ($($kind:ident),+) => {
        /// As `run.json` names them.
        pub(crate) const KINDS: &[&str] = &[$($kind::NAME),+];
    };
}

for_every_kind!(names);

pub(crate) use for_every_kind;
