//! The table of a node's objects, and their implicit locks.
//!
//! ```text
//!   the word of an entry: tag of the class, node, generation, a mark
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
//! it held waits in a line, in the order of arrival; so a shared one waits behind an exclusive one that waits, unless the
//! class says that readers come first.
//!
//! All of this is the home worker's alone.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::{HashMap, VecDeque};
use std::ptr::NonNull;

use super::class::Class;
use super::error::Refusal;
use super::lock::Hold;
use super::reference::{ENTRY, GENERATIONS, Name, Object, Whole, short};
use crate::task::context::Cx;
use crate::task::frame::FrameRef;
use crate::task::origin::Origin;
use crate::task::suspend::Continuation;

/// The mark of a word.
const MARK: u64 = 1;
/// An exclusive holder.
const EXCLUSIVE: u32 = u32::MAX;

/// What is known of one object.
#[repr(C)]
pub(crate) struct Entry {
    word: Cell<u64>,
    object: Cell<*mut ()>,
    /// The method that has got hold of it last: for reports.
    holder: Cell<Option<&'static Origin>>,
    /// How many hold it shared, or [`EXCLUSIVE`].
    holders: Cell<u32>,
    lives: Cell<bool>,
    poisoned: Cell<bool>,
    /// Somebody stands in line.
    wanted: Cell<bool>,
    /// Shared holders pass those that stand in line, if they can.
    readers_first: Cell<bool>,
}

const _: () = assert!(size_of::<Entry>() == 1 << ENTRY);

impl Entry {
    fn empty() -> Entry {
        Entry {
            word: Cell::new(Name::new(0, 0, 1, 0).check | MARK),
            object: Cell::new(std::ptr::null_mut()),
            holder: Cell::new(None),
            holders: Cell::new(0),
            lives: Cell::new(false),
            poisoned: Cell::new(false),
            wanted: Cell::new(false),
            readers_first: Cell::new(false),
        }
    }

    /// The name of an object that is here, at that index.
    fn name(&self, index: u32) -> Name {
        Name { check: self.word.get() & !MARK, at: index << ENTRY }
    }
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
    /// It reads what has been found out when the object was made.
    Constant,
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
    /// As many as some power of two, so that a mask keeps every name inside. Nobody keeps a reference to one while an
    /// object is made.
    entries: UnsafeCell<Vec<Entry>>,
    /// How many have been used.
    used: Cell<u32>,
    /// Places that may be used again.
    spare: RefCell<Vec<u32>>,
    lines: RefCell<HashMap<u32, VecDeque<Waiter>>>,
}

/// The object that is named, if it is here, and free.
#[inline(always)]
pub(crate) fn free_here(cx: Cx, name: Name) -> Option<NonNull<()>> {
    let here = &cx.context().here;
    let at = (name.at & here.mask.get()) as usize;
    // SAFETY: `entries` is a table of entries that this worker alone changes, of which `mask` is the last (`Nodes::show`);
    // the reference is gone before they move.
    let entry = unsafe { &*here.entries.get().byte_add(at).cast::<Entry>() };
    // The word holds the node: in another's table it is another.
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
            entries: UnsafeCell::new(vec![Entry::empty()]),
            used: Cell::new(0),
            spare: RefCell::new(Vec::new()),
            lines: RefCell::new(HashMap::new()),
        }
    }

    /// Where the entries are, and where the last one is among them, in bytes.
    pub(crate) fn entries(&self) -> (*const Entry, u32) {
        // SAFETY: only this worker touches it, and no reference outlives a statement.
        let entries = unsafe { &*self.entries.get() };
        (entries.as_ptr(), (entries.len() as u32 - 1) << ENTRY)
    }

    fn entry(&self, index: u32) -> Option<&Entry> {
        // SAFETY: callers keep the reference only as long as nothing is added: they call nobody else's code meanwhile.
        unsafe { &*self.entries.get() }.get(index as usize)
    }

    /// Enters a value as an object.
    pub(crate) fn insert_value<T: Object>(&self, class: &'static Class, value: T) -> Name {
        let object = Box::new(Whole::new(value));
        let name = self.insert(class, NonNull::from(Box::leak(object)).cast());
        self.entry(name.index()).expect("just entered").readers_first.set(T::READERS_FIRST);
        name
    }

    /// Enters an object (5), which the table owns from now on.
    pub(crate) fn insert(&self, class: &'static Class, object: NonNull<()>) -> Name {
        let spare = self.spare.borrow_mut().pop();
        let index = spare.unwrap_or_else(|| {
            // SAFETY: only this worker touches it, and nobody holds a reference (see the field).
            let entries = unsafe { &mut *self.entries.get() };
            let index = self.used.get();
            assert!(index < 1 << (31 - ENTRY), "a node has room for 2^26 objects: use more nodes");
            self.used.set(index + 1);
            if index as usize == entries.len() {
                entries.resize_with((2 * entries.len()).max(64), Entry::empty);
            }
            index
        });
        let entry = self.entry(index).expect("just found");
        let name = Name::new(class.tag, self.node, entry.name(index).generation(), index);
        entry.object.set(object.as_ptr());
        entry.lives.set(true);
        entry.poisoned.set(false);
        entry.word.set(name.check);
        name
    }

    /// The entry of an object that is there.
    fn find(&self, name: Name) -> Option<&Entry> {
        self.entry(name.index()).filter(|entry| entry.word.get() & !MARK == name.check && entry.lives.get())
    }

    /// Whether the object is there; held or not.
    pub(crate) fn lives(&self, name: Name) -> bool {
        self.find(name).is_some()
    }

    /// The object, if it is there: held or not, so only what nobody changes may be looked at.
    pub(crate) fn peek(&self, name: Name) -> Option<NonNull<()>> {
        self.find(name).and_then(|entry| NonNull::new(entry.object.get()))
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
        let class = short(Class::tagged(entry.name(index).tag()).name);
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
        let waits = entry.wanted.get() && (exclusive || !entry.readers_first.get());
        if marked && (!admits(entry, exclusive) || waits) {
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
        if let Some(entry) = self.entry(index) {
            entry.wanted.set(true);
        }
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
        if entry.wanted.get() {
            self.serve(index);
        } else {
            open(entry);
        }
    }

    /// Grants to those in line what they can have.
    pub(crate) fn serve(&self, index: u32) {
        while let Some(waiter) = self.next(index) {
            let entry = self.entry(index).expect("somebody waits for it");
            admit(entry, waiter.exclusive);
            if let Err(Some(hold)) = waiter.granted.try_resolve(Some(Hold::new(entry.name(index), waiter.exclusive))) {
                // Cancelled just now.
                hold.forget();
                entry.holders.set(if waiter.exclusive { 0 } else { entry.holders.get() - 1 });
            }
        }
        let entry = self.entry(index).expect("asked for");
        open(entry);
    }

    /// The first in line, if it can have the object.
    fn next(&self, index: u32) -> Option<Waiter> {
        let mut lines = self.lines.borrow_mut();
        let line = lines.get_mut(&index)?;
        while line.front().is_some_and(|waiter| waiter.granted.is_cancelled()) {
            line.pop_front();
        }
        let entry = self.entry(index)?;
        let first = if entry.readers_first.get() { line.iter().position(|waiter| !waiter.exclusive) } else { None };
        let next = match first {
            Some(reader) if admits(entry, false) => line.remove(reader),
            _ => line.pop_front_if(|waiter| admits(entry, waiter.exclusive)),
        };
        if line.is_empty() {
            lines.remove(&index);
            entry.wanted.set(false);
        }
        next
    }

    /// Takes out an object that the caller holds alone (4); those in line are told. The caller destroys it.
    pub(crate) fn remove(&self, hold: Hold) -> (&'static Class, NonNull<()>) {
        let index = hold.index();
        hold.forget();
        let entry = self.entry(index).expect("what is held is there");
        let object = NonNull::new(entry.object.replace(std::ptr::null_mut())).expect("what is held is there");
        let class = Class::tagged(entry.name(index).tag());
        entry.lives.set(false);
        entry.wanted.set(false);
        entry.holder.set(None);
        entry.holders.set(0);
        let generation = entry.name(index).generation();
        if generation < GENERATIONS {
            entry.word.set(Name::new(0, 0, generation + 1, 0).check | MARK);
            self.spare.borrow_mut().push(index);
        } else {
            entry.word.set(MARK);
        }
        let line = self.lines.borrow_mut().remove(&index);
        for waiter in line.into_iter().flatten() {
            waiter.granted.resolve(None);
        }
        (class, object)
    }

    /// Takes out any object, at the end.
    pub(crate) fn take_any(&self) -> Option<(&'static Class, NonNull<()>)> {
        while let Some(index) = self.used.get().checked_sub(1) {
            self.used.set(index);
            let entry = self.entry(index)?;
            entry.lives.set(false);
            let object = entry.object.replace(std::ptr::null_mut());
            let name = entry.name(index);
            entry.word.set(MARK);
            if let Some(object) = NonNull::new(object) {
                return Some((Class::tagged(name.tag()), object));
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

/// Takes the mark off an entry, if nothing speaks against it.
#[inline]
fn open(entry: &Entry) {
    if entry.holders.get() == 0 && !entry.poisoned.get() && entry.lives.get() && !entry.wanted.get() {
        entry.word.set(entry.word.get() & !MARK);
    }
}
