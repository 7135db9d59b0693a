//! Random devices with a known optimum: how near to it a search ends, and what it spends.

mod devices;

use devices::bus::Bus;
use devices::numeric::Numeric;
use devices::tasks::{Outcome, bus_tasks, solve, tasks};
use fastrand::Rng;
use wiregauge_tune::{Effort, Kept};

fn outcomes(seeds: std::ops::Range<u64>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for seed in seeds {
        let all = tasks(&mut Rng::with_seed(seed ^ 0x5eed));
        let task = &all[seed as usize % all.len()];
        let start = std::time::Instant::now();
        let o = solve(task, &mut Numeric::new(seed), Effort::default());
        println!(
            "{seed:4} {:42} loss {:7.4} shown {:7.4} spent {:6.4} probes {:3} {:?} true {} {:?} | got {:?} best {:?}",
            o.name,
            o.loss,
            o.shown_loss,
            o.spent,
            o.probes,
            o.told,
            o.is_true,
            start.elapsed(),
            o.advice.best.as_ref().unwrap().at.setting,
            o.best.setting
        );
        outcomes.push(o);
    }
    outcomes
}

#[test]
fn try_out() {
    outcomes(0..56);
}

#[test]
fn look() {
    let seed: u64 = std::env::var("SEED")
        .unwrap_or("46".into())
        .parse()
        .unwrap();
    for o in outcomes(seed..seed + 1) {
        for (p, m) in &o.advice.probes {
            println!(
                "{:?} n {} {:?} obj {:.0} [{:.0},{:.0}] con {:?}",
                p.at.setting,
                p.exchanges,
                p.purpose,
                m.objective.unwrap().value,
                m.objective.unwrap().low.unwrap_or(0.0),
                m.objective.unwrap().high.unwrap_or(0.0),
                m.constraints.first().map(|e| e.unwrap())
            );
        }
        println!("{:?}\n{:?}", o.advice.best, o.advice.why);
    }
}

#[test]
fn buses() {
    for seed in 0..25 {
        let all = bus_tasks(&mut Rng::with_seed(seed ^ 0x5eed));
        let task = &all[seed as usize % all.len()];
        let start = std::time::Instant::now();
        let effort = Effort {
            exchanges: 1000,
            ..Effort::default()
        };
        let o = solve(task, &mut Bus::new(seed), effort);
        println!(
            "{seed:4} {:42} loss {:7.4} shown {:7.4} spent {:6.4} probes {:3} {:?} true {} {:?} | got {:?} best {:?}",
            o.name,
            o.loss,
            o.shown_loss,
            o.spent,
            o.probes,
            o.told,
            o.is_true,
            start.elapsed(),
            o.advice.best.as_ref().unwrap().at.setting,
            o.best.setting
        );
        if std::env::var("SEED").is_ok_and(|s| s == seed.to_string()) {
            for (p, m) in &o.advice.probes {
                println!(
                    "{:?} n {} {:?} obj {:.0} [{:.0},{:.0}] con {:?}",
                    p.at.setting,
                    p.exchanges,
                    p.purpose,
                    m.objective.unwrap().value,
                    m.objective.unwrap().low.unwrap_or(0.0),
                    m.objective.unwrap().high.unwrap_or(0.0),
                    m.constraints.first().map(|e| e.unwrap())
                );
            }
            println!("{:?}\n{:?}", o.advice.best, o.advice.why);
        }
    }
}

#[test]
fn table() {
    use devices::{Device, Figure};
    for seed in [4u64, 13] {
        let all = bus_tasks(&mut Rng::with_seed(seed ^ 0x5eed));
        let task = &all[seed as usize % all.len()];
        let mut bus = Bus::new(seed);
        for at in devices::tasks::candidates(&task.space) {
            println!("{seed} {:5} {:3} trt {:9.0} rtt {:9.0} rate {:9.0} shown {:9.0}", at.setting.in_bytes, at.setting.depth, bus.truth(at, Figure::Trt, None), bus.truth(at, Figure::Rtt, None), bus.truth(at, Figure::InRate, None), bus.truth(at, Figure::InRate, Some(1920)));
        }
    }
}
