//! Ends the program with the one that started it, however that ended. That one holds the other end of standard input
//! and never writes: the system closes it with its process, even after SIGKILL. Otherwise a measurement would continue
//! on a board that a scheduler already gives to the next.

use crate::platform;
use std::ffi::OsString;
use std::io;
use std::thread;
use std::time::Duration;

/// The first word of a command line that ends with standard input. For programs: no help has it.
const FLAG: &str = "--end-with-stdin";

/// What hangs after it was asked to end is ended after this time.
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
