//! The fitted model in few words, next to what the confirming run measured: a sentence that a
//! measurement refutes is left out. All of the model is in the JSON.

use super::found::{Found, TRUSTED, label};
use super::taken::Taken;
use super::task::Kind;
use wiregauge_model::StageCost;
use wiregauge_quantity as units;
use wiregauge_quantity::rate;
use wiregauge_record::{Carried, Figure};

/// Its sentences.
pub fn words(found: &Found) -> Vec<String> {
    let Some(model) = &found.advice.model else {
        return Vec::new();
    };
    let one = match found.task.kind {
        Kind::Exchanges(_) => "per exchange",
        Kind::Stream(_) => "per transfer",
    };
    let figures = model.figures();
    if figures.worst > TRUSTED {
        return vec![format!(
            "the link model does not fit (error of {} at one of {} settings), so it gives no reason",
            units::percent(figures.worst),
            figures.settings
        )];
    }
    let label = label(&figures);
    let mut lines = Vec::new();
    if let Some(base) = &figures.base {
        let depth = figures.base_depth;
        lines.push(format!(
            "{label}: fixed cost {one} at depth {depth}: {}",
            cost(base)
        ));
    }
    if let Some(slowest) = &figures.slowest {
        lines.push(format!(
            "{label}: of which the slowest stage takes {}",
            cost(slowest)
        ));
    }
    let confirmed = found.best_taken();
    let limit = limit(confirmed, &found.taken);
    let ways = [
        ("OUT", figures.out_bytes_s, Carried::Out),
        ("IN", figures.in_bytes_s, Carried::In),
    ];
    for (way, most, carried) in ways {
        let measured = confirmed.and_then(|taken| taken.figure(Figure::Rate(carried)));
        let measured = measured.map(|measured| measured.value);
        let words = most.and_then(|most| maximum(most.value, measured, limit));
        lines.extend(words.map(|words| format!("{label}: {words} {way}")));
    }
    lines
}

fn cost(stage: &StageCost) -> String {
    let a_byte = [("OUT", &stage.out_ns_a_byte), ("IN", &stage.in_ns_a_byte)];
    let a_byte = a_byte.into_iter().filter_map(|(way, cost)| {
        let cost = cost.as_ref()?.value;
        Some(format!(" and {cost:.1} ns per byte {way}"))
    });
    units::time(stage.fixed_ns.value) + &a_byte.collect::<String>()
}

/// The physical limit of the confirmed setting; of a search that confirmed none, the largest of its probes.
fn limit(confirmed: Option<&Taken>, probes: &[Option<Taken>]) -> Option<f64> {
    match confirmed {
        Some(taken) => taken.limit_bytes_s(),
        None => {
            let limits = probes.iter().flatten().filter_map(Taken::limit_bytes_s);
            limits.reduce(f64::max)
        }
    }
}

/// The maximum throughput of a model, at most the physical limit; `None` if a confirmed rate exceeds it.
fn maximum(most: f64, measured: Option<f64>, limit: Option<f64>) -> Option<String> {
    if measured.is_some_and(|measured| measured > most) {
        return None;
    }
    let most = match limit.filter(|&limit| most > limit) {
        Some(limit) => format!("at most the limit of {}", rate(limit)),
        None => rate(most),
    };
    Some(format!("maximum throughput at any size and depth: {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;
    use wiregauge_record::{BusLimit, Ending, ResourceUse, Summariser};

    fn probe(limit_bytes_s: f64) -> Taken {
        let summariser = Summariser::new(&made_up::plan(), made_up::point(0), None);
        let mut point = summariser.finish(Ending::Complete, 0, None, ResourceUse::default());
        point.limit = Some(BusLimit {
            bytes_s: limit_bytes_s,
            shared: true,
            source: String::new(),
            used: 0.5,
        });
        Taken::Exchanges {
            point: Box::new(point),
            stored: false,
        }
    }

    #[test]
    fn a_search_without_a_confirmed_setting_knows_the_limit_from_its_probes() {
        let probes = [Some(probe(1.1e6)), None, Some(probe(1.216e6))];
        let known = limit(None, &probes);
        assert_eq!(known, Some(1.216e6));
        assert_eq!(
            maximum(1.433e6, None, known).as_deref(),
            Some("maximum throughput at any size and depth: at most the limit of 1.216 MB/s")
        );
        assert_eq!(limit(Some(&probe(1.1e6)), &probes), Some(1.1e6));
        assert_eq!(limit(None, &[None]), None);
    }

    #[test]
    fn a_maximum_that_a_confirmed_rate_exceeds_is_left_out() {
        assert_eq!(maximum(1.196e6, Some(1.207e6), Some(1.216e6)), None);
        assert_eq!(
            maximum(1.196e6, Some(1.1e6), Some(1.216e6)).as_deref(),
            Some("maximum throughput at any size and depth: 1.196 MB/s")
        );
        assert!(maximum(1.196e6, None, None).is_some());
    }

    #[test]
    fn a_maximum_beyond_the_physical_limit_is_that_limit() {
        assert_eq!(
            maximum(1.375e6, Some(1.103e6), Some(1.216e6)).as_deref(),
            Some("maximum throughput at any size and depth: at most the limit of 1.216 MB/s")
        );
    }
}
