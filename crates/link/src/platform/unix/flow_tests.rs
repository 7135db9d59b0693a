//! Flows over a pair of Unix sockets.

use crate::{FlowShape, Link, MAX_WAIT, accepted};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const SHAPE: FlowShape = FlowShape {
    transfer_bytes: 1 << 20,
    queue: 1,
};

fn pair() -> (impl Link, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    (accepted(near.into()).unwrap(), far)
}

#[test]
fn more_than_one_transfer_at_once_is_refused_with_the_reason() {
    let (mut link, _far) = pair();
    let error = link.flows(FlowShape { queue: 2, ..SHAPE }).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    assert!(error.to_string().contains("queues by itself"), "{error}");
}

#[test]
fn a_transfer_that_the_system_does_not_take_at_once_completes_when_the_device_reads() {
    let (mut link, mut far) = pair();
    let mut flows = link.flows(SHAPE).unwrap();
    let out = &mut flows.out;
    let size = 1 << 20;
    let begun = out.submit(size, MAX_WAIT, &mut |to| to.fill(7));
    begun.unwrap();
    let early = out.complete(Duration::from_millis(5), &mut |_| {});
    assert_eq!(early.unwrap(), None, "a socket holds less than this");
    assert_eq!(out.pending(), 1);
    let reader = std::thread::spawn(move || {
        let mut all = vec![0; size];
        far.read_exact(&mut all).unwrap();
        all
    });
    let done = out.complete(Duration::from_secs(20), &mut |_| {});
    assert_eq!(done.unwrap().map(|done| done.bytes), Some(size));
    assert!(reader.join().unwrap().iter().all(|&byte| byte == 7));
}

#[test]
fn what_a_cancelled_transfer_had_handed_over_is_reported() {
    let (mut link, mut far) = pair();
    let mut flows = link.flows(SHAPE).unwrap();
    let out = &mut flows.out;
    let begun = out.submit(1 << 20, MAX_WAIT, &mut |to| to.fill(7));
    begun.unwrap();
    let mut printed = 0;
    let cancelled = out.cancel(&mut |bytes| printed = bytes.len());
    cancelled.unwrap();
    drop(flows);
    drop(link);
    let mut all = Vec::new();
    far.read_to_end(&mut all).unwrap();
    assert!(printed > 0);
    assert_eq!(printed, all.len());
}

#[test]
fn a_read_asks_for_no_more_than_the_transfer() {
    let (mut link, mut far) = pair();
    let mut flows = link.flows(SHAPE).unwrap();
    far.write_all(b"abcdef").unwrap();
    let mut got = Vec::new();
    for _ in 0..3 {
        flows.in_.submit(2, MAX_WAIT, &mut |_| {}).unwrap();
        let done = flows
            .in_
            .complete(MAX_WAIT, &mut |bytes| got.extend_from_slice(bytes));
        assert_eq!(done.unwrap().map(|done| done.bytes), Some(2));
    }
    assert_eq!(got, b"abcdef");
    flows.in_.submit(2, MAX_WAIT, &mut |_| {}).unwrap();
    assert_eq!(flows.in_.complete(MAX_WAIT, &mut |_| {}).unwrap(), None);
}
