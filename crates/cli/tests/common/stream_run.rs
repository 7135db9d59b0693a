//! A stream run as a test sees it.

use super::{Background, Desk, Ended};
use wiregauge_record::{FlowSummary, StreamSummary, Way};
use wiregauge_run::{RunFile, Stream};

/// What `stream --json` printed.
pub struct StreamRun {
    pub file: RunFile<Stream>,
}

impl StreamRun {
    /// Reads what a program printed.
    pub fn read(ended: &Ended) -> StreamRun {
        let file = serde_json::from_str(&ended.stdout)
            .unwrap_or_else(|error| panic!("no run was printed ({error}): {ended}"));
        StreamRun { file }
    }

    /// Every way of every point.
    pub fn flows(&self) -> Vec<(&StreamSummary, &FlowSummary)> {
        let points = self.file.points.iter();
        points
            .flat_map(|point| point.flows.iter().map(move |flow| (point, flow)))
            .collect()
    }

    /// Those of one way.
    pub fn of(&self, way: Way) -> Vec<&FlowSummary> {
        let flows = self.flows().into_iter().map(|(_, flow)| flow);
        flows.filter(|flow| flow.way == way).collect()
    }

    /// Something moved each way, and both ends say that every byte came once, right.
    #[track_caller]
    pub fn is_clean(&self) -> &StreamRun {
        for (point, flow) in self.flows() {
            let what = format!("{:?} {:?}: {:?}", point.point, flow.way, flow.counts);
            assert!(
                flow.counts.lost == Some(0) && flow.counts.wrong() == 0,
                "{what}"
            );
            assert!(flow.counts.sent > Some(0) && flow.bytes > 0, "{what}");
            let device = flow.device.expect("the device reports");
            assert_eq!(Some(device.bytes), flow.counts.sent, "{what}");
            assert!(device.transfers > 0 && device.elapsed_ns > 0, "{what}");
        }
        self
    }
}

impl Desk {
    /// Streams, which must succeed.
    #[track_caller]
    pub fn stream(&self, addresses: &str, flags: &str) -> StreamRun {
        let (run, ended) = self.try_stream(addresses, flags);
        assert_eq!(ended.code, Some(0), "{ended}");
        run
    }

    /// Streams, and gives the run and how the program ended. There must be a run to give.
    #[track_caller]
    pub fn try_stream(&self, addresses: &str, flags: &str) -> (StreamRun, Ended) {
        let mut command = self.command(&format!("stream {addresses} {flags} --json"));
        let ended = Background::start(&mut command).ended();
        (StreamRun::read(&ended), ended)
    }
}
