//! What `wiregauge tune` left beside the run that confirmed its choice.

use serde_json::Value;
use std::path::Path;

/// The file beside the run; docs/tune.md lists its keys.
const FILE: &str = "tune.json";

/// The answer of the search in one line; `None` if the run confirmed none, or nothing responded.
pub(crate) fn answer_of_search(dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(dir.join(FILE)).ok()?;
    let search: Value = serde_json::from_str(&text).ok()?;
    search["answer"].as_str().map(str::to_owned)
}
