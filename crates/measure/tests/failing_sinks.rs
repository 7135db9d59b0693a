//! A sink that fails ends the run with its own error, however fast the rows come.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;
use wiregauge_measure::sink::{RunError, Sink};
use wiregauge_measure::stream;
use wiregauge_record::{
    Direction, HostPlan, LinkOptions, StreamPlan, StreamPoint, StreamProtocol, StreamSummary,
    Transfer,
};

/// No run here takes nearly so long.
const BOUND: Duration = Duration::from_secs(240);

/// Long enough for a link without a device to fill the ring meanwhile.
const SLOW: Duration = Duration::from_secs(2);

const HOUR_NS: u64 = 3_600_000_000_000;

/// Fails at the first row, after a while.
struct Full;

impl Sink for Full {
    type Point = StreamPoint;
    type Row = Transfer;
    type Summary = StreamSummary;

    fn row(&mut self, _row: &Transfer, _data: &[u8]) -> io::Result<()> {
        std::thread::sleep(SLOW);
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[test]
fn a_stream_ends_with_the_error_of_its_sink() {
    let plan = StreamPlan {
        address: "null://".into(),
        protocol: StreamProtocol::Wiregauge,
        pattern: None,
        more_links: Vec::new(),
        points: vec![StreamPoint {
            index: 0,
            direction: Direction::Both,
            transfer_bytes: 1,
            queue: 1,
            link: 0,
            together: false,
        }],
        duration_ns: HOUR_NS,
        settle_ns: 0,
        check: false,
        timeout_ns: 1_000_000_000,
        rates_bytes_s: Vec::new(),
        loss: 1e-6,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    };
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = done.send(stream::run(&plan, &AtomicBool::new(false), &mut Full));
    });
    let ended = is_done.recv_timeout(BOUND).expect("the run ends");
    match ended {
        Err(RunError::Sink(error)) => assert_eq!(error.kind(), io::ErrorKind::StorageFull),
        other => panic!("{other:?}"),
    }
}
