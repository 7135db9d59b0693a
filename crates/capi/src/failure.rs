//! A failure on its way to C: a code that is returned and a text that is kept for the thread. And the fence that no
//! panic gets over.

use crate::code::{self, WG_ERROR_ARGUMENT, WG_ERROR_BUG, WG_ERROR_RUN, WG_OK};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use wiregauge_link::LinkError;
use wiregauge_run::RunError;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What went wrong.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) code: i32,
    pub(crate) text: String,
    /// The code of the exception that a Modbus device answered with.
    pub(crate) exception: Option<u8>,
}

impl Failure {
    pub(crate) fn new(code: i32, text: impl Into<String>) -> Failure {
        Failure {
            code,
            text: text.into(),
            exception: None,
        }
    }

    /// A mistake in the calling program.
    pub(crate) fn argument(text: impl Into<String>) -> Failure {
        Failure::new(WG_ERROR_ARGUMENT, text)
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Failure {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no text");
        Failure::new(
            WG_ERROR_BUG,
            format!(
                "wiregauge {} panicked: {said}\n  hint: report this as a bug",
                env!("CARGO_PKG_VERSION")
            ),
        )
    }

    /// Keeps the text for the thread and gives the code.
    fn keep(self) -> i32 {
        // A thread that is ending has no place for it any more.
        let _ = LAST.try_with(|last| {
            let text = CString::new(self.text.replace('\0', " ")).unwrap_or_default();
            last.replace(text);
        });
        self.code
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Failure {
        Failure {
            exception: error.exception_code(),
            ..Failure::new(code::of_kind(error.kind()), error.to_string())
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        Failure::new(WG_ERROR_RUN, error.to_string())
    }
}

/// Runs the body of a function of the ABI: its failure, or its panic, becomes a code and a text.
pub(crate) fn fenced(body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    match caught(body) {
        Ok(()) => WG_OK,
        Err(failure) => failure.keep(),
    }
}

/// Turns a panic into a failure. What it left half done must not be used again.
pub(crate) fn caught<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)))
}

/// The error text of the last failed call in this thread: what failed, on which device, the reason, and a
/// hint on its own line. Empty before the first error; successful calls do not change it. Valid until the
/// next error in the same thread. If calls move between threads (LabVIEW), use wg_device_error.
#[unsafe(no_mangle)]
pub extern "C" fn wg_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;
    use wiregauge_link::LinkErrorKind;

    fn last() -> String {
        // SAFETY: the text lives until the next failure of this thread.
        unsafe { CStr::from_ptr(wg_last_error()) }
            .to_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn a_panic_becomes_a_code_with_its_text() {
        assert_eq!(fenced(|| panic!("the sky fell")), WG_ERROR_BUG);
        assert!(last().contains("panicked: the sky fell"), "{}", last());
        let number = 7;
        assert_eq!(fenced(|| panic!("{number} skies fell")), WG_ERROR_BUG);
        assert!(last().contains("7 skies fell"), "{}", last());
        assert_eq!(fenced(|| std::panic::panic_any(7)), WG_ERROR_BUG);
    }

    #[test]
    fn a_failure_of_the_engine_keeps_its_words_and_a_success_leaves_them() {
        let error = LinkError::new(LinkErrorKind::Timeout, "asking tcp://x", "nothing came");
        let error = error.hint("is it on?");
        assert_eq!(fenced(|| Err(error.clone().into())), code::WG_ERROR_TIMEOUT);
        assert_eq!(last(), error.to_string());
        assert_eq!(fenced(|| Ok(())), WG_OK);
        assert_eq!(last(), error.to_string());
    }

    #[test]
    fn a_text_with_a_nul_in_it_is_kept_whole() {
        fenced(|| Err(Failure::argument("one\0two")));
        assert_eq!(last(), "one two");
    }

    #[test]
    fn each_thread_has_a_text_of_its_own() {
        fenced(|| Err(Failure::argument("mine")));
        std::thread::spawn(|| assert_eq!(last(), ""))
            .join()
            .unwrap();
        assert_eq!(last(), "mine");
    }
}
