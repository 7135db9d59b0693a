//! The `wiregauge` binary: the commands of this crate's library on a terminal.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    wiregauge_cli::main(words, vec![wiregauge_cli::own_program()]).into()
}
