//! Transfers queued at the two endpoints of a FunctionFS pair, through the kernel's own AIO
//! (io_submit(2)): it is the only interface that keeps more than one transfer at an endpoint, and
//! one call hands over or fetches many. Each endpoint is a ring of transfers in the order of their
//! submission, because the kernel may report completions out of it.
//!
//! Everything unsafe about it is here: a transfer's buffer is not touched from its submission to
//! its completion, and the context is destroyed (which waits for what is under way) before buffers
//! are freed.

use rustix::fd::{AsRawFd, OwnedFd};
use std::io;
use std::time::Duration;

/// `IOCB_CMD_PREAD` and `IOCB_CMD_PWRITE` of linux/aio_abi.h.
const READ: u16 = 0;
const WRITE: u16 = 1;

/// `struct iocb` of linux/aio_abi.h. `key` is the kernel's; the halves of its word are swapped on
/// big-endian machines, where neither is used either.
#[repr(C)]
#[derive(Default)]
struct Block {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    eventfd: u32,
}

/// `struct io_event` of linux/aio_abi.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    block: u64,
    result: i64,
    result2: i64,
}

/// What became of a transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    UnderWay,
    /// Bytes moved, or an error number negated.
    Done(i64),
}

struct Transfer {
    block: Block,
    buffer: Vec<u8>,
    state: State,
}

/// One endpoint's transfers, a ring.
struct Lane {
    file: OwnedFd,
    opcode: u16,
    transfers: Box<[Transfer]>,
    oldest: usize,
    /// Places taken from the oldest on, and how many of them the kernel has.
    used: usize,
    under_way: usize,
}

impl Lane {
    fn new(file: OwnedFd, opcode: u16, length: usize) -> Lane {
        let transfers = (0..length).map(|_| Transfer {
            block: Block::default(),
            buffer: Vec::new(),
            state: State::Idle,
        });
        Lane {
            file,
            opcode,
            transfers: transfers.collect(),
            oldest: 0,
            used: 0,
            under_way: 0,
        }
    }

    fn has_room(&self) -> bool {
        self.used < self.transfers.len()
    }

    /// The next free place in the ring; its buffer may be changed.
    fn free(&mut self) -> (usize, &mut Vec<u8>) {
        assert!(self.has_room(), "asked for room before");
        let index = (self.oldest + self.used) % self.transfers.len();
        (index, &mut self.transfers[index].buffer)
    }

    /// Takes the free place for a transfer of its whole buffer.
    fn stage(&mut self, index: usize) -> *mut Block {
        self.used += 1;
        self.under_way += 1;
        let (opcode, file) = (self.opcode, self.file.as_raw_fd());
        let transfer = &mut self.transfers[index];
        transfer.state = State::UnderWay;
        transfer.block = Block {
            data: (u64::from(opcode) << 32) | index as u64,
            opcode,
            file: file as u32,
            buffer: transfer.buffer.as_mut_ptr() as usize as u64,
            bytes: transfer.buffer.len() as u64,
            ..Block::default()
        };
        &mut transfer.block
    }

    fn oldest_done(&self) -> Option<i64> {
        match self.transfers[self.oldest].state {
            State::Done(result) if self.used > 0 => Some(result),
            _ => None,
        }
    }

    fn retire(&mut self) {
        self.transfers[self.oldest].state = State::Idle;
        self.oldest = (self.oldest + 1) % self.transfers.len();
        self.used -= 1;
    }
}

/// Transfers of both directions. IN and OUT are the host's: OUT is read here, IN is written.
pub struct Queue {
    context: libc::c_ulong,
    out: Lane,
    in_: Lane,
    staged_out: Vec<*mut Block>,
    staged_in: Vec<*mut Block>,
    events: Vec<Event>,
}

// SAFETY: the pointers are into the queue's own transfers, which are on the heap and move with it;
// an AIO context belongs to the process.
unsafe impl Send for Queue {}

impl Queue {
    /// A queue of at most so many transfers in each direction.
    pub fn new(in_: OwnedFd, out: OwnedFd, length: usize) -> io::Result<Queue> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: io_setup writes the context to the pointer, which is valid for the call.
        let made = unsafe { libc::syscall(libc::SYS_io_setup, 2 * length, &mut context) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Queue {
            context,
            out: Lane::new(out, READ, length),
            in_: Lane::new(in_, WRITE, length),
            staged_out: Vec::with_capacity(length),
            staged_in: Vec::with_capacity(length),
            events: vec![Event::default(); 2 * length],
        })
    }

    /// True if another OUT transfer may be staged.
    pub fn out_has_room(&self) -> bool {
        self.out.has_room()
    }

    /// True if another IN transfer may be staged.
    pub fn in_has_room(&self) -> bool {
        self.in_.has_room()
    }

    /// Prepares to receive up to so many bytes.
    pub fn stage_out(&mut self, bytes: usize) {
        let (index, buffer) = self.out.free();
        buffer.resize(bytes, 0);
        let block = self.out.stage(index);
        self.staged_out.push(block);
    }

    /// Prepares to send what `fill` puts into the buffer (nothing: a packet of length zero), unless
    /// it returns false.
    pub fn stage_in(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let (index, buffer) = self.in_.free();
        buffer.clear();
        let filled = fill(buffer);
        if filled {
            let block = self.in_.stage(index);
            self.staged_in.push(block);
        }
        filled
    }

    /// Hands over what was staged: answers first, for their sake somebody waits.
    pub fn submit(&mut self) -> io::Result<()> {
        self.submit_in_order(true)
    }

    /// Hands over what was staged, OUT transfers first.
    pub fn submit_out_first(&mut self) -> io::Result<()> {
        self.submit_in_order(false)
    }

    fn submit_in_order(&mut self, in_first: bool) -> io::Result<()> {
        let (first, second) = if in_first {
            (&mut self.staged_in, &mut self.staged_out)
        } else {
            (&mut self.staged_out, &mut self.staged_in)
        };
        first.append(second);
        let mut rest = first.as_mut_slice();
        while !rest.is_empty() {
            // SAFETY: the blocks were staged and their buffers live, unmoved and untouched, until
            // the kernel reports them done (or the context is destroyed, see Drop).
            let taken = unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context,
                    rest.len(),
                    rest.as_mut_ptr(),
                )
            };
            if taken < 0 {
                let error = io::Error::last_os_error();
                if error.kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return Err(error);
            }
            rest = &mut rest[taken as usize..];
        }
        first.clear();
        Ok(())
    }

    /// Waits until a transfer is done, at most so long (`None`: for ever), and notes all that are.
    pub fn wait(&mut self, at_most: Option<Duration>) -> io::Result<()> {
        // The kernel's timespec of this call is two longs on every machine.
        let time = at_most.map(|time| {
            [
                time.as_secs() as libc::c_long,
                libc::c_long::from(time.subsec_nanos() as i32),
            ]
        });
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the kernel writes at most as many events as there are, and reads the time.
        let count = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                1 as libc::c_long,
                self.events.len() as libc::c_long,
                self.events.as_mut_ptr(),
                time,
            )
        };
        if count < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::Interrupted => Ok(()),
                _ => Err(error),
            };
        }
        for event in &self.events[..count as usize] {
            let lane = match (event.data >> 32) as u16 {
                READ => &mut self.out,
                _ => &mut self.in_,
            };
            lane.transfers[event.data as u32 as usize].state = State::Done(event.result);
            lane.under_way -= 1;
        }
        Ok(())
    }

    /// The oldest OUT transfer if it is done: its bytes, or why there are none.
    pub fn out_done(&self) -> Option<io::Result<&[u8]>> {
        let result = self.out.oldest_done()?;
        Some(if result < 0 {
            Err(io::Error::from_raw_os_error(-result as i32))
        } else {
            let buffer = &self.out.transfers[self.out.oldest].buffer;
            Ok(&buffer[..(result as usize).min(buffer.len())])
        })
    }

    /// Frees the place of the oldest OUT transfer, which is done.
    pub fn retire_out(&mut self) {
        self.out.retire();
    }

    /// Frees the places of IN transfers that are done. An error is that of the first that failed.
    pub fn retire_in(&mut self) -> io::Result<()> {
        while let Some(result) = self.in_.oldest_done() {
            self.in_.retire();
            if result < 0 {
                return Err(io::Error::from_raw_os_error(-result as i32));
            }
        }
        Ok(())
    }

    /// Asks for all OUT transfers that are not done to be given back, the newest first, so that
    /// what arrives meanwhile goes to the oldest.
    pub fn cancel_out(&mut self) {
        for back in (0..self.out.used).rev() {
            let index = (self.out.oldest + back) % self.out.transfers.len();
            cancel(self.context, &mut self.out.transfers[index]);
        }
    }

    /// Asks for everything to be given back.
    pub fn cancel(&mut self) {
        self.cancel_out();
        self.cancel_in();
    }

    /// Asks for all IN transfers that are not done to be given back.
    pub fn cancel_in(&mut self) {
        for transfer in &mut self.in_.transfers {
            cancel(self.context, transfer);
        }
    }

    /// True if every IN transfer has arrived.
    pub fn in_idle(&self) -> bool {
        self.in_.used == 0
    }

    /// OUT transfers that the kernel has.
    pub fn out_under_way(&self) -> usize {
        self.out.under_way
    }

    /// Transfers that the kernel has.
    pub fn under_way(&self) -> usize {
        self.out.under_way + self.in_.under_way
    }
}

fn cancel(context: libc::c_ulong, transfer: &mut Transfer) {
    if transfer.state != State::UnderWay {
        return;
    }
    let mut event = Event::default();
    // SAFETY: the block is one that was submitted to this context, or is unknown to it and then
    // an error; the kernel may write one event. What became of the transfer is reported as usual,
    // whether it could be cancelled (io_cancel(2): EINPROGRESS) or was done already.
    unsafe {
        libc::syscall(
            libc::SYS_io_cancel,
            context,
            std::ptr::from_mut(&mut transfer.block),
            std::ptr::from_mut(&mut event),
        )
    };
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the context is this queue's; the call cancels and waits for all that is under
        // way, so that no buffer is in use when it is freed after this.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(length: usize) -> (Queue, std::fs::File) {
        let file = tempfile::tempfile().unwrap();
        let (in_, out) = (file.try_clone().unwrap(), file.try_clone().unwrap());
        let queue = Queue::new(in_.into(), out.into(), length).unwrap();
        (queue, file)
    }

    #[test]
    fn what_is_staged_is_moved_and_taken_in_order() {
        // A plain file stands in for the endpoints: every transfer is at its beginning.
        let (mut queue, _file) = pair(4);
        assert!(queue.stage_in(|to| {
            to.extend_from_slice(b"wiregauge");
            true
        }));
        assert!(!queue.stage_in(|_| false));
        queue.submit().unwrap();
        while queue.under_way() > 0 {
            queue.wait(Some(Duration::from_secs(5))).unwrap();
        }
        queue.retire_in().unwrap();
        for bytes in [4, 9, 1] {
            queue.stage_out(bytes);
        }
        queue.submit().unwrap();
        for expected in [&b"wire"[..], b"wiregauge", b"w"] {
            while queue.out_done().is_none() {
                queue.wait(Some(Duration::from_secs(5))).unwrap();
            }
            assert_eq!(queue.out_done().unwrap().unwrap(), expected);
            queue.retire_out();
        }
        assert_eq!(queue.under_way(), 0);
    }

    #[test]
    fn a_full_ring_has_no_room_until_its_oldest_is_retired() {
        let (mut queue, _file) = pair(2);
        queue.stage_out(1);
        queue.stage_out(1);
        assert!(!queue.out_has_room());
        queue.submit().unwrap();
        while queue.under_way() > 0 {
            queue.wait(Some(Duration::from_secs(5))).unwrap();
        }
        assert!(!queue.out_has_room());
        // The file is empty: both end with nothing.
        assert_eq!(queue.out_done().unwrap().unwrap(), b"");
        queue.retire_out();
        assert!(queue.out_has_room());
    }
}
