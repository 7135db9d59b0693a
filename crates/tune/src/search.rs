//! The search: which candidate is probed next, and when it is enough. What comes next is a function of
//! what was observed, so that a search can be asked, interrupted and asked again.

use crate::advice::{Advice, Choice, Compliance, SetAside, Verdict};
use crate::difference::Difference;
use crate::observed::{Observed, longest};
use crate::pool::{EACH, pool};
use crate::posterior::{Belief, Posterior, Trial, expected_gain, model_of};
use crate::space::{Grid, Place};
use crate::{
    Bound, Candidate, Effort, Measured, Probe, Purpose, Sense, Space, SpaceError, knee, reasons,
};
use std::cmp::Ordering;
use std::collections::HashSet;
use wiregauge_model::Setting;

/// Where the expected gain of the best remaining probe is smaller than this part of the objective, the
/// search is over. (Jones, Schonlau & Welch 1998 stop at 1 %; a third of it here, because the optimum
/// shall be within 3 % at the worst device.)
const ENOUGH: f64 = 0.003;

/// No probe needs to be more exact than this part of the objective.
const FINEST: f64 = 0.005;

/// Probes before the confirmation, at most: each is also an opened link and a greeting.
const MOST_PROBES: usize = 60;

/// Confirmations, at most: each one more is a chance more to be lucky.
const MOST_CONFIRMATIONS: usize = 3;

/// While none is proven, so many are made whatever they take.
const MOST_UNTIL_PROVEN: usize = 8;

/// A candidate outdoes a confirmed one if it is believed to be better by this part, ...
const OUTDONE: f64 = 0.01;

/// ... by one standard deviation more than that, unless it is better by so much that it is worth a
/// fresh run even where the host is too restless to be sure.
const WORTH_A_RUN: f64 = 0.03;

/// Where constraints are to be shown kept, the confirmation is so many times as long as a probe of
/// exhaustive search: what it cannot show costs objective, because the choice must keep away from
/// the bound.
const TO_BE_SHOWN: u64 = 10;

/// A probe is at most so many times as long: a few long ones cost fewer greetings.
const LONGEST: u64 = 10;

/// Probes of one candidate, at most.
const MOST_TIMES: usize = 3;

/// Candidates that are worse than the best by less than this part, and known as well to within this part,
/// are as good.
const AS_GOOD: f64 = 0.01;

/// The fewest exchanges that have a confidence interval.
const FEWEST: u64 = 8;

/// Without an answer at so many candidates the link is taken to be dead.
const DEAD: usize = 8;

/// Where no candidate is more probable than this to keep the constraints, none is looked for.
const HOPELESS: f64 = 0.02;

/// What it is worth, as a part of the objective, to have anything at all that keeps the constraints.
const ANY: f64 = 1.0;

/// A search for the best candidate.
#[derive(Clone, Debug)]
pub struct Search {
    grid: Grid,
    sense: Sense,
    bounds: Vec<Bound>,
    effort: Effort,
    design: Vec<Place>,
    observed: Vec<Observed>,
}

impl Search {
    /// Of the space, for the best objective that keeps all bounds.
    pub fn new(
        space: Space,
        sense: Sense,
        bounds: Vec<Bound>,
        effort: Effort,
    ) -> Result<Search, SpaceError> {
        let grid = Grid::new(space)?;
        if effort.exchanges == 0 || effort.share.is_nan() || effort.share <= 0.0 {
            return Err(SpaceError::NoEffort);
        }
        let design = crate::pool::design(&grid);
        Ok(Search {
            grid,
            sense,
            bounds,
            effort,
            design,
            observed: Vec::new(),
        })
    }

    /// Candidates in all.
    pub fn candidates(&self) -> u64 {
        self.grid.count()
    }

    /// Exchanges that exhaustive search would spend.
    pub fn exhaustive(&self) -> u64 {
        self.grid.count().saturating_mul(self.effort.exchanges)
    }

    /// Exchanges that may be spent, confirmation included. A confirmation that was asked for is made
    /// also if it is longer.
    pub fn budget(&self) -> u64 {
        let share = self.exhaustive() as f64 * self.effort.share;
        (share as u64).max(FEWEST)
    }

    /// Exchanges of a confirmation.
    pub fn confirmation(&self) -> u64 {
        let wanted = match self.bounds.is_empty() {
            true => self.effort.exchanges,
            false => self.effort.exchanges.saturating_mul(TO_BE_SHOWN),
        };
        let affordable = (self.budget() * 2 / 5).max(FEWEST);
        self.effort.confirm.unwrap_or(wanted.min(affordable)).max(1)
    }

    /// Exchanges spent so far.
    pub fn spent(&self) -> u64 {
        self.observed.iter().map(|t| t.measured.exchanges).sum()
    }

    /// Exchanges of a confirmation that count against the budget: of one that was asked for to be as long as
    /// a probe of exhaustive search, no more than what is set aside for it.
    fn counted_confirmation(&self) -> u64 {
        let whole = self.confirmation();
        match whole <= self.effort.exchanges {
            true => whole.min((self.budget() * 2 / 5).max(1)),
            false => whole,
        }
    }

    /// Exchanges spent that count against the budget.
    fn counted(&self) -> u64 {
        let extra = self.confirmation() - self.counted_confirmation();
        let confirmed = self.confirmations().count() as u64;
        self.spent().saturating_sub(extra * confirmed)
    }

    /// True if the budget allows another confirmation; it always allows one.
    fn may_confirm(&self) -> bool {
        let made = self.confirmations().count();
        let left = self.counted() + self.counted_confirmation() <= self.budget();
        made == 0 || (made < MOST_CONFIRMATIONS && left)
    }

    /// What is to be measured next; `None` when the search is over. The same until it is observed.
    pub fn next(&self) -> Option<Probe> {
        if let Some(&place) = self.design.iter().find(|place| !self.is_probed(**place))
            && self.observed.len() < self.design.len() * 2
            && (self.left() >= self.fewest() || self.observed.is_empty())
        {
            return Some(self.probe(place, self.fewest(), Purpose::Explore));
        }
        let Some(field) = self.field() else {
            return self.sign_of_life();
        };
        let is_kept = self.best_kept(&field).is_some();
        if self.left() >= self.fewest() && self.observed.len() < MOST_PROBES {
            // Another confirmation must be worth its while.
            let enough = match is_kept {
                true => OUTDONE / 3.0,
                false if self.grid.count() <= EACH => ENOUGH / 3.0,
                false => ENOUGH,
            };
            if let Some(place) = self.most_promising(&field, enough) {
                return Some(self.refinement(&field, place));
            }
        }
        if is_kept && !self.is_outdone(&field) {
            return None;
        }
        let place = match self.may_confirm() {
            true => self.pick(&field),
            false if is_kept => None,
            false => self.next_best(&field),
        };
        Some(self.probe(place?, self.confirmation(), Purpose::Confirm))
    }

    /// Takes what a probe gave. Ignores candidates of another space.
    pub fn tell(&mut self, probe: &Probe, measured: Measured) {
        if let Some(place) = self.grid.place(&probe.at) {
            self.observed.push(Observed {
                place,
                probe: *probe,
                measured,
            });
        }
    }

    /// What is known by now.
    pub fn advice(&self) -> Advice {
        let field = self.field();
        let (best, set_aside) = self.chosen(field.as_ref());
        let place = best.as_ref().and_then(|best| self.grid.place(&best.at));
        let model = place.and_then(|place| model_of(&self.observed, place));
        let mut failed = Vec::new();
        for observed in &self.observed {
            if self.is_out(observed.place) && !failed.contains(&observed.probe.at) {
                failed.push(observed.probe.at);
            }
        }
        let why = match (&best, &field) {
            (Some(best), Some(field)) => reasons::reasons(&self.grid, field, best, &self.observed),
            _ => Vec::new(),
        };
        Advice {
            best,
            set_aside,
            probes: (self.observed.iter())
                .map(|t| (t.probe, t.measured.clone()))
                .collect(),
            failed,
            why,
            spent: self.spent(),
            exhaustive: self.exhaustive(),
            model,
        }
    }

    fn field(&self) -> Option<Posterior<'_>> {
        let is_vain = |t: &&Observed| self.choice(t).is_some_and(|choice| !choice.keeps_all());
        let in_vain = self.confirmations().filter(is_vain);
        let trial = Trial {
            probe: self.effort.exchanges,
            confirmation: self.confirmation(),
            in_vain: in_vain.count(),
        };
        Posterior::new(&self.grid, self.sense, &self.bounds, &self.observed, trial)
    }

    fn probe(&self, place: Place, exchanges: u64, purpose: Purpose) -> Probe {
        Probe {
            at: self.grid.candidate(place),
            exchanges,
            purpose,
        }
    }

    fn is_probed(&self, place: Place) -> bool {
        self.observed.iter().any(|observed| observed.place == place)
    }

    /// True where the link failed, and never answered.
    fn is_out(&self, place: Place) -> bool {
        let mut here = self.observed.iter().filter(|t| t.place == place).peekable();
        here.peek().is_some() && here.all(|t| t.measured.has_failed())
    }

    /// Exchanges left for probes; there is always one confirmation set aside.
    fn left(&self) -> u64 {
        let reserve = self.confirmation().min(self.budget() * 2 / 5);
        self.budget().saturating_sub(self.counted() + reserve)
    }

    /// Exchanges of a first probe: so few that half of the effort reaches the next forty candidates, or
    /// all where they are fewer.
    fn fewest(&self) -> u64 {
        let first = self.budget() - (self.confirmation().min(self.budget() * 2 / 5));
        let probes = self.grid.count().min(40);
        (first / (2 * probes)).clamp(FEWEST, (self.effort.exchanges / 4).max(FEWEST))
    }

    /// While nothing has answered: another candidate, as different as can be.
    fn sign_of_life(&self) -> Option<Probe> {
        let failed: HashSet<Place> = self.observed.iter().map(|t| t.place).collect();
        if failed.len() >= DEAD {
            return None;
        }
        let place = pool(&self.grid, &[], &[], failed.len())
            .into_iter()
            .find(|place| !failed.contains(place))?;
        Some(self.probe(place, self.fewest(), Purpose::Explore))
    }

    fn probed(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.observed.iter().map(|t| t.place).collect();
        places.sort_unstable();
        places.dedup();
        places.retain(|place| !self.is_out(*place));
        places
    }

    /// The candidate whose probe promises most; `None` if no probe promises enough.
    fn most_promising(&self, field: &Posterior, enough: f64) -> Option<Place> {
        let probed = self.probed();
        let mut ranked: Vec<(Place, Belief)> = probed
            .iter()
            .map(|&place| (place, field.at(place)))
            .collect();
        let shown = ranked.iter().filter(|(_, belief)| belief.shown >= 0.5);
        let best = (shown.map(|(_, belief)| belief.mean - belief.sd))
            .chain(self.best_kept(field))
            .max_by(f64::total_cmp);
        let means = ranked.iter().map(|(_, belief)| belief.mean);
        let least = means.fold(f64::INFINITY, f64::min);
        // Around those that are good, and keep the constraints or nearly.
        ranked.sort_by(|a, b| worth(&b.1).total_cmp(&worth(&a.1)));
        let around: Vec<Place> = ranked.iter().take(3).map(|(place, _)| *place).collect();
        let mut places = pool(&self.grid, &probed, &around, self.observed.len());
        let times = |place: &Place| self.observed.iter().filter(|t| t.place == *place).count();
        places.retain(|place| !self.is_out(*place) && times(place) < MOST_TIMES);
        let promise = |place: Place| {
            let belief = field.at(place);
            let gain = match best {
                Some(best) => expected_gain(&belief, best),
                // Nothing is likely to be shown yet: whatever may keep the constraints is worth a probe.
                None if belief.kept < HOPELESS => 0.0,
                None => ANY + (belief.mean - least).max(0.0),
            };
            let kept = match best {
                Some(_) => belief.shown,
                None => belief.kept,
            };
            let promise = gain * kept * belief.answers;
            (place, promise, promise * belief.to_learn)
        };
        let promises: Vec<(Place, f64, f64)> = places.into_iter().map(promise).collect();
        let most = promises.iter().map(|p| p.1).max_by(f64::total_cmp)?;
        if most < enough {
            return None;
        }
        let (place, ..) = (promises.iter()).max_by(|a, b| a.2.total_cmp(&b.2))?;
        Some(*place)
    }

    fn refinement(&self, field: &Posterior, place: Place) -> Probe {
        let wanted = field.exchanges_at(place, FINEST);
        let again = self.observed.iter().filter(|t| t.place == place);
        let had: u64 = again.map(|t| t.measured.exchanges).sum();
        let few = self.fewest();
        let longest = self.effort.exchanges.saturating_mul(LONGEST);
        let most = longest.min(self.left() / 4).max(few);
        self.probe(place, wanted.max(had).clamp(few, most), Purpose::Refine)
    }

    fn confirmations(&self) -> impl Iterator<Item = &Observed> {
        let confirmed = |t: &&Observed| t.probe.purpose == Purpose::Confirm;
        self.observed.iter().filter(confirmed)
    }

    /// What the best confirmed choice that keeps all constraints is believed to be worth.
    fn best_kept(&self, field: &Posterior) -> Option<f64> {
        (self.confirmations())
            .filter(|t| self.choice(t).is_some_and(|choice| choice.keeps_all()))
            .map(|t| field.at(t.place).mean)
            .max_by(f64::total_cmp)
    }

    /// True if something that was probed is believed to be better than what was confirmed.
    fn is_outdone(&self, field: &Posterior) -> bool {
        let best = self.best_kept(field).unwrap_or(f64::NEG_INFINITY);
        (self.probed().into_iter())
            .filter(|place| !self.is_confirmed(*place))
            .map(|place| field.at(place))
            .filter(|b| b.shown >= 0.5)
            .any(|b| outdoes(&b, best))
    }

    fn is_confirmed(&self, place: Place) -> bool {
        self.confirmations().any(|t| t.place == place)
    }

    /// The probed candidate that is to be confirmed: the best of those that will be shown to keep the
    /// constraints, or whatever comes nearest to keeping them.
    fn pick(&self, field: &Posterior) -> Option<Place> {
        let beliefs: Vec<(Place, Belief)> = (self.probed().into_iter())
            .filter(|place| !self.is_confirmed(*place))
            .map(|place| (place, field.at(place)))
            .collect();
        let best = |keeps: &dyn Fn(&Belief) -> bool| {
            let safe = |b: &Belief| b.mean - b.sd;
            let kept: Vec<_> = beliefs.iter().filter(|(_, b)| keeps(b)).collect();
            let (_, most) = (kept.iter()).max_by(|a, b| safe(&a.1).total_cmp(&safe(&b.1)))?;
            let is_as_good =
                |b: &Belief| b.mean >= most.mean - AS_GOOD && b.sd <= most.sd + AS_GOOD;
            let as_good = kept.iter().filter(|(_, b)| is_as_good(b));
            // Room before all: the confirmation must show that constraints are kept, and the host may get busier.
            let cheapest = as_good.min_by(|a, b| {
                let at = |place| self.grid.candidate(place);
                let room = b.1.room.total_cmp(&a.1.room);
                room.then_with(|| self.by_cost(at(a.0), at(b.0)))
            });
            cheapest.map(|(place, _)| *place)
        };
        let nearest = || {
            (beliefs.iter())
                .max_by(|a, b| a.1.slack.total_cmp(&b.1.slack))
                .map(|(place, _)| *place)
        };
        // Of what hugs the bound a confirmation shows nothing, however probably it is kept.
        let may_keep = || {
            let worth = |b: &Belief| b.mean + b.may_show.ln();
            let may = beliefs.iter().filter(|(_, b)| b.may_show >= HOPELESS);
            may.max_by(|a, b| worth(&a.1).total_cmp(&worth(&b.1)))
                .map(|(place, _)| *place)
        };
        best(&|b| b.shown >= 0.5).or_else(may_keep).or_else(nearest)
    }

    /// While nothing is proven: the best of what met all constraints when it was probed, at last the knee.
    fn next_best(&self, field: &Posterior) -> Option<Place> {
        let made = self.confirmations().count();
        let mut choices = self.confirmations().filter_map(|t| self.choice(t));
        if made >= MOST_UNTIL_PROVEN || choices.any(|choice| choice.lacks_only_samples()) {
            return None;
        }
        let mut places = self.probed();
        places.retain(|&place| !self.is_confirmed(place) && self.met_all(place));
        let knee = knee::knee(&self.observed);
        let knee = knee.and_then(|at| self.grid.place(&at));
        let mean = |place: &Place| field.at(*place).mean;
        let best = (places.iter().copied()).max_by(|a, b| mean(a).total_cmp(&mean(b)));
        knee.filter(|knee| made + 1 == MOST_UNTIL_PROVEN && places.contains(knee))
            .or(best)
    }

    fn met_all(&self, place: Place) -> bool {
        let mut bounds = self.bounds.iter().enumerate();
        longest(&self.observed, place)
            .is_some_and(|t| bounds.all(|(index, &bound)| t.meets(index, bound)))
    }

    /// Of candidates that are as good: the smaller depth first, then the shorter latency, then the smaller buffer.
    fn by_cost(&self, a: Candidate, b: Candidate) -> Ordering {
        let buffer = |at: Candidate| {
            let Setting {
                out_bytes,
                in_bytes,
                ..
            } = at.setting;
            u64::from(out_bytes) + u64::from(in_bytes)
        };
        let depth = a.setting.depth.cmp(&b.setting.depth);
        depth
            .then_with(|| self.latency(a).total_cmp(&self.latency(b)))
            .then_with(|| buffer(a).cmp(&buffer(b)))
    }

    /// Mean RTT of all that was measured there; infinite if nothing was.
    fn latency(&self, at: Candidate) -> f64 {
        let here = self.observed.iter().filter(|t| t.probe.at == at);
        let answered =
            here.filter_map(|t| Some((t.measured.exchanges as f64, t.measured.observation?)));
        let (all, sum) = answered.fold((0.0, 0.0), |(all, sum), (weight, observation)| {
            (all + weight, sum + weight * observation.rtt_ns)
        });
        if all > 0.0 { sum / all } else { f64::INFINITY }
    }

    fn choice(&self, observed: &Observed) -> Option<Choice> {
        let figures = &observed.measured.constraints;
        let verdict =
            |(i, &bound): (usize, &Bound)| Verdict::of(bound, figures.get(i).copied().flatten());
        Some(Choice {
            at: observed.probe.at,
            objective: observed.measured.objective?,
            constraints: self.bounds.iter().enumerate().map(verdict).collect(),
            exchanges: observed.measured.exchanges,
            confirmed: observed.probe.purpose == Purpose::Confirm,
        })
    }

    /// True of a choice that proves all constraints as the best one does, and whose objective is not worse than there:
    /// neither significantly in the confirming runs, nor by all that was measured.
    fn is_as_good(&self, field: Option<&Posterior>, choice: &Choice, best: &Choice) -> bool {
        let belief = |at: &Candidate| Some(field?.at(self.grid.place(at)?));
        let is_outdone = || {
            let both = belief(&best.at).zip(belief(&choice.at));
            both.is_some_and(|(best, here)| outdoes(&best, here.mean))
        };
        best.keeps_all()
            && choice.keeps_all()
            && Difference::of(&choice.objective, &best.objective) == Difference::NotSignificant
            && !is_outdone()
    }

    /// The best of what was confirmed, of those that are as good the one that costs least, and the others; without any,
    /// the longest probe of what is believed to be best.
    fn chosen(&self, field: Option<&Posterior>) -> (Option<Choice>, Vec<SetAside>) {
        let mut confirmed: Vec<Choice> = (self.confirmations())
            .filter_map(|t| self.choice(t))
            .collect();
        // Fewest violations first, then fewest that are not shown, then the objective.
        let count = |c: &Choice, kept| {
            c.constraints
                .iter()
                .filter(|v| v.compliance == kept)
                .count()
        };
        let rank = |c: &Choice| {
            (
                count(c, Compliance::Violated),
                count(c, Compliance::Undecided),
            )
        };
        let better = |a: &Choice, b: &Choice| match rank(a).cmp(&rank(b)) {
            std::cmp::Ordering::Equal if rank(a).0 > 0 => worst(a) > worst(b),
            std::cmp::Ordering::Equal => self.sense.prefers(a.objective.value, b.objective.value),
            order => order.is_lt(),
        };
        let mut best = 0;
        for index in 1..confirmed.len() {
            if better(&confirmed[index], &confirmed[best]) {
                best = index;
            }
        }
        if !confirmed.is_empty() {
            let as_good = (0..confirmed.len())
                .filter(|&index| self.is_as_good(field, &confirmed[index], &confirmed[best]));
            let cheapest = as_good
                .min_by(|&a, &b| self.by_cost(confirmed[a].at, confirmed[b].at))
                .unwrap_or(best);
            let chosen = confirmed.remove(cheapest);
            let aside = confirmed.into_iter().map(|choice| SetAside {
                was_outdone: choice.keeps_all(),
                choice,
            });
            let aside = aside.collect();
            return (Some(chosen), aside);
        }
        let place = field.and_then(|field| self.pick(field));
        let longest = (self.observed.iter())
            .filter(|t| Some(t.place) == place && !t.measured.has_failed())
            .max_by_key(|t| t.measured.exchanges);
        (longest.and_then(|t| self.choice(t)), Vec::new())
    }
}

/// True if a candidate is believed to be better than a mean of the objective, and worth another run.
fn outdoes(belief: &Belief, mean: f64) -> bool {
    belief.mean - belief.sd > mean + OUTDONE || belief.mean > mean + WORTH_A_RUN
}

/// The objective, times the probability that the constraints are kept; as a logarithm.
fn worth(belief: &Belief) -> f64 {
    belief.mean + belief.kept.max(1e-6).ln()
}

/// How far the worst constraint is from being violated, as a part of its bound; below 0 if it is.
fn worst(choice: &Choice) -> f64 {
    let rooms = choice.constraints.iter().map(|verdict| {
        let found = verdict.found;
        found.map_or(f64::NEG_INFINITY, |found| verdict.bound.room(found.value))
    });
    rooms.fold(f64::INFINITY, f64::min)
}
