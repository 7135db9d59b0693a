//! One file a command.

mod chosen_points;
#[cfg(feature = "loop")]
mod closed_loop;
mod compare;
mod control;
mod cycles;
mod deadline;
mod demo;
mod devices;
mod doctor;
mod ending;
mod exchange;
mod explain;
mod explain_capture;
mod export;
mod figure_files;
mod limits;
mod loop_assessment;
mod loop_control;
#[cfg(feature = "loop")]
mod loop_plan;
mod man;
mod measure;
mod plan;
pub mod printed;
mod printed_comparison;
mod queries;
mod recorder;
mod recording;
mod refused;
mod report;
mod runs;
mod show;
mod stream;
mod tune;
mod unmet;
pub mod warning_help;

use crate::Outcome;
use crate::args::{Arguments, Command, SERVE};
use crate::caller::Session;
use clap::CommandFactory;
use std::io::Write;

/// Runs the command that the user gave.
pub fn run(arguments: Arguments, session: &Session<'_>) -> anyhow::Result<Outcome> {
    match arguments.command {
        Command::Exchange(args) => exchange::run(&args, session),
        Command::Stream(args) => stream::run(&args, session),
        #[cfg(feature = "loop")]
        Command::Loop(args) => closed_loop::run(&args, session),
        Command::Tune(args) => tune::run(&args, session),
        Command::Serve(args) => {
            wiregauge_serve::run(&args, session.caller, SERVE)?;
            Ok(Outcome::Done)
        }
        Command::Show(args) => show::run(&args, session),
        Command::Explain(args) => explain::run(&args, session),
        Command::Deadline(args) => deadline::run(&args, session),
        Command::LoopControl(args) => loop_control::run(&args, session),
        Command::Control(args) => control::run(&args, session),
        Command::Report(args) => report::run(&args, session),
        Command::Compare(args) => compare::run(&args, session),
        Command::Doctor(args) => doctor::run(&args, session),
        Command::Limits(args) => limits::run(&args, session),
        Command::Runs(args) => runs::run(&args, session),
        Command::Export(args) => export::run(&args, session),
        Command::Devices(args) => devices::run(&args, session),
        Command::Demo(args) => demo::run(&args, session, run),
        Command::Completions { shell } => {
            let mut command = Arguments::command();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "wiregauge", &mut script);
            let mut out = session.caller.bytes();
            out.write_all(&script)?;
            out.flush()?;
            Ok(Outcome::Done)
        }
        Command::Man { directory, force } => man::write(&directory, force.force, session),
    }
}
