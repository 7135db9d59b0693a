//! What the delays of a run mean for a control loop, ready for the page: tables of all points, figures of those with the
//! lowest cost.

use crate::figures::{self, Figure};
use crate::load::Controls;
use crate::tables::{self, Places, Tables};
use wiregauge_run::RunFile;

/// Points with figures.
const MOST_DRAWN: usize = 3;

/// What the delays of a run mean for a control loop.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlReport {
    /// Tables and notes of all points.
    pub tables: Tables,
    /// Points with figures, the lowest cost first; empty if no answer arrived in time.
    pub drawn: Vec<ControlDrawn>,
    /// Further points, which are in the tables only.
    pub not_drawn: usize,
    /// How the loop was described: what it is called, and its text.
    pub model: Vec<(String, String)>,
}

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlDrawn {
    /// The settings that tell it from the others, such as `depth 3`; empty if the run has no other point.
    pub place: String,
    /// The loop held, so there is a cost.
    pub has_cost: bool,
    /// Step response and cost; those that it has.
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
        let ranked = controls.ranked();
        let drawn = ranked.iter().take(MOST_DRAWN).map(|(point, assessment)| {
            let index = point.point.index;
            let place = places.name(&[index]);
            let mut figures = figures::of_control(assessment, &place);
            for figure in &mut figures {
                figure.name += ending;
                figure.name += &places.ending(index);
            }
            ControlDrawn {
                place,
                has_cost: assessment.on_trace.cost.is_some(),
                figures,
            }
        });
        ControlReport {
            drawn: drawn.collect(),
            not_drawn: ranked.len().saturating_sub(MOST_DRAWN),
            tables: tables::of_controls(file, controls),
            model,
        }
    }

    /// Its figures, in the order of the page.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.drawn.iter().flat_map(|point| &point.figures)
    }
}
