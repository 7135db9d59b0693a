//! Which preload is tested next: first the one that the curve gives, then longer ones until one
//! holds.

use wiregauge_record::{Aim, Ending, LoopPlan, LoopPoint, LoopSummary};

/// Preloads tested at most for one cell. A host whose worst delay grows with every minute has none
/// that can be promised.
const TESTS: u32 = 8;

/// The search for one cell of the sweep.
pub(super) struct Search {
    tests_left: u32,
    /// Ring of the points that hold: that of the cell.
    cell: LoopPoint,
}

impl Search {
    /// Of this cell; it ends after the first point where the plan does not search.
    pub(super) fn of(plan: &LoopPlan, cell: LoopPoint) -> Search {
        let searches = plan.find && cell.aim == Aim::Curve;
        Search {
            tests_left: if searches { TESTS } else { 0 },
            cell,
        }
    }

    /// What is to be run after this point, under this number; `None` if the search is over.
    pub(super) fn next(&mut self, last: &LoopSummary, index: u32) -> Option<LoopPoint> {
        if self.tests_left == 0 || last.ending != Ending::Complete {
            return None;
        }
        let needed = last.needed_bytes?;
        let preload_bytes = match last.point.aim {
            Aim::Curve => needed,
            Aim::Hold if last.overruns == 0 && last.underruns == 0 => return None,
            // One block more, or as much as the worst block of this test needed.
            Aim::Hold => needed.max(last.point.preload_bytes + u64::from(self.cell.notify_bytes)),
        };
        self.tests_left -= 1;
        (preload_bytes <= self.cell.ring_bytes).then_some(LoopPoint {
            index,
            preload_bytes,
            aim: Aim::Hold,
            ..self.cell
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wiregauge_record::{LoopFacts, LoopPath, LoopSummariser};

    fn plan(find: bool) -> LoopPlan {
        LoopPlan {
            address: "virtual".into(),
            points: Vec::new(),
            duration_ns: 1,
            settle_ns: 0,
            find,
            hold_ns: 1,
            process: Vec::new(),
            wait: wiregauge_record::LoopWait::Sleep,
            calibrate: false,
            gpu_device: 0,
            host: wiregauge_record::HostPlan::default(),
        }
    }

    fn cell() -> LoopPoint {
        LoopPoint {
            index: 0,
            rate_hz: 1_000_000,
            channels: 1,
            notify_bytes: 1_000,
            ring_bytes: 10_000,
            preload_bytes: 9_000,
            aim: Aim::Curve,
            path: LoopPath::Cpu,
        }
    }

    fn summary(point: LoopPoint, needed_bytes: u64, underruns: u64) -> LoopSummary {
        let mut summary = LoopSummariser::new(point).finish(Ending::Complete, LoopFacts::default());
        summary.needed_bytes = Some(needed_bytes);
        summary.underruns = underruns;
        summary
    }

    #[test]
    fn the_preload_of_the_curve_is_tested_and_grows_until_it_holds() {
        let mut search = Search::of(&plan(true), cell());
        let first = search.next(&summary(cell(), 2_000, 0), 1).expect("a test");
        assert_eq!(
            (first.preload_bytes, first.aim, first.index),
            (2_000, Aim::Hold, 1)
        );
        let second = search
            .next(&summary(first, 2_000, 1), 2)
            .expect("a second test");
        assert_eq!(second.preload_bytes, 3_000);
        let third = search
            .next(&summary(second, 7_000, 4), 3)
            .expect("a third test");
        assert_eq!(third.preload_bytes, 7_000);
        assert_eq!(search.next(&summary(third, 2_000, 0), 4), None);
    }

    #[test]
    fn nothing_is_tested_that_was_not_asked_for_or_does_not_fit() {
        let mut search = Search::of(&plan(false), cell());
        assert_eq!(search.next(&summary(cell(), 2_000, 0), 1), None);
        let mut search = Search::of(&plan(true), cell());
        assert_eq!(search.next(&summary(cell(), 11_000, 0), 1), None);
    }

    #[test]
    fn the_search_ends_on_a_host_that_never_holds() {
        let mut search = Search::of(
            &plan(true),
            LoopPoint {
                ring_bytes: 1 << 40,
                ..cell()
            },
        );
        let mut last = summary(cell(), 1_000, 0);
        let mut tests = 0;
        while let Some(point) = search.next(&last, 1) {
            tests += 1;
            last = summary(point, point.preload_bytes, 1);
        }
        assert_eq!(tests, TESTS);
    }
}
