//! What keeps figures from being trusted, with the remedy in the flags that the user is using.

mod closed_loop;
mod exchange;
mod stream;

use super::flow_rows::Row;
use wiregauge_run::{Loop, RunFile, Stream};

/// The warnings that an exchange run deserves.
pub(super) fn of_exchange(file: &RunFile) -> Vec<String> {
    texts(&exchange::of_run(file))
}

/// The warnings that a stream run deserves; they name the rows by their position in `rows`.
pub(super) fn of_stream(file: &RunFile<Stream>, rows: &[Row<'_>]) -> Vec<String> {
    texts(&stream::of_run(file, rows))
}

/// The warnings that a loop run deserves.
pub(super) fn of_loop(file: &RunFile<Loop>) -> Vec<String> {
    texts(&closed_loop::of_run(file))
}

fn texts<W: ToString>(warnings: &[W]) -> Vec<String> {
    warnings.iter().map(ToString::to_string).collect()
}
