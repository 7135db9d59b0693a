//! Where something went well and where not (an answer, a constraint that allows nothing at all), and how
//! it will go elsewhere.

use crate::gaussian::Spot;

/// Probability that goes well what asks for no more than something that did, ...
const WORKS: f64 = 0.98;

/// ... for each time that something as small failed nevertheless, ...
const STILL_WORKS: f64 = 0.8;

/// ... and for each failure of something smaller.
const GOES_FURTHER: f64 = 0.2;

/// What asks for more (bytes, outstanding) than something that went wrong probably goes wrong as well;
/// what asks for less than something that went well goes well.
pub(crate) struct Record {
    good: Vec<Spot>,
    bad: Vec<Failure>,
}

struct Failure {
    spot: Spot,
    /// Axes that are to blame alone: as much of the others went well.
    blamed: [bool; 3],
}

impl Failure {
    fn of(spot: Spot, good: &[Spot]) -> Failure {
        let blamed = std::array::from_fn(|axis| {
            let others = |g: &Spot| (0..3).all(|i| i == axis || asks_no_more(&spot, g, i));
            let alike = good.iter().filter(|g| g.labels == spot.labels);
            alike.into_iter().any(others)
        });
        Failure { spot, blamed }
    }

    fn speaks_against(&self, here: &Spot) -> bool {
        let passed = |axis: usize| asks_no_more(&self.spot, here, axis);
        (0..3).all(passed) || (0..3).any(|axis| self.blamed[axis] && passed(axis))
    }
}

fn asks_no_more(a: &Spot, b: &Spot, axis: usize) -> bool {
    a.at[axis] <= b.at[axis] + 1e-9
}

fn distance(a: &Spot, b: &Spot) -> f64 {
    let square: f64 = (0..3).map(|i| (a.at[i] - b.at[i]).powi(2)).sum();
    square.sqrt()
}

impl Record {
    /// Of what went well (true) or not.
    pub fn of(seen: impl Iterator<Item = (Spot, bool)>) -> Record {
        let (good, bad): (Vec<_>, Vec<_>) = seen.partition(|(_, went_well)| *went_well);
        let good: Vec<Spot> = good.into_iter().map(|(spot, _)| spot).collect();
        let bad = bad.into_iter().map(|(spot, _)| Failure::of(spot, &good));
        Record {
            bad: bad.collect(),
            good,
        }
    }

    /// How probable it is that it goes well here.
    pub fn odds(&self, here: &Spot) -> f64 {
        let good = self.good.iter().filter(|spot| spot.labels == here.labels);
        let bad = (self.bad.iter()).filter(|failure| failure.spot.labels == here.labels);
        let is_vouched_for =
            (good.clone()).any(|spot| (0..3).all(|axis| asks_no_more(here, spot, axis)));
        let against = bad.clone().filter(|f| f.speaks_against(here)).count() as i32;
        if is_vouched_for {
            return WORKS * STILL_WORKS.powi(against);
        }
        if against > 0 {
            return GOES_FURTHER.powi(against);
        }
        let to_good = good.map(|spot| distance(spot, here)).reduce(f64::min);
        let to_bad = bad
            .map(|failure| distance(&failure.spot, here))
            .reduce(f64::min);
        match (to_good, to_bad) {
            (_, None) => WORKS,
            (None, Some(_)) => 0.5,
            // Between the two, the nearer counts.
            (Some(good), Some(bad)) => bad / (good + bad).max(f64::MIN_POSITIVE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64) -> Spot {
        Spot {
            at: [x, y, 0.0],
            labels: [0, 0],
        }
    }

    fn odds(seen: &[(Spot, bool)], here: Spot) -> f64 {
        Record::of(seen.iter().copied()).odds(&here)
    }

    #[test]
    fn a_failure_speaks_against_what_asks_for_more_and_an_answer_for_what_asks_for_less() {
        let seen = [(at(0.8, 0.5), false), (at(0.4, 0.5), true)];
        assert!(odds(&seen, at(0.9, 0.6)) < 0.3);
        assert!(odds(&seen, at(0.3, 0.2)) > 0.9);
        // Between them, the nearer one counts.
        assert!((odds(&seen, at(0.6, 0.5)) - 0.5).abs() < 1e-9);
        assert!(odds(&seen, at(0.7, 0.5)) < 0.3);
        let twice = [seen[0], seen[1], (at(0.7, 0.5), false)];
        assert!(odds(&twice, at(0.9, 0.6)) < 0.1);
    }

    #[test]
    fn where_as_much_of_all_else_went_well_one_axis_is_to_blame() {
        let seen = [(at(0.8, 0.5), false), (at(0.4, 0.6), true)];
        assert!(
            odds(&seen, at(0.9, 0.1)) < 0.3,
            "less of the other does not help"
        );
        let seen = [(at(0.8, 0.5), false), (at(0.4, 0.1), true)];
        assert!(odds(&seen, at(0.9, 0.1)) > 0.3, "either may be to blame");
    }

    #[test]
    fn an_accident_does_not_condemn_what_works() {
        assert!(odds(&[(at(0.2, 0.0), false), (at(0.9, 0.0), true)], at(0.5, 0.0)) > 0.7);
    }

    #[test]
    fn what_waits_otherwise_is_another_matter() {
        let other = Spot {
            labels: [1, 0],
            ..at(0.9, 0.9)
        };
        assert_eq!(odds(&[(at(0.2, 0.2), false)], other), WORKS);
    }
}
