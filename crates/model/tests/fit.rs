//! A device whose numbers are known is found again from what was measured of it.
#![allow(missing_docs, clippy::unwrap_used)]

use wiregauge_model::{LinkModel, NotFitted, Observation, Setting, Steps};

fn setting(out_bytes: u32, in_bytes: u32, depth: u32) -> Setting {
    Setting {
        out_bytes,
        in_bytes,
        depth,
    }
}

/// What is measured of a device with this time alone and this slowest stage, without any noise.
fn measured(
    settings: &[Setting],
    alone: impl Fn(f64, f64) -> f64,
    slowest: impl Fn(f64, f64) -> f64,
) -> Vec<Observation> {
    let at = |&at: &Setting| {
        let (out, in_) = (f64::from(at.out_bytes), f64::from(at.in_bytes));
        let trt_ns = (alone(out, in_) / f64::from(at.depth)).max(slowest(out, in_));
        Observation {
            at,
            trt_ns,
            rtt_ns: trt_ns * f64::from(at.depth),
            error: 0.0,
        }
    };
    settings.iter().map(at).collect()
}

fn grid(outs: &[u32], ins: &[u32], depths: &[u32]) -> Vec<Setting> {
    let mut all = Vec::new();
    for &out in outs {
        for &in_ in ins {
            all.extend(depths.iter().map(|&depth| setting(out, in_, depth)));
        }
    }
    all
}

fn near(found: f64, wanted: f64, within: f64) -> bool {
    (found / wanted - 1.0).abs() <= within
}

#[test]
fn latency_cost_a_byte_service_time_and_saturation_are_found_again() {
    let points = measured(
        &grid(&[16, 500], &[48, 1_000, 4_000], &[1, 2, 4, 8]),
        |out, in_| 200_000.0 + 20.0 * out + 30.0 * in_,
        |out, in_| 40_000.0 + 10.0 * out + 25.0 * in_,
    );
    let model = LinkModel::fit(&points).unwrap();
    let figures = model.figures();
    let (base, slowest) = (figures.base.unwrap(), figures.slowest.unwrap());
    assert!(near(base.fixed_ns.value, 200_000.0, 0.01), "{base:?}");
    assert!(
        near(base.in_ns_a_byte.unwrap().value, 30.0, 0.01),
        "{base:?}"
    );
    assert!(
        near(base.out_ns_a_byte.unwrap().value, 20.0, 0.02),
        "{base:?}"
    );
    assert!(near(slowest.fixed_ns.value, 40_000.0, 0.01), "{slowest:?}");
    assert!(
        near(slowest.in_ns_a_byte.unwrap().value, 25.0, 0.01),
        "{slowest:?}"
    );
    assert_eq!(figures.steps, None);
    assert!(figures.worst < 0.01, "{}", figures.worst);
    let depth = model.saturation_depth(16, 48).unwrap();
    assert!(near(depth, 201_760.0 / 41_360.0, 0.02), "{depth}");
    assert!(near(figures.in_bytes_s.unwrap().value, 1e9 / 25.0, 0.01));
    assert!(near(
        model.trt_ns(setting(100, 2_000, 3)),
        (262_000.0f64 / 3.0).max(91_000.0),
        0.02
    ));
}

#[test]
fn little_s_law_ties_rtt_to_depth() {
    let mut points = measured(
        &grid(&[16], &[48, 1_000, 4_000], &[1, 2, 4, 8, 16]),
        |_, in_| 100_000.0 + 10.0 * in_,
        |_, in_| 20_000.0 + 10.0 * in_,
    );
    // A host that takes 2 us from an answer to the next request.
    points.iter_mut().for_each(|point| point.rtt_ns -= 2_000.0);
    let model = LinkModel::fit(&points).unwrap();
    let at = setting(16, 2_000, 16);
    assert!(
        near(model.rtt_ns(at), 16.0 * 40_000.0 - 2_000.0, 0.01),
        "{}",
        model.rtt_ns(at)
    );
    assert!(near(model.figures().between_ns, 2_000.0, 1e-6));
}

#[test]
fn packets_are_seen_where_they_are_and_only_there() {
    let packets = |size: f64| (size / 64.0).ceil();
    let sizes = [8, 60, 70, 120, 130, 200, 350, 600, 900];
    let settings = grid(&[16], &sizes, &[1, 4]);
    let stepped = measured(
        &settings,
        |_, in_| 50_000.0 + 60_000.0 * packets(in_),
        |_, in_| 5_000.0 + 58_000.0 * packets(in_),
    );
    let figures = LinkModel::fit(&stepped).unwrap().figures();
    assert_eq!(figures.steps, Some(Steps::Packets64));
    let packet = figures.base.unwrap().in_ns_a_step.unwrap().value;
    assert!(near(packet, 60_000.0, 0.02), "{packet}");
    let straight = measured(
        &settings,
        |_, in_| 50_000.0 + 900.0 * in_,
        |_, in_| 5_000.0 + 800.0 * in_,
    );
    assert_eq!(LinkModel::fit(&straight).unwrap().figures().steps, None);
}

#[test]
fn a_device_that_computes_while_the_wire_carries_is_limited_by_the_slower_of_the_two() {
    let points = measured(
        &grid(&[16], &[64, 1_000, 4_000, 16_000, 64_000], &[1, 2, 4, 8]),
        |_, in_| 350_000.0 + 10.0 * in_,
        |_, in_| (10.0 * in_).max(300_000.0),
    );
    let model = LinkModel::fit(&points).unwrap();
    let figures = model.figures();
    let slowest = figures.slowest.unwrap();
    assert!(figures.overlap, "{slowest:?}");
    assert!(near(slowest.fixed_ns.value, 300_000.0, 0.02), "{slowest:?}");
    assert!(
        near(slowest.in_ns_a_byte.unwrap().value, 10.0, 0.02),
        "{slowest:?}"
    );
    assert!(figures.worst < 0.05, "{}", figures.worst);
}

#[test]
fn what_the_points_do_not_tell_is_none() {
    let alone = |_: f64, in_: f64| 100_000.0 + 10.0 * in_;
    // One at a time only: no slowest stage, no saturation, no largest rate.
    let model = LinkModel::fit(&measured(
        &grid(&[16], &[48, 500, 4_000], &[1]),
        alone,
        alone,
    ));
    let model = model.unwrap();
    let figures = model.figures();
    assert!(figures.slowest.is_none() && figures.in_bytes_s.is_none());
    assert_eq!(model.saturation_depth(16, 48), None);
    assert!(near(figures.base.unwrap().fixed_ns.value, 100_000.0, 1e-6));
    // Far from saturation.
    let points = measured(
        &grid(&[16], &[48, 500, 4_000], &[1, 2, 4]),
        alone,
        |_, _| 1.0,
    );
    assert!(LinkModel::fit(&points).unwrap().figures().slowest.is_none());
    // Always saturated.
    let points = measured(
        &grid(&[16], &[48, 500, 4_000], &[8, 16, 32]),
        alone,
        |_, _| 90_000.0,
    );
    let figures = LinkModel::fit(&points).unwrap().figures();
    assert!(
        figures.slowest.is_some() && figures.base.is_none(),
        "{figures:?}"
    );
    // One depth that is not 1.
    let figures = LinkModel::fit(&measured(
        &grid(&[0], &[64, 512, 4_096], &[4]),
        alone,
        |_, in_| 30_000.0 + 10.0 * in_,
    ));
    let figures = figures.unwrap().figures();
    assert_eq!(figures.base_depth, 4);
    assert!(near(figures.base.unwrap().fixed_ns.value, 30_000.0, 0.01));
}

#[test]
fn sizes_that_change_together_have_one_cost_a_byte() {
    let echo: Vec<Setting> = [16, 64, 512, 4_096]
        .map(|size| setting(size, size, 1))
        .into();
    let points = measured(&echo, |out, in_| 50_000.0 + 5.0 * (out + in_), |_, _| 0.0);
    let model = LinkModel::fit(&points).unwrap();
    let figures = model.figures();
    assert!(figures.together);
    let base = figures.base.unwrap();
    assert!(near(base.out_ns_a_byte.unwrap().value, 5.0, 0.01));
    assert!(near(base.in_ns_a_byte.unwrap().value, 5.0, 0.01));
}

#[test]
fn three_settings_make_a_model_and_two_make_none() {
    let settings = [
        setting(16, 48, 1),
        setting(16, 4_000, 1),
        setting(16, 4_000, 8),
    ];
    let points = measured(
        &settings,
        |_, in_| 100_000.0 + 10.0 * in_,
        |_, in_| 10_000.0 + 10.0 * in_,
    );
    let model = LinkModel::fit(&points).unwrap();
    assert!(
        points
            .iter()
            .all(|point| near(model.trt_ns(point.at), point.trt_ns, 0.01))
    );
    assert_eq!(
        LinkModel::fit(&points[..2]),
        Err(NotFitted::TooFew { settings: 2 })
    );
    // The same setting again is no other one.
    let twice = [points[0], points[1], points[1]];
    assert_eq!(
        LinkModel::fit(&twice),
        Err(NotFitted::TooFew { settings: 2 })
    );
    let mut none = points.clone();
    none[1].trt_ns = f64::NAN;
    assert_eq!(LinkModel::fit(&none), Err(NotFitted::NoTime));
}
