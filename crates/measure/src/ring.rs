//! A ring of rows between the measuring thread and the one that stores them, laid out and touched
//! beforehand. Putting a row there is a store to memory; no lock, no allocation, no system call.

use rtrb::{Consumer, Producer, PushError, RingBuffer};

/// The measuring thread's end.
pub struct Log<T> {
    rows: Producer<T>,
    /// How often the ring was full, so that the loop had to wait for the storage.
    pub stalls: u64,
}

/// The other end.
pub struct Drain<T> {
    rows: Consumer<T>,
}

/// Makes a ring for so many rows and touches every page of it.
pub fn ring<T: Copy + Default>(rows: usize) -> (Log<T>, Drain<T>) {
    let (mut log, mut drain) = RingBuffer::new(rows.max(1));
    while log.push(T::default()).is_ok() {}
    while drain.pop().is_ok() {}
    (
        Log {
            rows: log,
            stalls: 0,
        },
        Drain { rows: drain },
    )
}

impl<T> Log<T> {
    /// Puts one row; waits while the ring is full. Once the drain is dropped, rows are discarded.
    #[inline]
    pub fn push(&mut self, mut row: T) {
        let mut waited = false;
        while let Err(PushError::Full(back)) = self.rows.push(row) {
            if self.rows.is_abandoned() {
                return;
            }
            row = back;
            waited = true;
            std::thread::yield_now();
        }
        self.stalls += u64::from(waited);
    }
}

impl<T> Drain<T> {
    /// Rows waiting.
    pub fn waiting(&self) -> usize {
        self.rows.slots()
    }

    /// Rows that it holds at most.
    pub fn capacity(&self) -> usize {
        self.rows.buffer().capacity()
    }

    /// True when the ring should be emptied although the point still runs.
    pub fn is_pressing(&self) -> bool {
        self.waiting() * 2 >= self.capacity()
    }

    /// The oldest row.
    pub fn pop(&mut self) -> Option<T> {
        self.rows.pop().ok()
    }

    /// Shows `see` the rows that wait, without the oldest `skipped`, and leaves them there. Returns how many it showed.
    pub fn peek(&mut self, skipped: usize, see: impl FnMut(&T)) -> usize {
        let waiting = self.waiting();
        // Not committed, so that no row leaves.
        let Ok(rows) = self.rows.read_chunk(waiting) else {
            return 0;
        };
        let (first, second) = rows.as_slices();
        first.iter().chain(second).skip(skipped).for_each(see);
        waiting.saturating_sub(skipped)
    }

    /// Takes the oldest `rows` of those that wait. Stops at the first error of `take` and returns it.
    pub fn take_oldest<E>(
        &mut self,
        rows: usize,
        mut take: impl FnMut(&T) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut taken = 0;
        while taken < rows
            && let Some(row) = self.pop()
        {
            take(&row)?;
            taken += 1;
        }
        Ok(taken as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_push_returns_when_the_drain_is_gone() {
        let (mut log, drain) = ring(4);
        let (done, is_done) = mpsc::channel();
        drop(drain);
        std::thread::spawn(move || {
            (0..10).for_each(|row| log.push(row));
            let _ = done.send(log.stalls);
        });
        let stalls = is_done.recv_timeout(Duration::from_secs(20));
        assert_eq!(stalls, Ok(0), "nobody's storage was too slow");
    }
}
