//! Windows Search reads new files to index their contents.

use super::super::check::Check;
use crate::windows::{NOT_CONTENT_INDEXED, Setting};
use crate::{Finding, HostContext, Level, WindowsHost};
use std::path::Path;

/// The check.
pub const CHECK: Check = Check {
    name: NAME,
    about: "Windows Search, which reads the files of stored runs",
    look,
};

const NAME: &str = "indexing";

const SERVICE: &str = r"SYSTEM\CurrentControlSet\Services\WSearch";
/// SERVICE_DISABLED, winnt.h.
const DISABLED: u32 = 4;

/// A directory that Windows Search excludes by default.
const LEFT_OUT: &str = "AppData";

fn look(context: &HostContext) -> Vec<Finding> {
    let host = context.windows().filter(|_| context.run.is_none());
    host.and_then(of).into_iter().collect()
}

/// Nothing without the service, or before the first run.
fn of(host: &dyn WindowsHost) -> Option<Finding> {
    let start = host.number(SERVICE, "Start")?;
    let directory = host.runs();
    let shown = directory.display();
    let attributes = host.attributes(&directory).ok()?;
    let saw = format!("{shown}: attributes 0x{attributes:x}");
    let good = |title: &str| Finding::new(NAME, Level::Good, title);
    if start == DISABLED {
        return Some(
            good("Windows Search is disabled").seen(format!(r"HKLM\{SERVICE}\Start = {start}")),
        );
    }
    if attributes & NOT_CONTENT_INDEXED != 0 {
        return Some(good("runs are not indexed").seen(saw));
    }
    if is_left_out(&directory) {
        return Some(good("runs are not indexed").seen(saw).seen(format!(
            "{shown} is below {LEFT_OUT}, which Windows Search excludes by default"
        )));
    }
    let setting = Setting::Indexing { directory };
    let finding = Finding::new(
        NAME,
        Level::Note,
        "Windows Search may read the files of stored runs while others are measured",
    )
    .seen(saw)
    .costs(
        "the indexer takes CPU time and reads the disk during the next measurement. Not measured by this project",
        "Microsoft, File Attribute Constants: FILE_ATTRIBUTE_NOT_CONTENT_INDEXED",
    );
    Some(finding.change_by(setting.change("on", "off"), setting.command("off")))
}

/// Paths of Windows, also where this runs on another system.
fn is_left_out(directory: &Path) -> bool {
    let text = directory.to_string_lossy();
    let mut parts = text.split(['\\', '/']);
    parts.any(|part| part.eq_ignore_ascii_case(LEFT_OUT))
}
