//! `wiregauge tune`: the optimum that theory demands is found, confirmed by a run that stays, and
//! nothing that is not shown is passed over in silence.

use crate::common;

use common::{Background, Desk, Ended, has_all};
use serde_json::Value;

/// Tunes, and gives what it printed as JSON with how it ended.
pub fn tune(desk: &Desk, address: &str, flags: &str) -> (Value, Ended) {
    let words = format!("tune {address} --no-calibration --json {flags}");
    let ended = Background::start(&mut desk.command(&words)).ended();
    let printed = serde_json::from_str(&ended.stdout);
    (
        printed.unwrap_or_else(|error| panic!("no JSON ({error}): {ended}")),
        ended,
    )
}

/// What it found, where it must find something and show all of it.
pub fn found(desk: &Desk, address: &str, flags: &str) -> Value {
    let (printed, ended) = tune(desk, address, flags);
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(printed["ended"], "complete");
    assert_eq!(printed["best"]["confirmed"], true);
    printed
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn probes(printed: &Value) -> &Vec<Value> {
    printed["probes"].as_array().expect("a list of probes")
}

#[test]
fn the_largest_size_carries_the_most_where_each_exchange_costs_the_same() {
    let desk = Desk::new();
    // A probe takes 50 ms: a host that stops for some seconds does not outweigh a size of 64 times as much.
    let server = desk.serve("tcp://:0 --service-time 5ms");
    let flags = "--maximise in-throughput --in 64,256,1k,64k --depth 1,2 --count 150 --timeout 10s";
    let printed = found(&desk, &server.address, flags);
    assert_eq!(printed["best"]["in_bytes"], 65536, "{printed:#}");
    assert_eq!(printed["objective"]["figure"], "in-throughput");
    let objective = &printed["best"]["objective"];
    // On a busy machine the samples may depend on each other too much for an interval.
    let value = number(&objective["value"]);
    assert!(objective["low"].as_f64().is_none_or(|low| low <= value));
    assert!(objective["high"].as_f64().is_none_or(|high| value <= high));
    // 8 settings of 150 exchanges.
    assert_eq!(printed["exhaustive"], 1200);
    let mut front = printed["front"].as_array().expect("the front").iter();
    let chosen = front.find(|row| row["is_best"] == true);
    // Its figures are those of the run that confirmed it, not those of a probe.
    let chosen = chosen.expect("the chosen one");
    assert_eq!(chosen["confirmed"], true, "{printed:#}");
    assert_eq!(chosen["n"], printed["best"]["exchanges"], "{printed:#}");
    assert!(number(&printed["spent"]) <= 0.5 * 1200.0, "{printed:#}");
    let spent: f64 = probes(&printed)
        .iter()
        .map(|p| number(&p["exchanges"]))
        .sum();
    assert_eq!(spent, number(&printed["spent"]));
}

#[test]
fn each_trade_off_says_whether_it_is_confirmed_and_how_many_exchanges_are_behind_it() {
    let desk = Desk::new();
    let server = desk.serve("pty: --bus full-speed --service-time 700us");
    // So different that a busy machine does not change which is faster.
    let flags =
        "--maximise in-throughput --in 48,60000 --depth 1 --count 100 --confirm 120 --timeout 20s";
    let words = format!("tune {} --no-calibration {flags}", server.address);
    let said = desk.output(&words);
    let table = said.split("Best measured trade-offs").nth(1);
    let table = table.unwrap_or_else(|| panic!("no trade-offs: {said}"));
    let row = |size: &str| {
        let found = table.lines().find(|line| line.contains(size));
        found.unwrap_or_else(|| panic!("no row of {size}: {said}"))
    };
    let header: Vec<&str> = row("exchanges/s").split_whitespace().collect();
    assert!(header.ends_with(&["n", "measured", "by", "note"]), "{said}");
    // The direction is that of the objective, as in the first line.
    assert!(
        table
            .lines()
            .next()
            .is_some_and(|title| title.ends_with("throughput IN")),
        "{said}"
    );
    let (small, large) = (row("IN 48 B"), row("IN 60,000 B"));
    assert!(small.contains("  probe"), "{said}");
    assert!(large.contains("  120  confirmation  chosen"), "{said}");
    assert!(
        table.contains("Only confirmed rows are reliable results."),
        "{said}"
    );
}

#[test]
fn what_no_setting_keeps_is_reported_with_the_nearest_and_exit_code_1() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 3ms");
    let address = &server.address;
    let flags = "--maximise exchanges --depth 1..4 --count 300 --subject-to p50<1ms";
    let (printed, ended) = tune(&desk, address, flags);
    assert_eq!(ended.code, Some(1), "{ended}");
    // On a busy machine the run may be too dependent to prove it; the value is beyond the limit in any case.
    let verdict = match printed["best"]["constraints"][0]["verdict"].as_str() {
        Some("violated") => "limit missed: p50<1ms: ",
        _ => "limit undecided: p50<1ms: ",
    };
    assert!(ended.stderr.contains(verdict), "{ended}");
    let value = &printed["best"]["constraints"][0]["found"]["value"];
    assert!(number(value) > 1e6, "{ended}");
    // Nothing is nearer to it than one at a time.
    assert_eq!(printed["best"]["depth"], 1, "{printed:#}");
    let words = format!("tune {address} --no-calibration {flags}");
    let ended = Background::start(&mut desk.command(&words)).ended();
    assert_eq!(ended.code, Some(1), "{ended}");
    let first = ended.stdout.lines().next().unwrap_or_default();
    let verdict = match first.starts_with("no setting meets all constraints; ") {
        true => "missed",
        false => "undecided",
    };
    assert!(ended.stdout.contains(verdict), "{ended}");
    assert!(
        first.contains(" all constraints; the closest one confirmed: "),
        "{ended}"
    );
    assert!(!ended.stdout.contains("best:"), "{ended}");
}

#[test]
fn a_confirmation_is_as_long_as_count_however_few_settings_there_are() {
    let desk = Desk::new();
    let flags = "--minimise trt --depth 1 --wait block,poll --count 300";
    let printed = found(&desk, "null://", flags);
    assert_eq!(printed["best"]["exchanges"], 300, "{printed:#}");
}

#[test]
fn each_way_to_wait_that_was_searched_has_a_row_and_the_chosen_one_is_named() {
    let desk = Desk::new();
    let flags = "--minimise rtt.p99 --depth 1 --wait block,poll --count 300";
    let said = desk.output(&format!("tune null:// --no-calibration {flags}"));
    let table = said.split("Best measured trade-offs").nth(1);
    let table = table.unwrap_or_else(|| panic!("no trade-offs: {said}"));
    for wait in ["wait block", "wait poll"] {
        let mut lines = table.lines().filter(|line| line.contains(wait));
        let marked = lines.any(|line| line.contains("best with this --wait and --connect"));
        assert!(marked, "{wait}: {said}");
    }
    let usage = said.split("How to use it").nth(1).expect("how to use it");
    has_all(usage, &["--wait ", "wait=\"", "WG_WAIT_"]);
}

#[test]
fn the_rate_of_the_choice_is_that_of_the_run_that_confirms_it() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 2ms");
    let flags = "--maximise in-throughput --subject-to in-throughput>=1kB/s --in 64,128 --depth 4 --count 40 --confirm 60";
    let (printed, _) = tune(&desk, &server.address, flags);
    let run = printed["run"].as_str().expect("a directory");
    let run = desk.json(&format!("show {run} --json"));
    let rate = number(&run["points"][0]["throughput"]["in_bytes_s"]);
    // The time in which the last responses come in counts, as in `show` and `report`.
    assert_eq!(number(&printed["best"]["objective"]["value"]), rate);
    let verdict = &printed["best"]["constraints"][0];
    assert_eq!(number(&verdict["found"]["value"]), rate, "{verdict}");
}

#[test]
fn the_run_that_confirms_is_stored_whole_and_its_command_repeats_it() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let words = format!(
        "tune {} --minimise trt --in 64,128 --depth 1,2 --count 100 --confirm 150",
        server.address
    );
    let said = desk.output(&words);
    has_all(
        &said,
        &[
            "best: OUT 16 B",
            "Confirmed by a new run of 150 exchanges",
            "How to use it",
        ],
    );
    assert_eq!(desk.stored().len(), 1);
    let shown = desk.output("show last --full");
    has_all(&shown, &["RTT in ", "without the device"]);
    let run = desk.json("show last --format json");
    assert_eq!(run["points"].as_array().map(Vec::len), Some(1));
    assert_eq!(run["points"][0]["counts"]["exchanges"], 150);
    assert_eq!(run["conditions"]["command"][1], "tune");
    let dir = desk.runs().join(&desk.stored()[0]);
    let beside = std::fs::read_to_string(dir.join("tune.json")).expect("tune.json");
    let printed: Value = serde_json::from_str(&beside).expect("JSON");
    assert_eq!(
        printed["best"]["in_bytes"],
        run["points"][0]["point"]["in_bytes"]
    );

    let command = printed["use"]["command"].as_array().expect("words");
    let words: Vec<&str> = command.iter().filter_map(Value::as_str).collect();
    assert_eq!(words[0], "wiregauge");
    desk.output(&format!("{} --count 10", words[1..].join(" ")));
}

#[test]
fn runs_are_kept_where_and_only_if_the_user_wants() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let address = &server.address;
    let flags = "--minimise trt --depth 1,2 --count 50";
    let printed = found(&desk, address, &format!("{flags} --no-store"));
    assert!(
        printed["run"].is_string() && desk.stored().is_empty(),
        "{printed:#}"
    );
    found(&desk, address, &format!("{flags} --store here"));
    desk.wiregauge("show here").assert().success();
    assert!(desk.path("here/tune.json").exists());
    assert!(desk.stored().is_empty());
}

#[test]
fn an_echo_has_one_size_for_both_ways() {
    let desk = Desk::new();
    let server = desk.serve("udp://:0 --protocol echo --service-time 2ms");
    let flags = "--maximise throughput --protocol echo --out 32..1k --depth 1,2 --count 50";
    let printed = found(&desk, &server.address, flags);
    let best = &printed["best"];
    assert_eq!(best["out_bytes"], best["in_bytes"]);
    // Twice the size is twice as much; a host that stops for a while outweighs one probe, but not all of them.
    assert!(best["out_bytes"].as_u64() >= Some(128), "{printed:#}");
    let python = printed["use"]["python"].as_str().expect("a text");
    assert!(python.contains("framing=wg.Raw()"), "{python}");
    let matlab = printed["use"]["matlab"].as_str().expect("a text");
    assert!(matlab.contains("'Framing', 'raw'"), "{matlab}");
}

#[test]
fn a_stream_is_tuned_by_transfer_and_queue() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--maximise in-throughput --transfer 256,64k --duration 1s --confirm 1s \
                 --subject-to lost=0";
    let printed = found(&desk, &server.address, flags);
    assert_eq!(printed["kind"], "stream");
    assert_eq!(printed["best"]["direction"], "in");
    // Which of the two is faster is for the machine to say.
    let best = printed["best"]["transfer_bytes"].as_u64();
    let bytes = best.filter(|bytes| [256, 65536].contains(bytes));
    let bytes = bytes.unwrap_or_else(|| panic!("neither: {printed:#}"));
    let command = printed["use"]["command"].to_string();
    has_all(&command, &["stream", &bytes.to_string()]);
    let matlab = printed["use"]["matlab"].as_str().expect("a text");
    let call = format!("dev.readStream(bytes, {bytes}, ");
    assert!(matlab.contains(&call), "{matlab}");
    let run = desk.json("show last --format json");
    assert_eq!(run["kind"], "stream");
}

#[test]
fn sizes_that_the_device_cannot_take_are_left_out_and_told() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --max-size 512 --service-time 300us");
    let flags = "--maximise in-throughput --in 64..4k --depth 1 --count 10";
    let (printed, ended) = tune(&desk, &server.address, flags);
    assert_eq!(ended.code, Some(0), "{ended}");
    assert!(ended.stderr.contains("supports --in up to 512"), "{ended}");
    assert!(
        printed["best"]["in_bytes"].as_u64() <= Some(512),
        "{printed:#}"
    );
}
