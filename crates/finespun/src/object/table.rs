//! The objects of a node, and their implicit locks.
//!
//! ```text
//!   the word in front of an object: generation, node, place, a mark
//!
//!             (1) lock                         (2) released, no waiter
//!   FREE(g) ------------> HELD(g), marked ----------------------------------> FREE(g)
//!      ^                    |        |  (3) poisoned: stays marked
//!      | (5) create         | (4) remove, as exclusive holder; (6) the same in one step, from FREE(g)
//!      |                    v
//!      +------------------ EMPTY, marked
//! ```
//!
//! (5) takes a generation that no object of this process has had at this node number and place ([`pages`](super::pages)). So
//! comparing words also rejects references of other runtimes.
//!
//! A reference holds the word that its object has in front of it while the object is free. One comparison thus shows that
//! the object exists, is at this node, is still the same object, and is unlocked: the call may proceed at once. The word
//! of a locked, poisoned or removed object is marked, so the comparison fails and the slow path inspects it.
//!
//! A plain method neither waits nor is interrupted, so it does not mark the word: no other code can inspect it before the
//! method returns. A method that may suspend holds the object's lock until it has ended: `&self` methods share it, a
//! `&mut self` method holds it exclusively. A caller that finds the object locked joins the wait queue. The queue is FIFO: a
//! shared request waits behind a queued exclusive one, unless the class is `readers_first`.
//!
//! Two bits of a marked word tell the state:
//!
//! | state | place | |
//! |---|---|---|
//! | 0 | its own | held exclusively |
//! | 1 | its own | held by one shared holder |
//! | 2 | the number of a [`Lock`] | anything else: more holders, waiters, poison, a method to report |
//! | 3 | 0 | empty |
//!
//! Only the home worker accesses any of this.

use std::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::array_table::ArrayTable;
use super::class::{Class, Slot};
use super::error::{Refusal, StaleCause};
use super::lock::ObjectLock;
use super::pages::{self, MOST_PAGES, UNITS};
use super::reference::{GRANULE, MARK, Name, Object, ObjectWithConstants, STATE, empty, generation, short, word};
use super::slab::Slab;
use super::state::Here;
use crate::frame::context::Cx;
use crate::frame::origin::Origin;
use crate::frame::quietly;
use crate::run::continuation::Continuation;
use crate::sched::team::Waits;

/// The word of an object that one shared holder has is its name plus this.
const SHARED: u64 = MARK | 1 << 30;
/// The state in the word of an object whose lock's state is in a [`Lock`].
const LOCKED: u64 = 2 << 30;

// Places leave room for the states.
const _: () = assert!((MOST_PAGES as u64 * 2 * UNITS as u64 - 1) & STATE == 0);

/// The state of a lock that a word has no room for.
struct Lock {
    name: Name,
    /// The number of shared holders.
    shared: u32,
    /// Whether a method holds the object exclusively.
    exclusive: bool,
    /// A method that could change the object panicked or was cancelled, so the object may be inconsistent.
    poisoned: bool,
    /// The method that last suspended while holding the object; for reports. `None` once a call of it has released its
    /// lock.
    holder: Option<&'static Origin>,
    /// The requests that wait for the lock.
    queue: VecDeque<LockWaiter>,
}

impl Lock {
    /// Returns whether the lock admits another holder in this mode.
    fn admits(&self, exclusive: bool) -> bool {
        !self.exclusive && (self.shared == 0 || !exclusive)
    }

    fn admit(&mut self, exclusive: bool) {
        match exclusive {
            true => self.exclusive = true,
            false => self.shared += 1,
        }
    }

    fn leave(&mut self, exclusive: bool) {
        match exclusive {
            true => self.exclusive = false,
            false => self.shared -= 1,
        }
    }

    /// Returns whether the word has room for the state: the object is free.
    fn is_free(&self) -> bool {
        !self.exclusive && self.shared == 0 && !self.poisoned && self.queue.is_empty()
    }
}

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
#[repr(align(128))]
pub(crate) struct Table {
    node: u32,
    /// The node's region of the address space.
    region: NonNull<u64>,
    /// The slabs by class.
    slabs: RefCell<Vec<Option<Box<Slab>>>>,
    /// The states of locks that words have no room for, by number; 0 is none.
    locks: RefCell<Vec<Option<Lock>>>,
    /// The numbers of `locks` that are free.
    spare: RefCell<Vec<u32>>,
    /// The node's write-once arrays.
    pub(crate) arrays: ArrayTable,
}

/// Returns the object that `name` names, if it is at the current node and free.
///
/// # Safety
/// `name` names a `T`.
#[inline(always)]
pub(crate) unsafe fn free_here<T: Object>(cx: Cx, name: Name) -> Option<Found<T>> {
    let slot = slot_here(cx, name);
    // SAFETY: every name leads to the beginning of a slot of its class or to zeros, whose words only this worker accesses.
    // The word contains the node number, so it does not match at another node.
    if unsafe { slot.cast::<Cell<u64>>().as_ref() }.get() != name.word() {
        return None;
    }
    Some(Found { slot, object: PhantomData })
}

/// The slot of an object that has just been found free at the current node.
pub(crate) struct Found<T> {
    slot: NonNull<u64>,
    object: PhantomData<T>,
}

impl<T> Clone for Found<T> {
    fn clone(&self) -> Found<T> {
        *self
    }
}
impl<T> Copy for Found<T> {}

impl<T: Object> Found<T> {
    /// Returns the object.
    #[inline(always)]
    pub(crate) fn object(self) -> NonNull<T> {
        // SAFETY: an unmarked word belongs to a live object of its class, which is the class of `T`.
        unsafe { Slot::object(self.slot) }
    }

    fn word(&self) -> &Cell<u64> {
        // SAFETY: slots never move, and only this worker accesses their words.
        unsafe { self.slot.cast().as_ref() }
    }

    /// Locks the object.
    ///
    /// # Safety
    /// It has just been found by this name.
    #[inline(always)]
    pub(crate) unsafe fn hold(self, name: Name, exclusive: bool) {
        debug_assert_eq!(self.word().get(), name.word());
        self.word().set(name.word() + if exclusive { MARK } else { SHARED });
    }

    /// Releases the lock (2) if this only needs to clear the mark: no waiter, no poison, no other holder. Returns whether it
    /// did.
    ///
    /// # Safety
    /// The caller holds the object of this name in the mode that `exclusive` gives.
    #[inline(always)]
    pub(crate) unsafe fn release(self, name: Name, exclusive: bool) -> bool {
        let simple = self.word().get() == name.word() + if exclusive { MARK } else { SHARED };
        if simple {
            self.word().set(name.word());
        }
        simple
    }
}

/// Returns the address that a name leads to in the region of the current node.
#[inline(always)]
fn slot_here(cx: Cx, name: Name) -> NonNull<u64> {
    // SAFETY: `show` has set the pointer, to one behind the beginning of the region, which is readable at the places of all
    // names of this process.
    unsafe { NonNull::new_unchecked(cx.here().behind.get().cast_mut().add(name.place() as usize).sub(1)) }
}

/// The state that the word of an object has.
enum Word {
    Free,
    Exclusive,
    Shared,
    Locked(usize),
}

impl Table {
    /// Creates the table of a node without objects.
    ///
    /// # Safety
    /// `region` is the node's region of a space that outlives the table, and only this worker uses it.
    pub(crate) unsafe fn new(node: u32, region: NonNull<u8>) -> Table {
        Table {
            node,
            region: region.cast(),
            slabs: RefCell::default(),
            locks: RefCell::new(vec![None]),
            spare: RefCell::default(),
            arrays: ArrayTable::new(),
        }
    }

    /// Makes `here`, the context's view of the current node, refer to this table.
    pub(crate) fn show(&self, here: &Here) {
        here.behind.set(self.slot(1).as_ptr());
        here.table.set(self);
        here.arrays.set(self.arrays.entries());
    }

    /// Returns the address of the slot at a place.
    fn slot(&self, place: u32) -> NonNull<u64> {
        // SAFETY: places of names and of slots are in the region.
        unsafe { self.region.add(place as usize) }
    }

    /// Returns the word of the slot at a place.
    fn word(&self, place: u32) -> &Cell<u64> {
        // SAFETY: places of names and of slots lead to words, or to zeros; only this worker accesses them.
        unsafe { self.slot(place).cast().as_ref() }
    }

    /// Inserts `value` as an object (5).
    ///
    /// # Panics
    /// If there is no room; with the panic of a `#[constant]` method.
    #[inline]
    pub(crate) fn insert<T: Object>(&self, class: &'static Class, value: T) -> Name {
        // First, because it may panic.
        let object = ObjectWithConstants::new(value);
        let slabs = self.slabs.borrow();
        let (place, generation) = match slabs.get(class.number as usize) {
            Some(Some(slab)) => slab.take(),
            _ => {
                drop(slabs);
                self.add_slab(class).take()
            }
        };
        let name = Name::new(self.node, generation, place);
        // SAFETY: the slot is one of this class's, and free.
        unsafe { Slot::fill(self.slot(place), object) };
        self.word(place).set(name.word());
        name
    }

    #[cold]
    fn add_slab(&self, class: &'static Class) -> Ref<'_, Slab> {
        let mut slabs = self.slabs.borrow_mut();
        let number = class.number as usize;
        if slabs.len() <= number {
            slabs.resize_with(number + 1, || None);
        }
        // SAFETY: the region is this node's, and no other slab of it has this class.
        slabs[number] = Some(Box::new(unsafe { Slab::new(class, self.node, self.region) }));
        drop(slabs);
        self.slab(class.number).expect("just added")
    }

    fn slab(&self, class: u32) -> Option<Ref<'_, Slab>> {
        Ref::filter_map(self.slabs.borrow(), |slabs| slabs.get(class as usize)?.as_deref()).ok()
    }

    /// Returns the state of an object, if it exists.
    fn find(&self, locks: &[Option<Lock>], name: Name) -> Option<Word> {
        let found = self.word(name.place()).get();
        match found ^ name.word() {
            0 => Some(Word::Free),
            MARK => Some(Word::Exclusive),
            SHARED => Some(Word::Shared),
            _ if found & (STATE | MARK) == LOCKED | MARK => {
                let number = ((found & !STATE) as u32 / GRANULE) as usize;
                (locks[number].as_ref()?.name == name).then_some(Word::Locked(number))
            }
            _ => None,
        }
    }

    /// Calls `change` with the state of an object's lock, if the object exists. Afterwards the word tells the state if it
    /// can.
    fn with_lock<R>(&self, name: Name, change: impl FnOnce(&mut Lock) -> R) -> Option<R> {
        let mut locks = self.locks.borrow_mut();
        let number = match self.find(&locks, name)? {
            Word::Locked(number) => number,
            found => {
                let (shared, exclusive) = (u32::from(matches!(found, Word::Shared)), matches!(found, Word::Exclusive));
                let lock = Lock { name, shared, exclusive, poisoned: false, holder: None, queue: VecDeque::new() };
                let number = self.spare.borrow_mut().pop().map_or(locks.len(), |spare| spare as usize);
                if number == locks.len() {
                    locks.push(Some(lock));
                } else {
                    locks[number] = Some(lock);
                }
                self.word(name.place())
                    .set(word(self.node, name.generation(), number as u32 * GRANULE) | LOCKED | MARK);
                number
            }
        };
        let lock = locks[number].as_mut()?;
        let result = change(lock);
        if lock.is_free() {
            locks[number] = None;
            self.spare.borrow_mut().push(number as u32);
            self.word(name.place()).set(name.word());
        }
        Some(result)
    }

    /// Returns why this node has no object named `name`.
    #[cold]
    pub(crate) fn stale(&self, name: Name) -> Refusal {
        let had = pages::class_here(name).and_then(|class| self.slab(class)?.generations(name.place()));
        Refusal::Stale(match had {
            Some((first, last)) if (first..=last).contains(&name.generation()) => StaleCause::Dropped,
            _ => StaleCause::OtherRuntime,
        })
    }

    /// Returns the object if it exists, locked or not. The caller may read only parts that no method changes.
    ///
    /// # Safety
    /// `name` names a `T`.
    pub(crate) unsafe fn peek<T: Object>(&self, name: Name) -> Option<NonNull<T>> {
        self.find(&self.locks.borrow(), name)?;
        // SAFETY: the caller guarantees that the object, which exists, is a `T`.
        Some(unsafe { Slot::object(self.slot(name.place())) })
    }

    /// Returns the locked object.
    ///
    /// # Safety
    /// It is a `T`.
    pub(crate) unsafe fn locked<T: Object>(&self, hold: &ObjectLock) -> Found<T> {
        Found { slot: self.slot(hold.name().place()), object: PhantomData }
    }

    /// Records that `method` suspends while it holds an object.
    pub(crate) fn held_by(&self, name: Name, method: &'static Origin) {
        self.with_lock(name, |lock| lock.holder = Some(method));
    }

    /// Adds to `waits`, for reports, each leaf that waits for an object of this node, and a description of the object.
    pub(crate) fn report_waits(&self, waits: &mut Waits) {
        for lock in self.locks.borrow().iter().flatten() {
            let class = short(pages::class_of(lock.name).name);
            let holder = lock.holder.map_or("others", |holder| holder.name);
            let what = format!("the {class} {} at node {}, held by {holder}", pages::number(lock.name), self.node);
            waits.extend(lock.queue.iter().map(|waiter| (waiter.granted.leaf(), what.clone())));
        }
    }

    /// Returns whether the locked object is poisoned.
    pub(crate) fn poisoned(&self, hold: &ObjectLock) -> bool {
        let locks = self.locks.borrow();
        match self.find(&locks, hold.name()) {
            Some(Word::Locked(number)) => locks[number].as_ref().is_some_and(|lock| lock.poisoned),
            _ => false,
        }
    }

    /// Locks an object (1), if its holders admit the caller and no queued request precedes it. Refuses a poisoned
    /// object.
    pub(crate) fn hold(&self, name: Name, exclusive: bool) -> LockAttempt {
        self.attempt(name, exclusive, false)
    }

    /// Like `hold`, but also locks a poisoned object.
    pub(crate) fn hold_even_poisoned(&self, name: Name, exclusive: bool) -> LockAttempt {
        self.attempt(name, exclusive, true)
    }

    fn attempt(&self, name: Name, exclusive: bool, even_poisoned: bool) -> LockAttempt {
        let found = self.find(&self.locks.borrow(), name);
        let held = || LockAttempt::Held(ObjectLock::new(name, exclusive));
        let readers_first = || pages::class_of(name).slots().readers_first;
        match found {
            None => LockAttempt::Refused(self.stale(name)),
            Some(Word::Free) => {
                self.word(name.place()).set(name.word() + if exclusive { MARK } else { SHARED });
                held()
            }
            Some(Word::Exclusive) => LockAttempt::Busy,
            Some(Word::Shared) if exclusive => LockAttempt::Busy,
            Some(Word::Shared | Word::Locked(_)) => {
                let admit = |lock: &mut Lock| {
                    if lock.poisoned && !even_poisoned {
                        return LockAttempt::Refused(Refusal::Poisoned);
                    }
                    let waits = !lock.queue.is_empty() && (exclusive || !readers_first());
                    if !lock.admits(exclusive) || waits {
                        return LockAttempt::Busy;
                    }
                    lock.admit(exclusive);
                    held()
                };
                self.with_lock(name, admit).expect("just found")
            }
        }
    }

    /// Appends a request to the wait queue of a locked object.
    pub(crate) fn wait(&self, name: Name, exclusive: bool, granted: Continuation<Option<ObjectLock>>) {
        self.with_lock(name, |lock| lock.queue.push_back(LockWaiter { exclusive, granted }));
    }

    /// Releases a lock (2, or 3 if `poison`), and grants it to waiters. Forgets the record that `method` holds the
    /// object.
    pub(crate) fn release(&self, name: Name, exclusive: bool, poison: bool, method: Option<&'static Origin>) {
        let leave = |lock: &mut Lock| {
            lock.leave(exclusive);
            // If another shared holder has recorded a different method since, that record stays.
            if lock.holder == method {
                lock.holder = None;
            }
            lock.poisoned |= poison;
        };
        self.with_lock(name, leave).expect("a locked object exists");
        if !mutated!(LostGrant) {
            self.serve(name);
        }
    }

    /// Grants the lock to queued waiters as long as it admits the next one.
    pub(crate) fn serve(&self, name: Name) {
        while let Some(waiter) = self.next(name) {
            if let Err(Some(hold)) = waiter.granted.try_resolve(Some(ObjectLock::new(name, waiter.exclusive))) {
                // The waiter has just been cancelled.
                hold.forget();
                self.with_lock(name, |lock| lock.leave(waiter.exclusive));
            }
        }
    }

    /// Removes the next waiter of an object, if it exists and the lock admits that waiter, and makes it a holder. For
    /// `readers_first` classes the next is the first shared request, if any.
    fn next(&self, name: Name) -> Option<LockWaiter> {
        if !matches!(self.find(&self.locks.borrow(), name)?, Word::Locked(_)) {
            return None;
        }
        let take = |lock: &mut Lock| {
            while lock.queue.front().is_some_and(|waiter| waiter.granted.is_cancelled()) {
                lock.queue.pop_front();
            }
            let readers_first = pages::class_of(name).slots().readers_first;
            let first = if readers_first { lock.queue.iter().position(|waiter| !waiter.exclusive) } else { None };
            let at = match first {
                Some(reader) if lock.admits(false) => reader,
                _ => 0,
            };
            let exclusive = lock.queue.get(at)?.exclusive;
            if !lock.admits(exclusive) {
                return None;
            }
            lock.admit(exclusive);
            lock.queue.remove(at)
        };
        self.with_lock(name, take)?
    }

    /// Removes an object that the caller holds exclusively (4), resolves its waiters with `None`, and destroys it.
    ///
    /// # Panics
    /// With the panic of the object's destructor.
    pub(crate) fn destroy(&self, hold: ObjectLock) {
        let name = hold.name();
        hold.forget();
        let waiters = match self.word(name.place()).get() ^ name.word() {
            MARK => None,
            _ => self.with_lock(name, |lock| {
                // The word is overwritten below.
                (lock.exclusive, lock.poisoned) = (false, false);
                std::mem::take(&mut lock.queue)
            }),
        };
        self.word(name.place()).set(empty(name.generation()));
        for waiter in waiters.into_iter().flatten() {
            waiter.granted.resolve(None);
        }
        let _slot = FreedSlot { table: self, name };
        // SAFETY: an object of this class was in the slot, and its word shows that it is gone.
        unsafe { (pages::class_of(name).slots().destroy)(self.slot(name.place())) };
    }

    /// Removes and destroys an object that is free (6). Returns false, and does nothing, if it is locked or poisoned, or is not at
    /// this node.
    ///
    /// # Safety
    /// `name` names a `T`, if it names an object.
    ///
    /// # Panics
    /// With the panic of the object's destructor.
    #[inline]
    pub(crate) unsafe fn destroy_free<T: Object>(&self, name: Name) -> bool {
        let word = self.word(name.place());
        if word.get() != name.word() {
            return false;
        }
        word.set(empty(name.generation()));
        let _slot = FreedSlot { table: self, name };
        // SAFETY: the caller guarantees that the object, which existed, is a `T`; its word shows that it is gone.
        unsafe { Slot::<T>::destroy(self.slot(name.place())) };
        true
    }

    /// Destroys all objects when the worker ends, and returns their pages to other runtimes.
    pub(crate) fn end(&self) {
        loop {
            let mut some = false;
            let classes = self.slabs.borrow().len() as u32;
            for class in 0..classes {
                // Not borrowed during the calls of destructors.
                let Some(slab) = self.slab(class).map(|slab| NonNull::from(&*slab)) else { continue };
                // SAFETY: slabs are in boxes, and live as long as the table.
                let slab = unsafe { slab.as_ref() };
                slab.for_each(|place| {
                    some = true;
                    let word = self.word(place);
                    word.set(empty(generation(word.get())));
                    // SAFETY: the slot had an object of this class, and its word shows that it is gone. No caller could
                    // receive a panic of a destructor.
                    quietly(|| unsafe { (slab.class().slots().destroy)(self.slot(place)) });
                });
            }
            if !some {
                break;
            }
        }
        self.slabs.borrow().iter().flatten().for_each(|slab| slab.end());
    }
}

/// A slot whose object is being destroyed. Dropping it gives the slot back.
struct FreedSlot<'a> {
    table: &'a Table,
    name: Name,
}

impl Drop for FreedSlot<'_> {
    fn drop(&mut self) {
        if let Some(slab) = self.table.slab(pages::class_of(self.name).number) {
            slab.give_back(self.name.place());
        }
    }
}
