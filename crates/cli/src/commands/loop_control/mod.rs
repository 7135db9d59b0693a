//! `wiregauge loop-control`: close a loop over the link, store it, compare it with its prediction.

mod against;
mod drive;
mod plant_check;
mod summary;

use super::measure::Measurement;
use super::plan;
use crate::Outcome;
use crate::args::{LoopControlArgs, MissArgs, Undecided};
use crate::caller::{Session, remark};
use crate::loop_model::{self, LoopModel};
use crate::output::progress::Extent;
use against::Against;
use anyhow::bail;
use std::time::Duration;
use wiregauge_control::{
    ControlError, Flows, Loop, MOST_SIGNALS, Matrix, OnMiss, StateSpace, constant_delay,
};
use wiregauge_record::{
    ControlModel, ControlPlan, ControlPoint, LinkOptions, Rows, SystemMatrices,
};
use wiregauge_run::Control;

/// Rows are held in memory until the run ends.
const MOST_CYCLES: u64 = 4_000_000;

/// The shortest timeout that is chosen.
const LEAST_TIMEOUT: Duration = Duration::from_millis(10);

/// Runs the command.
pub fn run(args: &LoopControlArgs, session: &Session<'_>) -> anyhow::Result<Outcome> {
    let against = args.against.as_deref().map(against::found).transpose()?;
    let misses = MissArgs {
        order: None,
        on_miss: None,
        deadline: None,
    };
    let period = against.as_ref().and_then(|run| run.period());
    let asked = loop_model::resolve_without_noise(&args.model, &misses, period)?;
    check(&asked)?;
    let plan = control_plan(args, &asked)?;
    plan::check_baud(args.baud, [&args.address])?;
    let differs = against.as_ref();
    if let Some(differs) = differs.and_then(|run| run.differs(&args.address, plan.point.period_ns))
    {
        remark!(session, "note: --against: {differs}");
    }
    let against = match against {
        Some(run) => Some(run.delays(args.point, asked.model.period_ns())?),
        None => None,
    };
    let (model, against): (&Loop, Option<&Against>) = (&asked.model, against.as_ref());
    let measurement = Measurement::<Control> {
        points: 1,
        extent: Extent::Rows(plan.cycles),
        plan,
        keep: &args.keep,
        csv: args.csv.as_deref(),
        look: args.look,
    };
    measurement.run(
        session,
        |plan, stop, sink| drive::run(plan, model, against, stop, sink),
        |_| Vec::new(),
        Undecided::Fail,
    )
}

/// What this command cannot do of a model.
fn check(asked: &LoopModel) -> anyhow::Result<()> {
    let (model, rules) = (&asked.model, asked.rules);
    let without_delay = constant_delay(model, &mut Flows::new(model, 1), model.period_ns(), 0);
    if without_delay.cost.is_none() {
        let growth = without_delay.growth;
        return Err(ControlError::Unstable { growth }.into());
    }
    if let OnMiss::ZeroAtDeadline | OnMiss::ZeroAtOnce = rules.on_miss {
        bail!(
            "misses.on-miss: the device keeps the last command on a miss, and cannot set it to zero\n  hint: use \"hold\" \
             or leave the key out"
        );
    }
    if rules.deadline_ns.is_some() {
        bail!(
            "misses.deadline: the device applies every command that arrives, however late\n  hint: leave the key out"
        );
    }
    if model.cost.state.amax() > 0.0 {
        bail!(
            "cost.state: the states of the plant are not measured\n  hint: weight its outputs (cost.output) and commands \
             (cost.input)"
        );
    }
    let most = model.plant.inputs().max(model.plant.outputs());
    if most > MOST_SIGNALS {
        bail!(
            "plant: it has {most} inputs or outputs, but a loop over a link has at most {MOST_SIGNALS} of each"
        );
    }
    Ok(())
}

fn control_plan(args: &LoopControlArgs, asked: &LoopModel) -> anyhow::Result<ControlPlan> {
    let period_ns = asked.model.period_ns();
    let duration_ns = u64::try_from(args.duration.as_nanos()).unwrap_or(u64::MAX);
    let cycles = args.count.unwrap_or((duration_ns / period_ns).max(1));
    if cycles > MOST_CYCLES {
        let flag = if args.count.is_some() {
            "--count"
        } else {
            "--duration"
        };
        bail!(
            "{flag}: {cycles} cycles are too many: a run holds its cycles in memory, at most {MOST_CYCLES}\n  hint: use \
             several runs"
        );
    }
    let usual = Duration::from_nanos(period_ns.saturating_mul(10)).max(LEAST_TIMEOUT);
    let timeout = args.timeout.unwrap_or(usual);
    Ok(ControlPlan {
        address: args.address.clone(),
        link: LinkOptions {
            baud: args.baud,
            ..LinkOptions::default()
        },
        model: stored(asked),
        point: ControlPoint {
            index: 0,
            period_ns,
            depth: args.depth,
            step: args.step.unwrap_or(0.0),
        },
        cycles,
        timeout_ns: u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 4),
        host: plan::host(&args.host),
    })
}

fn stored(LoopModel { model, words, .. }: &LoopModel) -> ControlModel {
    fn rows(matrix: &Matrix) -> Rows {
        (matrix.row_iter())
            .map(|row| row.iter().copied().collect())
            .collect()
    }
    fn system(of: &StateSpace) -> SystemMatrices {
        SystemMatrices {
            a: rows(&of.a),
            b: rows(&of.b),
            c: rows(&of.c),
            d: rows(&of.d),
        }
    }
    ControlModel {
        words: words.clone(),
        plant: system(&model.plant),
        controller: system(&model.controller),
        process_noise: rows(&model.noise.process),
        measurement_noise: rows(&model.noise.measurement),
        output_cost: rows(&model.cost.output),
        input_cost: rows(&model.cost.input),
        limits: model.limits.clone(),
    }
}
