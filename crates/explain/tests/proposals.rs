//! What is proposed to be measured for a better model: nothing that the plan, the link or the device refuses.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common;

use common::{exchange, grid, measured, plan, stream_plan, transfers};
use wiregauge_explain::{Modelled, models_of_exchange, of_stream};
use wiregauge_record::{Conditions, Connect, Plan, PointSummary, Responder};

const USB: &str = "usb://1d6b:0104";

fn model(plan: &Plan, responder: Option<Responder>, points: &[PointSummary]) -> Modelled {
    let conditions = Conditions {
        responder,
        ..Conditions::default()
    };
    models_of_exchange(plan, &conditions, points).remove(0)
}

/// The sentence with the proposal.
fn proposed(modelled: &Modelled) -> String {
    let why = modelled.why_not.as_ref().unwrap();
    why.split(". ").nth(1).unwrap().to_owned()
}

#[test]
fn two_sizes_make_no_model_and_what_would_is_reported() {
    let points = transfers(&[64, 512], &[1], 10.0, 1.0);
    let modelled = of_stream(&stream_plan(USB), &points).models.remove(0);
    assert!(modelled.model.is_none() && modelled.words.is_empty());
    let why = modelled.why_not.as_ref().unwrap();
    let needed =
        "a model requires 3 points with different settings, a prediction 5 (this run has 2)";
    assert!(why.starts_with(needed), "{why}");
    assert_eq!(
        proposed(&modelled),
        "Try --transfer 64,512,4k,16k,64k --queue 1,2,4,8"
    );
}

#[test]
fn as_many_parameters_as_points_are_no_model_and_what_would_be_one_is_reported() {
    // Two sizes at two depths: two costs alone, two in the slowest stage, and the knee.
    let points = transfers(&[64, 4_096], &[1, 4], 100.0, 10.0);
    let modelled = of_stream(&stream_plan(USB), &points).models.remove(0);
    let why = modelled.why_not.as_ref().unwrap();
    assert!(
        why.starts_with("too few points for a model (4 points for 5 parameters). Try --transfer"),
        "{why}"
    );
    assert!(modelled.words.is_empty(), "{:?}", modelled.words);
}

#[test]
fn more_depths_are_tried_only_where_plan_and_device_allow_them() {
    let points = grid(&[48, 1_000, 4_000], &[1], |bytes, _| 100.0 + bytes / 10.0);
    let words = |plan: &Plan, most: u32| {
        let responder = Responder {
            max_outstanding: most,
            ..Responder::default()
        };
        model(plan, Some(responder), &points).words.join("\n")
    };
    assert!(words(&plan(), 0).contains("Try --depth 1,2,4,8\n"));
    assert!(words(&plan(), 2).contains("Try --depth 1,2\n"));
    let mut each = plan();
    each.connect = Connect::Each;
    assert!(!words(&each, 0).contains("Try --depth"));
    let few = model(&each, None, &points[..2]);
    assert_eq!(proposed(&few), "Try --in 64,256,1k,4k,16k");
}

#[test]
fn no_queue_is_tried_where_a_link_has_none() {
    let points = transfers(&[64, 512, 4_096, 65_536], &[1], 100.0, 10.0);
    let models = of_stream(&stream_plan("tcp://10.0.0.5:7700"), &points).models;
    let said = models[0].words.join("\n");
    assert!(
        said.contains("has no queue, so only the size of a transfer can be changed"),
        "{said}"
    );
    assert!(!said.contains("--queue"), "{said}");
    let tried = |address: &str| {
        let points = transfers(&[64], &[1], 100.0, 10.0);
        proposed(&of_stream(&stream_plan(address), &points).models[0])
    };
    let transfers = "Try --transfer 64,512,4k,16k,64k";
    assert_eq!(tried("serial:///dev/ttyACM0"), transfers);
    assert_eq!(tried(USB), format!("{transfers} --queue 1,2,4,8"));
}

#[test]
fn no_size_is_proposed_that_the_device_rejects() {
    let why = |most: u32, points: &[PointSummary]| {
        let responder = Responder {
            max_in_bytes: most,
            ..Responder::default()
        };
        proposed(&model(&plan(), Some(responder), points))
    };
    let one = grid(&[48, 4_000], &[1], |_, _| 300.0);
    let all = "Try --in 64,256,1k,4k,16k --depth 1,2,4,8";
    assert_eq!(why(0, &one), all);
    assert_eq!(why(2_048, &one), "Try --in 64,256,1k --depth 1,2,4,8");
    assert_eq!(why(64, &one), "Try --depth 1,2,4,8");
    // Measured over TCP: no point follows from the others.
    let sizes: [(u32, &[f64]); 2] = [
        (48, &[360.8, 142.6, 122.7]),
        (4_096, &[377.6, 194.8, 143.2]),
    ];
    assert_eq!(why(0, &measured(&[1, 4, 16], &sizes)), all);
}

#[test]
fn a_proposal_keeps_the_requests_of_the_run_and_tries_no_depth_that_the_device_refuses() {
    let points = [exchange(2_000, 48, 1, 300.0)];
    let mut large = plan();
    large.points = vec![points[0].point];
    let limited = Responder {
        max_in_bytes: 8_192,
        max_outstanding: 1,
        ..Responder::default()
    };
    let tried = |plan: &Plan, responder| proposed(&model(plan, responder, &points));
    assert_eq!(
        tried(&large, Some(limited)),
        "Try --out 2000 --in 64,256,1k,4k"
    );
    let mut instrument = plan();
    instrument.address = "usbtmc://0957:1755".into();
    assert_eq!(tried(&instrument, None), "Try --in 64,256,1k,4k,16k");
}
