//! `wiregauge explain`: where the time of a stored run went.

use crate::Outcome;
use crate::args::ExplainArgs;
use crate::caller::Session;
use crate::output::explained;
use std::io::Write;
use wiregauge_explain::{has_interrupt_endpoints, of_exchange, of_stream};
use wiregauge_run::AnyRun;

/// Runs the command.
pub fn run(args: &ExplainArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    let interrupt = has_interrupt_endpoints(run.stored().conditions());
    let mut out = session.caller.words();
    let (name, kind) = (run.stored().name(), run.stored().kind());
    let mut value = match &run {
        AnyRun::Exchange(run) => {
            let file = &run.file;
            let splits = of_exchange(&file.plan, &file.conditions, &file.points);
            if !args.json {
                explained::exchange(&mut out, &file.plan, &splits)?;
            }
            serde_json::json!({ "exchanges": splits })
        }
        AnyRun::Stream(run) => {
            let explanation = of_stream(&run.file.plan, &run.file.points);
            if !args.json {
                explained::stream(&mut out, &run.file.plan, &explanation)?;
            }
            serde_json::to_value(&explanation)?
        }
        AnyRun::Loop(run) => anyhow::bail!(
            "{} is a loop: what it needs and what limits it stands in its tables (wiregauge show {0})",
            run.name()
        ),
    };
    if args.json {
        value["run"] = name.into();
        value["kind"] = kind.into();
        value["interrupt_endpoints"] = interrupt.into();
        // The kind is kept, so that `| head` is known as such.
        serde_json::to_writer_pretty(&mut out, &value).map_err(std::io::Error::from)?;
        writeln!(out)?;
    }
    if interrupt && !args.json {
        explained::interrupt_note(&mut out)?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}
