//! The kinds of run that this version knows: both lists.

use crate::kind::RunKind;

/// Hands all kinds to a macro.
macro_rules! for_every_kind {
    ($make:ident) => {
        $make!(Exchange, Stream, Loop, Control);
    };
}

/// The same for an expression that handles a run of any kind.
#[doc(hidden)]
#[macro_export]
macro_rules! with_every_kind {
    ($any:expr, $run:ident => $body:expr) => {
        $crate::with_run!(@of Exchange Stream Loop Control; $any, $run => $body)
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
