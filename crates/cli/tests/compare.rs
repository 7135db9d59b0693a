//! Runs that were measured by the real program, compared by the real program.

use crate::common;
#[path = "../../report/tests/common/mod.rs"]
pub mod made;

use common::{Desk, has_all};
use predicates::prelude::*;
use predicates::str::{contains, is_match};
use serde_json::Value;
use wiregauge_record::{Calibration, Conditions, Floor, Responder, Sample, Status};
use wiregauge_stats::Series;

/// Measures a run under this name.
fn measured(desk: &Desk, name: &str, command: &str) {
    desk.output(&format!("{command} --store {} --quiet", desk.text(name)));
}

fn exchanged(desk: &Desk, name: &str, address: &str, flags: &str) {
    let command = format!("exchange {address} --no-calibration {flags}");
    measured(desk, name, &command);
}

/// The figure of this name at the point at this place.
fn figure<'a>(comparison: &'a Value, point: usize, name: &str) -> &'a Value {
    let figures = comparison["points"][point]["figures"].as_array();
    let mut figures = figures.expect("figures").iter();
    let found = figures.find(|figure| figure["figure"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {comparison}"))
}

/// A command with a condition, which has blanks in it.
fn compared(desk: &Desk, arguments: &str, conditions: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = desk.wiregauge(&format!("compare {arguments}"));
    for condition in conditions {
        command.args(["--fail-if", condition]);
    }
    command.assert()
}

/// Stores a run as `exchange` would: 16 B out, these sizes in, each exchange within 40 us above `shortest_us`.
fn made(desk: &Desk, name: &str, address: &str, sizes: [u32; 2], shortest_us: u64) {
    made_under(
        desk,
        name,
        address,
        sizes,
        shortest_us,
        &Conditions::default(),
    );
}

fn made_under(
    desk: &Desk,
    name: &str,
    address: &str,
    sizes: [u32; 2],
    shortest_us: u64,
    conditions: &Conditions,
) {
    let mut plan = made::plan(2);
    plan.address = address.to_owned();
    for (point, size) in plan.points.iter_mut().zip(sizes) {
        (point.depth, point.in_bytes) = (1, size);
    }
    made::exchange_run_with(&desk.path(name), &plan, conditions, |point| {
        let jittered = made::exchanges(1000, shortest_us + u64::from(point.in_bytes));
        jittered.scan(0, move |start_ns, sample| {
            let rtt_ns = shortest_us * 1000 + (sample.rtt_ns - 20_000) % 40_000;
            let (intended_ns, start_ns) =
                (*start_ns, std::mem::replace(start_ns, *start_ns + rtt_ns));
            let status = Status::Ok;
            Some(Sample {
                intended_ns,
                start_ns,
                rtt_ns,
                status,
                ..sample
            })
        })
    });
}

/// A host of this name and system whose own floor is `floor_us`.
fn host(name: &str, kernel: &str, floor_us: Option<f64>) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.host.name = name.to_owned();
    conditions.host.kernel = kernel.to_owned();
    conditions.before = floor_us.map(|us| {
        let mut rtts = Series::with_exact_limit(100);
        (0..100).for_each(|_| rtts.push((us * 1e3) as u64));
        let rtt = rtts.distribution().expect("100 samples");
        Calibration {
            floors: vec![Floor {
                name: "tcp echo on this host".to_owned(),
                bytes: 48,
                rtt,
            }],
            ..Calibration::default()
        }
    });
    conditions
}

#[test]
fn of_two_hosts_the_slower_is_named_and_how_much_of_that_is_its_floor() {
    let desk = Desk::new();
    let of = |name: &str, us: u64, conditions: &Conditions| {
        made_under(&desk, name, "tcp://device:1", [48, 1000], us, conditions);
    };
    of("linux", 500, &host("lab", "Linux 6.1.0 #1 SMP", Some(30.0)));
    of(
        "windows",
        900,
        &host("lab", "Windows 10.0.19045", Some(130.0)),
    );
    of("slow-floor", 900, &host("old", "Linux 6.1.0", Some(430.0)));
    of("same-floor", 900, &host("old", "Linux 6.1.0", Some(31.0)));
    of("no-floor", 900, &host("old", "Linux 6.1.0", None));
    of("again", 510, &host("lab", "Linux 6.1.0 #1 SMP", Some(29.0)));
    let says = |runs: &str, text: &str| {
        // In Markdown no line is wrapped.
        let said = compared(&desk, &format!("{runs} --format md"), &[]);
        said.success().stdout(is_match(text).unwrap());
    };
    let point = "at OUT 16 B, IN 48 B, depth 1: median RTT";
    says(
        "linux windows",
        &format!(
            r"lab \(Windows 10.0.19045\) is slower than lab \(Linux 6.1.0\) {point} 9\d\d.\d+ µs against 5\d\d.\d+ µs, \d+.\d+ µs more\.\n- Their floors \(tcp echo on this host\) are 130.0 µs and 30.00 µs: they account for 2\d(\.\d)? % of the difference\."
        ),
    );
    let printed = compared(&desk, "linux windows", &[]).success();
    printed.stdout(contains("is slower than").and(contains("Their floors")));
    // Whichever side it is on.
    says(
        "windows linux",
        r"lab \(Windows 10.0.19045\) is slower than lab \(Linux 6.1.0\)",
    );
    says(
        "linux slow-floor",
        r"old is slower than lab .*\n- .*430.0 µs and 30.00 µs: they account for the difference\.",
    );
    says(
        "linux same-floor",
        r"31.00 µs and 30.00 µs: they do not account for the difference\.",
    );
    says("linux no-floor", r"unknown: no floor was measured on both");
    // Two runs that scatter prove nothing of their host.
    says(
        "slow-floor linux,again",
        r"No significant difference between the hosts at .*: median RTT 904.\d+ µs from old, 50\d.\d+ µs from lab\.",
    );
    // One host twice, or several on a side, are no comparison of hosts.
    for runs in ["linux again", "linux,windows no-floor"] {
        compared(&desk, runs, &[])
            .success()
            .stdout(contains("is slower than").not());
    }
}

/// Stores a run of one point of these samples.
fn made_of(desk: &Desk, name: &str, conditions: &Conditions, samples: &[Sample]) {
    let mut plan = made::plan(1);
    plan.below_ns.clear();
    made::exchange_run_with(&desk.path(name), &plan, conditions, |_| {
        samples.iter().copied()
    });
}

/// A device with a clock of 1 MHz.
fn with_clock() -> Conditions {
    Conditions {
        responder: Some(Responder {
            tick_hz: 1_000_000,
            tick_bits: 32,
            ..Responder::default()
        }),
        ..Conditions::default()
    }
}

/// Exchanges of which the device takes this long and the rest some 200 us, the same every time.
fn with_device(device_us: u64) -> Vec<Sample> {
    let mut random = made::Random(7);
    let outcomes: Vec<(u64, Status)> = (0..1000)
        .map(|_| (device_us * 1000 + 200_000 + random.bits(16), Status::Ok))
        .collect();
    let mut samples = made::one_by_one(&outcomes);
    for sample in &mut samples {
        sample.device_tx_ticks = device_us;
    }
    samples
}

#[test]
fn a_change_without_interval_is_in_the_answer_and_in_the_table() {
    let desk = Desk::new();
    for (name, shortest_ns) in [("before", 2_000_000), ("after", 3_000_000)] {
        let outcomes: Vec<(u64, Status)> = (0..20)
            .map(|n| (shortest_ns + n * 1000, Status::Ok))
            .collect();
        made_of(
            &desk,
            name,
            &Conditions::default(),
            &made::one_by_one(&outcomes),
        );
    }
    for expected in [
        r"\n\np50 2\.009 to 3\.009 ms \(\+49\.78 %\): inconclusive, no interval\.\nAll 8 values are inconclusive",
        r"\n  p50 +2\.009 ms +3\.009 ms +\+49\.78 % +~ +inconclusive\n",
        r"\n  max +2\.019 ms +3\.019 ms +\+49\.53 % +- +-\n",
        r"\n  lost +0 % +0 % ",
        r"\n  ~ no 95 % interval: too few independent samples, or drift\n",
    ] {
        let said = compared(&desk, "before after", &[]).code(0);
        said.stdout(is_match(expected).unwrap());
    }
    let text = desk.output("compare before after");
    assert!(!text.contains("p90"), "{text}");
    assert!(desk.output("compare before after --full").contains("p90"));
    let page = desk
        .output("report before after -o -")
        .replace('\u{a0}', " ");
    let row = "<td>inconclusive</td><td>p50</td><td>2.009 ms</td><td>3.009 ms</td>";
    assert!(page.contains(row), "{row}");
}

#[test]
fn the_answer_says_which_part_took_longer_where_both_runs_measured_it() {
    let desk = Desk::new();
    made_of(&desk, "before", &with_clock(), &with_device(500));
    made_of(&desk, "after", &with_clock(), &with_device(1500));
    made_of(&desk, "blind", &Conditions::default(), &with_device(1500));
    let first =
        r"\n\np50 734\.\d [uµ]s to 1\.734 ms \(\+136\.\d %\): slower\.\np50 is 1\.000 ms longer";
    let parts = r": device \+1\.000 ms \(slower\), host and wire \+0 ns \(no\s+significant\s+difference\)\.\nOf 10";
    let said = compared(&desk, "before after", &[]).code(0);
    said.stdout(is_match(format!("{first}{parts}")).unwrap());
    let json = desk.json("compare before after --json");
    let verdict = |name: &str| figure(&json, 0, name)["verdict"].clone();
    assert_eq!(verdict("device.p50"), "worse");
    assert_eq!(verdict("host+wire.p50"), "no-difference-shown");
    compared(&desk, "before after", &["device.p50 > 5% worse"]).code(1);
    compared(&desk, "before after", &["host+wire.p50 > 50% worse"]).code(0);
    // Without a clock on both sides nothing is claimed.
    let said = compared(&desk, "before blind", &[]).code(0);
    said.stdout(is_match(format!(r"{first}; where: not known\.\nOf 8 values")).unwrap());
    compared(&desk, "before blind", &["device.p50 > 5% worse"])
        .code(2)
        .stderr(contains("have no device.p50"));
    compared(&desk, "before after", &["max > 5% worse"])
        .code(2)
        .stderr(contains("max has no interval, so no verdict"));
}

#[test]
fn a_device_that_takes_longer_is_found_to_be_slower() {
    let desk = Desk::new();
    made(&desk, "before", "tcp://device:1", [48, 1000], 500);
    made(&desk, "after", "tcp://device:2", [1000, 48], 900);
    let worse = compared(&desk, "before after", &["p50 > 5% worse"]);
    // The verdict has the words of the table, and the number of runs comes directly after it.
    let slower = is_match(
        r"(?s)values: slower [1-9]\d*, faster 0[^.]*\.\nOne run per side: .*Other differences",
    )
    .unwrap()
    .and(contains(" worse").not())
    .and(contains("address"));
    worse
        .code(1)
        .stdout(slower)
        .stderr(contains("condition met: p50 > 5% worse: OUT 16 B, IN 48 B"));
    // Nothing got better, and at no size.
    compared(&desk, "before after", &["in=48: p50 > 5% better"]).code(0);
    compared(&desk, "after before", &["p50 > 5% better"]).code(1);
    compared(
        &desk,
        "before after",
        &["exchanges > 5% worse", "throughput > 5% worse"],
    )
    .code(1);
    compared(&desk, "before after", &["p50 > 500% worse"]).code(0);
    let json = desk.json("compare before after --json");
    for point in 0..2 {
        let p50 = figure(&json, point, "p50");
        assert_eq!(p50["verdict"], "worse", "{p50}");
        let change = p50["difference"]["relative"]["value"].as_f64();
        assert!(change > Some(0.2), "{p50}");
    }
    // Points are matched by what was asked: the sizes stand the other way round in the second run.
    assert_eq!(json["points"][0]["point"]["in"], "48");
    assert_eq!(json["unmatched"].as_array().map(Vec::len), Some(0));
}

#[test]
fn the_same_run_twice_shows_no_difference() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    exchanged(
        &desk,
        "run",
        &server.address,
        "--depth 1,4 --count 500 --below 50ms",
    );
    let conditions = [
        "mean > 0% different",
        "lost > 0% different",
        "below(50ms) > 0% different",
    ];
    let equal = compared(&desk, "run run --undecided pass", &conditions);
    equal
        .code(0)
        .stdout(
            is_match(r"No significant difference in (22|\d+ of 22) values[^.]*\.\nOne run per side: the intervals")
                .unwrap(),
        );
    let json = desk.json("compare run run --json");
    // Eight figures, --below, the device and the rest; the longest has no interval.
    assert_eq!(json["compared"], 22);
    assert_eq!(json["changed"], serde_json::json!([]));
    for point in 0..2 {
        let mean = figure(&json, point, "mean");
        assert_eq!(mean["difference"]["absolute"]["value"], 0.0);
    }
    // The same every time, to the last bit.
    let again = desk.json("compare run run --json");
    assert_eq!(json, again);
}

#[test]
fn the_figures_are_those_of_the_table_and_losses_are_one_of_them() {
    let desk = Desk::new();
    let flags = "--count 200 --timeout 100ms --give-up 200";
    let sound = desk.serve("udp://:0 --service-time 2ms");
    exchanged(&desk, "sound", &sound.address, flags);
    let lossy = desk.serve("udp://:0 --drop 20%");
    exchanged(&desk, "lossy", &lossy.address, flags);
    let json = desk.json("compare sound lossy --json");
    let stored = desk.json("show lossy --json");
    let point = &stored["points"][0];
    for (name, shown) in [
        ("p50", &point["rtt"]["p50"]["value"]),
        ("p99", &point["rtt"]["p99"]["value"]),
        ("max", &point["rtt"]["max"]),
        ("exchanges", &point["throughput"]["exchanges_s"]),
    ] {
        let compared = figure(&json, 0, name);
        assert_eq!(
            &compared["difference"]["after"]["value"], shown,
            "{compared}"
        );
    }
    assert_eq!(figure(&json, 0, "lost")["verdict"], "worse");
    let said = compared(&desk, "sound lossy --format md", &[]).code(0);
    let loses = r"; lost 0 to [\d.]+ % \(\+[\d.]+ points\): loses more\.\*\*";
    said.stdout(is_match(loses).unwrap());
    let notes = json["notes"].to_string();
    has_all(
        &notes,
        &["of 200 exchanges got no correct response in time; times are of the others"],
    );
    assert!(!notes.contains("the timeouts differ"), "{notes}");
    let flags = "--count 200 --timeout 50ms --give-up 200";
    exchanged(&desk, "sooner", &lossy.address, flags);
    let json = desk.json("compare lossy sooner --json");
    let notes = json["notes"].to_string();
    has_all(
        &notes,
        &["the timeouts differ (100 ms; 50 ms): a shorter one loses responses"],
    );
    compared(&desk, "sound lossy", &["lost > 5% more"]).code(1);
    compared(&desk, "sound lossy", &["lost > 5% worse"]).code(1);
    compared(&desk, "sound lossy", &["lost > 90% more", "lost > 1% less"]).code(0);
}

#[test]
fn times_count_from_the_intended_start_only_if_all_runs_have_a_schedule() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 1ms");
    exchanged(&desk, "free", &server.address, "--count 100");
    // A schedule that the device cannot keep, so intended starts come long before the actual ones.
    for name in ["every", "again"] {
        exchanged(&desk, name, &server.address, "--count 100 --interval 500us");
    }
    let after = |json: &Value| figure(json, 0, "p50")["difference"]["after"]["value"].clone();
    let stored = desk.json("show every --json");
    let of = |times: &str| stored["points"][0][times]["p50"]["value"].clone();
    assert_ne!(of("rtt"), of("from_intended"));
    let mixed = desk.json("compare free every --json");
    assert_eq!(after(&mixed), of("rtt"));
    let notes = mixed["notes"].to_string();
    has_all(
        &notes,
        &[
            "the schedules differ (as fast as possible; one every 500 us): they determine TRT and throughput, and times \
             count from the actual start",
        ],
    );
    let both = desk.json("compare again every --json");
    assert_eq!(after(&both), of("from_intended"));
    // The pace of different schedules is no result.
    let figures = |json: &Value| json["points"][0]["figures"].to_string();
    for name in ["\"trt\"", "\"exchanges\""] {
        assert!(figures(&both).contains(name), "{both}");
        assert!(!figures(&mixed).contains(name), "{mixed}");
    }
    assert!(!both["notes"].to_string().contains("schedules"), "{both}");
}

#[test]
fn several_runs_a_side_tell_how_runs_scatter() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 300us");
    for name in ["a1", "a2", "b1", "b2"] {
        exchanged(&desk, name, &server.address, "--count 300");
    }
    let json = desk.json("compare a1,a2 b1,b2 --only p50 --json");
    assert_eq!(json["compared"], 1);
    assert!(figure(&json, 0, "p50")["difference"]["between_runs"].is_number());
    assert_eq!(json["before"].as_array().map(Vec::len), Some(2));
    let twice = desk.wiregauge("compare a1,a1 b1").assert();
    twice.code(2).stderr(contains("it is one run, not two"));
}

#[test]
fn streams_are_compared_way_by_way() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let stream = format!(
        "stream {} --direction in,both --transfer 4k --settle 20ms --duration 600ms --rate 1MB/s",
        server.address
    );
    measured(&desk, "one", &stream);
    measured(&desk, "two", &stream);
    let json = desk.json("compare one two --json");
    assert_eq!(json["kind"], "stream");
    // IN alone, and both ways at once.
    assert_eq!(json["points"].as_array().map(Vec::len), Some(3));
    for name in [
        "throughput",
        "gap.p50",
        "transfer.p99",
        "lost",
        "buffer(1MB/s)",
    ] {
        figure(&json, 0, name);
    }
    compared(
        &desk,
        "one one --undecided pass",
        &[
            "rate > 0% different",
            "way=in: gap.p99 > 0% worse",
            "gap.mean > 0% worse",
        ],
    )
    .code(0);
    compared(&desk, "one two", &["p99 > 5% worse"])
        .code(2)
        .stderr(contains("runs of kind stream have no p99"));
    exchanged(&desk, "exchanges", &server.address, "--count 20");
    let kinds = desk.wiregauge("compare one exchanges").assert();
    kinds
        .code(2)
        .stderr(contains("`stream`").and(contains("`exchange`")));
}

#[test]
fn a_condition_on_a_figure_that_only_leaves_out_says_so() {
    let desk = Desk::new();
    made(&desk, "one", "tcp://127.0.0.1:7700", [48, 96], 100);
    let left_out = "it needs p99, which --only leaves out\n  hint: add p99 to --only";
    compared(&desk, "one one --only p50", &["p99 > 5% worse"])
        .code(2)
        .stderr(contains(left_out).and(contains("have no p99").not()));
    compared(&desk, "one one --only p50,p99", &["p99 > 500% worse"]).code(0);
    // What these runs do not have is not left out by --only.
    compared(&desk, "one one --only p50", &["gap.p99 > 5% worse"])
        .code(2)
        .stderr(contains("have no gap.p99"));
}

#[test]
fn points_that_one_side_lacks_are_named_and_undecided() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    exchanged(&desk, "long", &server.address, "--depth 1,2 --count 200");
    exchanged(&desk, "short", &server.address, "--depth 1 --count 200");
    exchanged(&desk, "other", &server.address, "--depth 8 --count 200");
    let conditions = &["p50 > 1000% worse"];
    compared(&desk, "long short --undecided pass", conditions).code(0);
    let found = compared(&desk, "long short", conditions);
    let named = contains("OUT 16 B, IN 48 B, depth 2 was not compared: short did not measure it");
    found
        .code(1)
        .stdout(named)
        .stderr(contains("condition undecided: ").and(contains("depth 2")));
    let apart = desk.wiregauge("compare long other").assert();
    apart
        .code(2)
        .stderr(contains("no point was measured on both sides"));
    compared(&desk, "long short", &["depth=2: p50 > 5% worse"])
        .code(2)
        .stderr(contains("no compared point matches"));
}

#[test]
fn bad_input_says_what_is_wrong() {
    let desk = Desk::new();
    made(&desk, "run", "tcp://device:1", [48, 96], 100);
    for (condition, why) in [
        ("p98 > 5% worse", "unknown figure `p98`"),
        ("size=1: p99 > 5% worse", "no compared point matches"),
    ] {
        let refused = compared(&desk, "run run", &[condition]).code(2);
        refused.stderr(contains(why));
    }
    desk.refuses(
        "compare ./run",
        2,
        "
        nothing              => cannot find a run `nothing`
        ./run --only p98     => unknown figure `p98`
        ./run --only gap.p50 => of kind `exchange`
        ",
    );
    // Nine samples tell nothing, and say so.
    let server = desk.serve("tcp://:0");
    exchanged(&desk, "few", &server.address, "--count 9");
    let few = compared(&desk, "few few", &[]).code(0);
    few.stdout(contains("too few independent samples, or drift"))
        .stdout(contains("both sides are the same run, "));
    compared(&desk, "few few", &["p99 > 5% worse"])
        .code(1)
        .stderr(contains(
            "(no interval): too few independent samples, or drift",
        ))
        .stderr(contains("unknown").not());
}
