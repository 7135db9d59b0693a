//! What was found, for machines. docs/tune.md lists the keys.

use super::found::{Ended, Found};
use super::taken::Taken;
use super::task::{Kind, Task};
use super::usage;
use super::words;
use crate::commands::unmet::Unmet;
use serde_json::{Value, json};
use wiregauge_record::{Carried, Figure};
use wiregauge_stats::Estimate;
use wiregauge_tune::{Candidate, Choice};

/// All of it.
pub fn of(found: &Found) -> Value {
    let (task, advice) = (&found.task, &found.advice);
    let constraints = task.constraints.iter().map(|constraint| {
        json!({
            "text": constraint.text,
            "figure": constraint.figure.to_string(),
            "way": constraint.way,
            "bare": constraint.figure.is_bare(),
        })
    });
    let rows = found.rows();
    let row = |row: &super::trade_offs::Row| {
        let mut value = setting(task, &row.at);
        value["latency_ns"] = json!(row.latency);
        value["latency_p99_ns"] = json!(row.latency_p99);
        value["bytes_s"] = json!(row.rate);
        value["carried_bytes_s"] = json!(row.carried);
        value["per_second"] = json!(row.per_second);
        value["is_best"] = json!(row.is_best);
        value["is_knee"] = json!(row.is_knee);
        value["n"] = json!(row.n);
        value["confirmed"] = json!(row.confirmed);
        value["unproven"] = json!(found.unproven(&row.at));
        value
    };
    let probes = advice.probes.iter().zip(&found.taken);
    let probes = probes.map(|((probe, measured), taken)| {
        let mut value = setting(task, &probe.at);
        value["purpose"] = json!(probe.purpose);
        value[effort_name(task)] = json!(measured.exchanges);
        value["objective"] = json!(measured.objective);
        value["constraints"] = json!(measured.constraints);
        let bytes_s = |taken: &Taken| Some(taken.figure(Figure::Rate(Carried::Both))?.value);
        value["bytes_s"] = json!(taken.as_ref().and_then(bytes_s));
        value["trt_ns"] = json!(measured.observation.map(|o| o.trt_ns));
        value["rtt_ns"] = json!(measured.observation.map(|o| o.rtt_ns));
        value
    });
    let failing = found.failing.iter().map(|failing| {
        let mut value = setting(task, &failing.at);
        value["error"] = json!(failing.error);
        value
    });
    let aside = advice.set_aside.iter().map(|aside| {
        let mut value = choice(task, &aside.choice);
        value["was_outdone"] = json!(aside.was_outdone);
        value
    });
    let best = advice.best.as_ref().map(|best| choice(task, best));
    let usage = advice.best.as_ref().map(|best| usage::of(task, &best.at));
    let knee = rows.iter().find(|row| row.is_knee);
    json!({
        "answer": advice.best.as_ref().map(|best| words::answer(found, best)),
        "address": task.address,
        "kind": kind(task),
        "objective": {
            "figure": task.figure.to_string(),
            "sense": task.sense,
            "carried": match found.carried() {
                Carried::In => "in",
                Carried::Out => "out",
                Carried::Both => "both",
            },
        },
        "constraints": constraints.collect::<Vec<_>>(),
        "ended": match &found.ended {
            Ended::Complete => "complete",
            Ended::OutOfTime => "out-of-time",
            Ended::Interrupted => "interrupted",
            Ended::Dead(_) => "link-failed",
        },
        "error": match &found.ended {
            Ended::Dead(error) => Some(error.to_string()),
            _ => None,
        },
        "missed": found.unmet().iter().map(Unmet::whole).collect::<Vec<_>>(),
        "best": best,
        "run": found.best_run,
        "use": usage.map(|usage| json!({
            "command": usage.command,
            "python": usage.python,
            "c": usage.c,
            "matlab": usage.matlab,
            "open": usage.open,
            "call": usage.call,
        })),
        "set_aside": aside.collect::<Vec<_>>(),
        "front": rows.iter().map(row).collect::<Vec<_>>(),
        "knee": knee.map(|row| setting(task, &row.at)),
        "better_probe": found.better_in_probe(&rows).map(|rival| setting(task, &rival.at)),
        "why": found.reasons(),
        "model": advice.model,
        "probes": probes.collect::<Vec<_>>(),
        "failed": failing.collect::<Vec<_>>(),
        "spent": advice.spent,
        "exhaustive": advice.exhaustive,
        "unit_of_effort": effort_name(task),
        "took_s": found.took.as_secs_f64(),
    })
}

fn kind(task: &Task) -> &'static str {
    match task.kind {
        Kind::Exchanges(_) => "exchange",
        Kind::Stream(_) => "stream",
    }
}

/// In what effort is counted.
pub fn effort_name(task: &Task) -> &'static str {
    match task.kind {
        Kind::Exchanges(_) => "exchanges",
        Kind::Stream(_) => "milliseconds",
    }
}

/// A candidate under the names of the flags.
fn setting(task: &Task, at: &Candidate) -> Value {
    match &task.kind {
        Kind::Exchanges(of) => {
            let (out_bytes, in_bytes) = task.sizes(at);
            json!({
                "out_bytes": out_bytes,
                "in_bytes": in_bytes,
                "depth": at.setting.depth,
                "wait": at.wait,
                "connect": at.connect,
                "protocol": of.protocol.name(),
            })
        }
        Kind::Stream(of) => json!({
            "direction": of.direction.name(),
            "transfer_bytes": task.transfer(at),
            "queue": at.setting.depth,
        }),
    }
}

fn choice(task: &Task, choice: &Choice) -> Value {
    let verdicts = task.constraints.iter().zip(&choice.constraints);
    let verdicts = verdicts.map(|(constraint, verdict)| {
        json!({
            "text": constraint.text,
            "figure": constraint.figure.to_string(),
            "found": verdict.found,
            "verdict": verdict.compliance,
        })
    });
    let mut value = setting(task, &choice.at);
    let objective: &Estimate = &choice.objective;
    value["objective"] = json!(objective);
    value["constraints"] = json!(verdicts.collect::<Vec<_>>());
    value[effort_name(task)] = json!(task.counted(&choice.at, choice.exchanges));
    value["confirmed"] = json!(choice.confirmed);
    value
}
