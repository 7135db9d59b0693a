//! What numpy makes of the same samples. `reference/make.py` wrote the file.

use serde::Deserialize;
use std::collections::BTreeMap;
use wiregauge_stats::Series;

#[derive(Deserialize)]
struct Reference {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    samples: Vec<u64>,
    mean: f64,
    sd: f64,
    quantiles: BTreeMap<String, f64>,
    min: f64,
    max: f64,
    max3: f64,
}

fn sets() -> Vec<Set> {
    let json = include_str!("reference/reference.json");
    serde_json::from_str::<Reference>(json)
        .expect("make.py wrote it")
        .sets
}

fn assert_close(what: &str, set: &str, ours: f64, numpy: f64) {
    let scale = numpy.abs().max(1e-300);
    assert!(
        (ours - numpy).abs() <= 1e-9 * scale,
        "{what} of {set}: {ours}, numpy {numpy}"
    );
}

#[test]
fn numpy_finds_the_same() {
    for set in sets() {
        let mut series = Series::new();
        set.samples.iter().for_each(|&value| series.push(value));
        let found = series.distribution().unwrap();
        let numpy = |p: &str| set.quantiles[p];
        assert_eq!(found.n, set.samples.len() as u64);
        for (what, ours, theirs) in [
            ("mean", found.mean.value, set.mean),
            ("SD", found.sd, set.sd),
            ("mean + SD", found.mean_plus_sd, set.mean + set.sd),
            ("p50", found.p50.value, numpy("0.5")),
            ("p90", found.p90.value, numpy("0.9")),
            ("p99", found.p99.value, numpy("0.99")),
            ("p99.9", found.p999.value, numpy("0.999")),
            ("IQR", found.iqr, numpy("0.75") - numpy("0.25")),
            (
                "p99 - p50",
                found.p99_minus_p50,
                numpy("0.99") - numpy("0.5"),
            ),
            ("minimum", found.min, set.min),
            ("maximum", found.max, set.max),
            ("max3", found.max3, set.max3),
        ] {
            assert_close(what, &set.name, ours, theirs);
        }
        assert_eq!(found.resolution, 0.0);
    }
}
