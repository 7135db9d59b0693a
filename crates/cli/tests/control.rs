//! What a run means for a control loop of a given model, by the real program; the delays of most runs are written here, so
//! that every figure is known.

use crate::common;
use crate::compare::made;

use common::{Desk, has_all};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use wiregauge_control::{Loop, OnMiss, Order, Pid, Rules, TransferFunction, assess};
use wiregauge_record::{Limit, Sample, Schedule, Status};

const MS: u64 = 1_000_000;

/// The servo of Cervin's examples, as flags.
const SERVO: &str = "--plant 1000/(s^2+s) --pid 0.96,0,0.049";

/// The same, as a file.
const SERVO_FILE: &str = "\
period = '6ms'
plant = '1000/(s^2+s)'
[controller]
pid = [0.96, 0, 0.049]
";

fn servo() -> Loop {
    let plant = TransferFunction::parse("plant", 's', "1000/(s^2+s)").expect("a plant");
    let controller = Pid::new(0.96, 0.0, 0.049)
        .state_space(6e-3)
        .expect("a controller");
    Loop::new(plant.state_space().expect("proper"), controller, 6e-3).expect("a loop")
}

/// Delays within the period, and one in 13 lost.
fn trace(cycles: u64) -> Vec<Option<u64>> {
    let delay = |k: u64| 600_000 + 4_800_000 * (7 * k % 11) / 11;
    (0..cycles)
        .map(|k| (k % 13 != 12).then(|| delay(k)))
        .collect()
}

/// Stores a run with these delays at each of its points, one exchange every `every` (as fast as possible: one after the
/// other). Lost ones were waited for until the timeout of a period.
fn store(desk: &Desk, name: &str, schedule: Schedule, points: &[(u32, Vec<Option<u64>>)]) {
    let mut plan = made::plan(points.len() as u32);
    (plan.schedule, plan.timeout_ns) = (schedule, 6 * MS);
    plan.limit = Limit::Count(1);
    plan.below_ns.clear();
    for (point, (depth, _)) in plan.points.iter_mut().zip(points) {
        (point.out_bytes, point.in_bytes, point.depth) = (48, 48, *depth);
    }
    fs::create_dir_all(desk.runs()).expect("a directory");
    made::exchange_run(&desk.runs().join(name), &plan, |point| {
        let mut next_ns = 0;
        let delays = (1..).zip(&points[point.index as usize].1);
        delays.map(move |(sequence, delay)| {
            let (start_ns, rtt_ns) = (next_ns, delay.unwrap_or(6 * MS));
            next_ns += match schedule {
                Schedule::EveryNs(every_ns) => every_ns,
                Schedule::AsFastAsPossible => rtt_ns,
            };
            Sample {
                sequence,
                intended_ns: start_ns,
                start_ns,
                rtt_ns,
                status: delay.map_or(Status::Lost, |_| Status::Ok),
                ..Sample::default()
            }
        })
    });
}

fn on_schedule(desk: &Desk) {
    store(desk, "servo", Schedule::EveryNs(6 * MS), &[(1, trace(300))]);
}

/// What the program must print of this point.
fn expected(delays: &[Option<u64>], rules: Rules) -> Value {
    let found = assess(&servo(), delays, rules).expect("an assessment");
    // As the program writes and the test reads it.
    serde_json::from_str(&serde_json::to_string(&found).expect("JSON")).expect("JSON")
}

#[test]
fn a_run_with_the_loops_period_is_assessed_cycle_by_cycle() {
    let desk = Desk::new();
    on_schedule(&desk);
    let printed = desk.json(&format!("control servo --json {SERVO}"));
    assert_eq!(printed["run"], "servo");
    assert_eq!(printed["period_ns"], 6 * MS);
    assert_eq!(printed["taken"]["how"], "as-scheduled");
    assert_eq!(printed["rules"]["on_miss"], "hold");
    let point = &printed["points"][0];
    assert_eq!(
        (&point["cycles"], &point["unanswered"], &point["unsent"]),
        (&300.into(), &23.into(), &0.into())
    );
    assert_eq!(point["assessment"], expected(&trace(300), Rules::default()));
}

#[test]
fn the_answer_and_one_table_fit_a_screen_and_the_rest_is_printed_with_full() {
    let desk = Desk::new();
    on_schedule(&desk);
    let short = desk.output(&format!("control servo {SERVO} --require held"));
    assert!(short.lines().count() <= 24, "{short}");
    has_all(&short, &["\n\nLimit met: held. The loop holds "]);
    assert!(short.ends_with("\nall tables: --full\n"), "{short}");
    assert!(!short.contains("ON THIS TRACE"), "{short}");
    let full = desk.output(&format!("control servo {SERVO} --full"));
    assert!(full.contains("ON THIS TRACE"), "{full}");
    let of_loop = "control loop: plant 1000/(s^2+s), PID 0.96,0,0.049, period 6 ms";
    assert!(full.contains(of_loop), "{full}");
    assert!(full.contains("Finding: The loop holds "), "{full}");
}

#[test]
fn flags_and_file_make_the_same_model_and_flags_override_the_file() {
    let desk = Desk::new();
    on_schedule(&desk);
    let of_flags = desk.json(&format!("control servo --json {SERVO} --period 6ms"));
    fs::write(desk.path("loop.toml"), SERVO_FILE).expect("a file");
    assert_eq!(
        desk.json("control servo --model loop.toml --json"),
        of_flags
    );
    let json = r#"{"period": "6ms", "plant": {"a": [[-1, 0], [1, 0]], "b": [[1], [0]], "c": [[0, 1000]]},
        "controller": {"pid": [0.96, 0, 0.049], "filter": 10}, "noise": {"input": 1, "measurement": 0},
        "cost": {"output": 1, "input": 0, "state": 0}, "limits": {"input": [[-1e9, 1e9]]},
        "misses": {"order": "newest", "on-miss": "hold"}}"#;
    fs::write(desk.path("loop.json"), json).expect("a file");
    assert_eq!(
        desk.json("control servo --model loop.json --json"),
        of_flags
    );
    // Each flag wins over its key.
    let other = "period = '3ms'\nplant = '1/s'\ncontroller = '0.5'\n[noise]\ninput = 7\n\
        [misses]\norder = 'arrival'\non-miss = 'skip'\ndeadline = '1ms'";
    fs::write(desk.path("other.toml"), other).expect("a file");
    let flags = "--period 6ms --noise 1 --order newest --on-miss hold --deadline 1h";
    let mut overridden = desk.json(&format!(
        "control servo --model other.toml --json {SERVO} {flags}"
    ));
    assert_eq!(overridden["rules"]["deadline_ns"], 3_600_000_000_000_u64);
    overridden["rules"]["deadline_ns"] = Value::Null;
    let same = |found: &Value| {
        let assessment = &found["points"][0]["assessment"];
        assessment["on_trace"].clone()
    };
    assert_eq!(same(&overridden), same(&of_flags));
    assert_eq!(overridden["rules"], of_flags["rules"]);
}

#[test]
fn the_rules_of_a_miss_are_those_of_the_flags() {
    let desk = Desk::new();
    on_schedule(&desk);
    for (flags, rules) in [
        (
            "--on-miss zero-at-deadline --deadline 4ms",
            Rules {
                on_miss: OnMiss::ZeroAtDeadline,
                deadline_ns: Some(4 * MS),
                ..Rules::default()
            },
        ),
        (
            "--on-miss skip --order arrival",
            Rules {
                on_miss: OnMiss::Skip,
                order: Order::Arrival,
                ..Rules::default()
            },
        ),
    ] {
        let printed = desk.json(&format!("control servo --json {SERVO} {flags}"));
        let found = &printed["points"][0]["assessment"];
        assert_eq!(*found, expected(&trace(300), rules), "{flags}");
    }
}

#[test]
fn a_run_as_fast_as_possible_is_replayed_on_the_ticks_of_the_loop() {
    let desk = Desk::new();
    let delays = [Some(MS), Some(13 * MS), None, Some(2 * MS)].repeat(50);
    store(&desk, "fast", Schedule::AsFastAsPossible, &[(1, delays)]);
    let printed = desk.json(&format!("control fast --json --period 6ms {SERVO}"));
    assert_eq!(printed["taken"]["how"], "replayed");
    let point = &printed["points"][0];
    // 13 ms hold up two further ticks; the timeout of 6 ms ends at the next tick.
    let cycles = [Some(MS), Some(13 * MS), None, None, None, Some(2 * MS)].repeat(50);
    assert_eq!(
        (&point["cycles"], &point["unanswered"], &point["unsent"]),
        (&300.into(), &50.into(), &100.into())
    );
    assert_eq!(point["assessment"], expected(&cycles, Rules::default()));
}

#[test]
fn a_model_that_makes_no_sense_is_refused_with_file_and_key() {
    let desk = Desk::new();
    on_schedule(&desk);
    // What is wrong with numbers alone is tested in crates/control and crates/program.
    for (model, words) in [
        ("perod = '6ms'", "unknown field `perod`"),
        ("controller = '1'", "the loop has no plant"),
        ("plant = '1/s'", "the loop has no controller"),
        ("plant = 's'\ncontroller = '1'", "plant: 's' is improper"),
        (
            "plant = '(s+1)/(s+2)'\ncontroller = '1'",
            "plant: the input acts on the output at once (D is not 0)",
        ),
        (
            "controller = '1'\n[plant]\na = [[0, 1], [0, 0]]\nb = [[1]]\nc = [[1, 0]]",
            "plant.b has 1 x 1 entries, 2 x 1 expected",
        ),
        (
            "plant = '1/s'\ncontroller = '1'\n[noise]\nprocess = 1\ninput = 1",
            "noise: give one of",
        ),
        (
            "plant = '1/s'\ncontroller = '1'\n[noise]\ninput = -1",
            "noise.process: -1 on its diagonal is negative",
        ),
        (
            "plant = '1/s'\ncontroller = '1'\n[cost]\noutput = [[1, 2], [3]]",
            "cost.output: row 2 has 1 entries",
        ),
        (
            "plant = '1/s'\ncontroller = '1'\n[limits]\ninput = [[1, -1]]",
            "limits.input: 1 as lowest command",
        ),
        (
            "plant = '1/s'\n[controller]\npid = [1, 0, 0]\ntransfer = '1'",
            "controller: give one of",
        ),
        (
            "plant = '1/s'\n[controller]\ntransfer = '1'\nfilter = 5",
            "controller.filter: only a PID",
        ),
    ] {
        fs::write(desk.path("wrong.toml"), model).expect("a file");
        let says = format!("=> wrong.toml: | {words}");
        desk.refuses("control servo --model wrong.toml", 2, &says);
    }
    desk.refuses(
        "control",
        2,
        "
        servo --model nowhere.toml  => cannot read nowhere.toml
        servo                       => the loop has no plant: give --plant
        servo --plant 1/s           => the loop has no controller: give --pid
        servo --plant s^2/(s+1) --controller 1            => plant: 's^2/(s+1)' is improper
        servo --plant 1/s --pid 1,2                       => is not a PID controller
        servo --plant 1/s --pid 1,0,0 --controller 1      => cannot be used with
        servo --plant 1/s --controller 1 --noise=-1       => is not a valid intensity
        servo --plant 1/s --controller 1 --period 6       => is not a duration
        servo --plant 1/s --controller 1 --order oldest   => [possible values: newest, arrival]
        servo --plant 1/s --controller 1 --point 9        => no such point
        servo --plant 1/s --controller 9 --period 1s      => the loop is unstable without any delay
        servo --plant 1/s --controller 1 --require good   => a verdict: held, holds or proved
        servo --plant 1/s --controller 1 --require p99<1s => is not a figure of a control loop
        nothing --plant 1/s --controller 1                => cannot find a run `nothing`
        ",
    );
    let limit = "=> requires the model of a control loop";
    desk.refuses("exchange null:// --require control.cost<20", 2, limit);
}

#[test]
fn a_run_without_a_period_needs_one() {
    let desk = Desk::new();
    store(&desk, "fast", Schedule::AsFastAsPossible, &[(1, trace(50))]);
    desk.fails(
        &format!("control fast {SERVO}"),
        2,
        &["the loop has no period: give --period"],
    );
    // That of the model is enough.
    fs::write(desk.path("loop.toml"), SERVO_FILE).expect("a file");
    desk.output("control fast --model loop.toml");
}

#[test]
fn a_run_without_any_answer_has_nothing_to_compute_with() {
    let desk = Desk::new();
    let every = Schedule::EveryNs(6 * MS);
    store(&desk, "lost", every, &[(1, vec![None; 50])]);
    desk.wiregauge(&format!("control lost {SERVO}"))
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("no exchange was answered correctly, so"));
    store(&desk, "late", every, &[(1, trace(50))]);
    desk.fails(
        &format!("control late --deadline 100us {SERVO}"),
        2,
        &[
            "within the deadline of 100µs, so there is no delay",
            "use a longer --deadline",
        ],
    );
    // Each response 100 periods late: computing it would take minutes.
    store(&desk, "behind", every, &[(1, vec![Some(600 * MS); 300])]);
    desk.wiregauge(&format!("control behind {SERVO}"))
        .assert()
        .code(2)
        .stdout("")
        .stderr(
            contains("up to 100 commands are outstanding together").and(contains("--deadline")),
        );
}

#[test]
fn a_stream_is_refused_with_what_to_measure_and_a_loop_which_takes_no_requests_without() {
    let desk = Desk::new();
    desk.output("stream null:// --direction in --settle 10ms --duration 500ms");
    desk.fails(
        &format!("control last --period 1ms {SERVO}"),
        2,
        &["a stream run", "wiregauge exchange null:// --interval"],
    );
    if !cfg!(feature = "loop") {
        return;
    }
    desk.output("loop virtual --duration 100ms");
    let control = format!("control last --period 1ms {SERVO}");
    for command in [control.as_str(), "explain last"] {
        desk.wiregauge(command)
            .assert()
            .code(2)
            .stderr(contains("is a loop run").and(contains("hint").not()));
    }
}

#[test]
fn the_page_of_a_run_has_the_loop_and_its_figures_are_files_too() {
    let desk = Desk::new();
    on_schedule(&desk);
    fs::write(desk.path("loop.toml"), SERVO_FILE).expect("a file");
    desk.output(
        "report servo --model loop.toml --on-miss skip -o page.html --figures drawn --format svg",
    );
    let page = fs::read_to_string(desk.path("page.html")).expect("a page");
    for words in [
        "<h2>Control loop</h2>",
        "<caption>Verdicts; cost on this trace",
        "ON THIS TRACE: measured delays in their order",
        "Step response",
        "<summary>Model file loop.toml</summary>",
        "pid = [0.96, 0, 0.049]",
        "--on-miss skip",
    ] {
        assert!(page.contains(words), "{words}");
    }
    for figure in ["control-step", "control-cost", "rtt-series"] {
        assert!(
            desk.path(&format!("drawn/{figure}.svg")).exists(),
            "{figure}"
        );
    }
    // The first sentence is that of `wiregauge control`.
    let printed = desk.output("control servo --model loop.toml --on-miss skip");
    let answer = printed.split("\n\n").nth(1).expect("an answer");
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answer.starts_with("The loop "), "{printed}");
    let page = page.replace('\u{a0}', " ");
    let (_, headline) = page.split_once("<p class=\"answer\">").expect("a headline");
    assert!(headline.starts_with(&answer), "{answer}");
    // Without a loop there is no section.
    desk.output("report servo -o plain.html");
    let page = fs::read_to_string(desk.path("plain.html")).expect("a page");
    assert!(!page.contains("Control loop"));
}

/// A response that the loop ignores is one that its cycle missed.
#[test]
fn a_page_with_a_loop_counts_the_missed_cycles_of_that_loop() {
    let desk = Desk::new();
    on_schedule(&desk);
    let page = |flags: &str| desk.output(&format!("report servo {SERVO} {flags} -o -"));
    let section = |page: &str| {
        let (_, section) = page
            .split_once("<section id=\"deadline\">")
            .expect("missed cycles");
        let section = section.split("</section>").next().unwrap_or_default();
        section.to_owned()
    };
    let of_loop = section(&page("--deadline 4ms"));
    assert!(
        of_loop.contains("cycles of 6 ms missed their deadline of 4 ms"),
        "{of_loop}"
    );
    std::fs::write(
        desk.path("loop.toml"),
        format!("{SERVO_FILE}[misses]\ndeadline = '3ms'\n"),
    )
    .expect("written");
    let of_file = desk.output("report servo --model loop.toml --period 12ms -o -");
    let of_file = section(&of_file);
    assert!(
        of_file.contains("cycles of 12 ms missed their deadline of 3 ms"),
        "{of_file}"
    );
    // Of a loop that waits for each response, the cycles cannot be counted with a later deadline; the loop can use one.
    let late = desk.wiregauge(&format!(
        "report servo {SERVO} --period 3ms --deadline 9ms -o -"
    ));
    let late = { late }.assert().success().stderr(contains(
        "warning: servo: cannot count missed cycles of the loop: a deadline of 9ms with a period of 3ms",
    ));
    let late = section(&String::from_utf8_lossy(&late.get_output().stdout));
    assert!(
        late.contains("cycles of 6 ms missed their deadline, the end of the cycle"),
        "{late}"
    );
}

#[test]
fn a_page_with_a_loop_refuses_what_control_refuses_and_names_the_run() {
    let desk = Desk::new();
    on_schedule(&desk);
    store(&desk, "fast", Schedule::AsFastAsPossible, &[(1, trace(50))]);
    let every = Schedule::EveryNs(6 * MS);
    store(&desk, "lost", every, &[(1, vec![None; 50])]);
    desk.output("stream null:// --direction in --settle 10ms --duration 500ms --store flow");
    desk.refuses(
        "report",
        2,
        "
        servo fast --plant 1/s --pid 1,0,0    => fast: the loop has no period: give --period
        lost --plant 1/s --pid 1,0,0          => lost: no exchange was answered correctly
        servo ./flow --plant 1/s --pid 1,0,0  => cannot compute a control loop with flow: it is a stream run
        servo --plant 1/s --controller 9 --period 1s => servo: the loop is unstable without any delay
        servo --period 6ms --noise 2          => the loop has no plant: give --plant
        ",
    );
    // Nothing was written.
    assert!(!desk.path("report.html").exists());
    assert!(!desk.runs().join("servo/report.html").exists());
}

#[test]
fn a_run_that_was_just_measured_is_assessed() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    desk.measure(&server.address, "--interval 6ms --count 100");
    let printed = desk.json(&format!("control last --json {SERVO}"));
    assert_eq!(printed["points"][0]["cycles"], 100);
}

#[test]
fn a_required_figure_or_verdict_that_is_missed_is_exit_code_1_with_what_was_found() {
    let desk = Desk::new();
    store(
        &desk,
        "servo",
        Schedule::EveryNs(6 * MS),
        &[(1, trace(2000))],
    );
    let run = |limits: &str| {
        let mut program = desk.command(&format!("control servo --json {SERVO}"));
        let output = (program.args(["--require", limits]).output()).expect("the program runs");
        let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let said = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), printed, said)
    };
    let (code, printed, said) = run("control.cost<1000, control.growth < 1,held,holds");
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert_eq!(printed["require"].as_array().map(Vec::len), Some(4));
    assert_eq!(printed["missed_limits"], Value::Array(Vec::new()));

    let found = &printed["points"][0]["assessment"]["on_trace"];
    let high = found["interval"]["high"].as_f64().expect("a bound");
    let low = found["interval"]["low"].as_f64().expect("a bound");
    let growth = found["growth"].as_f64().expect("a growth");
    let within = (low + high) / 2.0;
    for (limit, how) in [
        (format!("control.cost<{low}"), "missed"),
        (format!("control.cost<{within}"), "undecided"),
        (format!("control.growth<{growth}"), "missed"),
    ] {
        let (code, printed, said) = run(&limit);
        assert_eq!(code, Some(1), "{limit}: {said}");
        assert!(said.contains(&format!("limit {how}: {limit}: ")), "{said}");
        let missed = printed["missed_limits"].as_array().expect("a list");
        let begin = match how {
            "missed" => format!("{limit}: "),
            _ => format!("{how}: {limit}: "),
        };
        assert!(
            matches!(&missed[..], [Value::String(one)] if one.starts_with(&begin)),
            "{printed}"
        );
    }
}

#[test]
fn a_limit_on_the_cost_is_undecided_in_a_run_without_an_interval() {
    let desk = Desk::new();
    let mut delays = trace(60);
    delays[30] = Some(40 * MS);
    store(&desk, "short", Schedule::EveryNs(6 * MS), &[(1, delays)]);
    desk.fails(
        &format!("control short {SERVO} --require control.cost<1000"),
        1,
        &["limit undecided: control.cost<1000: ", "use a longer run"],
    );
    desk.fails(
        &format!("control short {SERVO} --require holds"),
        1,
        &["limit undecided: holds: in the long run: no statement"],
    );
    desk.fails(
        &format!("control short {SERVO} --require proved"),
        1,
        &["limit missed: proved: in any order: broken"],
    );
}

#[test]
fn a_point_without_a_response_misses_every_limit() {
    let desk = Desk::new();
    let points = [(1, trace(300)), (2, vec![None; 300])];
    store(&desk, "half", Schedule::EveryNs(6 * MS), &points);
    desk.fails(
        &format!("control half {SERVO} --require held"),
        1,
        &["limit missed: held: no response arrived in time at depth 2"],
    );
}
