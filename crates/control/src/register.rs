//! Periods whose commands wait in a shift register: the command in place j is j periods old.
//!
//! A [`Schedule`](crate::Schedule) gives a place to a command only if it will be applied, for which it must know the
//! future. Here the future is open: constant delays, sequences that repeat, modes of a Markov chain.

use crate::flow::spectral_radius;
use crate::model::Loop;
use crate::pattern::{Flows, Layout, Pattern, PeriodMap, Source, period_map};
use crate::schedule::{Rules, events, on_grid};
use crate::system::Matrix;
use std::collections::HashMap;

/// Ticks a period where a delay may be any number: 6e-8 of a period.
pub(crate) const FINE_TICKS: u32 = 1 << 24;

/// Longest delay, in periods, whose commands are kept: the maps are matrices of this size.
pub(crate) const MOST_PERIODS: u64 = 64;

/// A pattern with the commands of the last `places` periods at hand.
pub(crate) fn pattern(ran: bool, switches: Vec<(u32, Source)>, places: usize) -> Pattern {
    Pattern {
        ran,
        moves: (1..places as u16).map(|to| (to - 1, to)).collect(),
        switches,
    }
}

/// What happens each period with a constant delay of so many ticks.
pub(crate) fn constant_delay(
    model: &Loop,
    flows: &mut Flows,
    delay_ticks: u64,
) -> (Layout, PeriodMap) {
    let per = u64::from(flows.ticks());
    let age = (delay_ticks / per) as usize;
    let switch = ((delay_ticks % per) as u32, Source::Stored(age as u16));
    let layout = Layout::of(model, age);
    let pattern = pattern(true, vec![switch], age + 1);
    (layout, period_map(model, flows, layout, &pattern))
}

/// Growth per period with a constant delay of so many periods.
pub(crate) fn constant_growth(model: &Loop, flows: &mut Flows, delay: f64) -> f64 {
    let ticks = (delay * f64::from(flows.ticks())).round() as u64;
    let (layout, period) = constant_delay(model, flows, ticks);
    spectral_radius(&period.core(layout).into_owned())
}

/// Growth per period of a loop when these delays (ns, `None`: lost) repeat for ever: below 1 the loop is stable. 1 for
/// no delays.
pub fn cycle_growth(model: &Loop, delays: &[Option<u64>], period_ns: u64, rules: Rules) -> f64 {
    let longest = delays.iter().flatten().copied().max().unwrap_or(0);
    match delays.is_empty() {
        true => 1.0,
        false => Cycles::new(model, period_ns, rules, longest).growth(delays),
    }
}

/// Growth of a loop under delays that repeat, on a grid of nanoseconds.
#[derive(Debug)]
pub(crate) struct Cycles<'a> {
    model: &'a Loop,
    flows: Flows,
    period_ns: u64,
    rules: Rules,
    layout: Layout,
    known: HashMap<Pattern, Matrix>,
}

impl<'a> Cycles<'a> {
    /// For delays of at most `longest_ns`.
    pub(crate) fn new(
        model: &'a Loop,
        period_ns: u64,
        rules: Rules,
        longest_ns: u64,
    ) -> Cycles<'a> {
        let ticks = u32::try_from(period_ns.min(1_000_000_000)).expect("below 2^32");
        let slots = on_grid(longest_ns, period_ns, ticks) / u64::from(ticks);
        Cycles {
            model,
            flows: Flows::new(model, ticks),
            period_ns,
            rules,
            layout: Layout::of(model, slots as usize),
            known: HashMap::new(),
        }
    }

    /// Length of the state.
    pub(crate) fn length(&self) -> usize {
        self.layout.at_reference()
    }

    /// Growth per period when these delays (ns, `None`: lost) repeat for ever.
    pub(crate) fn growth(&mut self, delays: &[Option<u64>]) -> f64 {
        let product = self.product(delays);
        spectral_radius(&product).powf(1.0 / delays.len() as f64)
    }

    /// The map of one repetition, in steady state.
    fn product(&mut self, delays: &[Option<u64>]) -> Matrix {
        let length = delays.len();
        let repeats = (self.layout.places + 2).div_ceil(length) + 1;
        let all: Vec<_> = std::iter::repeat_n(delays, repeats)
            .flatten()
            .copied()
            .collect();
        let ticks = self.flows.ticks();
        let (ran, events) = events(&all, self.period_ns, ticks, self.rules);
        let per = u64::from(ticks);
        let core = self.layout.at_reference();
        let mut product = Matrix::identity(core, core);
        let first = (all.len() - length) as u64;
        let mut next = (events.iter())
            .skip_while(|event| event.tick / per < first)
            .peekable();
        for period in first..first + length as u64 {
            let mut switches = Vec::new();
            while let Some(event) = next.next_if(|event| event.tick / per == period) {
                let source = match event.is_zero {
                    true => Source::Zero,
                    false => Source::Stored((period - event.cycle) as u16),
                };
                switches.push(((event.tick % per) as u32, source));
            }
            let pattern = pattern(ran[period as usize], switches, self.layout.places);
            let layout = self.layout;
            let (model, flows) = (self.model, &mut self.flows);
            let map = self.known.entry(pattern).or_insert_with_key(|pattern| {
                let period = period_map(model, flows, layout, pattern);
                period.core(layout).into_owned()
            });
            product = &*map * product;
        }
        product
    }
}
