//! Search for a repeating sequence of delays that breaks a loop.

use crate::model::Loop;
use crate::register::Cycles;
use crate::schedule::Rules;
use serde::Serialize;
use std::collections::HashSet;

/// All words of up to so many letters are tried.
const SHORT: usize = 7;
/// Longest sequence.
const LONGEST: usize = 21;
/// Words at which the search for longer ones starts.
const STARTS: usize = 3;
/// Multiplications in all, about: some 0.1 s.
const WORK: f64 = 4e8;

/// The delays that a loop may meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DelayRange {
    /// Least delay, in nanoseconds.
    pub least_ns: u64,
    /// Largest minus least delay, in nanoseconds.
    pub jitter_ns: u64,
    /// Losses in a row at most.
    pub losses_in_a_row: u32,
}

/// A repeating sequence of delays.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cycle {
    /// Delays in nanoseconds, `None`: lost.
    pub delays: Vec<Option<u64>>,
    /// Growth per period of the loop when they repeat for ever.
    pub growth: f64,
}

impl DelayRange {
    /// Of a trace; `None` if it has no answer in time.
    pub fn of(delays: &[Option<u64>], rules: Rules) -> Option<DelayRange> {
        let in_time = || delays.iter().map(|&delay| rules.in_time(delay));
        let least_ns = in_time().flatten().min()?;
        let most_ns = in_time().flatten().max()?;
        let (mut run, mut longest) = (0, 0);
        for delay in in_time() {
            run = if delay.is_none() { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        Some(DelayRange {
            least_ns,
            jitter_ns: most_ns - least_ns,
            losses_in_a_row: longest,
        })
    }
}

/// The sequence with the largest growth that was found: all short ones of the least delay, the largest one and losses,
/// some with the longest run of losses, and longer ones, with delays between, by changes of a delay at a time. Stops at
/// a growth of 1 or more. Without delays and with growth 0 if they are so long that no sequence could be tried.
pub fn worst_cycle(model: &Loop, range: DelayRange, period_ns: u64, rules: Rules) -> Cycle {
    let mut search = Search::of(model, range, period_ns, rules);
    search.short_words();
    if !search.is_done() {
        search.runs_of_losses();
    }
    let mut starts = search.best.clone();
    starts.truncate(STARTS);
    for (_, start) in starts {
        search.climb(start);
    }
    let (growth, word) = search.best.first().cloned().unwrap_or_default();
    let delays = word.iter().map(|&letter| search.letters[letter as usize]);
    Cycle {
        delays: delays.collect(),
        growth,
    }
}

type Word = Vec<u8>;

struct Search<'a> {
    cycles: Cycles<'a>,
    letters: Vec<Option<u64>>,
    /// So many of them are in short words: the least delay, the largest one, lost. The others lie between.
    extremes: usize,
    losses_in_a_row: u32,
    tried: HashSet<Word>,
    left: usize,
    /// The best words, best first.
    best: Vec<(f64, Word)>,
}

impl<'a> Search<'a> {
    fn of(model: &'a Loop, range: DelayRange, period_ns: u64, rules: Rules) -> Search<'a> {
        let longest = range.least_ns.saturating_add(range.jitter_ns);
        let mut letters = vec![Some(range.least_ns)];
        if range.jitter_ns > 0 {
            letters.push(Some(longest));
        }
        if range.losses_in_a_row > 0 {
            letters.push(None);
        }
        let extremes = letters.len();
        if range.jitter_ns > 0 {
            let between = [1, 2, 3].map(|quarters| range.jitter_ns / 4 * quarters);
            letters.extend(between.map(|jitter| Some(range.least_ns + jitter)));
        }
        let cycles = Cycles::new(model, period_ns, rules, longest);
        let size = (cycles.length() as f64).max(4.0);
        Search {
            cycles,
            letters,
            extremes,
            losses_in_a_row: range.losses_in_a_row,
            tried: HashSet::new(),
            left: (WORK / (50.0 * size.powi(3))) as usize,
            best: Vec::new(),
        }
    }

    /// A word that breaks the loop is known, or enough was tried.
    fn is_done(&self) -> bool {
        self.left == 0 || self.best.first().is_some_and(|(growth, _)| *growth >= 1.0)
    }

    fn short_words(&mut self) {
        let count = self.extremes;
        for length in 1..=SHORT {
            for code in 0..count.pow(length as u32) {
                let letter = |place| (code / count.pow(place as u32) % count) as u8;
                self.evaluate(&(0..length).map(letter).collect());
                if self.left == 0 {
                    return;
                }
            }
            // The worst of the shortest words that break it.
            if self.is_done() {
                return;
            }
        }
    }

    /// The longest run of losses, then any number of answers with one delay and then the other.
    fn runs_of_losses(&mut self) {
        let run = self.losses_in_a_row as usize;
        if run == 0 {
            return;
        }
        let lost = self.extremes as u8 - 1;
        for answers in 1..=LONGEST {
            for split in [0, answers / 2, answers] {
                let mut word = vec![lost; run];
                word.resize(run + split, 0);
                word.resize(run + answers, lost.saturating_sub(1));
                self.evaluate(&word);
                if self.is_done() {
                    return;
                }
            }
        }
    }

    /// Changes, adds or removes a letter as long as that helps.
    fn climb(&mut self, mut word: Word) {
        loop {
            let mut next: Option<(f64, Word)> = None;
            for changed in self.neighbours(&word) {
                if self.is_done() {
                    return;
                }
                if let Some(growth) = self.evaluate(&changed)
                    && next.as_ref().is_none_or(|(best, _)| growth > *best)
                {
                    next = Some((growth, changed));
                }
            }
            let here = self.cycles.growth(&self.delays(&word));
            match next {
                Some((growth, changed)) if growth > here + 1e-9 => word = changed,
                _ => return,
            }
        }
    }

    fn neighbours(&self, word: &Word) -> Vec<Word> {
        let mut all = Vec::new();
        let letters = 0..self.letters.len() as u8;
        for place in 0..word.len() {
            for letter in letters.clone() {
                if letter != word[place] {
                    let mut changed = word.clone();
                    changed[place] = letter;
                    all.push(changed);
                }
                if word.len() < LONGEST + self.losses_in_a_row as usize {
                    let mut longer = word.clone();
                    longer.insert(place, letter);
                    all.push(longer);
                }
            }
            if word.len() > 1 {
                let mut shorter = word.clone();
                shorter.remove(place);
                all.push(shorter);
            }
        }
        all
    }

    /// The growth of a word that is allowed and new.
    fn evaluate(&mut self, word: &Word) -> Option<f64> {
        if self.left == 0 || !self.is_allowed(word) || !self.tried.insert(least_rotation(word)) {
            return None;
        }
        self.left -= 1;
        let growth = self.cycles.growth(&self.delays(word));
        let place = self.best.partition_point(|(known, _)| *known >= growth);
        self.best.insert(place, (growth, word.clone()));
        self.best.truncate(STARTS);
        Some(growth)
    }

    /// At most so many losses in a row, the word repeating.
    fn is_allowed(&self, word: &Word) -> bool {
        let (mut run, mut longest, mut answers) = (0u32, 0, 0);
        for &letter in word.iter().chain(word) {
            let is_lost = self.letters[letter as usize].is_none();
            answers += u32::from(!is_lost);
            run = if is_lost { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        answers > 0 && longest <= self.losses_in_a_row
    }

    fn delays(&self, word: &Word) -> Vec<Option<u64>> {
        let letters = word.iter().map(|&letter| self.letters[letter as usize]);
        letters.collect()
    }
}

/// Words that are rotations of each other are the same sequence.
fn least_rotation(word: &Word) -> Word {
    let rotations = (0..word.len()).map(|by| {
        let mut turned = word.clone();
        turned.rotate_left(by);
        turned
    });
    rotations.min().unwrap_or_default()
}
