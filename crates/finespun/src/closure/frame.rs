//! The frame of a closure: a header that says whose it is, and the arguments.
//!
//! ```text
//!   +--------------------------------------+-------------+--------+--------+----------------+-----------+
//!   | header of a frame: dropped holes,    | computation | number | length | the arguments  | elements  |
//!   | table, missing arguments, group      |             |        |        | but a vector   | of it     |
//!   +--------------------------------------+-------------+--------+--------+----------------+-----------+
//! ```
//!
//! *Missing* is the papers' join counter. Whoever fills, or gives up, the last hole has the closure alone: it is posted if all
//! holes were filled, and else destroyed. Holes that were given up are noted in a list, whose head is the word in which other
//! frames keep who waits for them: nobody waits for a closure.
//!
//! ```text
//!                       send: - 1, give up: note, - 1           post
//!   made --> WAITING(n) ----------------------------> FULL ------------> queued --> RUNS (gone before its thread begins)
//!      \          |  the last, and one was given up     ^                  |
//!       \         v                                     | n = 0            | cancelled
//!        \    DESTROYED <-------------------------------+------------------+
//!         +---------------- dropped without having been posted ------------+
//! ```

use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use crate::atomics::Ordering;
use crate::task::context::{Cx, try_cx};
use crate::task::frame::{FrameRef, Header, ThreadTable, VTable, quietly};
use crate::task::pool::Class;
use crate::task::slot::{Join, Slot};
use crate::task::suspend;

use super::argument::{Dropped, Elements, Parameters, Supplies, Supply};
use super::computation::Computation;
use super::session;
use super::tail::{Memory, Tail};
use super::tally::add;
use super::thread::Thread;

/// What every closure begins with.
#[repr(C)]
pub(super) struct Head {
    header: Header,
    pub(super) computation: &'static Computation,
    /// The number of the computation.
    pub(super) number: u64,
}

#[repr(C)]
struct Frame<Th: Thread> {
    head: Head,
    length: <Th::Tail as Tail>::Length,
    fixed: MaybeUninit<Th::Fixed>,
}

/// The head of a closure.
///
/// # Safety
/// `closure` is a live closure.
#[inline(always)]
pub(super) unsafe fn head<'a>(closure: FrameRef) -> &'a Head {
    // SAFETY: by the caller's word.
    unsafe { closure.cast::<Head>().as_ref() }
}

impl<Th: Thread> Frame<Th> {
    const VTABLE: &'static VTable = &VTable {
        poll: session::run,
        cancel: session::cancel,
        drop_result: |_| unreachable!("a closure has no result"),
        class: Class::of(Layout::new::<Self>()),
        spawned: false,
        name: || Th::NAME,
        home: None,
        leaf: None,
        told: None,
        inner: false,
        thread: Some(&ThreadTable { run: Self::run, destroy: Self::destroy, argument: Self::argument }),
    };

    /// Where the elements of the tail are.
    const ELEMENTS: usize = mem::size_of::<Self>().next_multiple_of(<Th::Tail as Tail>::ALIGN);

    /// The memory of a closure with so many elements.
    #[inline(always)]
    fn class(length: <Th::Tail as Tail>::Length) -> Class {
        match Th::Tail::bytes(length) {
            // Without elements there is still a place for them, which is aligned as they are.
            0 if <Th::Tail as Tail>::ALIGN <= mem::align_of::<Self>() => const { Class::of(Layout::new::<Self>()) },
            bytes => {
                let align = mem::align_of::<Self>().max(<Th::Tail as Tail>::ALIGN);
                match Layout::from_size_align(Self::ELEMENTS.saturating_add(bytes), align) {
                    Ok(layout) => Class::of(layout.pad_to_align()),
                    Err(_) => panic!("a vector in a closure of `{}` is larger than the address space", Th::NAME),
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn fixed(closure: FrameRef) -> NonNull<Th::Fixed> {
        // SAFETY: within the closure.
        unsafe { closure.cast::<u8>().add(mem::offset_of!(Self, fixed)).cast() }
    }

    #[inline(always)]
    unsafe fn elements(closure: FrameRef) -> NonNull<u8> {
        // SAFETY: within the closure, or one past its end.
        unsafe { closure.cast::<u8>().add(Self::ELEMENTS) }
    }

    #[inline(always)]
    unsafe fn length(closure: FrameRef) -> <Th::Tail as Tail>::Length {
        // SAFETY: a live closure of this thread.
        unsafe { closure.cast::<Self>().as_ref() }.length
    }

    /// Memory for a closure of the current computation, with its head.
    #[inline(always)]
    fn begin(cx: Cx, length: <Th::Tail as Tail>::Length) -> FrameRef {
        let threads = &cx.context().threads;
        // SAFETY: null, or a record, which is never freed.
        let Some(computation) = (unsafe { threads.computation.get().cast::<Computation>().as_ref() }) else {
            outside()
        };
        let closure = cx.context().pool().allocate(Self::class(length));
        let header = Header { slot: Slot::new(), vtable: Self::VTABLE, join: Join::new(0), group: cx.group() };
        let head = Head { header, computation, number: threads.number.get() };
        // SAFETY: fresh memory of this layout; the arguments are not there yet.
        unsafe {
            let frame = closure.cast::<Self>().as_ptr();
            (&raw mut (*frame).head).write(head);
            (&raw mut (*frame).length).write(length);
        }
        closure
    }

    /// The thread, on the closure's arguments.
    unsafe fn run(closure: FrameRef) {
        // SAFETY: a full closure: all arguments are there, and are moved out once.
        let (fixed, length) = unsafe { (Self::fixed(closure).read(), Self::length(closure)) };
        // SAFETY: as above; the tail owns the closure's memory from here on, if it has elements.
        let tail = unsafe {
            let memory = Memory::of(closure, Self::class(length));
            Th::Tail::take(memory, Self::elements(closure), length)
        };
        Th::enter(fixed, tail);
    }

    unsafe fn destroy(closure: FrameRef) {
        // SAFETY: the caller has the closure alone.
        let dropped = unsafe { take_dropped(closure) };
        // SAFETY: as above; arguments that were given or sent are there, and are destroyed once.
        unsafe {
            let length = Self::length(closure);
            // Also if a destructor panics.
            let _memory = Memory::of(closure, Self::class(length));
            Th::Tail::destroy(Self::elements(closure), Self::ELEMENTS, length, &dropped);
            Th::Fixed::destroy(Self::fixed(closure).cast(), mem::offset_of!(Self, fixed), &dropped);
        }
    }

    fn argument(offset: usize, size: usize) -> String {
        let name = |index: usize| Th::PARAMETERS.get(index).copied().unwrap_or("?");
        let place = match offset.checked_sub(Self::ELEMENTS).filter(|_| Th::Tail::IS_VECTOR) {
            Some(element) => format!("{}[{}]", name(Th::PARAMETERS.len().saturating_sub(1)), Th::Tail::index(element)),
            None => name(Th::Fixed::index(offset - mem::offset_of!(Self, fixed), size)).to_owned(),
        };
        format!("the argument `{place}` of `{}`", Th::NAME)
    }
}

#[cold]
#[inline(never)]
fn outside() -> ! {
    panic!("a closure was made outside a computation: make the first ones in the body of `closure::top`")
}

#[cold]
#[inline(never)]
fn too_many<Th: Thread>() -> ! {
    panic!("a closure of `{}` misses more than 2^32 - 1 arguments", Th::NAME)
}

/// The holes of a closure that were given up, sorted by where they are.
///
/// # Safety
/// The caller has the closure alone.
unsafe fn take_dropped(closure: FrameRef) -> Vec<Dropped> {
    // SAFETY: by the caller's word.
    let head = unsafe { head(closure) };
    // Relaxed: the caller has seen all who have noted one arrive.
    let mut next = head.header.slot.unused().swap(ptr::null_mut(), Ordering::Relaxed).cast::<Dropped>();
    let mut all = Vec::new();
    while !next.is_null() {
        // SAFETY: from `Box::into_raw`, and in this list alone.
        let dropped = *unsafe { Box::from_raw(next) };
        next = dropped.next;
        all.push(dropped);
    }
    all.sort_unstable_by_key(|hole| hole.offset);
    all
}

/// One of a closure's holes has been filled.
///
/// # Safety
/// It was this caller's, and the closure is not used any more.
#[inline(always)]
pub(super) unsafe fn filled(closure: FrameRef) {
    // SAFETY: as long as a hole is open, the closure lives.
    if unsafe { head(closure) }.header.join.arrive() {
        // SAFETY: the last to arrive has the closure alone.
        unsafe { full(closure) };
    }
}

/// A closure whose holes are all filled, or given up.
///
/// # Safety
/// The caller has the closure alone.
#[inline(always)]
unsafe fn full(closure: FrameRef) {
    // SAFETY: by the caller's word.
    let head = unsafe { head(closure) };
    // Relaxed: the others have arrived.
    if !head.header.slot.unused().load(Ordering::Relaxed).is_null() {
        // SAFETY: passed on.
        return unsafe { destroy(closure) };
    }
    // SAFETY: passed on.
    unsafe { post(closure) };
}

/// Queues a full closure.
///
/// # Safety
/// The caller has the closure alone.
#[inline(always)]
pub(super) unsafe fn post(closure: FrameRef) {
    // SAFETY: by the caller's word.
    let number = unsafe { head(closure) }.number;
    match try_cx() {
        Some(cx) if cx.context().threads.number.get() == number => {
            // SAFETY: set with the number, to the counter of this worker in this computation, which is not over.
            add(unsafe { &*cx.context().threads.posted.get() }, 1, Ordering::Relaxed);
            cx.context().threads.push(closure);
            if cx.trips() {
                attend(cx);
            }
        }
        // SAFETY: passed on.
        _ => unsafe { post_from_outside(closure) },
    }
}

#[cold]
#[inline(never)]
fn attend(cx: Cx) {
    cx.context().scheduler().attend();
}

#[cold]
#[inline(never)]
unsafe fn post_from_outside(closure: FrameRef) {
    // SAFETY: by the caller's word.
    let head = unsafe { head(closure) };
    if head.computation.post_from_outside(head.number) {
        suspend::make_ready(closure);
    } else {
        // SAFETY: passed on.
        unsafe { destroy(closure) };
    }
}

/// Gives up a hole of a closure, at that address.
///
/// # Safety
/// It was this caller's, and is not filled.
#[cold]
#[inline(never)]
pub(super) unsafe fn give_up<T>(closure: FrameRef, hole: NonNull<T>) {
    let offset = hole.addr().get() - closure.addr().get();
    // SAFETY: as long as a hole is open, the closure lives.
    let head = unsafe { head(closure) };
    let table = head.header.vtable.thread.expect("a closure has a thread");
    head.computation.unsent(head.number, || (table.argument)(offset, size_of::<T>()));
    let word = head.header.slot.unused();
    // SAFETY: of who calls it.
    let drop = |at: NonNull<u8>| unsafe { at.cast::<T>().drop_in_place() };
    let mut dropped = Box::new(Dropped { offset, size: size_of::<T>(), drop, next: ptr::null_mut() });
    // Relaxed, all: whoever reads the list has seen this arrive.
    let mut next = word.load(Ordering::Relaxed);
    loop {
        dropped.next = next.cast();
        let new = Box::into_raw(dropped);
        match word.compare_exchange(next, new.cast(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => break,
            Err(found) => {
                // SAFETY: just made, and not published.
                dropped = unsafe { Box::from_raw(new) };
                next = found;
            }
        }
    }
    // SAFETY: its hole has been noted.
    unsafe { filled(closure) };
}

thread_local! {
    /// Closures that this thread is to destroy, while it destroys one: a chain of them may be as long as one likes. Null, or on
    /// the stack of the outermost `destroy`. Without a destructor: other thread-locals' destructors may destroy closures.
    static DYING: Cell<*mut Vec<FrameRef>> = const { Cell::new(ptr::null_mut()) };
}

/// Destroys a closure, and those that wait for what it will not send.
///
/// # Safety
/// The caller has the closure alone.
#[cold]
#[inline(never)]
pub(super) unsafe fn destroy(closure: FrameRef) {
    let outermost = DYING.get();
    if !outermost.is_null() {
        // SAFETY: on this thread's stack, further out, where nothing refers to it now.
        return unsafe { (*outermost).push(closure) };
    }
    let dying = UnsafeCell::new(vec![closure]);
    DYING.set(dying.get());
    // SAFETY: as above; the reference ends with the statement.
    while let Some(next) = unsafe { (*dying.get()).pop() } {
        // SAFETY: by the caller's word, or by that of who has put it on the list.
        if let Some(table) = unsafe { head(next) }.header.vtable.thread {
            // SAFETY: as above. What user code panics with has been caught; this is to be sure of the list.
            quietly(|| unsafe { (table.destroy)(next) });
        }
    }
    DYING.set(ptr::null_mut());
}

/// A full closure that has not been posted: to be [`post`](super::post)ed.
///
/// Dropping it destroys its arguments, the continuations among them, and with these the closures that wait for them.
#[must_use = "a closure that is not posted never runs"]
pub struct Closure<Th: Thread> {
    closure: FrameRef,
    thread: PhantomData<Th>,
}

// SAFETY: the arguments of a thread are `Send`, and nobody else has the closure.
unsafe impl<Th: Thread> Send for Closure<Th> {}
// SAFETY: a shared one offers nothing but what is known at compile time.
unsafe impl<Th: Thread> Sync for Closure<Th> {}

impl<Th: Thread> Closure<Th> {
    /// Whether all arguments can travel to other processes: the closure may migrate to one.
    pub const fn migrates(&self) -> bool {
        Th::MIGRATES
    }

    /// The frame, which stands for the closure.
    pub(super) fn into_frame(self) -> FrameRef {
        ManuallyDrop::new(self).closure
    }

    /// The elements of the vector, to be written before the closure is posted.
    pub fn vector(&mut self) -> &mut [<Th::Tail as Tail>::Element] {
        // SAFETY: full: the elements are there, and the closure is ours.
        unsafe {
            let length = Frame::<Th>::length(self.closure);
            Th::Tail::slice(Frame::<Th>::elements(self.closure), length)
        }
    }
}

impl<Th: Thread> Drop for Closure<Th> {
    fn drop(&mut self) {
        // SAFETY: ours alone.
        unsafe { destroy(self.closure) };
    }
}

impl<Th: Thread> std::fmt::Debug for Closure<Th> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Closure").field(&Th::NAME).finish()
    }
}

/// Makes a closure of the current computation.
///
/// # Panics
/// Outside a computation; with the panic of an iterator that supplies the vector's elements.
#[inline(always)]
pub(super) fn make<Th, S, E>(supplies: S, elements: E) -> Made<Th, S::Gives, <E::Ready as Supply<Th::Tail>>::Gives>
where
    Th: Thread,
    S: Supplies<Th::Fixed>,
    E: Elements<Th::Tail>,
{
    // Not on a worker, there is no computation either.
    let Some(cx) = try_cx() else { outside() };
    let elements = elements.ready();
    let length = elements.length();
    let Ok(missing) = u32::try_from(supplies.holes().saturating_add(elements.holes())) else { too_many::<Th>() };
    let closure = Frame::<Th>::begin(cx, length);
    // If an iterator panics, that is all there is to be given back.
    // SAFETY: made for that length.
    let memory = unsafe { Memory::of(closure, Frame::<Th>::class(length)) };
    // SAFETY: the place of as many elements.
    let each = unsafe { elements.supply(closure, Frame::<Th>::elements(closure)) };
    mem::forget(memory);
    // SAFETY: the place of the arguments.
    let gives = unsafe { supplies.supply(closure, Frame::<Th>::fixed(closure)) };
    // SAFETY: nobody knows the closure but those continuations that this returns.
    unsafe { head(closure) }.header.join.set(missing);
    Made { closure, gives, each, missing, thread: PhantomData }
}

/// A closure that has just been made, and what its holes give.
pub struct Made<Th: Thread, G, E> {
    closure: FrameRef,
    gives: G,
    each: E,
    missing: u32,
    thread: PhantomData<Th>,
}

impl<Th: Thread, G, E> Made<Th, G, E> {
    /// It has holes by its form: their continuations. If there are none after all, it is posted.
    #[inline(always)]
    pub fn with_holes(self) -> (G, E) {
        if self.missing == 0 {
            // SAFETY: just made, and nobody else knows it.
            unsafe { post(self.closure) };
        }
        (self.gives, self.each)
    }

    /// It has none by its form.
    #[inline(always)]
    pub fn full(self) -> Closure<Th> {
        assert_eq!(self.missing, 0, "a closure of which all arguments are given");
        Closure { closure: self.closure, thread: PhantomData }
    }
}
