//! Where the time of a run went, printed by the real program of runs that it measured itself.

use crate::common;

use common::{Desk, has_all};

#[test]
fn the_time_that_a_device_computes_is_its_own_part_of_the_rtt() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 5ms");
    let address = &server.address;
    desk.output(&format!("exchange {address} --count 60 --depth 1,4"));
    let explained = desk.json("explain last --json");
    let alone = &explained["exchanges"][0];
    let [rtt, device, host, wire] = ["rtt_ns", "device_ns", "host_ns", "wire_ns"]
        .map(|part| alone[part].as_f64().expect("a time"));
    assert!(device >= 4.9e6, "{alone}");
    assert!((device + host + wire - rtt).abs() < 1.0, "{alone}");
    // The device works on one at a time, so it limits at either depth, or nearly so at depth 1.
    let deep = &explained["exchanges"][1];
    let kind = deep["verdict"]["kind"].as_str().expect("a verdict");
    assert_eq!(kind, "device", "{deep}");
    let text = desk.output("explain last");
    has_all(
        &text,
        &[
            "Where the time of an exchange goes",
            "Bottleneck",
            "depth 4: the device;",
        ],
    );
    // The heading says it already.
    assert!(!text.contains("bottleneck:"), "{text}");
    assert!(!text.contains("device, wire and waiting"), "{text}");
}

#[test]
fn without_a_device_clock_the_rest_contains_the_device() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --protocol scpi --service-time 5ms");
    let address = &server.address;
    desk.output(&format!(
        "exchange {address} --protocol scpi --send *IDN? --count 60"
    ));
    let text = desk.output("explain last");
    let named = text.matches("device, wire and waiting").count();
    let all = text.matches("wire and waiting").count();
    assert!(named >= 2 && named == all, "{text}");
}

#[test]
fn a_run_with_a_connection_for_each_has_the_time_of_the_connection_and_no_depth_to_try() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    let address = &server.address;
    let printed = desk.output(&format!(
        "exchange {address} --count 60 --connect each --in 48,1k,8k"
    ));
    let text = desk.output("explain last");
    let heads = text
        .lines()
        .find(|line| line.contains("connect"))
        .unwrap_or("");
    assert!(heads.contains("% of connect + RTT"), "{text}");
    for text in [&printed, &text] {
        assert!(!text.contains("--depth"), "{text}");
    }
    let explained = desk.json("explain last --json");
    let of = |part: &str| explained["exchanges"][0][part].as_f64();
    assert!(of("connect_ns") > Some(0.0), "{explained}");
}

#[test]
fn a_run_without_a_floor_says_that_the_hosts_part_is_not_known() {
    let desk = Desk::new();
    desk.output("exchange null:// --count 40 --no-calibration");
    let text = desk.output("explain last");
    assert!(text.contains("--no-calibration"), "{text}");
    let explained = desk.json("explain last --json");
    assert!(
        explained["exchanges"][0]["host_ns"].is_null(),
        "{explained}"
    );
    assert_eq!(explained["kind"], "exchange");
}

#[test]
fn a_stream_over_a_socket_is_split_into_system_calls_and_what_is_between_them() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0");
    desk.output(&format!(
        "stream {} --direction in --transfer 512,4k,32k --settle 20ms --duration 600ms",
        server.address
    ));
    let text = desk.output("explain last");
    assert!(text.contains("system call"), "{text}");
    assert!(
        !text.contains("Try --queue") && !text.contains("usbmon"),
        "{text}"
    );
    let explained = desk.json("explain last --json");
    let flows = explained["flows"].as_array().expect("flows");
    assert_eq!(flows.len(), 3);
    for flow in flows {
        let [cycle, application, call] = ["cycle_ns", "application_ns", "device_bus_ns"]
            .map(|part| flow[part].as_f64().expect("a time"));
        assert!((application + call - cycle).abs() < 1.0, "{flow}");
    }
    // Three sizes, one way: one model.
    let models = explained["models"].as_array().expect("models");
    assert_eq!(models.len(), 1, "{models:?}");
    assert_eq!(models[0]["model"]["settings"], 3);
    // Whether three points carry a model is for their scatter to say.
    match models[0]["why_not"].as_str() {
        None => assert!(text.contains("Link model, IN"), "{text}"),
        Some(why) => {
            assert!(
                why.starts_with("the model does not predict its own points"),
                "{why}"
            );
            assert!(text.contains(why) && !text.contains("Link model"), "{text}");
        }
    }
}

#[test]
fn the_link_in_a_few_numbers_has_the_service_time_of_the_device_in_it() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --service-time 4ms");
    desk.output(&format!(
        "exchange {} --count 40 --in 64,1k,4k --depth 1,2,4",
        server.address
    ));
    let predict = "explain last --predict in=2k,depth=3 --predict in=64k,depth=2";
    let explained = desk.json(&format!("{predict} --json"));
    let model = &explained["models"][0]["model"];
    assert_eq!(model["settings"], 9, "{model}");
    // 4 ms of each exchange are the device's; without it, one takes some ten microseconds.
    let base = model["base"]["fixed_ns"]["value"].as_f64();
    assert!(base >= Some(2e6), "{model}");
    let predicted = &explained["models"][0]["predictions"][0];
    let filled_in = &predicted["at"]["out_bytes"];
    assert_eq!(filled_in, 16, "what never changed is filled in");
    assert!(predicted["trt_ns"]["value"].as_f64() >= Some(2e6));
    has_all(
        &desk.output(predict),
        &[
            "Predicted, means in",
            "no prediction interval: outside the measured range (IN 64 to 4,096 B)",
        ],
    );
    desk.refuses(
        "explain",
        2,
        "
        last --predict in=2k,depth=3 --confidence 99%  => at most | not 99 %
        last --predict depth=3              => 64 to 4096 | add in=
        last --predict transfer=4k,queue=2  => an exchange run, which has no transfer | out=, in= and depth=
        nothing                             => cannot find a run `nothing` | wiregauge runs
        nothing --predict size=4k           => out=, in=, depth=
        nothing --predict depth=0           => the minimum is 1
        nothing --predict in=4k --confidence 100% => is not a valid share
        nothing --confidence 90%            => --predict
        ",
    );
}

#[test]
fn a_run_of_one_point_says_why_it_has_no_model_and_refuses_to_predict() {
    let desk = Desk::new();
    desk.output("exchange null:// --count 40 --no-calibration");
    let text = desk.output("explain last");
    has_all(
        &text,
        &["no model: a model requires 3 points with different settings, a prediction 5"],
    );
    desk.fails(
        "explain last --predict in=4k",
        2,
        &["cannot predict in=4k", "--depth 1,2,4,8"],
    );
}

#[test]
fn usbmon_on_a_link_that_is_not_usb_is_a_warning_and_the_run_goes_on() {
    let desk = Desk::new();
    let stream = "stream null:// --direction in --settle 10ms --duration 500ms --usbmon";
    let text = desk.output(stream);
    assert!(text.contains("no URB times"), "{text}");
    let stored = desk.json("show last --json");
    assert!(stored["points"][0]["flows"][0]["transfers"].as_u64() > Some(0));
    let settings = stored["conditions"]["link"]["settings"].to_string();
    assert!(settings.contains("require a usb:// link"), "{settings}");
}

/// A capture of a device that answers NAK `naks` times before each packet of 64 bytes.
fn capture(desk: &Desk, naks: u64) {
    use wiregauge_capture::{Pid, Speed, Writer, packet};

    let file = desk.path("bus.pcapng");
    let mut writer = Writer::new(Vec::new(), Speed::Full).expect("a vector takes everything");
    let mut put = |at_us: u64, bytes: &[u8]| {
        writer
            .packet(at_us * 1000, bytes)
            .expect("a vector takes everything");
    };
    for number in 0..40 {
        let frame = number * 1000;
        put(frame, &packet::sof(number));
        for nak in 0..naks {
            put(frame + 10 + nak * 20, &packet::token(Pid::In, 5, 1));
            put(frame + 14 + nak * 20, &packet::handshake(Pid::Nak));
        }
        let data = if number % 2 == 0 {
            Pid::Data0
        } else {
            Pid::Data1
        };
        put(frame + 900, &packet::token(Pid::In, 5, 1));
        put(frame + 904, &packet::data(data, &[7; 60]));
        put(frame + 952, &packet::handshake(Pid::Ack));
    }
    std::fs::write(&file, writer.into_inner()).expect("a directory of the test");
}

#[test]
fn a_capture_of_a_bus_says_which_side_is_too_late() {
    let desk = Desk::new();
    capture(&desk, 40);
    let file = desk.path("bus.pcapng");
    let file = file.to_str().expect("a name of ours");
    let text = desk.output(&format!("explain {file}"));
    has_all(
        &text,
        &[
            "USB bus at full speed",
            "What passed",
            "0x81",
            "limited by the device",
            "1,600 of 1,640",
        ],
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    has_all(
        &text,
        &["response in ns", "on the wire: data", "not full: "],
    );
    assert!(!text.contains("time goes back"), "{text}");
    let explained = desk.json(&format!("explain {file} --json --endpoint 0x81"));
    let endpoint = &explained["endpoints"][0];
    assert_eq!(endpoint["counts"]["naks"], 1600);
    assert_eq!(endpoint["counts"]["short"], 40);
    assert_eq!(endpoint["verdict"]["kind"], "device-too-late");

    capture(&desk, 0);
    let text = desk.output(&format!("explain {file} --begin 5ms"));
    assert!(text.contains("limited by the host"), "{text}");
    let figure = desk.path("frames.svg");
    let text = desk.output(&format!("explain {file} --figure {}", figure.display()));
    assert!(text.contains("wrote "), "{text}");
    let svg = std::fs::read_to_string(figure).expect("the figure was written");
    assert!(svg.contains("data IN"));
    let page = desk.path("frames.html");
    desk.output(&format!("explain {file} --figure {}", page.display()));
    let page = std::fs::read_to_string(page).expect("the page was written");
    has_all(
        &page,
        &["limited by the host", "id=\"packets\"", "data IN", "<svg"],
    );
}

#[test]
fn a_capture_whose_time_goes_back_is_named_as_such() {
    use wiregauge_capture::{Speed, Writer, packet};

    let desk = Desk::new();
    let file = desk.path("back.pcapng");
    let mut writer = Writer::new(Vec::new(), Speed::Full).expect("a vector takes everything");
    for at_us in [1000_u64, 2000, 500] {
        writer
            .packet(at_us * 1000, &packet::sof(at_us))
            .expect("a vector takes everything");
    }
    std::fs::write(&file, writer.into_inner()).expect("a directory of the test");
    let text = desk.output(&format!("explain {}", file.display()));
    assert!(text.contains("time goes back at packet 3"), "{text}");
}

#[test]
fn a_file_that_is_no_capture_is_refused_with_what_to_try() {
    let desk = Desk::new();
    std::fs::write(desk.path("notes.txt"), "dear diary").expect("a directory of the test");
    capture(&desk, 1);
    desk.refuses(
        "",
        2,
        "
        explain ./notes.txt       => not a capture file
        explain ./missing.pcapng  => hint: check the path; `wiregauge runs` lists stored runs
        explain ./bus.pcapng --endpoint 0x02              => it has 0x81
        explain ./bus.pcapng --figure frames.jpg          => the name must end in .svg or .png
        explain ./bus.pcapng --begin 1min                 => no packets between --begin and --end: the capture lasts 0.040 s
        explain ./bus.pcapng --begin 3ms --end 2ms        => --begin 0.003 s is not before --end 0.002 s
        explain ./bus.pcapng --figure bus.svg --endpoint 0x81 => hint: omit --endpoint
        explain last --endpoint 0x81                      => --endpoint is for captures
        report ./bus.pcapng                               => --figure bus.html draws a page of its frames
        ",
    );
    let nowhere = "--figure no/bus.svg => hint: check that the directory exists";
    desk.refuses("explain ./bus.pcapng", 3, nowhere);
}
