//! The link in a few numbers, from summaries made by hand: the right figures, and sentences that say
//! what they mean.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use common::{Times, exchange_point, plan, stream_plan, stream_point};
use wiregauge_explain::{Modelled, Wanted, models_of_exchange, of_stream};
use wiregauge_model::Setting;
use wiregauge_record::{
    BusLimit, Conditions, Connect, Plan, PointSummary, Responder, Schedule, StreamSummary,
};

const USB: &str = "usb://1d6b:0104";

/// Transfers of `fixed_us` and `ns_a_byte` alone, of which the slowest stage needs all but `idle_us`.
fn transfers(sizes: &[u32], queues: &[u32], fixed_us: f64, ns_a_byte: f64) -> Vec<StreamSummary> {
    let idle_us = 0.5 * fixed_us;
    let mut points = Vec::new();
    for &bytes in sizes {
        for &queue in queues {
            let alone = fixed_us + ns_a_byte * f64::from(bytes) / 1e3;
            let each = (alone / f64::from(queue)).max(alone - idle_us);
            points.push(stream_point(&Times {
                bytes,
                queue,
                achieved: f64::from(queue),
                application_us: 0.0,
                transfer_us: each * f64::from(queue),
                ..Times::default()
            }));
        }
    }
    points
}

fn of_flows(points: &[StreamSummary]) -> Modelled {
    let mut models = of_stream(&stream_plan(USB), points).models;
    assert_eq!(models.len(), 1, "{models:?}");
    models.remove(0)
}

fn said(modelled: &Modelled) -> String {
    modelled.words.join("\n")
}

fn exchange(out_bytes: u32, in_bytes: u32, depth: u32, rtt_us: f64) -> PointSummary {
    let mut point = exchange_point(depth, rtt_us, None);
    (point.point.out_bytes, point.point.in_bytes) = (out_bytes, in_bytes);
    point
}

#[test]
fn the_published_ladder_of_a_musb_device_gives_the_gap_that_its_analyzer_saw() {
    // Ott, ELCE 2014: asynchronous IN on a BeagleBone Black, 15, 82 and 211 Mbit/s with 32 queued.
    // His analyzer lost 39 us between two transfers and 6.6 us between two packets of one: 32.4 us
    // more.
    let points = [(64, 15e6), (512, 82e6), (65536, 211e6)].map(|(bytes, bits_s)| {
        stream_point(&Times {
            bytes,
            queue: 32,
            achieved: 32.0,
            application_us: 0.0,
            transfer_us: 32.0 * f64::from(bytes) * 8.0 / bits_s * 1e6,
            ..Times::default()
        })
    });
    let modelled = of_flows(&points);
    let figures = modelled.figures().unwrap();
    assert_eq!((figures.base_depth, figures.steps), (32, None));
    let fixed = figures.base.unwrap().fixed_ns.value;
    assert!((30_000.0..34_000.0).contains(&fixed), "{fixed}");
    assert!(figures.worst < 0.05, "{}", figures.worst);
    assert!(
        said(&modelled).contains("only one queue was measured"),
        "{}",
        said(&modelled)
    );
}

#[test]
fn a_large_transfer_does_not_drown_the_small_ones() {
    // 10 % too long at 64 KiB, where an unweighted fit would bend the line at 64 B to suit.
    let mut points = transfers(&[64, 128, 256, 512], &[1], 10.0, 2.0);
    points.extend(transfers(&[65_536], &[1], 11.0, 2.2));
    let fixed = of_flows(&points)
        .figures()
        .unwrap()
        .base
        .unwrap()
        .fixed_ns
        .value;
    assert!((fixed - 10_000.0).abs() < 300.0, "{fixed}");
}

#[test]
fn what_a_queue_gains_and_from_where_on_it_gains_nothing_is_said() {
    let modelled = of_flows(&transfers(
        &[64, 512, 4_096, 65_536],
        &[1, 2, 4, 8],
        100.0,
        10.0,
    ));
    let figures = modelled.figures().unwrap();
    let base = figures.base.as_ref().unwrap();
    assert!(
        (base.fixed_ns.value - 100_000.0).abs() < 2_000.0,
        "{base:?}"
    );
    let rate = figures.in_bytes_s.unwrap().value;
    assert!((rate / 1e8 - 1.0).abs() < 0.02, "{rate}");
    let said = said(&modelled);
    assert!(
        said.contains("no gain (5 % or less) beyond queue 2"),
        "{said}"
    );
    assert!(
        said.contains(": 100 MB/s IN") || said.contains(": 99"),
        "{said}"
    );
    assert!(said.contains("maximum error"), "{said}");
}

#[test]
fn what_no_figures_describe_is_said_to_be_so() {
    // Every other size is slow.
    let mut points = transfers(&[64, 1_024, 16_384], &[1], 100.0, 1.0);
    points.extend(transfers(&[256, 4_096, 65_536], &[1], 400.0, 1.0));
    let modelled = of_flows(&points);
    let said = said(&modelled);
    assert!(said.contains("does not fit this link"), "{said}");
    assert_eq!(modelled.in_short, None);
}

#[test]
fn one_point_that_is_off_does_not_make_the_others_wrong() {
    let mut points = transfers(&[64, 512, 4_096, 8_192, 16_384, 65_536], &[1], 100.0, 1.0);
    points.extend(transfers(&[2_048], &[1], 300.0, 1.0));
    let modelled = of_flows(&points);
    let said = said(&modelled);
    assert!(said.contains("IN 2,048 B: a disturbance there"), "{said}");
    assert!(modelled.in_short.is_some());
}

#[test]
fn a_size_is_named_as_it_was_asked_for() {
    // Six sizes that fit, and one that does not, whose reads carry less than was asked for.
    let said_of = |carried: u64| {
        let mut points = transfers(&[64, 512, 4_096, 8_192, 16_384, 65_536], &[1], 100.0, 1.0);
        let mut off = transfers(&[2_048], &[1], 300.0, 1.0);
        let flow = &mut off[0].flows[0];
        flow.bytes = carried * flow.transfers;
        points.extend(off);
        said(&of_flows(&points))
    };
    // A few short reads make no other size.
    let said = said_of(2_047);
    assert!(said.contains("at IN 2,048 B"), "{said}");
    let said = said_of(1_500);
    assert!(
        said.contains("at --transfer 2048 IN (1,500 B carried on average)"),
        "{said}"
    );
}

#[test]
fn a_socket_is_not_told_to_queue() {
    let points = transfers(&[64, 512, 4_096, 65_536], &[1], 100.0, 10.0);
    let models = of_stream(&stream_plan("tcp://10.0.0.5:7700"), &points).models;
    let said = said(&models[0]);
    assert!(
        said.contains("has no queue, so only the size of a transfer can be changed"),
        "{said}"
    );
    assert!(
        said.contains("larger sizes reach at most 100.0 MB/s IN"),
        "{said}"
    );
    assert!(!said.contains("--queue"), "{said}");
}

#[test]
fn two_sizes_make_no_model_and_what_would_is_reported() {
    let modelled = of_flows(&transfers(&[64, 512], &[1], 10.0, 1.0));
    assert!(modelled.model.is_none() && modelled.words.is_empty());
    let why = modelled.why_not.unwrap();
    assert!(
        why.contains("this run has 2") && why.contains("--transfer"),
        "{why}"
    );
}

#[test]
fn each_way_of_each_link_has_a_model_of_its_own() {
    let mut points = transfers(&[64, 512, 4_096], &[1], 10.0, 1.0);
    let mut other = transfers(&[64, 512, 4_096], &[1], 50.0, 1.0);
    other.iter_mut().for_each(|point| point.point.link = 1);
    points.extend(other);
    let models = of_stream(&stream_plan(USB), &points).models;
    let fixed: Vec<f64> = models
        .iter()
        .map(|m| m.figures().unwrap().base.unwrap().fixed_ns.value.round())
        .collect();
    assert_eq!((models[0].link, models[1].link), (0, 1));
    assert_eq!(fixed, [10_000.0, 50_000.0]);
}

#[test]
fn a_schedule_and_unanswered_exchanges_tell_nothing_of_the_link() {
    let mut points = [48, 1_000, 4_000, 8_000]
        .map(|in_bytes| exchange(16, in_bytes, 1, 100.0 + f64::from(in_bytes) / 10.0));
    let mut scheduled = plan();
    scheduled.schedule = Schedule::EveryNs(1_000_000);
    let models = models_of_exchange(&scheduled, &Conditions::default(), &points);
    assert!(models[0].model.is_none());
    assert!(
        models[0].why_not.as_ref().unwrap().contains("schedule"),
        "{models:?}"
    );
    points[3].counts.answered -= 2;
    let models = models_of_exchange(&plan(), &Conditions::default(), &points);
    assert_eq!(models[0].left_out, 1);
    assert_eq!(models[0].figures().unwrap().settings, 3);
    assert!(
        said(&models[0]).contains("excluded: 1 of 4 points"),
        "{models:?}"
    );
    for point in &mut points {
        point.counts.answered = point.counts.exchanges - 2;
    }
    let models = models_of_exchange(&plan(), &Conditions::default(), &points);
    let why = models[0].why_not.as_ref().unwrap();
    assert!(
        why.ends_with("no lost exchanges (this run has 0 of 4)"),
        "{why}"
    );
}

#[test]
fn a_prediction_has_a_band_within_what_was_measured_and_none_beyond() {
    let mut points = Vec::new();
    for in_bytes in [48, 1_000, 4_000] {
        for depth in [1, 2, 4, 8] {
            let alone = 200.0 + 0.03 * f64::from(in_bytes);
            let each = (alone / f64::from(depth)).max(0.4 * alone);
            // Off by up to 2 % to either side.
            let off = 1.0 + 0.01 * ((points.len() * 7 % 5) as f64 - 2.0);
            points.push(exchange(16, in_bytes, depth, each * f64::from(depth) * off));
        }
    }
    let models = models_of_exchange(&plan(), &Conditions::default(), &points);
    let at = |in_bytes, depth| Setting {
        out_bytes: 16,
        in_bytes,
        depth,
    };
    let within = models[0].predict(at(2_000, 3), None).unwrap().unwrap();
    assert_eq!(within.trt_ns.share, 0.9, "12 points carry 12/13");
    let (low, high) = (within.trt_ns.low.unwrap(), within.trt_ns.high.unwrap());
    assert!(low <= 104_000.0 && 104_000.0 <= high, "{within:?}");
    assert!(
        (within.in_bytes_s / (2_000.0 / 104e-6) - 1.0).abs() < 0.1,
        "{within:?}"
    );
    let rtt = within.rtt_ns.unwrap().value;
    assert!((rtt / 312_000.0 - 1.0).abs() < 0.1, "{rtt}");
    // One at a time, each begins when the one before ends.
    let alone = models[0].predict(at(2_000, 1), None).unwrap().unwrap();
    let (trt, rtt) = (alone.trt_ns, alone.rtt_ns.unwrap());
    assert!(rtt.low.unwrap() < rtt.value, "{rtt:?}");
    for (rtt, trt) in [(rtt.low, trt.low), (rtt.high, trt.high)] {
        let (rtt, trt) = (rtt.unwrap(), trt.unwrap());
        assert!((rtt / trt - 1.0).abs() < 1e-3, "{rtt} {trt}");
    }
    let beyond = models[0].predict(at(9_000, 3), None).unwrap().unwrap();
    assert_eq!((beyond.trt_ns.low, beyond.trt_ns.claimed()), (None, None));
    assert!(beyond.trt_ns.how.to_string().contains("IN 48 to 4,000 B"));
    let why = models[0]
        .predict(at(2_000, 3), Some(0.95))
        .unwrap()
        .unwrap_err()
        .to_string();
    assert!(
        why.contains("at most 92 %") && why.contains("not 95 %"),
        "{why}"
    );
}

#[test]
fn the_json_has_figures_residuals_and_words() {
    let modelled = of_flows(&transfers(&[64, 512, 4_096, 65_536], &[1, 4], 100.0, 10.0));
    let json = serde_json::to_value(&modelled).unwrap();
    assert_eq!(json["model"]["residuals"].as_array().map(Vec::len), Some(8));
    assert!(
        json["model"]["base"]["fixed_ns"]["low"].is_number(),
        "{json}"
    );
    assert_eq!(json["way"], "in");
    assert!(json["words"][0].is_string());
}

#[test]
fn a_depth_beyond_which_nothing_is_gained_agrees_with_every_point() {
    // A soft knee: (D + (d-1) S) / d. D/S is 2, yet depth 4 gains 17 % on depth 2, and 8 another 11 %.
    let mut points = Vec::new();
    for in_bytes in [48, 1_000, 4_000] {
        for depth in [1, 2, 4, 8] {
            let slowest = 100.0 + 0.1 * f64::from(in_bytes);
            let rtt = 2.0 * slowest + (f64::from(depth) - 1.0) * slowest;
            points.push(exchange(16, in_bytes, depth, rtt));
        }
    }
    let modelled = &models_of_exchange(&plan(), &Conditions::default(), &points)[0];
    let figures = modelled.figures().unwrap();
    assert!(figures.saturation[0].depth.value < 2.5, "{figures:?}");
    let said = said(modelled);
    assert!(
        said.contains("beyond depth about 20 (outside the measured range)"),
        "{said}"
    );
}

#[test]
fn a_depth_far_beyond_the_deepest_measured_one_gets_no_number() {
    let said_of = |slowest_ns_a_byte: f64| {
        let mut points = Vec::new();
        for in_bytes in [48, 1_000, 4_000] {
            for depth in [1, 2, 4] {
                let slowest = 2.0 + slowest_ns_a_byte * f64::from(in_bytes);
                let rtt = 67.0 + 0.002 * f64::from(in_bytes) + (f64::from(depth) - 1.0) * slowest;
                points.push(exchange(16, in_bytes, depth, rtt));
            }
        }
        said(&models_of_exchange(&plan(), &Conditions::default(), &points)[0])
    };
    let both = said_of(0.003);
    assert!(
        both.contains("no depth up to 4 keeps the slowest stage busy: larger depths still help"),
        "{both}"
    );
    let large = said_of(0.015);
    assert!(
        large.contains("at the largest sizes; at the smallest, larger depths still help"),
        "{large}"
    );
}

/// Three sizes at depths 1, 2 and 4, whose slowest stage hardly needs time by the rates alone.
fn shallow() -> Vec<PointSummary> {
    let mut points = Vec::new();
    for in_bytes in [48, 1_000, 4_000] {
        for depth in [1, 2, 4] {
            let slowest = 2.0 + 0.015 * f64::from(in_bytes);
            let rtt = 67.0 + 0.002 * f64::from(in_bytes) + (f64::from(depth) - 1.0) * slowest;
            points.push(exchange(16, in_bytes, depth, rtt));
        }
    }
    points
}

#[test]
fn a_model_that_contradicts_the_time_measured_by_the_device_does_not_speak() {
    let mut points = shallow();
    let free = models_of_exchange(&plan(), &Conditions::default(), &points);
    assert_eq!(free[0].why_not, None);
    // At 48 B and depth 4 the device needs 16 of the 18 us from one start to the next.
    points[2].device = exchange_point(1, 16.0, Some(16.0)).device;
    let models = models_of_exchange(&plan(), &Conditions::default(), &points);
    let why = models[0].why_not.as_ref().unwrap();
    assert!(
        why.contains("at OUT 16 B, IN 48 B the device needs at least 16.00 us per exchange"),
        "{why}"
    );
    assert!(
        why.contains("by the model its slowest stage takes 2."),
        "{why}"
    );
    assert!(models[0].words.is_empty() && models[0].in_short.is_none());
    assert!(models[0].is_doubtful());
    let at = Setting {
        out_bytes: 16,
        in_bytes: 48,
        depth: 2,
    };
    let is_doubtful = |model: &Modelled| model.predict(at, None).unwrap().unwrap().is_doubtful;
    assert!(is_doubtful(&models[0]) && !is_doubtful(&free[0]));
}

#[test]
fn a_larger_depth_helps_nobody_whose_bus_is_full() {
    let mut points = shallow();
    points[8].limit = Some(BusLimit {
        bytes_s: 150e6,
        shared: true,
        source: String::new(),
        used: 0.98,
    });
    let said = said(&models_of_exchange(&plan(), &Conditions::default(), &points)[0]);
    assert!(
        said.contains(
            "beyond depth 4 at the largest sizes; at the smallest, larger depths still help"
        ),
        "{said}"
    );
}

#[test]
fn a_depth_that_the_model_predicts_for_a_point_is_that_of_its_sizes_and_near_the_measured_ones() {
    let points = shallow();
    let models = models_of_exchange(&plan(), &Conditions::default(), &points);
    // From 4,000 B on, a soft knee at 69 us alone and 62 us in the slowest stage.
    assert_eq!(models[0].enough_at(16, 4_000), Some(4));
    // At 48 B the model's depth is far beyond the deepest measured one.
    assert_eq!(models[0].enough_at(16, 48), None);
    let mut splits = wiregauge_explain::of_exchange(&plan(), &Conditions::default(), &points);
    wiregauge_explain::add_predictions(&mut splits, &models);
    let words = &splits[2].words;
    assert!(words.contains("Try --depth 8"), "{words}");
}

#[test]
fn no_prediction_exceeds_the_physical_limit() {
    let bus = |shared| BusLimit {
        bytes_s: 1.216e6,
        shared,
        source: "USB 2.0 table 5-9".into(),
        used: 0.5,
    };
    let model = |shared: bool| {
        let mut points = Vec::new();
        for in_bytes in [48, 500, 2_000] {
            for depth in [1, 2, 4] {
                let rtt = 900.0 + 0.7 * f64::from(in_bytes);
                let mut point = exchange(16, in_bytes, depth, rtt);
                point.limit = Some(bus(shared));
                points.push(point);
            }
        }
        models_of_exchange(&plan(), &Conditions::default(), &points).remove(0)
    };
    for (shared, carried) in [(true, 8_016.0), (false, 8_000.0)] {
        let at = |in_bytes, depth| Setting {
            out_bytes: 16,
            in_bytes,
            depth,
        };
        let modelled = model(shared);
        let far = modelled.predict(at(8_000, 16), None).unwrap().unwrap();
        assert!(far.at_limit, "{far:?}");
        let rate = carried * 1e9 / far.trt_ns.value;
        assert!((rate / 1.216e6 - 1.0).abs() < 1e-9, "{rate}");
        let near = modelled.predict(at(200, 2), None).unwrap().unwrap();
        assert!(!near.at_limit, "{near:?}");
        assert!(near.in_bytes_s < 1.216e6, "{near:?}");
    }
}

#[test]
fn more_depths_are_tried_only_where_plan_and_device_allow_them() {
    let points = [48, 1_000, 4_000]
        .map(|in_bytes| exchange(16, in_bytes, 1, 100.0 + f64::from(in_bytes) / 10.0));
    let mut conditions = Conditions::default();
    let words = |plan: &Plan, conditions: &Conditions| {
        said(&models_of_exchange(plan, conditions, &points)[0])
    };
    let once = models_of_exchange(&plan(), &conditions, &points);
    assert_eq!(once[0].why_not, None, "{once:?}");
    assert!(words(&plan(), &conditions).contains("Try --depth 1,2,4,8"));
    let mut each = plan();
    each.connect = Connect::Each;
    assert!(!words(&each, &conditions).contains("Try --depth"));
    conditions.responder = Some(Responder {
        max_outstanding: 2,
        ..Responder::default()
    });
    assert!(words(&plan(), &conditions).contains("Try --depth 1,2\n"));
    let few = models_of_exchange(&each, &Conditions::default(), &points[..2]);
    let why = few[0].why_not.as_ref().unwrap();
    assert!(why.ends_with("Try --in 64,512,4k"), "{why}");
}

#[test]
fn as_many_parameters_as_points_are_no_model_and_what_would_be_one_is_reported() {
    // Two sizes at two depths: two costs alone, two in the slowest stage, and the knee.
    let points = transfers(&[64, 4_096], &[1, 4], 100.0, 10.0);
    let modelled = of_flows(&points);
    let why = modelled.why_not.as_ref().unwrap();
    assert!(
        why.starts_with("too few points for a model (4 points for 5 parameters). Try --transfer"),
        "{why}"
    );
    assert!(modelled.words.is_empty(), "{:?}", modelled.words);
    assert_eq!(modelled.enough_at(0, 64), None);
    assert_eq!(modelled.in_short, None);
}

#[test]
fn a_model_that_does_not_predict_its_own_points_rests_on_too_few() {
    // Three sizes, of which the middle one is off: without an end, the other end is missed by far.
    let mut points = transfers(&[64, 65_536], &[1], 100.0, 1.0);
    points.extend(transfers(&[4_096], &[1], 150.0, 1.0));
    let modelled = of_flows(&points);
    let why = modelled.why_not.as_ref().unwrap();
    assert!(
        why.starts_with("too few points for a model (cross-validated error "),
        "{why}"
    );
    assert!(modelled.words.is_empty(), "{:?}", modelled.words);
}

#[test]
fn no_throughput_of_a_model_is_beyond_the_limit_that_the_run_knows() {
    let with_limit = |bytes_s: f64, depths: &[u32]| {
        let mut points = transfers(&[64, 512, 4_096, 65_536], depths, 100.0, 10.0);
        for flow in points.iter_mut().flat_map(|point| &mut point.flows) {
            flow.limit = Some(BusLimit {
                bytes_s,
                shared: true,
                source: String::new(),
                used: 0.5,
            });
        }
        said(&of_flows(&points))
    };
    let capped = with_limit(60e6, &[1, 2, 4, 8]);
    assert!(
        capped.contains("at any size and depth: at most the limit of 60.00 MB/s IN"),
        "{capped}"
    );
    let free = with_limit(480e6, &[1, 2, 4, 8]);
    assert!(!free.contains("limit"), "{free}");
    let capped = with_limit(60e6, &[1]);
    assert!(
        capped.contains("larger sizes reach at most the limit of 60.00 MB/s IN"),
        "{capped}"
    );
}

#[test]
fn smaller_sizes_are_spoken_of_only_where_some_were_measured() {
    let said_of = |sizes: &[u32]| {
        let mut points = Vec::new();
        for &in_bytes in sizes {
            for depth in [1, 2, 4, 8] {
                let mut point = exchange(16, in_bytes, depth, 100.0 + f64::from(in_bytes) / 10.0);
                point.limit = (depth == 8 && in_bytes == 4_000).then(|| BusLimit {
                    bytes_s: 1.216e6,
                    shared: true,
                    source: String::new(),
                    used: 0.98,
                });
                points.push(point);
            }
        }
        said(&models_of_exchange(&plan(), &Conditions::default(), &points)[0])
    };
    let full = "the bus is full at OUT 16 B, IN 4,000 B, depth 8";
    let alone = said_of(&[4_000]);
    assert!(alone.starts_with(&format!("{full}\n")), "{alone}");
    let larger = said_of(&[4_000, 8_000]);
    assert!(larger.contains(&format!("{full}\n")), "{larger}");
    let smaller = said_of(&[48, 4_000]);
    assert!(
        smaller.contains(&format!(
            "{full}; at smaller sizes, larger depths still help\n"
        )),
        "{smaller}"
    );
}

#[test]
fn a_full_bus_is_named_without_the_size_of_what_has_none() {
    let mut transfers = Vec::new();
    let mut any = Vec::new();
    for bytes in [48, 4_000] {
        for depth in [1, 2, 4, 8] {
            let (us, is_full) = (100.0 + f64::from(bytes) / 5.0, depth == 8 && bytes == 4_000);
            transfers.push(stream_point(&Times {
                bytes,
                queue: depth,
                achieved: f64::from(depth),
                application_us: 0.0,
                transfer_us: us,
                used: is_full.then_some(0.98),
                ..Times::default()
            }));
            let mut point = exchange(bytes, 0, depth, us);
            point.limit = is_full.then(|| BusLimit {
                bytes_s: 1.216e6,
                shared: true,
                source: String::new(),
                used: 0.98,
            });
            any.push(point);
        }
    }
    let stream = said(&of_flows(&transfers));
    assert!(
        stream.contains("the bus is full at IN 4,000 B, queue 8;"),
        "{stream}"
    );
    let lines = said(&models_of_exchange(&plan(), &Conditions::default(), &any)[0]);
    assert!(
        lines.contains("the bus is full at OUT 4,000 B, depth 8;"),
        "{lines}"
    );
}

#[test]
fn sizes_of_all_sentences_have_separators() {
    let of =
        |sizes: &[u32], fixed_us: f64| said(&of_flows(&transfers(sizes, &[1], fixed_us, 10.0)));
    let half = of(&[64, 512, 4_096, 65_536], 100.0);
    assert!(half.contains("at 10,000 B IN, half of the time"), "{half}");
    let mut points = shallow();
    for point in &mut points {
        point.point.out_bytes = 2_000;
    }
    points[2].device = exchange_point(1, 16.0, Some(16.0)).device;
    let models = models_of_exchange(&plan(), &Conditions::default(), &points);
    let why = models[0].why_not.as_ref().unwrap();
    assert!(why.contains("at OUT 2,000 B, IN 48 B the device"), "{why}");
}

/// Mean TRTs in microseconds, at depths 1, 2 and the deepest, of a device that needs at least so many for each.
fn by_device(sizes: [(u32, [f64; 3]); 2], depths: [u32; 3], needs_us: f64) -> Vec<PointSummary> {
    let mut points = Vec::new();
    for (in_bytes, trts_us) in sizes {
        for (depth, trt_us) in depths.into_iter().zip(trts_us) {
            let mut point = exchange(16, in_bytes, depth, trt_us * f64::from(depth));
            point.device = exchange_point(1, needs_us, Some(needs_us)).device;
            points.push(point);
        }
    }
    points
}

#[test]
fn a_larger_depth_gains_no_more_than_a_busy_device_leaves() {
    let said_of = |sizes, depths, needs_us| {
        let points = by_device(sizes, depths, needs_us);
        said(&models_of_exchange(&plan(), &Conditions::default(), &points)[0])
    };
    // Measured on a pseudo-terminal: 300 of 329 us at 48 B, 300 of 388 us at 1,024 B.
    let words = said_of(
        [(48, [540.9, 449.8, 329.2]), (1_024, [690.1, 441.5, 388.0])],
        [1, 2, 4],
        300.0,
    );
    assert!(
        words.contains(
            "larger depths gain at most 9.7 % at the smallest sizes (the device is busy); at the largest, larger \
             depths still help"
        ),
        "{words}"
    );
    // 360 of 392 us, and of 364.5 us.
    let words = said_of(
        [(48, [827.6, 553.2, 391.7]), (1_024, [873.2, 622.4, 364.5])],
        [1, 2, 8],
        360.0,
    );
    assert!(
        words.contains(", 8 at the largest: the slowest stage is busy"),
        "{words}"
    );
}

#[test]
fn no_maximum_throughput_follows_from_a_cost_that_may_as_well_be_none() {
    // A full-speed bus that carries 1.2 MB/s: the packets of three small sizes hide what a byte costs.
    let trts_ms = [
        (48, [2.423, 1.974]),
        (200, [3.637, 2.371]),
        (1_024, [5.659, 4.105]),
    ];
    let mut points = Vec::new();
    for (in_bytes, trts_ms) in trts_ms {
        for (depth, trt_ms) in [1, 2].into_iter().zip(trts_ms) {
            points.push(exchange(
                16,
                in_bytes,
                depth,
                trt_ms * 1e3 * f64::from(depth),
            ));
        }
    }
    let modelled = &models_of_exchange(&plan(), &Conditions::default(), &points)[0];
    assert_eq!(modelled.figures().unwrap().in_bytes_s, None);
    assert!(
        !said(modelled).contains("maximum throughput"),
        "{}",
        said(modelled)
    );
}

#[test]
fn a_maximum_throughput_needs_a_significant_time_per_byte() {
    // A disturbance at one point of a loopback: bytes seem to cost something, and depth 1 carried 92 MB/s.
    let trts_us = [
        (48, [34.9, 9.9]),
        (512, [37.4, 12.1]),
        (4_096, [44.6, 100.8]),
    ];
    let mut points = Vec::new();
    for (in_bytes, trts_us) in trts_us {
        for (depth, trt_us) in [1, 4].into_iter().zip(trts_us) {
            points.push(exchange(16, in_bytes, depth, trt_us * f64::from(depth)));
        }
    }
    let modelled = &models_of_exchange(&plan(), &Conditions::default(), &points)[0];
    let slowest = modelled.figures().unwrap().slowest.unwrap();
    assert_eq!(slowest.in_ns_a_byte.unwrap().low, Some(0.0));
    assert_eq!(modelled.figures().unwrap().in_bytes_s, None);
    let words = said(modelled);
    assert!(
        words.contains("no significant time per byte IN") && !words.contains("maximum throughput"),
        "{words}"
    );
}

#[test]
fn more_points_are_proposed_than_the_run_has_and_no_size_that_the_device_rejects() {
    let points = |depths: &[u32]| {
        let mut points = Vec::new();
        for in_bytes in [48, 4_000] {
            for &depth in depths {
                points.push(exchange(16, in_bytes, depth, 300.0));
            }
        }
        points
    };
    let why = |most: u32, points: &[PointSummary]| {
        let conditions = Conditions {
            responder: Some(Responder {
                max_in_bytes: most,
                ..Responder::default()
            }),
            ..Conditions::default()
        };
        let modelled = models_of_exchange(&plan(), &conditions, points).remove(0);
        modelled.why_not.unwrap()
    };
    let one = points(&[1]);
    assert!(
        why(0, &one).ends_with("Try --in 64,512,4k --depth 1,4"),
        "{}",
        why(0, &one)
    );
    assert!(
        why(2_048, &one).ends_with("Try --in 64,512 --depth 1,4"),
        "{}",
        why(2_048, &one)
    );
    assert!(
        why(64, &one).ends_with("Try --depth 1,2,4"),
        "{}",
        why(64, &one)
    );
    // Measured over TCP: no point follows from the others.
    let sizes = [(48, [360.8, 142.6, 122.7]), (4_096, [377.6, 194.8, 143.2])];
    let six = why(0, &by_device(sizes, [1, 4, 16], 1.0));
    assert!(
        six.ends_with("Try --in 64,256,1k,4k,16k --depth 1,2,4,8"),
        "{six}"
    );
}

#[test]
fn more_points_enclose_the_setting_of_which_a_prediction_was_asked() {
    let tried = |plan: &Plan, responder: Option<Responder>, wanted: Wanted| {
        let conditions = Conditions {
            responder,
            ..Conditions::default()
        };
        let points = [exchange(16, 48, 1, 300.0)];
        let mut modelled = models_of_exchange(plan, &conditions, &points).remove(0);
        modelled.enclose(&[wanted]);
        let why = modelled.why_not.unwrap();
        why.split(". ").nth(1).unwrap().to_owned()
    };
    let large = Wanted {
        out_bytes: Some(2_000),
        in_bytes: Some(20_000),
        depth: Some(6),
    };
    assert_eq!(
        tried(&plan(), None, large),
        "Try --out 2000 --in 64,512,4k,32k --depth 1,4,8"
    );
    let small = Wanted {
        in_bytes: Some(40),
        ..Wanted::default()
    };
    assert_eq!(
        tried(&plan(), None, small),
        "Try --in 32,64,512,4k --depth 1,4"
    );
    let limited = Responder {
        max_in_bytes: 8_192,
        max_outstanding: 1,
        ..Responder::default()
    };
    assert_eq!(
        tried(&plan(), Some(limited), large),
        "Try --out 2000 --in 64,512,4k,8k"
    );
    let mut instrument = plan();
    instrument.address = "usbtmc://0957:1755".into();
    assert_eq!(
        tried(&instrument, None, Wanted::default()),
        "Try --in 64,512,4k"
    );
}

#[test]
fn no_queue_is_proposed_where_a_link_has_none() {
    let wanted = Wanted {
        in_bytes: Some(100_000),
        depth: Some(4),
        ..Wanted::default()
    };
    let tried = |address: &str| {
        let points = transfers(&[64], &[1], 100.0, 10.0);
        let mut modelled = of_stream(&stream_plan(address), &points).models.remove(0);
        modelled.enclose(&[wanted]);
        let why = modelled.why_not.unwrap();
        why.split(". ").nth(1).unwrap().to_owned()
    };
    let transfers = "Try --transfer 512,4k,64k,128k";
    assert_eq!(tried("serial:///dev/ttyACM0"), transfers);
    assert_eq!(tried(USB), format!("{transfers} --queue 1,4"));
}
