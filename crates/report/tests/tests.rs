//! All integration tests of this crate in one program, which links once.

mod answers;
mod causes;
mod common;
mod control;
mod control_figures;
mod exchange_sentences;
mod figures_from_samples;
mod golden;
mod isochronous;
mod load;
mod loop_sentences;
mod made_up_kind;
mod page;
mod page_control;
mod page_loops;
mod speed;
mod stream_sentences;
mod warnings;
