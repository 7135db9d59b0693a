//! `wiregauge tune`: the optimum that theory demands is found, confirmed by a run that stays, and
//! nothing that is not shown is passed over in silence.

use crate::common;

use common::{Background, Desk, Ended};
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

/// The shortest TRT that a probe saw at some depth.
fn trt_at(printed: &Value, depth: u64) -> f64 {
    let here = probes(printed)
        .iter()
        .filter(|probe| probe["depth"] == depth);
    here.map(|probe| number(&probe["trt_ns"]))
        .fold(f64::INFINITY, f64::min)
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
    assert!(number(&printed["spent"]) <= 0.5 * 1200.0, "{printed:#}");
    let spent: f64 = probes(&printed)
        .iter()
        .map(|p| number(&p["exchanges"]))
        .sum();
    assert_eq!(spent, number(&printed["spent"]));
}

#[test]
fn requests_ahead_hide_the_bus_until_the_device_is_busy_all_the_time() {
    let desk = Desk::new();
    let server = desk.serve("pty: --bus full-speed --service-time 700us");
    let flags = "--minimise trt --in 48 --depth 1..8 --count 200";
    let printed = found(&desk, &server.address, flags);
    let depth = printed["best"]["depth"].as_u64().expect("a depth");
    assert!(depth >= 2, "{printed:#}");
    // Of all that were measured, because a host that stops makes any single one longer.
    let ahead = (2..=8).map(|depth| trt_at(&printed, depth));
    let ahead = ahead.fold(f64::INFINITY, f64::min);
    assert!(ahead < 0.75 * trt_at(&printed, 1), "{printed:#}");
    // A model that does not fit gives no reason, nor does a choice that a probe refutes.
    let fits = printed["model"]["worst"].as_f64() <= Some(0.5);
    let is_refuted = printed["better_probe"].is_object();
    let why = printed["why"].as_array().expect("reasons");
    assert!(!fits || is_refuted || !why.is_empty(), "{printed:#}");
    assert!(printed["knee"]["depth"].is_u64());
    let front = printed["front"].as_array().expect("the front");
    assert!(front.len() > 1, "{printed:#}");
    let chosen = front.iter().find(|row| row["is_best"] == true);
    let chosen = chosen.expect("the chosen one");
    // Its figures are those of the run that confirmed it, not those of a probe.
    assert_eq!(chosen["confirmed"], true, "{printed:#}");
    assert_eq!(chosen["n"], printed["best"]["exchanges"], "{printed:#}");
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
fn a_constraint_on_the_answers_forbids_the_depth_at_which_they_wait_too_long() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 6ms");
    let flags = "--maximise achieved-depth --depth 1..10 --count 100 --timeout 10s \
                 --subject-to p50<28ms,lost=0";
    let (printed, ended) = tune(&desk, &server.address, flags);
    let depth = printed["best"]["depth"].as_u64().expect("a depth");
    // Each waits for those before it: with five, half of them take 30 ms at least.
    assert!((1..=4).contains(&depth), "{printed:#}");
    let verdicts = printed["best"]["constraints"].as_array().expect("verdicts");
    assert_eq!(verdicts.len(), 2);
    assert_eq!(verdicts[1]["verdict"], "met", "{printed:#}");
    // On a busy machine the samples may depend on each other too much for an interval.
    let high = verdicts[0]["found"]["high"].as_f64();
    let is_kept = high.is_some_and(|high| high < 28e6);
    assert_eq!(verdicts[0]["verdict"] == "met", is_kept, "{printed:#}");
    assert_eq!(ended.code, Some(i32::from(!is_kept)), "{ended}");
    let missed = printed["missed"].as_array().map(Vec::len);
    assert_eq!(missed, Some(usize::from(!is_kept)), "{printed:#}");
    let is_quick = trt_at(&printed, 1) < 9e6;
    assert!(depth >= 2 || !is_kept || !is_quick, "{printed:#}");
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
    let proven = "no setting meets all constraints; the ";
    let open = "no setting is proven to meet all constraints; the ";
    assert!(
        first.starts_with(proven) || first.starts_with(open),
        "{ended}"
    );
    let verdict = if first.starts_with(proven) {
        "missed"
    } else {
        "undecided"
    };
    assert!(ended.stdout.contains(verdict), "{ended}");
    assert!(!ended.stdout.contains("best:"), "{ended}");
    // On a busy machine a probe at another depth may come closer: then it is named.
    assert_eq!(
        first.contains("; the closest one: "),
        !ended.stdout.contains("came closer in a probe"),
        "{ended}"
    );
}

#[test]
fn a_setting_that_its_new_run_refutes_is_not_the_answer_where_another_one_meets_the_constraint() {
    let desk = Desk::new();
    // A stall holds up all that are outstanding: 4 % at depth 16, 0.25 % at depth 1. Few probes are long enough to see one.
    let server = desk.serve("tcp://:0 --stall every=400:20ms");
    let flags =
        "--maximise achieved-depth --depth 1,16 --count 1000 --timeout 10s --subject-to p99<10ms";
    let (printed, ended) = tune(&desk, &server.address, flags);
    let answer = printed["answer"].as_str().expect("a sentence");
    // On a busy machine no run may prove it; then the answer says no more than that.
    let is_proven = is_shown(&printed, &ended);
    assert_eq!(
        answer.contains("Limit met: p99<10ms ("),
        is_proven,
        "{answer}"
    );
    assert!(!is_proven || printed["best"]["depth"] == 1, "{printed:#}");
    let mut front = printed["front"].as_array().expect("the front").iter();
    let p99 = |row: &Value| row["latency_p99_ns"]["value"].as_f64();
    let is_met = front.any(|row| p99(row).is_some_and(|p99| p99 < 10e6));
    let denies = answer.starts_with("no setting meets");
    assert!(!(is_met && denies), "{printed:#}");
    let command = printed["use"]["command"].to_string();
    let depth = format!("\"--depth\",\"{}\"", printed["best"]["depth"]);
    assert!(command.contains(&depth), "{command}");
}

#[test]
fn a_run_too_short_to_show_a_tail_does_not_claim_it() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--minimise trt --depth 1,2 --count 200 --confirm 300 --subject-to p99.9<20s";
    let (printed, ended) = tune(&desk, &server.address, flags);
    assert_eq!(ended.code, Some(1), "{ended}");
    let verdict = &printed["best"]["constraints"][0];
    assert_eq!(verdict["verdict"], "undecided", "{printed:#}");
    assert!(verdict["found"]["high"].is_null());
    assert!(ended.stderr.contains("undecided"), "{ended}");
    // It is too short, and not a setting that breaks the constraint.
    let words = format!("tune {} --no-calibration {flags}", server.address);
    let ended = Background::start(&mut desk.command(&words)).ended();
    assert_eq!(ended.code, Some(1), "{ended}");
    let first = ended.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("best setting: "), "{ended}");
    let open = ". Limit undecided: p99.9<20s (";
    assert!(
        first.contains(open) && first.contains("). Use --confirm "),
        "{ended}"
    );
    // Left to itself the run is long enough.
    let flags = "--minimise trt --depth 1,2 --count 200 --subject-to p99.9<20s";
    let (printed, _) = tune(&desk, &server.address, flags);
    assert!(
        number(&printed["best"]["exchanges"]) >= 3688.0,
        "{printed:#}"
    );
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
    let table = said.split("Best measured rtt.p99 with each --wait").nth(1);
    let table = table.unwrap_or_else(|| panic!("no table of --wait: {said}"));
    for wait in ["wait block", "wait poll"] {
        assert!(table.contains(wait), "{wait}: {said}");
    }
    let usage = said.split("How to use it").nth(1).expect("how to use it");
    for part in ["--wait ", "wait=\"", "WG_WAIT_"] {
        assert!(usage.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_confirmation_that_more_samples_decide_takes_them() {
    let desk = Desk::new();
    // A stall holds up all 16 outstanding: 1,000 exchanges have two or three of them, too few for p99.
    let server = desk.serve("tcp://:0 --stall every=400:20ms");
    let flags = "--minimise trt --depth 16 --count 1000 --timeout 10s --subject-to p99<20s";
    let (printed, ended) = tune(&desk, &server.address, flags);
    let exchanges = number(&printed["best"]["exchanges"]);
    // A host that stalls often itself gives even a short run its bound, or keeps a long one from it.
    let is_short = exchanges < 2000.0;
    assert!(is_shown(&printed, &ended) || !is_short, "{printed:#}");
    // The shorter one is a probe, and of the runs the last one is kept.
    let short = probes(&printed)
        .iter()
        .any(|probe| (1000.0..2000.0).contains(&number(&probe["exchanges"])));
    assert!(short, "{printed:#}");
    assert_eq!(desk.stored().len(), 1);
    let run = desk.json("show last --format json");
    let counted = run["points"][0]["counts"]["exchanges"].as_f64();
    assert_eq!(counted, Some(exchanges), "{run:#}");

    // A length that was given is that, and the error says which one would do.
    let (printed, ended) = tune(&desk, &server.address, &format!("{flags} --confirm 1000"));
    assert_eq!(printed["best"]["exchanges"], 1000, "{printed:#}");
    let is_named = ended.stderr.contains("is required");
    assert!(is_shown(&printed, &ended) || is_named, "{ended}");
    // Nor is it longer where there is no time.
    let (printed, ended) = tune(&desk, &server.address, &format!("{flags} --budget 1ms"));
    is_shown(&printed, &ended);
    assert!(
        number(&printed["best"]["exchanges"]) < 2000.0,
        "{printed:#}"
    );
}

/// True if the only constraint is shown to be kept; verdict and exit code say the same.
#[track_caller]
fn is_shown(printed: &Value, ended: &Ended) -> bool {
    let verdict = &printed["best"]["constraints"][0];
    let is_kept = verdict["verdict"] == "met";
    assert_eq!(ended.code, Some(i32::from(!is_kept)), "{ended}");
    assert!(!is_kept || verdict["found"]["high"].is_f64(), "{verdict}");
    is_kept
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
    for part in [
        "best: OUT 16 B",
        "Confirmed by a new run of 150 exchanges",
        "How to use it",
    ] {
        assert!(said.contains(part), "{part} is missing: {said}");
    }
    assert_eq!(desk.stored().len(), 1);
    let shown = desk.output("show last --full");
    assert!(
        shown.contains("RTT in ") && shown.contains("without the device"),
        "{shown}"
    );
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
fn one_link_for_all_exchanges_beats_one_for_each() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let flags = "--minimise trt --depth 1..4 --connect once,each --wait block,poll --count 100";
    let printed = found(&desk, &server.address, flags);
    // The shortest of each, because a host that stops makes any single one longer.
    let shortest = |connect: &str| {
        let here = probes(&printed).iter();
        let here = here.filter(|probe| probe["connect"] == connect);
        here.map(|probe| number(&probe["trt_ns"]))
            .fold(f64::INFINITY, f64::min)
    };
    assert!(shortest("once") < shortest("each"), "{printed:#}");
    // 4 depths once and 1 each, two ways to wait.
    assert_eq!(printed["exhaustive"], (4 + 1) * 2 * 100);
    let tried = |key: &str, value: &str| probes(&printed).iter().any(|probe| probe[key] == value);
    assert!(tried("connect", "each") && tried("wait", "poll") && tried("wait", "block"));
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
    assert!(
        command.contains("stream") && command.contains(&bytes.to_string()),
        "{command}"
    );
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
