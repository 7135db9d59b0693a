//! The summary that stands first on the page: the figures that matter for this kind of run, and what limits them.

use super::card::Card;
use super::measure::places;
use super::{exchange_summary, loop_summary, stream_summary};
use crate::Subject;
use crate::link_names;
use wiregauge_run::AnyRun;

/// What is said of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Summary {
    /// How far the run came, if not to its end.
    pub(super) unfinished: Option<String>,
    /// The figures that matter, at most three.
    pub(super) cards: Vec<Card>,
    /// Of the points that the cards name: what limits there.
    pub(super) limits: Vec<(String, String)>,
    /// The link in a few numbers, a sentence for each way of each link that has a model.
    pub(super) models: Vec<String>,
}

/// Summarises one run.
pub(super) fn of(subject: &Subject) -> Summary {
    let places = places(&subject.run);
    let cards = match &subject.run {
        AnyRun::Exchange(run) => exchange_summary::cards(&run.file.plan, &places),
        AnyRun::Stream(run) => stream_summary::cards(&run.file.plan, &places),
        AnyRun::Loop(_) => loop_summary::cards(&places),
        AnyRun::Control(_) => Vec::new(),
    };
    Summary {
        unfinished: unfinished(&subject.run),
        limits: limits(&subject.run, &cards),
        models: models(&subject.run),
        cards,
    }
}

/// How the run ended, if it was not measured and stored to its end.
fn unfinished(run: &AnyRun) -> Option<String> {
    run.stored().ending_line().map(|line| sentences(&line))
}

/// Sentences of a line that has an error; the hint is one of its own.
fn sentences(line: &str) -> String {
    let mut parts = line.split('\n').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let mut sentences = vec![sentence(&capitalised(first))];
    sentences.extend(parts.map(|hint| sentence(&hint.replacen("hint:", "Hint:", 1))));
    sentences.join(" ")
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The text with a stop at its end.
fn sentence(text: &str) -> String {
    match text.ends_with(['.', '?', '!']) {
        true => text.into(),
        false => format!("{text}."),
    }
}

/// What limits at the points that the cards name, each once.
fn limits(run: &AnyRun, cards: &[Card]) -> Vec<(String, String)> {
    let all: Vec<(String, String)> = match run {
        AnyRun::Exchange(run) => {
            let file = &run.file;
            wiregauge_explain::of_exchange(&file.plan, &file.conditions, &file.points)
                .into_iter()
                .map(|split| {
                    (
                        super::names::exchange(&file.plan, &split.point).whole(),
                        split.words,
                    )
                })
                .collect()
        }
        AnyRun::Stream(run) => {
            let file = &run.file;
            wiregauge_explain::of_stream(&file.plan, &file.points)
                .flows
                .into_iter()
                .map(|split| {
                    (
                        super::names::flow(&file.plan, &split.point, split.way).whole(),
                        split.words,
                    )
                })
                .collect()
        }
        // What limits a loop is its floor, which has a card of its own.
        AnyRun::Loop(_) | AnyRun::Control(_) => Vec::new(),
    };
    let mut said: Vec<(String, String)> = Vec::new();
    for card in cards {
        if said.iter().all(|(name, _)| *name != card.place) {
            said.extend(all.iter().find(|(name, _)| *name == card.place).cloned());
        }
    }
    said
}

/// The link in a few numbers, a sentence a model.
fn models(run: &AnyRun) -> Vec<String> {
    let (all, links) = match run {
        AnyRun::Exchange(run) => (
            wiregauge_explain::models_of_exchange(
                &run.file.plan,
                &run.file.conditions,
                &run.file.points,
            ),
            run.file.plan.more_links.len(),
        ),
        AnyRun::Stream(run) => (
            wiregauge_explain::of_stream(&run.file.plan, &run.file.points).models,
            run.file.plan.more_links.len(),
        ),
        AnyRun::Loop(_) | AnyRun::Control(_) => return Vec::new(),
    };
    all.iter()
        .filter_map(|modelled| {
            let mut name = String::new();
            if let (Some(direction), Some(way)) = (modelled.direction, modelled.way) {
                name.push_str(&format!(", {}", direction.words_of(way)));
            }
            if links > 0 {
                name.push_str(&format!(
                    ", {}",
                    link_names::link(modelled.link, modelled.together)
                ));
            }
            Some(format!(
                "Link model{name}: {}.",
                modelled.in_short.as_ref()?
            ))
        })
        .collect()
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
