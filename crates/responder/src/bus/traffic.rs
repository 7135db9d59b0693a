//! What hangs on one bus and competes for it: endpoints of any number of devices, with the transfers
//! that the host has handed over and those that the devices have to send. Packet by packet, in the
//! order of time; of several that could be carried, the one that waited longest is.

use super::calendar::Calendar;
use super::host::Program;
use super::timing::{BusTiming, DeviceTiming, NakRetry, Pickup, PipeTiming};
use std::collections::VecDeque;

/// As seen from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Device to host.
    In,
    /// Host to device.
    Out,
}

/// An endpoint that carries data.
#[derive(Clone, Copy, Debug)]
pub struct PipeSpec {
    /// Which way.
    pub direction: Direction,
    /// Its largest packet.
    pub packet_bytes: u64,
    /// How fast its device is.
    pub device: DeviceTiming,
    /// An interrupt endpoint is asked once in this time; 0 for a bulk endpoint.
    pub interval_ns: u64,
}

/// Names an endpoint within its [`Traffic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipeId(usize);

/// A packet that was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// On this endpoint.
    pub pipe: PipeId,
    /// For this transfer of the host.
    pub key: u64,
    /// Bytes of payload.
    pub bytes: u64,
    /// When the host could first have asked for it: it saw the transfer, and the packet before was over.
    pub asked_ns: u64,
    /// When the device was ready for it; it answered NAK before.
    pub ready_ns: u64,
    /// When it began on the wire.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// OUT: when the device has it out of its FIFO. IN: the same as its end.
    pub taken_ns: u64,
    /// The device is not ready for the next packet when this one ends.
    pub fills: bool,
    /// When the host learns that its transfer is done, if this was its last packet.
    pub told_ns: Option<u64>,
}

/// A device that was asked before it was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// On this endpoint.
    pub pipe: PipeId,
    /// For this transfer of the host.
    pub key: u64,
    /// From when on.
    pub since_ns: u64,
    /// Until when, as far as is known.
    pub until_ns: u64,
}

/// What the bus did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// One packet.
    Carried(Carried),
    /// Nothing: the next packet, if there is any, begins at this time as far as is known.
    Idle(Option<u64>),
}

/// A transfer that the host has handed over.
#[derive(Debug)]
struct Wanted {
    key: u64,
    bytes: u64,
    carried: u64,
    /// A packet of length zero follows the last full one.
    close: bool,
    seen_ns: u64,
}

/// A transfer that the device has to send.
#[derive(Debug)]
struct Offered {
    bytes: u64,
    sent: u64,
    close: bool,
    ready_ns: u64,
}

#[derive(Debug)]
struct Pipe {
    spec: PipeSpec,
    timing: PipeTiming,
    wanted: VecDeque<Wanted>,
    offered: VecDeque<Offered>,
    /// The host does not ask before.
    free_ns: u64,
    /// Nor before this, because the device was not ready when it was asked last.
    refused_until_ns: u64,
    /// When the buffers of the FIFO were emptied last, oldest first.
    emptied: VecDeque<u64>,
    /// When the device has moved what it moved last.
    moved_ns: u64,
    /// The device takes nothing at all.
    held: bool,
    /// When it last began to take again.
    released_ns: u64,
    served: u64,
    /// The program on the host that uses it, if its times are modelled.
    program: Option<usize>,
    /// When the host learns of the last transfer that is done: the next ones do not overtake it.
    last_told_ns: u64,
}

/// All that is on a bus.
#[derive(Debug)]
pub struct Traffic {
    calendar: Calendar,
    pipes: Vec<Pipe>,
    packets: u64,
    /// What begins before this was carried already.
    now_ns: u64,
    /// The programs on the host.
    programs: Vec<Program>,
}

impl Traffic {
    /// A bus with nothing on it.
    pub fn new(timing: BusTiming) -> Traffic {
        Traffic {
            calendar: Calendar::new(timing),
            pipes: Vec::new(),
            packets: 0,
            now_ns: 0,
            programs: Vec::new(),
        }
    }

    /// Adds an endpoint.
    pub fn add(&mut self, spec: PipeSpec) -> PipeId {
        self.pipes.push(Pipe {
            spec,
            timing: match spec.direction {
                Direction::In => spec.device.to_host,
                Direction::Out => spec.device.from_host,
            },
            wanted: VecDeque::new(),
            offered: VecDeque::new(),
            free_ns: 0,
            refused_until_ns: 0,
            emptied: VecDeque::new(),
            moved_ns: 0,
            held: false,
            released_ns: 0,
            served: 0,
            program: None,
            last_told_ns: 0,
        });
        PipeId(self.pipes.len() - 1)
    }

    /// One program on the host writes requests to `out` and reads their answers from `to_host`, with the
    /// times of the host that the bus has. Each program has its own random times.
    pub fn pair(&mut self, out: PipeId, to_host: PipeId) {
        let host = self.calendar.timing().host;
        if host.is_transparent() {
            return;
        }
        let number = self.programs.len();
        self.programs.push(Program::new(host, number as u64 + 1));
        self.pipes[out.0].program = Some(number);
        self.pipes[to_host.0].program = Some(number);
    }

    /// The host hands over a transfer: so many bytes OUT, or room for so many IN. `close` ends an
    /// OUT transfer that fills its last packet by one of length zero (USB 2.0, 5.8.3).
    pub fn submit(&mut self, pipe: PipeId, key: u64, bytes: u64, close: bool, now_ns: u64) {
        let timing = *self.calendar.timing();
        let pipe = &mut self.pipes[pipe.0];
        let at_ns = match (pipe.spec.direction, pipe.program) {
            (Direction::Out, Some(number)) => self.programs[number].write(now_ns),
            _ => now_ns,
        };
        let seen_ns = match timing.pickup {
            Pickup::NextFrame if pipe.wanted.is_empty() => timing.next_frame(at_ns),
            _ => at_ns,
        };
        pipe.wanted.push_back(Wanted {
            key,
            bytes,
            carried: 0,
            close,
            seen_ns,
        });
    }

    /// A device has a transfer to send on its IN endpoint from `ready_ns` on; `close` ends one
    /// that fills its last packet by a packet of length zero.
    pub fn offer(&mut self, pipe: PipeId, bytes: u64, close: bool, ready_ns: u64) {
        let pipe = &mut self.pipes[pipe.0];
        let was_asked = pipe.wanted.front().is_some_and(|w| w.seen_ns < ready_ns);
        if pipe.offered.is_empty() && was_asked {
            pipe.refused_at(ready_ns, self.calendar.timing());
        }
        pipe.offered.push_back(Offered {
            bytes,
            sent: 0,
            close: close || bytes == 0,
            ready_ns,
        });
    }

    /// The device has nothing to send on this endpoint any more.
    pub fn withdraw(&mut self, pipe: PipeId) {
        self.pipes[pipe.0].offered.clear();
    }

    /// Makes the device refuse everything on its OUT endpoint, or not any longer.
    pub fn hold(&mut self, pipe: PipeId, held: bool) {
        let pipe = &mut self.pipes[pipe.0];
        if pipe.held && !held {
            pipe.released_ns = self.now_ns;
            pipe.refused_at(self.now_ns, self.calendar.timing());
        }
        pipe.held = held;
    }

    /// The host takes a transfer back; returns how many of its bytes were carried, or nothing if it
    /// is not there.
    pub fn cancel(&mut self, pipe: PipeId, key: u64) -> Option<u64> {
        let wanted = &mut self.pipes[pipe.0].wanted;
        let at = wanted.iter().position(|wanted| wanted.key == key)?;
        wanted.remove(at).map(|wanted| wanted.carried)
    }

    /// The largest packet of an endpoint.
    pub fn packet_bytes(&self, pipe: PipeId) -> usize {
        self.pipes[pipe.0].spec.packet_bytes as usize
    }

    /// Carries the next packet if it begins before `until_ns`. What it causes (an answer, a new
    /// transfer) must be given before the next step; after [`Step::Idle`] nothing begins before
    /// `until_ns` any more.
    pub fn step(&mut self, until_ns: u64) -> Step {
        loop {
            let next = (0..self.pipes.len())
                .filter_map(|at| {
                    let pipe = &self.pipes[at];
                    let begin = pipe.next_begin(self.now_ns, &self.calendar)?;
                    Some((begin, pipe.spec.interval_ns == 0, pipe.served, at))
                })
                .min();
            let Some((begin_ns, .., at)) = next.filter(|(begin, ..)| *begin < until_ns) else {
                if until_ns < u64::MAX {
                    self.now_ns = self.now_ns.max(until_ns);
                }
                return Step::Idle(next.map(|(begin, ..)| begin));
            };
            self.now_ns = self.now_ns.max(begin_ns);
            let pipe = &mut self.pipes[at];
            if pipe.ready_ns().is_some_and(|ready| ready > begin_ns) {
                let next_frame = self.calendar.timing().next_frame(begin_ns);
                pipe.refused_until_ns = next_frame;
                continue;
            }
            self.calendar.forget_before(begin_ns);
            self.packets += 1;
            pipe.served = self.packets;
            let (carried, is_answer) = pipe.carry(begin_ns, &mut self.calendar);
            let told_ns = match (carried.told_ns, pipe.program) {
                (Some(told_ns), Some(number)) if pipe.spec.direction == Direction::In => {
                    let program = &mut self.programs[number];
                    let read_ns = if is_answer {
                        program.read(told_ns)
                    } else {
                        told_ns
                    };
                    pipe.last_told_ns = pipe.last_told_ns.max(read_ns);
                    Some(pipe.last_told_ns)
                }
                (told_ns, _) => told_ns,
            };
            return Step::Carried(Carried {
                pipe: PipeId(at),
                told_ns,
                ..carried
            });
        }
    }

    /// Endpoints whose device was asked before it was ready, up to the end of the last step.
    pub fn refused(&self) -> impl Iterator<Item = Refused> {
        let pipes = self.pipes.iter().enumerate();
        pipes.filter_map(|(at, pipe)| {
            let since_ns = pipe.asked_ns()?;
            let until_ns = self.now_ns.min(pipe.ready_ns().unwrap_or(u64::MAX));
            (since_ns < until_ns).then_some(Refused {
                pipe: PipeId(at),
                key: pipe.wanted.front()?.key,
                since_ns,
                until_ns,
            })
        })
    }
}

impl Pipe {
    /// When the host asks for the next packet with success, or next at all if the device is not
    /// asked twice in a frame; nothing if there is nothing to carry.
    fn next_begin(&self, now_ns: u64, calendar: &Calendar) -> Option<u64> {
        let wanted = self.wanted.front()?;
        let ready = self.ready_ns()?;
        let bytes = match self.spec.direction {
            // The host cannot know how much will come.
            Direction::In => self.spec.packet_bytes,
            Direction::Out => (wanted.bytes - wanted.carried).min(self.spec.packet_bytes),
        };
        let ask = now_ns.max(self.asked_ns()?);
        let from = match (self.spec.interval_ns, self.timing.nak_retry) {
            (0, NakRetry::AtOnce) => ask.max(ready),
            (0, NakRetry::NextFrame) => ask.max(self.refused_until_ns),
            (interval, _) => ask.max(ready).div_ceil(interval) * interval,
        };
        Some(calendar.find(from, bytes))
    }

    /// From when on the host asks for the next packet, if it wants any.
    fn asked_ns(&self) -> Option<u64> {
        Some(self.wanted.front()?.seen_ns.max(self.free_ns))
    }

    /// When the device is ready for the next packet, if it ever is.
    fn ready_ns(&self) -> Option<u64> {
        match self.spec.direction {
            Direction::In => self.loaded_ns(),
            Direction::Out => (!self.held).then(|| self.oldest_emptied().max(self.released_ns)),
        }
    }

    /// The device became ready at this time, having been asked in vain before.
    fn refused_at(&mut self, ready_ns: u64, timing: &BusTiming) {
        self.refused_until_ns = self.refused_until_ns.max(timing.frame_from(ready_ns));
    }

    /// When the next packet of an IN endpoint stands in the FIFO.
    fn loaded_ns(&self) -> Option<u64> {
        let offered = self.offered.front()?;
        let begin = if offered.sent == 0 {
            // Its own end of the transfer before is what the device waits for.
            let last_end = self.emptied.back().copied().unwrap_or(0);
            offered.ready_ns.max(last_end) + self.spec.device.transfer_ns
        } else {
            self.moved_ns.max(self.oldest_emptied())
        };
        let bytes = (offered.bytes - offered.sent).min(self.spec.packet_bytes);
        Some(begin + self.timing.move_ns(bytes))
    }

    /// When a buffer of the FIFO became free that was not used again since.
    fn oldest_emptied(&self) -> u64 {
        if self.emptied.len() < usize::from(self.timing.buffers.max(1)) {
            return 0;
        }
        self.emptied.front().copied().unwrap_or(0)
    }

    fn emptied_at(&mut self, at_ns: u64) {
        while self.emptied.len() >= usize::from(self.timing.buffers.max(1)) {
            self.emptied.pop_front();
        }
        self.emptied.push_back(at_ns);
    }

    /// Carries a packet; says also if it is the last one of an answer.
    fn carry(&mut self, begin_ns: u64, calendar: &mut Calendar) -> (Carried, bool) {
        let loaded_ns = self.loaded_ns();
        let (asked_ns, ready_ns) = (self.asked_ns(), self.ready_ns());
        let packet_bytes = self.spec.packet_bytes;
        let wanted = self.wanted.front_mut().expect("a packet begins for it");
        let room = wanted.bytes - wanted.carried;
        let mut is_answer = false;
        let (bytes, done) = match self.spec.direction {
            Direction::Out => {
                let bytes = room.min(packet_bytes);
                // A packet of length zero closes; one that follows a full one was asked for.
                let closes = bytes < packet_bytes;
                (bytes, closes || (bytes == room && !wanted.close))
            }
            Direction::In => {
                let offered = self.offered.front_mut().expect("it is loaded");
                let bytes = (offered.bytes - offered.sent).min(packet_bytes).min(room);
                offered.sent += bytes;
                let closes = bytes < packet_bytes;
                if offered.sent == offered.bytes && (closes || !offered.close) {
                    is_answer = offered.close;
                    self.offered.pop_front();
                }
                (bytes, closes || bytes == room)
            }
        };
        wanted.carried += bytes;
        let key = wanted.key;
        if done {
            self.wanted.pop_front();
        }
        let end_ns = calendar.take(begin_ns, bytes);
        let timing = calendar.timing();
        let taken_ns = match self.spec.direction {
            Direction::In => {
                self.moved_ns = loaded_ns.expect("it is loaded");
                self.emptied_at(end_ns);
                end_ns
            }
            Direction::Out => {
                let taken = self.moved_ns.max(end_ns) + self.timing.move_ns(bytes);
                self.moved_ns = taken;
                if done {
                    self.moved_ns += self.spec.device.transfer_ns;
                }
                self.emptied_at(self.moved_ns);
                taken
            }
        };
        self.free_ns = match self.spec.interval_ns {
            0 => end_ns + timing.turnaround_ns + timing.split_ns,
            interval => (begin_ns / interval + 1) * interval,
        };
        let carried = Carried {
            pipe: PipeId(0),
            key,
            bytes,
            asked_ns: asked_ns.expect("a packet begins for it"),
            ready_ns: ready_ns.expect("it is ready"),
            begin_ns,
            end_ns,
            taken_ns,
            fills: self.ready_ns().is_none_or(|ready| ready > end_ns),
            told_ns: done.then(|| timing.told_ns(end_ns + timing.split_ns)),
        };
        (carried, is_answer)
    }
}
