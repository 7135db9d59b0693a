//! `wiregauge explain`: where the time of a stored run went, the link in a few numbers, and what to
//! expect of settings that it did not measure.

use super::refused::refused;
use super::{ending, explain_capture, printed};
use crate::Outcome;
use crate::args::ExplainArgs;
use crate::asked::Asked;
use crate::caller::Session;
use crate::output::{explained, modelled};
use anyhow::bail;
use std::io::Write;
use wiregauge_explain::{
    Modelled, has_interrupt_endpoints, models_of_exchange, of_exchange, of_modbus, of_stream,
};
use wiregauge_model::CannotPredict;
use wiregauge_run::{Exchange, Stream};

/// Runs the command.
pub fn run(args: &ExplainArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    if let Some(file) = explain_capture::file_of(&args.run) {
        return explain_capture::run(&file, args, session);
    }
    explain_capture::refuse_flags(args)?;
    let run = wiregauge_run::find(&wiregauge_run::runs_home(), &args.run)?;
    let stored = run.stored();
    ending::print([stored], args.json, session)?;
    if stored.points() == 0 {
        bail!(
            "cannot explain {}: no point was finished (the run is {})",
            stored.name(),
            stored.state_word()
        );
    }
    let interrupt = has_interrupt_endpoints(stored.conditions());
    let mut out = session.caller.words();
    let (name, kind) = (stored.name(), stored.kind());
    let (mut value, models, links) = if let Some(run) = run.as_kind::<Exchange>() {
        let file = &run.file;
        let splits = of_exchange(&file.plan, &file.conditions, &file.points);
        let mut models = models_of_exchange(&file.plan, &file.conditions, &file.points);
        predict(&mut models, args, false)?;
        let modbus = of_modbus(&file.plan, &file.conditions, &file.points);
        if !args.json {
            explained::exchange(&mut out, &file.plan, &file.conditions, &splits)?;
            explained::modbus(&mut out, &modbus)?;
        }
        let mut value = serde_json::json!({ "exchanges": splits, "models": models });
        if !modbus.is_empty() {
            value["modbus"] = serde_json::to_value(&modbus)?;
        }
        (value, models, !file.plan.more_links.is_empty())
    } else if let Some(run) = run.as_kind::<Stream>() {
        let mut explanation = of_stream(&run.file.plan, &run.file.points);
        predict(&mut explanation.models, args, true)?;
        if !args.json {
            explained::stream(&mut out, &run.file.plan, &explanation)?;
        }
        let value = serde_json::to_value(&explanation)?;
        let links = !run.file.plan.more_links.is_empty();
        (value, explanation.models, links)
    } else {
        return Err(refused("explain what limits", &run));
    };
    if args.json {
        value["run"] = name.into();
        value["kind"] = kind.into();
        value["interrupt_endpoints"] = interrupt.into();
        printed::json(&mut out, &value)?;
    } else {
        if interrupt {
            explained::interrupt_note(&mut out)?;
        }
        modelled::print(&mut out, &models, links)?;
        modelled::predicted(&mut out, &models, links)?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// Answers each --predict from each model that it fits.
fn predict(models: &mut [Modelled], args: &ExplainArgs, is_stream: bool) -> anyhow::Result<()> {
    for asked in &args.predict {
        asked.check(is_stream)?;
        let mut answered = false;
        for modelled in models.iter_mut() {
            answered |= answer(modelled, asked, args.confidence)?;
        }
        if !answered {
            match models.iter().find_map(|modelled| modelled.why_not.as_ref()) {
                Some(why) => bail!("cannot predict {}: {why}", asked.text),
                None if models.is_empty() => {
                    bail!("cannot predict {}: nothing was measured", asked.text)
                }
                None => bail!(
                    "cannot predict {}: the run has no stream in that direction",
                    asked.text
                ),
            }
        }
    }
    Ok(())
}

fn answer(modelled: &mut Modelled, asked: &Asked, share: Option<f64>) -> anyhow::Result<bool> {
    let Some(figures) = modelled.figures() else {
        return Ok(false);
    };
    let Some(at) = asked.setting(modelled, &figures)? else {
        return Ok(false);
    };
    match modelled.predict(at, share) {
        Some(Ok(predicted)) => modelled.predictions.push(predicted),
        Some(Err(why @ CannotPredict::TooFew { .. })) => {
            bail!(
                "cannot predict {}: {why}. {}",
                asked.text,
                modelled.more_points()
            )
        }
        Some(Err(why)) => bail!("cannot predict {}: {why}", asked.text),
        None => return Ok(false),
    }
    Ok(true)
}
