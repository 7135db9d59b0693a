//! Random devices with a known optimum: how near to it a search ends, what it spends, and whether it
//! tells when a constraint is not kept.
//!
//! The optimum is that of exhaustive search by the true figures of the modelled device, at every
//! candidate. With a constraint there are two: the best that truly keeps it, and the best that nine of
//! ten confirmations of the same length show to keep it. Both losses are observed; the second is held
//! to 3 %, because exhaustive search must show what it chose as well.

use crate::devices;

use devices::bus::Bus;
use devices::numeric::Numeric;
use devices::tasks::{Outcome, bus_tasks, shows, solve, tasks};
use fastrand::Rng;
use std::ops::Range;
use wiregauge_tune::{Compliance, Effort};

const MOST_LOSS: f64 = 0.03;
const MOST_SPENT: f64 = 0.2;

fn numeric(seed: u64) -> Outcome {
    let all = tasks(&mut Rng::with_seed(seed ^ 0x5eed));
    let task = &all[seed as usize % all.len()];
    solve(task, &mut Numeric::new(seed), Effort::default())
}

fn bus(seed: u64) -> Outcome {
    let all = bus_tasks(&mut Rng::with_seed(seed ^ 0x5eed));
    let task = &all[seed as usize % all.len()];
    solve(task, &mut Bus::new(seed), Effort::default())
}

fn search(seeds: Range<u64>, one: fn(u64) -> Outcome) -> Vec<Outcome> {
    let observed = |seed: u64| {
        let o = one(seed);
        println!("{seed:4} {}", o.line());
        o
    };
    seeds.map(observed).collect()
}

fn hold(outcomes: &[Outcome]) {
    for o in outcomes {
        let is_cheap = o.spent <= MOST_SPENT || !o.is_proven_at_once();
        assert!(is_cheap, "{}", o.line());
        // Where no candidate can be shown to keep the constraint, there is no optimum to find.
        if o.is_showable {
            assert!(o.shown_loss <= MOST_LOSS, "{}", o.line());
        }
    }
    hold_what_is_reported(outcomes);
}

/// A constraint is observed to be kept only if the whole interval of the confirmation keeps it; so the
/// truth violates it in no more than the 2.5 % that such an interval misses on one side.
fn hold_what_is_reported(outcomes: &[Outcome]) {
    let mut told_kept = 0;
    let mut untrue = 0;
    for o in outcomes {
        let choice = o.advice.best.as_ref().expect("something answered");
        assert!(choice.confirmed, "{}", o.line());
        let constraints = choice.constraints.iter();
        for verdict in constraints.filter(|v| v.compliance == Compliance::Met) {
            let found = verdict.found.expect("kept by what was found");
            assert!(shows(verdict.bound, found), "{}", o.line());
            told_kept += 1;
            untrue += usize::from(!o.is_true);
        }
    }
    assert!(untrue <= 1 + told_kept / 40, "{untrue} of {told_kept}");
}

fn table(name: &str, outcomes: &[Outcome]) {
    let spread = |of: &dyn Fn(&Outcome) -> Option<f64>| {
        let mut values: Vec<f64> = outcomes.iter().filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        let at = |part: f64| values[(part * (values.len() - 1) as f64).round() as usize];
        (at(0.5), at(0.95), at(1.0))
    };
    let row = |what: &str, (median, most, worst): (f64, f64, f64), unit: f64, sign: &str| {
        let shown = [median, most, worst].map(|value| format!("{:.1}{sign}", value * unit));
        println!("| {name} | {what} | {} |", shown.join(" | "));
    };
    let showable =
        |of: fn(&Outcome) -> f64| spread(&move |o: &Outcome| o.is_showable.then(|| of(o)));
    row("loss", showable(|o| o.shown_loss), 100.0, " %");
    let unshown = showable(|o| o.loss);
    row("loss against what cannot be shown", unshown, 100.0, " %");
    let spent = spread(&|o| Some(o.spent));
    row(
        "exchanges spent, of exhaustive search's",
        spent,
        100.0,
        " %",
    );
    row("probes", spread(&|o| Some(o.probes as f64)), 1.0, "");
    let count = |what: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| what(o)).count();
    println!(
        "{name}: {} devices; {} with a constraint, of which {} observed kept, {} of these untruly; {} where nothing can be shown",
        outcomes.len(),
        count(&|o| o.observed.is_some()),
        count(&|o| o.observed == Some(Compliance::Met)),
        count(&|o| o.observed == Some(Compliance::Met) && !o.is_true),
        count(&|o| !o.is_showable),
    );
}

#[test]
fn on_random_devices_the_optimum_is_found_with_a_fifth_of_the_exchanges() {
    hold(&search(0..42, numeric));
}

#[test]
fn on_modelled_buses_the_optimum_is_found_with_a_fifth_of_the_exchanges() {
    hold(&search(0..15, bus));
}

/// The table in docs/tune.md, of devices that were not looked at while the search was written.
#[test]
#[ignore = "a minute or two; run in release"]
fn table_of_losses() {
    let (numeric, bus) = (search(5000..5210, numeric), search(5000..5100, bus));
    for (name, outcomes) in [("formula", &numeric), ("bus", &bus)] {
        table(name, outcomes);
        let sound = outcomes.iter().filter(|o| o.is_showable);
        let far = sound.filter(|o| o.shown_loss > MOST_LOSS).count();
        println!("{name}: {far} further than 3 % from the optimum");
        assert!(far * 50 <= outcomes.len(), "{far} of {name}");
        let mut at_once = outcomes.iter().filter(|o| o.is_proven_at_once());
        assert!(at_once.all(|o| o.spent <= MOST_SPENT), "{name}");
        hold_what_is_reported(outcomes);
    }
}
