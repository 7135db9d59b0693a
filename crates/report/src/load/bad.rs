//! What went wrong: all of it counted, and as much of it kept as can be drawn.

use super::types::Bad;
use std::collections::BTreeMap;

/// Keeps when each status happened, evenly thinned where that is often.
pub(crate) struct BadOnes {
    most: usize,
    kinds: BTreeMap<&'static str, Often>,
}

/// One status.
#[derive(Default)]
struct Often {
    n: u64,
    /// Of those, so many turned out to be something else.
    taken_back: u64,
    /// One in two to this power is kept.
    halved: u32,
    kept: Vec<u64>,
}

impl BadOnes {
    /// Room for so many of each status.
    pub(crate) fn new(most: usize) -> BadOnes {
        BadOnes {
            most: most.max(2),
            kinds: BTreeMap::new(),
        }
    }

    pub(crate) fn push(&mut self, at_ns: u64, status: &'static str) {
        let kind = self.kinds.entry(status).or_default();
        if kind.n.is_multiple_of(1 << kind.halved) {
            kind.kept.push(at_ns);
        }
        kind.n += 1;
        if kind.kept.len() > self.most {
            let mut nth = 0;
            kind.kept.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            kind.halved += 1;
        }
    }

    /// What was counted as `status` turned out to be something else.
    pub(crate) fn take_back(&mut self, at_ns: u64, status: &'static str) {
        let kind = self.kinds.entry(status).or_default();
        kind.taken_back += 1;
        if let Some(place) = kind.kept.iter().rposition(|&at| at == at_ns) {
            kind.kept.remove(place);
        }
    }

    /// What was kept, ascending in time, and how often each happened.
    pub(crate) fn finish(self) -> (Vec<Bad>, Vec<(&'static str, u64)>) {
        let mut bad = Vec::new();
        let mut in_all = Vec::new();
        for (status, kind) in self.kinds {
            let n = kind.n.saturating_sub(kind.taken_back);
            let most = usize::try_from(n).unwrap_or(usize::MAX);
            let kept = kind.kept.iter().take(most);
            bad.extend(kept.map(|&at_ns| Bad { at_ns, status }));
            if n > 0 {
                in_all.push((status, n));
            }
        }
        bad.sort_unstable();
        (bad, in_all)
    }
}
