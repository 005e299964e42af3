//! The table of a node's objects, and their implicit locks.
//!
//! ```text
//!   the word of an entry: class, node, generation, index, a mark
//!
//!             (1) hold                         (2) released, nobody waits
//!   FREE(g) ------------> HELD(g), marked ----------------------------------> FREE(g)
//!      ^                    |        |  (3) poisoned: stays marked
//!      | (5) create         | (4) free, as an exclusive holder
//!      |                    v
//!      +------------------ EMPTY, marked
//! ```
//!
//! (5) takes a generation that no object of this process has had at this node number and index ([`generations`]). So the
//! comparison refuses the references of other runtimes too.
//!
//! [`generations`]: super::generations
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
use super::error::{Refusal, StaleCause};
use super::generations::Generations;
use super::lock::Hold;
use super::reference::{ENTRY, Name, OBJECTS, Object, Whole, generation, short, word};
use super::seats::Seats;
use crate::sched::team::Waits;
use crate::task::context::{Cx, Here};
use crate::task::origin::Origin;
use crate::task::suspend::Continuation;

/// The mark of a word.
const MARK: u64 = 1;

/// It was left half changed.
const POISONED: u8 = 1;
/// Somebody stands in line.
const WANTED: u8 = 2;
/// It is marked, but nobody holds it.
const IDLE: u8 = 4;
/// Shared holders pass those that stand in line, if they can.
const READERS_FIRST: u8 = 8;

/// What a call looks at: 16 bytes for each object, so that four are in a line.
#[repr(C)]
pub(crate) struct Entry {
    word: Cell<u64>,
    object: Cell<*mut ()>,
}

const _: () = assert!(size_of::<Entry>() == 1 << ENTRY);

impl Entry {
    fn empty() -> Entry {
        Entry { word: Cell::new(MARK), object: Cell::new(std::ptr::null_mut()) }
    }

    fn name(&self) -> Option<Name> {
        Name::of_word(self.word.get())
    }
}

/// What is known of an object that is marked. Of a free one the count is 0, and so are all flags but [`READERS_FIRST`]: so the
/// mark alone says that somebody holds it alone.
#[derive(Default)]
#[repr(C)]
struct State {
    /// The method that has suspended last while it held the object, if it does still: for reports.
    holder: Cell<Option<&'static Origin>>,
    /// How many hold it shared. If none does, and it is not idle, somebody holds it alone.
    shared: Cell<u32>,
    flags: Cell<u8>,
    /// Another runtime's objects have had generations between those of this entry's objects.
    mixed: Cell<bool>,
    /// The generation of the entry's first object.
    first: Cell<u16>,
}

impl State {
    fn is(&self, flags: u8) -> bool {
        self.flags.get() & flags != 0
    }

    fn set(&self, flags: u8) {
        self.flags.set(self.flags.get() | flags);
    }

    fn clear(&self, flags: u8) {
        self.flags.set(self.flags.get() & !flags);
    }
}

const _: () = assert!(size_of::<State>() == 1 << ENTRY);

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
    /// As many.
    states: UnsafeCell<Vec<State>>,
    /// What of a place's bytes says which entry it is: `entries` has a power of two of them.
    mask: Cell<u32>,
    /// How many have been used.
    used: Cell<u32>,
    /// Places that may be used again.
    spare: RefCell<Vec<u32>>,
    /// The generations that objects of this node number may still have.
    generations: Generations,
    lines: RefCell<HashMap<u32, VecDeque<Waiter>>>,
    /// The node's write-once arrays.
    pub(crate) seats: Seats,
}

/// The object that is named, if it is here, and free.
#[inline(always)]
pub(crate) fn free_here(cx: Cx, name: Name) -> Option<NonNull<()>> {
    let here = &cx.context().here;
    let at = (name.word() as u32 & here.mask.get()) as usize;
    // SAFETY: `entries` is a table of entries that this worker alone changes, of which `mask` is the last (`Table::show`);
    // the reference is gone before they move.
    let entry = unsafe { &*here.entries.get().byte_add(at).cast::<Entry>() };
    // The word holds the node: in another's table it is another.
    if entry.word.get() != name.word() {
        return None;
    }
    // SAFETY: an unmarked word is that of a live object.
    Some(unsafe { NonNull::new_unchecked(entry.object.get()) })
}

/// Where the objects are of the node that this code runs at: what is there of a place that a name says.
///
/// # Safety
/// Nothing is added as long as this lives.
#[inline(always)]
unsafe fn shown<'a>(cx: Cx, name: Name) -> Place<'a> {
    let here = &cx.context().here;
    let at = (name.word() as u32 & here.mask.get()) as usize;
    // SAFETY: as in `free_here`; there are as many states, and they are as large.
    unsafe {
        Place {
            entry: &*here.entries.get().byte_add(at).cast::<Entry>(),
            state: &*here.states.get().byte_add(at).cast::<State>(),
        }
    }
}

/// Holds an object that is free.
///
/// # Safety
/// It has just been found by [`free_here`].
#[inline(always)]
pub(crate) unsafe fn hold_free(cx: Cx, name: Name, exclusive: bool) {
    // SAFETY: by the caller's word the place is the object's; used at once.
    let place = unsafe { shown(cx, name) };
    debug_assert_eq!(place.entry.word.get(), name.word());
    place.entry.word.set(name.word() | MARK);
    if !exclusive {
        place.state.shared.set(1);
    }
}

/// Ends a hold (2), if nothing but unmarking the object is to be done; says whether it was.
///
/// # Safety
/// The worker is at the object's node, and the caller holds the object so.
#[inline(always)]
pub(crate) unsafe fn release_here(cx: Cx, name: Name, exclusive: bool) -> bool {
    // SAFETY: what is held stays in its place; used at once.
    let place = unsafe { shown(cx, name) };
    debug_assert_eq!(place.entry.word.get(), name.word() | MARK);
    let simple = !place.state.is(WANTED | POISONED) && (exclusive || place.state.shared.get() == 1);
    if simple {
        if !exclusive {
            place.state.shared.set(0);
        }
        place.entry.word.set(name.word());
    }
    simple
}

impl Table {
    pub(crate) fn new(node: u32) -> Table {
        Table {
            node,
            entries: UnsafeCell::new(vec![Entry::empty()]),
            states: UnsafeCell::new(vec![State::default()]),
            mask: Cell::new(0),
            used: Cell::new(0),
            spare: RefCell::new(Vec::new()),
            generations: Generations::of_node(node),
            lines: RefCell::new(HashMap::new()),
            seats: Seats::new(),
        }
    }

    /// Says where the objects are.
    pub(crate) fn show(&self, here: &Here) {
        // SAFETY: only this worker touches them, and no reference outlives a statement.
        let (entries, states) = unsafe { (&*self.entries.get(), &*self.states.get()) };
        here.entries.set(entries.as_ptr().cast());
        here.states.set(states.as_ptr().cast());
        here.mask.set(self.mask.get());
        here.arrays.set(self.seats.lines().cast());
    }

    /// What there is of a place.
    fn place(&self, index: u32) -> Option<Place<'_>> {
        // SAFETY: callers keep the references only as long as nothing is added: they call nobody else's code meanwhile.
        let (entries, states) = unsafe { (&*self.entries.get(), &*self.states.get()) };
        Some(Place { entry: entries.get(index as usize)?, state: states.get(index as usize)? })
    }

    /// Enters a value as an object.
    pub(crate) fn insert_value<T: Object>(&self, class: &'static Class, value: T) -> Name {
        let object = Box::new(Whole::new(value));
        let name = self.insert(class, NonNull::from(Box::leak(object)).cast());
        if T::READERS_FIRST {
            self.place(name.index()).expect("just entered").state.set(READERS_FIRST);
        }
        name
    }

    /// Enters an object (5), which the table owns from now on.
    pub(crate) fn insert(&self, class: &'static Class, object: NonNull<()>) -> Name {
        let (index, next) = self.claim();
        let Place { entry, state } = self.place(index).expect("just claimed");
        let word = word(class.number, self.node, next, index);
        match generation(entry.word.get()) {
            0 => state.first.set(next as u16),
            last => state.mixed.set(state.mixed.get() || next != last + 1),
        }
        entry.object.set(object.as_ptr());
        entry.word.set(word);
        state.flags.set(0);
        Name::of_word(word).expect("it has a class")
    }

    /// Claims an empty entry, and a generation for its next object. An entry whose generations are used up stays empty.
    fn claim(&self) -> (u32, u32) {
        loop {
            let spare = self.spare.borrow_mut().pop();
            let index = spare.unwrap_or_else(|| self.add_entry());
            if let Some(generation) = self.generations.next(index) {
                return (index, generation);
            }
        }
    }

    /// Adds an empty entry.
    fn add_entry(&self) -> u32 {
        // SAFETY: only this worker touches them, and nobody holds a reference (see the field).
        let (entries, states) = unsafe { (&mut *self.entries.get(), &mut *self.states.get()) };
        let index = self.used.get();
        assert!(index < 1 << OBJECTS, "a node has room for 2^{OBJECTS} objects: use more nodes");
        self.used.set(index + 1);
        if index as usize == entries.len() {
            let more = (2 * index).max(64);
            entries.resize_with(more as usize, Entry::empty);
            states.resize_with(more as usize, State::default);
            self.mask.set((more - 1) << ENTRY);
        }
        self.generations.reach(index);
        index
    }

    /// The place of an object that is there.
    fn find(&self, name: Name) -> Option<Place<'_>> {
        self.place(name.index()).filter(|place| place.entry.word.get() & !MARK == name.word())
    }

    /// Why there is no object of that name at this node.
    #[cold]
    pub(crate) fn stale(&self, name: Name) -> Refusal {
        let cause = match self.place(name.index()) {
            Some(Place { entry, state }) if state.first.get() != 0 => {
                let (first, last) = (u32::from(state.first.get()), generation(entry.word.get()));
                if !(first..=last).contains(&name.generation()) {
                    StaleCause::OtherRuntime
                } else if state.mixed.get() && name.generation() < last {
                    StaleCause::Unknown
                } else {
                    StaleCause::Dropped
                }
            }
            // The entry has had no object.
            _ => StaleCause::OtherRuntime,
        };
        Refusal::Stale(cause)
    }

    /// Whether the object is there; held or not.
    pub(crate) fn lives(&self, name: Name) -> bool {
        self.find(name).is_some()
    }

    /// The object, if it is there: held or not, so only what nobody changes may be looked at.
    pub(crate) fn peek(&self, name: Name) -> Option<NonNull<()>> {
        self.find(name).and_then(|place| NonNull::new(place.entry.object.get()))
    }

    /// The object that is held.
    pub(crate) fn object(&self, hold: &Hold) -> NonNull<()> {
        let place = self.place(hold.index()).expect("what is held is there");
        NonNull::new(place.entry.object.get()).expect("what is held is there")
    }

    /// A method suspends while it holds an object.
    pub(crate) fn held_by(&self, name: Name, method: &'static Origin) {
        if let Some(place) = self.find(name) {
            place.state.holder.set(Some(method));
        }
    }

    /// What leaves wait for, of those that wait for an object of this node; for reports.
    pub(crate) fn tell_waits(&self, waits: &mut Waits) {
        for (&index, line) in &*self.lines.borrow() {
            let Some(Place { entry, state }) = self.place(index) else { continue };
            let Some(name) = entry.name() else { continue };
            let class = short(Class::numbered(name.class()).name);
            let holder = state.holder.get().map_or("others", |holder| holder.name);
            let what = format!("the {class} {index} at node {}, held by {holder}", self.node);
            waits.extend(line.iter().map(|waiter| (waiter.granted.leaf(), what.clone())));
        }
    }

    /// Whether what is held is poisoned.
    pub(crate) fn poisoned(&self, hold: &Hold) -> bool {
        self.place(hold.index()).is_some_and(|place| place.state.is(POISONED))
    }

    /// Holds an object (1), if nobody is before the caller.
    pub(crate) fn hold(&self, name: Name, exclusive: bool) -> Found {
        if self.find(name).is_some_and(|place| place.state.is(POISONED)) {
            return Found::Refused(Refusal::Poisoned);
        }
        self.hold_even_poisoned(name, exclusive)
    }

    /// The same of an object that may be poisoned.
    pub(crate) fn hold_even_poisoned(&self, name: Name, exclusive: bool) -> Found {
        let Some(place) = self.find(name) else { return Found::Refused(self.stale(name)) };
        let waits = place.state.is(WANTED) && (exclusive || !place.state.is(READERS_FIRST));
        if place.is_marked() && (!place.admits(exclusive) || waits) {
            return Found::Busy;
        }
        place.admit(exclusive);
        Found::Held(Hold::new(name, exclusive))
    }

    /// Waits in line.
    pub(crate) fn wait(&self, index: u32, exclusive: bool, granted: Continuation<Option<Hold>>) {
        if let Some(place) = self.place(index) {
            place.state.set(WANTED);
        }
        self.lines.borrow_mut().entry(index).or_default().push_back(Waiter { exclusive, granted });
    }

    /// Ends a hold (2, 3).
    pub(crate) fn release(&self, index: u32, exclusive: bool, poison: bool, method: Option<&'static Origin>) {
        let place = self.place(index).expect("what is held is there");
        place.leave(exclusive);
        // Others may hold it still.
        if place.state.holder.get() == method {
            place.state.holder.set(None);
        }
        if poison {
            place.state.set(POISONED);
        }
        if place.state.is(WANTED) {
            self.serve(index);
        } else {
            place.open();
        }
    }

    /// Grants to those in line what they can have.
    pub(crate) fn serve(&self, index: u32) {
        while let Some(waiter) = self.next(index) {
            let place = self.place(index).expect("somebody waits for it");
            let name = place.entry.name().expect("somebody waits for it");
            place.admit(waiter.exclusive);
            if let Err(Some(hold)) = waiter.granted.try_resolve(Some(Hold::new(name, waiter.exclusive))) {
                // Cancelled just now.
                hold.forget();
                place.leave(waiter.exclusive);
            }
        }
        self.place(index).expect("asked for").open();
    }

    /// The first in line, if it can have the object.
    fn next(&self, index: u32) -> Option<Waiter> {
        let mut lines = self.lines.borrow_mut();
        let line = lines.get_mut(&index)?;
        while line.front().is_some_and(|waiter| waiter.granted.is_cancelled()) {
            line.pop_front();
        }
        let place = self.place(index)?;
        let readers_first = place.state.is(READERS_FIRST);
        let first = if readers_first { line.iter().position(|waiter| !waiter.exclusive) } else { None };
        let next = match first {
            Some(reader) if place.admits(false) => line.remove(reader),
            _ => line.pop_front_if(|waiter| place.admits(waiter.exclusive)),
        };
        if line.is_empty() {
            lines.remove(&index);
            place.state.clear(WANTED);
        }
        next
    }

    /// Takes out an object that the caller holds alone (4); those in line are told. The caller destroys it.
    pub(crate) fn remove(&self, hold: Hold) -> (&'static Class, NonNull<()>) {
        let index = hold.index();
        hold.forget();
        let Place { entry, state } = self.place(index).expect("what is held is there");
        let object = NonNull::new(entry.object.replace(std::ptr::null_mut())).expect("what is held is there");
        let name = entry.name().expect("what is held is there");
        state.holder.set(None);
        state.shared.set(0);
        state.flags.set(0);
        entry.word.set(word(0, 0, name.generation(), index) | MARK);
        self.spare.borrow_mut().push(index);
        let line = self.lines.borrow_mut().remove(&index);
        for waiter in line.into_iter().flatten() {
            waiter.granted.resolve(None);
        }
        (Class::numbered(name.class()), object)
    }

    /// Takes out any object, at the end.
    pub(crate) fn take_any(&self) -> Option<(&'static Class, NonNull<()>)> {
        while let Some(index) = self.used.get().checked_sub(1) {
            self.used.set(index);
            let Place { entry, .. } = self.place(index)?;
            let name = entry.name();
            entry.word.set(MARK);
            if let (Some(name), Some(object)) = (name, NonNull::new(entry.object.replace(std::ptr::null_mut()))) {
                return Some((Class::numbered(name.class()), object));
            }
        }
        None
    }
}

/// One place of the table.
struct Place<'a> {
    entry: &'a Entry,
    state: &'a State,
}

impl Place<'_> {
    fn is_marked(&self) -> bool {
        self.entry.word.get() & MARK != 0
    }

    /// Whether the object, which is marked, can be held so beside those that hold it.
    fn admits(&self, exclusive: bool) -> bool {
        self.state.is(IDLE) || self.state.shared.get() > 0 && !exclusive
    }

    fn admit(&self, exclusive: bool) {
        self.entry.word.set(self.entry.word.get() | MARK);
        self.state.clear(IDLE);
        self.state.shared.set(self.state.shared.get() + u32::from(!exclusive));
    }

    /// One of those that hold it does so no longer.
    fn leave(&self, exclusive: bool) {
        self.state.shared.set(self.state.shared.get() - u32::from(!exclusive));
        if self.state.shared.get() == 0 {
            self.state.set(IDLE);
        }
    }

    /// Takes the mark off, if nothing speaks against it.
    fn open(&self) {
        if self.state.is(IDLE) && !self.state.is(POISONED | WANTED) && self.entry.name().is_some() {
            self.state.clear(IDLE);
            self.entry.word.set(self.entry.word.get() & !MARK);
        }
    }
}
