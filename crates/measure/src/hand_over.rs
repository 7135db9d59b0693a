//! When the caller's thread takes rows out of the ring while a point is measured.

use std::time::Duration;

/// Rows wait in the ring so long at most: what is in the ring is lost with the process.
const EVERY: Duration = Duration::from_millis(250);

/// When rows were last taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct HandOver {
    last: Duration,
}

impl HandOver {
    /// True if it is time, or if the ring fills up; `elapsed` is the time since the point began.
    pub fn is_due(&mut self, elapsed: Duration, is_pressing: bool) -> bool {
        let is_due = is_pressing || elapsed.saturating_sub(self.last) >= EVERY;
        if is_due {
            self.last = elapsed;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_taken_four_times_a_second_or_when_the_ring_fills_up() {
        let ms = Duration::from_millis;
        let mut hand_over = HandOver::default();
        assert!(!hand_over.is_due(ms(50), false));
        assert!(hand_over.is_due(ms(100), true));
        assert!(!hand_over.is_due(ms(300), false));
        assert!(hand_over.is_due(ms(350), false));
        assert!(!hand_over.is_due(ms(400), false));
    }
}
