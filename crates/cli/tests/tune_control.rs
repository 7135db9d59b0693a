//! `wiregauge tune` for a control loop: each setting is measured at the period of the loop, and the one that is chosen has
//! the cost that `wiregauge control` finds in its run.

use crate::common;

use common::{Desk, refused};
use serde_json::Value;

use crate::tune::found;

/// An integrator that bears a constant delay of 0.3 s.
const LOOP: &str = "--plant 1/s --pid 5,0,0 --period 10ms";

#[test]
fn the_setting_with_the_lowest_cost_is_chosen_and_its_run_proves_it() {
    let desk = Desk::new();
    // 16 KiB take longer than a period on a full-speed bus: the requests wait longer and longer.
    let server = desk.serve("pty: --bus full-speed");
    let flags = format!(
        "--minimise control.cost --subject-to control.growth<1 {LOOP} --in 48,16k --depth 1 --timeout 10s"
    );
    let printed = found(&desk, &server.address, &flags);
    assert_eq!(printed["best"]["in_bytes"], 48, "{printed:#}");
    assert_eq!(printed["period_ns"], 10_000_000);
    assert_eq!(printed["best"]["constraints"][0]["verdict"], "met");
    assert_eq!(printed["model"], Value::Null);

    let control = desk.json(&format!("control last --json {LOOP}"));
    assert_eq!(control["taken"]["how"], "as-scheduled");
    let on_trace = &control["points"][0]["assessment"]["on_trace"];
    assert_eq!(printed["best"]["objective"]["value"], on_trace["cost"]);
    assert_eq!(
        printed["best"]["objective"]["low"],
        on_trace["interval"]["low"]
    );
    let command = printed["use"]["control"].as_array().expect("words");
    let command: Vec<&str> = command.iter().filter_map(Value::as_str).collect();
    assert_eq!(command.join(" "), format!("wiregauge control last {LOOP}"));
    let probes = printed["probes"].as_array().expect("probes");
    assert!(
        probes
            .iter()
            .all(|probe| probe["exchanges"].as_u64() >= Some(200))
    );
    // At 16 KiB so many requests may be outstanding in the end that nothing is computed.
    let mut at_best = probes.iter().filter(|probe| probe["in_bytes"] == 48);
    assert!(at_best.all(|probe| probe["control"]["growth"].is_number()));
}

#[test]
fn a_loop_that_never_holds_has_no_best_setting() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 2ms");
    // It bears 0.1 ms.
    let flags = "--minimise control.cost --plant 1/s --pid 15000,0,0 --period 0.1ms --depth 1,2 --timeout 10s";
    let (printed, ended) = crate::tune::tune(&desk, &server.address, flags);
    assert_eq!(ended.code, Some(1), "{ended}");
    assert_eq!(printed["best"], Value::Null);
    assert!(ended.stderr.contains("its cost is unbounded"), "{ended}");
}

#[test]
fn a_search_for_a_loop_without_its_model_or_with_an_impossible_one_is_refused() {
    for (flags, says) in [
        (
            "--minimise control.cost".to_owned(),
            "control.cost requires the model of the control loop: give --model FILE",
        ),
        (
            "--minimise p99 --subject-to control.growth<1".to_owned(),
            "control.growth requires the model",
        ),
        (
            format!("--minimise p99 {LOOP}"),
            "--plant has no effect without a figure of a control loop",
        ),
        (
            format!("--maximise control.cost {LOOP}"),
            "control.cost can only be minimised",
        ),
        (
            format!("--minimise control.cost {LOOP} --transfer 64"),
            "control.cost is a figure of exchanges",
        ),
        (
            "--minimise control.cost --plant 1/s --pid 500,0,0 --period 10ms".to_owned(),
            "the loop is unstable without any delay",
        ),
    ] {
        refused(&format!("tune null:// {flags}"), 2, says);
    }
}
