//! Ends this program when the one that started it ends, for any reason. The starting program holds the other end of
//! standard input and never writes: the system closes it with its process, even after SIGKILL. Otherwise a measurement
//! would continue on a board that a scheduler has already assigned to the next job.

use crate::output::style::{BAD, RESET};
use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The first word of a command line; the command ends when standard input does. For programs: not in the help.
const FLAG: &str = "--end-with-stdin";

/// Exit code of a command that was interrupted.
const INTERRUPTED: i32 = 130;

/// True once Ctrl-C only raises a flag, so that a command ends with what it has.
static HANDLED: AtomicBool = AtomicBool::new(false);

/// True once standard input has ended.
static ENDED: AtomicBool = AtomicBool::new(false);

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
        ENDED.store(true, Ordering::Release);
        let is_handled = HANDLED.load(Ordering::Acquire);
        // The reader of standard error may have ended too.
        let _ = anstream::stderr().write_all(message(is_handled).as_bytes());
        if !is_handled {
            // A signal would end the program without its exit code.
            std::process::exit(INTERRUPTED);
        }
        loop {
            wiregauge_program::end_as_ctrl_c_does();
            thread::sleep(GRACE);
        }
    };
    thread::Builder::new().name("stdin".into()).spawn(watch)?;
    Ok(())
}

/// From now on the end of standard input ends the command as Ctrl-C does.
pub fn ctrl_c_is_handled() {
    HANDLED.store(true, Ordering::Release);
}

/// True if the end of standard input ends the command.
pub fn has_ended() -> bool {
    ENDED.load(Ordering::Acquire)
}

fn message(has_begun: bool) -> String {
    let error = format!("{BAD}error:{RESET} interrupted: standard input has ended\n");
    match has_begun {
        true => error,
        false => format!(
            "{error}  hint: with {FLAG}, the program that starts wiregauge must keep the other end of its standard input \
             open\n"
        ),
    }
}
