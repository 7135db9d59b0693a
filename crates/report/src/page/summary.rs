//! What the summary of a run says beside its table: how it ended, what limits, what the link model says.

use crate::Subject;
use crate::tables::{Places, flow_number, flow_places, sentence};
use wiregauge_compare::link_name;
use wiregauge_explain::Modelled;
use wiregauge_run::Stored;

/// Bottlenecks of a run that are named; `wiregauge explain` has those of all points.
const MOST: usize = 3;

/// How the run ended, if it was not measured and stored to its end.
pub(super) fn unfinished(run: &dyn Stored) -> Option<String> {
    run.ending_line().map(|line| sentences(&line))
}

/// Sentences of a line that has an error; the hint is one of its own.
fn sentences(line: &str) -> String {
    let mut parts = line.split('\n').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let mut sentences = vec![sentence(first)];
    sentences.extend(parts.map(|hint| sentence(&hint.replacen("hint:", "Hint:", 1))));
    sentences.join(" ")
}

/// What limits, and what the link model says.
pub(super) fn said(subject: &Subject) -> Vec<String> {
    if let Some((run, _)) = subject.exchange_run() {
        let file = &run.file;
        let splits = wiregauge_explain::of_exchange(&file.plan, &file.conditions, &file.points);
        let splits = splits
            .into_iter()
            .map(|split| (split.point.index, split.words));
        let all = wiregauge_explain::models_of_exchange(&file.plan, &file.conditions, &file.points);
        let mut said = bottlenecks(&Places::of_run(&file.plan, &file.points), splits);
        said.extend(models(&all, !file.plan.more_links.is_empty()));
        said
    } else if let Some((run, _)) = subject.stream_run() {
        let file = &run.file;
        let explained = wiregauge_explain::of_stream(&file.plan, &file.points);
        let mut flows = explained.flows;
        flows.sort_by_key(|flow| flow.point.index);
        let splits = flows
            .into_iter()
            .map(|flow| (flow_number(&flow.point, flow.way), flow.words));
        let mut said = bottlenecks(&flow_places(file), splits);
        said.extend(models(&explained.models, !file.plan.more_links.is_empty()));
        said
    } else {
        // What limits a loop is its floor, which is in its table.
        Vec::new()
    }
}

/// What limits, for all points of which the same is said together.
fn bottlenecks(places: &Places, splits: impl Iterator<Item = (u32, String)>) -> Vec<String> {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for (index, words) in splits {
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, indices)) => indices.push(index),
            None => groups.push((words, vec![index])),
        }
    }
    let left_out = groups.iter().skip(MOST);
    let left_out: usize = left_out.map(|(_, indices)| indices.len()).sum();
    let one = |(words, indices): &(String, Vec<u32>)| {
        let words = words.trim_end_matches('.');
        match places.name(indices) {
            name if name.is_empty() => format!("Bottleneck: {words}."),
            name => format!("Bottleneck at {name}: {words}."),
        }
    };
    let mut said: Vec<String> = groups.iter().take(MOST).map(one).collect();
    let points = if left_out == 1 { "point" } else { "points" };
    said.extend(
        (left_out > 0)
            .then(|| format!("Bottlenecks of {left_out} more {points}: wiregauge explain.")),
    );
    said
}

/// What each model says that describes its link.
fn models(all: &[Modelled], links: bool) -> Vec<String> {
    let mut said = Vec::new();
    for modelled in all.iter().filter(|modelled| !modelled.is_doubtful()) {
        let mut name = String::new();
        if let (Some(direction), Some(way)) = (modelled.direction, modelled.way) {
            name.push_str(&format!(", {}", direction.words_of(way)));
        }
        if links {
            name.push_str(&format!(
                ", {}",
                link_name(modelled.link, modelled.together)
            ));
        }
        let words = modelled.words.iter();
        said.extend(words.map(|words| format!("Link model{name}: {words}.")));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_a_failed_run_is_a_sentence_of_its_own() {
        let after = "failed after 5 exchanges, 2 of 6 points complete";
        assert_eq!(
            sentences(&format!(
                "{after}: tcp://a:7 closed the link\n  hint: was the device restarted?"
            )),
            "Failed after 5 exchanges, 2 of 6 points complete: tcp://a:7 closed the link. Hint: was the device restarted?"
        );
        assert_eq!(
            sentences("ended by SIGHUP after 1 exchange"),
            "Ended by SIGHUP after 1 exchange."
        );
    }
}
