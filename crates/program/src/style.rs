//! Colours, which `anstream` strips where the output is no terminal, NO_COLOR is set or a program reads it.

use anstyle::{AnsiColor, Style};
use std::ffi::OsString;

/// A heading.
pub const HEADING: Style = Style::new().bold();
/// Something to look at twice.
pub const CAUTION: Style = AnsiColor::Yellow.on_default();
/// An error.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Something to type.
pub const TYPE: Style = AnsiColor::Cyan.on_default();
/// The end of any of them.
pub const RESET: anstyle::Reset = anstyle::Reset;

/// The first word of a command line whose output a program reads, as Python and MATLAB do: no colours there, not even
/// where CLICOLOR_FORCE asks for them, as notebooks do. For programs: not in the help.
const PLAIN: &str = "--plain";

/// Takes that word from a command line, if it is there; nothing is coloured from then on.
pub fn plain_if_asked(words: &mut Vec<OsString>) {
    if words.get(1).is_some_and(|word| word == PLAIN) {
        words.remove(1);
        anstream::ColorChoice::Never.write_global();
    }
}
