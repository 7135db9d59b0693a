//! Where the measuring thread puts its samples, and the bytes of the answers if those are kept: rings
//! that another thread empties.

use crate::ring::{self, Drain, Log};
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wiregauge_record::{Sample, Status};

/// Samples held in memory at most: 109 MB. A longer point is emptied to the sink while it runs.
pub const RING_SAMPLES: usize = 1 << 20;

/// Bytes of kept answers held in memory at most.
pub const RING_DATA: usize = 256 << 20;

/// Room for kept answers at least: whatever one receive can bring, however few bytes were asked for.
const LEAST_DATA: usize = 1 << 20;

/// Which answers are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// None.
    None,
    /// All; so many bytes of each are expected.
    All(u32),
    /// Those that were not the expected ones.
    Unexpected,
}

impl Kept {
    #[inline]
    fn keeps(self, status: Status) -> bool {
        match self {
            Kept::None => false,
            Kept::All(_) => true,
            Kept::Unexpected => status == Status::Unexpected,
        }
    }
}

/// The measuring thread's end.
pub struct SampleLog {
    samples: Log<Sample>,
    zero_ns: Arc<AtomicU64>,
    data: Option<Producer<u8>>,
    kept: Kept,
    data_stalls: u64,
}

/// The other end.
pub struct SampleDrain {
    samples: Drain<Sample>,
    zero_ns: Arc<AtomicU64>,
    data: Option<Consumer<u8>>,
    kept: Kept,
    scratch: Vec<u8>,
}

/// Makes a ring for `samples` samples (at most [`RING_SAMPLES`]), and for their answers if those are kept. Touches
/// every page of it.
pub fn ring(samples: u64, kept: Kept) -> (SampleLog, SampleDrain) {
    let data_bytes = match kept {
        Kept::None => None,
        Kept::All(bytes) => Some(bytes as usize),
        Kept::Unexpected => Some(0),
    };
    let held = RING_SAMPLES
        .min(usize::try_from(samples).unwrap_or(RING_SAMPLES))
        .max(1);
    let held = match data_bytes {
        Some(bytes) if bytes > 0 => held.min((RING_DATA / bytes).max(1)),
        _ => held,
    };
    let (log, drain) = ring::ring(held);
    let data = data_bytes.map(|bytes| {
        let (mut log, mut drain) = RingBuffer::new((held * bytes).max(LEAST_DATA));
        while log.push(0).is_ok() {}
        while drain.pop().is_ok() {}
        (log, drain)
    });
    let (data_log, data_drain) = data.unzip();
    let zero_ns = Arc::new(AtomicU64::new(0));
    (
        SampleLog {
            samples: log,
            zero_ns: Arc::clone(&zero_ns),
            data: data_log,
            kept,
            data_stalls: 0,
        },
        SampleDrain {
            samples: drain,
            zero_ns,
            data: data_drain,
            kept,
            scratch: Vec::new(),
        },
    )
}

impl SampleLog {
    /// How often a ring was full, so that the loop had to wait for the storage.
    pub fn stalls(&self) -> u64 {
        self.samples.stalls + self.data_stalls
    }

    /// Before the first sample of a point: what CLOCK_MONOTONIC read when the clock of its samples read zero.
    pub fn set_zero(&self, zero_ns: u64) {
        self.zero_ns.store(zero_ns, Ordering::Release);
    }

    /// Puts one sample, and the bytes of its answer if those are kept: of an answer longer than the
    /// ring only the beginning, which always finds room. Once the drain is dropped, both are discarded.
    #[inline]
    pub fn push(&mut self, mut sample: Sample, answer: &[u8]) {
        if let Some(data) = &mut self.data
            && self.kept.keeps(sample.status)
        {
            sample.bytes_in = answer.len() as u32;
            let mut rest = &answer[..answer.len().min(data.buffer().capacity())];
            while !rest.is_empty() {
                let room = data.slots().min(rest.len());
                if room == 0 {
                    if data.is_abandoned() {
                        return;
                    }
                    self.data_stalls += 1;
                    std::thread::yield_now();
                } else if let Ok(chunk) = data.write_chunk_uninit(room) {
                    chunk.fill_from_iter(rest[..room].iter().copied());
                    rest = &rest[room..];
                }
            }
        }
        self.samples.push(sample);
    }
}

impl SampleDrain {
    /// What CLOCK_MONOTONIC read when the clock of the samples read zero.
    pub fn zero_ns(&self) -> u64 {
        self.zero_ns.load(Ordering::Acquire)
    }

    /// Samples waiting.
    pub fn waiting(&self) -> usize {
        self.samples.waiting()
    }

    /// True when the ring should be emptied although the point still runs.
    pub fn is_pressing(&self) -> bool {
        let data = self.data.as_ref();
        self.samples.is_pressing()
            || data.is_some_and(|data| data.slots() * 2 >= data.buffer().capacity())
    }

    /// The samples that wait, to look at.
    pub fn samples(&mut self) -> &mut Drain<Sample> {
        &mut self.samples
    }

    /// Takes what is there: each sample with the bytes that were kept of its answer. Stops at the first
    /// error of `take` and returns it.
    pub fn take_all<E>(
        &mut self,
        take: impl FnMut(&Sample, &[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        self.take_oldest(self.samples.waiting(), take)
    }

    /// The same for the oldest `samples` of those that wait.
    pub fn take_oldest<E>(
        &mut self,
        samples: usize,
        mut take: impl FnMut(&Sample, &[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut taken = 0;
        for _ in 0..samples {
            let Some(sample) = self.samples.pop() else {
                break;
            };
            self.scratch.clear();
            if let Some(data) = &mut self.data
                && self.kept.keeps(sample.status)
            {
                let kept = (sample.bytes_in as usize).min(data.buffer().capacity());
                if let Ok(chunk) = data.read_chunk(kept) {
                    let (first, second) = chunk.as_slices();
                    self.scratch.extend_from_slice(first);
                    self.scratch.extend_from_slice(second);
                    chunk.commit_all();
                }
            }
            take(&sample, &self.scratch)?;
            taken += 1;
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn samples_come_out_in_order_with_their_own_bytes_though_the_ring_is_short() {
        let (mut log, mut drain) = ring(8, Kept::All(4));
        let writer = std::thread::spawn(move || {
            for sequence in 0..1_000_u64 {
                let answer = [sequence as u8; 3];
                let length = (sequence % 4) as usize;
                log.push(
                    Sample {
                        sequence,
                        ..Sample::default()
                    },
                    &answer[..length.min(3)],
                );
            }
        });
        let mut next = 0;
        while next < 1_000 {
            drain
                .take_all(|sample, answer| {
                    assert_eq!(sample.sequence, next);
                    assert!(answer.iter().all(|&byte| byte == next as u8));
                    assert_eq!(answer.len() as u64, (next % 4).min(3));
                    next += 1;
                    Ok::<(), ()>(())
                })
                .unwrap();
        }
        writer.join().unwrap();
    }

    #[test]
    fn a_push_returns_when_the_drain_is_gone() {
        let (mut log, drain) = ring(8, Kept::All(4));
        let (done, is_done) = mpsc::channel();
        drop(drain);
        std::thread::spawn(move || {
            (0..100).for_each(|_| log.push(Sample::default(), &[1, 2, 3, 4]));
            let _ = done.send(log.stalls());
        });
        let stalls = is_done.recv_timeout(Duration::from_secs(20));
        assert_eq!(stalls, Ok(0), "nobody's storage was too slow");
    }

    #[test]
    fn an_answer_longer_than_the_ring_is_cut_and_its_length_kept() {
        let (mut log, mut drain) = ring(1, Kept::All(4));
        let long = vec![7; 2 * LEAST_DATA];
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            log.push(Sample::default(), &long);
            let _ = done.send(log);
        });
        let mut log = is_done
            .recv_timeout(Duration::from_secs(20))
            .expect("the push returns");
        let mut seen = Vec::new();
        let mut take = |drain: &mut SampleDrain| {
            drain.take_all(|sample, answer| {
                seen.push((sample.bytes_in as usize, answer.to_vec()));
                Ok::<(), ()>(())
            })
        };
        take(&mut drain).unwrap();
        log.push(Sample::default(), &[9; 3]);
        take(&mut drain).unwrap();
        let cut = vec![7; LEAST_DATA];
        assert_eq!(seen, [(2 * LEAST_DATA, cut), (3, vec![9; 3])]);
    }

    #[test]
    fn a_long_point_is_held_in_bounded_memory() {
        let (_, drain) = ring(100_000_000, Kept::None);
        assert_eq!(drain.samples.capacity(), RING_SAMPLES);
    }
}
