//! The software on the host: how long a program needs for a request and its answer, and when it
//! notices that an answer has arrived. Virtual time; the same seed gives the same times to the bit.

/// A time that varies evenly between two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The shortest.
    pub from_ns: u64,
    /// The longest.
    pub to_ns: u64,
}

impl Span {
    /// Always the same time.
    pub const fn exactly(ns: u64) -> Span {
        Span {
            from_ns: ns,
            to_ns: ns,
        }
    }

    /// Evenly from one time to another.
    pub const fn between(from_ns: u64, to_ns: u64) -> Span {
        Span { from_ns, to_ns }
    }

    fn draw(self, random: &mut fastrand::Rng) -> u64 {
        if self.to_ns <= self.from_ns {
            self.from_ns
        } else {
            random.u64(self.from_ns..=self.to_ns)
        }
    }
}

/// How the driver hands what a program writes to the host controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// Each write is a transfer; so many of them may be outstanding.
    Each(u32),
    /// Writes that come while a transfer is outstanding are gathered into the next one.
    Gathered,
    /// As the program that is connected does it: nothing is added.
    #[default]
    AsGiven,
}

/// A host: a program that writes requests and reads their answers in turn, and the system beneath it.
///
/// The program has one thread. When it begins to read, an answer that is in the driver's buffer already
/// is taken at once. If there is none, the program looks all the time for `spin_ns`, then again after
/// `poll`, and again, until the answer is there. With each of these it gives up the processor, so it may
/// lose it for one or more ticks of the system's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTiming {
    /// From a write until the host controller has the transfer.
    pub write: Span,
    /// To process an answer that has arrived: the call, the copy, the conversion.
    pub call: Span,
    /// For so long an answer is noticed as soon as it arrives.
    pub spin_ns: u64,
    /// Between two looks after that. Zero: an answer is noticed at once.
    pub poll: Span,
    /// How often a look costs a tick, in thousandths.
    pub lost_per_mille: u32,
    /// A tick of the system's clock.
    pub tick_ns: u64,
    /// How often one more tick is lost after a lost one, in thousandths.
    pub again_per_mille: u32,
    /// How the driver hands on what is written.
    pub writes: Writes,
}

impl HostTiming {
    /// Adds no time of its own.
    pub const NONE: HostTiming = HostTiming {
        write: Span::exactly(0),
        call: Span::exactly(0),
        spin_ns: 0,
        poll: Span::exactly(0),
        lost_per_mille: 0,
        tick_ns: 0,
        again_per_mille: 0,
        writes: Writes::AsGiven,
    };

    /// True if what was written and when it was answered is not changed by it.
    pub fn is_transparent(&self) -> bool {
        HostTiming {
            writes: Writes::AsGiven,
            ..*self
        } == HostTiming::NONE
    }
}

/// One program at work on a host.
#[derive(Debug)]
pub struct Program {
    timing: HostTiming,
    random: fastrand::Rng,
    /// It begins to look for the next answer.
    reads_ns: u64,
    /// Until when its last write is under way to the host controller: writes keep their order.
    written_ns: u64,
}

impl Program {
    /// A program that has done nothing yet.
    pub fn new(timing: HostTiming, seed: u64) -> Program {
        Program {
            timing,
            random: fastrand::Rng::with_seed(seed),
            reads_ns: 0,
            written_ns: 0,
        }
    }

    /// It writes at this time, and reads afterwards; returns when the host controller has the transfer.
    pub fn write(&mut self, now_ns: u64) -> u64 {
        self.reads_ns = self.reads_ns.max(now_ns);
        let handed_ns = now_ns + self.timing.write.draw(&mut self.random);
        self.written_ns = self.written_ns.max(handed_ns);
        self.written_ns
    }

    /// An answer is in the driver's buffer at this time, behind all those before it; returns when the
    /// program has it.
    pub fn read(&mut self, arrived_ns: u64) -> u64 {
        let mut look_ns = self.reads_ns;
        if look_ns < arrived_ns {
            look_ns = arrived_ns.min(look_ns + self.timing.spin_ns);
        }
        while look_ns < arrived_ns {
            let wait = self.timing.poll.draw(&mut self.random);
            if wait == 0 && self.timing.poll.to_ns == 0 {
                look_ns = arrived_ns;
            }
            look_ns += wait + self.lost_ns();
        }
        self.reads_ns = look_ns + self.timing.call.draw(&mut self.random);
        self.reads_ns
    }

    /// Time for which it loses the processor at this look.
    fn lost_ns(&mut self) -> u64 {
        let mut lost_ns = 0;
        let mut share = self.timing.lost_per_mille;
        while self.timing.tick_ns > 0 && self.random.u32(0..1000) < share {
            lost_ns += self.timing.tick_ns;
            share = self.timing.again_per_mille.min(900);
        }
        lost_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn polling() -> HostTiming {
        HostTiming {
            write: Span::exactly(MS / 2),
            call: Span::exactly(2 * MS),
            poll: Span::exactly(3 * MS),
            ..HostTiming::NONE
        }
    }

    #[test]
    fn an_answer_that_is_there_is_taken_at_once_and_another_one_at_the_next_look() {
        let mut program = Program::new(polling(), 1);
        assert_eq!(program.write(10 * MS), 10 * MS + MS / 2);
        assert_eq!(program.read(9 * MS), 12 * MS);
        // It looks at 12 and at 15 ms.
        assert_eq!(program.read(13 * MS), 17 * MS);
        assert_eq!(program.read(13 * MS), 19 * MS);
    }

    #[test]
    fn a_short_wait_is_over_as_soon_as_the_answer_is_there_and_a_long_one_at_a_look() {
        let timing = HostTiming {
            spin_ns: MS,
            ..polling()
        };
        let mut program = Program::new(timing, 1);
        assert_eq!(program.read(MS / 2), 2 * MS + MS / 2);
        // Until 3.5 ms all the time, then at 6.5 ms.
        assert_eq!(program.read(4 * MS), 8 * MS + MS / 2);
    }

    #[test]
    fn a_host_without_times_of_its_own_adds_none() {
        assert!(HostTiming::default().is_transparent());
        let mut program = Program::new(HostTiming::NONE, 1);
        assert_eq!(program.write(5), 5);
        assert_eq!(program.read(70), 70);
        assert_eq!(program.read(71), 71);
    }

    #[test]
    fn writes_keep_their_order_though_their_times_vary() {
        let timing = HostTiming {
            write: Span::between(0, MS),
            ..HostTiming::NONE
        };
        let mut program = Program::new(timing, 3);
        let handed: Vec<u64> = (0..100).map(|n| program.write(n * 1000)).collect();
        assert!(handed.is_sorted());
        assert!(handed.iter().zip(0..).all(|(at, n)| *at >= n * 1000));
    }

    #[test]
    fn ticks_are_lost_as_often_as_stated_and_end() {
        let timing = HostTiming {
            poll: Span::exactly(MS),
            lost_per_mille: 100,
            again_per_mille: 500,
            tick_ns: 1000 * MS,
            ..HostTiming::NONE
        };
        let mut program = Program::new(timing, 7);
        let ticks: u64 = (0..20_000).map(|_| program.lost_ns() / (1000 * MS)).sum();
        // One in ten, and each of these one more on average.
        assert!((3_700..4_300).contains(&ticks), "{ticks}");
        let always = HostTiming {
            lost_per_mille: 1000,
            again_per_mille: 1000,
            ..timing
        };
        assert!(Program::new(always, 1).read(1) < u64::MAX);
    }
}
