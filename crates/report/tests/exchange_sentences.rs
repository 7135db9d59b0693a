//! First sentences and warnings of made-up exchange runs that differ in one thing, each below the name of its case;
//! held to the files in `snapshots/`.

use crate::common;
use crate::golden::{first_sentence, hold_cases, warned};
use crate::warnings::{BOARD, answered, echo, timeout};

use common::*;
use wiregauge_record::*;
use wiregauge_report::tables::{self, Tables};
use wiregauge_run::RunFile;

const MS: u64 = 1_000_000;

/// The tables of an exchange run.
fn of_exchanges(plan: &Plan, samples: impl Fn(Point) -> Vec<Sample>) -> Tables {
    let dir = tempfile::tempdir().expect("a directory");
    let run = exchange_run(&dir.path().join("run"), plan, |point| {
        samples(point).into_iter()
    });
    tables::of(&run, false)
}

#[test]
fn losses() {
    let said = |plan: &Plan, samples: &dyn Fn(Point) -> Vec<Sample>| {
        first_sentence(of_exchanges(plan, samples))
    };
    let lossy = |is_lossy: fn(u32) -> bool| {
        said(&plan(3), &|point| {
            let lost = if is_lossy(point.depth) { 100 } else { 0 };
            paced(point.depth, 20_000, 2_000, lost).collect()
        })
    };
    let unanswered = |from_depth: u32| {
        said(&plan(2), &|point| {
            let status = match point.depth < from_depth {
                true => Status::Ok,
                false => Status::Lost,
            };
            let samples = exchanges(20, 3);
            samples.map(|sample| Sample { status, ..sample }).collect()
        })
    };
    let troubled = |lost: u64| {
        said(&plan(1), &|_| {
            let samples = paced(1, 20_000, 1_000, lost).map(|sample| Sample {
                status: match sample.sequence {
                    500 => Status::Reordered,
                    600 | 700 => Status::Duplicated,
                    _ => sample.status,
                },
                ..sample
            });
            samples.collect()
        })
    };
    let mut twice = plan(2);
    twice.points[1].depth = 1;
    let twice = said(&twice, &|_| exchanges(200, 3).collect());
    let cases = [
        ("at depth 3", lossy(|depth| depth == 3)),
        ("at depth 2 and 3", lossy(|depth| depth != 1)),
        ("at every depth", lossy(|_| true)),
        ("nothing is answered", unanswered(1)),
        ("nothing is answered at depth 2", unanswered(2)),
        ("every 200th, and other errors", troubled(200)),
        ("every second, so that there is no median", troubled(2)),
        ("none, and the only depth is measured twice", twice),
    ];
    hold_cases("answers_losses", &cases);
}

#[test]
fn peaks() {
    let said = |depths: u32, rtt_ns: &dyn Fn(u32, u64) -> u64| {
        let tables = of_exchanges(&plan(depths), |point| {
            let samples = paced(point.depth, 100 * MS, 2_000, 0);
            let samples = samples.map(|sample| Sample {
                rtt_ns: rtt_ns(point.depth, sample.sequence),
                ..sample
            });
            samples.collect()
        });
        first_sentence(tables)
    };
    let usual = 300_000;
    // Evenly over so many nanoseconds above 2.2 ms, and one in fifty after 50 ms.
    let within = |width_ns: u64| {
        said(1, &|_, sequence| match sequence % 50 {
            0 => 50 * MS,
            _ => 2_200_000 + sequence * width_ns / 1_999,
        })
    };
    // One response in fifty, at the depths above 1.
    let rare = |rare_ns: u64| {
        said(
            3,
            &|depth, sequence| match depth > 1 && sequence % 50 == 0 {
                true => rare_ns,
                false => usual,
            },
        )
    };
    let quarter = said(1, &|_, sequence| match sequence % 4 {
        0 => MS,
        _ => usual,
    });
    let cases = [
        ("a quarter takes longer", quarter),
        ("all take the same time", said(1, &|_, _| usual)),
        ("a peak of 1 ms width", within(MS)),
        ("a peak of 0.1 ms width", within(100_000)),
        ("a slow one at depth 2 and 3", rare(16 * MS)),
        ("one at depth 2 and 3 that is not slow", rare(400_000)),
    ];
    hold_cases("answers_peaks", &cases);
}

/// The table of the parts of the RTT of 100 exchanges of 200 us with these times of the kernel.
fn parts(times: impl Fn(u64) -> Sample) -> String {
    let mut plan = plan(1);
    plan.link.kernel_timestamps = true;
    let found = of_exchanges(&plan, |_| {
        let samples = (0..=100).map(|sequence| Sample {
            start_ns: sequence * 200_000,
            intended_ns: sequence * 200_000,
            rtt_ns: 200_000,
            ..times(sequence)
        });
        samples.collect()
    });
    let mut found = found.tables.into_iter();
    let table = found.find(|table| table.title.starts_with("Where the RTT goes"));
    table.map_or("none".to_owned(), |table| {
        format!("{}\n{}", table.title, table.text())
    })
}

#[test]
fn parts_of_the_rtt() {
    let stamped = |known: u64, done_ns: u64, sequence: u64| Sample {
        kernel_tx_ns: 10_000 * known,
        kernel_tx_done_ns: done_ns * known,
        kernel_rx_ns: 150_000 * known,
        ..exchange(sequence)
    };
    let cases = [
        ("a socket", parts(|at| stamped(1, 0, at))),
        ("USB", parts(|at| stamped(1, 70_000, at))),
        ("every second stamped", parts(|at| stamped(at % 2, 0, at))),
        ("never stamped", parts(exchange)),
    ];
    hold_cases("parts_of_the_rtt", &cases);
}

/// The warning with this code of an echo run of one point that was changed.
fn of_echo(code: &str, change: impl Fn(&mut RunFile)) -> String {
    let mut file = echo(BOARD, &[&answered], 0);
    change(&mut file);
    warned(&tables::of_exchange(&file, false).warnings, code)
}

#[test]
fn echoes_that_come_late_or_with_more() {
    let silent = |address: &str, rtt: &dyn Fn(u64) -> u64| {
        let mut file = echo(address, &[&timeout, rtt], 0);
        file.points[1].point.depth = 4;
        warned(&tables::of_exchange(&file, false).warnings, "W18")
    };
    let longer = |sequence: u64| 702_000_000 + timeout(sequence);
    let surplus = |bytes: &[u8], missing: u64| Surplus {
        bytes: bytes.to_vec(),
        times: 101 - missing,
        missing,
    };
    let followed = |bytes: &[u8], missing: u64| {
        of_echo("W19", |file| {
            file.points[0].surplus = Some(surplus(bytes, missing));
        })
    };
    let mut two = echo(BOARD, &[&answered, &answered], 0);
    two.points[0].surplus = Some(surplus(b"\n", 3));
    two.points[1].point.depth = 4;
    two.points[1].surplus = Some(surplus(b"\r\n", 0));
    let mut differ = echo(BOARD, &[&answered, &answered], 202);
    differ.points[1].counts.stray_bytes = 101;
    let more = |file: &RunFile| warned(&tables::of_exchange(file, false).warnings, "W19");
    let instrument = of_echo("W19", |file| {
        file.plan.protocol = Protocol::Text;
        file.points[0].counts.stray_bytes = 1_200;
    });
    let cases = [
        ("silence at depth 1", silent(BOARD, &answered)),
        ("two lengths of silence", silent(BOARD, &longer)),
        ("a datagram", silent("udp://10.0.0.5:7", &timeout)),
        ("2 B more", more(&echo(BOARD, &[&answered], 202))),
        ("1 or 2 B more", more(&differ)),
        ("CR LF behind each", followed(b"\r\n", 0)),
        ("> behind each", followed(b">", 0)),
        ("LF behind most", followed(b"\n", 3)),
        ("different bytes at two points", more(&two)),
        ("an instrument that echoes", instrument),
    ];
    assert!(!cases[9].1.contains("unsolicited"));
    hold_cases("warnings_of_echoes", &cases);
}

#[test]
fn what_points_met() {
    let lost = |late: u64| {
        of_echo("W01", |file| {
            let counts = &mut file.points[0].counts;
            (counts.lost, counts.late) = (3 - late, late);
        })
    };
    let lost_at_depths = |lost: [u64; 2]| {
        let mut file = echo(BOARD, &[&answered, &answered], 0);
        for (point, lost) in file.points.iter_mut().zip(lost) {
            (point.counts.exchanges, point.counts.lost) = (1_000, lost);
        }
        file.points[1].point.depth = 4;
        warned(&tables::of_exchange(&file, false).warnings, "W01")
    };
    assert!(!lost_at_depths([50, 55]).contains("--depth"));
    assert!(lost_at_depths([1, 55]).contains("Try a lower --depth, which lost less"));
    let disturbed = |disturbance: &Disturbance| {
        of_echo("W07", |file| {
            file.points[0].disturbances = vec![disturbance.clone()];
        })
    };
    let stolen = Disturbance::Steal { share: 0.0066 };
    let waited = |times, waited_ns| Disturbance::Preempted { times, waited_ns };
    let mut differ = echo(BOARD, &[&answered, &answered, &answered], 0);
    let met = [(1, "-113", 99, 106), (2, "-222", 1, 7), (4, "-113", 1, 7)];
    for (point, (depth, error, times, ms)) in differ.points.iter_mut().zip(met) {
        point.point.depth = depth;
        point.instrument_errors = vec![error.to_owned()];
        point.disturbances = vec![waited(times, ms * MS)];
    }
    let differ = tables::of_exchange(&differ, false).warnings;
    let using = |used: f64| {
        of_echo("W17", |file| {
            file.points[0].limit = Some(full_speed(used));
        })
    };
    let impossible = of_echo("W16", |file| {
        let counts = &mut file.points[0].counts;
        counts.impossible_device_times = counts.answered / 4;
    });
    let cases = [
        ("3 lost", lost(0)),
        ("2 lost and 1 late", lost(1)),
        ("time of the hypervisor", disturbed(&stolen)),
        ("waits for a CPU", disturbed(&waited(1_234, 106 * MS))),
        ("waits at three points", warned(&differ, "W07")),
        ("errors of an instrument", warned(&differ, "W33")),
        ("all of the limit", using(1.0)),
        ("more than the limit", using(2.6018)),
        ("device times above the RTT", impossible),
    ];
    // No answer came after the timeout; and the time that was taken is not known to be in the tails.
    assert!(!cases[0].1.contains("a longer --timeout"));
    assert!(!cases[2].1.contains("caused by this host"));
    // A device on this host is delayed by the priority of the measuring thread.
    assert!(cases[3].1.contains("Try whether --priority 50 helps"));
    let here = of_echo("W07", |file| {
        file.plan.address = "tcp://127.0.0.1:7700".into();
        file.points[0].disturbances = vec![waited(1_234, 106 * MS)];
    });
    assert!(here.contains("Try a less loaded host."), "{here}");
    hold_cases("warnings_of_points", &cases);
}

#[test]
fn starts_and_depths() {
    let behind = |plan: &Plan, of: &dyn Fn(u64) -> (u64, u64)| {
        let dir = tempfile::tempdir().expect("a directory");
        let run = late_run(&dir.path().join("run"), plan, of);
        warned(&tables::of(&run, false).warnings, "W06")
    };
    // Every tenth is sent 500 us late, with those that were due meanwhile; 5 are outstanding at most.
    let by_host = |sequence: u64| match sequence % 10 {
        at @ 0..5 => (500_000 - at * 100_000, 20_000),
        _ => (0, 20_000),
    };
    // A reply ends after 150 us of silence, so each starts 20 + 150 us after the one before.
    let silent = Plan {
        protocol: Protocol::Text,
        queries: Some(Queries {
            list: vec![Query {
                name: "READ?".into(),
                bytes: b"READ?\n".to_vec(),
            }],
            reply: ReplyEnd::IdleNs(150_000),
            expect: None,
        }),
        ..plan(1)
    };
    // Each pair starts when the one before has ended, and as much later.
    let shallow = |depths: &[u32]| {
        let points = (0..).zip(depths).map(|(index, &depth)| Point {
            index,
            depth,
            ..point(0)
        });
        let plan = Plan {
            points: points.collect(),
            timeout_ns: 500 * MS,
            ..plan(1)
        };
        let pairs = |sequence: u64| Sample {
            intended_ns: sequence / 2 * 200_000,
            start_ns: sequence / 2 * 200_000,
            rtt_ns: 100_000,
            outstanding: 2,
            ..exchange(sequence)
        };
        let tables = of_exchanges(&plan, |_| (0..=1000).map(pairs).collect());
        warned(&tables.warnings, "W04")
    };
    let by_silence = |sequence: u64| (sequence * 70_000, 20_000);
    let by_earlier = |sequence: u64| (sequence * 1_000, 101_000);
    let cases = [
        ("late by the host", behind(&of_depth(8), &by_host)),
        ("late by earlier exchanges", behind(&plan(1), &by_earlier)),
        ("late by the end of replies", behind(&silent, &by_silence)),
        ("late by both", behind(&plan(1), &late_by_both)),
        ("depths that are not achieved", shallow(&[2, 4])),
        ("a depth above the number of exchanges", shallow(&[5_000])),
    ];
    assert!(!cases[0].1.contains("--interval"));
    hold_cases("warnings_of_starts", &cases);
}
