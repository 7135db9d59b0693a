//! The `wiregauge-serve` binary: the responder alone, for boards.

use clap::Parser;
use std::io::Write;
use std::process::ExitCode;
use wiregauge_program::console::Streams;
use wiregauge_program::failure;
use wiregauge_serve::{ServeArgs, examples};

/// What a user types before the address.
const PROGRAM: &str = "wiregauge-serve";

/// Run a responder, the other end of a link.
#[derive(Debug, Parser)]
#[command(name = PROGRAM, version, max_term_width = 100, after_help = examples(PROGRAM))]
struct Arguments {
    #[command(flatten)]
    serve: ServeArgs,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::print_parsing(&error).into(),
    };
    let served = wiregauge_serve::run(&arguments.serve, &Streams::default(), PROGRAM);
    match served.and_then(|()| Ok(std::io::stdout().flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::print(&error, failure::kind_of(&error)).into(),
    }
}
