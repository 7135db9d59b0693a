//! Mean-square growth and cost against known values.

use crate::loops::{ARRIVAL, integrator, on_miss, servo};
use wiregauge_control::{
    Bursts, DelayChain, DelayState, Loop, Matrix, NoLongRun, OnMiss, Order, Rules, StateSpace,
    Stationary, cycle_growth, long_run, stationary,
};

fn chain(delays: &[(Option<u32>, f64)]) -> DelayChain {
    DelayChain {
        states: vec![DelayState {
            next: vec![1.0],
            delays: delays.to_vec(),
        }],
    }
}

/// On 16 ticks a period of 1 s.
fn of(model: &Loop, delays: &[(Option<u32>, f64)], rules: Rules) -> Stationary {
    stationary(model, &chain(delays), 1_000_000_000, rules, 16).expect("it converges")
}

fn is_near(found: f64, expected: f64) {
    let off = (found - expected).abs();
    assert!(off < 1e-6, "{found} found, {expected} expected");
}

#[test]
fn constant_delays_of_an_integrator_are_known() {
    for (delay, cost, growth) in [
        (0, 1.277778, 0.25),
        (4, 1.477041, 0.125),
        (8, 1.701389, 0.25),
        (16, 2.3, 0.5),
        (24, 3.354167, 0.718782),
        (32, 6.388889, 0.884646),
    ] {
        let found = of(&integrator(0.5), &[(Some(delay), 1.0)], Rules::default());
        is_near(found.cost.expect("it is stable"), cost);
        is_near(found.growth, growth);
    }
}

#[test]
fn independent_delays_of_an_integrator_are_known() {
    let model = integrator(0.5);
    let eighths: Vec<_> = (0..8).map(|k| (Some(2 * k), 0.125)).collect();
    let found = of(&model, &eighths, Rules::default());
    is_near(found.cost.expect("it is stable"), 1.655836);
    is_near(found.growth, 0.267183);
    let losses = [(Some(0), 0.9), (None, 0.1)];
    for (rule, cost) in [(OnMiss::Hold, 1.38), (OnMiss::ZeroAtOnce, 1.425926)] {
        let found = of(&model, &losses, on_miss(rule));
        is_near(found.cost.expect("it is stable"), cost);
    }
    let late = [0, 8, 16, 24, 32].map(|tick| (Some(tick), 0.2));
    for (rules, cost) in [(Rules::default(), 2.320032), (ARRIVAL, 2.453088)] {
        is_near(of(&model, &late, rules).cost.expect("it is stable"), cost);
    }
}

/// x' = rate x + v under a gain.
fn unstable(rate: f64, gain: f64) -> Loop {
    let [a, one] = [rate, 1.0].map(|value| Matrix::from_element(1, 1, value));
    let plant = StateSpace::new("plant", a, one.clone(), one, Matrix::zeros(1, 1));
    let controller = StateSpace::gain(Matrix::from_element(1, 1, gain));
    Loop::new(plant.expect("it fits"), controller, 1.0).expect("it fits")
}

#[test]
fn an_unstable_plant_under_deadbeat_control_bears_exactly_its_critical_loss() {
    let gain = 0.5f64.exp() * 0.5 / (0.5f64.exp() - 1.0);
    let growth = |loss: f64| {
        let delays = [(Some(0), 1.0 - loss), (None, loss)];
        of(&unstable(0.5, gain), &delays, on_miss(OnMiss::ZeroAtOnce)).growth
    };
    // The mean square grows by loss times e^(2 a h).
    is_near(growth((-1f64).exp()), 1.0);
    is_near(growth(0.1), 0.1 * 1f64.exp());
    assert!(growth(0.367879) < 1.0 && growth(0.36788) > 1.0);
    let delays = [(Some(0), 0.5), (None, 0.5)];
    let found = of(&unstable(0.5, gain), &delays, on_miss(OnMiss::ZeroAtOnce));
    assert_eq!(found.cost, None);
}

/// Losses in 10 % of the cycles, in bursts of 5 in the mean.
fn bursts() -> DelayChain {
    let bad = 0.1;
    let to_good = 1.0 / 5.0;
    let to_bad = to_good * bad / (1.0 - bad);
    let state = |to_bad: f64, delay| DelayState {
        next: vec![1.0 - to_bad, to_bad],
        delays: vec![(delay, 1.0)],
    };
    DelayChain {
        states: vec![state(to_bad, Some(4)), state(1.0 - to_good, None)],
    }
}

#[test]
fn bursts_break_a_loop_that_bears_independent_losses() {
    let model = unstable(0.2, 0.7);
    let independent = of(&model, &[(Some(4), 0.9), (None, 0.1)], Rules::default());
    is_near(independent.growth, 0.457060);
    assert!(independent.cost.is_some());
    let found = stationary(&model, &bursts(), 1_000_000_000, Rules::default(), 16);
    let found = found.expect("it converges");
    is_near(found.growth, 1.241149);
    assert_eq!(found.cost, None);
}

#[test]
fn a_trace_with_bursts_is_said_to_differ_from_independent_losses() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut bad = false;
    let delays: Vec<_> = (0..20_000)
        .map(|_| {
            bad = random.f64() < if bad { 0.8 } else { 0.2 / 9.0 };
            (!bad).then_some(250_000_000)
        })
        .collect();
    let model = unstable(0.2, 0.7);
    let found = long_run(&model, &delays, 1_000_000_000, Rules::default(), 16);
    let found = found.expect("it is long enough");
    assert!(found.differs);
    let Bursts::Found { chain, long_run } = found.bursts else {
        panic!("no bursts found");
    };
    assert!((chain.mean_burst - 5.0).abs() < 0.5);
    assert!(long_run.growth > 1.1 && found.independent.growth < 0.6);
}

#[test]
fn a_short_trace_gets_no_statement_and_a_hard_one_ends_with_a_reason() {
    let model = servo();
    let of = |delays: &[Option<u64>], rules| long_run(&model, delays, 6_000_000, rules, 16);
    let short = of(&[Some(1); 199], Rules::default());
    assert_eq!(short, Err(NoLongRun::TooShort { cycles: 199 }));
    // Answers of up to 50 periods that are applied as they arrive: each combination of them is a mode.
    let mut random = fastrand::Rng::with_seed(5);
    let delays: Vec<_> = (0..5_000)
        .map(|_| Some(random.u64(0..300_000_000)))
        .collect();
    assert_eq!(of(&delays, ARRIVAL), Err(NoLongRun::TooManyModes));
}

#[test]
fn delays_of_up_to_two_periods_with_losses_are_computed_on_the_demanded_grid() {
    let mut random = fastrand::Rng::with_seed(9);
    let delays: Vec<_> = (0..20_000)
        .map(|_| (random.f64() > 0.01).then(|| (random.f64().powi(3) * 11.5e6) as u64))
        .collect();
    let found = long_run(&servo(), &delays, 6_000_000, Rules::default(), 16);
    let found = found.expect("it converges");
    assert_eq!(found.ticks, 16);
    assert!(found.independent.growth < 1.0);
}

#[test]
fn a_straggler_among_losses_does_not_prevent_a_statement() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut delays: Vec<_> = (0..5_000)
        .map(|_| (random.f64() > 0.05).then(|| random.u64(1_000_000..5_000_000)))
        .collect();
    let of = |delays: &[_]| {
        let found = long_run(&servo(), delays, 6_000_000, Rules::default(), 16);
        found.expect("it converges").independent
    };
    let before = of(&delays);
    delays[1_000] = Some(20_000_000_000);
    let after = of(&delays);
    assert!((after.growth / before.growth - 1.0).abs() < 1e-2);
}

/// Delays that repeat, as a chain of as many states, each of which follows with certainty.
fn repeating(delays: &[Option<u32>]) -> DelayChain {
    let count = delays.len();
    let states = delays.iter().enumerate().map(|(state, &delay)| DelayState {
        next: (0..count)
            .map(|next| f64::from(u8::from(next == (state + 1) % count)))
            .collect(),
        delays: vec![(delay, 1.0)],
    });
    DelayChain {
        states: states.collect(),
    }
}

#[test]
fn delays_that_repeat_grow_as_their_cycle_under_each_rule() {
    let mut random = fastrand::Rng::with_seed(11);
    let period_ns = 6_000_000;
    for _ in 0..60 {
        let ticks: Vec<Option<u32>> = (0..random.usize(1..5))
            .map(|_| (random.f64() < 0.8).then(|| random.u32(0..44)))
            .collect();
        // Without an answer the plant is open, and its growth that of a Jordan block.
        if ticks.iter().all(Option::is_none) {
            continue;
        }
        let on_miss = [
            OnMiss::Hold,
            OnMiss::ZeroAtOnce,
            OnMiss::ZeroAtDeadline,
            OnMiss::Skip,
        ];
        let rules = Rules {
            order: [Order::Newest, Order::Arrival][random.usize(0..2)],
            on_miss: on_miss[random.usize(0..4)],
            deadline_ns: None,
        };
        let delays: Vec<_> = (ticks.iter())
            .map(|tick| tick.map(|tick| u64::from(tick) * period_ns / 16))
            .collect();
        let expected = cycle_growth(&servo(), &delays, period_ns, rules).powi(2);
        let found = stationary(&servo(), &repeating(&ticks), period_ns, rules, 16);
        let found = found.expect("it converges").growth;
        let most = 1e-6 * expected.max(1e-3);
        let name = format!("{found} {expected} {ticks:?} {rules:?}");
        assert!((found - expected).abs() < most, "{name}");
    }
}
