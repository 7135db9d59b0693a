//! What was found, for machines, and for the tables that are made of it. docs/tune.md lists the keys.

use super::found::{Ended, Found};
use super::taken::Taken;
use super::task::{Kind, Task};
use super::trade_offs::Row;
use super::usage;
use super::words;
use crate::commands::unmet::Unmet;
use serde_json::{Value, json};
use wiregauge_record::{Carried, Figure};
use wiregauge_tune::{Candidate, Choice};

/// All of it.
pub fn of(found: &Found, rows: &[Row]) -> Value {
    let (task, advice) = (&found.task, &found.advice);
    let constraints = task.constraints.iter().map(|constraint| {
        json!({
            "text": constraint.text,
            "figure": constraint.figure.to_string(),
            "way": constraint.way,
            "bare": constraint.figure.is_bare(),
        })
    });
    let row = |row: &Row| {
        let figures = json!({
            "latency_ns": row.latency,
            "latency_p99_ns": row.latency_p99,
            "bytes_s": row.rate,
            "carried_bytes_s": row.carried,
            "per_second": row.per_second,
            "is_best": row.is_best,
            "is_knee": row.is_knee,
            "is_best_of_method": row.is_best_of_method,
            "n": row.n,
            "confirmed": row.confirmed,
            "unproven": found.unproven(&row.at),
        });
        with(task, &row.at, figures)
    };
    let probes = advice.probes.iter().zip(&found.taken);
    let probes = probes.map(|((probe, measured), taken)| {
        let bytes_s = |taken: &Taken| Some(taken.figure(Figure::Rate(Carried::Both))?.value);
        let figures = json!({
            "purpose": probe.purpose,
            effort_name(task): measured.exchanges,
            "objective": measured.objective,
            "constraints": measured.constraints,
            "bytes_s": taken.as_ref().and_then(bytes_s),
            "trt_ns": measured.observation.map(|o| o.trt_ns),
            "rtt_ns": measured.observation.map(|o| o.rtt_ns),
        });
        with(task, &probe.at, figures)
    });
    let failing = found.failing.iter();
    let failing = failing.map(|one| with(task, &one.at, json!({ "error": one.error })));
    let aside = advice.set_aside.iter().map(|aside| {
        let mut value = choice(task, &aside.choice);
        value["was_outdone"] = json!(aside.was_outdone);
        value
    });
    let setting = |row: &Row| with(task, &row.at, json!({}));
    let best = advice.best.as_ref();
    let usage = best.map(|best| usage::of(task, &best.at));
    json!({
        "answer": best.map(|best| words::answer(found, best)),
        "address": task.address,
        "kind": match task.kind {
            Kind::Exchanges(_) => "exchange",
            Kind::Stream(_) => "stream",
        },
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
        "best": best.map(|best| choice(task, best)),
        "run": found.best_run,
        "use": usage.map(|usage| json!({
            "command": usage.command,
            "python": usage.python,
            "c": usage.c,
            "matlab": usage.matlab,
            "start": usage.start,
            "open": usage.open,
            "call": usage.call,
        })),
        "set_aside": aside.collect::<Vec<_>>(),
        "front": rows.iter().map(row).collect::<Vec<_>>(),
        "knee": rows.iter().find(|row| row.is_knee).map(setting),
        "better_probe": found.better_in_probe(rows).map(setting),
        "why": found.reasons(rows),
        "model": advice.model,
        "probes": probes.collect::<Vec<_>>(),
        "failed": failing.collect::<Vec<_>>(),
        "spent": advice.spent,
        "exhaustive": advice.exhaustive,
        "unit_of_effort": effort_name(task),
        "took_s": found.took.as_secs_f64(),
    })
}

/// In what effort is counted.
fn effort_name(task: &Task) -> &'static str {
    match task.kind {
        Kind::Exchanges(_) => "exchanges",
        Kind::Stream(_) => "milliseconds",
    }
}

/// A candidate under the names of the flags, with what was found there.
fn with(task: &Task, at: &Candidate, figures: Value) -> Value {
    let mut value = match &task.kind {
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
    };
    value["name"] = task.name(at).into();
    if let (Some(value), Value::Object(figures)) = (value.as_object_mut(), figures) {
        value.extend(figures);
    }
    value
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
    let figures = json!({
        "objective": choice.objective,
        "constraints": verdicts.collect::<Vec<_>>(),
        effort_name(task): task.counted(&choice.at, choice.exchanges),
        "confirmed": choice.confirmed,
    });
    with(task, &choice.at, figures)
}
