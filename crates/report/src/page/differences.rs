//! The conditions in which several runs differ. Whether their figures differ is for `wiregauge_compare` to say.

use crate::Subject;

/// Those that are not the same in all: name, one value a run.
pub(super) fn of(subjects: &[Subject]) -> Vec<(String, Vec<String>)> {
    let all: Vec<Vec<(String, &String)>> = subjects.iter().map(named).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in all.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let values = names.into_iter().map(|name| {
        let value = |of: &Vec<(String, &String)>| {
            let found = of.iter().find(|(other, _)| other == name);
            found.map_or("-".to_owned(), |(_, value)| (*value).clone())
        };
        (name.clone(), all.iter().map(value).collect::<Vec<_>>())
    });
    values
        .filter(|(_, values)| values.iter().any(|value| *value != values[0]))
        .collect()
}

/// All conditions of a run, each by its group and its name.
fn named(subject: &Subject) -> Vec<(String, &String)> {
    let groups = subject.tables.conditions.iter();
    let pairs = groups.flat_map(|(group, pairs)| {
        pairs.iter().map(move |(name, value)| match name.as_str() {
            "" => (group.clone(), value),
            name => (format!("{group}: {name}"), value),
        })
    });
    pairs.collect()
}
