//! One file a command.

mod closed_loop;
mod compare;
mod demo;
mod devices;
mod exchange;
mod explain;
mod export;
mod measure;
mod plan;
pub mod printed;
mod printed_comparison;
mod recorder;
mod report;
mod runs;
mod serve;
mod show;
mod stream;

use crate::Outcome;
use crate::args::{Arguments, Command};
use anyhow::Context;
use clap::CommandFactory;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The samples could not be stored. What was stored before is there.
#[derive(Debug)]
pub struct StorageFailed(pub std::io::Error);

impl std::fmt::Display for StorageFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for StorageFailed {}

/// Runs the command that the user gave.
pub fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    match arguments.command {
        Command::Exchange(args) => exchange::run(&args),
        Command::Stream(args) => stream::run(&args),
        Command::Loop(args) => closed_loop::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Runs(args) => runs::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Completions { shell } => {
            let mut command = Arguments::command();
            clap_complete::generate(shell, &mut command, "wiregauge", &mut std::io::stdout());
            Ok(Outcome::Done)
        }
        Command::Man { directory } => man(&directory),
    }
}

fn man(directory: &Path) -> anyhow::Result<Outcome> {
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), directory))
        .with_context(|| format!("writing man pages to {}", directory.display()))?;
    Ok(Outcome::Done)
}

/// A flag that SIGINT and SIGTERM raise. A second signal ends the program at once, should it hang.
fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("installing the handler for Ctrl-C")?;
    }
    Ok(stop)
}
