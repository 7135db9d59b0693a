//! In any order: what is proved is not broken by an attack with repeating sequences, and wrong variants of the rules
//! are. The latter shows that the attack finds what there is to find.

use crate::loops::{ARRIVAL, integrator, on_miss, servo};
use wiregauge_control::{
    AnyOrder, DelayRange, Loop, Matrix, OnMiss, Pid, Rules, StateSpace, TransferFunction, Verdict,
    any_order, cycle_growth, jitter_margin, misses, worst_cycle,
};

const MS: u64 = 1_000_000;
/// All random loops have a period of 10 ms.
const PERIOD: u64 = 10 * MS;
const PERIOD_S: f64 = 0.01;

fn newest() -> Rules {
    Rules::default()
}

/// A loop of one of several kinds with random parameters; times in periods.
fn random_loop(kind: usize, random: &mut fastrand::Rng) -> Loop {
    let mut between = |low: f64, high: f64| low * (high / low).powf(random.f64());
    // In units of a period, so that the numbers are near 1.
    let speed = 1.0 / PERIOD_S;
    let (plant, pid) = match kind {
        0 => (format!("{speed}/s"), Pid::new(between(0.1, 1.8), 0.0, 0.0)),
        1 => {
            let pid = Pid::new(between(0.1, 1.0), between(3.0, 40.0) * PERIOD_S, 0.0);
            (format!("{speed}/s"), pid)
        }
        2 => {
            let pid = Pid::new(between(0.01, 2.0), 0.0, between(0.3, 10.0) * PERIOD_S);
            (format!("{}/s^2", speed * speed), pid)
        }
        3 => {
            let lag = between(2.0, 20.0) * PERIOD_S;
            let pid = Pid::new(between(0.5, 8.0), lag, 0.0);
            (format!("1/({lag}s+1)"), pid)
        }
        4 => {
            let (low, high) = (between(0.005, 0.05) * speed, between(0.05, 0.4) * speed);
            let pid = Pid::new(between(0.2, 3.0), 0.0, between(1.0, 8.0) * PERIOD_S);
            (
                format!("{}/((s+{low})(s+{high}))", speed * speed * 0.05),
                pid,
            )
        }
        5 => {
            // A pendulum upright.
            let rate = between(0.02, 0.2) * speed;
            let pid = Pid::new(between(1.2, 3.0), 0.0, between(2.0, 12.0) * PERIOD_S);
            (format!("{}/(s^2-{})", rate * rate, rate * rate), pid)
        }
        6 => {
            let rate = between(0.05, 1.0) * speed;
            let pid = Pid::new(between(1.02, 4.0), 0.0, 0.0);
            (format!("{rate}/(s-{rate})"), pid)
        }
        _ => {
            // Lightly damped.
            let rate = between(0.05, 0.8) * speed;
            let pid = Pid::new(between(0.01, 0.2), between(2.0, 20.0) * PERIOD_S, 0.0);
            let damping = between(0.005, 0.1) * rate;
            (format!("{0}/(s^2+{damping}s+{0})", rate * rate), pid)
        }
    };
    let plant = TransferFunction::parse("plant", 's', &plant).and_then(|it| it.state_space());
    let controller = pid.state_space(PERIOD_S).expect("it is right");
    Loop::new(plant.expect("it is proper"), controller, PERIOD_S).expect("it fits")
}

/// Two integrators that act on each other, under a gain matrix.
fn random_pair(random: &mut fastrand::Rng) -> Loop {
    let mut entry = |size: f64| size * (2.0 * random.f64() - 1.0);
    let plant = StateSpace::new(
        "plant",
        Matrix::from_fn(2, 2, |_, _| entry(5.0)),
        Matrix::from_fn(2, 2, |i, j| if i == j { 100.0 } else { entry(30.0) }),
        Matrix::identity(2, 2),
        Matrix::zeros(2, 2),
    );
    let gain = Matrix::from_fn(
        2,
        2,
        |i, j| {
            if i == j { 0.5 + entry(0.4) } else { entry(0.2) }
        },
    );
    Loop::new(plant.expect("it fits"), StateSpace::gain(gain), PERIOD_S).expect("it fits")
}

/// All kinds, and those that the attack breaks just above their margin.
const ALL: [usize; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const TIGHT: [usize; 3] = [2, 5, 6];

/// A stable loop, its least delay in periods and its margin in periods.
struct Claim {
    model: Loop,
    least: f64,
    margin: f64,
    gain: f64,
}

fn claims(seed: u64, count: usize, kinds: &[usize]) -> Vec<Claim> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut found = Vec::new();
    for &kind in kinds.iter().cycle() {
        let model = match kind {
            8 => random_pair(&mut random),
            kind => random_loop(kind, &mut random),
        };
        let least = [0.0, 0.4, 0.9][random.usize(0..3)];
        let jitter = jitter_margin(&model, least * PERIOD_S);
        let margin = jitter.margin_s / PERIOD_S;
        // Sequences of long delays have large matrices.
        if let Some(gain) = jitter.gain
            && margin > 0.02
            && margin < 4.0
        {
            found.push(Claim {
                model,
                least,
                margin,
                gain,
            });
        }
        if found.len() == count {
            break;
        }
    }
    found
}

/// A range of delays, in periods.
fn range(least: f64, jitter: f64, losses_in_a_row: u32) -> DelayRange {
    let ns = |periods: f64| (periods * PERIOD as f64) as u64;
    range_ns(ns(least), ns(jitter), losses_in_a_row)
}

fn range_ns(least_ns: u64, jitter_ns: u64, losses_in_a_row: u32) -> DelayRange {
    DelayRange {
        least_ns,
        jitter_ns,
        losses_in_a_row,
    }
}

fn is_broken(claim: &Claim, jitter: f64, losses: u32, rules: Rules) -> bool {
    let range = range(claim.least, jitter, losses);
    let worst = worst_cycle(&claim.model, range, PERIOD, rules);
    worst.growth >= 1.0
}

#[test]
fn no_loop_that_is_proved_is_broken_by_the_attack() {
    let (all, tight) = (claims(1, 27, &ALL), claims(6, 15, &TIGHT));
    for claim in all.into_iter().chain(tight) {
        let jitter = 0.999 * claim.margin;
        let delays = range(claim.least, jitter, 0);
        let found = any_order(&claim.model, delays, PERIOD, newest());
        assert_eq!(found.verdict, Verdict::Proved);
        assert!(!is_broken(&claim, jitter, 0, newest()));
    }
}

#[test]
fn the_attack_breaks_a_margin_whose_difference_of_commands_is_too_small() {
    // N for Ntilde.
    let wrong = |claim: &Claim| is_broken(claim, 0.999 / claim.gain, 0, newest());
    assert!(claims(2, 40, &[2, 6]).iter().any(wrong));
}

#[test]
fn the_attack_breaks_a_margin_that_forgets_the_least_delay() {
    let wrong = |claim: &Claim| {
        let margin = jitter_margin(&claim.model, 0.0).margin_s / PERIOD_S;
        claim.least > 0.0 && margin < 4.0 && is_broken(claim, 0.999 * margin, 0, newest())
    };
    assert!(claims(3, 40, &ALL).iter().any(wrong));
}

#[test]
fn losses_are_proved_by_their_own_rule_only() {
    let mut plain = 0;
    let claims = claims(4, 60, &ALL);
    for claim in claims.iter().filter(|claim| claim.margin > 1.0) {
        let jitter = 0.999 * claim.margin - 1.0;
        if jitter > 0.0 {
            let losses = range(claim.least, jitter, 1);
            let found = any_order(&claim.model, losses, PERIOD, newest());
            assert_eq!(found.verdict, Verdict::Proved);
            assert!(!is_broken(claim, jitter, 1, newest()));
        }
        plain += u32::from(plain == 0 && is_broken(claim, 0.999 * claim.margin, 1, newest()));
    }
    assert!(plain > 0, "the attack breaks no loop at the plain margin");
}

#[test]
fn answers_by_arrival_are_proved_by_their_own_rule_only() {
    let mut plain = 0;
    let claims = claims(5, 60, &ALL);
    for claim in claims.iter().filter(|claim| claim.margin > 1.0) {
        // N + floor N + 1 below the margin.
        let limit = 0.999 * claim.margin;
        let jitter = ((limit - 1.0) / 2.0).floor().max(0.0);
        if jitter >= 1.0 {
            let late = range(claim.least, jitter, 0);
            let found = any_order(&claim.model, late, PERIOD, ARRIVAL);
            assert_eq!(found.verdict, Verdict::Proved);
            assert!(!is_broken(claim, jitter, 0, ARRIVAL));
        }
        plain += u32::from(plain == 0 && is_broken(claim, limit, 0, ARRIVAL));
    }
    assert!(plain > 0, "the attack breaks no loop at the plain margin");
}

#[test]
fn misses_that_are_proved_are_not_broken_and_a_pattern_that_breaks_does() {
    let (mut proofs, mut breaks) = (0, 0);
    for claim in claims(7, 9, &ALL) {
        use OnMiss::{Hold, Skip, ZeroAtDeadline, ZeroAtOnce};
        for rules in [Hold, ZeroAtOnce, ZeroAtDeadline, Skip].map(on_miss) {
            let constant = range(claim.least, 0.0, 0);
            let found = misses(&claim.model, constant.least_ns, 0, PERIOD, rules, 4);
            let found = found.expect("delays below a period are covered");
            let proved = found.proved.expect("it is stable").min(6);
            let losses = DelayRange {
                losses_in_a_row: proved,
                ..constant
            };
            assert!(worst_cycle(&claim.model, losses, PERIOD, rules).growth < 1.0);
            proofs += u32::from(proved > 0);
            if let Some(pattern) = found.broken {
                let growth = cycle_growth(&claim.model, &pattern.delays, PERIOD, rules);
                assert!((growth / pattern.growth - 1.0).abs() < 1e-6 && growth > 1.0 - 1e-9);
                breaks += 1;
            }
        }
    }
    assert!(proofs > 10 && breaks > 10, "{proofs} {breaks}");
}

#[test]
fn a_broken_loop_is_shown_with_delays_of_the_range_that_break_it() {
    let found = any_order(&servo(), range_ns(0, 11_940_000, 1), 6 * MS, newest());
    let AnyOrder {
        verdict: Verdict::Broken(cycle),
        demanded_s: Some(demanded),
        ..
    } = &found
    else {
        panic!("{found:?}");
    };
    assert!((demanded - 17.94e-3).abs() < 1e-9);
    let mut delays = cycle.delays.iter();
    assert!(delays.all(|delay| [None, Some(0), Some(11_940_000)].contains(delay)));
    let growth = cycle_growth(&servo(), &cycle.delays, 6 * MS, newest());
    assert!(growth >= 1.0 && (growth - cycle.growth).abs() < 1e-9);
}

#[test]
fn between_proof_and_break_the_verdict_is_not_proved() {
    // The attack breaks the integrator above its delay margin of about 2 periods; the proof ends at 1.4167.
    let of = |jitter: f64| {
        let range = range_ns(0, (jitter * 1e9) as u64, 0);
        any_order(&integrator(0.5), range, 1_000 * MS, newest()).verdict
    };
    assert_eq!(of(1.416), Verdict::Proved);
    assert_eq!(of(1.418), Verdict::NotProved { is_covered: true });
    assert!(matches!(of(3.0), Verdict::Broken(_)));
}

#[test]
fn rules_that_set_zero_or_skip_are_covered_for_a_constant_delay_only() {
    let of = |jitter_ns, losses, rule| {
        let range = range_ns(3 * MS, jitter_ns, losses);
        any_order(&servo(), range, 6 * MS, on_miss(rule)).verdict
    };
    assert_eq!(of(0, 3, OnMiss::ZeroAtDeadline), Verdict::Proved);
    assert_eq!(of(0, 2, OnMiss::Hold), Verdict::Proved);
    assert!(matches!(of(MS, 1, OnMiss::Skip), Verdict::Broken(_)));
    let (slow, skip) = (range_ns(0, 100 * MS, 1), on_miss(OnMiss::Skip));
    let of_slow = any_order(&integrator(0.5), slow, 1_000 * MS, skip);
    assert_eq!(of_slow.verdict, Verdict::NotProved { is_covered: false });
    let far = range_ns(600 * MS, 100 * MS, 1);
    let of_far = any_order(&integrator(0.001), far, 6 * MS, newest());
    assert_eq!(of_far.verdict, Verdict::NotProved { is_covered: false });
    // Without losses the rule does not matter.
    assert_eq!(of(MS, 0, OnMiss::Skip), Verdict::Proved);
}

#[test]
fn the_range_of_a_trace_counts_late_answers_as_lost() {
    let delays = [Some(5), Some(9), None, Some(40), Some(7), None];
    let of = |deadline_ns| {
        let rules = Rules {
            deadline_ns,
            ..Rules::default()
        };
        DelayRange::of(&delays, rules)
    };
    assert_eq!(of(None), Some(range_ns(5, 35, 1)));
    assert_eq!(of(Some(10)), Some(range_ns(5, 4, 2)));
    assert_eq!(of(Some(4)), None);
}
