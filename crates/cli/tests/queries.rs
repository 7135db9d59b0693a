//! Devices that know nothing of wiregauge: text, SCPI, Modbus.

use crate::common;

use common::{Desk, Run, has_all};
use predicates::str::contains;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

/// A device on TCP that answers each line with what `reply` writes.
fn device(reply: fn(&str, &mut dyn Write)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut out = stream.try_clone().expect("the other half");
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    reply(line.trim(), &mut out);
                }
            });
        }
    });
    format!("tcp://{address}")
}

/// Measures with a timeout that outlasts the stalls of a busy machine.
fn measure(desk: &Desk, address: &str, flags: &str) -> Run {
    desk.measure(address, &format!("{flags} --timeout 60s"))
}

fn names(run: &Run) -> Vec<(&str, u64, u64)> {
    let queries = run.point().queries.iter();
    queries
        .map(|query| (query.name.as_str(), query.answered, query.unexpected))
        .collect()
}

#[test]
fn queries_are_sent_in_turn_and_each_has_its_own_figures() {
    let desk = Desk::new();
    for address in ["tcp://:0", "unix://socket", "pty:"] {
        let server = desk.serve(&format!("{address} --protocol scpi"));
        let flags = "--protocol scpi --send *IDN? --send READ? --send CURV?\\x20300 --count 60";
        let run = measure(&desk, &server.address, flags);
        run.is_clean();
        let each = [("*IDN?", 20, 0), ("READ?", 20, 0), ("CURV?\\x20300", 20, 0)];
        assert_eq!(names(&run), each, "{address}");
        // The sizes are those of the query that was sent and of the reply to it: `#3300`, the data, a newline.
        let curve = run
            .rows
            .iter()
            .find(|row| row.sequence == 2)
            .expect("a row");
        assert_eq!((curve.bytes_sent, curve.bytes_received), (10, 306));
        let rtt = run.point().queries[2].rtt.as_ref().expect("answered");
        assert_eq!(rtt.n, 20);
    }
}

#[test]
fn the_error_queue_of_an_instrument_is_read_after_the_run() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --protocol scpi");
    let run = measure(
        &desk,
        &server.address,
        "--protocol scpi --send READ?;FAIL --send *OPC? --count 4",
    );
    let errors = &run.point().instrument_errors;
    // The first exchange was the one before the counted four.
    assert_eq!(errors, &["-113,\"Undefined header\""; 3]);
    let shown = desk.output("show last");
    has_all(&shown, &["W33: the instrument reports an error: -113"]);
    let again = measure(
        &desk,
        &server.address,
        "--protocol scpi --send READ? --count 4",
    );
    assert!(again.point().instrument_errors.is_empty());
}

#[test]
fn replies_that_do_not_match_are_counted_apart_and_stored() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --protocol scpi");
    let flags = "--protocol text --send READ?\\n --send *OPC?\\n --expect ^\\+ --count 40";
    for depth in ["", "--depth 4"] {
        let (run, ended) =
            desk.try_measure(&server.address, &format!("{flags} {depth} --timeout 60s"));
        assert_eq!(ended.code, Some(0), "{ended}");
        run.accounts_for_every_exchange();
        assert_eq!((run.counts().answered, run.counts().unexpected), (20, 20));
        let kinds = &run.point().unexpected;
        assert_eq!((kinds[0].what.as_str(), kinds[0].times), ("1\\n", 20));
        for row in &run.rows {
            let kept = row.data_hex.as_deref().unwrap_or_default();
            let expected = if row.status == "unexpected" {
                "310a"
            } else {
                ""
            };
            assert_eq!(kept, expected, "{row:?}");
        }
    }
    let required = format!(
        "exchange {} {flags} --require unexpected<10%",
        server.address
    );
    desk.fails(&required, 1, &["limit missed"]);
}

#[test]
fn a_reply_ends_where_the_flags_say() {
    let desk = Desk::new();
    let address = device(|line, out| {
        let _ = out.write_all(match line {
            "until" => b"a\nb\r\n",
            "bytes" => b"12345",
            _ => b"id\x00\x03abcC\x01",
        });
    });
    for (query, end, size) in [
        ("until", "--until \\r\\n", 5),
        ("bytes", "--reply-bytes 5", 5),
        ("length", "--reply-length u16be@2+2", 9),
    ] {
        let flags = format!("--protocol text --send {query}\\n {end} --count 20 --depth 3");
        let run = measure(&desk, &address, &flags);
        run.is_clean();
        assert!(
            run.rows.iter().all(|row| row.bytes_received == size),
            "{query}"
        );
    }
}

#[test]
fn the_lines_of_a_file_are_sent_in_turn() {
    let desk = Desk::new();
    let server = desk.serve("tcp://:0 --protocol scpi");
    std::fs::write(desk.path("queries"), "*IDN?\n\nREAD?\n").expect("written");
    let flags = "--protocol scpi --send-file queries --count 10";
    let run = measure(&desk, &server.address, flags);
    run.is_clean();
    assert_eq!(names(&run), [("*IDN?", 5, 0), ("READ?", 5, 0)]);
    std::fs::write(desk.path("queries"), "*IDN?\n\\q\n").expect("written");
    desk.fails(
        &format!("exchange {} {flags}", server.address),
        2,
        &["queries, line 2: unknown escape \\q"],
    );
}

#[test]
fn a_reply_without_end_is_lost_and_the_link_given_up() {
    let desk = Desk::new();
    let address = device(|_, out| {
        let _ = out.write_all(b"no newline");
    });
    for (flag, hint) in [
        ("--until ;", "use another --until"),
        ("--reply-bytes 64", "the replies may be shorter"),
        ("--reply-length u8+200", "the replies may be shorter"),
    ] {
        let flags =
            format!("--protocol text --send ?\\n {flag} --timeout 1s --give-up 3 --count 10");
        let (run, ended) = desk.try_measure(&address, &flags);
        assert_eq!(ended.code, Some(3), "{ended}");
        assert_eq!(run.counts().answered, 0);
        let name = flag.split(' ').next().expect("a flag");
        // Each loss shows what was left over of the one before.
        assert!(
            ended.stderr.contains("no complete reply from"),
            "{flag}: {ended}"
        );
        assert!(
            ended.stderr.contains("B were received for the first 3"),
            "{flag}: {ended}"
        );
        assert!(
            ended.stderr.contains(&format!("a reply by {name}")),
            "{flag}: {ended}"
        );
        assert!(ended.stderr.contains(hint), "{flag}: {ended}");
    }
    let silent = device(|_, _| {});
    for (flag, value) in [
        ("--until", "\\n"),
        ("--reply-bytes", "5"),
        ("--idle", "1ms"),
    ] {
        let flags = format!("--protocol text --send ?\\n {flag} {value} --timeout 50ms --count 10");
        let (_, ended) = desk.try_measure(&silent, &flags);
        assert_eq!(ended.code, Some(3), "{ended}");
        assert!(ended.stderr.contains("no answer from"), "{ended}");
        assert!(
            ended.stderr.contains(&format!("the reply as {flag} says")),
            "{ended}"
        );
    }
}

#[test]
fn registers_are_read_and_written_and_exceptions_counted_by_code() {
    let desk = Desk::new();
    for (address, flags) in [
        ("tcp://:0", "--depth 4"),
        ("unix://socket", ""),
        ("pty:", "--baud 19200"),
    ] {
        let server = desk.serve(&format!("{address} --protocol modbus"));
        let flags = format!(
            "{flags} --protocol modbus --read holding:40+2 --read coil:9999+2 --write 40:7,8 --keep-data --count 30"
        );
        let run = measure(&desk, &server.address, &flags);
        run.accounts_for_every_exchange();
        assert_eq!((run.counts().answered, run.counts().unexpected), (20, 10));
        let each = [
            ("read holding:40+2", 10, 0),
            ("read coil:9999+2", 0, 10),
            ("write 40:7,8", 10, 0),
        ];
        assert_eq!(names(&run), each, "{address}");
        let kinds = &run.point().unexpected;
        assert_eq!(kinds.len(), 1);
        assert_eq!(kinds[0].what, "exception 2 (illegal data address)");
        // What was written is read.
        let last = run.rows.iter().filter(|row| row.sequence == 30);
        let data: Vec<_> = last.filter_map(|row| row.data_hex.as_deref()).collect();
        assert!(data[0].contains("030400070008"), "{address}: {data:?}");
    }
}

#[test]
fn on_a_serial_line_a_request_waits_for_the_silence_of_3_5_characters() {
    let desk = Desk::new();
    let server = desk.serve("pty: --protocol modbus");
    for (baud, silence_us) in [(9_600, 4_010.0), (115_200, 1_750.0)] {
        let flags = format!("--protocol modbus --baud {baud} --read holding:0+3 --count 30");
        let run = measure(&desk, &server.address, &flags);
        run.is_clean();
        for (row, next) in run.rows.iter().zip(&run.rows[1..]) {
            let silent = next.start_us - (row.start_us + row.rtt_us);
            assert!(silent >= silence_us, "{silent} us at {baud} baud");
        }
    }
}

#[test]
fn a_unit_that_does_not_answer_is_an_error_that_names_the_flag() {
    let desk = Desk::new();
    for (address, flags) in [("tcp://:0", ""), ("pty:", "--baud 19200")] {
        let server = desk.serve(&format!("{address} --protocol modbus"));
        let flags = format!("{flags} --protocol modbus --unit 9 --read holding:0 --timeout 100ms");
        let exchange = format!("exchange {} {flags} --no-calibration", server.address);
        desk.wiregauge(&exchange)
            .assert()
            .code(3)
            .stderr(contains("no answer to the first 3 exchanges"))
            .stderr(contains("hint: check --unit"));
    }
}

#[test]
fn what_cannot_work_is_refused_with_the_reason() {
    let desk = Desk::new();
    desk.refuses(
        "exchange tcp://127.0.0.1:1",
        2,
        r"
        --send x                                         => --send has no effect with --protocol wiregauge
        --protocol echo --unit 1                         => --unit has no effect with --protocol echo
        --protocol scpi --send x --until y               => --until has no effect with --protocol scpi
        --protocol text                                  => --protocol text requires --send or --send-file
        --protocol modbus                                => --protocol modbus requires --read or --write
        --protocol text --send x --out 5                 => --out and --in have no effect
        --protocol scpi --send x --depth 2               => IEEE 488.2 requires that a reply is read
        --protocol text --send x --idle 1ms --depth 2    => silence cannot separate the replies
        --protocol text --send x --expect (              => not a valid regular expression: unclosed group
        --protocol text --send x --reply-bytes 0         => replies of 0 bytes are not valid
        --protocol text --send x --until a --idle 1ms    => cannot be used with
        --protocol text --send \q                        => unknown escape \q
        --protocol text --send x --send-file y           => cannot be used with
        --protocol text --send-file missing              => cannot read the queries from missing
        --protocol modbus --read holding:0+126           => a request reads 1 to 125
        --protocol modbus --unit 248 --read holding:0    => --unit 248 is not valid: 1 to 247
        ",
    );
    desk.refuses(
        "",
        2,
        "
        exchange udp://127.0.0.1:1 --protocol text --send x --depth 2  => datagrams may change their order
        exchange serial:///dev/null --protocol modbus --read coil:0    => requires --baud
        exchange serial:///dev/null --protocol modbus --baud 9600 --read coil:0 --depth 2 => one request at a time
        serve udp://:0 --protocol scpi                                 => require tcp://, unix://, serial:// or pty:
        ",
    );
}
