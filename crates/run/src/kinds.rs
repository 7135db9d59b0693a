//! The kinds of run that this version knows.

use crate::kind::RunKind;

/// Hands all kinds to a macro.
macro_rules! for_every_kind {
    ($make:ident) => {
        $make!(Exchange, Stream, Loop, Control);
    };
}

/// Evaluates an expression with a run of whatever kind it is: `with_run!(&any, run => run.name())`.
#[macro_export]
macro_rules! with_run {
    (@of $($kind:ident)+; $any:expr, $run:ident => $body:expr) => {
        match $any {
            $($crate::AnyRun::$kind($run) => $body,)+
        }
    };
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
