//! The `wiregauge` binary: the commands of this crate's library on a terminal.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    // Where the system does not tell, the name that it was called by has to do.
    let program = match std::env::current_exe() {
        Ok(path) => vec![path.into()],
        Err(_) => words.iter().take(1).cloned().collect(),
    };
    wiregauge_cli::main(words, program).into()
}
