//! The kinds of run that this version knows.

use crate::kind::RunKind;

/// Hands all kinds to a macro.
macro_rules! for_every_kind {
    ($make:ident) => {
        $make!(Exchange, Stream, Loop, Control);
    };
}

macro_rules! names {
    ($($kind:ident),+) => {
        /// As `run.json` names them.
        pub(crate) const KINDS: &[&str] = &[$(<$crate::$kind as RunKind>::NAME),+];
    };
}

for_every_kind!(names);

pub(crate) use for_every_kind;
