//! What went wrong: all of it counted, and as much of it kept as can be drawn.

use super::types::Bad;

/// Keeps when each status happened, evenly thinned where that is often.
pub(crate) struct BadOnes {
    most: usize,
    kinds: Vec<Often>,
}

/// One status.
struct Often {
    status: &'static str,
    n: u64,
    /// Of those, so many turned out to be something else.
    taken_back: u64,
    /// One in so many is kept.
    every: u64,
    kept: Vec<u64>,
}

impl BadOnes {
    /// Room for so many of each status.
    pub(crate) fn new(most: usize) -> BadOnes {
        BadOnes {
            most: most.max(2),
            kinds: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, at_ns: u64, status: &'static str) {
        let most = self.most;
        let kind = self.kind(status);
        if kind.n.is_multiple_of(kind.every) {
            kind.kept.push(at_ns);
        }
        kind.n += 1;
        if kind.kept.len() > most {
            let mut nth = 0;
            kind.kept.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            kind.every *= 2;
        }
    }

    /// What was counted as `status` turned out to be something else.
    pub(crate) fn take_back(&mut self, at_ns: u64, status: &'static str) {
        let kind = self.kind(status);
        kind.taken_back += 1;
        if let Some(place) = kind.kept.iter().rposition(|&at| at == at_ns) {
            kind.kept.remove(place);
        }
    }

    fn kind(&mut self, status: &'static str) -> &mut Often {
        let place = self.kinds.iter().position(|kind| kind.status == status);
        let place = place.unwrap_or_else(|| {
            self.kinds.push(Often {
                status,
                n: 0,
                taken_back: 0,
                every: 1,
                kept: Vec::new(),
            });
            self.kinds.len() - 1
        });
        &mut self.kinds[place]
    }

    /// What was kept, ascending in time, and how often each happened.
    pub(crate) fn finish(self) -> (Vec<Bad>, Vec<(&'static str, u64)>) {
        let mut bad = Vec::new();
        let mut in_all = Vec::new();
        for kind in self.kinds {
            let (status, n) = (kind.status, kind.n.saturating_sub(kind.taken_back));
            let kept = kind
                .kept
                .iter()
                .take(usize::try_from(n).unwrap_or(usize::MAX));
            bad.extend(kept.map(|&at_ns| Bad { at_ns, status }));
            if n > 0 {
                in_all.push((status, n));
            }
        }
        bad.sort_unstable();
        in_all.sort_unstable();
        (bad, in_all)
    }
}
