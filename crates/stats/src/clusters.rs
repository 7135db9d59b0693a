//! How many independent events a number of values over a threshold are: those of one stall stand close
//! together in time.

/// How many equally large clusters values at these positions are worth; positions ascend.
///
/// Clusters are separated by the intervals between the values, without a parameter to choose (Ferro
/// & Segers, "Inference for clusters of extreme values", Journal of the Royal Statistical Society B
/// 65 (2003) 545): a share theta of the intervals, the longest, lie between clusters, the others
/// within. Clusters of unequal size are worth (sum of sizes)^2 / sum of squares (Kish 1965).
pub(crate) fn independent(positions: &[u64]) -> f64 {
    let n = positions.len();
    if n < 3 {
        return n as f64;
    }
    let gaps: Vec<u64> = positions.windows(2).map(|w| w[1] - w[0]).collect();
    let clusters = (extremal_index(&gaps) * n as f64).ceil() as usize;
    let mut longest = gaps.clone();
    longest.sort_unstable_by(|a, b| b.cmp(a));
    // The longest gap that lies within a cluster; among equal ones none is between.
    let within = match clusters.checked_sub(1).and_then(|at| longest.get(at)) {
        Some(&gap) => gap,
        None => 0,
    };
    let (mut size, mut squares) = (1.0, 0.0);
    for &gap in &gaps {
        if gap > within {
            squares += size * size;
            size = 0.0;
        }
        size += 1.0;
    }
    squares += size * size;
    (n * n) as f64 / squares
}

/// The intervals estimator of the extremal index, their equations 4 and 5: 1 for values that come
/// independently of each other.
fn extremal_index(gaps: &[u64]) -> f64 {
    let n = gaps.len() as f64;
    // Intervals of one and two positions have their own correction only where there are longer ones.
    let short = f64::from(u8::from(gaps.iter().any(|&gap| gap > 2)));
    let sum: f64 = gaps.iter().map(|&gap| gap as f64 - short).sum();
    let products = gaps
        .iter()
        .map(|&gap| (gap as f64 - short) * (gap as f64 - 2.0 * short));
    let products: f64 = products.sum();
    if products <= 0.0 {
        return 1.0;
    }
    (2.0 * sum * sum / (n * products)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_far_apart_are_as_many_events() {
        let regular: Vec<u64> = (0..200).map(|i| i * 1000).collect();
        assert_eq!(independent(&regular), 200.0);
        // Gaps as of a Poisson process: quantiles of an exponential distribution, shuffled.
        let gap = |i: u64| (-(1.0 - (i as f64 + 0.5) / 500.0).ln() * 1000.0).ceil() as u64;
        let mut at = 0;
        let positions: Vec<u64> = (0..500)
            .map(|i| {
                at += gap((i * 211) % 500);
                at
            })
            .collect();
        let found = independent(&positions);
        assert!(found > 300.0, "{found}");
    }

    #[test]
    fn values_of_one_stall_are_one_event() {
        // Forty stalls of five values each.
        let positions: Vec<u64> = (0..200).map(|i| i / 5 * 10_000 + i % 5).collect();
        let found = independent(&positions);
        assert!((35.0..=45.0).contains(&found), "{found}");
        // One long stall beside few single values.
        let mut uneven: Vec<u64> = (0..90).collect();
        uneven.extend((1..=10).map(|i| i * 100_000));
        let found = independent(&uneven);
        assert!(found < 3.0, "{found}");
    }

    #[test]
    fn few_values_are_what_they_are() {
        assert_eq!(independent(&[]), 0.0);
        assert_eq!(independent(&[5]), 1.0);
        assert_eq!(independent(&[5, 6]), 2.0);
    }
}
