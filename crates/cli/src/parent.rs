//! Ends this program when the one that started it ends, for any reason. The starting program holds the other end of
//! standard input and never writes: the system closes it with its process, even after SIGKILL. Otherwise a measurement
//! would continue on a board that a scheduler has already assigned to the next job.

use crate::platform;
use std::ffi::OsString;
use std::io;
use std::thread;
use std::time::Duration;

/// The first word of a command line; the command ends when standard input does. For programs: not in the help.
const FLAG: &str = "--end-with-stdin";

/// If the program still runs this long after the first signal, a second one ends it.
const GRACE: Duration = Duration::from_secs(10);

/// Takes the flag from the words, if it is there, and then watches standard input.
pub fn watch_if_asked(words: &mut Vec<OsString>) -> io::Result<()> {
    if words.get(1).is_none_or(|word| word != FLAG) {
        return Ok(());
    }
    words.remove(1);
    let watch = || {
        // An error of a read is an end too.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        loop {
            platform::end_as_ctrl_c_does();
            thread::sleep(GRACE);
        }
    };
    thread::Builder::new().name("stdin".into()).spawn(watch)?;
    Ok(())
}
