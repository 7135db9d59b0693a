//! What a run ran on and how it was asked to measure, as names and values in groups: those of `run.json`, for whoever
//! wants to repeat the run or doubts it.

use super::heading;
use crate::signs::proper;
use serde::Serialize;
use serde_json::Value;
use wiregauge_quantity::{exact_time, grouped};
use wiregauge_run::{Files, RunFile};

/// Names and values.
type Values = Vec<(String, String)>;

/// Parts of a plan that the tables have, and the matrices of a model.
const ELSEWHERE: [&str; 2] = ["points", "model"];

/// Items of a list that are shown; more are counted.
const MOST_ITEMS: usize = 10;

/// The run, its plan, its host and its links, in groups that have a title.
pub(super) fn of<K: Files>(file: &RunFile<K>) -> Vec<(String, Values)> {
    let conditions = &file.conditions;
    let samples = format!("{} {}", grouped(file.measured()), K::ROWS);
    let run = [
        ("kind", Some(K::NAME.to_owned())),
        ("started", Some(conditions.started.clone())),
        ("state", Some(file.state.describe().to_owned())),
        ("points", Some(points(file))),
        ("samples", Some(samples)),
        ("wiregauge", Some(conditions.version.clone())),
        ("worker", conditions.worker.clone()),
        ("note", conditions.note.clone()),
    ];
    let run = run.into_iter();
    let run = run.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut plan = json(&file.plan);
    if let Value::Object(settings) = &mut plan {
        settings.retain(|name, _| !ELSEWHERE.contains(&name.as_str()));
    }
    let mut groups = vec![
        ("Run".to_owned(), run.collect()),
        ("Plan".to_owned(), flat("", &plan)),
    ];
    // A run that failed before its link was open knows nothing of its host.
    if !conditions.host.kernel.is_empty() {
        groups.push(("Host".to_owned(), flat("", &json(&conditions.host))));
    }
    let first = (&conditions.link, &conditions.responder);
    let further = conditions.more_links.iter();
    let further = further.map(|more| (&more.link, &more.responder));
    for (at, (link, responder)) in std::iter::once(first).chain(further).enumerate() {
        let title = match at {
            0 => "Link".to_owned(),
            at => format!("Link {at}"),
        };
        let mut values = link.settings.clone();
        values.extend(flat("device", &json(responder)));
        groups.push((title, values));
    }
    let split = |line: String| match proper(&line).split_once(": ") {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => ("sleep and clock".to_owned(), proper(&line).into_owned()),
    };
    let floors = heading::floors(conditions).into_iter().map(split);
    let title = format!("{}, {}", super::FLOORS, super::FLOORS_ARE);
    groups.push((title, floors.collect()));
    groups.retain(|(_, values)| !values.is_empty());
    groups
}

/// `2 measured of 12 planned, 1 not to its end`.
fn points<K: Files>(file: &RunFile<K>) -> String {
    let is_planned = |point: &&K::Summary| K::is_planned(&file.plan, point);
    let (planned, tested): (Vec<_>, Vec<_>) = file.points.iter().partition(is_planned);
    let whole = planned.iter().filter(|p| K::is_complete(p)).count();
    let cut = match planned.len() - whole {
        0 => String::new(),
        1 => ", 1 not to its end".to_owned(),
        many => format!(", {many} not to their end"),
    };
    let tested = match tested.len() {
        0 => String::new(),
        tested => format!(", and {tested} tested preloads"),
    };
    let planned = K::planned(&file.plan);
    format!("{whole} measured of {planned} planned{cut}{tested}")
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The values in a JSON value that are there, each with the names on the way to it.
fn flat(name: &str, value: &Value) -> Values {
    match value {
        Value::Null => Values::new(),
        Value::Array(items) if items.is_empty() => Values::new(),
        Value::Object(parts) => {
            let parts = parts.iter();
            let parts = parts.flat_map(|(part, value)| flat(&format!("{name} {part}"), value));
            parts.collect()
        }
        value => vec![pair(name, value)],
    }
}

/// A name in words, and its value; a time has its unit at the value.
fn pair(name: &str, value: &Value) -> (String, String) {
    let name = name.replace(['_', '-'], " ");
    let name = name.trim();
    match (name.strip_suffix(" ns"), value.as_u64()) {
        (Some(name), Some(ns)) => (name.to_owned(), proper(&exact_time(ns)).into_owned()),
        _ => (name.to_owned(), text(value)),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let shown: Vec<String> = items.iter().take(MOST_ITEMS).map(text).collect();
            let more = match items.len() - shown.len() {
                0 => String::new(),
                more => format!("; {more} more"),
            };
            shown.join(", ") + &more
        }
        Value::Object(parts) => parts.values().map(text).collect::<Vec<_>>().join(" "),
        number => number.as_u64().map_or_else(|| number.to_string(), grouped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_have_the_names_on_the_way_to_them_and_times_their_unit() {
        let plan = json!({
            "limit": { "duration-ns": 2_000_000_000u64 },
            "link": { "baud": 115_200, "framing": null, "quick_ack": true },
            "rates_bytes_s": (0..12).collect::<Vec<u32>>(),
            "wait": "block",
        });
        let values = flat("", &plan);
        let values: Vec<(&str, &str)> = values.iter().map(|(n, v)| (&n[..], &v[..])).collect();
        assert_eq!(
            values,
            [
                ("limit duration", "2 s"),
                ("link baud", "115,200"),
                ("link quick ack", "yes"),
                ("rates bytes s", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9; 2 more"),
                ("wait", "block"),
            ]
        );
    }
}
