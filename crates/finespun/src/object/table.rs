//! The table of a node's objects, and their implicit locks.
//!
//! ```text
//!   the word of an entry: class, node, generation, index, a mark
//!
//!             (1) lock                         (2) released, no waiter
//!   FREE(g) ------------> HELD(g), marked ----------------------------------> FREE(g)
//!      ^                    |        |  (3) poisoned: stays marked
//!      | (5) create         | (4) remove, as exclusive holder
//!      |                    v
//!      +------------------ EMPTY, marked
//! ```
//!
//! (5) takes a generation that no object of this process has had at this node number and index ([`generations`]). So
//! comparing words also rejects references of other runtimes.
//!
//! [`generations`]: super::generations
//!
//! A reference holds the word that its object's entry has while the object is free. One comparison thus shows that the
//! object exists, has the right type, is still the same object, and is unlocked: the call may proceed at once. The word
//! of a locked, poisoned or removed object is marked, so the comparison fails and the slow path inspects the state.
//!
//! A plain method neither waits nor is interrupted, so it does not mark the entry: no other code can inspect it before
//! the method returns. A method that may suspend holds the object's lock until it has ended: `&self` methods share it,
//! a `&mut self` method holds it exclusively. A caller that finds the object locked joins the wait queue. The queue is
//! FIFO: a shared request waits behind a queued exclusive one, unless the class is `readers_first`.
//!
//! Only the home worker accesses any of this.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::{HashMap, VecDeque};
use std::ptr::NonNull;

use super::array_table::ArrayTable;
use super::class::Class;
use super::error::{Refusal, StaleCause};
use super::generations::Generations;
use super::lock::ObjectLock;
use super::reference::{ENTRY, Name, OBJECTS, Object, ObjectWithConstants, generation, short, word};
use super::state::Here;
use crate::frame::context::Cx;
use crate::frame::origin::Origin;
use crate::run::continuation::Continuation;
use crate::sched::team::Waits;

/// The mark bit of a word: the object cannot be called on the fast path.
const MARK: u64 = 1;

/// A method that could change the object panicked or was cancelled, so the object may be inconsistent.
const POISONED: u8 = 1;
/// The wait queue is not empty.
const WANTED: u8 = 2;
/// The entry is marked, but no method holds the object.
const IDLE: u8 = 4;
/// A shared request overtakes queued exclusive ones, if the lock admits it.
const READERS_FIRST: u8 = 8;

/// The part of an entry that a call reads: 16 bytes per object, so that four share a cache line.
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

/// The lock state of a marked object. While an object is free, `shared` is 0 and all flags except [`READERS_FIRST`] are
/// clear. So setting the mark alone locks the object exclusively.
#[derive(Default)]
#[repr(C)]
pub(crate) struct State {
    /// The method that last suspended while holding the object; for reports. `None` once a call of it has released its
    /// lock.
    holder: Cell<Option<&'static Origin>>,
    /// The number of shared holders. If it is 0 and the object is not [`IDLE`], one holder has it exclusively.
    shared: Cell<u32>,
    flags: Cell<u8>,
    /// Set if another runtime's object took a generation between two of this entry's objects.
    mixed: Cell<bool>,
    /// The generation of the entry's first object in this table; 0 if it has had none.
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

/// A waiter for an object's lock. It gets `None` if the object is removed first.
struct LockWaiter {
    exclusive: bool,
    granted: Continuation<Option<ObjectLock>>,
}

/// How a method uses its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `&self`.
    Shared,
    /// `&mut self`.
    Exclusive,
    /// `this: Ref<Self>`: the method does not use the object, but runs at its home.
    None,
    /// The method reads only constants, which were computed when the object was created.
    Constant,
}

/// The result of an attempt to lock an object on the slow path.
#[must_use]
pub(crate) enum LockAttempt {
    /// The object is now locked for the caller.
    Held(ObjectLock),
    /// The caller must join the wait queue: other methods hold the object, or earlier requests wait for it.
    Busy,
    Refused(Refusal),
}

/// The objects of one node.
pub(crate) struct Table {
    node: u32,
    /// The length is a power of two, so that masking keeps every name in bounds. No reference to an entry lives while
    /// an entry is added.
    entries: UnsafeCell<Vec<Entry>>,
    /// Parallel to `entries`.
    states: UnsafeCell<Vec<State>>,
    /// The mask that selects the byte offset of an entry from the low half of a name.
    mask: Cell<u32>,
    /// The number of entries that have been used.
    used: Cell<u32>,
    /// The indices of removed objects, which new objects may use.
    spare: RefCell<Vec<u32>>,
    /// The source of the generations of new objects.
    generations: Generations,
    /// The requests that wait for an object's lock, by index.
    wait_queues: RefCell<HashMap<u32, VecDeque<LockWaiter>>>,
    /// The node's write-once arrays.
    pub(crate) arrays: ArrayTable,
}

/// Returns the object that `name` names, if it is at the current node and free.
#[inline(always)]
pub(crate) fn free_here(cx: Cx, name: Name) -> Option<NonNull<()>> {
    let here = cx.here();
    let at = (name.word() as u32 & here.mask.get()) as usize;
    // SAFETY: `Table::show` has set `entries`, which points to entries that only this worker changes, and `mask`, which
    // selects one of them. The reference ends before entries move.
    let entry = unsafe { &*here.entries.get().byte_add(at) };
    // The word contains the node number, so it matches no entry in the table of another node.
    if entry.word.get() != name.word() {
        return None;
    }
    // SAFETY: an unmarked word belongs to a live object, whose pointer is not null.
    Some(unsafe { NonNull::new_unchecked(entry.object.get()) })
}

/// Returns the entry and the state at the index in `name`, in the table of the current node.
///
/// # Safety
/// No entry is added while the result lives.
#[inline(always)]
unsafe fn shown<'a>(cx: Cx, name: Name) -> EntryRef<'a> {
    let here = cx.here();
    let at = (name.word() as u32 & here.mask.get()) as usize;
    // SAFETY: `show` sets both pointers and the mask; `states` has as many elements as `entries`, of the same size. The
    // caller adds no entry while the references live.
    unsafe { EntryRef { entry: &*here.entries.get().byte_add(at), state: &*here.states.get().byte_add(at) } }
}

/// Locks an object that is free.
///
/// # Safety
/// [`free_here`] has just found the object.
#[inline(always)]
pub(crate) unsafe fn hold_free(cx: Cx, name: Name, exclusive: bool) {
    // The caller has just found the object in this entry.
    // SAFETY: no entry is added before the last use of `place`.
    let place = unsafe { shown(cx, name) };
    debug_assert_eq!(place.entry.word.get(), name.word());
    place.entry.word.set(name.word() | MARK);
    if !exclusive {
        place.state.shared.set(1);
    }
}

/// Releases a lock (2) if this only needs to clear the mark: no waiter, no poison, no other holder. Returns whether it
/// did.
///
/// # Safety
/// The worker is at the object's node, and the caller holds the object in the mode that `exclusive` gives.
#[inline(always)]
pub(crate) unsafe fn release_here(cx: Cx, name: Name, exclusive: bool) -> bool {
    // A locked object stays in its entry.
    // SAFETY: no entry is added before the last use of `place`.
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
            wait_queues: RefCell::new(HashMap::new()),
            arrays: ArrayTable::new(),
        }
    }

    /// Makes `here`, the context's view of the current node, refer to this table.
    pub(crate) fn show(&self, here: &Here) {
        // SAFETY: only this worker accesses the vectors, and no reference outlives its statement.
        let (entries, states) = unsafe { (&*self.entries.get(), &*self.states.get()) };
        here.entries.set(entries.as_ptr());
        here.states.set(states.as_ptr());
        here.mask.set(self.mask.get());
        here.arrays.set(self.arrays.entries());
    }

    /// Returns the entry and the state at `index`, if the table has them.
    fn place(&self, index: u32) -> Option<EntryRef<'_>> {
        // SAFETY: callers add no entry while they use the references, and call no user code, which might add one.
        let (entries, states) = unsafe { (&*self.entries.get(), &*self.states.get()) };
        Some(EntryRef { entry: entries.get(index as usize)?, state: states.get(index as usize)? })
    }

    /// Inserts `value` as an object.
    pub(crate) fn insert_value<T: Object>(&self, class: &'static Class, value: T) -> Name {
        let object = Box::new(ObjectWithConstants::new(value));
        let name = self.insert(class, NonNull::from(Box::leak(object)).cast());
        if T::READERS_FIRST {
            self.place(name.index()).expect("just entered").state.set(READERS_FIRST);
        }
        name
    }

    /// Inserts an object (5). The table owns it from now on.
    pub(crate) fn insert(&self, class: &'static Class, object: NonNull<()>) -> Name {
        let (index, next) = self.claim();
        let EntryRef { entry, state } = self.place(index).expect("just claimed");
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

    /// Claims an empty entry and a generation for its next object. Permanently skips entries whose generations are used
    /// up.
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
        // SAFETY: only this worker accesses the vectors, and no reference to an element is alive (see `entries`).
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

    /// Returns the entry and the state of an object, if it exists.
    fn find(&self, name: Name) -> Option<EntryRef<'_>> {
        self.place(name.index()).filter(|place| place.entry.word.get() & !MARK == name.word())
    }

    /// Returns why this node has no object named `name`.
    #[cold]
    pub(crate) fn stale(&self, name: Name) -> Refusal {
        let cause = match self.place(name.index()) {
            Some(EntryRef { entry, state }) if state.first.get() != 0 => {
                let (first, last) = (u32::from(state.first.get()), generation(entry.word.get()));
                if !(first..=last).contains(&name.generation()) {
                    StaleCause::OtherRuntime
                } else if state.mixed.get() && name.generation() < last {
                    StaleCause::Unknown
                } else {
                    StaleCause::Dropped
                }
            }
            // The entry has never had an object.
            _ => StaleCause::OtherRuntime,
        };
        Refusal::Stale(cause)
    }

    /// Returns whether the object exists, locked or not.
    pub(crate) fn lives(&self, name: Name) -> bool {
        self.find(name).is_some()
    }

    /// Returns the object if it exists, locked or not. The caller may read only parts that no method changes.
    pub(crate) fn peek(&self, name: Name) -> Option<NonNull<()>> {
        self.find(name).and_then(|place| NonNull::new(place.entry.object.get()))
    }

    /// Returns the locked object.
    pub(crate) fn object(&self, hold: &ObjectLock) -> NonNull<()> {
        let place = self.place(hold.index()).expect("a locked object is in its entry");
        NonNull::new(place.entry.object.get()).expect("a locked object is in its entry")
    }

    /// Records that `method` suspends while it holds an object.
    pub(crate) fn held_by(&self, name: Name, method: &'static Origin) {
        if let Some(place) = self.find(name) {
            place.state.holder.set(Some(method));
        }
    }

    /// Adds to `waits`, for reports, each leaf that waits for an object of this node, and a description of the object.
    pub(crate) fn report_waits(&self, waits: &mut Waits) {
        for (&index, queue) in &*self.wait_queues.borrow() {
            let Some(EntryRef { entry, state }) = self.place(index) else { continue };
            let Some(name) = entry.name() else { continue };
            let class = short(Class::numbered(name.class()).name);
            let holder = state.holder.get().map_or("others", |holder| holder.name);
            let what = format!("the {class} {index} at node {}, held by {holder}", self.node);
            waits.extend(queue.iter().map(|waiter| (waiter.granted.leaf(), what.clone())));
        }
    }

    /// Returns whether the locked object is poisoned.
    pub(crate) fn poisoned(&self, hold: &ObjectLock) -> bool {
        self.place(hold.index()).is_some_and(|place| place.state.is(POISONED))
    }

    /// Locks an object (1), if its holders admit the caller and no queued request precedes it. Refuses a poisoned
    /// object.
    pub(crate) fn hold(&self, name: Name, exclusive: bool) -> LockAttempt {
        if self.find(name).is_some_and(|place| place.state.is(POISONED)) {
            return LockAttempt::Refused(Refusal::Poisoned);
        }
        self.hold_even_poisoned(name, exclusive)
    }

    /// Like `hold`, but also locks a poisoned object.
    pub(crate) fn hold_even_poisoned(&self, name: Name, exclusive: bool) -> LockAttempt {
        let Some(place) = self.find(name) else { return LockAttempt::Refused(self.stale(name)) };
        let waits = place.state.is(WANTED) && (exclusive || !place.state.is(READERS_FIRST));
        if place.is_marked() && (!place.admits(exclusive) || waits) {
            return LockAttempt::Busy;
        }
        place.admit(exclusive);
        LockAttempt::Held(ObjectLock::new(name, exclusive))
    }

    /// Appends a request to the wait queue of the object at `index`.
    pub(crate) fn wait(&self, index: u32, exclusive: bool, granted: Continuation<Option<ObjectLock>>) {
        if let Some(place) = self.place(index) {
            place.state.set(WANTED);
        }
        self.wait_queues.borrow_mut().entry(index).or_default().push_back(LockWaiter { exclusive, granted });
    }

    /// Releases a lock (2, or 3 if `poison`), and grants it to waiters. Forgets the record that `method` holds the
    /// object.
    pub(crate) fn release(&self, index: u32, exclusive: bool, poison: bool, method: Option<&'static Origin>) {
        let place = self.place(index).expect("a locked object is in its entry");
        place.leave(exclusive);
        // If another shared holder has recorded a different method since, that record stays.
        if place.state.holder.get() == method {
            place.state.holder.set(None);
        }
        if poison {
            place.state.set(POISONED);
        }
        if place.state.is(WANTED) && !mutated!(LostGrant) {
            self.serve(index);
        } else {
            place.open();
        }
    }

    /// Grants the lock to queued waiters as long as it admits the next one. If the lock then has no
    /// holder and the object is not poisoned, clears the mark.
    pub(crate) fn serve(&self, index: u32) {
        while let Some(waiter) = self.next(index) {
            let place = self.place(index).expect("an object with waiters exists");
            let name = place.entry.name().expect("an object with waiters exists");
            place.admit(waiter.exclusive);
            if let Err(Some(hold)) = waiter.granted.try_resolve(Some(ObjectLock::new(name, waiter.exclusive))) {
                // The waiter has just been cancelled.
                hold.forget();
                place.leave(waiter.exclusive);
            }
        }
        self.place(index).expect("the object has an entry").open();
    }

    /// Removes and returns the next waiter, if the lock admits it. For `readers_first` classes the next is the first
    /// shared request, if any.
    fn next(&self, index: u32) -> Option<LockWaiter> {
        let mut wait_queues = self.wait_queues.borrow_mut();
        let queue = wait_queues.get_mut(&index)?;
        while queue.front().is_some_and(|waiter| waiter.granted.is_cancelled()) {
            queue.pop_front();
        }
        let place = self.place(index)?;
        let readers_first = place.state.is(READERS_FIRST);
        let first = if readers_first { queue.iter().position(|waiter| !waiter.exclusive) } else { None };
        let next = match first {
            Some(reader) if place.admits(false) => queue.remove(reader),
            _ => queue.pop_front_if(|waiter| place.admits(waiter.exclusive)),
        };
        if queue.is_empty() {
            wait_queues.remove(&index);
            place.state.clear(WANTED);
        }
        next
    }

    /// Removes an object that the caller holds exclusively (4), and resolves its waiters with `None`. The caller must
    /// destroy the returned object.
    pub(crate) fn remove(&self, hold: ObjectLock) -> (&'static Class, NonNull<()>) {
        let index = hold.index();
        hold.forget();
        let EntryRef { entry, state } = self.place(index).expect("a locked object is in its entry");
        let object = NonNull::new(entry.object.replace(std::ptr::null_mut())).expect("a locked object is in its entry");
        let name = entry.name().expect("a locked object is in its entry");
        state.holder.set(None);
        state.shared.set(0);
        state.flags.set(0);
        entry.word.set(word(0, 0, name.generation(), index) | MARK);
        self.spare.borrow_mut().push(index);
        let queue = self.wait_queues.borrow_mut().remove(&index);
        for waiter in queue.into_iter().flatten() {
            waiter.granted.resolve(None);
        }
        (Class::numbered(name.class()), object)
    }

    /// Removes and returns some object; called when the worker ends, until none is left.
    pub(crate) fn take_any(&self) -> Option<(&'static Class, NonNull<()>)> {
        while let Some(index) = self.used.get().checked_sub(1) {
            self.used.set(index);
            let EntryRef { entry, .. } = self.place(index)?;
            let name = entry.name();
            entry.word.set(MARK);
            if let (Some(name), Some(object)) = (name, NonNull::new(entry.object.replace(std::ptr::null_mut()))) {
                return Some((Class::numbered(name.class()), object));
            }
        }
        None
    }
}

/// One index of the table: its entry and its state.
struct EntryRef<'a> {
    entry: &'a Entry,
    state: &'a State,
}

impl EntryRef<'_> {
    fn is_marked(&self) -> bool {
        self.entry.word.get() & MARK != 0
    }

    /// Returns whether the lock of a marked object admits another holder in this mode.
    fn admits(&self, exclusive: bool) -> bool {
        self.state.is(IDLE) || self.state.shared.get() > 0 && !exclusive
    }

    /// Marks the object and adds a holder, which the lock must admit.
    fn admit(&self, exclusive: bool) {
        self.entry.word.set(self.entry.word.get() | MARK);
        self.state.clear(IDLE);
        self.state.shared.set(self.state.shared.get() + u32::from(!exclusive));
    }

    /// Removes one holder.
    fn leave(&self, exclusive: bool) {
        self.state.shared.set(self.state.shared.get() - u32::from(!exclusive));
        if self.state.shared.get() == 0 {
            self.state.set(IDLE);
        }
    }

    /// Makes the object free by clearing the mark, if it exists, is idle and not poisoned, and has no waiters.
    fn open(&self) {
        if self.state.is(IDLE) && !self.state.is(POISONED | WANTED) && self.entry.name().is_some() {
            self.state.clear(IDLE);
            self.entry.word.set(self.entry.word.get() & !MARK);
        }
    }
}
