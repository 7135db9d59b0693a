//! The Multimedia Class Scheduler (MMCSS): a service that gives threads a priority of the real-time range without the
//! right to it. It is loaded when it is first needed: editions of Windows for servers may not have it.

use std::cell::Cell;
use std::ffi::c_void;
use std::io;
use std::ptr::null_mut;
use std::sync::OnceLock;
use windows_sys::Win32::Foundation::{ERROR_MOD_NOT_FOUND, FARPROC, HANDLE};
use windows_sys::Win32::System::LibraryLoader::{
    GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExW,
};
use windows_sys::core::{BOOL, PCSTR, PCWSTR, s, w};

type Set = unsafe extern "system" fn(PCWSTR, *mut u32) -> HANDLE;
type Revert = unsafe extern "system" fn(HANDLE) -> BOOL;

struct Library {
    set: Set,
    revert: Revert,
}

thread_local! {
    /// What MMCSS calls the calling thread; null while it does not know it.
    static TASK: Cell<HANDLE> = const { Cell::new(null_mut()) };
}

fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref()
}

fn load() -> Option<Library> {
    // SAFETY: the names end with a zero; the library comes from the system's own folder and is never unloaded.
    let module =
        unsafe { LoadLibraryExW(w!("avrt.dll"), null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32) };
    if module.is_null() {
        return None;
    }
    let function = |name: PCSTR| -> FARPROC {
        // SAFETY: the module is loaded and the name ends with a zero.
        unsafe { GetProcAddress(module, name) }
    };
    let set = function(s!("AvSetMmThreadCharacteristicsW"))?;
    let revert = function(s!("AvRevertMmThreadCharacteristics"))?;
    // SAFETY: avrt.h declares the two functions of these names with these parameters.
    unsafe {
        Some(Library {
            set: std::mem::transmute::<*const c_void, Set>(set as *const c_void),
            revert: std::mem::transmute::<*const c_void, Revert>(revert as *const c_void),
        })
    }
}

/// True if the calling thread has a priority of MMCSS.
pub fn is_multimedia() -> bool {
    !TASK.get().is_null()
}

/// Gives the calling thread the priority of one that plays sound.
pub fn join_multimedia() -> io::Result<()> {
    if is_multimedia() {
        return Ok(());
    }
    let Some(library) = library() else {
        return Err(io::Error::from_raw_os_error(ERROR_MOD_NOT_FOUND as i32));
    };
    let mut index = 0;
    // SAFETY: the name ends with a zero, and the pointer to the index is valid for the call.
    let task = unsafe { (library.set)(w!("Pro Audio"), &mut index) };
    if task.is_null() {
        return Err(io::Error::last_os_error());
    }
    TASK.set(task);
    Ok(())
}

/// Takes it back.
pub fn leave_multimedia() {
    let task = TASK.replace(null_mut());
    if let Some(library) = library().filter(|_| !task.is_null()) {
        // SAFETY: the handle was given to this thread and was not given back yet.
        unsafe { (library.revert)(task) };
    }
}
