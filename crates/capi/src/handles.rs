//! Handles: numbers in the shape of pointers, each of a slot and of how often that was used. So one that was closed, or
//! that never was one, is noticed without touching memory that may be gone; and who uses a slot is one word that is
//! swapped, no lock.

use crate::code::{WG_ERROR_FORKED, WG_ERROR_HANDLE, WG_ERROR_IN_USE, WG_ERROR_TOO_MANY};
use crate::failure::Failure;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use wiregauge_link::host;

/// Handles of a kind that are open at once, at most.
pub(crate) const SLOTS: usize = 1024;

/// A handle is, from the lowest bit: four zeros, ten bits of slot, two bits of kind, the generation of the slot.
const SLOT_SHIFT: u32 = 4;
const KIND_SHIFT: u32 = SLOT_SHIFT + SLOTS.trailing_zeros();
const GENERATION_SHIFT: u32 = KIND_SHIFT + 2;
const GENERATION_ONE: usize = 1 << GENERATION_SHIFT;
const GENERATION: usize = !(GENERATION_ONE - 1);

/// A slot's state is its generation and one of these.
const FREE: usize = 0;
const OPEN: usize = 1;
const CLAIMED: usize = 2;

/// All handles of one kind.
pub(crate) struct Table<T> {
    /// 1 to 3, so that one kind is not taken for another.
    kind: usize,
    /// What it is, for the error texts.
    name: &'static str,
    slots: [Slot<T>; SLOTS],
}

struct Slot<T> {
    state: AtomicUsize,
    /// The process that it was opened in, so that a child does not take its parent's handle for its own.
    born: AtomicU32,
    content: UnsafeCell<Option<Box<T>>>,
}

// SAFETY: the content is touched only by whoever swapped the state to CLAIMED, one thread at a time; so it must be able
// to go from thread to thread, and need not bear two at once.
unsafe impl<T: Send> Sync for Table<T> {}

impl<T: Send> Table<T> {
    pub(crate) const fn new(kind: usize, name: &'static str) -> Table<T> {
        Table {
            kind,
            name,
            slots: [const {
                Slot {
                    state: AtomicUsize::new(0),
                    born: AtomicU32::new(0),
                    content: UnsafeCell::new(None),
                }
            }; SLOTS],
        }
    }

    /// Puts a thing into a free slot and gives its handle, which `make` gets as well.
    pub(crate) fn insert(&self, make: impl FnOnce(usize) -> T) -> Result<usize, Failure> {
        let born = host::count_forks();
        for (at, slot) in self.slots.iter().enumerate() {
            let before = slot.state.load(Ordering::Relaxed);
            let mut generation = (before & GENERATION).wrapping_add(GENERATION_ONE);
            if generation == 0 {
                generation = GENERATION_ONE;
            }
            let free = before & !GENERATION == FREE;
            let claimed = generation | CLAIMED;
            if !free
                || slot
                    .state
                    .compare_exchange(before, claimed, Ordering::Acquire, Ordering::Relaxed)
                    .is_err()
            {
                continue;
            }
            let handle = generation | self.kind << KIND_SHIFT | at << SLOT_SHIFT;
            slot.born.store(born, Ordering::Relaxed);
            // If `make` panics, the slot stays claimed: lost, and nobody's.
            let content = Box::new(make(handle));
            // SAFETY: this thread has just claimed the slot.
            unsafe { *slot.content.get() = Some(content) };
            slot.state.store(generation | OPEN, Ordering::Release);
            return Ok(handle);
        }
        Err(Failure::new(
            WG_ERROR_TOO_MANY,
            format!(
                "{SLOTS} {} handles are open, the maximum\n  hint: close handles that are no longer used",
                self.name
            ),
        ))
    }

    /// The number of the slot of an open handle, claimed or not. Only atomics: signal handlers may ask.
    pub(crate) fn slot_of(&self, handle: usize) -> Option<usize> {
        let at = self.place(handle)?;
        let state = self.slots[at].state.load(Ordering::Acquire);
        (state & GENERATION == handle & GENERATION && state & !GENERATION != FREE).then_some(at)
    }

    /// Claims a handle for this thread.
    pub(crate) fn claim(&self, handle: usize) -> Result<Claim<'_, T>, Failure> {
        let name = self.name;
        if handle == 0 {
            return Err(Failure::argument(format!("the {name} is NULL")));
        }
        let foreign = || Failure::new(WG_ERROR_HANDLE, format!("this {name} is closed or invalid"));
        let slot = &self.slots[self.slot_of(handle).ok_or_else(foreign)?];
        let generation = handle & GENERATION;
        if slot.born.load(Ordering::Relaxed) != host::generation() {
            return Err(Failure::new(
                WG_ERROR_FORKED,
                format!(
                    "this {name} belongs to the parent process, from before fork()\n  hint: open a new one in \
                     the child process"
                ),
            ));
        }
        let claimed = slot.state.compare_exchange(
            generation | OPEN,
            generation | CLAIMED,
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        match claimed {
            Ok(_) => Ok(Claim {
                slot,
                generation,
                after: OPEN,
                one_thread: PhantomData,
            }),
            Err(state) if state == generation | CLAIMED => Err(Failure::new(
                WG_ERROR_IN_USE,
                format!(
                    "another thread is using this {name}\n  hint: use a {name} from one thread at a time, or \
                     open one for each thread"
                ),
            )),
            Err(_) => Err(foreign()),
        }
    }

    /// Takes the thing out and frees its slot.
    pub(crate) fn remove(&self, handle: usize) -> Result<Option<Box<T>>, Failure> {
        let mut claim = self.claim(handle)?;
        claim.after = FREE;
        // SAFETY: the claim is this thread's.
        Ok(unsafe { (*claim.slot.content.get()).take() })
    }

    fn place(&self, handle: usize) -> Option<usize> {
        let below = handle & !GENERATION;
        let at = below >> SLOT_SHIFT & (SLOTS - 1);
        (below == self.kind << KIND_SHIFT | at << SLOT_SHIFT).then_some(at)
    }
}

/// A handle's thing, this thread's until this is dropped.
pub(crate) struct Claim<'a, T> {
    slot: &'a Slot<T>,
    generation: usize,
    after: usize,
    one_thread: PhantomData<*mut T>,
}

impl<T> Deref for Claim<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: claimed by this thread; only `remove` empties it, and that gives no claim away.
        let content = unsafe { &*self.slot.content.get() };
        content.as_deref().expect("an open slot is full")
    }
}

impl<T> DerefMut for Claim<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the claim is borrowed by nobody else.
        let content = unsafe { &mut *self.slot.content.get() };
        content.as_deref_mut().expect("an open slot is full")
    }
}

impl<T> Drop for Claim<'_, T> {
    fn drop(&mut self) {
        let state = self.generation | self.after;
        self.slot.state.store(state, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    static NUMBERS: Table<u32> = Table::new(1, "number");

    fn code<T>(result: Result<T, Failure>) -> i32 {
        result.err().map_or(0, |failure| failure.code)
    }

    #[test]
    fn a_closed_handle_is_noticed_although_its_slot_is_used_again() {
        let table: Table<u32> = Table::new(1, "number");
        let first = table.insert(|_| 7).unwrap();
        assert_eq!(*table.claim(first).unwrap(), 7);
        assert_eq!(table.remove(first).unwrap(), Some(Box::new(7)));
        let second = table.insert(|_| 8).unwrap();
        assert_eq!(table.slot_of(second), Some(0));
        for _ in 0..2 {
            assert_eq!(code(table.claim(first)), WG_ERROR_HANDLE);
            assert_eq!(code(table.remove(first)), WG_ERROR_HANDLE);
        }
        assert_eq!(*table.claim(second).unwrap(), 8);
    }

    #[test]
    fn what_never_was_a_handle_of_this_kind_is_noticed() {
        let table: Table<u32> = Table::new(1, "number");
        let other: Table<u32> = Table::new(2, "other");
        let handle = table.insert(|_| 7).unwrap();
        let place = std::ptr::from_ref(&table).addr();
        for wrong in [
            1,
            16,
            handle + 1,
            handle + 16,
            handle | 8,
            !0,
            place,
            place | handle,
        ] {
            assert_eq!(code(table.claim(wrong)), WG_ERROR_HANDLE, "{wrong:#x}");
            assert_eq!(code(other.claim(wrong)), WG_ERROR_HANDLE, "{wrong:#x}");
        }
        assert_eq!(code(other.claim(handle)), WG_ERROR_HANDLE);
        assert_eq!(code(table.claim(0)), crate::code::WG_ERROR_ARGUMENT);
    }

    #[test]
    fn more_than_there_are_slots_are_refused_until_one_is_free() {
        let table: Box<Table<u32>> = Box::new(Table::new(3, "number"));
        let handles: Vec<_> = (0..SLOTS)
            .map(|n| table.insert(|_| n as u32).unwrap())
            .collect();
        assert_eq!(code(table.insert(|_| 0)), WG_ERROR_TOO_MANY);
        for (n, &handle) in handles.iter().enumerate() {
            assert_eq!(*table.claim(handle).unwrap(), n as u32);
        }
        table.remove(handles[500]).unwrap();
        assert!(!handles.contains(&table.insert(|_| 0).unwrap()));
    }

    /// Two threads that want the same handle: each count is one claim, and none is lost.
    #[test]
    fn two_threads_never_hold_one_handle_at_once() {
        let handle = NUMBERS.insert(|_| 0).unwrap();
        let inside = AtomicBool::new(false);
        let work = || {
            let (mut claims, mut refused) = (0, 0u64);
            while claims < 20_000 {
                match NUMBERS.claim(handle) {
                    Ok(mut number) => {
                        assert!(!inside.swap(true, Ordering::Relaxed));
                        *number += 1;
                        claims += 1;
                        inside.store(false, Ordering::Relaxed);
                    }
                    Err(failure) => {
                        assert_eq!(failure.code, WG_ERROR_IN_USE);
                        refused += 1;
                    }
                }
            }
            refused
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
        assert_eq!(*NUMBERS.claim(handle).unwrap(), 40_000);
    }

    #[test]
    fn a_generation_that_wraps_skips_zero() {
        let table: Table<u32> = Table::new(1, "number");
        table.slots[0].state.store(GENERATION, Ordering::Relaxed);
        let handle = table.insert(|_| 7).unwrap();
        assert_eq!(handle & GENERATION, GENERATION_ONE);
        assert_eq!(*table.claim(handle).unwrap(), 7);
    }
}
