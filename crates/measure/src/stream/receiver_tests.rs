//! A receiver whose flow is lent to another thread.

use super::*;
use crate::ring;
use crate::stream::rows::Window;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;
use std::thread::{self, ThreadId};
use wiregauge_link::Completed;
use wiregauge_link::host::Handoff;
use wiregauge_record::{Transfer, TransferStatus, Way};
use wiregauge_session::stream::ReceiverConfig;

/// Transfers of the stream.
const COUNT: u64 = 2000;
/// Each so many of them one ends in a stall, which only the caller's thread may see to.
const STALLS: u64 = 500;
/// One of three looks finds nothing that is over.
const LOOKS: u64 = 3;

/// Carries the pattern; one transfer at a time is over.
struct Lent<'a> {
    shared: &'a Coordination<'a>,
    handoff: Option<(Arc<Handoff>, Waker)>,
    sizes: VecDeque<usize>,
    carried: u64,
    position: u64,
    looks: u64,
    is_lent: bool,
    /// Takes were seen on these threads.
    seen_on: Vec<ThreadId>,
    stalled_on: Vec<ThreadId>,
}

impl Lent<'_> {
    fn is_stall(&self) -> bool {
        self.carried % STALLS == STALLS - 1
    }
}

impl Flow for Lent<'_> {
    fn submit(
        &mut self,
        bytes: usize,
        _: Duration,
        _: &mut dyn FnMut(&mut [u8]),
    ) -> io::Result<()> {
        self.sizes.push_back(bytes);
        Ok(())
    }

    fn complete(
        &mut self,
        _: Duration,
        take: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Option<Completed>> {
        self.looks += 1;
        let stalled = self.is_stall();
        if self.looks.is_multiple_of(LOOKS) || (stalled && self.is_lent) {
            return Ok(None);
        }
        let bytes = self.sizes.pop_front().expect("the queue is kept full");
        self.carried += 1;
        if self.carried == COUNT {
            self.shared.finish();
        }
        if stalled {
            self.stalled_on.push(thread::current().id());
            return Ok(Some(Completed {
                bytes: 0,
                stalled: true,
            }));
        }
        let mut data = vec![0; bytes];
        wiregauge_wire::fill_stream(self.position, &mut data);
        self.position += bytes as u64;
        take(&data);
        self.seen_on.push(thread::current().id());
        Ok(Some(Completed {
            bytes,
            stalled: false,
        }))
    }

    fn pending(&self) -> usize {
        self.sizes.len()
    }

    fn cancel(&mut self, _: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        self.sizes.clear();
        Ok(())
    }

    fn lend(
        &mut self,
        at_most: Duration,
        step: &mut (dyn FnMut(&mut dyn Flow) -> bool + Send),
    ) -> bool {
        let Some((handoff, _)) = &self.handoff else {
            return false;
        };
        let handoff = Arc::clone(handoff);
        self.is_lent = true;
        handoff.lend(at_most, &mut || step(self) && !self.is_stall());
        self.is_lent = false;
        true
    }
}

#[test]
fn what_another_thread_receives_is_counted_like_what_this_one_does() {
    let (halt, begun) = (AtomicBool::new(false), AtomicU64::new(0));
    let shared = Coordination::new(&halt, &begun);
    shared.begin();
    let (mut log, mut drain) = ring::ring::<Transfer>(2 * COUNT as usize);
    let (handoff, waker) = Handoff::new();
    let mut flow = Lent {
        shared: &shared,
        handoff: Some((handoff, waker.clone())),
        sizes: VecDeque::new(),
        carried: 0,
        position: 0,
        looks: 0,
        is_lent: false,
        seen_on: Vec::new(),
        stalled_on: Vec::new(),
    };
    let window = Window {
        from_ns: 0,
        to_ns: u64::MAX,
    };
    let receive = Receive {
        shared: &shared,
        address: "test",
        transfer_bytes: 64,
        rows: Some(Rows::new(&mut log, Way::In, window)),
        engine: StreamReceiver::new(ReceiverConfig {
            orders: None,
            takes_data: true,
            pattern: None,
            check: true,
            datagram: false,
            queue: 4,
            timeout_ns: 30_000_000_000,
        }),
        timeout: Duration::from_secs(30),
        may_end: false,
        tap: None,
    };
    let stop = AtomicBool::new(false);
    let received = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                waker.wake_by_ref();
                thread::yield_now();
            }
        });
        let received = receive.run(&mut flow);
        stop.store(true, Ordering::Relaxed);
        received
    });
    assert!(shared.failure().is_none());
    let stalls = COUNT / STALLS;
    assert_eq!(received.transfers, COUNT);
    let counts = received.stream.counts.unwrap();
    assert_eq!(counts.received, (COUNT - stalls) * 64);
    assert_eq!((counts.lost, counts.corrupted), (0, 0));

    let own = thread::current().id();
    assert!(flow.seen_on.iter().any(|&id| id != own));
    assert_eq!(flow.stalled_on, vec![own; stalls as usize]);
    let mut rows = Vec::new();
    while let Some(row) = drain.pop() {
        rows.push(row);
    }
    let ended = |status| rows.iter().filter(|row| row.status == status).count() as u64;
    assert_eq!(ended(TransferStatus::Ok), COUNT - stalls);
    assert_eq!(ended(TransferStatus::Stalled), stalls);
    assert!(rows.is_sorted_by_key(|row| (row.complete_ns, row.sequence)));
    assert!(rows.iter().all(|row| row.submit_ns <= row.complete_ns));
    assert!(rows.iter().all(|row| (1..=4).contains(&row.pending)));
}
