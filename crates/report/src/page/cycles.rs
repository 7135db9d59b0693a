//! The section on the cycles of a control loop: how many missed their deadline.

use super::escape::{prose, text};
use super::sections;
use crate::Subject;
use crate::load::{ControlLoop, DeadlinePoint, Deadlines};
use crate::tables::{of_deadlines, sentence};
use std::fmt::Write;
use wiregauge_command_line::quoted;
use wiregauge_quantity::{exact_time, flag_time, grouped, percent};

/// Empty if no run has cycles: neither a schedule nor a period that was asked for.
pub(super) fn section(subjects: &[Subject]) -> String {
    let mut out = String::new();
    for subject in subjects {
        let Some((deadlines, (run, _))) = subject.deadlines.as_ref().zip(subject.exchange_run())
        else {
            continue;
        };
        if subjects.len() > 1 {
            let _ = writeln!(out, "<h3>{}</h3>", text(&subject.label));
        }
        let _ = writeln!(out, "<p class=\"lead\">{}</p>", prose(&answer(deadlines)));
        let tables = of_deadlines(&run.file, deadlines);
        out.push_str(&sections::rendered(&tables.tables));
        for note in &tables.notes {
            let _ = writeln!(out, "<p><small>{}</small></p>", prose(note));
        }
        let command = command(&run.name(), deadlines, subject.is_part);
        let _ = writeln!(
            out,
            "<p><small>The same figures: <code class=\"line\">{}</code>. {}</small></p>",
            sections::unbroken_words(&command),
            prose(
                "For another period, deadline or jitter limit: --period, --deadline and --jitter of wiregauge report."
            )
        );
    }
    out
}

/// The command that prints the same figures.
fn command(run: &str, deadlines: &Deadlines, is_part: bool) -> String {
    let ControlLoop {
        period_ns,
        deadline_ns,
        jitter_ns,
        beyond: _,
    } = deadlines.control_loop;
    let mut words = vec!["wiregauge".to_owned(), "deadline".into(), run.to_owned()];
    let mut flag = |name: &str, value: String| words.extend([name.to_owned(), value]);
    flag("--period", flag_time(period_ns));
    if deadline_ns != period_ns {
        flag("--deadline", flag_time(deadline_ns));
    }
    if let Some(jitter_ns) = jitter_ns {
        flag("--jitter", flag_time(jitter_ns));
    }
    if is_part {
        let points = deadlines.points.iter();
        let points: Vec<String> = points.map(|p| p.point.index.to_string()).collect();
        flag("--point", points.join(","));
    }
    quoted(&words)
}

/// The cycles of all points, and the worst of them.
fn answer(deadlines: &Deadlines) -> String {
    let points = &deadlines.points;
    let share = |point: &DeadlinePoint| point.cycles.share.value;
    let worst = points.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
    let worst = worst.filter(|worst| worst.cycles.missed > 0 && points.len() > 1);
    let most = worst.map_or(String::new(), |worst| {
        format!("; most at {}: {}", worst.point, percent(share(worst)))
    });
    sentence(&format!("{}{most}", missed(deadlines)))
}

/// How many cycles of all points missed: by their responses, whereas a rate is kept by the starts.
pub(super) fn missed(deadlines: &Deadlines) -> String {
    let points = &deadlines.points;
    let sum = |of: fn(&DeadlinePoint) -> u64| points.iter().map(of).sum::<u64>();
    let (cycles, missed) = (
        sum(|point| point.cycles.cycles),
        sum(|point| point.cycles.missed),
    );
    let asked = deadlines.control_loop;
    let period = exact_time(asked.period_ns);
    let deadline = match asked.deadline_ns == asked.period_ns {
        true => ", the end of the cycle".to_owned(),
        false => format!(" of {}", exact_time(asked.deadline_ns)),
    };
    let jitter = asked.jitter_ns.map_or(String::new(), |jitter| {
        format!(", or the jitter limit of {}", exact_time(jitter))
    });
    format!(
        "responses: {} of {} cycles of {period} missed their deadline{deadline}{jitter} ({})",
        grouped(missed),
        grouped(cycles),
        percent(missed as f64 / cycles.max(1) as f64)
    )
}
