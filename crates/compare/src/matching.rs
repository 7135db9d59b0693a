//! Which points of two runs belong together: those of which the same was asked, wherever in its run each stands.

use crate::key::{Key, Place};
use crate::outcome::Unmatched;

/// A point that every run has, and where it stands in each run of either side.
pub(crate) type Matched = (Key, Vec<usize>, Vec<usize>);

/// Finds the points that every run has, in the order of the first; and those that not every run has.
pub(crate) fn matched(
    before: &[Vec<Place>],
    after: &[Vec<Place>],
    names_before: &[String],
    names_after: &[String],
) -> (Vec<Matched>, Vec<Unmatched>) {
    let runs: Vec<Vec<Place>> = before.iter().chain(after).map(|run| counted(run)).collect();
    let names: Vec<&String> = names_before.iter().chain(names_after).collect();
    let mut keys: Vec<&Key> = Vec::new();
    for (key, _) in runs.iter().flatten() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let (mut matched, mut unmatched) = (Vec::new(), Vec::new());
    for key in keys {
        let place = |run: &Vec<Place>| run.iter().find(|place| place.0 == *key).map(|p| p.1);
        let places: Vec<Option<usize>> = runs.iter().map(place).collect();
        match places.iter().copied().collect::<Option<Vec<usize>>>() {
            Some(mut all) => {
                let of_after = all.split_off(before.len());
                matched.push((key.clone(), all, of_after));
            }
            None => {
                let lack = names
                    .iter()
                    .zip(&places)
                    .filter(|(_, place)| place.is_none());
                unmatched.push(Unmatched {
                    point: key.clone(),
                    missing_in: lack.map(|(name, _)| (*name).clone()).collect(),
                });
            }
        }
    }
    (matched, unmatched)
}

/// Tells points of which the same was asked by which time it is.
fn counted(places: &[Place]) -> Vec<Place> {
    let mut counted: Vec<Place> = Vec::new();
    for (key, at) in places {
        let again = counted
            .iter()
            .filter(|(other, _)| other.parts == key.parts)
            .count();
        let key = Key {
            again,
            ..key.clone()
        };
        counted.push((key, *at));
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::Point;

    fn key(depth: u32) -> Key {
        Key::of_exchange(&Point {
            index: 0,
            out_bytes: 16,
            in_bytes: 48,
            depth,
            link: 0,
            together: false,
        })
    }

    #[test]
    fn points_are_matched_by_what_was_asked_not_by_where_they_stand() {
        let before = vec![vec![(key(1), 0), (key(2), 1), (key(4), 2), (key(1), 3)]];
        let after = vec![vec![(key(4), 0), (key(1), 1), (key(8), 2)]];
        let (matched, unmatched) = super::matched(&before, &after, &["a".into()], &["b".into()]);
        let pairs: Vec<_> = matched.iter().map(|m| (m.1[0], m.2[0])).collect();
        assert_eq!(pairs, [(0, 1), (2, 0)]);
        let missing: Vec<String> = unmatched
            .iter()
            .map(|u| format!("{}: {}", u.point, u.missing_in.join(",")))
            .collect();
        let expected = [
            "OUT 16 B, IN 48 B, depth 2: b",
            "OUT 16 B, IN 48 B, depth 1, time 2: b",
            "OUT 16 B, IN 48 B, depth 8: a",
        ];
        assert_eq!(missing, expected);
    }
}
