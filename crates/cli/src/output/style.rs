//! Colours, which `anstream` strips where the output is no terminal or NO_COLOR is set.

use anstyle::{AnsiColor, Style};

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
