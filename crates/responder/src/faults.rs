//! Faults on request: what a bad cable, a full buffer or a crashing firmware does, countable.

/// How often something happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultRate {
    /// At every so manieth exchange: 1 is each.
    Every(u64),
    /// With this probability at each exchange.
    Chance(f64),
}

/// Which faults are made, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// The answer is not sent.
    pub drop: Option<FaultRate>,
    /// A bit of the answer is wrong.
    pub corrupt: Option<FaultRate>,
    /// The answer is sent twice.
    pub duplicate: Option<FaultRate>,
    /// The answer is held back so that later ones overtake it.
    pub reorder: Option<FaultRate>,
    /// A byte in the middle of the answer is missing.
    pub lose_byte: Option<FaultRate>,
    /// A byte is added in the middle of the answer.
    pub insert_byte: Option<FaultRate>,
    /// The device does nothing for so many nanoseconds.
    pub stall: Option<(FaultRate, u64)>,
    /// The device is gone after so many exchanges, or transfers of a stream.
    pub disconnect_after: Option<u64>,
}

/// What happens to one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faulted {
    /// See [`Faults`].
    pub drop: bool,
    /// See [`Faults`].
    pub corrupt: bool,
    /// See [`Faults`].
    pub duplicate: bool,
    /// See [`Faults`].
    pub reorder: bool,
    /// See [`Faults`].
    pub lose_byte: bool,
    /// See [`Faults`].
    pub insert_byte: bool,
    /// Nanoseconds that the device is held up.
    pub stall_ns: u64,
}

/// Draws the faults of one exchange after the other.
pub struct FaultInjector {
    faults: Faults,
    exchanges: u64,
    sunk: u64,
    random: fastrand::Rng,
}

impl FaultInjector {
    /// FaultInjector for a device that has seen no exchange yet.
    pub fn new(faults: Faults, seed: u64) -> FaultInjector {
        FaultInjector {
            faults,
            exchanges: 0,
            sunk: 0,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// True if the device is gone.
    pub fn is_gone(&self) -> bool {
        self.faults
            .disconnect_after
            .is_some_and(|after| self.exchanges + self.sunk >= after)
    }

    /// A transfer of a stream was taken: nothing happens to it, but it counts for the last one.
    pub fn count_sunk(&mut self) {
        self.sunk += 1;
    }

    /// The faults of the next exchange, or of the next transfer of a stream to the host.
    pub fn next(&mut self) -> Faulted {
        self.exchanges += 1;
        let faults = self.faults;
        Faulted {
            drop: self.strikes(faults.drop),
            corrupt: self.strikes(faults.corrupt),
            duplicate: self.strikes(faults.duplicate),
            reorder: self.strikes(faults.reorder),
            lose_byte: self.strikes(faults.lose_byte),
            insert_byte: self.strikes(faults.insert_byte),
            stall_ns: match faults.stall {
                Some((often, stall_ns)) if self.strikes(Some(often)) => stall_ns,
                _ => 0,
            },
        }
    }

    fn strikes(&mut self, often: Option<FaultRate>) -> bool {
        match often {
            None => false,
            Some(FaultRate::Every(count)) => self.exchanges.is_multiple_of(count.max(1)),
            Some(FaultRate::Chance(chance)) => self.random.f64() < chance,
        }
    }
}

impl Faulted {
    /// Does to the bytes of an answer what is to happen to them.
    pub fn mangle(self, answer: &mut Vec<u8>) {
        if let (true, Some(last)) = (self.corrupt, answer.last_mut()) {
            *last ^= 0x10;
        }
        let middle = answer.len() / 2;
        if self.lose_byte && !answer.is_empty() {
            answer.remove(middle);
        }
        if self.insert_byte {
            answer.insert(middle, 0xff);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chance_strikes_about_as_often_as_it_says() {
        let faults = Faults {
            drop: Some(FaultRate::Chance(0.1)),
            ..Faults::default()
        };
        let mut injector = FaultInjector::new(faults, 1);
        let struck = (0..10_000).filter(|_| injector.next().drop).count();
        assert!((800..1200).contains(&struck), "{struck}");
    }
}
