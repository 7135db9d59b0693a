//! All integration tests of this crate in one program, which links once.

mod achieved_depth;
mod answers;
mod causes;
mod common;
mod control;
mod control_figures;
mod deadline;
mod delay_parts;
mod figures_from_samples;
mod isochronous;
mod load;
mod made_up_kind;
mod page;
mod page_control;
mod page_links;
mod page_loops;
mod peaks;
mod speed;
mod stages;
mod warnings;
