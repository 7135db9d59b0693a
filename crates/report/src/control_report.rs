//! What the delays of a run mean for a control loop, ready for the page: tables of all points, verdicts and figures of
//! those with the lowest cost.

use crate::figures::{self, Figure};
use crate::load::{ControlPoint, Controls};
use crate::tables::{self, Places, Statements, Tables};
use wiregauge_control::Assessment;
use wiregauge_run::RunFile;

/// Points with figures.
const MOST_DRAWN: usize = 3;

/// What the delays of a run mean for a control loop.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlReport {
    /// Tables and notes of all points.
    pub tables: Tables,
    /// Points with verdicts and figures, the lowest cost first; empty if no answer arrived in time.
    pub drawn: Vec<ControlDrawn>,
    /// Further points, which are in the tables only.
    pub not_drawn: usize,
    /// At how many points the loop held, in a few words.
    pub verdict: String,
    /// How the loop was described: what it is called, and its text.
    pub model: Vec<(String, String)>,
}

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlDrawn {
    /// By which the page shows and hides its figures.
    pub key: String,
    /// The settings that tell it from the others, such as `depth 3`; empty if the run has no other point.
    pub place: String,
    /// The loop held, so there is a cost.
    pub has_cost: bool,
    /// Verdicts and advice.
    pub statements: Statements,
    /// Step response, variance along the trace, cost; those that it has.
    pub figures: Vec<Figure>,
}

impl ControlReport {
    /// Of a run and what its delays do. `ending` is appended to the names of the figures: several runs have figures
    /// of the same names.
    pub fn of(
        file: &RunFile,
        controls: &Controls,
        model: Vec<(String, String)>,
        ending: &str,
    ) -> ControlReport {
        // Files and titles of one chosen point need no name of it.
        let places = Places::new(controls.points.iter().map(|point| point.point));
        let ranked = ranked(controls);
        let drawn = ranked.iter().take(MOST_DRAWN).map(|(point, assessment)| {
            let index = point.point.index;
            let place = places.name(&[index]);
            let mut figures = figures::of_control(assessment, &point.cycles.delays, &place);
            for figure in &mut figures {
                figure.name += ending;
                figure.name += &places.ending(index);
            }
            ControlDrawn {
                key: figures::point_key::exchange(point.point),
                place,
                has_cost: assessment.on_trace.cost.is_some(),
                statements: tables::statements(assessment),
                figures,
            }
        });
        ControlReport {
            drawn: drawn.collect(),
            not_drawn: ranked.len().saturating_sub(MOST_DRAWN),
            tables: tables::of_controls(file, controls),
            verdict: tables::loop_held(controls),
            model,
        }
    }

    /// Its figures, in the order of the page.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.drawn.iter().flat_map(|point| &point.figures)
    }
}

/// The points with an assessment: the lowest cost first, then those that did not hold, the slowest growth first.
fn ranked(controls: &Controls) -> Vec<(&ControlPoint, &Assessment)> {
    let points = controls.points.iter();
    let mut points: Vec<_> = points
        .filter_map(|point| Some((point, point.assessment.as_ref()?)))
        .collect();
    let rank = |assessment: &Assessment| match assessment.on_trace.cost {
        Some(cost) => (0, cost),
        None => (1, assessment.on_trace.growth),
    };
    points.sort_by(|(_, a), (_, b)| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    points
}
