//! The `wiregauge` binary: the commands of this crate's library on a terminal.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    // Unlike a path, it is this executable even if that was replaced meanwhile.
    wiregauge_cli::main(words, vec!["/proc/self/exe".into()]).into()
}
