//! The answer of a run over several links: which link its figures are of.

/// With more links, only the fastest and the slowest have a sentence.
const MOST: usize = 3;

/// What came out on one link.
pub(super) struct Link<'a> {
    /// Its position in the plan, from 0.
    pub(super) number: usize,
    /// Its address.
    pub(super) address: &'a str,
    /// How fast it is; `None` if nothing was answered.
    pub(super) speed: Option<Speed>,
    /// A sentence.
    pub(super) words: String,
}

/// The figure that links are ranked by.
pub(super) struct Speed {
    /// The lowest is the fastest.
    pub(super) rank: f64,
    /// The figure with its name.
    pub(super) words: String,
}

impl Link<'_> {
    fn name(&self) -> String {
        format!("Link {} ({})", self.number, self.address)
    }
}

/// Sentences on the links that have results, of `all` that the run has; `losses`: those of all links together.
pub(super) fn sentences(links: &[Link<'_>], all: usize, losses: &str) -> Vec<String> {
    if all == 1 {
        return links.iter().map(|link| link.words.clone()).collect();
    }
    if links.len() <= MOST {
        let sentence = |link: &Link<'_>| format!("{}: {}", link.name(), link.words);
        return links.iter().map(sentence).collect();
    }
    let mut ranked: Vec<(&Link<'_>, &Speed)> = links
        .iter()
        .filter_map(|link| Some((link, link.speed.as_ref()?)))
        .collect();
    ranked.sort_by(|(_, a), (_, b)| a.rank.total_cmp(&b.rank));
    // Those without results are not compared.
    let of = |count: usize| match count == all {
        true => all.to_string(),
        false => format!("{count} measured"),
    };
    let sentence = |(link, speed): &(&Link<'_>, &Speed), place: &str| {
        let (name, words, of) = (link.name(), &link.words, of(ranked.len()));
        format!("{name}, the {place} of {of} ({}): {words}", speed.words)
    };
    let mut sentences = match &ranked[..] {
        [] => Vec::new(),
        [(only, _)] => vec![format!("{}: {}", only.name(), only.words)],
        [first, .., last] => vec![sentence(first, "fastest"), sentence(last, "slowest")],
    };
    sentences.push(format!("All {} links: {losses}.", of(links.len())));
    sentences
}
