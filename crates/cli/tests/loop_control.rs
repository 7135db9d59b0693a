//! `wiregauge loop-control` with the real program at both ends: what a run has in it. What its figures must be is proved in
//! virtual time (`crates/sim/tests/control_loops.rs`); nothing here depends on timing.

use crate::common;

use common::{Background, Desk, until};
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;
use std::fs;
use wiregauge_control::{Controller, Loop, Pid, TransferFunction};
use wiregauge_record::{ControlCycle, CycleStatus};
use wiregauge_run::{Control, Run};

/// A servo under PD with limits that a step reaches.
const SERVO: &str = "\
period = '5ms'
plant = '1000/(s^2+s)'
[controller]
pid = [0.96, 0, 0.049]
[noise]
input = 1
[limits]
input = [[-10, 10]]
";

/// Two inputs and two outputs; the controller has two states.
const PAIR: &str = "\
period = '4ms'
[plant]
a = [[-1, 0], [0, -2]]
b = [[1, 0], [0.5, 1]]
c = [[1, 0], [0, 1]]
[controller]
a = [[1, 0], [0, 1]]
b = [[0.02, 0], [0, 0.02]]
c = [[1, 0], [0, 1]]
d = [[3, 0], [0, 3]]
";

fn desk_with(model: &str) -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("loop.toml"), model).expect("it is written");
    desk
}

/// The cycles of the stored run in this directory.
fn cycles(desk: &Desk, name: &str) -> (Run<Control>, Vec<ControlCycle>) {
    let run = Run::<Control>::open(&desk.path(name)).expect("a control run");
    let rows = run.samples(0).expect("its samples");
    let rows = rows.map(|row| row.expect("a row").0).collect();
    (run, rows)
}

/// The first commands of each cycle that ran are those of the controller for the stored outputs and references.
fn assert_controlled(model: &Loop, rows: &[ControlCycle]) {
    let (inputs, outputs) = (model.plant.inputs(), model.plant.outputs());
    let mut controller = Controller::new(model);
    for row in rows.iter().filter(|row| row.ran()) {
        let (mut error, commands) = row.signals();
        for error in &mut error {
            *error = -*error;
        }
        error[0] = row.reference - row.y1;
        let expected = controller.step(&error[..outputs]);
        assert_eq!(expected, &commands[..inputs], "{row:?}");
        assert_eq!(&commands[inputs..], &[0.0; 4][inputs..], "{row:?}");
    }
}

fn assert_sound(rows: &[ControlCycle], period_ns: u64) {
    let mut before = 0;
    for (cycle, row) in (0..).zip(rows) {
        assert_eq!(row.sequence, cycle);
        assert_eq!(row.intended_ns, cycle * period_ns);
        match row.status {
            CycleStatus::Unsent => assert_eq!((row.start_ns, row.y1, row.u1), (0, 0.0, 0.0)),
            CycleStatus::Ok => {
                assert!(row.start_ns >= row.intended_ns, "{row:?}");
                assert!(
                    row.command_start_ns >= row.start_ns + row.sample_rtt_ns,
                    "{row:?}"
                );
                // Two messages that a late program hands over together are in one transfer, hence at one time.
                assert!(row.sample_device_ns >= before, "{row:?}");
                assert!(row.command_device_ns > row.sample_device_ns, "{row:?}");
                before = row.sample_device_ns;
            }
            _ => {}
        }
    }
}

fn servo() -> Loop {
    let plant = TransferFunction::parse("plant", 's', "1000/(s^2+s)").expect("a plant");
    let controller = Pid::new(0.96, 0.0, 0.049).state_space(5e-3);
    let plant = plant.state_space().expect("proper");
    let mut model = Loop::new(plant, controller.expect("a controller"), 5e-3).expect("a loop");
    model.limits = Some(vec![(-10.0, 10.0)]);
    model
}

#[test]
fn every_command_of_a_run_is_the_controllers_for_its_sample() {
    let desk = desk_with(SERVO);
    for (name, address) in [
        ("tcp", "tcp://:0"),
        ("pty", "pty: --bus full-speed --drop 2%"),
    ] {
        let server = desk.serve(&format!("{address} --plant loop.toml"));
        let shown = desk.output(&format!(
            "loop-control {} --model loop.toml --count 240 --step 3 --full --store {name}",
            server.address
        ));
        assert!(shown.contains("240"), "{shown}");
        assert!(shown.contains("Step response at the samples"), "{shown}");
        let (run, rows) = cycles(&desk, name);
        assert_eq!(rows.len(), 240);
        assert_sound(&rows, 5_000_000);
        assert_controlled(&servo(), &rows);
        let reference = |row: &ControlCycle| if row.sequence < 120 { 0.0 } else { 3.0 };
        assert!(rows.iter().all(|row| row.reference == reference(row)));
        let summary = &run.file.points[0];
        let counted = |status| rows.iter().filter(|row| row.status == status).count() as u64;
        assert_eq!(summary.cycles, 240);
        assert_eq!(summary.unsent, counted(CycleStatus::Unsent));
        assert_eq!(summary.samples_lost, counted(CycleStatus::SampleLost));
        assert_eq!(summary.commands_lost, counted(CycleStatus::CommandLost));
        let before = rows[..120].iter().skip(summary.left_out as usize);
        let costs: Vec<f64> = before
            .filter(|row| row.ran())
            .map(|row| row.y1 * row.y1)
            .collect();
        let mean = costs.iter().sum::<f64>() / costs.len() as f64;
        let cost = summary.cost.expect("a cost").value;
        assert!((cost - mean).abs() <= 1e-9 * mean, "{cost} is not {mean}");
    }
}

#[test]
fn a_loop_with_two_inputs_and_outputs_runs_over_datagrams() {
    let desk = desk_with(PAIR);
    let server = desk.serve("udp://:0 --plant loop.toml --drop 3%");
    desk.output(&format!(
        "loop-control {} --model loop.toml --count 200 --step -1 --store run --csv rows.csv",
        server.address
    ));
    let (run, rows) = cycles(&desk, "run");
    assert_sound(&rows, 4_000_000);
    let plan = &run.file.plan.model;
    assert_eq!(plan.plant.b, [[1.0, 0.0], [0.5, 1.0]]);
    // A proportional part of 3 and an integral one.
    let mut integral = [0.0; 2];
    let mut ran = 0;
    for row in rows.iter().filter(|row| row.ran()) {
        let error = [row.reference - row.y1, -row.y2];
        for (i, command) in [row.u1, row.u2].into_iter().enumerate() {
            let expected = integral[i] + 3.0 * error[i];
            assert!((command - expected).abs() < 1e-12, "{row:?}: {expected}");
            integral[i] += 0.02 * error[i];
        }
        ran += 1;
    }
    assert!(ran > 20, "{ran}");
    let text = fs::read_to_string(desk.path("rows.csv")).expect("rows");
    assert!(
        text.starts_with("point,sequence,status,intended_us,"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 201);
    let exported = desk.output("export run --csv");
    assert_eq!(exported, text);
}

#[test]
fn a_run_is_compared_with_the_delays_of_another_and_read_by_the_commands_for_runs() {
    let desk = desk_with(SERVO);
    let server = desk.serve("tcp://:0 --plant loop.toml");
    let address = &server.address;
    desk.output(&format!(
        "exchange {address} --in 48 --depth 4 --interval 5ms --count 300 --no-calibration --store delays"
    ));
    let json = desk.json(&format!(
        "loop-control {address} --model loop.toml --count 300 --against delays --json"
    ));
    let predicted = json["points"][0]["predicted"].as_array().expect("two");
    assert_eq!(predicted.len(), 2);
    assert_eq!(predicted[0]["run"], serde_json::Value::Null);
    assert_eq!(predicted[1]["run"], "delays");
    assert_eq!(predicted[1]["cycles"], 300);
    assert!(desk.output("runs").contains("300 cycles"));
    let shown = desk.output("show last --full");
    assert!(shown.contains("Prediction from delays"), "{shown}");
    let shown = desk.output("show last");
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let heading = "control loop: plant 1000/(s^2+s), PID 0.96,0,0.049, period 5 ms, 300 cycles";
    assert!(words.contains(heading), "{shown}");
    let answer = shown.split("\n\n").nth(1).expect("an answer");
    assert!(answer.starts_with("Cost "), "{shown}");
    assert!(!shown.contains("Prediction from delays"), "{shown}");
    assert!(
        desk.output("show last --format csv")
            .starts_with("point,period_ns,depth,cycles,")
    );
    let page = desk.output("show last --format md");
    assert!(page.contains("| cycles |"), "{page}");
    let (_, conditions) = page.split_once("### Conditions").expect("a heading");
    assert!(conditions.contains("| kernel"), "{page}");
    desk.output("export last --parquet all.parquet");
    desk.output("report last -o page.html --figures figures --format svg");
    let page = fs::read_to_string(desk.path("page.html")).expect("a page");
    assert!(page.contains("<p class=\"answer\">Cost "), "no answer");
    assert!(page.contains("Output over time"), "no output");
    let mut figures: Vec<String> = fs::read_dir(desk.path("figures"))
        .expect("figures")
        .map(|file| {
            file.expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    figures.sort();
    assert_eq!(figures, ["signals-command.svg", "signals-output.svg"]);
    for command in [
        "explain last",
        "deadline last",
        "compare last last",
        "control last --model loop.toml",
    ] {
        let refused = desk.wiregauge(command).assert().code(2);
        let hint = format!(
            "\n  hint: measure the link alone with wiregauge exchange {address} --interval 5ms, then "
        );
        refused.stderr(contains("it is a control run").and(contains(hint)));
    }
}

#[test]
fn a_cost_that_is_predicted_as_0_for_lack_of_noise_in_the_model_is_explained() {
    let desk = desk_with(SERVO);
    let server = desk.serve("tcp://:0 --plant loop.toml");
    let shown = desk.output(&format!(
        "loop-control {} --plant 1000/(s^2+s) --pid 0.96,0,0.049 --period 5ms --count 300 --no-store",
        server.address
    ));
    let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("because the model has no noise"), "{shown}");
    assert!(!text.contains("is outside the 95 % interval"), "{shown}");
}

#[test]
fn an_interrupted_run_keeps_its_cycles() {
    let desk = desk_with(SERVO);
    let server = desk.serve("tcp://:0 --plant loop.toml");
    let flags = "--model loop.toml --duration 1h --store run";
    let command = format!("loop-control {} {flags}", server.address);
    let running = Background::start(&mut desk.command(&command));
    until("some cycles are stored", || {
        let run = Run::<Control>::open(&desk.path("run"));
        run.is_ok_and(|run| run.progress.rows > 20)
    });
    running.signal(Signal::INT);
    let ended = running.ended();
    assert_eq!(ended.code, Some(130), "{ended}");
    let (run, rows) = cycles(&desk, "run");
    assert_eq!(run.file.points[0].cycles, rows.len() as u64);
    assert_controlled(&servo(), &rows);
}

#[test]
fn a_device_that_is_not_the_plant_of_the_model_is_refused_with_what_to_start() {
    let desk = desk_with(SERVO);
    let echo = desk.serve("tcp://:0");
    let refused = |address: &str, model: &str, code: i32| {
        let command = format!("loop-control {address} {model} --count 10");
        desk.wiregauge(&command).assert().code(code)
    };
    refused(&echo.address, "--model loop.toml", 3).stderr(
        contains("it does not simulate a plant: it echoes messages").and(contains(format!(
            "wiregauge serve {} --plant",
            echo.address
        ))),
    );
    fs::write(desk.path("pair.toml"), PAIR).expect("it is written");
    let pair = desk.serve("tcp://:0 --plant pair.toml");
    refused(&pair.address, "--model loop.toml", 2)
        .stderr(contains("its plant has 2 outputs, that of the model has 1"));
    let single = desk.serve("tcp://:0 --plant loop.toml");
    refused(&single.address, "--model pair.toml", 2)
        .stderr(contains("its plant has 1 output, that of the model has 2"));
    fs::write(
        desk.path("wide.toml"),
        "period = '5ms'\n[plant]\na = [[0]]\nb = [[1, 1]]\nc = [[1]]\n[controller]\nd = [[1], [1]]\n",
    )
    .expect("it is written");
    refused(&single.address, "--model wide.toml", 2)
        .stderr(contains("its plant does not have 2 inputs"));
    assert_eq!(desk.stored(), Vec::<String>::new(), "an empty run is left");
}

#[test]
fn a_model_that_cannot_be_run_over_a_link_is_refused_by_its_key() {
    for (keys, says) in [
        ("misses = { on-miss = 'zero-at-once' }", "misses.on-miss"),
        ("misses = { deadline = '4ms' }", "misses.deadline"),
        ("cost = { state = 1 }", "cost.state"),
    ] {
        let desk = desk_with(&format!(
            "period = '5ms'\nplant = '1/s'\n{keys}\ncontroller = '1'\n"
        ));
        let command = "loop-control tcp://127.0.0.1:9 --model loop.toml";
        desk.fails(command, 2, &[says]);
    }
    let desk = Desk::new();
    desk.refuses(
        "loop-control tcp://127.0.0.1:9 --plant 1/s",
        2,
        "
        --pid 1,0,0                                => the loop has no period
        --pid=-1,0,0 --period 5ms                  => unstable without any delay
        --pid 1,0,0 --period 5ms --step 0          => is not a step
        --pid 1,0,0 --period 1us --duration 1h     => --duration:
        --pid 1,0,0 --period 5ms --against nothing => nothing
        ",
    );
}

#[test]
fn one_file_describes_the_loop_at_both_ends() {
    let desk = desk_with(SERVO);
    let server = desk.serve("tcp://:0 --plant loop.toml --input-limits -2..2");
    desk.output(&format!(
        "loop-control {} --model loop.toml --count 20 --no-store",
        server.address
    ));
    for (file, says) in [
        ("missing.toml", "cannot read missing.toml"),
        ("broken.toml", "unknown field `plan`"),
        ("empty.toml", "the loop has no plant"),
    ] {
        fs::write(desk.path("broken.toml"), "plan = '1/s'").expect("it is written");
        fs::write(desk.path("empty.toml"), "period = '1ms'").expect("it is written");
        let command = format!("serve tcp://:0 --plant {file}");
        desk.fails(&command, 2, &[says]);
    }
}
