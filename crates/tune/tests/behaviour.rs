//! What a search does when things are not as wished: settings that fail, dead links, constraints that
//! nothing keeps, an end before it is over.

#![allow(clippy::unwrap_used)]

use crate::devices;

use devices::numeric::Numeric;
use devices::{Device, Figure, scaled};
use wiregauge_model::{Observation, Setting};
use wiregauge_record::{Connect, Wait};
use wiregauge_stats::Estimate;
use wiregauge_tune::{
    Advice, Bound, Candidate, Choice, Compliance, Effort, Measured, Probe, Purpose, Search, Sense,
    Space, SpaceError, Why,
};

fn space() -> Space {
    Space {
        out_bytes: vec![16],
        in_bytes: (1..=125).map(|n| 64 * n).collect(),
        depth: (1..=16).collect(),
        wait: vec![Wait::Block],
        connect: vec![Connect::Once],
    }
}

/// Of responses of these sizes, with these depths.
fn space_of(in_bytes: &[u32], depth: &[u32]) -> Space {
    Space {
        in_bytes: in_bytes.to_vec(),
        depth: depth.to_vec(),
        ..space()
    }
}

fn effort(exchanges: u64, confirm: Option<u64>) -> Effort {
    Effort {
        exchanges,
        confirm,
        ..Effort::default()
    }
}

fn most(space: Space, bounds: Vec<Bound>, effort: Effort) -> Search {
    Search::new(space, Sense::Maximise, bounds, effort).unwrap()
}

fn throughput(bounds: Vec<Bound>) -> Search {
    most(space(), bounds, Effort::default())
}

/// Searches to the end with what `measure` finds.
fn searched(mut search: Search, mut measure: impl FnMut(&Probe) -> Measured) -> Advice {
    while let Some(probe) = search.next() {
        let measured = measure(&probe);
        search.tell(&probe, measured);
    }
    search.advice()
}

/// Searches to the end by these figures of a device.
fn run(search: Search, figures: &[Figure]) -> Advice {
    let mut device = Numeric::new(7);
    searched(search, |p| device.measure(p.at, p.exchanges, figures))
}

/// Searches for the most throughput where the link works at some candidates only.
fn run_where(works: impl Fn(&Candidate) -> bool) -> Advice {
    let mut device = Numeric::new(7);
    let measure = |p: &Probe| match works(&p.at) {
        true => device.measure(p.at, p.exchanges, &[Figure::InRate]),
        false => Measured::failed(0, 0),
    };
    searched(throughput(Vec::new()), measure)
}

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    let (low, high) = (Some(low), Some(high));
    Estimate { value, low, high }
}

fn at(in_bytes: u32, depth: u32) -> Candidate {
    Candidate {
        setting: Setting {
            out_bytes: 16,
            in_bytes,
            depth,
        },
        wait: Wait::Block,
        connect: Connect::Once,
    }
}

fn p99_at(in_bytes: u32, depth: u32) -> f64 {
    Numeric::new(7).truth(at(in_bytes, depth), Figure::P99, None)
}

/// A bound between the least p99 and the most.
fn middle() -> Bound {
    Bound::Below((p99_at(64, 1) * p99_at(8000, 16)).sqrt())
}

#[test]
fn where_the_link_fails_the_candidate_is_out_and_the_search_goes_on() {
    let small = |at: &Candidate| at.setting.in_bytes <= 4096;
    let advice = run_where(small);
    let best = advice.best.unwrap();
    assert!(best.confirmed && small(&best.at), "{best:?}");
    let mut device = Numeric::new(7);
    let mut rate = |in_bytes, depth| device.truth(at(in_bytes, depth), Figure::InRate, None);
    let most = (1..=64).flat_map(|n| (1..=16).map(move |depth| (64 * n, depth)));
    let most = most
        .map(|(in_bytes, depth)| rate(in_bytes, depth))
        .fold(0.0, f64::max);
    let found = rate(best.at.setting.in_bytes, best.at.setting.depth);
    assert!(found > 0.97 * most, "{found} {most}");
    assert!(!advice.failed.is_empty());
    assert!(advice.failed.iter().all(|at| !small(at)));
    // Its size is seen to be what matters; it does not run into the wall all along it.
    assert!(advice.failed.len() <= 15, "{:?}", advice.failed);
}

#[test]
fn a_link_that_answers_nowhere_is_given_up_without_advice() {
    let advice = run_where(|_| false);
    assert_eq!(advice.best, None);
    assert!(advice.probes.len() <= 20, "{}", advice.probes.len());
    assert!(advice.model.is_none());
}

#[test]
fn a_constraint_that_nothing_keeps_is_reported_with_what_comes_nearest() {
    let least = p99_at(64, 1);
    let search = throughput(vec![Bound::Below(least / 3.0)]);
    let advice = run(search, &[Figure::InRate, Figure::P99]);
    let best = advice.best.unwrap();
    assert_eq!(best.constraints[0].compliance, Compliance::Violated);
    assert!(!best.keeps_all());
    assert!(advice.why.is_empty(), "{:?}", advice.why);
    let found = best.constraints[0].found.unwrap().value;
    assert!(found < least * 1.5, "{found} {least}");
}

#[test]
fn a_constraint_that_binds_is_named() {
    let search = throughput(vec![Bound::Below(1e12), middle()]);
    let advice = run(search, &[Figure::InRate, Figure::P99, Figure::P99]);
    let best = advice.best.unwrap();
    assert!(best.keeps_all(), "{best:?}");
    assert_eq!(advice.why, [Why::ConstraintBinds { constraint: 1 }]);
}

#[test]
fn a_figure_that_cannot_be_had_keeps_nothing() {
    let mut device = Numeric::new(7);
    let advice = searched(throughput(vec![Bound::AtMost(0.0)]), |p| Measured {
        constraints: vec![None],
        ..device.measure(p.at, p.exchanges, &[Figure::InRate])
    });
    let best = advice.best.unwrap();
    assert_eq!(best.constraints[0].compliance, Compliance::Violated);
}

#[test]
fn what_loses_is_avoided_where_nothing_may_be_lost() {
    let mut device = Numeric::new(7);
    let loses = |at: &Candidate| at.setting.depth > 6;
    let advice = searched(throughput(vec![Bound::AtMost(0.0)]), |p| {
        let lost = if loses(&p.at) { 0.01 } else { 0.0 };
        Measured {
            constraints: vec![Some(estimate(lost, lost / 2.0, lost + 0.001))],
            ..device.measure(p.at, p.exchanges, &[Figure::InRate])
        }
    });
    let best = advice.best.unwrap();
    assert!(best.keeps_all() && !loses(&best.at), "{best:?}");
    assert!(best.at.setting.depth >= 4, "{best:?}");
}

#[test]
fn a_search_that_is_ended_early_says_that_its_choice_is_not_confirmed() {
    let mut search = throughput(Vec::new());
    let mut device = Numeric::new(7);
    assert_eq!(search.advice().best, None);
    for _ in 0..6 {
        let probe = search.next().unwrap();
        let again = search.next();
        assert_eq!(again, Some(probe), "asked twice, the same comes next");
        let measured = device.measure(probe.at, probe.exchanges, &[Figure::InRate]);
        search.tell(&probe, measured);
    }
    let best = search.advice().best.unwrap();
    assert!(!best.confirmed);
}

#[test]
fn the_figures_of_the_choice_are_of_a_fresh_run_and_not_of_the_probe_that_spoke_for_it() {
    let search = throughput(Vec::new());
    let confirmation = search.confirmation();
    let advice = run(search, &[Figure::InRate]);
    let best = advice.best.unwrap();
    let is_it = |probe: &Probe| probe.purpose == Purpose::Confirm && probe.at == best.at;
    let confirmed: Vec<_> = advice.probes.iter().filter(|(p, _)| is_it(p)).collect();
    assert_eq!(confirmed.len(), 1);
    assert_eq!(confirmed[0].1.objective, Some(best.objective));
    assert_eq!(best.exchanges, confirmation);
    let spent: u64 = advice.probes.iter().map(|(_, m)| m.exchanges).sum();
    assert_eq!(advice.spent, spent);
    assert_eq!(advice.exhaustive, 125 * 16 * 1000);
}

#[test]
fn when_the_confirmation_breaks_a_constraint_the_next_best_is_confirmed_and_that_is_reported() {
    let mut device = Numeric::new(7);
    let mut first = None;
    let advice = searched(throughput(vec![middle()]), |probe| {
        let figures = [Figure::InRate, Figure::P99];
        let mut measured = device.measure(probe.at, probe.exchanges, &figures);
        if probe.purpose == Purpose::Confirm && first.is_none() {
            first = Some(probe.at);
            let found = measured.constraints[0];
            measured.constraints[0] = found.map(|found| scaled(found, |x| x * 3.0));
        }
        measured
    });
    let best = advice.best.unwrap();
    assert!(best.keeps_all(), "{best:?}");
    assert_ne!(Some(best.at), first);
    let aside = &advice.set_aside[0];
    assert_eq!(Some(aside.choice.at), first);
    assert_eq!(aside.choice.constraints[0].compliance, Compliance::Violated);
    assert!(!aside.was_outdone);
}

/// Searches depths 1 to `depth` for the largest, with an effort for one confirmation. There depths above `deepest`
/// violate the only constraint, which all of them meet in a probe.
fn deepest_up_to(deepest: u32, depth: u32, in_bytes: u32) -> Advice {
    let space = space_of(&[in_bytes], &Vec::from_iter(1..=depth));
    let bounds = vec![Bound::Below(20e6)];
    searched(most(space, bounds, effort(200, Some(1000))), |probe| {
        let depth = probe.at.setting.depth;
        let is_long = probe.purpose == Purpose::Confirm && depth > deepest;
        let mut measured = flat(probe, |_| if is_long { 50.0 } else { 1.0 });
        let by = |rate: Estimate| scaled(rate, |x| x / rate.value * f64::from(depth));
        measured.objective = measured.objective.map(by);
        measured
    })
}

#[test]
fn what_met_the_constraints_when_probed_is_confirmed_from_the_best_on_until_one_is_proven() {
    let advice = deepest_up_to(3, 8, 64);
    let best = advice.best.unwrap();
    assert!(best.confirmed && best.keeps_all(), "{best:?}");
    let depth = |choice: &Choice| choice.at.setting.depth;
    let refuted: Vec<u32> = advice.set_aside.iter().map(|s| depth(&s.choice)).collect();
    assert_eq!((depth(&best), refuted), (3, vec![8, 7, 6, 5, 4]));
}

#[test]
fn the_last_confirmation_is_that_of_the_knee_and_nothing_is_confirmed_after_it() {
    // Full from depth 3 on: more outstanding only wait longer.
    for (deepest, proven) in [(3, true), (2, false)] {
        let advice = deepest_up_to(deepest, 16, 500);
        let confirmed = (advice.probes.iter()).filter(|(p, _)| p.purpose == Purpose::Confirm);
        let depths: Vec<u32> = confirmed.map(|(p, _)| p.at.setting.depth).collect();
        assert_eq!(depths, [16, 15, 14, 13, 12, 11, 10, 3]);
        assert_eq!(advice.best.unwrap().keeps_all(), proven);
    }
}

#[test]
fn a_run_that_is_too_short_for_a_bound_is_no_reason_to_confirm_another_setting() {
    let space = space_of(&[64], &space().depth);
    let bounds = vec![Bound::Below(1e3 * p99_at(64, 1))];
    let search = most(space, bounds, effort(20, Some(30)));
    let advice = run(search, &[Figure::InRate, Figure::P99]);
    let best = advice.best.unwrap();
    assert_eq!(best.constraints[0].compliance, Compliance::Undecided);
    assert!(advice.set_aside.is_empty(), "{:?}", advice.set_aside);
}

#[test]
fn a_space_or_an_effort_of_nothing_is_refused() {
    let empty = space_of(&[], &[1]);
    let search = |space, effort| Search::new(space, Sense::Maximise, Vec::new(), effort);
    let error = search(empty, Effort::default()).unwrap_err();
    assert_eq!(error, SpaceError::Empty("size of a response"));
    let none = Effort {
        share: 0.0,
        ..Effort::default()
    };
    assert_eq!(search(space(), none).unwrap_err(), SpaceError::NoEffort);
}

#[test]
fn a_space_of_one_candidate_is_confirmed_at_once() {
    let search = most(space_of(&[64], &[4]), Vec::new(), effort(1000, Some(500)));
    let advice = run(search, &[Figure::InRate]);
    let best = advice.best.unwrap();
    assert!(best.confirmed);
    assert_eq!(best.exchanges, 500);
}

#[test]
fn an_effort_too_small_for_a_choice_still_measures_and_confirms_something() {
    let search = most(space_of(&[64], &[1, 2]), Vec::new(), effort(10, None));
    let advice = run(search, &[Figure::InRate]);
    assert!(advice.best.unwrap().confirmed);
}

#[test]
fn where_nothing_is_ever_lost_the_least_loss_is_found_with_the_least_depth() {
    let search = Search::new(space(), Sense::Minimise, Vec::new(), Effort::default()).unwrap();
    let mut device = Numeric::new(7);
    let advice = searched(search, |p| Measured {
        objective: Some(estimate(0.0, 0.0, 4.0 / p.exchanges as f64)),
        ..device.measure(p.at, p.exchanges, &[Figure::InRate])
    });
    let best = advice.best.unwrap();
    assert!(best.confirmed);
    assert_eq!(best.at.setting.depth, 1);
}

/// A link without noise that carries 1 MB/s wherever it is busy all the time; its p99 is
/// `longer` times the RTT, by the depth.
fn flat(probe: &Probe, longer: impl Fn(f64) -> f64) -> Measured {
    let Setting {
        in_bytes, depth, ..
    } = probe.at.setting;
    let (bytes_ns, depth) = (1e3 * f64::from(in_bytes), f64::from(depth));
    let trt_ns = bytes_ns.max((1e6 + bytes_ns) / depth);
    let within = |x: f64, part: f64| Some(estimate(x, x * (1.0 - part), x * (1.0 + part)));
    let noise = 0.1 / (probe.exchanges as f64).sqrt();
    Measured {
        exchanges: probe.exchanges,
        observation: Some(Observation {
            at: probe.at.setting,
            trt_ns,
            rtt_ns: trt_ns * depth,
            error: noise / 2.0,
        }),
        objective: within(1e9 * f64::from(in_bytes) / trt_ns, noise),
        constraints: vec![within(longer(depth) * trt_ns * depth, 3.0 * noise)],
    }
}

/// The objective of [`flat`], changed by this factor.
fn by_factor(probe: &Probe, factor: f64) -> Measured {
    let measured = flat(probe, |_| 1.0);
    Measured {
        objective: measured.objective.map(|rate| scaled(rate, |x| x * factor)),
        constraints: Vec::new(),
        ..measured
    }
}

/// Full from depth 2 on: more outstanding only wait longer.
fn depths() -> Search {
    most(
        space_of(&[1000], &[1, 2, 3, 4]),
        Vec::new(),
        Effort::default(),
    )
}

#[test]
fn of_depths_that_carry_as_much_the_smallest_is_confirmed() {
    let advice = searched(depths(), |probe| {
        // By chance a little more with every depth.
        let more = f64::from(probe.at.setting.depth.saturating_sub(2)) * 0.003;
        by_factor(probe, 1.0 + more)
    });
    assert_eq!(advice.best.unwrap().at.setting.depth, 2);
    assert!(advice.set_aside.is_empty(), "{:?}", advice.set_aside);
}

#[test]
fn of_confirmed_depths_that_do_not_differ_significantly_the_smaller_is_chosen() {
    for (factor, chosen) in [(1.004, 2), (1.05, 4), (0.95, 2)] {
        let mut search = depths();
        for (depth, factor) in [(4, factor), (2, 1.0)] {
            let probe = Probe {
                at: at(1000, depth),
                exchanges: 1000,
                purpose: Purpose::Confirm,
            };
            search.tell(&probe, by_factor(&probe, factor));
        }
        let advice = search.advice();
        assert_eq!(advice.best.unwrap().at.setting.depth, chosen, "{factor}");
        assert!(advice.set_aside[0].was_outdone);
    }
}

#[test]
fn of_settings_that_carry_as_much_the_one_furthest_from_the_bound_is_confirmed() {
    let search = throughput(vec![Bound::Below(7e6)]);
    let advice = searched(search, |probe| flat(probe, |depth| 1.0 + 4.0 / depth));
    let best = advice.best.unwrap();
    let p99 = |constraints: Option<Estimate>| constraints.unwrap().value;
    let as_much = (advice.probes.iter())
        .filter(|(_, measured)| measured.objective.unwrap().value > 0.998 * best.objective.value);
    let least = as_much.map(|(_, measured)| p99(measured.constraints[0]));
    let least = least.fold(f64::INFINITY, f64::min);
    let chosen = p99(best.constraints[0].found);
    assert!(best.keeps_all() && advice.set_aside.is_empty(), "{best:?}");
    assert!(chosen < 1.05 * least, "{chosen} {least}");
}

#[test]
fn where_long_runs_have_longer_tails_than_probes_the_second_confirmation_has_room_for_it() {
    let mut confirmed = 0;
    let advice = searched(throughput(vec![Bound::Below(1.9e6)]), |probe| {
        let is_long = probe.purpose == Purpose::Confirm;
        confirmed += usize::from(is_long);
        flat(probe, |_| if is_long { 1.6 } else { 1.0 })
    });
    let best = advice.best.unwrap();
    assert!(best.keeps_all(), "{best:?}");
    assert!(best.objective.value > 0.8e6, "{best:?}");
    assert!(confirmed <= 2, "{confirmed} {:?}", advice.set_aside);
}
