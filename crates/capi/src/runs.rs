//! Stored runs: what `wiregauge exchange` and its like measured, read back without going through a file of text.

use crate::code::WG_ERROR_ROOM;
use crate::failure::{Failure, fenced};
use crate::handles::Table;
use crate::pointers::{self, Place, items_mut};
use crate::text::put_text;
use std::ffi::c_char;
use wiregauge_run::{AnyRun, Stored, find, runs_home};

static RUNS: Table<AnyRun> = Table::new(3, "run");

/// A stored run.
pub struct wg_run {
    _nothing: [u8; 0],
}

/// Opens a stored run: its directory, the beginning of its name among the stored runs, or "last" for the
/// newest. For a run in progress, only the points finished so far are available. On failure `*run` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_run_open(name: *const c_char, run: *mut *mut wg_run) -> i32 {
    fenced(|| {
        // SAFETY: the caller's pointers are as the header says.
        let (run, name) = unsafe {
            let run = Place::needed(run, "run")?;
            run.put(std::ptr::null_mut());
            (run, pointers::text(name, "name")?)
        };
        let found = find(&runs_home(), name)?;
        let handle = RUNS.insert(|_| found)?;
        run.put(std::ptr::without_provenance_mut(handle));
        Ok(())
    })
}

/// Closes a run. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn wg_run_close(run: *mut wg_run) -> i32 {
    fenced(|| {
        if !run.is_null() {
            drop(RUNS.remove(run.addr())?);
        }
        Ok(())
    })
}

/// The absolute path of the directory of a run, such as that of "last". `text`, `room` and `length` are as for
/// wg_device_error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_run_directory(
    run: *mut wg_run,
    text: *mut c_char,
    room: usize,
    length: *mut usize,
) -> i32 {
    with(run, |stored| {
        let dir = stored.dir();
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        // SAFETY: the caller's pointers are as the header says.
        unsafe { put_text(&dir.to_string_lossy(), text, room, length) }
    })
}

/// A run without its samples, as JSON (docs/run-format.md): kind, plan, conditions, summaries of the
/// points, warnings. `text`, `room` and `length` are as for wg_device_error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_run_json(
    run: *mut wg_run,
    text: *mut c_char,
    room: usize,
    length: *mut usize,
) -> i32 {
    with(run, |stored| {
        let mut json = Vec::new();
        stored.write_json(&mut json)?;
        // SAFETY: the caller's pointers are as the header says.
        unsafe { put_text(&String::from_utf8_lossy(&json), text, room, length) }
    })
}

/// Number of finished points. The functions below count them from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_run_points(run: *mut wg_run, points: *mut usize) -> i32 {
    with(run, |stored| {
        // SAFETY: the caller's pointer is as the header says.
        let points = unsafe { Place::needed(points, "points") }?;
        points.put(stored.points());
        Ok(())
    })
}

/// The summary of a point as JSON text: one of `points` in the text of wg_run_json.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_run_point_json(
    run: *mut wg_run,
    point: usize,
    text: *mut c_char,
    room: usize,
    length: *mut usize,
) -> i32 {
    with(run, |stored| {
        let json = stored.point_json(point)?;
        // SAFETY: the caller's pointers are as the header says.
        unsafe { put_text(&json, text, room, length) }
    })
}

/// Number of sample rows of a point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_run_rows(run: *mut wg_run, point: usize, rows: *mut usize) -> i32 {
    with(run, |stored| {
        // SAFETY: the caller's pointer is as the header says.
        let rows = unsafe { Place::needed(rows, "rows") }?;
        let there = stored.rows_of(point)?;
        rows.put(usize::try_from(there).map_err(|_| {
            Failure::new(WG_ERROR_ROOM, format!("{there} rows do not fit in memory"))
        })?);
        Ok(())
    })
}

/// One column of the samples of a point, such as "rtt_ns": docs/run-format.md names them. Columns of names
/// ("status", "phase", "way", "xrun") contain indices from 0 into the lists given there. `values` has room
/// for `room` numbers (as many as wg_run_rows returns); `rows` (optional) receives the number written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wg_run_column(
    run: *mut wg_run,
    point: usize,
    column: *const c_char,
    values: *mut u64,
    room: usize,
    rows: *mut usize,
) -> i32 {
    with(run, |stored| {
        // SAFETY: the caller's pointers are as the header says.
        let (rows, column, values) = unsafe {
            let rows = Place::optional(rows, "rows")?;
            rows.put(0);
            (
                rows,
                pointers::text(column, "column")?,
                items_mut(values, room, "values")?,
            )
        };
        let (mut written, mut left_out) = (0, 0u64);
        stored.column(point, column, &mut |some| {
            let fits = some.len().min(values.len() - written);
            values[written..written + fits].copy_from_slice(&some[..fits]);
            written += fits;
            left_out += (some.len() - fits) as u64;
        })?;
        rows.put(written);
        match left_out {
            0 => Ok(()),
            more => Err(Failure::new(
                WG_ERROR_ROOM,
                format!("`values` has room for {room} rows, but {more} more exist"),
            )),
        }
    })
}

fn with(run: *mut wg_run, call: impl FnOnce(&dyn Stored) -> Result<(), Failure>) -> i32 {
    fenced(|| call(RUNS.claim(run.addr())?.stored()))
}
