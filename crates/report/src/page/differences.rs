//! The conditions in which several runs differ. Whether their figures differ is for `wiregauge_compare` to say.

use crate::Subject;

/// Those that are not the same in all: name, one value a run.
pub(super) fn of(subjects: &[Subject]) -> Vec<(String, Vec<String>)> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for (group, pairs) in subjects.iter().flat_map(|s| &s.tables.conditions) {
        for (name, _) in pairs {
            if !names.contains(&(group, name)) {
                names.push((group, name));
            }
        }
    }
    let value = |subject: &Subject, group: &str, name: &str| {
        let groups = subject.tables.conditions.iter();
        let mut pairs = groups
            .filter(|(title, _)| title == group)
            .flat_map(|(_, pairs)| pairs);
        let found = pairs.find(|(other, _)| other == name);
        found.map_or("-".into(), |(_, value)| value.clone())
    };
    names
        .into_iter()
        .filter_map(|(group, name)| {
            let values: Vec<String> = subjects.iter().map(|s| value(s, group, name)).collect();
            let differ = values.iter().any(|value| *value != values[0]);
            differ.then(|| {
                let whole = match name {
                    "" => group.to_owned(),
                    name => format!("{group}: {name}"),
                };
                (whole, values)
            })
        })
        .collect()
}
