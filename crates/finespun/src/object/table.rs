//! The table of a node's objects, and their implicit locks.
//!
//! ```text
//!   the word of an entry: tag of the class (32 bits), generation (31), a mark
//!
//!             (1) hold                         (2) released, nobody waits
//!   FREE(g) ------------> HELD(g), marked ----------------------------------> FREE(g)
//!      ^                    |        |  (3) poisoned: stays marked
//!      | (5) create         | (4) free, as an exclusive holder
//!      |                    v
//!      +-------------- EMPTY(g + 1), marked
//! ```
//!
//! A reference holds the word of its object when that is free. So one comparison says that the object is there, is of
//! the type, is the same object still, and that nobody holds it: the call may go on at once. Whatever is otherwise is
//! marked, and the slow path looks closer.
//!
//! A plain method neither waits nor is interrupted, so it need not mark anything: nobody else looks meanwhile. Methods
//! that may suspend hold the object until they have ended: `&self` with others of the kind, `&mut self` alone. Who finds
//! it held waits in a line, in the order of arrival; so a shared one waits behind an exclusive one that waits.
//!
//! All of this is the home worker's alone.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::{HashMap, VecDeque};
use std::ptr::NonNull;

use super::class::Class;
use super::error::Refusal;
use super::lock::Hold;
use super::reference::{Name, short};
use crate::task::context::Cx;
use crate::task::frame::FrameRef;
use crate::task::origin::Origin;
use crate::task::suspend::Continuation;

/// The mark of a word.
const MARK: u64 = 1;
/// An exclusive holder.
const EXCLUSIVE: u32 = u32::MAX;
/// A generation behind which a place is not used again.
const LAST: u64 = (1 << 31) - 1;

/// What is known of one object.
pub(crate) struct Entry {
    word: Cell<u64>,
    object: Cell<*mut ()>,
    /// The method that has got hold of it last: for reports.
    holder: Cell<Option<&'static Origin>>,
    /// How many hold it shared, or [`EXCLUSIVE`].
    holders: Cell<u32>,
    lives: Cell<bool>,
    poisoned: Cell<bool>,
}

/// Who waits for an object, and gets a hold of it; nothing if it is gone by then.
struct Waiter {
    exclusive: bool,
    granted: Continuation<Option<Hold>>,
}

/// How a method uses its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `&self`.
    Shared,
    /// `&mut self`.
    Exclusive,
    /// `this: Ref<Self>`: not at all, it only runs at its home.
    None,
}

/// What the slow path finds.
#[must_use]
pub(crate) enum Found {
    /// The object is held for the caller.
    Held(Hold),
    /// It is held by others.
    Busy,
    Refused(Refusal),
}

/// The objects of one node.
pub(crate) struct Table {
    node: u32,
    /// Entries are added here and never taken away; nobody keeps a reference to one while that may happen.
    entries: UnsafeCell<Vec<Entry>>,
    /// Places that may be used again.
    spare: RefCell<Vec<u32>>,
    lines: RefCell<HashMap<u32, VecDeque<Waiter>>>,
}

/// The object that is named, if it is here, and free.
#[inline(always)]
pub(crate) fn free_here(cx: Cx, name: Name) -> Option<NonNull<()>> {
    let here = &cx.context().here;
    let index = name.at.wrapping_sub(here.base.get());
    if index >= here.len.get() {
        return None;
    }
    // SAFETY: `entries` is the table of `len` entries, which this worker alone changes (`Nodes::show`); the reference is
    // gone before it can.
    let entry = unsafe { &*here.entries.get().cast::<Entry>().add(index as usize) };
    if entry.word.get() != name.check {
        return None;
    }
    // SAFETY: an unmarked word is that of a live object.
    Some(unsafe { NonNull::new_unchecked(entry.object.get()) })
}

impl Table {
    pub(crate) fn new(node: u32) -> Table {
        Table {
            node,
            entries: UnsafeCell::new(Vec::new()),
            spare: RefCell::new(Vec::new()),
            lines: RefCell::new(HashMap::new()),
        }
    }

    /// Where the entries are, and how many.
    pub(crate) fn entries(&self) -> (*const Entry, usize) {
        // SAFETY: only this worker touches it, and no reference outlives a statement.
        let entries = unsafe { &*self.entries.get() };
        (entries.as_ptr(), entries.len())
    }

    fn entry(&self, index: u32) -> Option<&Entry> {
        // SAFETY: callers keep the reference only as long as nothing is added: they call nobody else's code meanwhile.
        unsafe { &*self.entries.get() }.get(index as usize)
    }

    /// Enters an object (5), which the table owns from now on.
    pub(crate) fn insert(&self, class: &'static Class, object: NonNull<()>) -> Name {
        let spare = self.spare.borrow_mut().pop();
        let index = spare.unwrap_or_else(|| {
            // SAFETY: only this worker touches it, and nobody holds a reference (see the field).
            let entries = unsafe { &mut *self.entries.get() };
            let index = u32::try_from(entries.len()).expect("fewer than 2^32 objects at a node");
            entries.push(Entry {
                word: Cell::new(MARK | 1 << 1),
                object: Cell::new(std::ptr::null_mut()),
                holder: Cell::new(None),
                holders: Cell::new(0),
                lives: Cell::new(false),
                poisoned: Cell::new(false),
            });
            index
        });
        let entry = self.entry(index).expect("just found");
        entry.object.set(object.as_ptr());
        entry.lives.set(true);
        entry.poisoned.set(false);
        let generation = entry.word.get() as u32 & !(MARK as u32);
        entry.word.set(u64::from(class.tag) << 32 | u64::from(generation));
        Name { at: u64::from(self.node) << 32 | u64::from(index), check: entry.word.get() }
    }

    /// The entry of an object that is there.
    fn find(&self, name: Name) -> Option<&Entry> {
        self.entry(name.index()).filter(|entry| entry.word.get() & !MARK == name.check && entry.lives.get())
    }

    /// Whether the object is there; held or not.
    pub(crate) fn lives(&self, name: Name) -> bool {
        self.find(name).is_some()
    }

    /// The object that is held.
    pub(crate) fn object(&self, hold: &Hold) -> NonNull<()> {
        let entry = self.entry(hold.index()).expect("what is held is there");
        NonNull::new(entry.object.get()).expect("what is held is there")
    }

    /// The method by which an object is held.
    #[inline]
    pub(crate) fn held_by(&self, hold: &Hold, method: &'static Origin) {
        if let Some(entry) = self.entry(hold.index()) {
            entry.holder.set(Some(method));
        }
    }

    /// What a leaf waits for, if that is an object of this node; for reports.
    pub(crate) fn waits_for(&self, leaf: FrameRef) -> Option<String> {
        let lines = self.lines.borrow();
        let waits = |line: &VecDeque<Waiter>| line.iter().any(|waiter| waiter.granted.leaf() == leaf);
        let (&index, _) = lines.iter().find(|(_, line)| waits(line))?;
        let entry = self.entry(index)?;
        let class = short(Class::tagged((entry.word.get() >> 32) as u32).name);
        let holder = entry.holder.get().map_or("others", |holder| holder.name);
        Some(format!("the {class} {index} at node {}, held by {holder}", self.node))
    }

    /// Whether what is held is poisoned.
    pub(crate) fn poisoned(&self, hold: &Hold) -> bool {
        self.entry(hold.index()).is_some_and(|entry| entry.poisoned.get())
    }

    /// Holds an object (1), if nobody is before the caller.
    pub(crate) fn hold(&self, name: Name, exclusive: bool) -> Found {
        if self.find(name).is_some_and(|entry| entry.poisoned.get()) {
            return Found::Refused(Refusal::Poisoned);
        }
        self.hold_even_poisoned(name, exclusive)
    }

    /// The same of an object that may be poisoned.
    pub(crate) fn hold_even_poisoned(&self, name: Name, exclusive: bool) -> Found {
        let Some(entry) = self.find(name) else { return Found::Refused(Refusal::Stale) };
        let marked = entry.word.get() & MARK != 0;
        if marked && (!admits(entry, exclusive) || self.lines.borrow().contains_key(&name.index())) {
            return Found::Busy;
        }
        admit(entry, exclusive);
        Found::Held(Hold::new(name, exclusive))
    }

    /// Holds an object that is free.
    #[inline]
    pub(crate) fn hold_free(&self, name: Name, exclusive: bool) -> Hold {
        let entry = self.entry(name.index()).expect("it is there");
        debug_assert_eq!(entry.word.get(), name.check);
        admit(entry, exclusive);
        Hold::new(name, exclusive)
    }

    /// Waits in line.
    pub(crate) fn wait(&self, index: u32, exclusive: bool, granted: Continuation<Option<Hold>>) {
        self.lines.borrow_mut().entry(index).or_default().push_back(Waiter { exclusive, granted });
    }

    /// Ends a hold (2, 3).
    #[inline]
    pub(crate) fn release(&self, index: u32, exclusive: bool, poison: bool) {
        let entry = self.entry(index).expect("what is held is there");
        entry.holders.set(if exclusive { 0 } else { entry.holders.get() - 1 });
        if poison {
            entry.poisoned.set(true);
        }
        self.serve(index);
    }

    /// Grants to those in line what they can have.
    pub(crate) fn serve(&self, index: u32) {
        while let Some(waiter) = self.next(index) {
            let entry = self.entry(index).expect("somebody waits for it");
            admit(entry, waiter.exclusive);
            let name = Name { at: u64::from(self.node) << 32 | u64::from(index), check: entry.word.get() & !MARK };
            if let Err(Some(hold)) = waiter.granted.try_resolve(Some(Hold::new(name, waiter.exclusive))) {
                // Cancelled just now.
                hold.forget();
                entry.holders.set(if waiter.exclusive { 0 } else { entry.holders.get() - 1 });
            }
        }
        let entry = self.entry(index).expect("asked for");
        let free = entry.holders.get() == 0 && !entry.poisoned.get() && entry.lives.get();
        let mark = if free && !self.lines.borrow().contains_key(&index) { 0 } else { MARK };
        entry.word.set(entry.word.get() & !MARK | mark);
    }

    /// The first in line, if it can have the object.
    fn next(&self, index: u32) -> Option<Waiter> {
        let mut lines = self.lines.borrow_mut();
        let line = lines.get_mut(&index)?;
        while line.front().is_some_and(|waiter| waiter.granted.is_cancelled()) {
            line.pop_front();
        }
        let entry = self.entry(index)?;
        let next = line.pop_front_if(|waiter| admits(entry, waiter.exclusive));
        if line.is_empty() {
            lines.remove(&index);
        }
        next
    }

    /// Takes out an object that the caller holds alone (4); those in line are told. The caller destroys it.
    pub(crate) fn remove(&self, hold: Hold) -> (&'static Class, NonNull<()>) {
        let index = hold.index();
        hold.forget();
        let entry = self.entry(index).expect("what is held is there");
        let object = NonNull::new(entry.object.replace(std::ptr::null_mut())).expect("what is held is there");
        let class = Class::tagged((entry.word.get() >> 32) as u32);
        entry.lives.set(false);
        entry.holder.set(None);
        entry.holders.set(0);
        let generation = (entry.word.get() & u64::from(u32::MAX)) >> 1;
        entry.word.set((generation + 1) << 1 | MARK);
        if generation < LAST {
            self.spare.borrow_mut().push(index);
        }
        let line = self.lines.borrow_mut().remove(&index);
        for waiter in line.into_iter().flatten() {
            waiter.granted.resolve(None);
        }
        (class, object)
    }

    /// Takes out any object, at the end.
    pub(crate) fn take_any(&self) -> Option<(&'static Class, NonNull<()>)> {
        // SAFETY: only this worker touches it, and no reference outlives a statement.
        while let Some(entry) = unsafe { &mut *self.entries.get() }.pop() {
            if let Some(object) = NonNull::new(entry.object.get()) {
                return Some((Class::tagged((entry.word.get() >> 32) as u32), object));
            }
        }
        None
    }
}

/// Whether an object can be held so, by those that hold it.
fn admits(entry: &Entry, exclusive: bool) -> bool {
    match entry.holders.get() {
        0 => true,
        EXCLUSIVE => false,
        _ => !exclusive,
    }
}

fn admit(entry: &Entry, exclusive: bool) {
    entry.word.set(entry.word.get() | MARK);
    entry.holders.set(if exclusive { EXCLUSIVE } else { entry.holders.get() + 1 });
}
